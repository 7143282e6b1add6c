"""Shoes that are keyed: every step is prompted, logged, and due before the next; and what happens at their end."""

import json
from typing import Any

import pytest

from ledger.models import Alert, LogEntry
from tables import dealing
from tables.audit import proofs
from tables.games.cards import DECK_SIZE, NOTHING, RANKS, shoe
from tables.models import Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import table_settings
from tests import floor
from tests.floor import Hand, dealt
from tests.tables.chance import BURNED, LAST, RARE_CUT, SPENT, in_this_order, run_out

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
    dealing.sign_in(made, dealer.by)
    return dealer


def refused(hand: Hand, do: str, **facts: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        hand(do, **facts)
    return caught.value


def shoe_entries(hand: Hand) -> list[str]:
    rows = LogEntry.objects.filter(book_id=hand.table.book_id, subject="shoe").order_by("seq")
    return list(rows.values_list("kind", flat=True))


def test_each_step_of_a_shoe_is_prompted_logged_and_due_before_the_next() -> None:
    """Harm: cards are dealt from a shoe that nobody counted, shuffled or burned."""
    dealer = at_the_table()
    for due, (do, facts) in STEPS.items():
        assert dealer.board.due == due
        assert refused(dealer, "bet", seat=1, amount_cents=1_000).code == "shoe_not_ready"
        for other, (wrong, given) in STEPS.items():
            if other != due:
                assert refused(dealer, wrong, **given).code == "out_of_turn"
        (step,) = [button.input for button in dealer.board.buttons if button.primary]
        assert json.loads(json.dumps(step)) == {"do": do} | facts
        dealer(do, **facts)
    assert dealer.board.due == "bets"
    assert shoe_entries(dealer) == ["loaded", "deck_checked", "shuffled", "cut_card_placed", "burned"]
    assert refused(dealer, "burn").code == "out_of_turn"


@pytest.mark.parametrize("rank", [1, 3, 10])
def test_decks_that_are_not_whole_are_not_dealt_and_are_reported(rank: int) -> None:
    """Harm: a deck short of a card is dealt for a day, as happened elsewhere for 438 rounds."""
    dealer = at_the_table()
    dealer("load_shoe")
    counts = list(shoe(1))
    counts[rank - 1] -= 1
    wrong = refused(dealer, "check_decks", counts=counts)
    assert wrong.code == "decks_not_whole"
    assert f"{rank - 1} of rank {rank}, {rank} belong in it" in wrong.sentence
    assert dealer.board.due == "check"
    assert shoe_entries(dealer) == ["loaded", "deck_check_failed"]
    alert = Alert.objects.get()
    assert (alert.kind, alert.evidence["counts"]) == ("deck_check_failed", counts)
    refused(dealer, "check_decks", counts=counts)
    assert Alert.objects.count() == 2  # each failed count is one
    dealer("check_decks", counts=shoe(1))
    assert dealer.board.due == "shuffle"


@pytest.mark.parametrize("counts", [[], [1] * 9, [1] * 11, [-1, *range(2, 11)], [1_000, *range(2, 11)], [10**30] * 10])
def test_counts_that_are_no_deck_check_are_refused(counts: list[int]) -> None:
    """Harm: a count that was not finished passes for one."""
    dealer = at_the_table()
    dealer("load_shoe")
    seq = dealer.now.seq
    assert refused(dealer, "check_decks", counts=counts).code == "bad_counts"
    assert dealer.now.seq == seq


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
    assert [(one.subject, one.kind) for one in entries] == [("round", "play"), ("shoe", "cut_card_out")]
    dealer.cards(9)
    dealer("choose", seat=1, choice="fold")
    assert dealer.board.due == "shuffle"
    assert refused(dealer, "bet", seat=1, amount_cents=1_000).code == "shoe_not_ready"
    for do in ("shuffle_shoe", "place_cut_card", "burn"):
        dealer(do)
    assert dealer.now.gone == NOTHING
    assert dealer.board.shoe.cards_left == 50
    assert proofs.verify(dealer.table.book).fault is None


def test_the_dealer_sees_the_cut_card_before_the_count_does() -> None:
    """Harm: a cut card that was placed a little off is argued about."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    dealer("cut_card_out")
    assert refused(dealer, "cut_card_out").code == "out_of_turn"
    dealer.cards(8, 3)
    dealer.pay()
    assert dealer.board.due == "shuffle"


def test_a_house_shoes_cut_card_comes_out_when_it_does() -> None:
    """Harm: a dealer orders a shuffle whenever the shoe is good for the players."""
    dealer, _ = dealt(source="house")
    dealer.bets(seat1=1_000)
    assert refused(dealer, "cut_card_out").code == "out_of_turn"


def test_a_retired_shoe_leaves_the_table_between_rounds_only() -> None:
    """Harm: a shoe vanishes in the middle of a round."""
    dealer, boss = dealt()
    dealer.bets(seat1=1_000)
    for hand in (dealer, boss):
        assert refused(hand, "retire_shoe").code == "round_open"
    dealer.cards(8, 3)
    dealer.pay()
    boss("retire_shoe")
    assert refused(boss, "retire_shoe").code == "no_shoe"
    assert dealer.board.due == "load"
    dealer.ready_shoe()
    assert dealer.board.shoe is not None
    assert dealer.board.shoe.number == 2
    assert dealer.now.gone == NOTHING


def test_a_closed_tables_shoe_can_be_retired_by_the_pit() -> None:
    """Harm: the shoe of a table that is closed for the night cannot be taken to the vault."""
    dealer, boss = dealt()
    boss("close_table")
    boss("retire_shoe")
    boss("open_table")
    dealing.sign_in(dealer.table, dealer.by)
    assert dealer.board.due == "load"


@pytest.mark.parametrize("changes", [{"options": {"decks": 2}}, {"source": "house"}])
def test_another_shoe_is_loaded_when_the_table_is_set_to_one(changes: dict[str, Any]) -> None:
    """Harm: two decks are counted by the system, one lies on the table."""
    dealer, _ = dealt()
    table_settings.change_table(dealer.table, changes, by=floor.staff(Role.OPERATOR, "olga"))
    assert dealer.board.due == "retire"
    assert dealer.board.shoe is not None
    assert dealer.board.shoe.cards_left == 50
    assert refused(dealer, "bet", seat=1, amount_cents=1_000).code == "shoe_not_ready"
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


def test_cards_are_conserved_from_the_first_to_the_last_of_a_shoe() -> None:
    """Harm: a card is dealt twice, or none is missed, and nobody can say when."""
    dealer, _ = dealt(options=RARE_CUT)
    run_out(dealer)
    current = dealer.now.round
    assert current is not None
    assert current.game.cards_left(current.state) == 0
    gone = current.game.gone(current.state)
    burned = [BURNED.count(rank) for rank in RANKS]
    assert [out + held for out, held in zip(gone, burned, strict=True)] == list(shoe(1))
    assert sum(gone) == len(SPENT) + len(LAST) == DECK_SIZE - len(BURNED)


@pytest.mark.parametrize("source", ["keyed", "house"])
def test_a_shoe_that_runs_out_in_mid_round_is_filled_from_the_discards(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a round cannot go on, or goes on with cards that lie on the layout."""
    in_this_order(monkeypatch, BURNED + SPENT + LAST)
    dealer, _ = dealt(options=RARE_CUT, source=source)
    run_out(dealer)
    assert (dealer.board.due, dealer.board.card_keys) == ("choose", False)
    if source == "keyed":
        assert refused(dealer, "card", rank=9).code == "out_of_turn"
    dealer("choose", seat=2, choice="hit")
    assert dealer.board.due == "reshuffle"
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
        assert refused(dealer, "card", rank=1).code == "impossible_card"  # the only 1 lies before seat 1
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
    assert proofs.verify(dealer.table.book).fault is None


def test_a_mid_round_shuffle_is_prompted_and_nothing_else_is_taken_for_it() -> None:
    """Harm: a dealer shuffles when the cards run badly."""
    dealer, _ = dealt(options=RARE_CUT)
    dealer.bets(seat1=1_000)
    assert refused(dealer, "shuffle").code == "out_of_turn"
    dealer.cards(8, 9)
    assert refused(dealer, "shuffle").code == "out_of_turn"
    assert refused(dealer, "shuffle_shoe").code == "round_open"


def test_keyed_cards_are_for_keyed_shoes_and_dealt_ones_for_house_shoes() -> None:
    """Harm: a dealer chooses the card that the system should deal."""
    dealer, _ = dealt()
    dealer.bets(seat1=1_000)
    assert refused(dealer, "deal").code == "keyed_shoe"
    dealer("card", rank=3)
    Table.objects.filter(pk=dealer.table.pk).update(source="house")  # whatever is set meanwhile, this shoe is keyed
    dealer.table.refresh_from_db()
    assert dealer.board.card_keys
    dealer("card", rank=3)


def test_a_house_shoe_deals_and_is_not_keyed() -> None:
    """Harm: a card that the dealer keys is dealt from a shoe that deals by itself."""
    dealer, _ = dealt(source="house")
    dealer.bets(seat1=1_000)
    assert dealer.board.due == "deal"
    assert not dealer.board.card_keys
    assert refused(dealer, "card", rank=3).code == "house_shoe"
    dealer("deal")
    assert refused(dealer, "deal").code in ("out_of_turn", "pay_first", "round_over")
