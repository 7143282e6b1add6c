"""Protections that are off on a site that deals are named on the health page, by `doctor`, and by one alert."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ledger import alerts
from ledger.models import Alert, AlertRepeat
from tables.audit import condition, protections
from tables.audit.condition import State
from tables.roles import Role
from tables.setup import house_terms
from tests import floor
from tests.floor import dealt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


def test_protections_that_are_off_are_named_once_a_table_was_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: one operator raises limits alone, or fills are forged in the database, and nothing says that the site could
    have prevented it; or an alert of it comes every day, and nobody reads any."""
    olga = floor.staff(Role.OPERATOR, "olga")
    floor.staff(Role.OPERATOR, "omar")
    assert protections.look_after() == 0, "nothing is at stake before the first table is opened"
    assert condition.CHECKS["Protections"]().state == State.WELL
    dealt()
    part = condition.CHECKS["Protections"]()
    assert part.state == State.WATCH
    assert all(protection.name in part.says and protection.do in part.do for protection in protections.PROTECTIONS)
    assert [protections.look_after(), protections.look_after()] == [1, 0]
    alert = Alert.objects.get(kind=protections.KIND)
    assert alert.message == part.says
    assert len(alert.message) <= 300, "a change of it has no more room"

    house_terms.change({"two_people": True}, by=olga)
    house_terms.forget()
    assert [protections.look_after(), protections.look_after()] == [0, 0]
    [repeat] = AlertRepeat.objects.filter(alert=alert)
    assert repeat.says.startswith("Off: signatures bound to terminals")

    alerts.acknowledge(alert, "301 Olga", "The witness comes in May")
    assert protections.look_after() == 0
    monkeypatch.setattr(protections, "REMINDER", timedelta(0))
    assert protections.look_after() == 1
    monkeypatch.setattr(protections, "PROTECTIONS", ())
    assert protections.look_after() == 0
    assert AlertRepeat.objects.get(alert__acknowledgement=None).says == "Every protection is on."
