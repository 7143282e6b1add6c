"""The engine: one action at a time, many of them, and what it says to those out of turn."""

import pytest

from tables.games.play import play, replay, run
from tables.games.protocol import Action, Bet, Card, Choose, CloseBets, Illegal, Opening, Prompt, Shuffle
from tables.games.rocket import Rocket, Rules, State

ROCKET = Rocket()
OPENING = Opening((1, 2))
BETS: list[Action] = [Bet(1, 10), Bet(2, 10), CloseBets()]


def after(*actions: Action) -> State:
    return replay(ROCKET, Rules(), OPENING, actions)


DEALT: tuple[Action, ...] = (*BETS, Card(5, 1), Card(6, 2))
SEAT_1_DECIDES = "out of turn: seat 1 decides: hit or fold"


@pytest.mark.parametrize(
    ("state", "action", "code", "sentence"),
    [
        (after(), Bet(3, 10), "unknown_seat", "there is no seat 3 at this table: bets are open for seats 1, 2"),
        (after(), Card(5, 1), "out_of_turn", "out of turn: bets are open for seats 1, 2"),
        (after(*BETS), Bet(1, 20), "out_of_turn", "out of turn: a card is due to seat 1"),
        (after(*BETS), Card(5, 2), "out_of_turn", "out of turn: a card is due to seat 1"),
        (after(*DEALT), Choose(1, "hit"), "out_of_turn", "out of turn: a card is due to the dealer"),
        (after(*DEALT, Card(7, 0)), Choose(2, "hit"), "out_of_turn", SEAT_1_DECIDES),
        (after(*DEALT, Card(7, 0)), Shuffle(), "out_of_turn", SEAT_1_DECIDES),
        (after(*DEALT, Card(3, 0)), Card(7, 0), "round_over", "the round is over: nothing more can happen in it"),
    ],
)
def test_an_action_out_of_turn_is_told_what_is_due(state: State, action: Action, code: str, sentence: str) -> None:
    """Harm: a second screen acts on a state that is not there any more, and nobody learns what is expected."""
    with pytest.raises(Illegal) as refusal:
        play(ROCKET, state, action)
    assert (refusal.value.code, refusal.value.sentence) == (code, sentence)


def test_an_empty_shoe_must_be_shuffled_first() -> None:
    """Harm: a card is dealt from an empty shoe."""
    empty = Opening((1,), dealt=(1, 2, 3, 4, 5, 6, 7, 8, 9, 5))
    with pytest.raises(Illegal) as refusal:
        replay(ROCKET, Rules(decks=1), empty, [Bet(1, 10), CloseBets(), Card(5, 1)])
    assert refusal.value.sentence == "out of turn: the shoe is empty: the discards must be shuffled first"


def test_run_stops_where_there_is_no_answer() -> None:
    """Harm: a round whose next card has not been turned yet cannot be resumed."""
    actions: list[Action] = [*BETS, Card(5, 1)]

    def answer(prompts: tuple[Prompt, ...]) -> Action | None:
        return actions.pop(0) if actions else None

    assert run(ROCKET, ROCKET.open(Rules(), OPENING), answer) == after(*BETS, Card(5, 1))


def test_run_refuses_a_wrong_answer() -> None:
    """Harm: answers that are not typed in by anyone go unchecked."""
    with pytest.raises(Illegal) as refusal:
        run(ROCKET, after(*BETS), lambda prompts: Choose(1, "hit"))
    assert refusal.value.code == "out_of_turn"
