"""Why a limit of a table is what it is: the layer that sets it, its author, and the other layers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from ledger.models import LogEntry
from tables.approvals import proposals
from tables.limits import emergency, enforcement, plans, resolver
from tables.limits.resolver import LimitReason
from tables.log.limit_plans import Hours
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import policies, table_settings
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.tables.limits.test_plans import drafted
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def boss() -> Hand:
    return floor.dealt(options={"decks": 6})[1]


@pytest.fixture
def olga(boss: Hand) -> Staff:
    return floor.staff(Role.OPERATOR, "olga", "301")


def reasons(name: str = "Rocket 1") -> dict[str, LimitReason]:
    table, moment = Table.objects.get(name=name), timezone.now()
    limits = resolver.at_tables([table], moment)[name]
    return {limit.name: limit for limit in resolver.why(table, limits, table_state.of(table), moment)}


def states(limit: LimitReason) -> list[tuple[str, str]]:
    return [(layer.layer.name, layer.state) for layer in limit.layers]


def test_each_limit_names_the_layer_that_sets_it_who_set_that_and_why_no_other_does(boss: Hand, olga: Staff) -> None:
    """Harm: a pit boss who is asked why the minimum is 20 finds a value without an author, or the wrong one."""
    weekday = (timezone.now() + timedelta(days=3)).weekday()
    later = Hours(weekdays=(weekday,), starts="20:00", ends="20:30", zone="UTC")
    plans.set_plan(drafted(), expected_version=0, by=olga)
    plans.set_plan(drafted("Weekly", schedule=later, values={"min_cents": 5_000}), expected_version=0, by=olga)
    table_settings.change_table(boss.table, {"max_cents": 20_000}, by=olga)
    enforcement.bring_into_force()
    limits = reasons()
    minimum, maximum = limits["min_cents"], limits["max_cents"]
    assert (minimum.value, minimum.due, minimum.waits_for) == (2_000, 2_000, "")
    assert states(minimum) == [("Weekly", "not now"), ("Floor", "applies"), ("", "covered")]
    assert minimum.layers[0].reason.startswith("it applies ")
    assert minimum.layers[2].reason == "above it: plan Floor: the whole house, always"
    assert minimum.applied is not None
    assert minimum.applied.origin.by == olga.signature
    first = LogEntry.objects.filter(book=boss.table.book, kind="settings_changed").order_by("seq")[0]
    assert (minimum.layers[2].origin.by, minimum.layers[2].origin.at) == (first.by, first.at)
    assert states(maximum) == [("", "applies")]
    assert maximum.layers[0].origin.by == olga.signature


def test_an_emergency_and_an_approved_proposal_are_named_as_such(boss: Hand, olga: Staff) -> None:
    """Harm: a limit that two people approved, or that a pit boss tightened alone, looks like an ordinary plan."""
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True, "two_people_limit_cents": 5_000}, by=olga)
    read_again()
    draft = plans.draft_of(drafted(values={"max_cents": 9_000}), expected_version=0)
    assert draft is not None
    proposal = proposals.propose(draft, "", by=olga)
    proposals.approve(proposal, by=omar)
    emergency.tighten(boss.table, {"max_cents": 4_000}, "A run of wins", by=boss.by)
    top, plan, own = reasons()["max_cents"].layers
    assert (top.is_emergency, top.state, top.origin.by) == (True, "applies", boss.by.signature)
    assert (plan.is_emergency, plan.state, plan.origin.proposal) == (False, "covered", proposal.number)
    assert plan.origin.by == omar.signature
    assert own.state == "covered"


def test_a_minimum_that_waits_for_its_notice_says_so(boss: Hand, olga: Staff, clock: Clock) -> None:
    """Harm: the page shows the value of a plan that players are not bound by yet, or no reason for the delay."""
    dealer = Hand(boss.table, Staff.objects.get(username="dora"))
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    dealer.pay()
    plans.set_plan(drafted(), expected_version=0, by=olga)
    enforcement.bring_into_force()
    minimum = reasons()["min_cents"]
    assert (minimum.value, minimum.due, minimum.waits_for) == (1_000, 2_000, "notice")
    clock.stand(timezone.now() + timedelta(minutes=31))
    assert reasons()["min_cents"].waits_for == "notice"
    enforcement.bring_into_force()
    assert reasons()["min_cents"].waits_for == ""


def test_a_wager_names_who_set_its_own_limits(olga: Staff) -> None:
    """Harm: the author of another wager's limits is named for this one."""
    table = floor.table("Baccarat 1", game="baccarat", options={}, wager_limits={"tie": (1_000, 5_000)})
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    wagers: dict[str, Any] = {"tie": (1_000, 5_000), "banker": (1_000, 9_000)}
    table_settings.change_table(table, {"wager_limits": wagers}, by=omar)
    limits = reasons("Baccarat 1")
    assert limits["wager banker"].layers[0].origin.by == omar.signature
    assert limits["wager tie"].layers[0].origin.by == floor.SETS_UP
