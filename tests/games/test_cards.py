"""The triangular deck."""

from hypothesis import given
from hypothesis import strategies as st

from tables.games import cards

RANKS = st.integers(1, 10)


def test_rank_r_appears_r_times_in_each_deck() -> None:
    """Harm: every probability of the house, and the deck check, start from a wrong deck."""
    assert cards.DECK == (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
    assert cards.DECK_SIZE == 55
    assert cards.shoe(6) == (6, 12, 18, 24, 30, 36, 42, 48, 54, 60)


@given(st.lists(RANKS), RANKS)
def test_a_composition_counts_each_rank(ranks: list[int], rank: int) -> None:
    """Harm: a card that is still in the shoe is refused, or one that is not is let through."""
    counted = cards.count(ranks)
    assert counted == tuple(ranks.count(rank) for rank in cards.RANKS)
    assert cards.add(counted, rank) == cards.count([*ranks, rank])
    assert counted == cards.count(ranks), "a composition was changed in place"
