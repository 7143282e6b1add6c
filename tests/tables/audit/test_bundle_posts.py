"""Posts over two sealed days, exported: an outsider names who ran a pit that was not theirs, from either day alone."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import timezone

from ledger.proof import seals
from tables import dealing, inputs
from tables.audit import sealing
from tables.audit.outside import verifier
from tables.audit.outside.bundle import Wrong
from tables.day import hours
from tables.log.entries.pits import PitSectionSet
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import pits, posts
from tables.setup.posts import Wanted
from tables.staff import staffing
from tests import floor
from tests.clock import Clock, travelling
from tests.tables.bundles import ONE, TWO, exported

pytestmark = pytest.mark.django_db(transaction=True)


def lock(table: Table, by: str) -> None:
    """Somebody locks the rack, or unlocks it where it is locked."""
    person = Staff.objects.get(username=by)
    dealing.record(table, inputs.LockRack("A quarrel"), by=person, key=uuid.uuid4(), expected_seq=None)


@pytest.fixture
def days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Bella is given Pit 2 on the first day, is called otherwise, and covers Pit 1 for an hour. On the second day
    somebody writes past the rule in her name at a table of Pit 1."""
    key_file = tmp_path / "audit.pem"
    seals.make_key(key_file)
    with override_settings(AUDIT_KEY_FILE=str(key_file)), travelling() as clock:
        rocket1, rocket2 = floor.dealt(options={"decks": 6})[0].table, floor.table("Rocket 2")
        olga = floor.staff(Role.OPERATOR, "olga", "301")
        for pit, table in (("Pit 1", rocket1), ("Pit 2", rocket2)):
            pits.set_section(PitSectionSet(pit=pit, tables=(table.name,)), by=olga)
        posts.set_post(Wanted("bella", ("Pit 2",)), by=olga)
        staffing.change_staff(Staff.objects.get(username="bella"), {"name": "Bella Bauer"}, by=olga)
        clock.pass_until(timezone.now() + timedelta(minutes=1))
        bella = Staff.objects.get(username="bella")
        posts.take_over("Pit 1", timezone.now() + timedelta(hours=1), "Ann is ill", by=bella)
        lock(rocket1, "bella")
        honest = _sealed(tmp_path / "honest.zip", clock, ONE)
        with monkeypatch.context() as past:
            past.setattr(posts, "refuse_any", lambda *_: None)
            unlock = inputs.UnlockRack("It is over", second=floor.staff(Role.SECURITY, "sid", "401").username)
            dealing.record(rocket1, unlock, by=bella, key=uuid.uuid4(), expected_seq=None)
        forged = _sealed(tmp_path / "forged.zip", clock, TWO)
        return {"honest": honest, "forged": forged}


def _sealed(path: Path, clock: Clock, day: object) -> Path:
    clock.pass_until(hours.span(day)[1] + timedelta(hours=1))  # type: ignore[arg-type]
    sealing.seal_finished()
    path.write_bytes(exported(day, day))  # type: ignore[arg-type]
    return path


def test_an_outsider_holds_each_act_against_the_posts_of_its_own_moment(days: dict[str, Path]) -> None:
    """Harm: posts bind nobody whom the house itself does not watch; or an honest cover is called misconduct, or what
    the day before said of posts is lost overnight."""
    lines: list[str] = []
    verifier.verify(days["honest"], say=lines.append)
    assert any(line.startswith("holds  the posts: ") for line in lines)
    with pytest.raises(Wrong) as wrong:
        verifier.verify(days["forged"], say=lines.append)
    assert wrong.value.what.endswith("bella ran the floor at Rocket 1 in Pit 1, which was no pit of theirs then")
