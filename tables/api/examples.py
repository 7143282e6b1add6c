"""One example of each operation, as it was sent and answered once; a test holds each against its form."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_name("examples.json")


def of(operation: str) -> dict[str, Any]:
    """The ``body`` that is sent, null where there is none, and the ``answer``."""
    return _all().get(operation, {"body": None, "answer": None})


@cache
def _all() -> dict[str, dict[str, Any]]:
    examples: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return examples
