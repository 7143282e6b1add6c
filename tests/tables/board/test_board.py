"""What a screen of one table draws: the one next step, the inputs that can be made, and what the hands do."""

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tables.board.table_view import Board, board
from tables.floor import inputs, recorder
from tables.models import Denomination, Table
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt
from tests.tables.chance import BURNED, LAST, RARE_CUT, SPENT, chance, in_this_order

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def primary(board: Board) -> list[dict[str, Any]]:
    return [button.input for button in board.buttons if button.primary]


def labels(board: Board) -> list[str]:
    return [button.label for button in board.buttons]


def test_while_the_rack_is_counted_nothing_is_offered_that_would_be_refused(dealer: Hand) -> None:
    """Harm: the screen asks for bets, and every key is told off."""
    floor.signs(dealer.table, floor.crew("received"), inputs.BeginSlip("rack", ((100, 1),)))
    board, name = dealer.board, dealer.now.slips[-1].name
    assert (board.due, board.phrase.do) == ("count", "Count the rack, and sign the slip.")
    assert labels(board) == ["Retire the shoe"]
    assert not board.can_take_back
    with pytest.raises(Refused, match="The rack is being counted"):
        dealer("bet", seat=1, amount_cents=1_000)
    floor.signs(dealer.table, floor.crew("requested"), inputs.SignSlip(name, "recounted", ((100, 1),)))
    assert dealer.board.due == "bets"


# --- the next step --------------------------------------------------------------------------------------------


def test_a_closed_table_and_one_without_a_dealer_say_so() -> None:
    """Harm: a screen that asks for cards at a table where nobody may deal."""
    table = floor.table()
    boss = Hand(table, floor.staff(Role.PIT_BOSS, "bella"))
    dora = Hand(table, floor.staff(Role.DEALER, "dora", "101"))
    assert (dora.board.due, dora.board.buttons) == ("closed", ())
    boss("open_table")
    assert (dora.board.due, dora.board.buttons) == ("dealer", ())
    recorder.sign_in(table, dora.by)
    assert dora.board.due == "load"
    assert dora.board.dealer_name == "Dora"


def test_a_keyed_round_prompt_by_prompt(dealer: Hand) -> None:
    """Harm: screen and rules differ; a player folds, and no key records it; or a hit takes one key, and its card
    another."""
    steps: list[tuple[str, str, bool]] = []
    before = dealer.now.seq

    def note() -> None:
        board = dealer.board
        steps.append((board.due, board.phrase.do, board.card_keys))

    note()
    dealer("bet", seat=2, amount_cents=2_000)
    note()
    dealer("close_bets")
    for rank in (8, 9):
        note()
        dealer.cards(rank)
    note()
    choices = [button for button in dealer.board.buttons if button.input["do"] == "choose"]
    assert [(button.hotkey, button.label) for button in choices] == [("F", "Fold for 16")]
    assert choices[0].input == {"do": "choose", "seat": 2, "choice": "fold"}
    dealer.cards(4)
    note()
    dealer.cards(7)
    note()
    dealer.cards(4)
    assert steps == [
        ("bets", "Take the bets, then close them.", False),
        ("bets", "Take the bets, then close them.", False),
        ("card", "Deal a card to seat 2.", True),
        ("card", "Deal your own card.", True),
        ("choose", "Seat 2: hit, or fold for 16.", True),
        ("card", "Dealer hits.", True),
        ("choose", "Seat 2: hit, or fold for 8.", True),
    ]
    assert not dealer.board.round_open
    assert dealer.now.seq - before == 2 + 5, "an input for each bet, close and card"


def test_each_step_of_a_shoe_is_prompted(dealer: Hand) -> None:
    """Harm: the steps of a new shoe are asked for in another order than the house's procedure has them."""
    dealer("retire_shoe")
    prompts = []
    for step in ("load_shoe", "check_decks", "shuffle_shoe", "place_cut_card", "burn"):
        prompts.append(dealer.board.phrase.do)
        dealer(step, **({"counts": dealer.board.deck_columns} if step == "check_decks" else {}))
    assert dealer.board.due == "bets"
    assert prompts == [
        "Load the shoe.",
        "Spread the decks in ten columns and count them.",
        "Shuffle the shoe.",
        "Place the cut card.",
        "Burn 5 cards.",
    ]


def test_a_house_shoe_has_a_button_to_hit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: at an electronic table nobody can hit."""
    in_this_order(monkeypatch, BURNED + LAST[::-1] + SPENT)
    dealer, _ = dealt(source="house")
    dealer.bets(seat1=1_000)
    assert primary(dealer.board) == [{"do": "deal"}]
    dealer("deal")
    assert (dealer.board.due, primary(dealer.board)) == ("choose", []), "one Enter too many would hit"
    hits = [button.input for button in dealer.board.buttons if button.hotkey == "H"]
    assert hits == [{"do": "choose", "seat": 1, "choice": "hit"}]
    dealer(**hits[0])
    assert dealer.board.seats[0].stack == (8, 6)


def is_taken_back(hand: Hand) -> bool:
    """Whether the latest input can be taken back now. The attempt is rolled back."""
    try:
        with transaction.atomic():
            hand("take_back")
            transaction.set_rollback(True)
    except Refused:
        return False
    return True


@pytest.mark.slow("walks a table by chance for hundreds of inputs")
def test_every_button_is_accepted_and_an_input_that_can_be_taken_back_has_a_button() -> None:
    """Harm: a button of the screen is refused or cannot be posted; or the button that takes back is missing when it is
    needed."""
    floor_ = chance(14)
    pressed = set()
    for _ in range(150):
        floor_.step()
        hand = floor_.dealer
        assert is_taken_back(hand) == hand.board.can_take_back
        for button in hand.board.buttons:
            assert inputs.spell(inputs.read(button.input)) == button.input
        if floor_.random.random() < 0.3 and hand.board.buttons:
            button = floor_.random.choice(hand.board.buttons)
            hand(**button.input)
            pressed.add(button.input["do"])
    assert pressed >= {"close_bets", "choose", "take_back", "paid"}


@pytest.mark.slow("walks a table by chance for hundreds of inputs")
def test_what_can_be_entered_has_a_button_or_a_key() -> None:
    """Harm: a round stands still because the one thing that would move it has no button."""
    floor_ = chance(12, source="house", options=RARE_CUT)
    for _ in range(200):
        floor_.step()
        board = floor_.dealer.board
        chooses = any(button.input["do"] == "choose" and button.hotkey for button in board.buttons)
        assert board.due in ("closed", "dealer", "bets") or board.card_keys or chooses or len(primary(board)) == 1


# --- who sees what --------------------------------------------------------------------------------------------


def test_only_the_dealer_who_stands_there_gets_buttons(dealer: Hand) -> None:
    """Harm: two dealers press on one table's screens."""
    dealer.bets(seat1=1_000)
    dealer.cards(8, 9)
    assert dealer.board.buttons
    ida, boss = floor.staff(Role.DEALER, "ida", "102"), floor.staff(Role.PIT_BOSS, "bert")
    for staff in (ida, boss):
        board = Hand(dealer.table, staff).board
        assert (board.buttons, board.can_take_back) == ((), False)
        assert board.seats == dealer.board.seats
    floor.relieve(dealer.table, ida)
    assert dealer.board.buttons == ()


# --- what the hands do ----------------------------------------------------------------------------------------


def test_an_outcome_says_what_to_take_and_what_to_pay_in_chips(dealer: Hand) -> None:
    """Harm: the dealer does the sum, with ten people looking on."""
    dealer.bets(seat1=2_000, seat4=5_000, seat5=1_000)
    dealer.cards(8, 4, 10, 9, 8)
    (outcome,) = dealer.board.outcomes
    assert outcome.do == "take the bet"
    assert outcome.hands == "take the bet, give back 4: 4 white"
    assert outcome.why == "pair of 8s: loses 8/10 of the bet"
    assert (outcome.take, outcome.give_back_cents) == ((), 400), "what lies there goes as it is: 4 red"
    assert [(pile.count, pile.colour) for pile in outcome.give_back] == [(4, "white")]
    dealer.cards(7, 10)
    assert [line.hands for line in dealer.board.outcomes] == ["take the bet of 10"]
    dealer.cards(9)
    (paid,) = dealer.board.outcomes
    assert paid.hands == "pay 45: 1 green 4 red"
    assert dealer.board.pay == paid


def test_what_is_taken_lies_at_the_seat(dealer: Hand) -> None:
    """Harm: of a green and a red the dealer is to take four reds and four whites, and has to make change first."""
    dealer.bets(seat1=3_000, seat2=10_000)
    assert [(pile.count, pile.colour) for pile in dealer.board.seats[0].bet] == [(1, "green"), (1, "red")]
    dealer.cards(8, 6, 10, 8)
    (line,) = dealer.board.outcomes
    assert (line.net_cents, line.hands) == (-2_400, "take 25: 1 green, give back 1: 1 white")
    dealer("choose", seat=2, choice="fold")
    (line,) = dealer.board.outcomes
    assert (line.net_cents, line.hands) == (-6_000, "take the bet, give back 40: 1 green 3 red")


def test_each_wager_is_taken_from_its_own_stack() -> None:
    """Harm: the dealer pays the difference of two wagers, and a chip of one lies on the spot of another."""
    hand, _ = floor.dealt(name="Baccarat 1", game="baccarat", options={}, max_cents=50_000)
    hand("bet", seat=1, wager="player", amount_cents=10_000)
    hand("bet", seat=1, wager="tie", amount_cents=2_500)
    hand("close_bets")
    hand.cards("9", "2", "T", "3")
    line = hand.board.pay
    assert line is not None
    assert (line.do, line.hands) == ("take 25, pay 100", "take 25: 1 green, pay 100: 1 black")
    assert line.net_cents == 7_500


def test_outcomes_are_walked_right_to_left(dealer: Hand) -> None:
    """Harm: a seat is left out."""
    dealer.bets(seat1=1_000, seat3=2_000, seat6=5_000)
    dealer.cards(8, 9, 10, 3)
    walked = []
    while (line := dealer.board.pay) is not None:
        board = dealer.board
        assert board.due == "pay"
        assert board.phrase.do == f"Seat {line.seat}: {line.hands}."
        assert primary(board) == [{"do": "paid", "seat": line.seat}]
        walked.append((line.seat, line.hands, board.pay_after))
        dealer("paid", seat=line.seat)
    assert walked == [(6, "pay 15: 3 red", 2), (3, "pay 6: 1 red 1 white", 1), (1, "pay 3: 3 white", 0)]
    assert dealer.board.due == "bets"


def test_chips_that_do_not_make_an_amount_do_not_stop_the_table(dealer: Hand) -> None:
    """Harm: an operator removes the white chips, and the screen of a round in progress fails; or a loss whose chips
    were taken as the card fell needs one more key, without effect."""
    dealer.bets(seat1=2_000)
    dealer.table.denominations.set(Denomination.objects.exclude(value_cents=100))
    dealer.cards(8, 9, 8)
    (line,) = dealer.board.outcomes
    assert line.hands == line.do == "take 16"
    assert (line.take, line.give_back) == ((), ())
    assert (dealer.board.pay, dealer.board.due) == (None, "bets")


# --- the picture ----------------------------------------------------------------------------------------------


def test_the_layout_shows_bets_stacks_and_who_acts(dealer: Hand) -> None:
    """Harm: the screen shows another table than the one in front of the dealer."""
    dealer.bets(seat2=2_000, seat5=5_000)
    dealer.cards(8, 9, 4, 7)
    board = dealer.board
    seats = {seat.seat: (seat.state, seat.bet_cents, seat.stack, seat.acting) for seat in board.seats}
    empty = dict.fromkeys((1, 3, 4, 6), ("empty", 0, (), False))
    assert seats == empty | {2: ("in", 2_000, (8, 7), False), 5: ("in", 5_000, (9,), True)}
    assert (board.dealer_stack, board.dealer_acting) == ((4,), False)
    assert [(pile.count, pile.colour) for pile in board.seats[1].bet] == [(4, "red")]


def test_bets_of_the_round_before_are_offered_again(dealer: Hand) -> None:
    """Harm: the same bets are typed anew every round."""
    dealer.bets(seat2=2_000, seat5=5_000)
    dealer.cards(8, 9, 3)
    dealer.pay()
    bets = {seat.seat: seat.last_bet_cents for seat in dealer.board.seats if seat.last_bet_cents}
    assert bets == {2: 2_000, 5: 5_000}
    assert [seat.ask.seat for seat in dealer.board.seats if seat.ask] == [1, 2, 3, 4, 5, 6]


def test_the_shoes_depth_is_right_at_every_moment(dealer: Hand) -> None:
    """Harm: the pit reads a shoe as fresh that is nearly dealt."""

    def cards_left() -> int:
        shoe = dealer.board.shoe
        assert shoe is not None
        assert shoe.cut_at == 11
        return shoe.cards_left

    assert cards_left() == 50
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    assert cards_left() == 49
    dealer.cards(3)
    assert cards_left() == 48, "the round is not over before the payout"
    dealer.pay()
    assert cards_left() == 48
    dealer("bet", seat=1, amount_cents=1_000)
    assert cards_left() == 48
    dealer("cut_card_out")
    dealer("close_bets")
    dealer.cards(8, 3)
    dealer.pay()
    assert cards_left() == 46, "it waits to be shuffled"
    dealer("shuffle_shoe")
    assert cards_left() == 55
    dealer("place_cut_card")
    dealer("burn")
    Hand(dealer.table, floor.staff(Role.PIT_BOSS, "bert"))("close_table")
    assert cards_left() == 50


def test_the_button_is_where_the_low_card_put_it() -> None:
    """Harm: the next round's tie is broken from the wrong seat."""
    dealer, _ = dealt(options={"decks": 1, "start": "low_card"})
    dealer.bets(seat2=1_000, seat4=1_000)
    dealer.cards(8, 2)
    assert dealer.board.button == 4
    dealer.cards(3)
    dealer.pay()
    assert dealer.board.button == 4


def test_a_board_costs_two_queries(dealer: Hand) -> None:
    """Harm: eight tables, five screens each, and the database does nothing but draw."""
    dealer.bets(seat1=1_000)
    _ = dealer.board
    with CaptureQueriesContext(connection) as captured:
        _ = dealer.board
    assert len(captured) == 2  # the log's head and the chips


def test_in_mid_round_the_board_shows_the_limits_that_the_round_was_opened_under(dealer: Hand) -> None:
    """Harm: a dealer quotes the new maximum in the old round, and starts a dispute."""
    dealer("bet", seat=1, amount_cents=2_000)
    Table.objects.filter(pk=dealer.table.pk).update(max_cents=50_000)
    table = Table.objects.get(pk=dealer.table.pk)
    assert board(table, dealer.by).max_cents == 10_000
