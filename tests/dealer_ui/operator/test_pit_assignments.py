"""The grid of pit bosses and pits, as an operator sends it."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from tables.log.entries.pits import PitSectionSet
from tables.models import Post, Staff
from tables.roles import Role
from tables.setup import pits
from tests import floor

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def boss() -> Staff:
    return floor.staff(Role.PIT_BOSS, "bella", "201")


@pytest.fixture
def desk(boss: Staff) -> Client:
    """An operator at the grid of two pits."""
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    for number in (1, 2):
        floor.table(f"Rocket {number}")
        pits.set_section(PitSectionSet(pit=f"Pit {number}", tables=(f"Rocket {number}",)), by=olga)
    return floor.client(olga)


def row(boss: Staff, *ticked: str, was: str = "[]", seen: int = 0) -> dict[str, Any]:
    """The fields of a person's row as a browser sends them."""
    return {f"post-{boss.pk}": ticked, f"was-{boss.pk}": was, f"seen-{boss.pk}": seen}


def test_the_row_that_the_page_shows_is_the_one_that_is_saved(desk: Client, boss: Staff) -> None:
    """Harm: an operator's tick is lost, or a form sent back unchanged writes an entry."""
    assert desk.post(reverse("posts"), row(boss, "Pit 2")).status_code == 302
    newest = Post.objects.get()
    assert (newest.username, newest.pits) == ("bella", ["Pit 2"])
    page = desk.get(reverse("posts")).content.decode()
    assert f'name="seen-{boss.pk}" value="{newest.seq}"' in page
    assert "[&quot;Pit 2&quot;]" in page
    unchanged = row(boss, "Pit 2", was='["Pit 2"]', seen=newest.seq)
    answer = desk.post(reverse("posts"), unchanged)
    assert answer.status_code == 422
    assert "Tick or untick a box first" in answer.content.decode()
    assert desk.post(reverse("posts"), row(boss, "*", was='["Pit 2"]', seen=newest.seq)).status_code == 302
    assert Post.objects.latest("seq").whole_floor


def test_a_stale_row_is_refused_and_keeps_its_ticks(desk: Client, boss: Staff) -> None:
    """Harm: of two operators the second one undoes the assignment of the first, or has to tick all boxes again."""
    desk.post(reverse("posts"), row(boss, "Pit 2"))
    answer = desk.post(reverse("posts"), row(boss, "Pit 1"))
    assert answer.status_code == 409
    ticked = {shown.runner.person.username: shown.ticked for shown in answer.context["rows"]}
    assert ticked["bella"] == {"Pit 1"}
    assert Post.objects.get().pits == ["Pit 2"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"effective": "soon"}, "Say from when as 2026-01-31 18:00"),
        ({"effective": "0001-01-01 00:00"}, "Say from when as 2026-01-31 18:00"),
    ],
)
def test_an_invalid_moment_saves_nothing(desk: Client, boss: Staff, fields: dict[str, str], sentence: str) -> None:
    """Harm: an assignment for tomorrow takes effect now because its date was mistyped."""
    answer = desk.post(reverse("posts"), row(boss, "Pit 1") | fields)
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert fields["effective"] in answer.content.decode()
    assert not Post.objects.exists()


@pytest.mark.parametrize("was", ["", "null", "{", '{"Pit 1": 1}', "[1, null]"])
def test_an_invalid_row_is_compared_with_no_boxes(desk: Client, boss: Staff, was: str) -> None:
    """Harm: a mangled hidden field is a server error, or an unticked row is saved."""
    assert desk.post(reverse("posts"), row(boss, was=was)).status_code == 422
    assert desk.post(reverse("posts"), row(boss, "Pit 9", was=was)).status_code == 422
    assert not Post.objects.exists()


def test_a_row_whose_pit_has_ended_is_not_saved_with_another_one(desk: Client, boss: Staff) -> None:
    """Harm: an operator changes the pits of one person, and a pit boss whose pit has ended may act at every table."""
    ben, olga = floor.staff(Role.PIT_BOSS, "ben", "202"), Staff.objects.get(username="olga")
    desk.post(reverse("posts"), row(boss, "Pit 2"))
    newest = Post.objects.get()
    pits.set_section(PitSectionSet(pit="Pit 2", tables=()), by=olga)
    rows = row(boss, was='["Pit 2"]', seen=newest.seq) | row(ben, "Pit 1")
    assert desk.post(reverse("posts"), rows).status_code == 302
    assert list(Post.objects.values_list("username", "pits").order_by("seq")) == [
        ("bella", ["Pit 2"]),
        ("ben", ["Pit 1"]),
    ]
