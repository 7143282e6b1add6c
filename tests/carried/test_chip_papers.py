"""The papers about chips, as the days of a kept house have them, by themselves: both days of them, and proved."""

from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone

from ledger.models import Book, LogEntry
from tables.audit import proofs
from tables.audit.row_comparison import compare
from tables.log.slip_types import SLIPS
from tables.roles import Role
from tests import floor
from tests.carried import chip_papers
from tests.clock import Clock


@pytest.mark.django_db
def test_both_days_hold(clock: Clock) -> None:
    """Harm: a kept house that cannot be recorded is found out on the day of a release."""
    floor.table()
    people = {
        "olga": floor.staff(Role.OPERATOR, "olga", "301"),
        "boss": floor.staff(Role.PIT_BOSS, "bella", "201"),
        "second": floor.staff(Role.PIT_BOSS, "bettina", "202"),
        "cashier": floor.staff(Role.CASHIER, "cosima", "401"),
        "carla": floor.staff(Role.CAGE_MANAGER, "carla", "403"),
        "ada": floor.staff(Role.AUDITOR, "ada", "701"),
        "dora": floor.staff(Role.DEALER, "dora", "101"),
        "guards": (floor.staff(Role.SECURITY, "silvia", "501"), floor.staff(Role.SECURITY, "stefan", "502")),
    }
    house = SimpleNamespace(**people)
    chip_papers.first_day(house)
    clock.stand(timezone.now() + timedelta(days=1))
    chip_papers.second_day(house)
    kinds = set(LogEntry.objects.values_list("kind", flat=True))
    ours = {"receipt", "destruction", "retirement", "lapse", "found", "claim", "counterfeit", "forgery"}
    due = {kind for name in ours for kind, _, _ in SLIPS[name].kinds()}
    assert due <= kinds
    for book in Book.objects.filter(head_seq__gt=0):
        assert proofs.verify(book).fault is None
    assert compare().faults == []
