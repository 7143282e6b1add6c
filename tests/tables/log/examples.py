"""Entries of the houses that were kept, one of each kind: what a test does not care about is as it once was."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from tables.log import catalog
from tests.carried import kept

HOUSES = sorted(path.name.removesuffix(".jsonl.gz") for path in kept.HOUSES.glob("*.jsonl.gz"))


@cache
def bodies(name: str) -> list[dict[str, Any]]:
    """What all entries of a house that was kept say."""
    return kept.documents(kept.read(kept.HOUSES / f"{name}.jsonl.gz"))


@cache
def examples() -> dict[tuple[str, str, bool], dict[str, Any]]:
    """For each kind of entry the shortest content that a kept house has."""
    shortest: dict[tuple[str, str, bool], dict[str, Any]] = {}
    for body in bodies(HOUSES[-1]):
        name = body["subject"], body["kind"], body["book"] == catalog.HOUSE
        content = {key: value for key, value in body["content"].items() if key not in ("request", "happened_at")}
        if name not in shortest or len(content) < len(shortest[name]):
            shortest[name] = content
    return shortest


def whole(subject: str, kind: str, content: Mapping[str, Any], *, house: bool = False) -> dict[str, Any]:
    """A whole content of an entry of this kind: what is given, and the rest as in a kept house."""
    return merged(examples()[subject, kind, house], content)


def merged(whole: Mapping[str, Any], part: Mapping[str, Any]) -> dict[str, Any]:
    nested = {
        name: merged(whole[name], value)
        for name, value in part.items()
        if isinstance(value, dict) and isinstance(whole.get(name), dict) and name not in ("before", "after")
    }
    return {**whole, **part, **nested}
