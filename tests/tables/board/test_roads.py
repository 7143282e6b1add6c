"""The road maps of a shoe, held against roads that were worked out by hand, and against the rules put another way."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.board.roads import ROWS, Hand, Mark, Road, RoadCell, Roads, Winner, big_road, roads, runs

WINNERS: Final[dict[str, Winner]] = {"P": "player", "B": "banker", "T": "tie"}
LETTERS: Final = {"player": "P", "banker": "B", "tie": "T", "dragon": "D", "tiger": "T", "regular": "r", "choppy": "c"}


def dealt(letters: str) -> list[Hand]:
    """Hands from the letters of those who won them."""
    return [Hand(WINNERS[letter]) for letter in letters if letter != " "]


def grid(road: Road) -> list[str]:
    """A road as it is looked at: a line for each row that has anything in it."""
    places = {(cell.row, cell.column): LETTERS[cell.kind] for cell in road}
    width = 1 + max(cell.column for cell in road)
    lines = ["".join(places.get((row, column), ".") for column in range(width)) for row in range(ROWS)]
    return [line.rstrip(".") for line in lines if line.strip(".")]


def all_roads(shoe: Roads) -> tuple[Road, ...]:
    return shoe.bead_plate, shoe.big_road, shoe.big_eye_boy, shoe.small_road, shoe.cockroach_pig


def ties(road: Road) -> dict[int, int]:
    """The cells that bear ties, by their hands."""
    return {cell.hand: cell.ties for cell in road if cell.ties}


# --- A shoe of thirty hands, worked out by hand ------------------------------------------------------------------

#                  C1 C2  C3 C4 C5   C6  C7 C8 C9 C10      C11
SHOE: Final = dealt("BB PPP BT P BBBB PPT B P BB PPPPPPPP BBT")
"""Hand:             1  3   6  8 9    13  16 17 18 20       28"""


BEAD_PLATE: Final = ["BTPBP", "BPPPP", "PBTPP", "PBBPB", "PBPPB", "BBBPT"]
"""Six to a column: BBPPPB, TPBBBB, PPTBPB, BPPPPP, PPPBBT."""
BIG_ROAD: Final = ["BPBPBPBPBPB", "BP..BP..BPB", ".P..B....P", "....B....P", ".........P", ".........PPP"]
"""Eleven runs, 2 3 1 1 4 2 1 1 2 8 2 long; the tenth turns off at the floor, with its 7th and 8th beneath the next."""
BIG_EYE_BOY: Final = ["rcrcrcrcrcrcrcr", ".c..r..c.c..r", ".c..........r", "............r", "............r"]
"""Each hand against the column before its own; r is regular (red), c is choppy (blue). C2: r for its 2nd hand, as C1
has one there too, and c for its 3rd, as C1 ended just above. Then c, c, rcrr, cr, c, c, rc, crcrrrrr, cr."""
SMALL_ROAD: Final = ["crcrcr", "crcr", "c.cr", "..cr", "..crr", "..ccc"]
"""Each hand against the column two before its own. C3 has no second, so it begins with the first of C4: c, ccrr, cc, c,
c, cc, ccrrrrrr, cr. The eight c turn off at the floor; the six r come down on their tail, and turn off above it."""
COCKROACH_PIG: Final = ["crcrcrcrc", ".rc..r.rc", "..c....r", "..c....r", ".......r", ".......r"]
"""Each hand against the column three before its own. C4 has no second, so it begins with the first of C5: crrc, cc, c,
r, cr, rcrrrrrr, cc."""


def test_the_roads_of_the_shoe() -> None:
    """Harm: players cannot find the hand they bet on, or the road from which all others derive is wrong."""
    shoe = roads(SHOE)
    assert [grid(road) for road in all_roads(shoe)] == [BEAD_PLATE, BIG_ROAD, BIG_EYE_BOY, SMALL_ROAD, COCKROACH_PIG]
    # The ties 7, 15 and 30 came after the 6th, the 14th and the 29th hand.
    assert ties(shoe.big_road) == {6: 1, 14: 1, 29: 1}
    assert [cell.hand for cell in shoe.big_eye_boy] == [4, 5, 6, *range(8, 15), *range(16, 30)]
    assert [cell.hand for cell in shoe.small_road] == [*range(8, 15), *range(16, 30)]
    assert [cell.hand for cell in shoe.cockroach_pig] == [*range(9, 15), *range(16, 30)]


# --- Where a derived road begins ---------------------------------------------------------------------------------


def marks(road: Road) -> str:
    return "".join(LETTERS[cell.kind] for cell in road)


@pytest.mark.parametrize(
    ("letters", "eye", "small", "pig"),
    [
        ("PPPP", "", "", ""),  # one column has nothing to be held against
        ("PB", "", "", ""),  # nor has the first of the second
        ("PBB", "c", "", ""),  # its second has: the first column ended above it
        ("PPBB", "r", "", ""),
        ("PBP", "r", "", ""),  # no second in the second: the first of the third, after 1 and 1
        ("PBPP", "rc", "c", ""),  # the small road: the second of the third
        ("PBPB", "rr", "r", ""),  # or the first of the fourth
        ("PBPBB", "rrc", "rc", "c"),  # the cockroach pig: the second of the fourth
        ("PBPBP", "rrr", "rr", "r"),  # or the first of the fifth
    ],
)
def test_a_derived_road_begins_where_there_is_something_to_compare(
    letters: str, eye: str, small: str, pig: str
) -> None:
    """Harm: a road begins a hand too early, and every mark of the shoe stands in a wrong place."""
    shoe = roads(dealt(letters))
    assert (marks(shoe.big_eye_boy), marks(shoe.small_road), marks(shoe.cockroach_pig)) == (eye, small, pig)


# --- Dragons' tails ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("letters", "lines"),
    [
        ("BBBBBBBBB", ["B", "B", "B", "B", "B", "BBBB"]),
        ("BBBBBBBB PPPPPPP BB", ["BPB", "BPB", "BP", "BP", "BPPP", "BBB"]),
        ("BBBBBBBB PPPPP BBBBB PP", ["BPBP", "BPBP", "BPB", "BPB", "BPB", "BBB"]),
        (
            "P" * 20 + "B" * 12 + "P" * 9 + "B" * 7 + "P" * 5 + "B" * 3 + "P" * 5,
            ["PBPBPBBBP", "PBPBPPPPP", "PBPBBBBBP", "PBPPPPPPPP", "PBBBBBBBB", "PPPPPPPPPPPPPPP"],
        ),
    ],
    ids=["along the floor", "above a tail", "short of a tail", "tails up to the top"],
)
def test_a_run_turns_at_the_floor_and_above_a_tail(letters: str, lines: list[str]) -> None:
    """Harm: the seventh win in a row falls off the display; a win is drawn over a win of the run before; a run turns
    off because of a tail that it never reached; or a new run begins in a cell that a tail occupies."""
    assert grid(big_road(dealt(letters))) == lines


# --- Ties, pairs and naturals ------------------------------------------------------------------------------------


def test_ties_that_open_a_shoe_wait_for_its_first_hand() -> None:
    """Harm: they are lost, or the first hand is not where the road begins."""
    waiting = big_road(dealt("TT"))
    assert waiting == (RoadCell(0, 0, "tie", hand=1, ties=2),)
    assert big_road(dealt("TTPT")) == (RoadCell(0, 0, "player", hand=3, ties=3),)
    assert ties(big_road(dealt("TTP BB T"))) == {3: 2, 5: 1}


def test_ties_neither_end_a_run_nor_move_a_derived_road() -> None:
    """Harm: a run that a tie came into is shown as two, and every derived mark after it is another."""
    tied, plain = roads(dealt("PTP TTBTB TPTB")), roads(dealt("PP BB PB"))
    assert grid(tied.big_road) == grid(plain.big_road)
    assert ties(tied.big_road) == {1: 1, 3: 2, 6: 1, 8: 1, 10: 1}
    for derived in ("big_eye_boy", "small_road", "cockroach_pig"):
        assert marks(getattr(tied, derived)) == marks(getattr(plain, derived))


def test_pairs_and_naturals_stand_with_their_hand() -> None:
    """Harm: a pair that paid eleven to one is shown at another hand, and somebody asks for the money."""
    hands = [Hand("banker", banker_pair=True), Hand("tie", player_pair=True), Hand("player", natural=9)]
    shoe = roads(hands)
    assert shoe.bead_plate == (
        RoadCell(0, 0, "banker", hand=1, banker_pair=True),
        RoadCell(1, 0, "tie", hand=2, player_pair=True),
        RoadCell(2, 0, "player", hand=3, natural=9),
    )
    assert shoe.big_road == (
        RoadCell(0, 0, "banker", hand=1, ties=1, banker_pair=True),
        RoadCell(0, 1, "player", hand=3, natural=9),
    )


def test_a_shoe_without_a_hand_has_empty_roads() -> None:
    """Harm: the display breaks with each new shoe."""
    assert roads([]) == Roads((), (), (), (), ())


def test_dragon_tiger_has_the_roads_of_baccarat() -> None:
    """Harm: the house's other game of two sides has another road for the same shoe."""
    names: dict[Winner, Winner] = {"player": "dragon", "banker": "tiger", "tie": "tie"}
    shoe, dragon_roads = roads(SHOE), roads([Hand(names[hand.winner]) for hand in SHOE])
    assert [(cell.row, cell.column, cell.ties) for cell in shoe.big_road] == [
        (cell.row, cell.column, cell.ties) for cell in dragon_roads.big_road
    ]
    assert {cell.kind for cell in dragon_roads.big_road} == {"dragon", "tiger"}
    assert dragon_roads.big_eye_boy == shoe.big_eye_boy
    assert dragon_roads.small_road == shoe.small_road
    assert dragon_roads.cockroach_pig == shoe.cockroach_pig


# --- Whatever is dealt -------------------------------------------------------------------------------------------

SINGLE = st.builds(
    Hand,
    winner=st.sampled_from(list(WINNERS.values())),
    player_pair=st.booleans(),
    banker_pair=st.booleans(),
    natural=st.sampled_from([None, 8, 9]),
)
STREAKS = st.tuples(st.sampled_from(list(WINNERS.values())), st.integers(1, 14)).map(
    lambda streak: [Hand(streak[0])] * streak[1]
)
SHOES = st.lists(st.one_of(SINGLE.map(lambda hand: [hand]), STREAKS), max_size=40).map(
    lambda parts: [hand for part in parts for hand in part]
)
"""Single hands, and streaks long enough for tails."""


@given(SHOES)
def test_no_hand_is_lost_and_none_is_shown_twice(hands: list[Hand]) -> None:
    """Harm: the display and the table's log disagree about how often somebody won."""
    shoe = roads(hands)
    decided = [number for number, hand in enumerate(hands, 1) if hand.winner != "tie"]
    assert [cell.hand for cell in shoe.bead_plate] == list(range(1, len(hands) + 1))
    assert [cell.hand for cell in shoe.big_road if cell.kind != "tie"] == decided
    assert sum(cell.ties for cell in shoe.big_road) == len(hands) - len(decided)
    for cell in (*shoe.bead_plate, *shoe.big_road):
        if cell.kind != "tie":
            assert (cell.kind, cell.natural) == (hands[cell.hand - 1].winner, hands[cell.hand - 1].natural)


@given(SHOES)
def test_no_two_entries_share_a_cell(hands: list[Hand]) -> None:
    """Harm: one of them cannot be seen."""
    for road in all_roads(roads(hands)):
        places = [(cell.row, cell.column) for cell in road]
        assert len(set(places)) == len(places)
        assert all(0 <= row < ROWS and column >= 0 for row, column in places)


@given(SHOES)
def test_a_run_goes_down_as_far_as_it_can_and_then_to_the_right(hands: list[Hand]) -> None:
    """Harm: entries of a run stand apart, so it is read as two; or it turns off where it had room."""
    for road in all_roads(roads(hands))[1:]:
        occupied: set[tuple[int, int]] = set()
        top = -1
        for run in _columns(road):
            top_cell = run[0]
            assert top_cell.row == 0
            assert top_cell.column == next(c for c in range(top + 1, 10_000) if (0, c) not in occupied)
            for cell, following in pairwise(run):
                falls = cell.column == top_cell.column and cell.row + 1 < ROWS
                falls = falls and (cell.row + 1, cell.column) not in occupied
                step = (following.row - cell.row, following.column - cell.column)
                assert step == ((1, 0) if falls else (0, 1))
            occupied |= {(cell.row, cell.column) for cell in run}
            top = top_cell.column


def _columns(road: Road) -> Iterator[list[RoadCell]]:
    run: list[RoadCell] = []
    for cell in road:
        if run and cell.kind != run[-1].kind:
            yield run
            run = []
        run.append(cell)
    if run:
        yield run


@given(SHOES)
def test_nothing_moves_when_a_hand_is_dealt(hands: list[Hand]) -> None:
    """Harm: players copy a road to paper, and the next hand rearranges it."""
    for before, after in zip(all_roads(roads(hands[:-1])), all_roads(roads(hands)), strict=True):
        lasting = [cell for cell in before if (cell.kind, cell.ties) != ("tie", len(hands) - 1)]
        assert _kinds(lasting) == _kinds(after[: len(lasting)])


def _kinds(cells: Sequence[RoadCell]) -> list[tuple[int, int, str, int]]:
    return [(cell.row, cell.column, cell.kind, cell.hand) for cell in cells]


@given(SHOES)
def test_the_derived_roads_say_what_players_read_off_the_big_road(hands: list[Hand]) -> None:
    """Players compare the cell a fixed number of columns to the left with the cell above it: both filled or both empty
    is regular. A new column shows the opposite of what its hand would have shown at the foot of the previous column.

    Harm: players who keep the roads on paper find the display wrong, or a road stops or runs ahead.
    """
    shoe, columns = roads(hands), runs(hands)
    filled = {(row, place) for place, run in enumerate(columns) for row in range(len(run))}

    def agree(row: int, place: int) -> bool:
        return ((row, place) in filled) == ((row - 1, place) in filled)

    def mark(row: int, place: int, back: int) -> Mark:
        if row == 0:
            return "choppy" if agree(len(columns[place - 1]), place - 1 - back) else "regular"
        return "regular" if agree(row, place - back) else "choppy"

    for back, road in enumerate((shoe.big_eye_boy, shoe.small_road, shoe.cockroach_pig), 1):
        entries = [(row, place) for place, run in enumerate(columns) for row in range(len(run))]
        later = [(row, place) for row, place in entries if place > back or (place == back and row)]
        assert [cell.kind for cell in road] == [mark(row, place, back) for row, place in later]
