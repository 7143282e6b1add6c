"""Protections that are off on a site that deals are named on the health page, by `doctor`, and by one alert."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import alerts, site_log
from ledger.models import Alert, AlertRepeat, LogEntry
from tables.approvals import proposals
from tables.audit import condition, protections, watch
from tables.audit.condition import Urgency
from tables.log.entries.house_terms import TermsChanged
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import policies, table_settings
from tables.setup.dual_control import BY_THE_CLOCK
from tests import floor
from tests.floor import dealt
from tests.tables.approvals.test_proposals import fault, rollback

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


def test_protections_that_are_off_are_named_once_a_table_was_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: one operator raises limits alone, or fills are forged in the database, and nothing says that the site could
    have prevented it; or an alert of it comes every day, and nobody reads any."""
    olga = floor.staff(Role.OPERATOR, "olga")
    floor.staff(Role.OPERATOR, "omar")
    assert "Protections are off" not in front_page(olga)
    assert protections.look_after() == 0, "nothing is at stake before the first table is opened"
    assert condition.CHECKS["Protections"]().state == Urgency.WELL
    dealt()
    part = condition.CHECKS["Protections"]()
    assert part.state == Urgency.WATCH
    assert all(protection.name in part.says and protection.do in part.do for protection in protections.PROTECTIONS)
    assert "one operator can raise limits" in front_page(olga).partition("desk-wrong")[2]
    assert [protections.look_after(), protections.look_after()] == [1, 0]
    alert = Alert.objects.get(kind=protections.KIND)
    assert alert.message == part.says
    assert len(alert.message) <= 300, "a change of it has no more room"

    policies.change({"two_people": True}, by=olga)
    policies.forget()
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


def front_page(operator: Staff) -> str:
    return floor.client(operator).get("/admin/").content.decode()


def dual_control_entries() -> list[LogEntry]:
    return list(LogEntry.objects.filter(book__name="house", kind="terms_changed").order_by("seq"))


def test_dual_control_turns_itself_on_when_the_first_table_is_opened(operator: Staff) -> None:
    """Harm: a site opens with the settings of its building time, and one operator doubles the maxima of ten tables."""
    floor.staff(Role.OPERATOR, "olga")
    watch.bring_into_force()
    assert dual_control_entries() == [], "before the first table is opened one person sets the site up"
    dealer, _ = dealt()
    watch.bring_into_force()
    watch.bring_into_force()
    [entry] = dual_control_entries()
    assert (entry.by, entry.content["after"]) == (BY_THE_CLOCK, {"two_people": True})
    with pytest.raises(Refused, match="takes two people"):
        table_settings.change_table(dealer.table, {"max_cents": 200_000}, by=operator)
    assert "dual control" not in Alert.objects.get(kind=protections.KIND).message
    assert fault() == ""


def test_a_site_with_one_operator_opens_and_reads_what_is_off(operator: Staff) -> None:
    """Harm: a small site cannot open; or it opens without dual control, and nothing says so until the next night."""
    dealt()
    watch.bring_into_force()
    assert dual_control_entries() == []
    assert Alert.objects.get(kind=protections.KIND).message.startswith("Off: dual control (one operator can raise")
    floor.staff(Role.OPERATOR, "olga")
    watch.bring_into_force()
    assert len(dual_control_entries()) == 1, "a second operator on the day of the opening"


def test_a_site_that_chose_off_or_opened_long_ago_keeps_it(operator: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: an upgrade takes an operator's work at night out of their hands; or overrides what two people decided."""
    floor.staff(Role.OPERATOR, "olga")
    dealt()
    with rollback():
        monkeypatch.setattr(policies, "OPENING", timedelta(0))
        watch.bring_into_force()
        assert dual_control_entries() == []
        monkeypatch.undo()
    policies.change({"two_people": True}, by=operator)
    proposal = proposals.propose(policies.draft({"two_people": False}), "Too slow", by=operator)
    proposals.approve(proposal, by=Staff.objects.get(username="olga"))
    watch.bring_into_force()
    assert not policies.as_entered(timezone.now())["two_people"]
    assert "dual control" in Alert.objects.get(kind=protections.KIND).message


def test_the_watch_sets_no_other_term(operator: Staff) -> None:
    """Harm: a forged entry under the name of the system loosens the policies of a site."""
    moment = policies.spelled(timezone.now() + timedelta(seconds=5))
    event = TermsChanged(effective=moment, before={"void_second_roles": []}, after={"void_second_roles": ["security"]})
    with transaction.atomic():
        policies._enter(site_log.lock(), event, BY_THE_CLOCK)
    assert "the watch turns dual control on, and no other term" in fault()
