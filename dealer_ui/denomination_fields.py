"""Chips and notes as forms ask for them: one field a kind, the largest first, and what was typed there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.http import QueryDict

from dealer_ui.numbers import number
from ledger.proof.chips import money
from tables.log import slip_workflow
from tables.log.slip_types import Chips
from tables.models import Denomination
from tables.refusals import Refused

COINS_BELOW: Final = 100


@dataclass(frozen=True, slots=True)
class DenominationField:
    """One kind of chip or note to be counted, and what was typed for it."""

    value_cents: int
    chip: Denomination | None
    typed: str
    prefix: str = "n"

    @property
    def is_coin(self) -> bool:
        """Coins are rare in a box: they are asked for after the notes."""
        return self.chip is None and self.value_cents < COINS_BELOW

    @property
    def field(self) -> str:
        return f"{self.prefix}{self.value_cents}"


def asked(
    form: QueryDict, kinds: Iterable[Denomination], cash: Iterable[int] = (), prefix: str = "n"
) -> list[DenominationField]:
    """A field for every kind of chip; or for the notes and coins that it may be, where cash is counted."""
    values = list(cash)
    chips = {} if values else {chip.value_cents: chip for chip in kinds}
    return [
        DenominationField(value, chips.get(value), form.get(f"{prefix}{value}", ""), prefix)
        for value in sorted(values or chips, reverse=True)
    ]


def chips_of(form: QueryDict, kinds: Iterable[Denomination], cash: Iterable[int] = (), prefix: str = "n") -> Chips:
    """What was typed for each kind. Raises Refused for what is no count, and for two counts of a kind."""
    pairs = []
    for kind in asked(form, kinds, cash, prefix):
        if len(form.getlist(kind.field)) > 1:
            raise slip_workflow.repeated_kind(kind.value_cents)
        count = number(kind.typed) if kind.typed.strip() else 0
        if count is None:
            raise Refused("bad_count", f"How many of {money(kind.value_cents)}? Type digits only.", 422)
        pairs.append((kind.value_cents, count))
    return slip_workflow.as_chips(pairs)
