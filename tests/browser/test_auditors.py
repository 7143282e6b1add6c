"""An auditor's morning in a real browser, with a real worker: a day is proved and its bundle taken, without a shell."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.test import override_settings
from django.utils import timezone

from ledger.proof import seals
from tables.audit import day_seals
from tables.models import Staff
from tables.reports import gaming_hours
from tables.reports.gaming_hours import Calendar
from tables.roles import Role
from tests import floor
from tests.accessibility import EVERY_RULE, serious
from tests.clock import travelling
from tests.fixtures.browser import Looking
from tests.floor import dealt
from tests.layout import fits_width
from tests.processes import Served

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def aude(tmp_path: Path, transactional_db: None) -> Staff:
    """Of a house with a sealed day behind it."""
    today = Calendar((gaming_hours.default(),)).day_of(timezone.now())
    seals.make_key(tmp_path / "audit.pem")
    with override_settings(AUDIT_KEY_FILE=str(tmp_path / "audit.pem")), travelling() as clock:
        clock.stand(gaming_hours.span(today - timedelta(days=1)).start + timedelta(hours=1))
        auditor = floor.staff(Role.AUDITOR, "aude")
        dealer, _ = dealt(options={"decks": 6})
        dealer.bets(seat1=2_000)
        dealer.cards(8, 3)
        dealer.pay()
        clock.pass_until(gaming_hours.span(today).start + day_seals.GRACE)
        day_seals.seal_finished()
    return auditor


def test_a_day_is_proved_and_its_bundle_taken(aude: Staff, looking: Looking, celery_worker_process: Served) -> None:
    """Harm: whoever audits the house needs the shell of whom they audit."""
    page = looking(aude, "/pit/audit/")
    assert not serious(page, EVERY_RULE)
    page.click("#days [name=deed][value=verify]")
    page.wait_for_selector("#errands .verdict--holds", timeout=90_000)
    page.wait_for_selector("#days .verdict--holds")
    assert not serious(page, EVERY_RULE)
    page.set_viewport_size({"width": 390, "height": 844})
    assert fits_width(page)
    with page.expect_download() as taking:
        page.click("#days a[download]")
    assert taking.value.suggested_filename.startswith("audit-")
