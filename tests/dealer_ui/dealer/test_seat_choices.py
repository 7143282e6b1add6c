"""Choices as keys: no more presses than there are things to name, and every input can be reached."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from dealer_ui.dealer.seat_choices import Pane, Press, Ways, ways
from tables.board.buttons import Button


def button(choice: str, seat: int = 1, hotkey: str = "", **named: Any) -> Button:
    spelled = {"do": "choose", "seat": seat, "choice": choice} | named
    said = " ".join(str(value) for value in named.values())
    return Button(f"{choice.capitalize()} {said}".strip(), spelled, hotkey, way=choice.capitalize())


def labels(keys: tuple[Press, ...]) -> list[str]:
    return [key.label for key in keys if key.value or key.opens]


def pane(found: Ways, name: str) -> Pane:
    return next(one for one in (found.pane, *found.panes) if one and one.name == name)


def reached(found: Ways) -> Iterator[dict[str, Any]]:
    """Every input that can be entered from the keys at hand on, each pane opened by its own key."""
    shown = [*found.beside, *(found.pane.keys if found.pane else ())]
    while shown:
        key = shown.pop()
        if key.opens:
            shown += pane(found, key.opens).keys
        elif key.value:
            yield json.loads(key.value)


def test_choices_that_name_nothing_are_buttons() -> None:
    """Harm: a pane to open for what is one tap."""
    found = ways([button("draw"), button("lock")], keyed=False)
    assert (found.pane, found.panes) == (None, ())
    assert labels(found.beside) == ["Draw", "Lock"]


def test_one_choice_among_cards_has_its_cards_at_hand_where_they_always_are() -> None:
    """Harm: the key of a card moves with what may be played: the wrong one is pressed."""
    found = ways([button("play", card=3), button("play", card=10), button("fold")], keyed=False)
    assert found.pane is not None
    assert [key.label for key in found.pane.keys] == [str(rank) for rank in range(1, 11)]
    assert labels(found.pane.keys) == ["3", "10"]
    assert [key.hotkey for key in found.pane.keys if key.value] == ["3", "0"]
    assert labels(found.beside) == ["Fold"]


def test_a_seat_and_a_card_are_two_presses_after_the_choice() -> None:
    """Harm: fifty buttons for one gift."""
    gifts = [button("gift", card=card, target=seat) for card in (1, 2) for seat in (2, 4)]
    found = ways([button("draw"), *gifts, button("see", target=2), button("see", target=4)], keyed=False)
    assert found.pane is not None
    assert labels(found.pane.keys) == ["Draw", "Gift", "See"]
    seats = pane(found, found.pane.keys[1].opens)
    assert (seats.kind, [key.hotkey for key in seats.keys]) == ("seats", ["2", "4"])
    cards = pane(found, seats.keys[1].opens)
    assert cards.says == "Gift: seat 4"
    assert [json.loads(key.value) for key in cards.keys if key.value] == [
        {"do": "choose", "seat": 1, "choice": "gift", "card": card, "target": 4} for card in (1, 2)
    ]


def test_the_only_target_is_not_asked_for() -> None:
    """Harm: with two players left, a tap for the only other one at every turn."""
    found = ways([button("gift", card=card, target=2) for card in (1, 2)] + [button("fold")], keyed=False)
    assert found.pane is not None
    assert found.pane.kind == "cards"


def test_where_cards_are_keyed_the_card_keys_stay_at_hand() -> None:
    """Harm: the keys for the card that is drawn give way to those of something rare."""
    folds = [button("fold", card=card, target=seat, hotkey="F") for card, seat in ((4, 1), (7, 2), (9, 2))]
    found = ways(folds, keyed=True)
    assert found.pane is None
    assert [(key.label, key.hotkey, bool(key.opens)) for key in found.beside] == [("Fold", "F", True)]


def test_counts_that_one_figure_does_not_say_are_typed() -> None:
    """Harm: a player who takes 12 cards is entered with 1."""
    few = ways([button("discard", count=count) for count in range(4)] + [button("fold")], keyed=False).pane
    many = ways([button("take", count=count) for count in range(3, 20)] + [button("fold")], keyed=False).pane
    assert few is not None
    assert many is not None
    assert (few.is_typed, [key.hotkey for key in few.keys]) == (False, ["0", "1", "2", "3"])
    assert (many.is_typed, {key.hotkey for key in many.keys}) == (True, {""})


def test_several_seats_at_once_are_asked_for_first() -> None:
    """Harm: one seat's choice is entered for another."""
    found = ways([button("bid", seat=seat, card=card) for seat in (1, 3) for card in (2, 5)], keyed=False)
    assert found.pane is not None
    assert (found.pane.kind, labels(found.pane.keys)) == ("seats", ["Seat 1", "Seat 3"])


named = some.fixed_dictionaries(
    {},
    optional={
        "card": some.integers(1, 10),
        "target": some.integers(1, 8),
        "count": some.integers(0, 30),
        "cards": some.lists(some.integers(1, 10), max_size=3).map(tuple),
    },
)


@given(some.lists(some.tuples(some.sampled_from("abc"), some.integers(1, 2), named), max_size=30), some.booleans())
def test_every_input_can_be_reached_and_no_other(choices: list[tuple[str, int, dict[str, Any]]], keyed: bool) -> None:
    """Harm: a legal choice without a way to enter it; or a key that enters what was not offered."""
    buttons = {
        repr((choice, seat, sorted(facts.items()))): button(choice, seat, **facts) for choice, seat, facts in choices
    }
    found = list(reached(ways(list(buttons.values()), keyed=keyed)))
    wanted = [json.loads(json.dumps(one.input)) for one in buttons.values()]
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
