"""Opening and closing tables, signing in, relief, tapping out: who stands where, at every moment, by the log."""

from typing import Any

import pytest

from ledger import cage
from ledger.models import LogEntry
from tables.floor import recorder, table_opening
from tables.models import Staff
from tables.roles import Role
from tests import floor
from tests.floor import Hand
from tests.tables.floor.acts import refusal

pytestmark = pytest.mark.django_db


def last(hand: Hand) -> LogEntry:
    return LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")


# --- the table ------------------------------------------------------------------------------------------------


def test_only_a_pit_boss_opens_and_closes_a_table_and_only_dealers_deal(hands: tuple[Hand, Hand]) -> None:
    """Harm: a dealer opens a table without supervision, a pit boss supervises their own dealing, or a person deals in
    another's name."""
    dealer, boss = hands
    other_staff = [floor.staff(role, f"a {role}") for role in (Role.OPERATOR, Role.AUDITOR, Role.DEALER)]
    for by in [*other_staff, boss.by]:
        assert refusal(Hand(dealer.table, by), "bet", seat=1, amount_cents=1_000).code == "not_your_table"
        if by.role != Role.DEALER:
            assert refusal(recorder.sign_in, dealer.table, by).code == "not_permitted"
    for by in [*other_staff, dealer.by]:
        assert refusal(Hand(dealer.table, by), "close_table").code == "wrong_role"
    boss("close_table")
    for by in Staff.objects.exclude(role=Role.PIT_BOSS):
        assert refusal(Hand(dealer.table, by), "open_table").code in ("wrong_role", "signed_already")
    boss("open_table")


def test_a_table_opens_once_with_the_chips_of_the_ledger(hands: tuple[Hand, Hand]) -> None:
    """Harm: the opening rack is typed, or there are two of them, which leaves an unexplained difference at closing."""
    dealer, boss = hands
    assert dealer.now.opening_rack_cents == floor.FLOAT_CENTS - floor.POCKET_CENTS
    assert refusal(boss, "open_table").code == "table_open"
    dealer.bets(seat1=1_000)
    dealer.cards(8, 9, 8)  # the house wins 8
    boss("close_table")
    assert refusal(boss, "close_table").code == "table_closed"
    boss("open_table")
    assert dealer.now.opening_rack_cents == floor.FLOAT_CENTS - floor.POCKET_CENTS + 800
    assert cage.net_effect([dealer.table.book_id])[cage.chart(dealer.table.book_id).ids["rack", None]] == 900_800


def test_a_table_closes_between_rounds_and_its_dealer_is_tapped_out(hands: tuple[Hand, Hand]) -> None:
    """Harm: a table closes with a round that can never be finished, or with bets on the layout and no dealer; or a
    dealer is still signed in at a closed table."""
    dealer, boss = hands
    dealer.bets(seat1=1_000, seat2=1_000)
    for cards in ((), (8, 9, 3)):  # then two seats await their payout
        dealer.cards(*cards)
        assert refusal(boss, "close_table").code == "round_open"
        assert refusal(recorder.sign_out, dealer.table, dealer.by).code == "round_open"
    dealer.pay()
    boss("close_table")
    assert (dealer.now.is_open, dealer.now.dealer) == (False, None)
    assert (last(dealer).kind, last(dealer).by) == ("signed_out", boss.by.signature)
    assert table_opening.table_of(dealer.by) is None


def test_at_a_closed_table_nothing_is_entered(hands: tuple[Hand, Hand]) -> None:
    """Harm: chips move at a table whose rack is counted and locked."""
    dealer, boss = hands
    boss("close_table")
    seq = dealer.now.seq
    assert refusal(dealer, "bet", seat=1, amount_cents=1_000).code == "table_closed"
    for do in ("load_shoe", "take_back", "sign_out", "cut_card_out"):
        assert refusal(dealer, do).code == "table_closed"
    assert refusal(recorder.sign_in, dealer.table, dealer.by).code == "table_closed"
    assert dealer.now.seq == seq


# --- the dealer -----------------------------------------------------------------------------------------------


def test_a_relief_takes_over_in_mid_round_by_the_log(hands: tuple[Hand, Hand]) -> None:
    """Harm: the log does not show which dealer dealt a card, a wrong key just before the relief cannot be corrected at
    the table, or a relieved dealer has to be tapped out before going to another table."""
    dealer, boss = hands
    ida = floor.staff(Role.DEALER, "ida", "102")
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    recorder.relieve(dealer.table, ida, "dora", confirmed_by=boss.by, terminal="Pit 3")
    entry = last(dealer)
    assert (entry.subject, entry.kind, entry.by) == ("dealer", "signed_in", "102 Ida")
    now = dealer.now.dealer
    assert now is not None
    assert (now.username, now.since_seq) == ("ida", entry.seq)
    assert refusal(dealer.cards, 9).code == "not_your_table"
    relief = Hand(dealer.table, ida)
    relief("take_back")
    relief.cards(9)
    assert last(dealer).by == "102 Ida"
    assert table_opening.table_of(ida) == dealer.table
    assert table_opening.table_of(dealer.by) is None
    second_table = floor.table("Rocket 2")
    Hand(second_table, boss.by)("open_table")
    recorder.sign_in(second_table, dealer.by)


def test_nobody_deals_at_two_tables(hands: tuple[Hand, Hand]) -> None:
    """Harm: one dealer's name stands under two rounds at once."""
    dealer, boss = hands
    other = floor.table("Rocket 2")
    Hand(other, boss.by)("open_table")
    elsewhere = refusal(recorder.sign_in, other, dealer.by)
    assert elsewhere.code == "signed_in_elsewhere"
    assert "Rocket 1" in elsewhere.sentence
    assert refusal(recorder.sign_in, dealer.table, dealer.by).code == "signed_in_already"
    recorder.sign_out(dealer.table, dealer.by)
    assert dealer.now.dealer is None
    assert refusal(dealer, "bet", seat=1, amount_cents=1_000).code == "not_your_table"
    assert refusal(recorder.sign_out, dealer.table, dealer.by).code == "not_your_table"
    recorder.sign_in(other, dealer.by)
    assert table_opening.table_of(dealer.by) == other


@pytest.mark.parametrize("change", [{"is_active": False}, {"role": Role.AUDITOR}])
def test_a_dealer_who_left_or_was_given_another_role_enters_nothing_more(
    hands: tuple[Hand, Hand], change: dict[str, Any]
) -> None:
    """Harm: somebody who was sent home deals on until they tap out."""
    dealer, boss = hands
    dealer.bets(seat1=1_000)
    Staff.objects.filter(pk=dealer.by.pk).update(**change)
    dealer.by.refresh_from_db()
    seq = dealer.now.seq
    for do, facts in (("card", {"rank": 8}), ("take_back", {}), ("sign_out", {})):
        assert refusal(dealer, do, **facts).status == 403
    assert refusal(recorder.sign_in, dealer.table, dealer.by).status == 403
    assert dealer.now.seq == seq
    relief = Hand(dealer.table, floor.staff(Role.DEALER, "ida", "102"))
    floor.relieve(dealer.table, relief.by)  # the round goes on
    relief.cards(8, 3)
    relief.pay()
    boss("close_table")
