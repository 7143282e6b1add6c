"""Posts over two sealed days, exported: an outsider names who ran a pit that was not theirs, from either day alone."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from tables.floor import inputs, recorder
from tables.log.entries.pits import PitSectionSet
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import pit_assignments, pits
from tables.setup.pit_assignments import AssignmentChange
from tables.staff import staffing
from tests import floor
from tests.tables.audit.sealed_days import SealedDays, refusal, verified
from tests.tables.bundles import ONE, TWO

pytestmark = [pytest.mark.django_db, pytest.mark.slow("seals two days")]


def two_pits() -> tuple[Table, Staff]:
    """Set up two pits of one table each, assign Bella to Pit 2 and rename her. Return the table of Pit 1, and Bella."""
    rocket1, rocket2 = floor.dealt(options={"decks": 6})[0].table, floor.table("Rocket 2")
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    for pit, table in (("Pit 1", rocket1), ("Pit 2", rocket2)):
        pits.set_section(PitSectionSet(pit=pit, tables=(table.name,)), by=olga)
    pit_assignments.set_post(AssignmentChange("bella", ("Pit 2",)), by=olga)
    staffing.change_staff(Staff.objects.get(username="bella"), {"name": "Bella Bauer"}, by=olga)
    return rocket1, Staff.objects.get(username="bella")


def test_an_outsider_holds_each_act_against_the_posts_of_its_own_moment(
    days: SealedDays, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: posts bind nobody whom the house itself does not watch; or an honest cover is called misconduct, or what
    the day before said of posts is lost overnight."""
    rocket1, bella = two_pits()
    days.clock.pass_until(timezone.now() + timedelta(minutes=1))
    pit_assignments.take_over("Pit 1", timezone.now() + timedelta(hours=1), "Ann is ill", by=bella)
    lock = inputs.LockRack("A quarrel")
    recorder.record(rocket1, lock, by=bella, key=uuid.uuid4(), expected_seq=None)
    days.end(ONE)
    assert any(line.startswith("holds  the posts: ") for line in verified(days.bundle(ONE)))
    with monkeypatch.context() as past:
        past.setattr(pit_assignments, "refuse_any", lambda *_: None)
        unlock = inputs.UnlockRack("It is over", second=floor.staff(Role.SECURITY, "sid", "401").username)
        recorder.record(rocket1, unlock, by=bella, key=uuid.uuid4(), expected_seq=None)
    days.end(TWO)
    sentence = "bella ran the floor at Rocket 1 in Pit 1, which was no pit of theirs then"
    assert refusal(days.bundle(TWO)).what.endswith(sentence)
