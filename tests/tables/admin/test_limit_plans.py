"""Limit plans in the admin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ledger.models import Book
from ledger.site_log import HOUSE
from tables.approvals import proposals
from tables.audit import proofs
from tables.limits import enforcement, plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.limit_plans import Occasion, Value
from tables.models import LimitPlan, Proposal, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.ready import ready_made
from tests.tables.approvals.test_proposals import fault

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

LIST = "/admin/tables/limitplan/"


@pytest.fixture
@ready_made
def olga() -> Staff:
    floor.table("Rocket 1")
    return floor.staff(Role.OPERATOR, "olga", "301")


@pytest.fixture
def desk(olga: Staff) -> Client:
    return floor.client(olga)


def typed(**facts: Any) -> dict[str, Any]:
    plan = {"name": "Floor", "target": "house:", "when": "always", "min_cents": "20", "takes": "round", "version": "0"}
    return {**plan, **facts}


def test_a_plan_is_set_as_it_is_typed_and_its_layers_are_drawn(desk: Client) -> None:
    """Harm: what is typed is set otherwise; or nobody can tell which of two plans holds at a table."""
    assert desk.post(LIST + "add/", typed()).status_code == 302
    night = typed(
        name="Night", target="table:Rocket 1", when="hours", weekdays=["0", "1", "2", "3", "4", "5", "6"],
        starts="00:00", ends="00:00", min_cents="50", seat_max_cents="80", note="Late",
    )  # fmt: skip
    assert desk.post(LIST + "add/", night).status_code == 302
    enforcement.bring_into_force()
    page = desk.get(LIST, {"table": "Rocket 1"})
    minimum, *_ = page.context["in_force"].limits
    assert (minimum.title, minimum.value, minimum.reason.state) == ("minimum", "50", "applies")
    assert [(value, other.state) for value, other in minimum.others] == [("20", "covered"), ("10", "covered")]
    week = dict(page.context["weeks"])["minimum"]
    assert len(week) == 7
    assert all(bar.text == "50 Night" for day in week for bar in day.bars)
    assert [line.plan.name for line in page.context["lines"]] == ["Floor", "Night"]


def test_the_second_of_two_is_told_and_keeps_what_was_typed(desk: Client, olga: Staff) -> None:
    """Harm: of two operators who edit the same plan one loses what they typed, or undoes what the other did."""
    desk.post(LIST + "add/", typed())
    row = LimitPlan.objects.versions("Floor").first()
    assert row is not None
    change = reverse("admin:tables_limitplan_change", args=[row.pk])
    answer = desk.get(change).context["form"].initial
    assert (answer["version"], answer["min_cents"]) == (1, 2_000)
    desk.post(change, typed(version="1", min_cents="30"))
    late = desk.post(change, typed(version="1", min_cents="40", note="Mine"))
    assert late.status_code == 200
    form = late.context["form"]
    assert "301 Olga set version 2 of Floor meanwhile: limits minimum 20 → minimum 30" in str(form.errors)
    assert (form["min_cents"].value(), form["note"].value(), form["version"].value()) == ("40", "Mine", "2")
    assert desk.post(change, typed(version="2", min_cents="40")).status_code == 302
    assert [version.version for version in LimitPlan.objects.versions("Floor")] == [3, 2, 1]


def test_each_fields_refusal_says_what_would_be_right(desk: Client) -> None:
    """Harm: an operator learns that a plan is wrong, but neither what is wrong nor what would be right."""
    for facts, field, sentence in (
        ({"when": "hours"}, "when", "Choose weekdays"),
        ({"when": "event"}, "when", "Fill in from when to when"),
        ({"wagers": "tie"}, "wagers", "tie 5 to 100"),
        ({"min_cents": "10.50"}, "min_cents", "Rocket 1: The minimum is a multiple of 10"),
        ({"target": "pit:Mars"}, "target", "Select a valid choice"),
        ({"min_cents": ""}, "__all__", "Set one limit at least"),
    ):
        page = desk.post(LIST + "add/", typed(**facts))
        assert sentence in " ".join(page.context["form"].errors[field])
    assert not LimitPlan.objects.exists()


YEAR_1 = "0001-01-01T00:00:00+14:00"


def test_an_event_of_the_year_1_is_refused_at_its_field(desk: Client, olga: Staff) -> None:
    """Harm: one accepted date makes the list of limit plans a server error for all."""
    event = typed(when="event", event_from="0001-01-01 00:00", event_to="9999-12-31 23:59")
    page = desk.post(LIST + "add/", event)
    assert {"event_from", "event_to"} == set(page.context["form"].errors)
    tomorrow = policies.spelled(timezone.now() + timedelta(days=1))
    with pytest.raises(Refused, match="from 2000 to 2999"):
        plans.set_plan(of_year_1(tomorrow), expected_version=0, by=olga)
    assert desk.get(LIST).status_code == 200


def test_a_plan_that_is_stored_with_such_an_event_breaks_no_page(
    desk: Client, olga: Staff, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a plan that an earlier release accepted breaks the list of limit plans, and cannot be retired there."""
    with monkeypatch.context() as patched:
        patched.setattr(plans, "_is_possible", lambda _: True)
        row = plans.set_plan(
            of_year_1(policies.spelled(timezone.now() + timedelta(days=1))), expected_version=0, by=olga
        )
    change = reverse("admin:tables_limitplan_change", args=[row.pk])
    for path in (LIST, change, "/api/limit-plans/", f"/api/tables/{Table.objects.get().pk}/limits/"):
        assert desk.get(path).status_code == 200, path
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    desk.post(change, {"retire": "1", "version": "1"})
    assert LimitPlan.objects.versions("Ancient").first().retired  # type: ignore[union-attr]


def of_year_1(ends: str) -> LimitPlanSet:
    schedule = Occasion(starts=YEAR_1, ends=ends)
    values: dict[str, Value] = {"min_cents": 2_000}
    return LimitPlanSet(name="Ancient", version=0, scope="house", schedule=schedule, values=values, effective="")


def test_what_takes_two_people_is_proposed_and_approved_by_another(desk: Client, olga: Staff) -> None:
    """Harm: one operator raises what the house may lose by a plan, where its terms ask for two."""
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True}, by=olga)
    desk.post(LIST + "add/", typed(max_cents="5000", comment="High season"))
    assert not LimitPlan.objects.exists()
    proposal = Proposal.objects.get()
    page = desk.get(reverse("admin:tables_proposal_change", args=[proposal.pk])).content.decode()
    for part in ("High season", "Maximum", "5,000", "Most bets of a round"):
        assert part in page
    desk.post(reverse("admin:tables_proposal_change", args=[proposal.pk]), {"reason": "Too high?", "comment": ""})
    proposals.comment(proposal, "For the derby alone", by=omar)
    assert [(comment.by, comment.text) for comment in proposals.comments(proposal)] == [
        ("301 Olga", "Too high?"),
        ("302 Omar", "For the derby alone"),
    ]
    proposals.approve(proposal, by=omar)
    assert LimitPlan.objects.get().proposal == proposal.number
    assert desk.post(LIST + "add/", typed(name="Low", max_cents="500")).status_code == 302
    assert LimitPlan.objects.filter(name="Low").exists()
    with pytest.raises(Refused):
        proposals.comment(proposal, "Too late", by=omar)
    assert fault() == ""


def test_a_plan_is_retired(desk: Client) -> None:
    """Harm: a plan cannot be ended, or is ended over what somebody set meanwhile."""
    desk.post(LIST + "add/", typed())
    row = LimitPlan.objects.get()
    change = reverse("admin:tables_limitplan_change", args=[row.pk])
    desk.post(change, typed(version="0", retire=""))
    assert LimitPlan.objects.count() == 1
    desk.post(change, typed(version="1", retire=""))
    newest = LimitPlan.objects.versions("Floor").first()
    assert newest is not None
    assert newest.retired
