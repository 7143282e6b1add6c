"""The site's chip denominations: adding one, and changing its name or drawing. A denomination's value never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from ledger import site_log
from ledger.site_log import append, difference
from tables.games.protocol import MOST_CENTS
from tables.log import dual_control
from tables.log.entries.chips import DenominationAdded, DenominationChanged
from tables.models import Denomination, Staff
from tables.refusals import Faults, Refused
from tables.setup import policies
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, ProposalDraft, handles, refuse_alone

_LOOKS: Final = ("colour", "face")


def add_denomination(
    *, value_cents: int, colour: str, face: str, by: Staff, proposal: int | None = None
) -> Denomination:
    """Add a chip denomination. Raises Refused."""
    _permit(by, "tables.add_denomination")
    chip = Denomination(value_cents=value_cents)
    looks = {"colour": colour, "face": face}
    _refuse(value_faults(value_cents) | look_faults(chip, looks))
    with transaction.atomic():
        _refuse_alone(proposal)
        _draw(chip, looks)
        event = DenominationAdded(value_cents=value_cents, colour=colour, face=face, proposal=proposal)
        append(event, by.signature)
    return chip


def change_denomination(
    chip: Denomination, looks: Mapping[str, Any], *, by: Staff, proposal: int | None = None
) -> Denomination:
    """Change the name or the drawing of a chip. Raises Refused."""
    _permit(by, "tables.change_denomination")
    with transaction.atomic():
        _refuse_alone(proposal)
        chip = Denomination.objects.select_for_update(no_key=True).get(pk=chip.pk)
        _refuse(look_faults(chip, looks))
        before = {name: getattr(chip, name) for name in _LOOKS}
        _draw(chip, looks)
        changed = difference(before, {name: getattr(chip, name) for name in _LOOKS})
        if changed.after:
            event = DenominationChanged(value_cents=chip.value_cents, **changed._asdict(), proposal=proposal)
            append(event, by.signature)
    return chip


# --- By two people ---------------------------------------------------------------------------------------------


def draft(chip: Denomination | None, value_cents: int, looks: Mapping[str, Any]) -> ProposalDraft | None:
    """The proposal of a new denomination or new looks; None without dual control of chips, or without a change."""
    if not dual_control.needed("chips", policies.as_entered(timezone.now())):
        return None
    if chip is None:
        return ProposalDraft("chips", str(value_cents), {}, {"value_cents": value_cents, **looks})
    changed = difference({name: getattr(chip, name) for name in _LOOKS}, dict(looks))
    return ProposalDraft("chips", str(chip.value_cents), *changed) if changed.after else None


def _present_values(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    chips = Denomination.objects.in_bulk([int(row.about) for row in proposals], field_name="value_cents")
    present = [chips.get(int(proposal.about)) for proposal in proposals]
    return [
        {name: getattr(chip, name) for name in proposal.before} if chip else {}
        for proposal, chip in zip(proposals, present, strict=True)
    ]


def _apply(proposal: ApprovedProposal, by: Staff) -> None:
    if not proposal.before:
        add_denomination(**proposal.after, by=by, proposal=proposal.number)
        return
    chip = Denomination.objects.get(value_cents=int(proposal.about))
    change_denomination(chip, proposal.after, by=by, proposal=proposal.number)


handles("chips", matter=ApprovalHandler(_present_values, _apply, "tables.change_denomination"))


def _refuse_alone(proposal: int | None) -> None:
    refuse_alone("chips", policies.as_entered(site_log.lock().moment), proposal)


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
    by.require(permission, "Only an operator changes the chips.")


def _refuse(faults: Faults) -> None:
    if faults:
        raise Refused("bad_denomination", " ".join(faults.values()), 422, fields=faults)
