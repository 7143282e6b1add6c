"""The auditors' home: what they ask the worker for, what came of it, and who takes what out of the house."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from django.test import override_settings
from django.urls import reverse
from django.utils import timezone

from ledger.models import DayRoot, Run
from ledger.proof import seals
from tables.audit import day_seals, jobs
from tables.audit.jobs import AuditJob, JobKind
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.reports.gaming_hours import Calendar
from tables.roles import Role
from tests import floor, load
from tests.clock import travelling
from tests.floor import dealt
from tests.tables import bundles

pytestmark = [pytest.mark.django_db, pytest.mark.slow("seals two days for each test")]
TODAY = Calendar((gaming_hours.default(),)).day_of(timezone.now())
ONE, TWO = TODAY - timedelta(days=2), TODAY - timedelta(days=1)


@pytest.fixture
def key_file(tmp_path: Path) -> Iterator[Path]:
    """A house with two sealed days behind it, and a round on the first of them."""
    path = tmp_path / "audit.pem"
    seals.make_key(path)
    with override_settings(AUDIT_KEY_FILE=str(path), AUDIT_FOLDER=str(tmp_path / "audits")):
        with travelling() as clock:
            clock.stand(gaming_hours.span(ONE).start + timedelta(hours=1))
            floor.staff(Role.AUDITOR, "aude")
            dealer, _ = dealt(options={"decks": 6})
            dealer.bets(seat1=2_000)
            dealer.cards(8, 3)
            dealer.pay()
            clock.pass_until(gaming_hours.span(TODAY).start + day_seals.GRACE)
            day_seals.seal_finished()
        yield path


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test is the worker; one that another test started has another folder."""
    monkeypatch.setattr(jobs, "_send", lambda pk: None)


@pytest.fixture
def aude(key_file: Path) -> Staff:
    return Staff.objects.get(username="aude")


def asked(who: Staff, deed: str, day: date | str = "") -> str:
    """A click on a button of the page; what the page says then."""
    answer = floor.client(who).post(reverse("pit:audit-ask"), {"deed": deed, "day": str(day)}, follow=True)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def shown(who: Staff) -> str:
    return " ".join(floor.client(who).get(reverse("pit:audit")).content.decode().split())


def perform() -> None:
    """What the worker does."""
    jobs.perform(Run.objects.filter(task__startswith=jobs.PREFIX).latest("pk").pk)


def taken(who: Staff, day: date) -> bytes:
    answer = floor.client(who).get(reverse("pit:audit-bundle", args=[day]))
    assert answer.status_code == 200
    return load.whole(answer)


def test_a_day_is_verified_by_its_bundle_and_taken_with_a_note_of_who(key_file: Path, aude: Staff) -> None:
    """Harm: an auditor has to ask whoever holds the shell, who is whom they audit; or a bundle leaves unnoticed."""
    assert "Waits for the worker" in asked(aude, "verify", ONE)
    perform()
    says = shown(aude)
    assert f"Verifying {ONE}" in says
    assert f"HOLDS audit-{ONE}.zip" in says
    assert "the key that you trust" in says, "it is held against the key that the house published"
    assert taken(aude, ONE) == bundles.exported(ONE, ONE)
    [taking] = jobs.takings(5)
    assert (taking.day, taking.by) == (str(ONE), aude.signature)
    assert f"{ONE}: {aude.signature}" in shown(aude)
    assert floor.client(aude).get(reverse("pit:audit-bundle", args=[TWO])).status_code == 302, "none is kept of it"


def test_a_fault_is_said_in_red_and_alerted(key_file: Path, aude: Staff) -> None:
    """Harm: the page says that all holds while the log does not."""
    asked(aude, "verify")
    perform()
    assert "verdict--found" not in shown(aude)
    with override_settings(AUDIT_KEY_FILE=str(key_file.with_name("another.pem"))):
        asked(aude, "keys")
        perform()
    says = shown(aude)
    assert "verdict--found" in says
    assert "DOES NOT HOLD" in says
    asked(aude, "keys")
    perform()
    assert jobs.latest(1)[0].name == "holds"


def test_a_second_click_joins_and_a_dead_worker_is_said_and_replaced(key_file: Path, aude: Staff) -> None:
    """Harm: ten impatient clicks are ten proofs of the whole log; or one killed worker keeps auditors out for good."""
    run = jobs.ask(AuditJob(JobKind.VERIFY), aude.signature)
    assert jobs.ask(AuditJob(JobKind.VERIFY), aude.signature) == run
    assert "one at a time" in asked(aude, "verify", ONE)
    account = jobs.account_of(run)
    account.begun = True
    jobs._write(run, account)
    assert "Its worker is gone" in shown(aude)
    perform()
    perform()  # the broker hands it out twice: nothing is done again
    assert Run.objects.filter(task__startswith=jobs.PREFIX).count() == 1
    assert jobs.under_way() is None


def test_nobody_gets_beyond_the_sealed_days(key_file: Path, aude: Staff) -> None:
    """Harm: a form's day becomes a path of its own, or a day that goes on is exported."""
    for deed, day in (("verify", "../../etc"), ("export", ""), ("keys", ONE), ("shell", ONE), ("verify", "2026-13-40")):
        answer = floor.client(aude).post(reverse("pit:audit-ask"), {"deed": deed, "day": str(day)})
        assert answer.status_code == 404, (deed, day)
    assert "is not sealed" in asked(aude, "verify", "2020-01-01")
    assert not Run.objects.filter(task__startswith=jobs.PREFIX).exists()
    with override_settings(AUDIT_FOLDER=""), pytest.raises(Refused, match="AUDIT_FOLDER"):
        jobs.ask(AuditJob(JobKind.VERIFY), aude.signature)


def test_only_the_newest_bundles_are_kept(key_file: Path, aude: Staff, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a disk that fills up while nobody looks, and takes the house with it."""
    monkeypatch.setattr(jobs, "KEPT_BUNDLES", 1)
    for day in (ONE, TWO):
        jobs.ask(AuditJob(JobKind.EXPORT, day), aude.signature)
        perform()
    assert [path.name for path in jobs.folder().glob("*.zip")] == [f"audit-{TWO}.zip"]
    with ZipFile(BytesIO(taken(aude, TWO))) as bundle:
        assert json.loads(bundle.read("manifest.json"))["to"] == str(TWO)
    assert DayRoot.objects.count() == 2
