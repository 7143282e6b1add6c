"""`python -m tests.server.floor TOOLS`, on the server as the house's user: opens two tables with dealers and pit
bosses, and prints what their screens need."""

from __future__ import annotations

import json
import sys
from typing import Any

import django

sys.path.append(sys.argv[1])  # the tests' own libraries, after those of the running release
django.setup()

from django.test import Client  # noqa: E402

from tables.floor import recorder  # noqa: E402
from tables.models import Staff  # noqa: E402
from tables.roles import Role  # noqa: E402
from tests import floor  # noqa: E402
from tests.floor import Hand  # noqa: E402


def cookies_of(person: Staff) -> dict[str, str]:
    """The cookies of a session at a terminal, with the names that they have under TLS."""
    browser = Client()
    browser.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
    return {"sessionid": browser.cookies["sessionid"].value, "__Host-terminal": floor.terminal_cookie(person)}


def dealer_at(name: str, boss: Staff, username: str, badge: str) -> dict[str, Any]:
    """An open table whose dealer can take bets."""
    table, person = floor.table(name=name), floor.staff(Role.DEALER, username, badge)
    Hand(table, boss)("open_table")
    recorder.sign_in(table, person)
    hand = Hand(table, person)
    hand.ready_shoe()
    return {"table": table.pk, "seq": hand.now.seq, "cookies": cookies_of(person)}


def main() -> None:
    boss, second = (floor.staff(Role.PIT_BOSS, name, badge) for name, badge in (("olga", "201"), ("bruno", "202")))
    dealers = [dealer_at("Rocket 1", boss, "dora", "101"), dealer_at("Rocket 2", boss, "dan", "102")]
    people = [boss.username, second.username]
    print(json.dumps({"dealers": dealers, "boss": cookies_of(boss), "people": people, "pin": floor.PIN}))


if __name__ == "__main__":
    main()
