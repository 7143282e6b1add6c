"""Opening and closing tables, signing in, relief, tapping out: who stands where, at every moment, by the log."""

from typing import Any

import pytest

from ledger import cage
from ledger.models import LogEntry
from tables import dealing
from tables.models import Staff
from tables.play import doors
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.floor import Hand

pytestmark = pytest.mark.django_db


def refused(call: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        call()
    return caught.value


def sign_in(hand: Hand, staff: Staff) -> Refused | None:
    try:
        dealing.sign_in(hand.table, staff)
    except Refused as error:
        return error
    return None


def last(hand: Hand) -> LogEntry:
    return LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")


def everybody() -> dict[str, Staff]:
    return {role: floor.staff(role, f"a {role}") for role in (Role.OPERATOR, Role.AUDITOR, Role.DEALER)}


# --- the table ------------------------------------------------------------------------------------------------


def test_only_a_pit_boss_opens_and_closes_a_table(hands: tuple[Hand, Hand]) -> None:
    """Harm: a dealer opens a table that nobody watches."""
    dealer, boss = hands
    for staff in [*everybody().values(), dealer.by]:
        hand = Hand(dealer.table, staff)
        assert refused(lambda hand=hand: hand("close_table")).code == "wrong_role"
    boss("close_table")
    for staff in Staff.objects.exclude(role=Role.PIT_BOSS):
        hand = Hand(dealer.table, staff)
        assert refused(lambda hand=hand: hand("open_table")).code in ("wrong_role", "signed_already")
    boss("open_table")


def test_a_table_opens_with_the_chips_that_the_ledger_says(hands: tuple[Hand, Hand]) -> None:
    """Harm: an opening rack that somebody typed, and a difference that nobody can explain at closing."""
    dealer, boss = hands
    assert dealer.now.opening_rack_cents == floor.FLOAT_CENTS - floor.POCKET_CENTS
    dealer.bets(seat1=1_000)
    dealer.cards(8, 9, 8)  # the house wins 8
    boss("close_table")
    boss("open_table")
    assert dealer.now.opening_rack_cents == floor.FLOAT_CENTS - floor.POCKET_CENTS + 800
    assert cage.net_effect([dealer.table.book_id])[cage.chart(dealer.table.book_id).ids["rack", None]] == 900_800


def test_an_open_table_is_not_opened_and_a_closed_one_not_closed(hands: tuple[Hand, Hand]) -> None:
    """Harm: two openings, two opening racks."""
    _, boss = hands
    assert refused(lambda: boss("open_table")).code == "table_open"
    boss("close_table")
    assert refused(lambda: boss("close_table")).code == "table_closed"


def test_a_table_closes_between_rounds_and_its_dealer_is_tapped_out(hands: tuple[Hand, Hand]) -> None:
    """Harm: a round that nobody will ever finish; a dealer who still stands at a table that is closed."""
    dealer, boss = hands
    dealer.bets(seat1=1_000, seat2=1_000)
    assert refused(lambda: boss("close_table")).code == "round_open"
    dealer.cards(8, 9, 3)
    assert refused(lambda: boss("close_table")).code == "round_open"  # two seats still have to be paid
    dealer.pay()
    boss("close_table")
    assert (dealer.now.is_open, dealer.now.dealer) == (False, None)
    assert (last(dealer).kind, last(dealer).by) == ("signed_out", boss.by.signature)
    assert doors.table_of(dealer.by) is None


@pytest.mark.parametrize("do", ["bet", "load_shoe", "take_back", "sign_out", "cut_card_out"])
def test_at_a_closed_table_nothing_is_entered(hands: tuple[Hand, Hand], do: str) -> None:
    """Harm: chips move at a table whose rack is counted and locked."""
    dealer, boss = hands
    boss("close_table")
    seq = dealer.now.seq
    facts = {"seat": 1, "amount_cents": 1_000} if do == "bet" else {}
    assert refused(lambda: dealer(do, **facts)).code == "table_closed"
    assert sign_in(dealer, dealer.by).code == "table_closed"  # type: ignore[union-attr]
    assert dealer.now.seq == seq


# --- the dealer -----------------------------------------------------------------------------------------------


def test_only_the_dealer_who_is_signed_in_there_deals(hands: tuple[Hand, Hand]) -> None:
    """Harm: somebody deals in another's name, or watches and deals."""
    dealer, boss = hands
    for staff in [*everybody().values(), boss.by]:
        hand = Hand(dealer.table, staff)
        assert refused(lambda hand=hand: hand("bet", seat=1, amount_cents=1_000)).code == "not_your_table"
    dealer("bet", seat=1, amount_cents=1_000)


def test_only_dealers_take_a_table(hands: tuple[Hand, Hand]) -> None:
    """Harm: a pit boss deals, and watches over the dealing."""
    dealer, boss = hands
    others = everybody()
    for staff in (boss.by, others[Role.OPERATOR], others[Role.AUDITOR]):
        assert sign_in(dealer, staff).code == "not_permitted"  # type: ignore[union-attr]


def test_a_relief_takes_over_in_mid_round_by_the_log(hands: tuple[Hand, Hand]) -> None:
    """Harm: nobody can say who dealt which card."""
    dealer, boss = hands
    ida = floor.staff(Role.DEALER, "ida", "102")
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    dealing.relieve(dealer.table, ida, "dora", confirmed_by=boss.by, terminal="Pit 3")
    entry = last(dealer)
    assert (entry.subject, entry.kind, entry.by) == ("dealer", "signed_in", "102 Ida")
    now = dealer.now.dealer
    assert now is not None
    assert (now.username, now.since_seq) == ("ida", entry.seq)
    assert refused(lambda: dealer.cards(9)).code == "not_your_table"
    Hand(dealer.table, ida).cards(9)
    assert last(dealer).by == "102 Ida"
    assert doors.table_of(dealer.by) is None
    assert doors.table_of(ida) == dealer.table


def test_a_relief_may_take_back_what_was_keyed_before(hands: tuple[Hand, Hand]) -> None:
    """Harm: a wrong key just before the relief can be corrected by nobody at the table."""
    dealer, _ = hands
    relief = Hand(dealer.table, floor.staff(Role.DEALER, "ida", "102"))
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    floor.relieve(dealer.table, relief.by)
    relief("take_back")
    relief.cards(9)


def test_nobody_taps_out_in_mid_round(hands: tuple[Hand, Hand]) -> None:
    """Harm: a round with bets on the layout and nobody at the table."""
    dealer, _ = hands
    dealer.bets(seat1=1_000, seat2=1_000)
    assert refused(lambda: dealing.sign_out(dealer.table, dealer.by)).code == "round_open"
    dealer.cards(8, 9, 3)
    assert refused(lambda: dealing.sign_out(dealer.table, dealer.by)).code == "round_open"
    dealer.pay()
    dealing.sign_out(dealer.table, dealer.by)
    assert dealer.now.dealer is None
    assert refused(lambda: dealer("bet", seat=1, amount_cents=1_000)).code == "not_your_table"
    assert refused(lambda: dealing.sign_out(dealer.table, dealer.by)).code == "not_your_table"


def test_nobody_deals_at_two_tables(hands: tuple[Hand, Hand]) -> None:
    """Harm: one dealer's name stands under two rounds at once."""
    dealer, boss = hands
    other = floor.table("Rocket 2")
    Hand(other, boss.by)("open_table")
    elsewhere = refused(lambda: dealing.sign_in(other, dealer.by))
    assert elsewhere.code == "signed_in_elsewhere"
    assert "Rocket 1" in elsewhere.sentence
    assert sign_in(dealer, dealer.by).code == "signed_in_already"  # type: ignore[union-attr]
    dealing.sign_out(dealer.table, dealer.by)
    dealing.sign_in(other, dealer.by)
    assert doors.table_of(dealer.by) == other


def test_a_dealer_who_was_relieved_may_go_to_another_table(hands: tuple[Hand, Hand]) -> None:
    """Harm: somebody who was relieved has to be tapped out by an operator first."""
    dealer, boss = hands
    other = floor.table("Rocket 2")
    Hand(other, boss.by)("open_table")
    floor.relieve(dealer.table, floor.staff(Role.DEALER, "ida", "102"))
    dealing.sign_in(other, dealer.by)


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
        assert refused(lambda do=do, facts=facts: dealer(do, **facts)).status == 403
    assert sign_in(dealer, dealer.by).status == 403  # type: ignore[union-attr]
    assert dealer.now.seq == seq
    relief = Hand(dealer.table, floor.staff(Role.DEALER, "ida", "102"))
    floor.relieve(dealer.table, relief.by)  # the round goes on
    relief.cards(8, 3)
    relief.pay()
    boss("close_table")
