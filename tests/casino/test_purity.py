"""The pure parts import the standard library, msgspec and each other: import-linter cannot say "nothing else"."""

import ast
import sys
from pathlib import Path

import pytest

from casino.embedded import BASE_DIR

PURE = [
    *sorted((BASE_DIR / "tables" / "games").glob("*.py")),
    *sorted((BASE_DIR / "tables" / "maths").glob("*.py")),
    BASE_DIR / "ledger" / "proof" / "chips.py",
]
ALLOWED = {"msgspec", *sys.stdlib_module_names}
BESIDES = {"tables.maths": ("numpy", "numba", "tables.games")}
"""What a pure part may import of others."""
IMPURE = {"datetime", "os", "random", "secrets", "socket", "subprocess", "time", "threading", "uuid"}


def imported(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name}: a relative import"
            found.add(node.module or "")
    return found


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(BASE_DIR)))
def test_imports_nothing_that_could_know_more_than_it_is_told(path: Path) -> None:
    own = ".".join(path.relative_to(BASE_DIR).parts[:2]).removesuffix(".py")
    for name in imported(path):
        if any(name == one or name.startswith(f"{one}.") for one in (own, *BESIDES.get(own, ()))):
            continue
        top = name.split(".")[0]
        assert top in ALLOWED, f"imports {name}"
        assert top not in IMPURE, f"imports {name}"
