"""Kinds of chip: what one is worth never changes, how it is called and drawn may."""

from __future__ import annotations

from typing import Any

from tables.audit.rows.reading import Rows, named, of_the_house
from tables.log.entries.chips import DenominationAdded, DenominationChanged
from tables.log.entries.kept import RowsTakenOver
from tables.models import Denomination


def in_log() -> Rows:
    """Every kind that was added."""
    chips: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("chips", chips=["added", "changed"]):
        match entry.event:
            case RowsTakenOver() as event:
                chips = named(event)
            case DenominationAdded(value_cents=value, colour=colour, face=face):
                chips[_name(value)] = {"colour": colour, "face": face}
            case DenominationChanged(value_cents=value, after=looks):
                chips.setdefault(_name(value), {}).update(looks)
    return chips


def in_database() -> Rows:
    """Every kind that there is."""
    rows = Denomination.objects.values_list("value_cents", "colour", "face")
    return {_name(value): {"colour": colour, "face": face} for value, colour, face in rows}


def _name(value_cents: int) -> str:
    return f"{value_cents} cents"
