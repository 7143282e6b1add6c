"""What stands on the display over a table, for those who see it and for those who have it read to them."""

from collections import Counter
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

import pytest
from django.template.loader import render_to_string
from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.templatetags import roads as drawings
from dealer_ui.templatetags.roads import BACCARAT, CELL, DRAGON_TIGER, Display, Game, PostedLimit
from tables.board.roads import Hand

DRAWINGS = (
    drawings.bead_plate,
    drawings.big_road,
    drawings.big_eye_boy,
    drawings.small_road,
    drawings.cockroach_pig,
)
HANDS = [
    Hand("banker", banker_pair=True),
    Hand("banker", natural=9),
    Hand("tie"),
    Hand("tie", player_pair=True),
    Hand("player"),
    Hand("player", natural=8),
]
STREAKS = st.lists(st.tuples(st.sampled_from(["player", "banker", "tie"]), st.integers(1, 60)), min_size=1, max_size=30)


def display(hands: Sequence[Hand], game: Game = BACCARAT, table: str = "Table 7") -> Display:
    return Display(table, game, 14, hands, (PostedLimit("Tie", 5_000, 1_000_000),))


def page(shown: Display) -> str:
    return render_to_string("dealer_ui/display/roads.html", {"display": shown})


def parsed(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)  # noqa: S314  our own drawing


def letters(drawing: str) -> Counter[str]:
    """What is written on a road."""
    return Counter(text.text or "" for text in parsed(drawing).iter("text"))


def signs(drawing: str, name: str) -> int:
    return sum(name in (shape.get("class") or "").split() for shape in parsed(drawing).iter())


@pytest.mark.parametrize(
    ("drawing", "name"),
    [
        (drawings.bead_plate, "Bead plate, 6 hands: Player 2, Banker 2, Tie 2"),
        (drawings.big_road, "Big road: 2 runs, the last of them Player, 2 long"),
        (drawings.big_eye_boy, "Big eye boy: 1 regular, 0 choppy"),
        (drawings.small_road, "Small road: 0 regular, 0 choppy"),
        (drawings.cockroach_pig, "Cockroach pig: 0 regular, 0 choppy"),
    ],
)
def test_each_road_is_told_in_words(drawing: Callable[[Display], str], name: str) -> None:
    """Harm: to a blind player the display is five pictures without a name."""
    assert parsed(drawing(display(HANDS))).get("aria-label") == name


def test_a_hand_is_lettered_and_its_pairs_and_natural_are_signs_of_their_own() -> None:
    """Harm: who cannot tell red from green or blue cannot read the road."""
    beads, rings = drawings.bead_plate(display(HANDS)), drawings.big_road(display(HANDS))
    assert letters(beads) == {"P": 2, "B": 2, "T": 2}
    assert (signs(beads, "road__pair"), signs(beads, "road__natural")) == (2, 2)
    assert letters(rings) == {"P": 2, "B": 2, "2": 1}, "two ties are counted on the second banker"
    assert signs(rings, "road__tied") == 1


def test_a_choppy_mark_has_another_shape_than_a_regular_one() -> None:
    """Harm: the derived roads speak by red and blue alone."""
    for shapes in (drawings.EYES, drawings.DISCS, drawings.STROKES):
        assert shapes["regular"] != shapes["choppy"]


def test_two_ways_to_end_never_have_the_same_letter() -> None:
    """Harm: a tiger and a tie are one T."""
    for game in (BACCARAT, DRAGON_TIGER):
        assert len({side.letter for side in game.sides}) == 3


@given(STREAKS)
def test_the_newest_hand_is_always_on_the_display(streaks: list[tuple[str, int]]) -> None:
    """Harm: behind a long tail the hand that was just dealt has left at the left edge, or not come in at the right."""
    hands = [Hand(winner) for winner, length in streaks for _ in range(length)]  # type: ignore[arg-type]
    shown = display(hands)
    assert "road__last" in drawings.bead_plate(shown)
    for draw in DRAWINGS:
        drawing = parsed(draw(shown))
        _, _, width, height = map(int, (drawing.get("viewBox") or "").split())
        for lit in drawing.iter("rect"):
            assert 0 <= int(lit.get("x", -1)) <= width - CELL
            assert 0 <= int(lit.get("y", -1)) <= height - CELL


def test_the_page_has_the_table_its_limits_the_shoe_and_the_last_hand() -> None:
    """Harm: players bet by limits, and talk of a hand, that are another table's."""
    html = page(display(HANDS))
    for written in ("Table 7", "50 – 10,000", "<dt>Shoe</dt><dd>14</dd>", "<dt>Hands</dt><dd>6</dd>", "Natural 8"):
        assert written in html, written
    assert '<b class="last__name">Player</b>' in html
    for name, count in (("Player pair", 1), ("Banker pair", 1), ("Natural", 2)):
        assert f"{name}</dt><dd>{count}</dd>" in html


def test_a_new_shoe_and_a_game_without_pairs_have_a_page() -> None:
    """Harm: the display is an error from one shoe to the next, or counts pairs where there can be none."""
    assert "A new shoe" in page(display([]))
    html = page(display([Hand("dragon"), Hand("tiger"), Hand("tie")], DRAGON_TIGER))
    assert "Dragon Tiger" in html
    assert "pair" not in html


def test_a_tables_name_is_no_markup() -> None:
    """Harm: a name that an operator typed is run by every display."""
    assert "<script>alert" not in page(display(HANDS, table="<script>alert(1)</script>"))
