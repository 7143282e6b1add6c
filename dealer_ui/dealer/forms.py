"""Forms of the dealer: the hidden fields of each, and the amount of a bet or buy-in."""

from __future__ import annotations

from uuid import UUID

from dealer_ui.entry_forms import EntryForm, KeyForm, TypedAmountField
from tables.form_fields import InputForm


class DealerKeyForm(KeyForm):
    """The key alone, of forms that do not depend on the state of the table."""

    code = "bad_input"
    message = "This form was incomplete: enter it again."


class DealerEntryForm(EntryForm):
    """The key, and the sequence number of the last entry when the form was drawn."""

    code = "bad_input"
    message = DealerKeyForm.message

    def key_and_seq(self) -> tuple[UUID, int]:
        """Both of them. Raises Refused."""
        values = self.values()
        return values["key"], values["seq"]


class BetForm(InputForm):
    """The amount of a bet."""

    code = "bad_bet"
    amount = TypedAmountField()


class SpotForm(BetForm):
    """The amount for a wager of a seat. Without one the bet there is removed."""

    amount = TypedAmountField(required=False)


class BuyInForm(BetForm):
    """The amount of a buy-in."""

    code = "bad_amount"
