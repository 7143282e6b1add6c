"""The rotation page: a string is set, filled by touch, pushed once, and the hours of its dealers are listed."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from tables.models import LineUp, Staff
from tables.roles import Role
from tests import floor
from tests.load import whole

FORM = {"string": "A", "tables": ["Rocket 1", "Rocket 2"], "turn_minutes": "20", "breaks": "1", "seq": "0"}


@pytest.fixture
def boss(db: None) -> Client:
    """Rocket 1, where Dora deals, and Rocket 2, closed; Dan and Dina are free. Bella runs the floor."""
    floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    floor.staff(Role.DEALER, "dina", "103")
    return floor.client(Staff.objects.get(username="bella"))


def set_up(boss: Client, **changes: object) -> object:
    return boss.post(reverse("pit:rotation-new"), FORM | {"first_push": "18:00"} | changes)


def basis() -> dict[str, object]:
    row = LineUp.objects.latest("seq")
    return {"string": row.string, "seq": row.seq, "push_at": row.push_at.isoformat()}


def test_a_string_is_set_and_filled_by_touch(boss: Client) -> None:
    """Harm: a pit boss types what the floor shows already, or a gap is not seen."""
    assert set_up(boss).status_code == 302
    assert LineUp.objects.get().dealers == ["dora", "", ""]
    page = boss.get(reverse("pit:rotation"), {"string": "A", "position": "1"}).content.decode()
    assert "Fill the gap with:" in page
    assert 'value="dan"' in page
    boss.post(reverse("pit:move"), basis() | {"position": "1", "dealer": "dan"})
    boss.post(reverse("pit:move"), basis() | {"position": "2", "dealer": "dora"})
    assert LineUp.objects.latest("seq").dealers == ["", "dan", "dora"]
    boss.post(reverse("pit:move"), basis() | {"position": "1", "dealer": "", "reason": "Leaves early"})
    assert LineUp.objects.latest("seq").dealers == ["", "", "dora"]


def test_a_second_press_pushes_nothing(boss: Client) -> None:
    """Harm: a double click pushes a string twice."""
    set_up(boss)
    seen = basis()
    assert boss.post(reverse("pit:push"), seen).status_code == 302
    again = boss.post(reverse("pit:push"), seen)
    assert (again.status_code, b'data-code="moved_on"' in again.content) == (409, True)
    assert LineUp.objects.filter(pushed=True).count() == 1


@pytest.mark.parametrize("changes", [{"string": ""}, {"turn_minutes": "7"}, {"tables": ["Rocket 9"]}, {"breaks": "-1"}])
def test_a_set_up_that_cannot_be_is_refused_at_its_field(boss: Client, changes: dict[str, object]) -> None:
    """Harm: a wrong field is silently replaced, and the floor rotates otherwise than the pit boss believes."""
    answer = set_up(boss, **changes)
    assert answer.status_code == 422
    assert list(answer.context["form"].errors) == list(changes)
    assert not LineUp.objects.exists()


@pytest.mark.parametrize("address", ["pit:push", "pit:move", "pit:rotation-end"])
def test_nonsense_is_refused_in_words(boss: Client, address: str) -> None:
    """Harm: a form with a missing field crashes the page, or changes a line-up that was not seen."""
    set_up(boss)
    before = LineUp.objects.count()
    for facts in (
        {},
        {"string": "A"},
        {"string": "A", "seq": "x", "position": "1"},
        {"string": "Z", "seq": "1", "position": "99"},
    ):
        assert boss.post(reverse(address), facts).status_code in (409, 422)
    assert LineUp.objects.count() == before


def test_a_dealer_changes_nothing(boss: Client) -> None:
    """Harm: a dealer pushes the string to get away from a table."""
    set_up(boss)
    dora = floor.client(Staff.objects.get(username="dora"))
    assert dora.post(reverse("pit:push"), basis()).status_code == 403


def test_the_hours_of_a_day_are_listed_and_exported(boss: Client) -> None:
    """Harm: who had no break is not to be found the next morning."""
    page = boss.get(reverse("pit:dealer-hours"))
    assert b"Dora" in page.content
    lines = whole(boss.get(reverse("pit:dealer-hours-csv"))).decode("utf-8-sig").splitlines()
    assert lines[0].startswith("username,name,tables,minutes_dealt")
    assert lines[1].startswith("dora,Dora,Rocket 1")


@pytest.mark.parametrize("name", ["A/B", "<script>alert(1)</script>", "Ä 1 %2F?#"])
def test_a_string_of_any_name_is_shown_and_set_up(boss: Client, name: str) -> None:
    """Harm: a slash in the name of one string takes the rotation page from every pit boss."""
    assert set_up(boss, string=name).status_code == 302
    page = boss.get(reverse("pit:rotation"))
    assert page.status_code == 200
    assert b"<script>alert" not in page.content
    form = boss.get(reverse("pit:rotation-set", args=[name])).context["form"]
    assert form.initial["string"] == name


def test_a_dealer_is_moved_from_the_page_of_a_refused_push(boss: Client) -> None:
    """Harm: after a refused push, each touch of a dealer leads to an error page."""
    set_up(boss)
    seen = basis()
    boss.post(reverse("pit:push"), seen)
    page = boss.post(reverse("pit:push"), seen).content.decode()
    assert f'href="{reverse("pit:rotation")}?string=A' in page
    assert 'href="?' not in page
