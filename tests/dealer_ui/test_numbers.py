"""Amounts as people type them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.dealer.forms import BetForm
from dealer_ui.numbers import MOST_CENTS, cents
from ledger.proof.chips import money
from tables.refusals import Refused

AMOUNTS = st.integers(-MOST_CENTS, MOST_CENTS)


def amount_cents(text: str) -> int:
    """The amount of a bet as a dealer types it. Raises Refused."""
    return int(BetForm({"amount": text}).values()["amount"])


def spellings(amount: int) -> list[str]:
    """The ways in which somebody may write an amount."""
    sign, plus = ("-", "-") if amount < 0 else ("", "+")
    exact = Decimal(abs(amount)) / 100
    shortest = f"{exact.normalize():f}"
    texts = [f"{sign}{exact:.2f}", f"{sign}{exact:,.2f}", f" {plus}{exact:.2f} ", f"{sign}{shortest}"]
    return [*texts, texts[0].replace("-", "−")]


@given(AMOUNTS)
def test_an_amount_is_read_as_it_was_meant_at_the_table_and_in_the_pit(amount: int) -> None:
    """Harm: what a dealer types is one amount at the table and another in the pit's correction of it."""
    for text in spellings(amount):
        assert (cents(text), amount_cents(text)) == (amount, amount), text


@given(AMOUNTS)
def test_what_the_house_shows_can_be_typed_again(amount: int) -> None:
    """Harm: a figure that is read off the screen is refused, or taken for another."""
    assert cents(money(amount)) == amount


@given(st.text(alphabet="0123456789.,+-−e x", max_size=10) | st.text(max_size=12))
def test_both_readings_take_the_same_texts(text: str) -> None:
    """Harm: a text is an amount on one screen and none on the other; or reading it is a crash."""
    amount = cents(text)
    if amount is None:
        with pytest.raises(Refused) as refused:
            amount_cents(text)
        assert (refused.value.status, refused.value.code) == (422, "bad_bet")
    else:
        assert amount_cents(text) == amount


@pytest.mark.parametrize("text", ["1,50", "1,0,0", "10,00", "1e3", "10.555", "--1", "٣", "1 000", ".", ""])
def test_a_comma_is_never_a_point_and_nothing_is_guessed(text: str) -> None:
    """Harm: 1,50 is paid as 150."""
    assert cents(text) is None


def test_an_amount_beyond_reason_is_the_games_to_refuse_and_nobody_elses() -> None:
    """Harm: a number that no column holds reaches the database from a form of the pit."""
    assert cents("9" * 13) is None
    assert amount_cents("9" * 40) == int("9" * 40) * 100
