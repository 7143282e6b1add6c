"""The demo pit: seeded once, in a demo only, and such that a newcomer can deal at every table."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tables.management.commands.seed_demo import CHIPS, PASSWORD, STAFF, TABLES
from tables.models import Denomination, Staff, Table

pytestmark = pytest.mark.django_db


def test_nothing_but_a_demo_gets_logins_that_everybody_knows(settings: Any) -> None:
    """One wrong command on a real server would open it to the world."""
    settings.CASINO_ENV = "production"
    with pytest.raises(CommandError, match="only a demo"):
        call_command("seed_demo")
    assert not Staff.objects.exists()


def test_nor_a_house_that_has_staff_of_its_own(settings: Any) -> None:
    """Even if somebody calls it a demo."""
    settings.CASINO_ENV = "demo"
    Staff.objects.create_superuser("olga", name="Olga")
    with pytest.raises(CommandError, match="staff of its own"):
        call_command("seed_demo")
    assert Staff.objects.count() == 1


@pytest.mark.slow("seeds the demo")
def test_a_run_that_was_cut_short_is_finished_by_the_next(settings: Any) -> None:
    """Ctrl-C in the first seconds must not leave half a house for good."""
    settings.CASINO_ENV = "demo"
    Staff.objects.create_superuser("omar", PASSWORD, name="Omar Okafor")
    Denomination.objects.create(value_cents=CHIPS[0][0], colour=CHIPS[0][1], face=CHIPS[0][2])
    call_command("seed_demo")
    assert Staff.objects.count() == len(STAFF)
    assert Table.objects.count() == len(TABLES)
