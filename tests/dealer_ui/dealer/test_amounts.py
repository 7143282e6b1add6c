"""The likely amounts: legal ones, and those that were bet here before among them."""

from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.dealer.amounts import LETTERS, likely


@given(
    least=st.integers(1, 500),
    span=st.integers(0, 100_000),
    step=st.sampled_from((1, 5, 10, 25, 50, 100, 1_000)),
    earlier=st.lists(st.integers(0, 100_000), max_size=12),
)
def test_every_likely_amount_is_a_legal_bet(least: int, span: int, step: int, earlier: list[int]) -> None:
    """Harm: a tap is refused, and the dealer no longer trusts the keys."""
    most = least + span
    keys = likely(least, most, step, earlier)
    amounts = [key.cents for key in keys]
    assert amounts == sorted(set(amounts))
    assert all(least <= cents <= most and cents % step == 0 for cents in amounts)
    legal = most // step - -(-least // step) + 1
    assert len(keys) <= min(len(LETTERS), max(legal, 0))
    if legal > 0:
        assert amounts[0] == -(-least // step) * step or any(cents in earlier for cents in amounts)


def test_a_table_that_bets_in_tens_has_tens() -> None:
    """Harm: chips of 1, 5 and 25 at a table where no such bet is legal: 70 is seven taps."""
    assert [key.label for key in likely(1_000, 10_000, 1_000)] == [
        "10", "20", "30", "40", "50", "60", "70", "80", "100",
    ]  # fmt: skip


def test_what_was_bet_last_is_one_tap() -> None:
    """Harm: the usual bet of a table is typed anew each round."""
    assert "435" in [key.label for key in likely(2_500, 100_000, 500, [43_500, 43_500, 5_000])]
