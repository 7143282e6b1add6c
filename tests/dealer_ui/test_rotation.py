"""The rotation page: a string is set, filled by touch, pushed once, and the hours of its dealers are listed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from dealer_ui.pit.rotation import forms
from tables.models import LineUp, Staff, Table
from tables.roles import Role
from tables.rotation import line_ups
from tables.rotation.line_ups import Basis, LineUpChange
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


def soon() -> str:
    """The clock time of a push within the shift."""
    return f"{timezone.localtime(timezone.now() + timedelta(minutes=15)):%H:%M}"


def set_up(boss: Client, **changes: object) -> Any:
    return boss.post(reverse("pit:rotation-new"), FORM | {"first_push": soon()} | changes)


def basis() -> dict[str, object]:
    row = LineUp.objects.latest("seq")
    return {"string": row.string, "seq": row.seq, "push_at": row.push_at.isoformat()}


def test_a_string_is_set_and_filled_by_touch(boss: Client) -> None:
    """Harm: a pit boss types what the floor shows already, or a gap is not seen."""
    answer = set_up(boss)
    assert (answer.status_code, answer.url) == (302, f"{reverse('pit:rotation')}?string=A&position=1#move")
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
        basis() | {"position": "99", "dealer": "dan"},
        basis() | {"position": "-1", "dealer": "dan"},
        basis() | {"position": "1" * 5_000, "seq": "9" * 5_000},
        basis() | {"string": "A\x00", "position": "1", "push_at": "0001-01-01T00:00"},
        basis() | {"push_at": "9999-12-31T23:59:59-12:00", "position": "1"},
    ):
        if facts.get("position") in ("99", "-1") and address != "pit:move" and facts["string"] == "A":
            continue
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


def test_a_set_up_on_a_line_up_that_a_tap_moved_on_is_refused(boss: Client) -> None:
    """Harm: a relief taps in while the set-up is on the screen, and saving it sets the push back: it comes twice."""
    set_up(boss)
    for position, dealer in (("1", "dan"), ("2", "dina")):
        boss.post(reverse("pit:move"), basis() | {"position": position, "dealer": dealer})
    row = LineUp.objects.latest("seq")
    change = LineUpChange(
        string="A", tables=tuple(row.tables), dealers=tuple(row.dealers), turn_minutes=20,
        push_at=timezone.now(), ends=row.ends,
    )  # fmt: skip
    line_ups.set_line_up(change, by=Staff.objects.get(username="bella"), basis=Basis(row.seq))
    address = reverse("pit:rotation-set", args=["A"])
    shown = boss.get(address).context["form"].initial
    floor.relieve(Table.objects.get(name="Rocket 1"), Staff.objects.get(username="dina"))
    before = LineUp.objects.count()
    answer = boss.post(address, FORM | {"first_push": soon(), "seq": shown["seq"], "push_at": shown["push_at"]})
    assert (answer.status_code, LineUp.objects.count()) == (422, before)
    assert b"has moved on already" in answer.content


def test_a_string_keeps_its_name_and_names_the_strings_of_other_tables(boss: Client) -> None:
    """Harm: a string is set up under another name, and its tables and dealers are refused as those of the first."""
    set_up(boss, tables=["Rocket 1"])
    answer = boss.post(reverse("pit:rotation-set", args=["A"]), FORM | basis() | {"string": "B", "first_push": soon()})
    assert (answer.status_code, LineUp.objects.latest("seq").string) == (302, "A")
    page = boss.get(reverse("pit:rotation-new")).content.decode()
    assert "Rocket 1, in string A" in page
    again = set_up(boss, tables=["Rocket 2"])
    assert b"There is a string A already" in again.content


def test_a_dealer_who_may_not_be_placed_leaves_a_gap_in_a_set_up(boss: Client) -> None:
    """Harm: one dealer who was deactivated or has another string keeps the pit boss from setting up any."""
    set_up(boss, tables=["Rocket 2"], string="B")
    boss.post(reverse("pit:move"), basis() | {"position": "0", "dealer": "dora"})
    assert set_up(boss, tables=["Rocket 1"]).status_code == 302
    assert LineUp.objects.latest("seq").dealers == ["", ""]
    boss.post(reverse("pit:move"), basis() | {"position": "0", "dealer": "dan"})
    Staff.objects.filter(username="dan").update(is_active=False)
    boss.post(reverse("pit:rotation-set", args=["A"]), FORM | basis() | {"tables": ["Rocket 1"], "first_push": soon()})
    assert LineUp.objects.latest("seq").dealers == ["", ""]


@override_settings(TIME_ZONE="Europe/Zurich")
def test_a_push_before_midnight_stays_on_its_day() -> None:
    """Harm: a string set up anew after midnight has its next push a day later, and no push is called all night."""
    moment = datetime(2026, 11, 28, 23, 10, tzinfo=UTC)  # 0:10 on the 29th
    assert forms._next_at(time(23, 55), moment).astimezone(UTC) == datetime(2026, 11, 28, 22, 55, tzinfo=UTC)
    assert forms._next_at(time(0, 30), moment).astimezone(UTC) == datetime(2026, 11, 28, 23, 30, tzinfo=UTC)
    assert forms._next_at(time(20), moment).astimezone(UTC) == datetime(2026, 11, 29, 19, tzinfo=UTC)


@override_settings(TIME_ZONE="Europe/Zurich")
def test_the_next_push_is_right_when_the_clocks_change() -> None:
    """Harm: in the night of a change of the clocks, a push is due an hour too early or too late."""
    spring = datetime(2026, 3, 29, 0, 50, tzinfo=UTC)  # 1:50; at 2:00 it is 3:00
    assert forms._next_at(time(3, 10), spring).astimezone(UTC) == datetime(2026, 3, 29, 1, 10, tzinfo=UTC)
    autumn = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # 2:10 for the second time
    assert forms._next_at(time(2, 30), autumn).astimezone(UTC) == datetime(2026, 10, 25, 1, 30, tzinfo=UTC)
    assert forms._next_at(time(3), autumn).astimezone(UTC) == datetime(2026, 10, 25, 2, tzinfo=UTC)


def pushed(boss: Client) -> Any:
    """String A with a push that is due now, after its first push."""
    set_up(boss)
    due_now()
    return boss.post(reverse("pit:push"), basis(), follow=True)


def due_now() -> None:
    """String A as it is, with its push due now."""
    row = LineUp.objects.latest("seq")
    change = LineUpChange(
        string="A", tables=tuple(row.tables), dealers=tuple(row.dealers), turn_minutes=20,
        push_at=timezone.now(), ends=row.ends,
    )  # fmt: skip
    line_ups.set_line_up(change, by=Staff.objects.get(username="bella"), basis=Basis(row.seq))


def test_a_push_before_its_time_is_confirmed(boss: Client) -> None:
    """Harm: one touch of the wrong button sends every dealer of a string to the next table twelve minutes early."""
    set_up(boss)
    page = boss.get(reverse("pit:rotation")).content.decode()
    assert f'action="{reverse("pit:push")}"' not in page
    question = boss.get(reverse("pit:rotation"), {"string": "A", "push": "1"}).content.decode()
    assert f'href="{reverse("pit:rotation")}?string=A&amp;push=1#push"' in page
    assert "This push is due at" in question
    assert 'id="push" role="group" tabindex="-1" autofocus' in question
    assert f'action="{reverse("pit:push")}"' in question
    assert "Push A now" in question


def test_a_push_in_time_takes_one_touch(boss: Client) -> None:
    """Harm: a question before every push is answered without being read."""
    set_up(boss)
    due_now()
    page = boss.get(reverse("pit:rotation")).content.decode()
    assert f'action="{reverse("pit:push")}"' in page
    assert "push=1#push" not in page


def test_a_push_is_taken_back_from_the_page_until_something_follows(boss: Client) -> None:
    """Harm: the way back from a mistaken push is offered after a dealer has followed it, or not at all."""
    address = reverse("pit:take-back")
    page = pushed(boss)
    assert f'action="{address}"'.encode() in page.content
    seen = basis()
    answer = boss.post(address, seen, follow=True)
    assert b"The push is taken back" in answer.content
    assert f'action="{address}"'.encode() not in answer.content
    assert LineUp.objects.latest("seq").dealers == ["dora", "", ""]
    again = boss.post(address, seen)
    assert (again.status_code, b'data-code="moved_on"' in again.content) == (409, True)


def test_a_sleeping_string_is_grey_and_offers_no_push(boss: Client) -> None:
    """Harm: a string whose tables are closed is amber all night."""
    set_up(boss, tables=["Rocket 2"])
    due_now()
    page = boss.get(reverse("pit:rotation")).content.decode()
    assert "string--dormant" in page
    assert "All its tables are closed: no push is due until one opens." in page
    assert "Push A" not in page


def test_a_dealer_without_a_certificate_is_named_before_the_push(boss: Client, terms: Callable[..., None]) -> None:
    """Harm: the pit boss learns of a certificate that has ended when the relief is refused at the table."""
    set_up(boss)
    boss.post(reverse("pit:move"), basis() | {"position": "1", "dealer": "dan"})
    boss.post(reverse("pit:move"), basis() | {"position": "2", "dealer": "dina"})
    due_now()
    terms(certificate_games=("rocket",))
    page = boss.get(reverse("pit:rotation")).content.decode()
    assert "push=1#push" in page
    refused = boss.post(reverse("pit:push"), basis())
    content = refused.content.decode()
    assert (refused.status_code, 'data-code="not_certified"' in content) == (409, True)
    assert "Push A without Dora, Dina" in content
    assert "Replace Dina" in content
    assert LineUp.objects.filter(pushed=True).count() == 0
    answer = boss.post(reverse("pit:push"), basis() | {"without": ["dora", "dina"]})
    assert (answer.status_code, answer.url) == (302, f"{reverse('pit:rotation')}?string=A&position=0#move")
    assert LineUp.objects.latest("seq").dealers == ["", "", "dan"]


def test_a_dealer_without_a_certificate_is_not_offered_for_a_table(boss: Client, terms: Callable[..., None]) -> None:
    """Harm: the dealer whose certificate has ended is offered for the gap that they left."""
    set_up(boss)
    boss.post(reverse("pit:move"), basis() | {"position": "1", "dealer": "dan"})
    terms(certificate_games=("rocket",))
    gap = boss.get(reverse("pit:rotation"), {"string": "A", "position": "1"}).content.decode()
    assert 'value="dora"' not in gap
    a_break = boss.get(reverse("pit:rotation"), {"string": "A", "position": "2"}).content.decode()
    assert 'value="dora"' in a_break


def test_names_of_dealers_that_a_browser_invents_leave_no_dealer_out(boss: Client) -> None:
    """Harm: a request names any dealer, and the push takes them out of the line-up."""
    set_up(boss)
    boss.post(reverse("pit:push"), basis() | {"without": ["dora", "x\x00", "y" * 5_000]})
    assert LineUp.objects.latest("seq").dealers == ["", "dora", ""]
