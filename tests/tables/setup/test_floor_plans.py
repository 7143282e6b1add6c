"""The drawn plan of a pit: what may be drawn, by whom, and that two who draw at once are told."""

from __future__ import annotations

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tables.log.entries.pits import FloorPlanDrawn, PitSectionSet
from tables.models import FloorPlan, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import floor_plans, pits, table_settings
from tests import floor
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

PLAN = "/admin/tables/pitsection/plan/"


@pytest.fixture
@ready_made
def olga() -> Staff:
    for number in (1, 2, 3):
        floor.table(f"Rocket {number}")
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    pits.set_section(PitSectionSet(pit="Pit 1", tables=("Rocket 1", "Rocket 2")), by=olga)
    return olga


def drawn(**spots: tuple[int, int]) -> FloorPlanDrawn:
    return FloorPlanDrawn(pit="Pit 1", spots={name.replace("_", " "): spot for name, spot in spots.items()})


@pytest.mark.parametrize(
    ("spots", "sentence"),
    [
        ({"Rocket_1": (-1, 0)}, "off the plan"),
        ({"Rocket_1": (0, 99)}, "off the plan"),
        ({"Rocket_3": (0, 0)}, "does not stand in Pit 1"),
        ({"Rocket_1": (0, 0), "Rocket_2": (3, 2)}, "stands upon"),
    ],
)
def test_what_no_floor_can_be_is_refused(olga: Staff, spots: dict[str, tuple[int, int]], sentence: str) -> None:
    """Harm: two tables in one place, of which one is never seen again."""
    with pytest.raises(Refused, match=sentence):
        floor_plans.draw(drawn(**spots), basis_seq=0, by=olga)
    assert not FloorPlan.objects.exists()


def test_of_two_who_draw_at_once_the_second_is_told_and_keeps_what_they_arranged(olga: Staff) -> None:
    """Harm: the second save undoes the first without a word, or throws away an hour of arranging."""
    browser, keys = floor.client(olga), dict(Table.objects.values_list("name", "pk"))
    saved_form = {f"x-{keys['Rocket 1']}": "5", f"y-{keys['Rocket 1']}": "5", "seen": "0"}
    late_form = {f"x-{keys['Rocket 1']}": "9", f"y-{keys['Rocket 1']}": "9", "seen": "0"}
    assert browser.post(PLAN, saved_form).status_code == 302
    answer = browser.post(PLAN, late_form)
    assert answer.status_code == 409
    page = answer.content.decode()
    assert "drew Pit 1 meanwhile" in page
    assert "9 from the left, 9 from the top" in page
    assert floor_plans.newest("Pit 1").spots["Rocket 1"] == [5, 5]  # type: ignore[union-attr]
    version = page.partition('name="seen" value="')[2].partition('"')[0]
    assert browser.post(PLAN, late_form | {"seen": version}).status_code == 302
    assert browser.post(PLAN, {"seen": "x", f"x-{keys['Rocket 1']}": "١"}).status_code == 409


def test_a_pit_has_a_plan_before_anybody_draws_one_and_tables_that_left_are_on_none(olga: Staff) -> None:
    """Harm: an empty plan; or a table that moved to another pit is drawn in both."""
    assert floor_plans.spots_of({}, ["Rocket 1", "Rocket 2"]) == {"Rocket 1": (0, 0), "Rocket 2": (5, 0)}
    assert floor_plans.spots_of({"Rocket 1": [4, 0], "Rocket 9": [0, 0]}, ["Rocket 2", "Rocket 1"]) == {
        "Rocket 1": (4, 0),
        "Rocket 2": (0, 0),
    }
    assert len(floor_plans.spots_of({}, [f"Rocket {number}" for number in range(100)])) == 100


def test_who_watches_the_floor_sees_the_plan_and_only_an_operator_draws(olga: Staff) -> None:
    """Harm: a pit boss moves tables on the plan; or names run as scripts in a drawing."""
    script = table_settings.create_table("<script>1", table_settings.settings_of(Table.objects.all()[0]), by=olga)
    pits.set_section(PitSectionSet(pit="<b>Pit 2", tables=(script.name,)), by=olga)
    boss = floor.staff(Role.PIT_BOSS, "bella", "209")
    page = floor.client(boss).get(reverse("pit:plan")).content.decode()
    assert "Rocket 1: Closed" in page
    assert "No pit" in page  # Rocket 3 stands nowhere
    assert "<script>1" not in page
    assert "<b>Pit" not in page
    assert "Arrange" not in page
    assert floor.client(floor.staff(Role.AUDITOR, "ada")).post(PLAN, {"seen": "0"}).status_code == 403
    text = floor.client(boss).get(reverse("pit:plan"), {"pit": "Pit 1"}).content.decode()
    assert "Rocket 3:" not in text
    assert json.dumps("Rocket 1")[1:-1] in text


def test_the_plan_costs_the_same_for_more_tables(olga: Staff) -> None:
    """Harm: the pit's picture of the floor asks the database for each table."""
    browser, settings = floor.client(olga), table_settings.settings_of(Table.objects.all()[0])
    counts = []
    for number in (4, 5):
        table_settings.create_table(f"Rocket {number}", settings, by=olga)
        browser.get(reverse("pit:plan"))
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(reverse("pit:plan")).status_code == 200
        counts.append(len(captured))
    assert counts[0] == counts[1]
