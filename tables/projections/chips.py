"""Kinds of chip: what one is worth never changes, how it is called and drawn may, and it may be retired."""

from __future__ import annotations

from typing import Any

from tables.log.entries.carried_rows import RowsTakenOver
from tables.log.entries.chips import DenominationAdded, DenominationChanged, DenominationRetired
from tables.models import Denomination
from tables.projections.records import Rows, named, of_the_house


def in_log() -> Rows:
    """Every kind that was added."""
    chips: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("chips", chips=["added", "changed", "retired"]):
        match entry.event:
            case RowsTakenOver() as event:
                chips = named(event)
            case DenominationAdded(value_cents=value, colour=colour, face=face):
                chips[_name(value)] = {"colour": colour, "face": face}
            case DenominationChanged(value_cents=value, after=looks):
                chips.setdefault(_name(value), {}).update(looks)
            case DenominationRetired(value_cents=value, why=why):
                chips.setdefault(_name(value), {}).update({"retired": why, "retired_by": entry.by})
    return chips


def in_database() -> Rows:
    """Every kind that there is."""
    return {_name(chip.value_cents): _columns(chip) for chip in Denomination.objects.all()}


def _columns(chip: Denomination) -> dict[str, Any]:
    looks = {"colour": chip.colour, "face": chip.face}
    if chip.retired_at is None:
        return looks
    return looks | {"retired": chip.retired_why, "retired_by": chip.retired_by}


def _name(value_cents: int) -> str:
    return f"{value_cents} cents"
