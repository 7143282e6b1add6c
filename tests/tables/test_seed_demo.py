"""The demo pit: seeded once, in a demo only, and such that a newcomer can deal at every table."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ledger.models import LogEntry
from tables.management.commands.seed_demo import CHIPS, PASSWORD, STAFF, TABLES
from tables.models import Denomination, ServiceAccount, Staff, Table

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


@pytest.mark.slow("seeds the demo twice")
def test_a_second_run_keeps_what_was_changed_since(settings: Any) -> None:
    """Whoever plays with a demo for a week wants it as it was."""
    settings.CASINO_ENV = "demo"
    call_command("seed_demo", stdout=StringIO())
    before = LogEntry.objects.exclude(subject="terminal").count()
    Table.objects.filter(name="Rocket 1").update(min_cents=2_000)
    call_command("seed_demo")
    assert LogEntry.objects.exclude(subject="terminal").count() == before
    assert Table.objects.get(name="Rocket 1").min_cents == 2_000
    assert (Staff.objects.count(), Table.objects.count(), Denomination.objects.count()) == (len(STAFF), len(TABLES), 6)


@pytest.mark.slow("seeds the demo twice")
def test_a_run_that_was_cut_short_is_finished_by_the_next(settings: Any) -> None:
    """Ctrl-C in the first seconds must not leave half a house for good."""
    settings.CASINO_ENV = "demo"
    Staff.objects.create_superuser("omar", PASSWORD, name="Omar Okafor")
    Denomination.objects.create(value_cents=CHIPS[0][0], colour=CHIPS[0][1], face=CHIPS[0][2])
    call_command("seed_demo")
    assert Staff.objects.count() == len(STAFF)
    assert Table.objects.count() == len(TABLES)


@pytest.mark.slow("seeds the demo twice")
def test_the_reader_of_the_demo_has_one_table_one_token_and_no_more(settings: Any, tmp_path: Path) -> None:
    """Harm: each start of a demo makes another token, until there are too many; or the token is anybody's to read."""
    from casino.demo_house import card_reader

    settings.CASINO_ENV = "demo"
    call_command("seed_demo", stdout=StringIO())
    token_file = tmp_path / "reader-token"
    table = card_reader.prepare(token_file)
    token = token_file.read_text()
    assert card_reader.prepare(token_file) == table
    assert (token_file.read_text(), oct(token_file.stat().st_mode)[-3:]) == (token, "600")
    account = ServiceAccount.objects.get()
    assert (account.scopes, account.tables, account.tokens.count()) == (["enter:cards"], [table.name], 1)
