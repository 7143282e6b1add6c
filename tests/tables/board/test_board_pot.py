"""What a screen of a table with a pot draws: every game's layout and choices, and nothing of a hidden hand."""

import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tables.api.forms import board_form
from tables.board.table_view import Board
from tables.games.catalog import GAMES
from tables.games.protocol import AskCard, AskChoice
from tests import floor
from tests.floor import Hand, for_pot

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

POT_GAMES = [name for name, game in GAMES.items() if game.kind == "pot"]
CHOOSES = {"do": "choose", "seat": 1}


def inputs(board: Board) -> list[dict[str, Any]]:
    return [button.input for button in board.buttons]


def seated(game: str, coins: int = 50, **settings: Any) -> Hand:
    """A table with as many players as the game has at most."""
    seat_count = GAMES[game].seat_counts[-1]
    seats = dict.fromkeys(range(1, seat_count + 1), coins * 100) if GAMES[game].coins else {}
    return for_pot(game, seats=seats, **settings)[0]


def payment_lines(board: Board) -> list[str]:
    return [line.says for line in board.payments]


def choose_by(hand: Hand, chance: random.Random) -> None:
    """Make one of the inputs that the board offers, or key a card that may come."""
    board = hand.board
    chooses = [entered for entered in inputs(board) if entered["do"] in ("choose", "deal", "shuffle")]
    due = [ask for ask in board.prompts if isinstance(ask, AskCard)]
    if board.card_keys and due:
        hand("card", rank=chance.choice(due[0].may_come))
    elif board.card_keys and not chooses:
        hand("card", rank=chance.choice(_may_come(hand)))
    else:
        entered = dict(chance.choice(chooses))
        hand(entered.pop("do"), **entered)


def _may_come(hand: Hand) -> list[int]:
    current = hand.now.round
    assert current is not None
    dealt = current.game.gone(current.state)
    return [rank for rank, out in enumerate(dealt, 1) if out < rank]


def boards(hand: Hand, chance: random.Random, most_inputs: int = 400) -> Iterator[Board]:
    """The boards of a game that is dealt with nothing but what each of them offers."""
    plays = [box.seat for box in hand.board.seats if box.plays]
    hand("start_game", seats=plays)
    for _ in range(most_inputs):
        yield hand.board
        if not hand.now.round_open:
            return
        choose_by(hand, chance)


# --- every game, by the board alone ---------------------------------------------------------------------------


@pytest.mark.slow("plays whole games")
@pytest.mark.parametrize("name", POT_GAMES)
def test_a_game_is_dealt_to_its_end_by_what_its_boards_offer(name: str) -> None:
    """Harm: a game that the catalog has and the dealer's screen cannot deal: a choice without a button, or a card
    without a key."""
    hand, chance = seated(name), random.Random(f"{name} 3")
    all_boards = list(boards(hand, chance))
    assert not hand.now.round_open, f"{name} is not over"
    for board in all_boards:
        assert board.phrase.do
        assert board.due in ("card", "choose", "reshuffle", "shuffle", "seats", "burn")
        assert board.parts == GAMES[name].parts
    assert all_boards[-1].due in ("seats", "shuffle")
    assert any(box.outcome for box in all_boards[-1].seats)
    json.dumps(board_form(all_boards[-1]))


@pytest.mark.parametrize("name", [name for name in POT_GAMES if "hand" in GAMES[name].parts])
def test_a_board_tells_staff_nothing_of_hands_that_a_house_shoe_dealt(name: str) -> None:
    """Harm: a dealer who reads a player's cards off the buttons, the prompts or the API."""
    hand, chance = seated(name, source="house"), random.Random(name)
    players = {box.seat: floor.player(hand, box.seat) for box in hand.board.seats if box.may_play}
    hand("start_game", seats=[box.seat for box in hand.board.seats if box.plays])
    for _ in range(12):
        board, current = hand.board, hand.now.round
        assert current is not None
        if current.over:
            return
        asks = [ask for ask in current.game.prompts(current.state) if isinstance(ask, AskChoice)]
        hiding = {ask.seat for ask in asks if current.hides_cards_of(ask.seat)}
        assert set(board.waiting) == hiding
        choices = [choice for ask in board.prompts if isinstance(ask, AskChoice) for choice in ask.choices]
        assert not hiding or not any(choice.names_things for choice in choices)
        assert not [entered for entered in inputs(board) if entered["do"] == "choose" and entered["seat"] in hiding]
        assert "gone" not in json.dumps(board_form(board)["prompts"])
        if not asks:
            choose_by(hand, chance)
            continue
        ask = chance.choice(asks)
        players[ask.seat].chooses(chance.choice(ask.choices))


def test_who_has_chosen_in_secret_is_marked_and_never_what() -> None:
    """Harm: a dealer who waits for the wrong seat; or a mark that tells the card."""
    hand = for_pot("hawthorn", seats={1: 5_000, 2: 5_000, 4: 5_000}, source="house")[0]
    players = {seat: floor.player(hand, seat) for seat in (1, 2, 4)}
    hand("start_game")
    assert hand.board.phrase.do == "Waiting for seats 1, 2 and 4."
    players[2].chooses(players[2].choices[0])
    board = hand.board
    assert board.phrase.do == "Waiting for seats 1 and 4."
    assert [box.seat for box in board.seats if box.has_chosen] == [2]
    assert [box.seat for box in board.seats if box.acting] == [1, 4]
    assert [box.hand_size for box in board.seats] == [5, 5, 0, 5, 0, 0, 0, 0]
    assert all(not box.stack for box in board.seats)


# --- choices that name things -----------------------------------------------------------------------------------


def test_a_choice_is_spelled_with_all_that_it_names() -> None:
    """Harm: a button that is refused because it does not say which card."""
    hand = for_pot("sweep", seats={})[0]
    hand("start_game", seats=[1, 2, 3])
    hand.cards(1, 3, 4, 5, 6)
    board = hand.board
    assert board.due == "choose"
    plays = [button for button in board.buttons if button.input["do"] == "choose"]
    assert [play.input["card"] for play in plays] == [2, 3, 4, 5, 6, 7, 8, 9, 10], "the only 1 lies in the middle"
    assert {play.way for play in plays} == {"Play"}
    assert {play.hotkey for play in plays} == {"P"}
    assert plays[0].label == "Play 2"


def test_costs_are_said_in_money_and_not_in_coins() -> None:
    """Harm: "Draw for 0.01" at a table whose coin is worth five."""
    hand = for_pot("starboard", seats={1: 10_000, 2: 10_000}, unit_cents=500, source="house")[0]
    hand("start_game")
    board = hand.board
    assert "Draw for 5" in [button.label for button in board.buttons]
    assert "draw for 5 or lock" in board.phrase.do


def test_letters_of_choices_do_not_collide() -> None:
    """Harm: one key for two choices: the wrong one is entered."""
    for name in POT_GAMES:
        hand_words = GAMES[name].words
        assert len(hand_words) == len(set(hand_words))
    hand = for_pot("troll_guts", seats={1: 5_000, 2: 5_000, 3: 5_000})[0]
    hand("start_game")
    hand.cards(2, 5, 9)
    ways = {button.way: button.hotkey for button in hand.board.buttons if button.way}
    assert ways == {"Steal": "S", "Buy the own top card": "B"}
    assert hand.board.card_keys, "the card that is drawn is keyed"
    assert [entered["target"] for entered in inputs(hand.board) if entered.get("choice") == "steal"] == [2, 3]


# --- chips ------------------------------------------------------------------------------------------------------


def test_payments_are_shown_in_words_and_chips_with_equal_ones_joined() -> None:
    """Harm: the dealer has to work out the payments between seats; six lines appear instead of one; or a game of turns
    marks seats as having chosen in secret."""
    hand = for_pot("starboard", seats={1: 5_000, 2: 5_000, 4: 5_000}, rake_permille=100)[0]
    hand("start_game")
    assert payment_lines(hand.board) == ["Seats 1, 2 and 4 pay 1 each into the pot."]
    assert [chip.colour for chip in hand.board.payments[0].each] == ["white"]
    assert (hand.board.pot_cents, hand.board.pot[0].count) == (300, 3)
    hand.cards(4, 7)
    seat = next(box.seat for box in hand.board.seats if box.acting)
    hand.cards(9)
    assert payment_lines(hand.board) == [f"Seat {seat} pays 1 into the pot."]
    assert not any(box.has_chosen for box in hand.board.seats)
    for _ in range(2):
        acting = next(box.seat for box in hand.board.seats if box.acting)
        hand("choose", seat=acting, choice="lock")
    assert not hand.now.round_open
    assert payment_lines(hand.board)[-1] == "Seats 1, 2 and 4 take 1 each from the pot."


def test_a_game_that_is_over_lies_there_until_the_deck_is_shuffled() -> None:
    """Harm: the outcome vanishes with the last card, before the dealer has paid it."""
    hand = for_pot("troll_guts", seats={1: 5_000, 2: 5_000, 3: 5_000})[0]
    chance = random.Random(4)
    *_, final = boards(hand, chance)
    assert final.due == "shuffle"
    assert any(box.stack for box in final.seats)
    assert any("from the pot" in line for line in payment_lines(final))
    assert {box.outcome.outcome for box in final.seats if box.outcome} == {"win", "pair"}
    assert all(not box.outcome.hands for box in final.seats if box.outcome)
    hand("shuffle_shoe")
    assert all(not box.stack for box in hand.board.seats)
    assert payment_lines(hand.board) == []


def test_between_games_the_board_says_who_is_dealt_in() -> None:
    """Harm: a seat without chips is dealt in and refused; or one that sat out has to say so again each game."""
    hand = for_pot("starboard", seats={1: 5_000, 2: 5_000, 4: 5_000, 6: 5_000})[0]
    board = hand.board
    assert (board.due, board.coins, board.banked) == ("seats", True, False)
    assert [box.seat for box in board.seats if box.plays] == [1, 2, 4, 6]
    assert {"do": "start_game", "seats": ()} in inputs(board)
    assert {"do": "cash_out", "seat": 4} in inputs(board)
    assert board.seats[0].chips_cents == 5_000
    hand("start_game", seats=[1, 4])
    hand.cards(4, 7)
    while hand.now.round_open:
        acting = next(box.seat for box in hand.board.seats if box.acting)
        hand("choose", seat=acting, choice="lock")
    hand("buy_in", seat=8, amount_cents=5_000)
    boxes = hand.board.seats
    assert [box.seat for box in boxes if box.may_play] == [1, 2, 4, 6, 8]
    assert [box.seat for box in boxes if box.plays] == [1, 4, 8]


def test_with_nothing_left_a_seat_in_play_is_all_in() -> None:
    """Harm: the dealer asks a player for chips that are not there."""
    hand = for_pot("starboard", seats={1: 100, 2: 5_000, 3: 5_000})[0]
    hand("start_game")
    assert [box.seat for box in hand.board.seats if box.is_all_in] == [1]
    hand.cards(4, 7)
    assert 1 not in {ask.seat for ask in hand.board.prompts if isinstance(ask, AskChoice)}
