"""Shoes that are keyed: every step is prompted, logged, and due before the next; and what happens at their end."""

import json
from dataclasses import replace
from typing import Any

import pytest
from django.db import transaction

from ledger import cage, log
from ledger.log import Draft
from ledger.models import Alert, LogEntry
from tables.floor import recorder
from tables.games.cards import NOTHING, RANKS, shoe
from tables.log.entries.shoes import CutCardOut
from tables.models import Table
from tables.roles import Role
from tables.setup import table_settings
from tests import floor
from tests.floor import Hand, dealt
from tests.tables.approvals.test_proposals import rollback
from tests.tables.chance import BURNED, LAST, RARE_CUT, SPENT, in_this_order, run_out
from tests.tables.floor.acts import refusal, verify

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

STEPS = {
    "load": ("load_shoe", {}),
    "check": ("check_decks", {"counts": list(shoe(1))}),
    "shuffle": ("shuffle_shoe", {}),
    "cut": ("place_cut_card", {}),
    "burn": ("burn", {}),
}


def at_the_table(**settings: Any) -> Hand:
    """A dealer at an open table without a shoe."""
    made = floor.table(**settings)
    Hand(made, floor.staff(Role.PIT_BOSS, "bella"))("open_table")
    dealer = Hand(made, floor.staff(Role.DEALER, "dora", "101"))
    recorder.sign_in(made, dealer.by)
    return dealer


def primary(hand: Hand) -> list[dict[str, Any]]:
    """The input of the board's primary button, if there is one."""
    return [button.input for button in hand.board.buttons if button.primary]


def shoe_entries(hand: Hand) -> list[str]:
    rows = LogEntry.objects.filter(book_id=hand.table.book_id, subject="shoe").order_by("seq")
    return list(rows.values_list("kind", flat=True))


def test_each_step_of_a_shoe_is_prompted_logged_and_due_before_the_next() -> None:
    """Harm: cards are dealt from a shoe that nobody counted, shuffled or burned."""
    dealer = at_the_table()
    for due, (do, facts) in STEPS.items():
        assert dealer.board.due == due
        assert refusal(dealer, "bet", seat=1, amount_cents=1_000).code == "shoe_not_ready"
        for other_step, (wrong, wrong_facts) in STEPS.items():
            if other_step != due:
                assert refusal(dealer, wrong, **wrong_facts).code == "out_of_turn"
        (step,) = primary(dealer)
        assert json.loads(json.dumps(step)) == {"do": do} | facts
        dealer(do, **facts)
    assert dealer.board.due == "bets"
    assert shoe_entries(dealer) == ["loaded", "deck_checked", "shuffled", "cut_card_placed", "burned"]
    assert refusal(dealer, "burn").code == "out_of_turn"


def test_a_count_that_an_earlier_release_stored_verifies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a mistyped count, an entry before such counts were refused, makes the log of its table invalid."""
    dealer = at_the_table()
    dealer("load_shoe")
    with monkeypatch.context() as earlier:
        earlier.setattr("tables.floor.deck_checks._refuse_impossible", lambda *_: None)
        assert refusal(dealer, "check_decks", counts=[*shoe(1)[:9], 962]).code == "decks_not_whole"
    verify(dealer.table)


def test_incomplete_decks_are_not_dealt_and_are_reported() -> None:
    """Harm: a deck short of a card is dealt for a day, as happened elsewhere for 438 rounds; or an unfinished count
    passes as complete; or a mistyped column calls the pit."""
    dealer = at_the_table()
    dealer("load_shoe")
    seq = dealer.now.seq
    for counts in ([], [1] * 9, [1] * 11, [-1, *range(2, 11)], [1_000, *range(2, 11)], [10**30] * 10):
        assert refusal(dealer, "check_decks", counts=counts).code == "bad_counts", counts
    mistyped = refusal(dealer, "check_decks", counts=[*shoe(1)[:9], 962])
    assert (mistyped.facts["column"], mistyped.sentence.partition(".")[0]) == (
        10, "962 of rank 10 are more than any shoe has",
    )  # fmt: skip
    assert dealer.now.seq == seq
    for rank in (1, 3, 10):
        counts = list(shoe(1))
        counts[rank - 1] -= 1
        wrong = refusal(dealer, "check_decks", counts=counts)
        assert wrong.code == "decks_not_whole"
        assert f"{rank - 1} of rank {rank}, {rank} belong in it" in wrong.sentence
        assert LogEntry.objects.filter(kind="deck_check_failed").latest("seq").content["counts"] == counts
    assert dealer.board.due == "check"
    assert shoe_entries(dealer) == ["loaded", *["deck_check_failed"] * 3]
    refusal(dealer, "check_decks", counts=counts)
    alert = Alert.objects.get()
    assert (alert.kind, alert.evidence["counts"][0]) == ("deck_check_failed", 0)
    repeats = [repeat.says for repeat in alert.repeats.all()]
    assert [says.partition(": the deck check found ")[2] for says in repeats] == [
        "2 of rank 3, 3 belong in it",
        *["9 of rank 10, 10 belong in it"] * 2,
    ]
    dealer("check_decks", counts=shoe(1))
    assert dealer.board.due == "shuffle"


def test_when_the_cut_card_comes_out_the_round_is_finished_and_then_the_shoe_is_shuffled() -> None:
    """Harm: the shoe is dealt to its end, where a counter of cards has the edge; or a round is cut short."""
    dealer, _ = dealt()  # one deck: the cut card lies before the last 11 of 55 cards
    for at in range(0, 38, 2):
        dealer.bets(seat1=1_000)
        dealer.cards(*SPENT[at : at + 2])
        if dealer.board.due == "choose":
            dealer("choose", seat=1, choice="fold")
        dealer.pay()
    assert dealer.board.shoe is not None
    assert (dealer.board.shoe.cards_left, dealer.board.shoe.cut_out) == (12, False)
    dealer.bets(seat1=1_000)
    dealer.cards(10)
    seq = dealer.now.seq
    entries = LogEntry.objects.filter(book_id=dealer.table.book_id, seq__in=(seq - 1, seq)).order_by("seq")
    assert [(entry.subject, entry.kind) for entry in entries] == [("round", "play"), ("shoe", "cut_card_out")]
    dealer.cards(9)
    dealer("choose", seat=1, choice="fold")
    assert dealer.board.due == "shuffle"
    assert refusal(dealer, "bet", seat=1, amount_cents=1_000).code == "shoe_not_ready"
    for do in ("shuffle_shoe", "place_cut_card", "burn"):
        dealer(do)
    assert dealer.now.gone == NOTHING
    assert dealer.board.shoe.cards_left == 50
    verify(dealer.table)


def test_the_dealer_sees_the_cut_card_before_the_count_does() -> None:
    """Harm: a cut card that was placed a little off is argued about."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    dealer("cut_card_out")
    assert refusal(dealer, "cut_card_out").code == "out_of_turn"
    dealer.cards(8, 3)
    dealer.pay()
    assert dealer.board.due == "shuffle"


def test_a_cut_card_that_is_declared_early_is_an_alert_with_its_depth(terms: Any) -> None:
    """Harm: a dealer ends a shoe that is bad for a friend by declaring the cut card early."""
    dealer, _ = dealt()  # 50 of 55 cards are left, and the cut card lies before the last 11
    terms(cut_card_tolerance=38)
    dealer("cut_card_out")
    alert = Alert.objects.get(kind="cut_card_out")
    assert alert.message == (
        "Rocket 1, shoe 1: Dora says that the cut card is out with 50 cards left, 39 before its place;"
        " the tolerance is 38"
    )
    assert LogEntry.objects.get(book_id=dealer.table.book_id, kind="cut_card_out").content["cards_left"] == 50
    verify(dealer.table)


def test_a_cut_card_within_the_tolerance_is_none_and_one_of_an_earlier_release_verifies(terms: Any) -> None:
    """Harm: alerts of imprecise cut cards bury the one that matters; or logs of earlier releases fail verification."""
    dealer, _ = dealt()
    terms(cut_card_tolerance=39)
    dealer.bets(seat1=1_000)
    with rollback():
        dealer("cut_card_out")
        assert not Alert.objects.filter(kind="cut_card_out").exists()
        verify(dealer.table)
    with transaction.atomic():
        event = CutCardOut(shoe=replace(dealer.now.shoe, cut_out=True).noting(cut_round=1))
        cage.post(log.lock(dealer.table.book_id), Draft.of(event, dealer.by.signature), [])
    verify(dealer.table)


def test_a_retired_shoe_leaves_the_table_only_between_rounds() -> None:
    """Harm: a shoe vanishes in mid-round, or the shoe of a table that is closed for the night cannot be taken to the
    vault."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    for hand in (dealer, boss):
        assert refusal(hand, "retire_shoe").code == "round_open"
    dealer.cards(8, 3)
    dealer.pay()
    boss("close_table")
    boss("retire_shoe")
    assert refusal(boss, "retire_shoe").code == "no_shoe"
    boss("open_table")
    recorder.sign_in(dealer.table, dealer.by)
    assert dealer.board.due == "load"
    dealer.ready_shoe()
    assert dealer.board.shoe is not None
    assert dealer.board.shoe.number == 2
    assert dealer.now.gone == NOTHING


@pytest.mark.parametrize("changes", [{"options": {"decks": 2}}, {"source": "house"}])
def test_another_shoe_is_loaded_when_the_table_is_set_to_one(changes: dict[str, Any]) -> None:
    """Harm: two decks are counted by the system, one lies on the table."""
    dealer, _ = dealt()
    table_settings.change_table(dealer.table, changes, by=floor.staff(Role.OPERATOR, "olga"))
    assert dealer.board.due == "retire"
    assert dealer.board.shoe is not None
    assert dealer.board.shoe.cards_left == 50
    assert refusal(dealer, "bet", seat=1, amount_cents=1_000).code == "shoe_not_ready"
    dealer("retire_shoe")
    dealer.ready_shoe()
    dealer("bet", seat=1, amount_cents=1_000)


def test_the_burn_that_was_made_counts_whatever_the_option_says_since() -> None:
    """Harm: cards that were burned are dealt again in the books, or the other way about."""
    dealer, _ = dealt()
    table_settings.change_table(
        dealer.table, {"options": {"decks": 1, "burn": 0}}, by=floor.staff(Role.OPERATOR, "olga")
    )
    dealer.bets(seat1=1_000)
    assert dealer.now.round is not None
    assert dealer.now.round.state.left == 50


@pytest.mark.parametrize("source", ["keyed", "house"])
def test_a_shoe_that_runs_out_in_mid_round_is_filled_from_the_discards(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a round is stuck because the keys are open and every card is refused; it continues with cards that are on
    the layout; or a card is dealt twice or is missing, without a record of the moment."""
    in_this_order(monkeypatch, BURNED + SPENT + LAST)
    dealer, _ = dealt(options=RARE_CUT, source=source)
    run_out(dealer)
    current = dealer.now.round
    assert current is not None
    assert current.game.cards_left(current.state) == 0
    dealt_counts = current.game.gone(current.state)
    assert [out + BURNED.count(rank) for rank, out in zip(RANKS, dealt_counts, strict=True)] == list(shoe(1))
    assert (dealer.board.due, dealer.board.card_keys) == ("choose", False)
    assert primary(dealer) == [], "an accidental Enter would hit"
    if source == "keyed":
        assert refusal(dealer, "card", rank=9).code == "out_of_turn"
    dealer("choose", seat=2, choice="hit")
    assert dealer.board.due == "reshuffle"
    assert primary(dealer) == [{"do": "shuffle"}]
    assert "Shuffle the 47 discards, burn 5" in dealer.board.phrase.do
    before = dealer.now.shoe.commitment if dealer.now.shoe else None
    dealer("shuffle")
    after = dealer.now.shoe.commitment if dealer.now.shoe else None
    assert (before != after) == (source == "house")
    current = dealer.now.round
    assert current is not None
    assert sum(current.game.gone(current.state)) == 8  # what is in play
    assert current.game.cards_left(current.state) == 42
    if source == "keyed":
        assert refusal(dealer, "card", rank=1).code == "impossible_card"  # the only 1 lies before seat 1
        dealer.cards(9)
    else:
        dealer("deal")
    while dealer.now.round_open:
        if dealer.board.pay:
            dealer.pay()
        elif dealer.board.due == "choose":
            dealer("choose", seat=dealer.board.prompts[0].seat, choice="fold")  # type: ignore[union-attr]
        elif source == "house":
            dealer("deal")
        else:
            dealer.cards(7)  # the dealer's own: a pair
    assert dealer.board.due == "shuffle"
    verify(dealer.table)


def test_a_keyed_shoe_is_keyed_and_shuffled_in_mid_round_only_when_it_is_empty() -> None:
    """Harm: a dealer shuffles to end a run of bad cards, or chooses the card that the system should deal."""
    dealer, _ = dealt(options=RARE_CUT)
    dealer.bets(seat1=1_000)
    assert refusal(dealer, "shuffle").code == "out_of_turn"
    assert refusal(dealer, "deal").code == "keyed_shoe"
    dealer.cards(8)
    Table.objects.filter(pk=dealer.table.pk).update(source="house")  # whatever is set meanwhile, this shoe is keyed
    dealer.table.refresh_from_db()
    assert dealer.board.card_keys
    dealer.cards(9)
    assert refusal(dealer, "shuffle").code == "out_of_turn"
    assert refusal(dealer, "shuffle_shoe").code == "round_open"


def test_an_electronic_shoe_deals_and_is_not_keyed() -> None:
    """Harm: a card that the dealer keys is dealt from an electronic shoe, or a dealer orders a shuffle whenever the
    shoe favours the players."""
    dealer, _ = dealt(source="house")
    dealer.bets(seat1=1_000)
    assert refusal(dealer, "cut_card_out").code == "out_of_turn"
    assert dealer.board.due == "deal"
    assert not dealer.board.card_keys
    assert refusal(dealer, "card", rank=3).code == "house_shoe"
    dealer("deal")
    assert refusal(dealer, "deal").code in ("out_of_turn", "pay_first", "round_over")
