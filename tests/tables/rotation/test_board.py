"""The rotation at a moment: reliefs that are late, tables that were retired, and alerts by time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tables.alerts.overdue import rotation_facts
from tables.models import Staff, Table
from tables.roles import Role
from tables.rotation import board, line_ups
from tables.rotation.board import ON_TIME, RELIEF_TIME
from tables.rotation.line_ups import Basis, LineUpChange
from tables.rotation.next_push import NextPush, next_push
from tests import floor
from tests.floor import Hand


@pytest.fixture
def string(db: None) -> None:
    """A string of Rocket 1, where Dora deals, and Rocket 2, closed; Dan is on a break, and his push is called."""
    floor.dealt()
    floor.table("Rocket 2")
    floor.staff(Role.DEALER, "dan", "102")
    moment = timezone.now()
    change = LineUpChange(
        string="A",
        tables=("Rocket 1", "Rocket 2"),
        dealers=("dora", "", "dan"),
        turn_minutes=20,
        push_at=moment,
        ends=moment + timedelta(hours=8),
    )
    bella = Staff.objects.get(username="bella")
    line_ups.set_line_up(change, by=bella, basis=Basis(0))
    line_ups.push("A", by=bella, basis=line_ups.of_string("A").basis)


def test_a_relief_is_late_some_minutes_after_the_push(string: None) -> None:
    """Harm: each push turns the whole page amber, and a relief that really is late is overlooked."""
    moment = line_ups.of_string("A").line_up.at
    early, late = (board.board(moment + wait).strings[0].places[0] for wait in (timedelta(minutes=1), RELIEF_TIME))
    assert (early.dealing, early.awaits_relief, early.is_late) == ("Dora", True, False)
    assert (late.awaits_relief, late.is_late) == (True, True)


def test_a_retired_table_is_no_break(string: None) -> None:
    """Harm: the page shows a dealer on a break whose table was retired."""
    Table.objects.filter(name="Rocket 2").update(retired_at=timezone.now())
    shown = board.board().strings[0]
    assert [(place.where, place.is_retired, place.is_gap) for place in shown.places] == [
        ("Rocket 1", False, False),
        ("Rocket 2", True, False),
    ]
    assert len(shown.breaks) == 1


def test_a_dealer_who_deals_for_days_raises_no_alert_each_minute(string: None) -> None:
    """Harm: one forgotten sign-out floods the alerts with a new one each minute."""
    noon = (timezone.now() + timedelta(days=2)).replace(hour=12)
    causes = {
        fact.cause
        for wait in (timedelta(), timedelta(minutes=1), timedelta(minutes=2))
        for fact in rotation_facts(noon + wait)
        if fact.about == "break_overdue"
    }
    assert causes == {f"dora {noon:%Y-%m-%d}"}


def test_a_string_without_an_open_table_raises_no_alert_about_its_push(string: None) -> None:
    """Harm: each night the push of a string whose tables are closed is overdue, and such alerts are acknowledged
    unread."""
    later = timezone.now() + timedelta(hours=1)

    def overdue() -> list[str]:
        return [fact.cause for fact in rotation_facts(later) if fact.about == "push_overdue"]

    assert len(overdue()) == 1
    table, bella = Table.objects.get(name="Rocket 1"), Staff.objects.get(username="bella")
    Hand(table, Staff.objects.get(username="dora"))("sign_out")
    Hand(table, bella)("close_table")
    assert overdue() == []
    asleep = board.board(later).strings[0]
    assert (asleep.is_dormant, asleep.late) == (True, timedelta())
    Hand(table, bella)("open_table")
    assert len(overdue()) == 1


def test_a_push_before_its_time_is_early_by_the_time_that_is_left(string: None) -> None:
    """Harm: a push is confirmed each time, a minute after it was due too, and the question is no longer read."""
    push_at = line_ups.of_string("A").line_up.push_at
    early, on_time, late = (
        board.board(push_at + wait).strings[0] for wait in (-timedelta(minutes=7), -ON_TIME / 2, ON_TIME)
    )
    assert (early.early, early.asks) == (timedelta(minutes=7), True)
    assert not on_time.asks
    assert not late.asks


# --- The dealer's own next push --------------------------------------------------------------------------------


def test_a_dealer_sees_who_comes_and_the_next_table(string: None) -> None:
    """Harm: a dealer does not know when the relief comes, and looks around for it in the middle of a hand."""
    line_up = line_ups.of_string("A").line_up
    assert line_up.dealers == ("dan", "dora", "")
    called = next_push("Rocket 1", "dora")
    assert called == NextPush(line_up.push_at, "Dan", awaits_relief=True, is_placed=True, table="Rocket 2")
    floor.relieve(Table.objects.get(name="Rocket 1"), Staff.objects.get(username="dan"))
    assert next_push("Rocket 1", "dan") == NextPush(
        line_up.push_at, "", awaits_relief=False, is_placed=True, table="Rocket 2"
    )
    assert next_push("Rocket 2", "dora") == NextPush(
        line_up.push_at, "Dan", awaits_relief=False, is_placed=True, table=""
    )
    assert next_push("Rocket 9", "dora") is None


def test_a_dealer_who_covers_sees_the_dealer_of_the_position(string: None) -> None:
    """Harm: a dealer who covers for some minutes is sent to a table of a string in which they have no position."""
    floor.staff(Role.DEALER, "dina", "103")
    cover = next_push("Rocket 1", "dina")
    assert cover is not None
    assert (cover.relief, cover.awaits_relief, cover.is_placed) == ("Dan", True, False)
