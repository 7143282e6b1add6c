"""What two people approved for a moment to come: it waits, comes into force once, can be called off, and is proved."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft as Entry
from ledger.log import KeyReused
from ledger.models import Alert
from tables.approvals import proposals
from tables.log.entries.proposals import ProposalCalledOff, ProposalInForce
from tables.log.entries.settings import TableSet
from tables.models import PayTable, Proposal, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies, table_settings
from tests import floor
from tests.clock import Clock
from tests.tables.approvals.test_proposals import draft_of, fault, kinds, olga, omar, open_house, operator, rollback

__all__ = ["olga", "omar", "open_house"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def tomorrow() -> datetime:
    return timezone.now() + timedelta(days=1)


def approved(matter: str, table: Table, olga: Staff, omar: Staff, effective: datetime | None = None) -> Proposal:
    """A change of a matter that two people approved, to hold from a moment on."""
    draft = replace(draft_of(matter, table), effective=effective or tomorrow())
    proposal = proposals.propose(draft, "For the season", by=olga)
    proposals.approve(proposal, by=omar)
    return proposal


def settings(table: Table) -> list[object]:
    """The settings that these approvals may change."""
    return [table_settings.settings_of(Table.objects.get(pk=table.pk)), *PayTable.objects.all()]


@pytest.mark.parametrize("matter", ["limits", "pay_table"])
def test_an_approved_change_takes_effect_once_at_its_time(
    open_house: Table, olga: Staff, omar: Staff, clock: Clock, matter: str
) -> None:
    """Harm: a change approved for Friday takes effect on Monday, or never, or twice because two workers bring it into
    force."""
    before, moment = settings(open_house), tomorrow()
    proposal = approved(matter, open_house, olga, omar, moment)
    assert proposals.bring_into_force() == 0
    assert settings(open_house) == before
    assert proposals.to_come() == [proposal]
    assert "holds from" in proposals.status(proposal)
    assert fault() == ""

    clock.stand(moment + timedelta(seconds=1))
    assert [proposals.bring_into_force() for _ in range(2)] == [1, 0]
    assert settings(open_house) != before
    assert proposals.to_come() == []
    assert kinds() == ["proposed", "approved", "came_into_force"]
    assert "in force since" in proposals.status(proposal)
    assert fault() == ""
    event = ProposalInForce(number=proposal.number)
    with pytest.raises(KeyReused), transaction.atomic():
        log.append(site_log.lock(), Entry.of(event, proposals.BY_THE_CLOCK, key=proposals.key_of(proposal.number)))


def test_a_worker_that_dies_in_between_leaves_nothing_half_done(
    open_house: Table, olga: Staff, omar: Staff, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: kill -9 between the entry and the change: it counts as done, and is not."""
    moment = tomorrow()
    approved("limits", open_house, olga, omar, moment)
    clock.stand(moment + timedelta(seconds=1))
    with monkeypatch.context() as patched:
        patched.setattr(table_settings, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            proposals.bring_into_force()
    assert kinds() == ["proposed", "approved"]
    open_house.refresh_from_db()
    assert open_house.max_cents == 10_000
    assert proposals.bring_into_force() == 1
    open_house.refresh_from_db()
    assert open_house.max_cents == 30_000
    assert fault() == ""


def test_limits_change_between_rounds_and_options_wait_for_the_end(clock: Clock) -> None:
    """Harm: a limit or a rule changes under a bet that lies."""
    dealer, _ = floor.dealt()
    olga, omar = operator("olga", "301"), operator("omar", "302")
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    policies.forget()
    dealer.bets(seat1=2_000)
    moment = timezone.now() + timedelta(minutes=5)
    draft = table_settings.draft_for_later(dealer.table, {"options": {"decks": 2}})
    assert draft is not None
    proposal = proposals.propose(replace(draft, effective=moment), "", by=olga)
    proposals.approve(proposal, by=omar)
    clock.stand(moment + timedelta(seconds=1))
    assert proposals.bring_into_force() == 0
    assert proposals.to_come() == [proposal]
    assert "is open at Rocket 1" in proposals.status(proposal)
    dealer.cards(8, 4, 8)
    assert proposals.bring_into_force() == 1
    assert fault() == ""


def test_what_was_overtaken_lapses_and_says_so(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: a maximum that somebody lowered since is raised in the night by what was approved last week."""
    moment = tomorrow()
    proposal = approved("limits", open_house, olga, omar, moment)
    table_settings.change_table(open_house, {"max_cents": 5_000}, by=olga)
    clock.stand(moment + timedelta(seconds=1))
    assert proposals.bring_into_force() == 1
    assert kinds()[-1] == "lapsed"
    open_house.refresh_from_db()
    assert open_house.max_cents == 5_000
    assert "50 now" in Alert.objects.get(kind="proposal_lapsed").message
    assert "lapsed" in proposals.status(proposal)
    assert fault() == ""


def test_what_has_to_wait_for_ever_lapses(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: a change nobody remembers comes into force months later."""
    moment = tomorrow()
    approved("staff", open_house, olga, omar, moment)
    floor.staff(Role.DEALER, "dana", "102")  # has the badge by then
    clock.stand(moment + timedelta(hours=1))
    assert proposals.bring_into_force() == 0
    clock.stand(moment + timedelta(hours=73))
    assert proposals.bring_into_force() == 1
    assert "badge 102" in Alert.objects.get(kind="proposal_lapsed").message
    assert kinds() == ["proposed", "approved", "lapsed"]


def test_who_approved_may_have_left(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: what two people decided falls away because one of them works elsewhere."""
    moment = tomorrow()
    approved("limits", open_house, olga, omar, moment)
    Staff.objects.filter(pk=omar.pk).update(is_active=False)
    clock.stand(moment + timedelta(seconds=1))
    assert proposals.bring_into_force() == 1
    open_house.refresh_from_db()
    assert open_house.max_cents == 30_000


def test_two_call_it_off_and_one_cannot(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: what two decided is undone by one; or stands although both think better of it."""
    moment = tomorrow()
    proposal = approved("limits", open_house, olga, omar, moment)
    with pytest.raises(Refused, match="approved by"):
        proposals.withdraw(proposal, "no", by=olga)
    off = proposals.propose(proposals.draft_of_calling_off(proposal), "The guest left", by=omar)
    with pytest.raises(Refused, match="another person"):
        proposals.approve(off, by=omar)
    proposals.approve(off, by=olga)
    assert proposals.to_come() == []
    assert "called off" in proposals.status(proposal)
    clock.stand(moment + timedelta(seconds=1))
    assert proposals.bring_into_force() == 0
    open_house.refresh_from_db()
    assert open_house.max_cents == 10_000
    with pytest.raises(Refused, match="does not wait"):
        proposals.draft_of_calling_off(proposal)
    assert fault() == ""


def test_the_moment_is_to_come_and_within_a_year(open_house: Table, olga: Staff) -> None:
    """Harm: a change that is dated back; or to a year that nobody plans for."""
    draft = draft_of("limits", open_house)
    for moment in (timezone.now() - timedelta(minutes=1), timezone.now() + timedelta(days=400)):
        with pytest.raises(Refused) as refused:
            proposals.propose(replace(draft, effective=moment), "", by=olga)
        assert refused.value.code == "bad_moment"
    assert not Proposal.objects.exists()


def test_approved_after_its_moment_it_holds_at_once(open_house: Table, olga: Staff, omar: Staff, clock: Clock) -> None:
    """Harm: approved an hour late, it never comes into force."""
    moment = timezone.now() + timedelta(hours=1)
    for matter in ("limits", "terms"):
        proposals.propose(replace(draft_of(matter, open_house), effective=moment), "", by=olga)
    clock.stand(moment + timedelta(hours=1))
    for proposal in list(proposals.waiting()):
        proposals.approve(proposal, by=omar)
    open_house.refresh_from_db()
    policies.forget()
    assert (open_house.max_cents, policies.number("pin_digits_min")) == (30_000, 8)
    assert fault() == ""


def test_a_new_table_pays_by_what_two_people_approved(open_house: Table, olga: Staff) -> None:
    """Harm: one operator adds a table whose options pay what no other table pays."""
    before = table_settings.settings_of(open_house)
    for options in (before.options, {"decks": 2}):
        with pytest.raises(Refused) as refused:
            table_settings.create_table("Rocket 2", replace(before, options=options), by=olga)
        assert refused.value.code == "second_person"
    draft = table_settings.draft_of_new("Rocket 2", before)
    assert draft is not None
    assert draft.matter == "pays"


# --- What a proof finds ----------------------------------------------------------------------------------------


def forge(event: Any, by: str, key: Any = None, book: str | None = None) -> None:
    with transaction.atomic():
        head = log.lock(Table.objects.get(name=book).book_id) if book else site_log.lock()
        log.append(head, Entry.of(event, by, key=key))


def test_forged_entries_of_a_dated_proposal_are_found(open_house: Table, olga: Staff, omar: Staff) -> None:
    """Harm: a writer with the application's database role brings a limit into force that was approved for next week,
    sets it under the proposal's number, or cancels alone what two people decided."""
    proposal = approved("limits", open_house, olga, omar)
    key = proposals.key_of(proposal.number)
    changed = TableSet(before={"max_cents": 10_000}, after={"max_cents": 30_000}, proposal=proposal.number)
    off = ProposalCalledOff(number=proposal.number, proposal=proposal.number)
    with rollback():
        forge(ProposalInForce(number=proposal.number), proposals.BY_THE_CLOCK, key)
        assert "before its moment" in fault()
    with rollback():
        forge(changed, omar.signature, book="Rocket 1")
        assert "has not come into force" in fault()
    with rollback():
        forge(off, omar.signature, key)
        assert "another matter" in fault()
