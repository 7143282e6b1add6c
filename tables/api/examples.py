"""One example of each operation: a request and its answer, recorded by a test."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from tables.api import versions
from tables.api.operations import Operation
from tables.api.versions import UNVERSIONED, Version

FILE: Final = Path(__file__).with_name("examples.json")


def of(operation: str) -> dict[str, Any]:
    """The ``body`` that is sent, null where there is none, and the ``answer``, both without a version."""
    return _all().get(operation, {"body": None, "answer": None})


def body(declared: Operation, version: Version) -> Any:
    """The body that is sent to an operation in a version."""
    example = of(declared.name)["body"]
    if version == UNVERSIONED or example is None or declared.body is None:
        return example
    renamed = versions.RENAMED.get(declared.body.__name__, {})
    return {renamed.get(name, name): value for name, value in example.items()}


def answer(declared: Operation, version: Version) -> Any:
    """The answer of an operation in a version."""
    example = of(declared.name)["answer"]
    return example if example is None else msgspec.to_builtins(versions.to_wire(version, declared.answers, example))


@cache
def _all() -> dict[str, dict[str, Any]]:
    examples: dict[str, dict[str, Any]] = json.loads(FILE.read_text())
    return examples
