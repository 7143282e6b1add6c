"""What lies in a place by piece: nothing is lost between what papers say and what is estimated."""

from hypothesis import given
from hypothesis import strategies as st

from ledger.proof.chips import Denomination
from tables.log.pieces import NOTHING, Amounts, Holding, counted, fewest
from tables.log.slip_types import total

KINDS = tuple(Denomination(value, str(value)) for value in (100, 500, 2_500, 10_000))
VALUES = st.sampled_from([kind.value_cents for kind in KINDS])
CHIPS = st.dictionaries(VALUES, st.integers(1, 40), max_size=4).map(lambda counts: tuple(counts.items()))
AMOUNTS = st.lists(st.builds(Amounts, st.integers(-90_000, 90_000), st.integers(1, 3)), max_size=6)


@given(CHIPS, st.lists(st.tuples(CHIPS, st.sampled_from([1, -1])), max_size=5), AMOUNTS)
def test_pieces_come_to_what_the_ledger_says_to_the_cent(
    delivery: tuple[tuple[int, int], ...], papers: list[tuple[tuple[tuple[int, int], ...], int]], amounts: list[Amounts]
) -> None:
    """Harm: an inventory by denomination that is worth another sum than the chips that are there."""
    holding, cents = counted(delivery), total(delivery)
    for chips, sign in papers:
        holding, cents = holding.moved(chips, sign), cents + sign * total(chips)
    holding = holding.moved_by_amount(amounts, KINDS)
    cents += sum(amount.cents * amount.times for amount in amounts)
    assert holding.total_cents == cents
    assert total(tuple(holding.pieces.items())) + holding.odd_cents == cents
    assert holding - holding == NOTHING
    assert (holding + NOTHING).pieces == holding.pieces


def test_what_papers_say_is_certain_and_what_an_amount_says_is_not() -> None:
    """Harm: a guess that is shown to a regulator as a count."""
    holding = counted(((500, 20), (100, 7))).moved(((500, 4),), -1)
    assert holding.is_certain
    assert holding.pieces == {500: 16, 100: 7}
    holding = holding.moved_by_amount([Amounts(-700)], KINDS)
    assert holding.pieces == {500: 15, 100: 5}
    assert not holding.is_certain
    assert not holding.is_certain_of(100)
    assert holding.is_certain_of(2_500)


def test_where_more_of_a_kind_went_than_there_was_other_chips_were_exchanged_for_it() -> None:
    """Harm: minus three chips in a rack."""
    holding = Holding({500: 4, 10_000: 1}).moved_by_amount([Amounts(-2_500)], KINDS)
    assert (holding.pieces, holding.total_cents) == ({2_500: 3, 500: 4}, 9_500)
    holding = Holding({500: 10}).moved_by_amount([Amounts(-2_500)], KINDS)
    assert holding.pieces == {500: 5}
    assert holding.total_cents == 2_500


def test_an_amount_that_no_chips_make_is_kept_beside_them() -> None:
    """Harm: half a unit that was paid in coins makes the pieces of a whole rack wrong."""
    assert fewest(12_650, KINDS) == ({10_000: 1, 2_500: 1, 100: 1}, 50)
    holding = counted(((100, 5),)).moved_by_amount([Amounts(-50, 2)], KINDS)
    assert (holding.odd_cents, holding.total_cents) == (-100, 400)
