"""Limit plans come into force at tables: at once or after a notice, once, and never in an open round."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import log
from ledger.log import Draft
from ledger.models import LogEntry
from tables.approvals import proposals
from tables.limits import enforcement
from tables.limits import plans as limit_plans
from tables.log import dual_control
from tables.log.entries.limits import LimitsAnnounced
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.settings import ByPlans, TableSet
from tables.models import LimitPlan, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pits, policies, table_settings
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.tables.approvals.test_proposals import fault, rollback
from tests.tables.limits.test_plans import drafted

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def dealer() -> Hand:
    return floor.dealt(options={"decks": 6})[0]


@pytest.fixture
def olga(dealer: Hand) -> Staff:
    return floor.staff(Role.OPERATOR, "olga", "301")


def set_plan(olga: Staff, version: int = 0, **facts: Any) -> None:
    limit_plans.set_plan(drafted(**facts), expected_version=version, by=olga)


def minimum(hand: Hand) -> int:
    hand.table.refresh_from_db()
    return hand.table.min_cents


def seated_round(hand: Hand, seat: int = 1, cents: int = 1_000) -> None:
    """A round that one seat loses."""
    hand.bets(**{f"seat{seat}": cents})
    hand.cards(5, 3)
    hand.pay()


def limit_entries(hand: Hand) -> list[str]:
    """What was said of limits at the table since it was set up."""
    rows = LogEntry.objects.filter(book=hand.table.book, by="the watch").order_by("seq")
    return [f"{row.subject} {row.kind}" for row in rows]


def test_an_empty_table_is_set_at_once_and_its_entry_names_plan_and_layer(dealer: Hand, olga: Staff) -> None:
    """Harm: a plan has no effect; a table is set without a record of the plan; or it keeps the limits of a plan that no
    longer applies to it."""
    pits.set_section(PitSectionSet(pit="High", tables=(dealer.table.name,)), by=olga)
    set_plan(olga, scope="pit", of="High", values={"min_cents": 2_000, "seat_max_cents": 5_000})
    assert enforcement.bring_into_force() == 1
    assert enforcement.bring_into_force() == 0
    assert minimum(dealer) == 2_000
    entry = LogEntry.objects.get(book=dealer.table.book, by="the watch")
    assert entry.content["plans"]["layers"] == {"min_cents": "Floor, version 1", "seat_max_cents": "Floor, version 1"}
    assert entry.content["after"]["own_limits"] == {"min_cents": 1_000, "seat_max_cents": None}
    with pytest.raises(Refused, match=r"over the maximum|over its maximum"):
        dealer("bet", seat=1, amount_cents=6_000)
    pits.set_section(PitSectionSet(pit="High", tables=()), by=olga)
    enforcement.bring_into_force()
    assert (minimum(dealer), dealer.table.own_limits) == (1_000, {})
    assert fault() == ""


def test_a_table_with_limits_of_single_wagers_is_set_once(olga: Staff) -> None:
    """Harm: the worker compares equal limits in two forms, and writes an entry without a change each minute."""
    baccarat = floor.table("Baccarat 1", game="baccarat", options={}, wager_limits={"tie": [1_000, 5_000]})
    assert enforcement.bring_into_force() == 0
    assert not LogEntry.objects.filter(book=baccarat.book, by="the watch").exists()


def test_a_minimum_is_raised_after_its_notice_and_lowered_at_once(dealer: Hand, olga: Staff, clock: Clock) -> None:
    """Harm: players who sit there are told nothing, and their next bet is refused."""
    seated_round(dealer)
    set_plan(olga, note="Full house")
    enforcement.bring_into_force()
    announced = dealer.now.announced
    assert announced is not None
    assert (dict(announced.least), announced.why) == ({"min_cents": 2_000}, "Full house")
    assert announced.effective >= timezone.now() + timedelta(minutes=29)
    clock.stand(announced.effective - timedelta(seconds=30))
    enforcement.bring_into_force()
    assert minimum(dealer) == 1_000
    clock.stand(announced.effective + timedelta(seconds=1))
    enforcement.bring_into_force()
    assert minimum(dealer) == 2_000
    assert dealer.now.announced is None
    set_plan(olga, 1, values={"min_cents": 1_000})
    enforcement.bring_into_force()
    assert minimum(dealer) == 1_000
    assert limit_entries(dealer) == [
        "limits announced",
        "table settings_changed",
        "limits announced",
        "table settings_changed",
    ]
    assert fault() == ""


def test_another_maximum_holds_though_the_minimum_waits(dealer: Hand, olga: Staff) -> None:
    """Harm: a maximum that was taken down for a reason goes on for the half hour of another limit's notice."""
    seated_round(dealer)
    set_plan(olga, values={"min_cents": 2_000, "max_cents": 5_000})
    enforcement.bring_into_force()
    dealer.table.refresh_from_db()
    assert (dealer.table.min_cents, dealer.table.max_cents) == (1_000, 5_000)
    assert fault() == ""


def test_seats_that_play_keep_the_old_minimum_until_they_leave(dealer: Hand, olga: Staff, clock: Clock) -> None:
    """Harm: a player who may stay at the old minimum is refused; or whoever takes the seat after them bets by it."""
    seated_round(dealer)
    set_plan(olga, keeps_seated=True)
    enforcement.bring_into_force()
    announced = dealer.now.announced
    assert announced is not None
    clock.stand(announced.effective + timedelta(seconds=1))
    enforcement.bring_into_force()
    with pytest.raises(Refused, match="under the minimum of 20"):
        dealer("bet", seat=2, amount_cents=1_000)
    for _ in range(2):
        seated_round(dealer, 2, 2_000)
    seated_round(dealer, 1, 1_000)
    for _ in range(3):
        seated_round(dealer, 2, 2_000)
    with pytest.raises(Refused, match="under the minimum of 20"):
        dealer("bet", seat=1, amount_cents=1_000)
    assert fault() == ""


def test_what_holds_with_the_next_shoe_waits_for_it(dealer: Hand, olga: Staff) -> None:
    """Harm: limits change in the middle of a shoe that a player has counted."""
    seated_round(dealer)
    set_plan(olga, values={"max_cents": 5_000}, takes="shoe")
    assert enforcement.bring_into_force() == 0
    Hand(dealer.table, Staff.objects.get(username="bella"))("retire_shoe")
    assert enforcement.bring_into_force() == 0  # it was set with the shoe's own input
    dealer.table.refresh_from_db()
    assert dealer.table.max_cents == 5_000
    assert fault() == ""


def test_a_worker_that_dies_in_between_leaves_nothing_half_done(
    dealer: Hand, olga: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the row says the new limits and the log the old ones, or a notice is ended whose limits never came."""
    set_plan(olga)

    def dies(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(log, "append", dies)
        with pytest.raises(KeyboardInterrupt):
            enforcement.bring_into_force()
    assert minimum(dealer) == 1_000
    assert limit_entries(dealer) == []
    assert enforcement.bring_into_force() == 1
    assert minimum(dealer) == 2_000
    assert fault() == ""


def test_two_workers_set_a_table_once(dealer: Hand, olga: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: two workers that saw the same set a table twice, one of them upon what the other wrote."""
    set_plan(olga)
    bring_to = enforcement.bring_to
    monkeypatch.setattr(enforcement, "bring_to", lambda pk: bring_to(pk) + bring_to(pk))
    assert enforcement.bring_into_force() == 1
    assert limit_entries(dealer) == ["table settings_changed"]


def test_by_hand_a_minimum_is_not_raised_over_players_and_a_plans_limit_not_at_all(dealer: Hand, olga: Staff) -> None:
    """Harm: the notice is skipped by whoever changes the table's own form; or a plan and a person set one in turn."""
    seated_round(dealer)
    with pytest.raises(Refused, match=r"30 minutes' notice\. Let it hold from"):
        table_settings.change_table(dealer.table, {"min_cents": 2_000}, by=olga)
    set_plan(olga, values={"max_cents": 5_000})
    enforcement.bring_into_force()
    with pytest.raises(Refused, match="A limit plan sets the maximum here now"):
        table_settings.change_table(dealer.table, {"max_cents": 20_000}, by=olga)


def forge(hand: Hand, changes: dict[str, Any], by: str = "the watch") -> None:
    """Somebody with the database sets the minimum by an entry that names a plan."""
    with transaction.atomic():
        head = log.lock(hand.table.book_id)
        seq = getattr(LimitPlan.objects.order_by("seq").last(), "seq", 1)
        plans = ByPlans(
            moment=policies.spelled(head.moment),
            house_seq=seq,
            layers={"min_cents": "Floor, version 1"},
            notice_minutes=30,
        )
        before = {"min_cents": 1_000, "own_limits": {}}
        after = {"min_cents": 2_000, "own_limits": {"min_cents": 1_000}}
        content: dict[str, Any] = {"before": before, "after": after, "plans": plans} | changes
        Table.objects.filter(pk=hand.table.pk).update(**content["after"])
        log.append(head, Draft.of(TableSet(**content), by))


def test_a_forged_entry_that_names_a_plan_is_found(dealer: Hand, olga: Staff) -> None:
    """Harm: whoever has the database sets a table as they like, and lays it at a plan's door."""
    other_own = {"after": {"min_cents": 2_000, "own_limits": {"min_cents": 500}}}
    later = policies.spelled(timezone.now() + timedelta(days=2))
    forgeries: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
        ({"values": {"min_cents": 3_000}}, {}, "the watch", "no plan said so: the min_cents would be 3000"),
        ({"name": "Night"}, {}, "the watch", "another layer sets the min_cents: Night, version 1"),
        ({}, {}, "302 Omar", "the watch brings limit plans into force"),
        ({}, {"plans": None}, "the watch", "it says what plans set, and names none"),
        ({}, other_own, "the watch", "other limits"),
        ({"effective": later}, {}, "the watch", "no plan said so: the min_cents would be 1000"),
    ]
    for facts, changes, by, sentence in forgeries:
        with rollback():
            set_plan(olga, **facts)
            forge(dealer, changes, by)
            assert sentence in fault()


def test_a_notice_that_was_skipped_or_cut_short_is_found(dealer: Hand, olga: Staff) -> None:
    """Harm: players are told a minute before, and the log looks as if they had been told in time."""
    seated_round(dealer)
    set_plan(olga)
    with rollback():
        forge(dealer, {})
        assert "their notice was not given or is not over" in fault()
    with transaction.atomic():
        head = log.lock(dealer.table.book_id)
        soon = policies.spelled(head.moment + timedelta(minutes=1))
        short = LimitsAnnounced(least={"min_cents": 2_000}, effective=soon, why="x", notice_minutes=30)
        log.append(head, Draft.of(short, "the watch"))
    assert "it announces for an earlier moment" in fault()


# --- By hand ---------------------------------------------------------------------------------------------------


def by_hand(hand: Hand, minutes: int | None) -> None:
    """Somebody at the shell raises the minimum, past every function that would refuse it."""
    with transaction.atomic():
        head = log.lock(hand.table.book_id)
        Table.objects.filter(pk=hand.table.pk).update(min_cents=2_000)
        changed = TableSet(before={"min_cents": 1_000}, after={"min_cents": 2_000}, notice_minutes=minutes)
        log.append(head, Draft.of(changed, "301 Olga"))


def test_a_minimum_raised_by_hand_over_players_is_found(dealer: Hand, olga: Staff) -> None:
    """Harm: a management command raises the minimum over players' heads, and every proof calls it well."""
    table_settings.change_table(dealer.table, {"cameras": "C-1"}, by=olga)
    seated_round(dealer)
    for minutes, sentence in (
        (30, "raises the min_cents while players are seated, and their notice was not given"),
        (0, "the house's notice was another then"),
        (None, "leaves out which notice the house gives"),
    ):
        with rollback():
            by_hand(dealer, minutes)
            assert sentence in fault()


def test_what_was_written_before_the_notice_was_told_stays_valid(dealer: Hand, olga: Staff) -> None:
    """Harm: a house of old is called a fraud, for entries that nobody could write otherwise."""
    seated_round(dealer)
    by_hand(dealer, None)
    assert fault() == ""


def test_a_decided_minimum_is_announced_and_then_holds(dealer: Hand, olga: Staff, clock: Clock) -> None:
    """Harm: a raise that one operator dates for tonight never comes, for players are always seated; or unannounced."""
    seated_round(dealer)
    evening = timezone.now() + timedelta(minutes=45)
    draft = replace(table_settings.draft_for_later(dealer.table, {"min_cents": 2_000}), effective=evening)
    proposal = proposals.arrange(draft, "Saturday", by=olga)
    assert (proposal.end.outcome, proposal.end.ended_by) == ("decided", "olga")
    assert enforcement.bring_into_force() == 0
    clock.stand(evening - timedelta(minutes=29))
    enforcement.bring_into_force()
    announced = dealer.now.announced
    assert announced is not None
    assert dict(announced.least) == {"min_cents": 2_000}
    clock.stand(evening + timedelta(seconds=1))
    assert proposals.bring_into_force() == 0  # it was announced for half an hour from then
    enforcement.bring_into_force()
    assert dealer.now.announced == announced
    clock.stand(announced.effective + timedelta(seconds=1))
    assert (proposals.bring_into_force(), minimum(dealer)) == (1, 2_000)
    enforcement.bring_into_force()
    assert dealer.now.announced is None
    assert fault() == ""


def test_a_minimum_approved_with_a_wager_in_the_players_favour_is_announced(
    dealer: Hand, olga: Staff, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: two people approve new options and a higher minimum for tonight. No player hears of it, so the change waits
    for players to leave until it lapses."""
    monkeypatch.setattr(table_settings, "_edges", lambda game, rules: {"main": "0.1000 %"})
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    seated_round(dealer)
    evening = timezone.now() + timedelta(minutes=45)
    options = {**table_settings.settings_of(dealer.table).options, "burn": 6}
    draft = table_settings.draft_of(dealer.table, {"min_cents": 2_000, "options": options}, effective=evening)
    assert draft is not None
    assert draft.matter == dual_control.EDGE
    proposals.approve(proposals.propose(draft, "Saturday", by=olga), by=omar)
    clock.stand(evening - timedelta(minutes=29))
    enforcement.bring_into_force()
    announced = dealer.now.announced
    assert announced is not None
    assert dict(announced.least) == {"min_cents": 2_000}
