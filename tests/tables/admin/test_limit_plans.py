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
        patched.setattr(plans.moments, "is_possible", lambda _: True)
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
    assert [(comment.by, comment.content["text"]) for comment in proposals.comments(proposal)] == [
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


# --- Several tables, and tables that a plan does not fit ----------------------------------------------------------


@pytest.fixture
def high_stakes(olga: Staff) -> Table:
    """A table whose bets are multiples of 100."""
    return floor.table("Rocket 2", unit_cents=1_000, min_cents=10_000, max_cents=100_000)


def test_a_plan_of_a_place_that_is_gone_names_no_other_place(desk: Client) -> None:
    """Harm: an operator changes the note of a plan for a retired table, the browser chooses the first place of the
    list, and the limits apply to the whole house."""
    floor.table("Rocket 2")
    assert desk.post(LIST + "add/", typed(target="table:Rocket 2")).status_code == 302
    Table.objects.filter(name="Rocket 2").update(retired_at=timezone.now())
    change = reverse("admin:tables_limitplan_change", args=[LimitPlan.objects.get().pk])
    page = desk.get(change).content.decode()
    assert '<option value="table:Rocket 2" selected>Rocket 2: not in use</option>' in page
    answer = desk.post(change, typed(target="table:Rocket 2", version="1"))
    assert "There is no table Rocket 2, or it is retired." in answer.content.decode()
    assert LimitPlan.objects.count() == 1


def test_a_plan_is_set_for_several_tables_and_comes_back_so(desk: Client, olga: Staff) -> None:
    """Harm: an operator types a plan for each table, or the form of a plan for two tables drops one of them."""
    floor.table("Rocket 2")
    floor.table("Rocket 3")
    none_ticked = desk.post(LIST + "add/", typed(target="table:"))
    assert "Tick each table" in str(none_ticked.context["form"].errors["tables"])
    assert desk.post(LIST + "add/", typed(target="table:", tables=["Rocket 1", "Rocket 3"])).status_code == 302
    row = LimitPlan.objects.get()
    assert (row.scope, row.of, row.tables) == ("table", "", ["Rocket 1", "Rocket 3"])
    change = reverse("admin:tables_limitplan_change", args=[row.pk])
    initial = desk.get(change).context["form"].initial
    assert (initial["target"], list(initial["tables"])) == ("table:", ["Rocket 1", "Rocket 3"])
    assert [line.holds_at for line in desk.get(LIST).context["lines"]] == [["Rocket 1", "Rocket 3"]]
    assert desk.post(change, typed(target="table:Rocket 1", tables=["Rocket 3"], version="1")).status_code == 302
    newest = LimitPlan.objects.versions("Floor").first()
    assert newest is not None
    assert (newest.of, newest.tables) == ("Rocket 1", [])


@pytest.mark.usefixtures("high_stakes")
def test_misfits_are_listed_and_the_plan_applies_elsewhere_once_confirmed(desk: Client) -> None:
    """Harm: one table with other chips keeps a plan from the whole floor; or it is left out without the operator's
    knowledge."""
    page = desk.post(LIST + "add/", typed())
    assert page.context["form"].misfits.keys() == {"Rocket 2"}
    text = page.content.decode()
    assert "The plan does not fit 1 of its tables" in text
    assert "The minimum is a multiple of 100" in text
    assert '<input type="hidden" name="excluded" value="Rocket 2">' in text
    assert desk.post(LIST + "add/", typed(excluded=["Rocket 2"])).status_code == 200
    assert not LimitPlan.objects.exists()
    assert desk.post(LIST + "add/", typed(excluded=["Rocket 2"], confirm="on")).status_code == 302
    assert LimitPlan.objects.get().excluded == ["Rocket 2"]
    page = desk.get(LIST)
    assert [line.holds_at for line in page.context["lines"]] == [["Rocket 1"]]
    assert "not at Rocket 2" in page.content.decode()


@pytest.mark.usefixtures("high_stakes")
def test_a_misfit_that_was_not_shown_is_not_confirmed(desk: Client) -> None:
    """Harm: a confirmation for one table leaves out another one, which came to the floor meanwhile."""
    floor.table("Rocket 3", unit_cents=1_000, min_cents=10_000, max_cents=100_000)
    page = desk.post(LIST + "add/", typed(excluded=["Rocket 2"], confirm="on"))
    assert page.context["form"].misfits.keys() == {"Rocket 2", "Rocket 3"}
    assert not LimitPlan.objects.exists()


@pytest.mark.usefixtures("high_stakes")
def test_a_confirmed_misfit_is_taken_from_a_list_of_tables(desk: Client) -> None:
    """Harm: a plan for ten tables is a dead end since one of them has other chips."""
    several = typed(target="table:", tables=["Rocket 1", "Rocket 2"])
    assert desk.post(LIST + "add/", several).context["form"].misfits.keys() == {"Rocket 2"}
    assert desk.post(LIST + "add/", several | {"excluded": ["Rocket 2"], "confirm": "on"}).status_code == 302
    assert LimitPlan.objects.get().tables == ["Rocket 1"]
    alone = desk.post(LIST + "add/", typed(name="Alone", target="table:", tables=["Rocket 2"]))
    assert alone.context["form"].misfits == {}
    assert "multiple of 100" in str(alone.context["form"].errors["min_cents"])
