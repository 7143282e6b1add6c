"""What somebody with the application's database role may add to a log with fitting hashes, `verify` does not believe.

The forger writes as the ledger does: numbers, hashes and transfers all fit. Only the rules of the house are broken.
"""

import contextlib
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.db import transaction
from django.utils import timezone

from ledger import cage, log
from ledger.log import Draft
from ledger.models import Alert, Book, LogEntry
from ledger.proof.moves import Move
from ledger.recount import recount
from tables import tasks
from tables.audit import proofs
from tables.floor import recorder, shoes
from tables.floor.handlers import CHECKS, ENACTMENTS
from tables.games.cards import RANKS
from tables.games.catalog import GAMES
from tables.games.protocol import AskBet
from tables.log import catalog
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import table_settings
from tables.staff import staffing
from tests import floor
from tests.floor import Hand, Player, dealt, for_pot
from tests.intruder import at_work
from tests.ready import ready_made
from tests.tables.log.examples import examples, whole
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("deals rounds for each test")]

BY = "101 Dora"
BOSS = "bella Bella"


@pytest.fixture
@ready_made
def felt() -> Hand:
    """A keyed table: one round settled and paid, the next one's bets lie."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    dealer("bet", seat=2, amount_cents=1_000)
    return dealer


@pytest.fixture
def between(felt: Hand) -> Hand:
    """The same, between two rounds."""
    felt("take_back")
    return felt


@pytest.fixture
@ready_made
def unpaid() -> Hand:
    """A round is over: seats 4, 2 and 1 are to be paid, in this order."""
    dealer, _ = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000, seat2=2_000, seat4=5_000)
    dealer.cards(8, 4, 5, 10, 9, 7, 6, 10)
    assert [payout.seat for payout in (dealer.now.round.to_pay if dealer.now.round else ())] == [4, 2, 1]
    return dealer


def forge(
    hand: Hand, subject: str, kind: str, content: dict[str, Any], *, by: str = BY, round: int | None = None,
    moves: Sequence[Move] = (),
) -> int:  # fmt: skip
    """Add an entry as the ledger does; returns its number."""
    with transaction.atomic():
        spelled = (subject, kind, False) in examples()
        draft = Draft(subject, kind, by, whole(subject, kind, content) if spelled else content, round)
        return cage.post(log.lock(hand.table.book_id), draft, moves).seq


def fault(hand: Hand) -> tuple[int, str]:
    """What a proof finds."""
    breach = proofs.verify(hand.table.book).fault
    assert breach is not None, "the forgery was believed"
    return breach.seq, breach.what


def assert_named(hand: Hand, seq: int, sentence: str) -> None:
    """Assert that a proof names this entry with this sentence."""
    breach_seq, fault_text = fault(hand)
    assert (breach_seq, sentence in fault_text) == (seq, True), fault_text


def shoe(hand: Hand, **changes: Any) -> dict[str, Any]:
    """What an entry says of the shoe that is on the table."""
    assert hand.now.shoe is not None
    return {"shoe": msgspec.to_builtins(hand.now.shoe) | changes}


def bet(seat: int = 3, cents: int = 1_000, **extra: Any) -> dict[str, Any]:
    return {"actions": [{"do": "bet", "seat": seat, "amount_cents": cents}], **extra}


def opening(hand: Hand) -> dict[str, Any]:
    """What the next round's first entry would honestly pin."""
    hand("bet", seat=2, amount_cents=1_000)
    entry = LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")
    hand("take_back")
    pinned: dict[str, Any] = entry.content["opening"]
    return pinned


# --- the closed table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("subject", "kind"), [("weather", "sunny"), ("chips", "tip"), ("chips", "issued")])
def test_an_entry_that_the_house_does_not_know_is_named(felt: Hand, subject: str, kind: str) -> None:
    """Harm: a kind of entry that no rule looks at, and that may say and move anything."""
    seq = forge(felt, subject, kind, {})
    assert fault(felt) == (seq, f"the house writes no entry {subject} {kind} in this book")


MAKERS = {
    "buy_in": {"chips buy_in", "seats buy_in"},
    "fill": {"slip fill_confirmed"},
    "fill_out": {"slip fill_carried"},
    "issue": {"chips issued", "slip receipt_recounted"},
    "reversal": {
        "chips undone", "round take_back", "round voided", "slip bankout_voided", "slip claim_voided",
        "slip credit_voided", "slip deposit_voided", "slip destruction_voided", "slip dualkey_voided",
        "slip fill_voided", "slip found_voided", "slip imprestback_voided", "slip key_voided", "slip keyback_voided",
    },
    "sale": {"chips sold"},
    "short": {
        "correction signed", "slip cage_recounted", "slip closer_recounted", "slip opener_recounted",
        "slip rack_recounted", "slip vault_recounted",
    },
    "win": {"round play"},
}  # fmt: skip
"""The entries that may make each movement that creates chips or gives chips to a player."""


def test_each_movement_has_its_own_entries() -> None:
    """Harm: chips appear from nowhere as a sale, or a loss quietly goes back to its player."""
    makers: dict[str, set[str]] = defaultdict(set)
    for event in catalog.EVENTS:
        for kind, movements in event.moves_of_kinds().items():
            for movement in movements:
                makers[movement].add(f"{event.subject} {kind}")
    assert {movement: makers[movement] for movement in MAKERS} == MAKERS


@pytest.mark.parametrize(("subject", "kind"), [("chips", "changed"), ("round", "paid")])
def test_chips_move_only_by_the_entries_that_may_move_them(felt: Hand, subject: str, kind: str) -> None:
    """Harm: a payment is made by an entry that contains no bet."""
    move = cage.chart(felt.table.book_id).move("win", "rack", "players", 4_000)
    seq = forge(felt, subject, kind, {}, moves=[move])
    assert fault(felt) == (seq, f"it makes a win, which no {subject} {kind} does")


def test_a_table_writes_nothing_into_the_house_nor_the_house_at_a_table(felt: Hand) -> None:
    """Harm: a member of staff who was added in the log of a table, where nobody looks for them."""
    house = Book.objects.get(name="house")
    with transaction.atomic():
        log.append(log.lock(house.pk), Draft("table", "opened", BOSS, {"rack_cents": 0}))
    assert proofs.verify(house).fault is not None
    forge(felt, "staff", "added", {"username": "ghost"})
    assert "staff added" in fault(felt)[1]


BELIEVED = {
    "AccessReviewed", "AlertAcknowledged", "AlertEscalated", "AlertRaised", "BookmarkMade", "CheckpointsBegun",
    "ChipsIssued", "DaySealed", "DiscrepancyAssigned", "DiscrepancyFound", "DiscrepancyOpened", "EmergencyCodeMade",
    "EmergencySignIn", "KeyPublished", "KeyReplaced", "KeyRotated", "PepperCarriedOver", "RowsNoted",
    "SeatPageRevoked", "ServiceTokensSealed", "StaffLockOutLifted", "StaffLockedOut", "StaffSignedIn",
    "StaffSignedOut", "TableAdded", "TerminalAdded", "TerminalChanged", "TerminalEnrolled", "TerminalLinkMade",
    "TerminalLockOutLifted", "TerminalLockedOut", "TerminalRevoked",
}  # fmt: skip
"""Entries that are neither enacted anew nor checked here: other proofs look at keys, days, settings and rows."""


def test_every_kind_of_entry_is_enacted_or_checked_or_believed_on_purpose() -> None:
    """Harm: a new kind of entry that a proof passes over in silence; or one that its room forgot to put on the list."""
    assert {event.__name__ for event in set(catalog.EVENTS) - ENACTMENTS.keys() - CHECKS.keys()} == BELIEVED
    assert {*ENACTMENTS, *CHECKS} <= set(catalog.EVENTS)


# --- who, and when ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["102 Ghost", BOSS])
def test_only_the_dealer_who_is_signed_in_deals(felt: Hand, by: str) -> None:
    """Harm: bets and cards in the name of somebody who was not there."""
    seq = forge(felt, "round", "play", bet(), by=by, round=2)
    assert fault(felt) == (seq, "it could not be entered then: You are not signed in at Rocket 1.")


@pytest.mark.parametrize(
    ("kind", "content"), [("play", bet()), ("paid", {"seat": 1}), ("take_back", {"corrects": 1, "actions": []})]
)
def test_nothing_is_dealt_at_a_closed_table(between: Hand, kind: str, content: dict[str, Any]) -> None:
    """Harm: a round after closing time."""
    Hand(between.table, Staff.objects.get(username="bella"))("close_table")
    seq = forge(between, "round", kind, content, round=2)
    assert fault(between) == (seq, "it could not be entered then: Rocket 1 is closed: a pit boss has to open it.")


@pytest.mark.parametrize(
    ("kind", "content", "by", "fault_text"),
    [
        ("opened", {"rack_cents": 0}, BOSS, "the table is opened without an opener"),
        ("closed", {"rack_cents": 0}, BOSS, "the table is closed without a closer"),
    ],
)
def test_no_table_opens_or_closes_without_a_count(
    felt: Hand, kind: str, content: dict[str, Any], by: str, fault_text: str
) -> None:
    """Harm: a rack that nobody counted, at the one moment when what is missing would show."""
    seq = forge(felt, "table", kind, content, by=by)
    assert fault(felt) == (seq, fault_text)


GHOST = {"username": "ghost", "name": "Ghost", "badge": "999", "terminal": None, "relieves": "dora"}


@pytest.mark.parametrize(
    ("kind", "content", "by", "fault_text"),
    [
        ("signed_in", GHOST, BY, "it is signed by 999 Ghost, and 101 Dora wrote it"),
        ("signed_in", GHOST | {"relieves": "dan"}, "999 Ghost", 'its relieves is "dan", not "dora"'),
        ("signed_in", GHOST | {"username": "dora"}, "999 Ghost", "You are signed in at Rocket 1 already."),
        ("signed_out", {"username": "dora", "name": "Dora"}, BY, "Finish the round before you tap out"),
    ],
)
def test_dealers_take_turns(felt: Hand, kind: str, content: dict[str, Any], by: str, fault_text: str) -> None:
    """Harm: a dealer who stood at the table only in the log."""
    seq = forge(felt, "dealer", kind, content, by=by)
    assert_named(felt, seq, fault_text)


def test_nobody_else_is_signed_out(between: Hand) -> None:
    """Harm: a tap-out of somebody who was not there."""
    seq = forge(between, "dealer", "signed_out", {"username": "dan", "name": "Dan"})
    assert fault(between) == (seq, 'its username is "dan", not "dora"')


def test_nobody_signs_out_of_a_table_without_a_dealer(between: Hand) -> None:
    """Harm: a second tap-out that hides when the first one was."""
    between("sign_out")
    seq = forge(between, "dealer", "signed_out", {"username": "dora", "name": "Dora"})
    assert fault(between) == (seq, "it signs somebody out where nobody deals")


def test_a_dealer_who_is_renamed_at_the_table_is_named_as_they_signed_in(felt: Hand) -> None:
    """Harm: an honest evening that does not hold because somebody got another badge."""
    operator = floor.staff(Role.OPERATOR, "olga")
    staffing.change_staff(Staff.objects.get(username="dora"), {"badge": "117", "name": "Dora Dean"}, by=operator)
    felt.by = Staff.objects.get(username="dora")
    felt("close_bets")
    assert LogEntry.objects.filter(book_id=felt.table.book_id).latest("seq").by == BY
    assert proofs.verify(felt.table.book).fault is None


# --- the shoe --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["loaded", "deck_checked", "burned"])
def test_the_steps_of_a_shoe_come_in_their_order(between: Hand, kind: str) -> None:
    """Harm: a shoe that was never counted or shuffled and deals all the same."""
    between("cut_card_out")
    forge(between, "shoe", "shuffled", shoe(between, stage="shuffled", cut_out=False))
    facts = {"counts": [24] * 10, "cards_behind": 1}
    seq = forge(between, "shoe", kind, shoe(between, stage="ready", cut_out=False) | facts)
    assert fault(between)[0] == seq


def test_a_shoe_is_not_shuffled_before_its_cut_card_is_out(between: Hand) -> None:
    """Harm: a shoe that is shuffled when the cards left in it favour the players."""
    seq = forge(between, "shoe", "shuffled", shoe(between, stage="shuffled"))
    assert fault(between) == (seq, "it could not be entered then: The shoe is ready: take bets.")


def test_a_step_changes_nothing_else_about_the_shoe(between: Hand) -> None:
    """Harm: six decks that become one between two steps."""
    between("cut_card_out")
    seq = forge(between, "shoe", "shuffled", shoe(between, stage="shuffled", cut_out=False, decks=1))
    assert fault(between) == (seq, "its shoe.decks is 1, not 6")


def test_a_count_that_is_off_does_not_pass_for_a_whole_shoe() -> None:
    """Harm: a deck without its tens is dealt."""
    table = floor.table()
    boss, dealer = (
        Hand(table, floor.staff(Role.PIT_BOSS, "bella")),
        Hand(table, floor.staff(Role.DEALER, "dora", "101")),
    )
    boss("open_table")
    recorder.sign_in(table, dealer.by)
    dealer("load_shoe")
    seq = forge(dealer, "shoe", "deck_checked", shoe(dealer, stage="checked") | {"counts": [4] * 9 + [0]})
    assert fault(dealer)[0] == seq


def test_no_round_opens_on_a_shoe_that_is_not_ready(between: Hand) -> None:
    """Harm: cards dealt before the cut card is in its place."""
    pinned = opening(between)
    between("cut_card_out")
    seq = forge(between, "round", "play", bet(opening=pinned), round=2)
    assert fault(between) == (seq, "it could not be entered then: Shuffle the shoe first.")


def test_a_shoe_stays_while_a_round_is_open(felt: Hand) -> None:
    """Harm: the cards are changed under a bet."""
    seq = forge(felt, "shoe", "retired", shoe(felt))
    assert fault(felt) == (seq, "it retires a shoe in mid-round, or none")


def test_a_commitment_in_mid_round_comes_with_a_shuffle_of_a_house_shoe(felt: Hand) -> None:
    """Harm: a shoe of real cards that can never be shuffled or retired again, for want of a secret to open."""
    seq = forge(felt, "round", "play", bet(commitment="00" * 32), round=2)
    assert fault(felt) == (seq, "it commits to an order, and shuffles no house shoe")


# --- the round -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("opening.limits.max_cents", 10_000_000),
        ("opening.seats", [1, 2, 3]),
        ("opening.dealt", [0] * 10),
        ("rules.decks", 1),
        ("shoe", 2),
    ],
)
def test_a_round_opens_with_the_settings_and_the_state_of_its_table(between: Hand, place: str, value: Any) -> None:
    """Harm: a bet is a hundred times the limit, under limits that the table never had; or a round deals cards that have
    already left the shoe."""
    pinned = opening(between)
    *path, leaf = place.split(".")
    inner = pinned
    for name in path:
        inner = inner[name]
    assert inner[leaf] != value
    inner[leaf] = value
    seq = forge(between, "round", "play", bet(opening=pinned), round=2)
    assert_named(between, seq, f"its opening.{place} is ")


def test_a_round_is_opened_with_what_it_rests_on_and_only_once(felt: Hand) -> None:
    """Harm: rules that change in mid-round, or a round that says nothing of its rules."""
    seq = forge(felt, "round", "play", bet(opening={"game": "rocket"}), round=2)
    assert fault(felt)[0] == seq


def test_a_round_has_the_number_that_follows(between: Hand) -> None:
    """Harm: a round that cannot be found, or that hides behind another of the same number."""
    pinned = opening(between)
    seq = forge(between, "round", "play", bet(opening=pinned), round=7)
    assert fault(between) == (seq, "its round is 7, the table is at round 2")


def test_limits_are_those_of_the_latest_change(between: Hand, terms: Callable[..., None]) -> None:
    """Harm: limits that were lowered at noon still serve a friend at midnight."""
    terms(limits_notice_minutes=0)
    pinned = opening(between)
    operator = floor.staff(Role.OPERATOR, "olga")
    table_settings.change_table(between.table, {"min_cents": 2_000}, by=operator)
    assert proofs.verify_new(between.table.book).fault is None
    seq = forge(between, "round", "play", bet(opening=pinned), round=2)
    assert fault(between) == (seq, "its opening.opening.limits.min_cents is 1000, not 2000")
    breach = proofs.verify_new(between.table.book).fault
    assert breach is not None
    assert breach.seq == seq


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ({"min_cents": 500}, {"min_cents": 100}, "the settings were others before it: its before.min_cents is 500"),
        ({"seats": 6}, {"seats": 5}, "it changes the seats of a table at which a round is open"),
        ({}, {"colour": "red"}, "a table has no colour to set"),
        ({"min_cents": 1_000}, {"min_cents": "free"}, "it is no entry that a table can write"),
    ],
)
def test_settings_change_from_what_they_were(felt: Hand, before: Any, after: Any, sentence: str) -> None:
    """Harm: limits that an intruder sets in the log alone, and that nobody ever set."""
    seq = forge(felt, "table", "settings_changed", {"before": before, "after": after}, by="omar Omar")
    assert_named(felt, seq, sentence)


def test_nothing_happens_at_a_table_before_it_was_set_up() -> None:
    """Harm: a table without settings, at which every limit is as good as another."""
    table = Table.objects.create(
        name="Back room", book=cage.open_table_book("Back room", 6), unit_cents=100, min_cents=1_000, max_cents=10_000
    )
    forge(Hand(table, Staff()), "table", "opened", {"rack_cents": 0}, by=BOSS)
    breach = proofs.verify(table.book).fault
    assert breach is not None
    assert breach.what == "the log does not say how the table was set up before it"


@pytest.mark.parametrize(
    ("seat", "sentence"),
    [
        (1, "it could not be entered then: Seat 4 is paid next: right to left."),
        (4.0, "it is no round paid that a house can write: Expected `int`, got `float`"),
    ],
)
def test_only_the_seat_that_is_next_is_paid(unpaid: Hand, seat: Any, sentence: str) -> None:
    """Harm: a seat is passed over, or paid twice."""
    seq = forge(unpaid, "round", "paid", {"seat": seat}, round=1)
    assert_named(unpaid, seq, sentence)


def test_nothing_is_dealt_before_everybody_is_paid(unpaid: Hand) -> None:
    """Harm: the next round begins on top of a payment that was never made."""
    seq = forge(unpaid, "round", "play", bet(), round=1)
    assert fault(unpaid) == (seq, "it could not be entered then: Pay seat 4 first.")


@pytest.mark.parametrize(
    ("change", "round", "sentence"),
    [
        (lambda content: content | {"corrects": content["corrects"] - 1}, 2, "its corrects is"),
        (lambda content: content | {"actions": []}, 2, "its actions is [], not"),
        (lambda content: content, 1, "its round is 1, the table is at round 2"),
    ],
)
def test_a_correction_says_what_it_takes_back(
    felt: Hand, change: Callable[[dict[str, Any]], dict[str, Any]], round: int, sentence: str
) -> None:
    """Harm: a key taken back that was never pressed, or a correction that no replay can follow."""
    content = {"corrects": felt.now.seq, "actions": [{"do": "bet", "seat": 2, "amount_cents": 1_000}]}
    seq = forge(felt, "round", "take_back", change(content), round=round)
    assert_named(felt, seq, sentence)


def test_a_dealer_takes_nothing_back_that_stands(unpaid: Hand) -> None:
    """Harm: a settled round undone by a dealer after the next card, without the pit."""
    plays = unpaid.now.round.plays if unpaid.now.round else ()
    unpaid.reopens()
    unpaid("card", rank=9)
    target = unpaid.now.round.plays[-1] if unpaid.now.round else plays[-1]
    unpaid.reopens()
    play = unpaid.now.round.plays[-1] if unpaid.now.round else target
    content = {"corrects": play.seq, "actions": [{"do": "card", "rank": 10, "to": 0}]}
    seq = forge(unpaid, "round", "take_back", content, round=1)
    assert fault(unpaid) == (seq, "it could not be entered then: Another card was keyed since: a pit boss has to take"
                                  " it back.")  # fmt: skip


# --- house shoes -----------------------------------------------------------------------------------------------


def test_a_full_proof_opens_the_seals_of_house_shoes() -> None:
    """Harm: a house shoe dealt in another order than it was shuffled to, of which only another command knows."""
    dealer, _ = dealt(source="house", options={"decks": 6})
    dealer.bets(seat1=1_000)
    standing = dealer.now
    assert standing.round is not None
    assert standing.shoe is not None
    (ask,) = standing.round.game.prompts(standing.round.state)[:1]
    due = shoes.draw(standing.shoe, standing.round.game.cards_left(standing.round.state))
    wrong_rank = due % 10 + 1
    seq = forge(dealer, "round", "play", {"actions": [{"do": "card", "rank": wrong_rank, "to": ask.to}]}, round=1)
    fault_text = f"it deals a {wrong_rank}, the order has a {due} there"
    assert fault(dealer) == (seq, fault_text), "the order that is kept is held against it while the shoe is live"
    while dealer.now.round_open:
        dealer(
            **next(button.input for button in dealer.board.buttons if button.input["do"] in ("deal", "choose", "paid"))
        )
    dealer("retire_shoe")
    assert fault(dealer) == (seq, fault_text)


# --- the watch -------------------------------------------------------------------------------------------------


def test_a_fault_in_one_book_stops_no_other_proof(felt: Hand) -> None:
    """Harm: one odd entry at the first table switches the watch over all others off."""
    second = floor.table("Rocket 2")
    chart = cage.chart(second.book_id)
    for _ in range(2):  # more than any balance can hold
        forge(felt, "chips", "changed", {}, by=BOSS, moves=[cage.chart(felt.table.book_id).move(
            "fill", "transit", "rack", 2**63 - 1)])  # fmt: skip
    seq = forge(Hand(second, felt.by), "chips", "changed", {}, moves=[chart.move("win", "rack", "players", 4_000)])
    for prove in (tasks.verify_new, tasks.verify_everything):
        assert f"The log does not hold: Rocket 2, entry {seq}: it makes a win, which no chips changed does" in prove()
    assert Alert.objects.filter(book=second.book, kind="log_broken").count() == 1


@pytest.mark.django_db(transaction=True)
def test_what_nobody_foresaw_is_a_fault_of_its_book(felt: Hand) -> None:
    """Harm: the watch dies of one table's odd row, and reports nothing of it or of the others."""
    recount(felt.table.book_id, "test")
    with at_work() as intruder:
        columns = "book_id, through_seq, head_hash, at, by"
        intruder(f"INSERT INTO ledger_recount ({columns}, account_id, balance_cents)"
                 f" SELECT {columns}, 999999, 5 FROM ledger_recount LIMIT 1")  # fmt: skip
        complaints = tasks.verify_everything()
    seq = felt.now.seq + 1
    assert complaints == [
        f"The log does not hold: Rocket 1, entry {seq}: the proof cannot go on from here: DoesNotExist"
    ]


def test_a_later_time_is_not_taken_back(felt: Hand) -> None:
    """Harm: a bet that seems to have been laid before the cards."""
    with transaction.atomic():
        head = replace(log.lock(felt.table.book_id), at=None)
        early = Draft("round", "play", BY, bet(), 2, at=timezone.now() - timedelta(hours=1))
        seq = log.append(head, early).seq
    assert_named(felt, seq, "earlier than the entry before it")


# --- tables with a pot -----------------------------------------------------------------------------------------

FOR_POT = [name for name, game in GAMES.items() if game.kind == "pot"]
SOURCES = ["keyed", "house"]
EVENINGS = [(game, SOURCES[number % 2]) for number, game in enumerate(FOR_POT)]
OTHER_EVENINGS = [(game, SOURCES[1 - number % 2]) for number, game in enumerate(FOR_POT)]


@pytest.mark.parametrize(
    ("game", "source"), sampled(EVENINGS + OTHER_EVENINGS, "deals an evening of each game", test=len(EVENINGS))
)
def test_an_honest_evening_for_pots_holds(game: str, source: str) -> None:
    """Harm: an alarm that rings for nothing at every table with a pot."""
    least = max(2, GAMES[game].seat_counts[0])
    dealer = at_a_pot(game, least, source)
    players = {seat: floor.player(dealer, seat) for seat in range(1, least + 1)} if source == "house" else {}
    by_chance = random.Random(7)
    for _ in range(2):
        if dealer.now.round_open:
            break
        dealer.ready_shoe()
        dealer("start_game", seats=list(range(1, least + 1)))
        for _ in range(40):
            if not dealer.now.round_open:
                break
            with contextlib.suppress(Refused):
                something(dealer, by_chance, players)
        assert proofs.verify_new(dealer.table.book).fault is None
    proof = proofs.verify(dealer.table.book)
    assert (proof.fault, proof.entries) == (None, dealer.now.seq)


def at_a_pot(game: str, seats: int, source: str) -> Hand:
    coins = dict.fromkeys(range(1, seats + 1), 5000) if GAMES[game].coins else {}
    return for_pot(game, seats=coins, source=source)[0]


def something(dealer: Hand, by_chance: random.Random, players: Mapping[int, Player]) -> None:
    """One input that the dealer's screen offers; or a choice on the page of a seat for which it waits."""
    board = dealer.board
    if board.waiting:
        player = players[by_chance.choice(board.waiting)]
        player.chooses(by_chance.choice(player.choices))
        return
    if board.card_keys:
        dealer("card", rank=by_chance.choice(RANKS))
        return
    asks = [ask for ask in board.prompts if isinstance(ask, AskBet)]
    if asks:
        dealer("bet", seat=asks[0].seat, amount_cents=asks[0].min_cents)
        return
    backwards = by_chance.random() < 0.1
    offered = [button.input for button in board.buttons if (button.input["do"] == "take_back") is backwards]
    dealer(**by_chance.choice(offered or [board.buttons[0].input]))


@pytest.mark.parametrize(
    ("kind", "content", "sentence"),
    [
        ("buy_in", {"seat": 9, "amount_cents": 500, "cash": True}, "There is no seat 9"),
        ("buy_in", {"seat": 1, "amount_cents": 1_000_000, "cash": True}, "it plays with"),
        ("buy_in", {"seat": 1, "amount_cents": 500, "cash": True, "stacks": [[1, 9_999]]}, "its stacks is"),
        ("buy_in", {"seat": 1, "amount_cents": 500, "cash": True}, "it moved chips 0 times"),
        ("cash_out", {"seat": 1, "amount_cents": 1}, "its amount_cents is 1, not 5000"),
        ("cash_out", {"seat": 3, "amount_cents": 1}, "it cashes out seat 3, which has no chips in play"),
        ("time_charge", {"periods": 1, "each_cents": 0}, "it charges 1 half hours, which were not due"),
    ],
)
def test_chips_at_the_seats_change_as_they_may(kind: str, content: dict[str, Any], sentence: str) -> None:
    """Harm: chips that lie at a seat because the log says so, and nobody paid for them."""
    dealer = at_a_pot("pairs", 2, "keyed")
    stacks = [[1, 5_500], [2, 5_000]]
    changed = {"stacks": stacks, "charged_at": dealer.now.charged_at} | content
    seq = forge(dealer, "seats", kind, changed)
    assert_named(dealer, seq, sentence)
