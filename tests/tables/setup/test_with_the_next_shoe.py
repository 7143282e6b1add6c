"""Options and the shoe's source that two people approved for the next shoe: they wait for it, and hold once."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import OperationalError, transaction

from ledger import house, log
from ledger.log import Draft as Entry
from ledger.models import HOUSE, LogEntry
from tables.log.entries.proposals import ProposalInForce
from tables.log.entries.settings import TableSet
from tables.models import Proposal, Staff, Table
from tables.refusals import Refused
from tables.setup import house_terms, proposals, table_settings
from tests import floor
from tests.floor import Hand
from tests.tables.setup.test_limits import seated_round
from tests.tables.setup.test_proposals import fault, olga, omar
from tests.terms import read_again

__all__ = ["olga", "omar"]

pytestmark = pytest.mark.django_db


@pytest.fixture
def dealer(olga: Staff, omar: Staff) -> Hand:
    """In the middle of a shoe, in a house where such changes take two people."""
    hand = floor.dealt(options={"decks": 6})[0]
    house_terms.change({"two_people": True}, by=olga)
    read_again()
    seated_round(hand)
    return hand


def boss() -> Staff:
    return Staff.objects.get(username="bella")


def approved(table: Table, olga: Staff, omar: Staff, **changes: Any) -> Proposal:
    """A change that two people stand for, to hold with the next shoe."""
    draft = table_settings.draft_for_the_shoe(table, changes or {"options": {"decks": 8}})
    proposal = proposals.propose(draft, "For the season", by=olga)
    proposals.approve(proposal, by=omar)
    return proposal


def decks(hand: Hand) -> int:
    hand.table.refresh_from_db()
    return int(hand.table.options["decks"])


def kinds() -> list[str]:
    """What was said of proposals, in the order of the entries."""
    rows = LogEntry.objects.filter(book__name=HOUSE, subject="proposal").order_by("seq")
    return list(rows.values_list("kind", flat=True))


def test_it_waits_for_the_shoe_and_then_holds_once(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: a shoe half dealt changes its rules; or the next one is dealt by the old ones; or it is done twice."""
    proposal = approved(dealer.table, olga, omar)
    dealer.bets(seat1=1_000)
    assert proposals.bring_into_force() == 0  # an open round
    dealer.cards(5, 3)
    dealer.pay()
    assert proposals.bring_into_force() == 0  # a shoe that is dealt on
    assert decks(dealer) == 6
    assert proposals.next_changes(dealer.table.name) == [proposal]
    assert "it changes with the next one" in proposals.status(proposal)
    assert fault() == ""

    Hand(dealer.table, boss())("retire_shoe")
    assert decks(dealer) == 8  # it was set with the shoe's own input
    assert proposals.bring_into_force() == 0
    assert kinds() == ["proposed", "approved", "came_into_force"]
    assert proposals.to_come() == []
    assert fault() == ""


def test_it_holds_when_the_cut_card_ends_the_shoe(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: a shoe that is only shuffled again, and never retired, is dealt by the old rules for ever."""
    approved(dealer.table, olga, omar)
    dealer.bets(seat1=1_000)
    dealer("cut_card_out")
    assert decks(dealer) == 6
    dealer.cards(5, 3)
    dealer.pay()
    assert decks(dealer) == 8
    with pytest.raises(Refused, match="Retire this shoe first"):
        dealer("shuffle_shoe")
    assert fault() == ""


def test_what_failed_with_the_shoe_is_tried_again(
    dealer: Hand, olga: Staff, omar: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the process is restarted just then, and what two people approved is forgotten; or the shoe stays."""
    approved(dealer.table, olga, omar)

    def fails(*_: Any) -> None:
        raise OperationalError

    with monkeypatch.context() as patch:
        patch.setattr(proposals, "_settle", fails)
        Hand(dealer.table, boss())("retire_shoe")
    assert dealer.now.shoe is None
    assert decks(dealer) == 6
    assert proposals.bring_into_force() == 1
    assert decks(dealer) == 8
    assert fault() == ""


def test_two_call_it_off(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: both think better of it, and the next shoe is dealt by it all the same."""
    proposal = approved(dealer.table, olga, omar)
    off = proposals.propose(proposals.draft_of_calling_off(proposal), "The decks are late", by=omar)
    proposals.approve(off, by=olga)
    Hand(dealer.table, boss())("retire_shoe")
    assert (decks(dealer), proposals.bring_into_force()) == (6, 0)
    assert "called off" in proposals.status(proposal)
    assert fault() == ""


def test_limits_wait_for_a_shoe_by_a_plan(dealer: Hand) -> None:
    """Harm: two ways to say the same, of which one gives no notice."""
    with pytest.raises(Refused, match="Only the game's options"):
        table_settings.draft_for_the_shoe(dealer.table, {"max_cents": 5_000})


def test_a_dealer_alone_sets_nothing(dealer: Hand) -> None:
    """Harm: whoever deals proposes the rules of the next shoe."""
    draft = table_settings.draft_for_the_shoe(dealer.table, {"options": {"decks": 8}})
    with pytest.raises(Refused):
        proposals.propose(draft, "", by=dealer.by)


def test_set_in_the_middle_of_a_shoe_is_found(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: whoever has the application's database role changes what a shoe is dealt by, while it is dealt."""
    proposal = approved(dealer.table, olga, omar)
    after = {"options": proposal.after["options"]}
    with transaction.atomic():
        event = ProposalInForce(number=proposal.number)
        log.append(house.lock(), Entry.of(event, proposals.BY_THE_CLOCK, key=proposals.key_of(proposal.number)))
        changed = TableSet(before=proposal.before, after=after, proposal=proposal.number)
        log.append(log.lock(dealer.table.book_id), Entry.of(changed, omar.signature))
    assert "in the middle of a shoe" in fault()
