"""The rotation at a moment: reliefs that are late, tables that were retired, and alerts by time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from tables.alerts.overdue import rotation_facts
from tables.models import Staff, Table
from tables.roles import Role
from tables.rotation import board, line_ups
from tables.rotation.board import RELIEF_TIME
from tables.rotation.line_ups import Basis, LineUpChange
from tests import floor


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
