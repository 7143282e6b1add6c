"""The form of chips and notes: a count for each kind, the largest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from django.http import QueryDict

from ledger.proof.chips import money
from tables.form_fields import InputForm, WholeNumberField
from tables.log import slip_workflow
from tables.log.slip_types import Chips
from tables.models import Denomination

_COINS_BELOW: Final = 100


class CountField(WholeNumberField):
    """How many there are of one kind of chip, note or coin."""

    def __init__(self, value_cents: int, chip: Denomination | None) -> None:
        message = f"How many of {money(value_cents)}? Type digits only."
        super().__init__(required=False, error_messages={"invalid": message})
        self.value_cents, self.chip = value_cents, chip

    @property
    def is_coin(self) -> bool:
        """Coins are rare in a box: they are asked for after the notes."""
        return self.chip is None and self.value_cents < _COINS_BELOW


class CountForm(InputForm):
    """Counts of the kinds of chips; or of the notes and coins in ``cash``, if there are any.

    The name of a field is the prefix with the value, such as n500.
    """

    code = "bad_count"
    data: QueryDict

    def __init__(
        self,
        data: QueryDict | None,
        kinds: Iterable[Denomination],
        cash: Iterable[int] = (),
        prefix: str = "n",
        initial: Mapping[int, int] | None = None,
    ) -> None:
        super().__init__(data, prefix=prefix, initial={str(value): count for value, count in (initial or {}).items()})
        by_value: dict[int, Denomination | None] = dict.fromkeys(cash) or {chip.value_cents: chip for chip in kinds}
        self.fields |= {str(value): CountField(value, by_value[value]) for value in sorted(by_value, reverse=True)}

    def add_prefix(self, field_name: str) -> str:
        return f"{self.prefix}{field_name}"

    def chips(self) -> Chips:
        """The counts of each kind. Raises Refused for text that is no count, and for two counts of a kind."""
        for name in self.fields:
            if len(self.data.getlist(self.add_prefix(name))) > 1:
                raise slip_workflow.repeated_kind(int(name))
        return slip_workflow.as_chips((int(name), count or 0) for name, count in self.values().items())
