"""`python -m casino.demo.card_reader`: a table of the demo whose cards a simulated reader names, until stopped.

The table and the reader's account are created once, and the token is stored with the demo's other secrets: a second
run continues with them. The reader itself is ``manage.py shoe_reader``, an HTTP client like any other.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
from datetime import timedelta
from pathlib import Path
from typing import Final

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.utils import timezone  # noqa: E402

from casino.demo import more_tables  # noqa: E402
from tables.log.scopes import CARDS  # noqa: E402
from tables.management.commands import seed_demo  # noqa: E402
from tables.management.commands.shoe_reader import MessageQueue, Reader, RefusedMessage, SimulatedShoe  # noqa: E402
from tables.models import ServiceAccount, Staff, Table  # noqa: E402
from tables.refusals import Refused  # noqa: E402
from tables.setup import service_accounts  # noqa: E402
from tables.setup.service_accounts import Access  # noqa: E402
from tables.staff import service_tokens  # noqa: E402

TABLE: Final = "Rocket R"
SET_AS: Final = "Rocket 1"
ACCOUNT: Final = "Demo reader"
GOOD_DAYS: Final = 90


def prepare(token_file: Path) -> Table:
    """The table and the token, if they are not there yet. Raises Refused."""
    operator = Staff.objects.get(username=seed_demo.OPERATOR.username)
    if not Table.objects.filter(name=TABLE).exists():
        seed_demo.open_table(TABLE, seed_demo.TABLES[SET_AS], operator)
        more_tables.stand_in_pits(operator)
    if not token_file.exists():
        account = ServiceAccount.objects.filter(name=ACCOUNT).first() or _account(operator)
        _keep(token_file, service_tokens.make(account, by=operator))
    return Table.objects.get(name=TABLE)


def _account(operator: Staff) -> ServiceAccount:
    expires = timezone.now() + timedelta(days=GOOD_DAYS)
    access = Access(purpose=f"Names the cards of {TABLE}", scopes=(CARDS,), tables=(TABLE,), expires=expires)
    draft = service_accounts.draft(ACCOUNT, access)
    seed_demo.by_two(draft, lambda: service_accounts.set_account(ACCOUNT, access, by=operator), operator)
    return ServiceAccount.objects.get(name=ACCOUNT)


def _keep(token_file: Path, token: str) -> None:
    """Store the token, readable by its owner only. The file is complete or absent."""
    half = token_file.with_suffix(".half")
    half.touch(mode=0o600)
    half.write_text(token)
    half.rename(token_file)


def run(url: str, token_file: Path, seed: int) -> None:
    """Name cards until stopped. Raises Refused or RefusedMessage where the reader's table or account was changed."""
    table = prepare(token_file)
    line = MessageQueue(f"{url.rstrip('/')}/api/tables/{table.pk}/reader/", token_file.read_text())
    Reader(line, SimulatedShoe(random.Random(seed)), tell=lambda text: print(text, flush=True)).work()  # noqa: S311


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m casino.demo.card_reader", description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--token-file", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if settings.CASINO_ENV != "demo":
        print("Only a demo (CASINO_ENV=demo) has a card reader.", file=sys.stderr)
        return 1
    try:
        run(options.url, options.token_file, options.seed)
    except (Refused, RefusedMessage) as reason:
        print(f"{ACCOUNT} reads no more: {reason}", flush=True)
        signal.pause()  # started again, it would be told the same
    return 0


if __name__ == "__main__":
    sys.exit(main())
