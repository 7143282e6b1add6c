"""Limits that a pit boss tightens alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from msgspec import structs

from ledger import site_log
from ledger.models import Alert, LogEntry
from tables.approvals import proposals
from tables.limits import cells, emergency, enforcement, plans, resolver
from tables.limits.cells import Timing
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Always, Occasion
from tables.models import LimitPlan, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies, table_settings
from tables.setup.dual_control import BY_THE_CLOCK
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.floor import Hand
from tests.tables.approvals.test_proposals import fault

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def boss() -> Hand:
    return floor.dealt()[1]


def test_a_maximum_falls_at_once_is_told_and_comes_back_by_itself(boss: Hand, clock: Clock) -> None:
    """Harm: a table that bleeds waits for somebody upstairs; or what was done in a hurry stays, and nobody knows."""
    emergency.tighten(boss.table, {"max_cents": 5_000}, "A run of wins at seat 3", by=boss.by)
    boss.table.refresh_from_db()
    assert boss.table.max_cents == 5_000
    alert = Alert.objects.get(kind="limits_emergency")
    assert alert.message == "Rocket 1: Bella set maximum 50 in an emergency, for 4 hours: A run of wins at seat 3"
    emergency.tighten(boss.table, {"max_cents": 3_000}, "It goes on", by=boss.by)
    site_log.flush_queue()
    assert fault() == ""
    clock.stand(timezone.now() + timedelta(hours=4, minutes=1))
    enforcement.bring_into_force()
    boss.table.refresh_from_db()
    assert boss.table.max_cents == 10_000
    assert fault() == ""


def test_what_a_pit_boss_tightens_is_hers_in_log_and_history(boss: Hand, operator: Staff, clock: Clock) -> None:
    """Harm: the log and the history of limits name the system for what a pit boss did, and hide who lowered a limit; or
    name a pit boss for what the system did hours later."""
    plan = LimitPlanSet(
        name="Event", version=0, scope="house", schedule=Always(), values={"cap_cents": 5_000}, effective=""
    )
    plans.set_plan(plan, expected_version=0, by=operator)
    enforcement.bring_into_force()
    emergency.tighten(boss.table, {"max_cents": 5_000}, "A run of wins at seat 3", by=boss.by)
    dealer = Hand(boss.table, Staff.objects.get(username="dora"))
    dealer.bets(seat1=1_000)
    dealer.cards(5, 3)
    dealer.pay()
    emergency.tighten(boss.table, {"min_cents": 2_000}, "Fewer hands", by=boss.by)
    clock.stand(timezone.now() + timedelta(hours=4, minutes=1))
    enforcement.bring_into_force()
    rows = LogEntry.objects.filter(book=boss.table.book, kind__in=("settings_changed", "announced"))
    assert list(rows.exclude(by=floor.SETS_UP).order_by("seq").values_list("kind", "by")) == [
        ("settings_changed", BY_THE_CLOCK),
        ("settings_changed", boss.by.signature),
        ("announced", boss.by.signature),
        ("settings_changed", BY_THE_CLOCK),
        ("announced", BY_THE_CLOCK),
    ]
    site_log.flush_queue()
    assert fault() == ""
    page = floor.client(operator).get("/admin/tables/table/limits/history/").content.decode()
    assert f"<td>{boss.by.signature} (limit plan Emergency Rocket 1, version 1)</td>" in page
    assert f"<td>{operator.signature} (limit plan Event, version 1)</td>" in page
    assert f"<td>{BY_THE_CLOCK} (a limit plan ended)</td>" in page


def test_an_emergency_loosens_no_limit_and_requires_a_reason(boss: Hand) -> None:
    """Harm: a pit boss declares an emergency to let a friend bet more than the casino allows, or a dealer closes a
    table to a player whom they dislike."""
    dora = Staff.objects.get(username="dora")
    wrong: list[tuple[dict[str, Any], str, Staff, str]] = [
        ({"max_cents": 20_000}, "Why not", boss.by, "in an emergency it is lowered"),
        ({"max_cents": 5_000}, " ", boss.by, "Say why"),
        ({}, "Why not", boss.by, "one limit at least"),
        ({"wager tie": (500, 600)}, "Why not", boss.by, "these are changed"),
        ({"max_cents": 5_050}, "Why not", boss.by, "multiple of 10"),
        ({"max_cents": 5_000}, "No", dora, "A pit boss"),
    ]
    for values, reason, by, sentence in wrong:
        with pytest.raises(Refused, match=sentence):
            emergency.tighten(boss.table, values, reason, by=by)
    assert not LimitPlan.objects.exists()


def test_a_second_emergency_keeps_what_the_first_tightened(boss: Hand) -> None:
    """Harm: the second hand on a table under attack lifts the maximum again; or is refused for want of an operator."""
    olga, _ = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True, "two_people_limit_cents": 6_000}, by=olga)
    policies.forget()
    emergency.tighten(boss.table, {"max_cents": 5_000}, "A past-poster", by=boss.by)
    emergency.tighten(boss.table, {"seat_max_cents": 5_000}, "And his friend", by=boss.by)
    boss.table.refresh_from_db()
    assert (boss.table.max_cents, boss.table.seat_max_cents) == (5_000, 5_000)
    assert fault() == ""


def test_a_second_emergency_does_not_lift_what_an_operator_lowered(boss: Hand, operator: Staff) -> None:
    """Harm: a pit boss who tightens one limit raises another that an operator had lowered for the night."""
    emergency.tighten(boss.table, {"max_cents": 5_000}, "A past-poster", by=boss.by)
    boss.table.refresh_from_db()
    name = boss.table.name
    shown, start = {name: cells.texts_of(boss.table)}, Timing(ends=timezone.now() + timedelta(hours=2))
    typed = {name: {"max_cents": "30"}}
    digest = cells.preview(typed, shown, start).digest
    cells.save(typed, shown, start, digest=digest, reason="A quiet table", by=operator)
    enforcement.bring_into_force()
    boss.table.refresh_from_db()
    assert boss.table.max_cents == 3_000
    emergency.tighten(boss.table, {"seat_max_cents": 5_000}, "And his friend", by=boss.by)
    boss.table.refresh_from_db()
    assert (boss.table.max_cents, boss.table.seat_max_cents) == (3_000, 5_000)
    assert fault() == ""


@pytest.mark.parametrize("hours", [24, None])
def test_an_emergency_leaves_the_longer_limits_of_an_operator(
    boss: Hand, operator: Staff, clock: Clock, hours: int | None
) -> None:
    """Harm: an operator extends an emergency limit, a pit boss tightens another limit, and four hours later nobody
    limits the table any more."""
    first = emergency.tighten(boss.table, {"max_cents": 5_000}, "A past-poster", by=boss.by)
    event, end = LIMIT_PLANS.event_of(first), timezone.now() + timedelta(hours=hours or 0)
    longer = Occasion(starts=policies.spelled(timezone.now()), ends=policies.spelled(end)) if hours else Always()
    extended = structs.replace(event, schedule=longer, effective="")
    plans.set_plan(extended, expected_version=first.version, by=operator)
    emergency.tighten(boss.table, {"seat_max_cents": 4_000}, "It goes on", by=boss.by)
    table = Table.objects.get()
    assert (table.max_cents, table.seat_max_cents) == (5_000, 4_000)
    limits = resolver.at_tables([table], timezone.now())[table.name]
    reasons = resolver.why(table, limits, table_state.of(table), timezone.now())
    [seat] = [reason for reason in reasons if reason.name == "seat_max_cents"]
    assert seat.applied is not None
    assert seat.applied.is_emergency
    clock.stand(timezone.now() + timedelta(hours=4, minutes=1))
    enforcement.bring_into_force()
    table.refresh_from_db()
    assert (table.max_cents, table.seat_max_cents) == (5_000, None)
    site_log.flush_queue()
    assert fault() == ""


def test_tables_with_long_names_have_emergencies_of_their_own(operator: Staff) -> None:
    """Harm: the emergency limit of one table lifts that of the table beside it, whose name begins alike."""
    boss = floor.staff(Role.PIT_BOSS, "bella", "201")
    first, second = (floor.table(f"Baccarat in the high limit room, {number}") for number in (1, 2))
    emergency.tighten(first, {"max_cents": 5_000}, "A past-poster", by=boss)
    emergency.tighten(second, {"max_cents": 6_000}, "His friend", by=boss)
    enforcement.bring_into_force()
    assert list(Table.objects.order_by("name").values_list("max_cents", flat=True)) == [5_000, 6_000]
    emergency.tighten(first, {"max_cents": 4_000}, "He is back", by=boss)
    assert list(Table.objects.order_by("name").values_list("max_cents", flat=True)) == [4_000, 6_000]
    assert LimitPlan.objects.values("name").distinct().count() == 2
    limits = resolver.at_tables([second], timezone.now())[second.name]
    for reason in resolver.why(second, limits, table_state.of(second), timezone.now()):
        assert reason.name != "max_cents" or (reason.applied is not None and reason.applied.is_emergency)


def test_a_wager_of_its_own_is_lowered_and_never_raised(operator: Staff) -> None:
    """Harm: the side bet bleeds, and only the main bet can be stopped; or it is opened wider by the word emergency."""
    table = floor.table("Baccarat 1", game="baccarat", options={})
    boss = floor.staff(Role.PIT_BOSS, "bella", "201")
    emergency.tighten(table, {"wager tie": (1_000, 5_000)}, "Ties", by=boss)
    table.refresh_from_db()
    assert table.wager_limits == {"tie": [1_000, 5_000]}
    assert "tie 10 to 50" in Alert.objects.get(kind="limits_emergency").message
    with pytest.raises(Refused, match="The most on tie is 50"):
        emergency.tighten(table, {"wager tie": (1_000, 6_000)}, "Ties", by=boss)
    with pytest.raises(Refused, match="The most on player pair is"):
        emergency.tighten(table, {"wager player_pair": (1_000, 90_000)}, "Pairs", by=boss)
    browser = floor.client(boss)
    page = f"/pit/tables/{table.pk}/limits/"
    assert "Most on player pair" in browser.get(page).content.decode()
    form = {"do": "emergency", "most_player_pair": "20", "comment": "Pairs"}
    assert browser.post(page, form).status_code == 302
    table.refresh_from_db()
    assert table.wager_limits == {"tie": [1_000, 5_000], "player_pair": [1_000, 2_000]}
    assert fault() == ""


def test_the_floor_reads_and_writes_comments_on_a_proposal(boss: Hand) -> None:
    """Harm: the operator asks why, and whoever proposed it never hears of it."""
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    draft = table_settings.draft_for_later(boss.table, {"max_cents": 20_000})
    proposal = proposals.propose(draft, "Full", by=boss.by)
    proposals.comment(proposal, "Until <b>when</b>?", by=olga)
    browser, page = floor.client(boss.by), f"/pit/tables/{boss.table.pk}/limits/"
    assert "Until &lt;b&gt;when&lt;/b&gt;?" in browser.get(page).content.decode()
    form = {"do": "comment", "proposal": proposal.number, "reason": "Until two"}
    assert browser.post(page, form).status_code == 302
    assert [comment.content["text"] for comment in proposals.comments(proposal)] == ["Until <b>when</b>?", "Until two"]
    assert browser.post(page, form | {"reason": " "}).status_code == 422
    assert fault() == ""
