"""Kinds of chip: what one is worth never changes, how it is called and drawn may."""

from __future__ import annotations

from typing import Any

from tables.audit.rows.reading import TAKEN_OVER, Rows, of_the_house
from tables.models import Denomination


def told() -> Rows:
    """Every kind that was added."""
    chips: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("chips", chips=["added", "changed"]):
        said = entry.content
        if entry.kind == TAKEN_OVER:
            chips = {worth: dict(looks) for worth, looks in said["kept"].items()}
        else:
            looks = said if entry.kind == "added" else said["after"]
            chip = chips.setdefault(_name(said["value_cents"]), {})
            chip |= {name: looks[name] for name in ("colour", "face") if name in looks}
    return chips


def kept() -> Rows:
    """Every kind that there is."""
    rows = Denomination.objects.values_list("value_cents", "colour", "face")
    return {_name(value): {"colour": colour, "face": face} for value, colour, face in rows}


def _name(value_cents: int) -> str:
    return f"{value_cents} cents"
