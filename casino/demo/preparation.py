"""`python -m casino.demo.preparation`: prepares the demo's database in one process, from the migrations to the logins.

It prints each step on a line of its own, and the logins after the line LOGINS.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any, Final

import django

from casino.embedded import servers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402

from casino.database_address import settings_of  # noqa: E402
from casino.demo import clock, more_tables, rotation, site_history, witness  # noqa: E402
from casino.demo.founding import make_key  # noqa: E402
from casino.demo.recording import Damaged  # noqa: E402
from tables.audit import keys  # noqa: E402
from tables.management.commands import seed_demo  # noqa: E402
from tables.models import Staff  # noqa: E402

MIGRATED: Final = "The database is migrated"
LOGINS: Final = "Logins:"
PATIENCE: Final = 60
"""Seconds that the servers may take to start."""


def prepare(options: argparse.Namespace) -> str:
    """Carry out the missing steps; returns the logins. Raises Damaged."""
    if options.folder:
        _await_servers(servers.ServerSet(options.folder))
    if not options.is_migrated:
        say("Migrating the database")
        with as_owner():
            call_command("migrate", verbosity=0)
    say(MIGRATED)
    if options.past:
        site_history.make(options.days, options.seed, say, is_dealt=options.deal)
    call_command("pepper", stdout=StringIO())
    say("Seeding the pit")
    logins = StringIO()
    call_command("seed_demo", "--address", options.address, stdout=logins)
    rotation.set_up()
    if options.tables:
        say(f"Opening tables until there are {options.tables}")
        more_tables.add(options.tables, Staff.objects.get(username=seed_demo.OPERATOR.username))
    make_key()
    keys.publish()
    if options.folder:
        witness.prepare(options.folder)
    return logins.getvalue()


def _await_servers(house: servers.ServerSet) -> None:
    """They are started while this process imports what it needs."""
    deadline = time.monotonic() + PATIENCE
    while not servers.is_ready(house) and time.monotonic() < deadline:
        time.sleep(0.02)


@contextmanager
def as_owner() -> Iterator[None]:
    """Meanwhile this process connects as the database's owner, who alone may change its schema."""
    connection.close()
    as_application: dict[str, Any] = connection.settings_dict
    connection.settings_dict = as_application | settings_of("DATABASE_OWNER_URL", settings.DATABASE_OWNER_URL)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = as_application


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m casino.demo.preparation", description=__doc__)
    parser.add_argument("--address", default="http://127.0.0.1:8000/", help="where the demo will be open")
    parser.add_argument("--folder", type=Path, help="of embedded servers that are being started")
    parser.add_argument("--is-migrated", action="store_true", help="by this version: it is not done again")
    parser.add_argument("--past", action="store_true", help="give a new house a past")
    parser.add_argument("--deal", action="store_true", help="deal that past, where it would be loaded")
    parser.add_argument("--days", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=0)
    options = parser.parse_args()
    if settings.CASINO_ENV != "demo":
        print("Only a demo (CASINO_ENV=demo) is prepared by this.", file=sys.stderr)
        return 1
    try:
        logins = prepare(options)
    except (Damaged, clock.PastRefused) as reason:
        print(reason, file=sys.stderr)
        return 1
    say(LOGINS)
    say(logins)
    return 0


if __name__ == "__main__":
    sys.exit(main())
