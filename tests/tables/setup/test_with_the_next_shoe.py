"""What was approved or decided for the next shoe: it waits for it, and holds once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft as Entry
from tables.approvals import proposals
from tables.log.entries.proposals import ProposalDecided, ProposalInForce
from tables.log.entries.settings import TableSet
from tables.models import Proposal, Staff, Table
from tables.refusals import Refused
from tables.setup import policies, table_settings
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.ready import ready_made
from tests.tables.approvals.test_proposals import fault, kinds, olga, omar, operator
from tests.tables.limits.test_enforcement import seated_round
from tests.terms import read_again

__all__ = ["olga", "omar"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def dealer(db: None) -> Hand:
    """In the middle of a shoe, in a house where such changes take two people."""
    hand = _mid_shoe()
    read_again()
    return hand


@ready_made
def _mid_shoe() -> Hand:
    hand = floor.dealt(options={"decks": 6})[0]
    operator("omar", "302")
    policies.change({"two_people": True}, by=operator("olga", "301"))
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


def test_limits_wait_for_a_shoe_too_and_seats_do_not(dealer: Hand, olga: Staff) -> None:
    """Harm: the maximum is changed under players who were promised the shoe; or the seats wait, and for nothing."""
    proposal = proposals.arrange(table_settings.draft_for_the_shoe(dealer.table, {"max_cents": 5_000}), "", by=olga)
    assert proposal.end.outcome == "decided"  # a lower maximum takes one person
    assert proposals.bring_into_force() == 0
    Hand(dealer.table, boss())("retire_shoe")
    dealer.table.refresh_from_db()
    assert dealer.table.max_cents == 5_000
    assert fault() == ""
    with pytest.raises(Refused, match="Only limits, the game's options"):
        table_settings.draft_for_the_shoe(dealer.table, {"seats": 5})


def test_the_houses_terms_say_how_many_people_it_takes(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: a house of one operator cannot change a shoe at all; or one person does alone what takes two."""
    draft = table_settings.draft_for_the_shoe(dealer.table, {"options": {"decks": 8}})
    assert not hasattr(proposals.arrange(draft, "", by=olga), "end")
    with pytest.raises(Refused, match="waits already"):
        proposals.decide(draft, "", by=omar)
    proposals.withdraw(Proposal.objects.get(), "Alone", by=olga)
    with pytest.raises(Refused, match="takes two people"):
        proposals.decide(draft, "", by=olga)
    assert Proposal.objects.count() == 1

    off = proposals.propose(policies.draft({"two_people_for": ("limits",)}), "", by=olga)
    proposals.approve(off, by=omar)
    read_again()
    decided = proposals.arrange(draft, "New decks", by=olga)
    assert decided.end.outcome == "decided"
    assert "holds with the next shoe" in proposals.entered(decided)
    assert "it changes with the next one" in proposals.status(decided)
    Hand(dealer.table, boss())("retire_shoe")
    assert decks(dealer) == 8
    assert fault() == ""


def test_what_one_decided_lapses_where_it_takes_two_by_then(olga: Staff, omar: Staff) -> None:
    """Harm: on the eve of two people's rule somebody decides a year of changes alone."""
    hand = floor.dealt(options={"decks": 6})[0]
    seated_round(hand)
    draft = table_settings.draft_for_the_shoe(hand.table, {"options": {"decks": 8}})
    decided = proposals.arrange(draft, "", by=olga)
    policies.change({"two_people": True}, by=olga)
    read_again()
    Hand(hand.table, boss())("retire_shoe")
    assert decks(hand) == 6
    assert "It takes two people by now" in proposals.status(decided)
    assert fault() == ""


def test_one_operator_cancels_a_change_of_one_but_not_of_two(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: one operator undoes a change that two approved; or the next shoe is dealt by a cancelled change."""
    two = approved(dealer.table, olga, omar)
    with pytest.raises(Refused, match="Two people approved it"):
        proposals.call_off(two, "Late", by=olga)
    proposal = proposals.arrange(table_settings.draft_for_the_shoe(dealer.table, {"max_cents": 5_000}), "", by=olga)
    proposals.call_off(proposal, "Typed in the wrong row", by=omar)
    assert proposals.to_come() == [two]
    assert "called off" in proposals.status(proposal)
    Hand(dealer.table, boss())("retire_shoe")
    assert (decks(dealer), dealer.table.max_cents) == (8, 10_000)
    assert fault() == ""


def test_a_shoe_is_waited_for_as_long_as_it_takes(dealer: Hand, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: a table that is dealt once a week never gets what was approved for its next shoe; or what nobody approved
    waits as long."""
    proposal = approved(dealer.table, olga, omar)
    idle = proposals.propose(table_settings.draft_for_later(dealer.table, {"max_cents": 90_000_00}), "", by=olga)
    clock.stand(timezone.now() + timedelta(days=30))
    assert (proposals.bring_into_force(), proposals.expire_due()) == (0, 1)
    assert proposals.to_come() == [proposal]
    assert "Expired" in proposals.status(Proposal.objects.get(pk=idle.pk))
    Hand(dealer.table, boss())("retire_shoe")
    assert decks(dealer) == 8
    assert fault() == ""


def test_a_decision_that_took_two_is_found(dealer: Hand, olga: Staff) -> None:
    """Harm: "decided" in place of "approved", and nobody asks for the second person."""
    draft = table_settings.draft_for_the_shoe(dealer.table, {"options": {"decks": 8}})
    proposal = proposals.propose(draft, "", by=olga)
    with transaction.atomic():
        proposals._end(site_log.lock(), proposal, ProposalDecided, olga)
    assert "took two people, and one decided it" in fault()


def test_set_in_the_middle_of_a_shoe_is_found(dealer: Hand, olga: Staff, omar: Staff) -> None:
    """Harm: whoever has the application's database role changes what a shoe is dealt by, while it is dealt."""
    proposal = approved(dealer.table, olga, omar)
    after = {"options": proposal.after["options"]}
    with transaction.atomic():
        event = ProposalInForce(number=proposal.number)
        log.append(site_log.lock(), Entry.of(event, proposals.BY_THE_CLOCK, key=proposals.key_of(proposal.number)))
        changed = TableSet(before=proposal.before, after=after, proposal=proposal.number)
        log.append(log.lock(dealer.table.book_id), Entry.of(changed, omar.signature))
    assert "in the middle of a shoe" in fault()
