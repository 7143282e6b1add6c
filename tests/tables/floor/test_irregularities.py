"""What goes wrong at a table: void rounds, cards set aside, abandoned tables, bets over the limit; its proof."""

import json
from typing import Any

import pytest
from django.db import transaction

from ledger import cage
from ledger import log as book_log
from ledger.log import Draft
from ledger.models import Alert, LogEntry, Transfer
from tables.audit import round_list
from tables.audit.round_steps import story
from tables.floor import recorder, rounds
from tables.floor.command_context import CommandContext
from tables.floor.inputs import (
    AcceptBet,
    CloseDispute,
    EnterMishap,
    OpenDispute,
    RuleDispute,
    RuleOnHand,
    TakeBack,
    UnlockRack,
    VoidRound,
)
from tables.games.catalog import GAMES
from tables.games.protocol import Bet, Choice, Choose
from tables.games.record import judge
from tables.log.entries.rounds import Played, TakenBack
from tables.log.irregularities import ACTS, MISHAPS, REASONS, choice_of
from tables.log.terms import limits_of, rules_of
from tables.models import Table
from tables.roles import Role
from tests import floor
from tests.floor import counted, dealt, for_pot
from tests.tables.approvals.test_proposals import rollback
from tests.tables.floor.acts import (
    abandon,
    burn_at_relief,
    enter,
    fault,
    latest_kinds,
    refusal,
    set_aside,
    verify,
    void,
)
from tests.tables.floor.test_recorder import chips_everywhere

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


# --- void rounds ------------------------------------------------------------------------------------------------


def test_a_round_against_the_house_is_void_and_its_cards_are_gone() -> None:
    """Harm: a round that nobody can finish stops the table for good; or its cards could be keyed a second time."""
    dealer, boss = dealt()
    before = chips_everywhere()
    dealer.bets(seat1=2_000, seat3=1_000)
    dealer.cards(1, 4)  # the only 1 of the deck
    void(boss)
    assert not dealer.now.round_open
    assert chips_everywhere() == before
    assert dealer.board.due == "bets"
    dealer.bets(seat1=2_000)
    assert refusal(dealer.cards, 1).code == "impossible_card"
    assert dealer.now.gone[0] == 0 or dealer.now.round is not None
    assert dealer.now.round is not None
    assert dealer.now.round.opening.dealt[0] == 1
    assert dealer.now.round.number == 2
    verify(dealer.table)


def test_what_was_settled_in_a_void_round_is_reversed() -> None:
    """Harm: a round is void and the rack keeps what it took, or players keep what they were paid."""
    dealer, boss = dealt()
    before = chips_everywhere()
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(4, 5, 3)  # the dealer's 3 pays both seats: settled, and nobody is paid yet
    assert dealer.board.pay is not None
    dealer("paid", seat=2)
    assert Transfer.objects.filter(book_id=dealer.table.book_id, kind="win").count() == 2
    void(boss, "dead_hand")
    assert chips_everywhere() == before
    assert dealer.board.pay is None
    verify(dealer.table)


def test_a_game_for_a_pot_is_void_and_every_coin_is_where_it_was() -> None:
    """Harm: the pot of a game that cannot end keeps the players' chips."""
    dealer, boss = for_pot("hawthorn", seats={1: 2_000, 2: 2_000, 3: 2_000})
    before, stacks = chips_everywhere(), dealer.now.stacks
    dealer("start_game")
    while not dealer.now.pot_cents:
        dealer.cards(9)
    assert dealer.now.pot_cents > 0
    assert dealer.now.round_open
    void(boss)
    assert chips_everywhere() == before
    assert dealer.now.stacks == stacks
    assert dealer.now.pot_cents == 0
    dealer("shuffle_shoe") if dealer.board.due == "shuffle" else None
    verify(dealer.table)


def test_the_shoe_goes_with_a_void_round_where_nobody_knows_what_it_holds() -> None:
    """Harm: play goes on from a shoe that was found wrong."""
    dealer, boss = dealt(source="house")
    dealer.bets(seat1=1_000)
    dealer("deal")
    void(boss, "shoe_wrong")
    assert latest_kinds(dealer.table, 2) == ["round voided", "shoe retired"]
    assert dealer.board.due == "load"
    dealer.ready_shoe()
    dealer.bets(seat1=1_000)
    verify(dealer.table)


def test_a_house_shoe_is_dealt_on_after_a_void_round_and_its_order_holds() -> None:
    """Harm: a house shoe deals the cards of a void round again, or skips some, and its opened order proves neither."""
    dealer, boss = dealt(source="house", game="blackjack", options={"decks": 6})
    for _ in range(3):
        dealer.bets(seat1=1_000, seat2=1_000)
        dealer("deal")
        if not dealer.now.round_open or dealer.board.pay:
            dealer.pay()
            continue
        set_aside(dealer)
        void(boss)
        burn_at_relief(dealer)
    dealer("retire_shoe")
    verify(dealer.table)


def test_only_a_pit_boss_voids_an_open_round_for_a_listed_reason() -> None:
    """Harm: a dealer undoes a round that a friend lost, or a round is voided for an unlisted reason."""
    dealer, boss = dealt()
    assert refusal(void, boss).code == "no_round"
    dealer.bets(seat1=1_000)
    assert refusal(void, dealer).code == "not_permitted"
    for reason in ("bad luck", "ruling"):
        assert refusal(void, boss, reason).code == "unknown_reason"
    assert refusal(enter, boss, VoidRound("misdeal", " ")).code == "no_words"
    void(boss, "equipment")
    assert dealer.now.round is not None
    assert dealer.now.round.voided == "equipment"
    assert refusal(dealer, "take_back").code == "nothing_to_take_back"
    assert Alert.objects.filter(kind="voided").count() == 1


def test_a_void_round_has_no_result_anywhere() -> None:
    """Harm: a void round is counted as won or lost, or its record replays to a result that nobody got."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(4, 5)
    set_aside(dealer, "7")
    dealer.cards(6, 4)  # seat 1 pairs its 4, and is out
    void(boss)
    (line,) = round_list.rounds(dealer.table.book_id, through=1).lines
    assert (line.voided, line.house_net_cents, line.staked_cents, line.over) == ("misdeal", 0, 0, True)
    account = story(dealer.table, 1)
    assert account is not None
    assert account.record is not None
    assert account.payouts == ()
    assert account.record["aside"] == [{"after": 2, "card": 7}]
    answer = judge(json.dumps(account.record))
    assert (answer["voided"], answer["results"], answer["house_net"]) == ("misdeal", [], 0)


# --- a dispute that is ruled void -------------------------------------------------------------------------------


def test_a_dispute_is_ruled_void_while_its_round_is_open_and_the_round_ends_with_it() -> None:
    """Harm: a ruling has to wait for a round that cannot end."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    dealer.cards(4)
    enter(dealer, OpenDispute(1, "that card was mine", "a player", 1))
    enter(boss, RuleDispute(1, "void", "nobody saw the card"))
    assert not dealer.now.round_open
    enter(boss, CloseDispute(1))
    verify(dealer.table)


# --- cards that leave the shoe unplayed -------------------------------------------------------------------------


def test_a_card_set_aside_in_mid_round_cannot_come_again() -> None:
    """Harm: an exposed card is discarded, and its second coming is taken for a card of the shoe."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    set_aside(dealer, "1")
    assert refusal(dealer.cards, 1).code == "impossible_card"
    dealer.cards(2)
    dealer("take_back")
    boss("take_back")  # the card set aside was a wrong key, too
    dealer.cards(1)
    verify(dealer.table)


def test_a_card_set_aside_between_rounds_is_gone_for_the_next() -> None:
    """Harm: what the shoe holds is wrong by a card from then on."""
    dealer, _ = dealt()
    set_aside(dealer, "1")
    dealer.bets(seat1=1_000)
    assert refusal(dealer.cards, 1).code == "impossible_card"
    dealer.cards(10, 9, 10)
    set_aside(dealer, "2")
    assert refusal(dealer, "take_back").code == "card_stands"
    assert (dealer.now.gone[0], dealer.now.gone[1], sum(dealer.now.gone)) == (1, 1, 5)
    dealer.bets(seat1=1_000)
    assert dealer.now.round is not None
    assert dealer.now.round.opening.dealt[1] == 1
    verify(dealer.table)


def test_a_card_that_nobody_saw_ends_the_shoe_with_the_round() -> None:
    """Harm: the shoe goes on although nobody can say what it holds."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    set_aside(dealer)
    dealer.cards(10, 9, 10)
    dealer.pay()
    assert dealer.board.due == "retire"
    assert refusal(dealer.bets, seat1=1_000).code == "shoe_not_ready"
    dealer("retire_shoe")
    dealer.ready_shoe()
    dealer.bets(seat1=1_000)
    verify(dealer.table)


def test_a_burn_at_relief_counts_as_burned_and_the_shoe_goes_on() -> None:
    """Harm: the shoe is believed to have a card more than it has, and is empty before the table knows."""
    dealer, _ = dealt()
    cards_left = dealer.now.cards_left
    burn_at_relief(dealer)
    assert dealer.now.cards_left == cards_left - 1
    assert refusal(burn_at_relief, dealer, "4").code == "bad_burn"
    dealer.bets(seat1=1_000)
    assert refusal(burn_at_relief, dealer).code == "round_open"
    dealer.cards(10, 9, 10)
    verify(dealer.table)


def test_a_mishap_is_noted_and_an_unknown_one_or_a_wrong_act_refused() -> None:
    """Harm: a procedure is noted that the house does not have."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    assert refusal(enter, dealer, EnterMishap("bad luck")).code == "unknown_mishap"
    assert refusal(enter, dealer, EnterMishap("boxed_card", act="burn")).code == "unknown_act"
    assert refusal(set_aside, dealer, "99").code == "no_such_card"
    assert refusal(enter, boss, EnterMishap("misdeal")).code == "not_your_table"
    enter(dealer, EnterMishap("misdeal", called="Bella", note="two cards stuck together"))
    assert latest_kinds(dealer.table, 1) == ["mishap entered"]
    assert Alert.objects.filter(kind="entered").count() == 1
    verify(dealer.table)


def test_every_mishap_says_what_to_do_and_leads_to_acts_that_there_are() -> None:
    """Harm: a dealer opens a procedure and stands before an empty page."""
    for mishap in MISHAPS.values():
        assert all((mishap.does, mishap.says, mishap.bets, mishap.cards, mishap.source, mishap.calls)), mishap.name
        assert set(mishap.acts) <= set(ACTS)
        assert ("void" in mishap.acts or "abandon" in mishap.acts) <= (mishap.reason in REASONS)


# --- tables that are abandoned ----------------------------------------------------------------------------------


def test_an_abandoned_table_closes_with_its_closer() -> None:
    """Harm: an evacuation leaves a table that cannot be closed, or an open rack for the first person who comes back."""
    dealer, boss = dealt(source="house")
    before = chips_everywhere()
    dealer.bets(seat1=1_000)
    dealer("deal")
    assert refusal(counted, boss, "closer").code == "round_open"
    assert refusal(abandon, dealer).code == "not_permitted"
    abandon(boss)
    kinds = ["mishap abandoned", "rack locked", "round voided", "shoe retired", "dealer signed_out"]
    assert latest_kinds(dealer.table, 5) == kinds
    assert dealer.now.lock is not None
    assert (dealer.now.lock.abandoned, dealer.board.due) == (True, "locked")
    assert chips_everywhere() == before
    counted(boss, "closer")
    assert not dealer.now.is_open
    verify(dealer.table)


def test_an_abandoned_table_is_dealt_on() -> None:
    """Harm: after an alarm for nothing the table has to be closed and opened anew."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    abandon(boss, "power")
    assert refusal(recorder.sign_in, dealer.table, dealer.by).code == "rack_locked"
    second = floor.staff(Role.SECURITY, "greta")
    enter(boss, UnlockRack("the lamps are on again", second.username))
    recorder.sign_in(dealer.table, dealer.by)
    dealer.ready_shoe()
    dealer.bets(seat1=1_000)
    dealer.cards(10, 9, 10)
    verify(dealer.table)


def test_chips_at_the_seats_of_an_abandoned_table_are_cashed_out_by_the_pit() -> None:
    """Harm: a table with a pot cannot close because nobody deals there who could cash its players out."""
    dealer, boss = for_pot("pairs", seats={1: 2_000, 2: 2_000})
    assert refusal(boss, "cash_out", seat=1).code == "not_your_table"
    dealer("start_game")
    abandon(boss, "fire")
    for seat in (1, 2):
        boss("cash_out", seat=seat)
    counted(boss, "closer")
    assert not dealer.now.is_open
    verify(dealer.table)


# --- a player who left --------------------------------------------------------------------------------------------


def deciding() -> tuple[floor.Hand, floor.Hand]:
    """Seat 1 of two has to decide; the shoe has six decks."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000, seat2=1_000)
    dealer.cards(8, 9, 10)
    return dealer, boss


def log_words(hand: floor.Hand) -> list[str]:
    return [step.words for step in story(hand.table, 1).steps]


def test_the_hand_of_a_player_who_left_is_ruled_on_by_a_pit_boss_and_goes_on() -> None:
    """Harm: the dealer folds for a player who is not there, and the log says that the player folded."""
    dealer, boss = deciding()
    left = RuleOnHand(1, "play_on", "called to the phone")
    assert refusal(enter, dealer, left).code == "not_permitted"
    assert refusal(enter, boss, RuleOnHand(2, "play_on", "")).code == "out_of_turn"
    assert refusal(enter, boss, RuleOnHand(1, "take it", "")).code == "no_ruling"
    enter(boss, left)
    assert latest_kinds(dealer.table, 2) == ["mishap entered", "round play"]
    assert [alert.message for alert in Alert.objects.filter(kind="entered")] == [
        "Rocket 1, round 1: the player of seat 1 left; Bella rules: the wager stands (hit)"
    ]
    dealer.cards(7)
    dealer("choose", seat=2, choice="fold")
    dealer.cards(9)
    assert refusal(dealer, "choose", seat=1, choice="fold").code == "player_left"
    dealer.cards(6, 8)  # the seat's next card, and the dealer's
    enter(boss, RuleOnHand(1, "give_up", "the player will not come back"))
    assert [payout.net_cents for payout in dealer.now.round.house_payouts if payout.seat == 1] == [-600]
    assert "Player left in mid-round; the wager stands; called to the phone" in log_words(dealer)
    assert [words for words in log_words(dealer) if "had left" in words] == [
        "The player had left: Seat 1: hit",
        "The player had left: Seat 1: fold",
    ]
    verify(dealer.table)


def test_a_ruling_takes_a_card_of_a_house_shoe_and_adds_no_chips() -> None:
    """Harm: a house shoe waits for a player who is not there; or chips are wagered for one who cannot agree."""
    dealer, boss = dealt(source="house", options={"decks": 6})
    while not (dealer.now.round_open and dealer.board.due == "choose"):
        dealer.pay()
        dealer.bets(seat1=1_000)
        dealer("deal")
    enter(boss, RuleOnHand(1, "play_on", ""))
    assert len(dealer.now.round.state.stacks[0]) == 2 or dealer.now.round.over
    verify(dealer.table)
    play, fold = Choice("play", 1_000), Choice("fold")
    assert (choice_of("play_on", (play, fold)), choice_of("give_up", (play, fold))) == ("", "fold")
    hand = (Choice("hit", draws=True), Choice("stand"), Choice("double", 1_000), Choice("surrender"))
    assert (choice_of("play_on", hand), choice_of("give_up", hand)) == ("stand", "surrender")


def test_a_dealer_takes_back_no_ruling_on_the_hand_of_a_player_who_left() -> None:
    """Harm: the dealer takes a pit boss's ruling back and folds for a player who is not there."""
    dealer, boss = deciding()
    enter(boss, RuleOnHand(1, "play_on", ""))
    assert refusal(dealer, "take_back").code == "player_left"
    assert "Take back" not in [button.label for button in dealer.board.buttons]
    with rollback():
        take_back_unasked(dealer)
        assert "a pit boss takes it back" in fault(dealer.table).what
    enter(boss, TakeBack())
    verify(dealer.table)


def take_back_unasked(hand: floor.Hand) -> None:
    """The dealer's entry that takes the latest input back, written into the log."""
    with transaction.atomic():
        latest = hand.now.round.plays[-1]
        event = TakenBack(corrects=latest.seq, actions=latest.actions)
        cage.post(book_log.lock(hand.table.book_id), Draft.of(event, hand.now.dealer.signature, round=1), ())


def test_a_site_may_have_dealers_rule_that_the_wager_stands_and_no_more(terms: Any) -> None:
    """Harm: a table waits for a pit boss at each player who goes home; or a dealer gives hands up."""
    dealer, _ = deciding()
    terms(player_left_ruled_by="dealer")
    assert refusal(enter, dealer, RuleOnHand(1, "give_up", "")).code == "not_permitted"
    enter(dealer, RuleOnHand(1, "play_on", ""))
    verify(dealer.table)
    terms(player_left_ruled_by="pit_boss")
    assert "a dealer ruled on the hand" in fault(dealer.table).what


def forge_play(hand: floor.Hand, by: str, **facts: Any) -> None:
    with transaction.atomic():
        event = Played(actions=(Choose(1, "fold"),), **facts)
        state = hand.now.round.game.apply(hand.now.round.state, event.actions[0])
        event = Played(actions=event.actions, decided=hand.now.round.newly_decided(state), **facts)
        moves = hand.now.round.moves_to(cage.chart(hand.table.book_id), state)
        cage.post(book_log.lock(hand.table.book_id), Draft.of(event, by, round=1), moves)


def test_a_decision_for_a_player_who_left_without_a_ruling_is_found() -> None:
    """Harm: a forged entry folds for a player under the name of a pit boss who ruled otherwise or not at all."""
    dealer, boss = deciding()
    with rollback():
        forge_play(dealer, boss.by.signature, ruling=True)
        assert "without that ruling" in fault(dealer.table).what
    enter(boss, RuleOnHand(1, "play_on", ""))
    dealer.cards(7)
    dealer("choose", seat=2, choice="fold")
    dealer.cards(9)
    forge_play(dealer, dealer.now.dealer.signature)
    assert "Only a pit boss may give the hand up" in fault(dealer.table).what


# --- bets over the limit ----------------------------------------------------------------------------------------


def test_a_bet_over_the_limit_stands_when_a_pit_boss_signs_and_is_settled_whole() -> None:
    """Harm: a bet that was accepted is paid in part; or a dealer takes bets over the limit alone."""
    dealer, boss = dealt()
    bet = AcceptBet(2, 15_000)
    assert refusal(dealer, "bet", seat=2, amount_cents=15_000).code == "bad_bet"
    assert refusal(dealer, "bet", seat=2, amount_cents=15_000, approved=True).code == "not_permitted"
    assert refusal(enter, dealer, bet).code == "not_permitted"
    assert refusal(enter, boss, AcceptBet(2, 5_000)).code == "within_limits"
    assert refusal(enter, boss, AcceptBet(2, 15_055)).code == "bad_bet"
    enter(boss, bet)
    dealer.bets(seat1=1_000)
    dealer.cards(4, 5, 3)
    wins = Transfer.objects.filter(book_id=dealer.table.book_id, kind="win").values_list("amount_cents", flat=True)
    assert sorted(wins) == [300, 4_500]
    verify(dealer.table)
    entry = LogEntry.objects.filter(book_id=dealer.table.book_id, kind="play").order_by("seq")[0]
    assert entry.by == floor.Staff.objects.get(username="bella").signature


def test_a_bet_over_the_limit_that_the_dealer_wrote_is_found() -> None:
    """Harm: whoever writes into the log lets a bet over the limit stand, and no proof says so."""
    dealer, _ = dealt()
    now, table = dealer.now, Table.objects.get(pk=dealer.table.pk)
    scene = CommandContext(table, GAMES[table.game], rules_of(table), limits_of(table), now, by=dealer.by)
    _, opening = rounds.round_at(scene, Bet(0, 0))
    forged = Played(actions=(Bet(2, 15_000, approved=True),), opening=opening)
    with transaction.atomic():
        book_log.append(book_log.lock(table.book_id), Draft.of(forged, scene.signature, round=1))
    assert "takes a pit boss" in fault(table).what
