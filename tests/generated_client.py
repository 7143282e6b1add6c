"""The typed client of the API, made from the present description as `python -m casino.api_files --client` makes it."""

import importlib.util
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest import mock

from casino import api_files


def module_of(path: Path) -> ModuleType:
    """A file loaded as a module, as for a user who copied it."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = loaded
    spec.loader.exec_module(loaded)
    return loaded


@cache
def casino_client() -> ModuleType:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "casino_client.py")
        with mock.patch.object(sys, "argv", ["api_files", "--client", str(file)]):
            assert api_files.main() == 0
        return module_of(file)
