"""`python -m tests.carried.upgrade`: migrate a house that was put back, an hour after the last that it wrote.

Its days lie in the past, and what an upgrade writes is dated by the clock: by today's, a year and a half would have
passed in which nothing happened.
"""

import os
from datetime import timedelta

import django

OWNER_URL = os.environ["DATABASE_OWNER_URL"]


def main() -> None:
    """As its owner does it."""
    os.environ["CASINO_DB_ROLE"] = "owner"
    django.setup()
    from django.core.management import call_command

    from ledger.models import LogEntry
    from tests.clock import Clock

    # Some bear times that were false, and that are mended: the last that was written is not the latest.
    latest = LogEntry.objects.filter(book__name="house").latest("seq").at
    clock = Clock(OWNER_URL)
    try:
        clock.stand(latest + timedelta(hours=1))
        call_command("migrate", verbosity=0)
    finally:
        clock.right()


if __name__ == "__main__":
    main()
