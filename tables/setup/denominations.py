"""The house's chips: adding a kind, and how it is called and drawn. What a chip is worth never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction

from ledger.house import difference, note
from tables.games.felt import MOST_CENTS
from tables.log.entries.chips import DenominationAdded, DenominationChanged
from tables.models import Denomination, Staff
from tables.refusals import Refused
from tables.setup.table_settings import Faults

_LOOKS: Final = ("colour", "face")


def add_denomination(*, value_cents: int, colour: str, face: str, by: Staff) -> Denomination:
    """A kind of chip that the house did not have. Raises Refused."""
    _permit(by, "tables.add_denomination")
    chip = Denomination(value_cents=value_cents)
    looks = {"colour": colour, "face": face}
    _refuse(value_faults(value_cents) | look_faults(chip, looks))
    with transaction.atomic():
        _draw(chip, looks)
        note(DenominationAdded(value_cents=value_cents, colour=colour, face=face), by.signature)
    return chip


def change_denomination(chip: Denomination, looks: Mapping[str, Any], *, by: Staff) -> Denomination:
    """Call or draw a chip differently. Raises Refused."""
    _permit(by, "tables.change_denomination")
    with transaction.atomic():
        chip = Denomination.objects.select_for_update(no_key=True).get(pk=chip.pk)
        _refuse(look_faults(chip, looks))
        before = {name: getattr(chip, name) for name in _LOOKS}
        _draw(chip, looks)
        changed = difference(before, {name: getattr(chip, name) for name in _LOOKS})
        if changed.after:
            note(DenominationChanged(value_cents=chip.value_cents, **changed._asdict()), by.signature)
    return chip


def value_faults(value_cents: int) -> Faults:
    if not 0 < value_cents <= MOST_CENTS:
        return {"value_cents": "A chip is worth more than 0."}
    if Denomination.objects.filter(value_cents=value_cents).exists():
        return {"value_cents": "There is a chip of this worth already."}
    return {}


def look_faults(chip: Denomination, looks: Mapping[str, Any]) -> Faults:
    faults: Faults = {}
    colour, face = looks.get("colour", chip.colour), looks.get("face", chip.face)
    if not re.fullmatch(r"[a-z][a-z -]{1,19}", colour):
        faults["colour"] = "A colour is a word that dealers say, in small letters: white, red, dark green."
    elif Denomination.objects.filter(colour=colour).exclude(pk=chip.pk).exists():
        faults["colour"] = f"Another chip is called {colour} already."
    if not re.fullmatch(r"#[0-9a-f]{6}", face):
        faults["face"] = "A face colour is written as #rrggbb."
    return faults


def _draw(chip: Denomination, looks: Mapping[str, Any]) -> None:
    for name, value in looks.items():
        setattr(chip, name, value)
    chip.save()


def _permit(by: Staff, permission: str) -> None:
    if not by.has_perm(permission):
        raise Refused("not_permitted", "Only an operator changes the chips.", 403)


def _refuse(faults: Faults) -> None:
    if faults:
        raise Refused("bad_denomination", " ".join(faults.values()), 422, fields=faults)
