"""``manage.py office``: the sites of a head office, and days that arrive on a storage medium."""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from casino.office import houses, lateness, receiving
from casino.office.houses import Registration
from casino.office.models import House
from casino.office.receiving import ArrivalState
from ledger import clock
from tables.models import Staff
from tables.refusals import Refused


class Command(BaseCommand):
    """register, pin, take, verify, list."""

    help = "Head office: register casinos, accept the bundles of their sealed days, list late ones."

    def add_arguments(self, parser: ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="command", required=True)
        register = commands.add_parser("register", help="register a casino")
        register.add_argument("code", metavar="CODE")
        register.add_argument("--name", required=True)
        register.add_argument("--currency", required=True, metavar="EUR")
        register.add_argument(
            "--key", required=True, metavar="PUBKEY", help="the casino's public key, received separately"
        )
        pin = commands.add_parser(
            "pin", help="pin another secret for a casino's connection, or another key if it lost its own"
        )
        pin.add_argument("code", metavar="CODE")
        pin.add_argument("--key", default="", metavar="PUBKEY")
        pin.add_argument("--reason", required=True)
        for changing in (register, pin):
            changing.add_argument("--secret-file", type=Path, metavar="FILE", help="the secret that signs its line")
            changing.add_argument("--by", required=True, metavar="USER", help="an operator of the head office")
        take = commands.add_parser("take", help="take bundles from a stick, in any order")
        take.add_argument("code", metavar="CODE")
        take.add_argument("bundles", type=Path, nargs="+", metavar="BUNDLE")
        commands.add_parser("verify", help="verify all waiting bundles now")
        commands.add_parser("list", help="list the casinos and their progress")

    def handle(self, *args: Any, command: str, **options: Any) -> None:
        """Run the sub-command; a refusal becomes a sentence without a traceback."""
        try:
            getattr(self, f"_{command}")(**options)
        except Refused as refused:
            raise CommandError(refused.sentence) from None

    def _register(self, *, code: str, name: str, currency: str, key: str, **options: Any) -> None:
        registration = Registration(code, name, currency, key, _secret(options["secret_file"]))
        house = houses.register(registration, by=_operator(options["by"]))
        self.stdout.write(f"{house.name} reports here as {house.code}, in {house.currency}.")

    def _pin(self, *, code: str, key: str, reason: str, **options: Any) -> None:
        secret = _secret(options["secret_file"])
        row = houses.pin(_house(code), by=_operator(options["by"]), reason=reason, key=key, secret=secret)
        self.stdout.write(f"{code}: version {row.version}, key {row.key}.")

    def _take(self, *, code: str, bundles: list[Path], **_: Any) -> None:
        house, refused = _house(code), 0
        paths = sorted(bundles, key=lambda path: path.name)
        for path in paths:
            answer = _take(house, path)
            self.stdout.write(f"{answer.state:8} {path.name}: {answer.says}")
            refused += answer.state in (ArrivalState.REFUSED, ArrivalState.EARLY)
        self._verify()
        if refused:
            sys.exit(1)

    def _verify(self, **_: Any) -> None:
        for house in House.objects.order_by("code"):
            waiting = houses.waiting(house)
            receiving.verify_waiting(house)
            for arrival in waiting:
                arrival.refresh_from_db()
                verdict = arrival.verdict
                self.stdout.write(
                    f"{'HOLDS' if verdict.holds else 'DOES NOT HOLD'}  {house.code} {arrival}: {verdict.says}"
                )

    def _list(self, **_: Any) -> None:
        for status in lateness.statuses(clock.read().database):
            last = f"day {status.last.number}, {status.last.day}" if status.last else "nothing yet"
            late = f", late by {status.late}" if status.late else ""
            fault = f"; {status.fault}" if status.fault else ""
            self.stdout.write(f"{status.house.code:24} {status.house.currency}  {last}{late}{fault}")


def _take(house: House, path: Path) -> receiving.ArrivalAnswer:
    """Accept a copy of the file, which stays on the medium."""
    with NamedTemporaryFile(dir=receiving.folder(house), suffix=".part", delete=False) as copy, path.open("rb") as file:
        shutil.copyfileobj(file, copy)
    try:
        return receiving.take(house, Path(copy.name), by="a stick")
    finally:
        Path(copy.name).unlink(missing_ok=True)


def _house(code: str) -> House:
    house = House.objects.filter(code=code).first()
    if house is None:
        raise CommandError(f"No house reports here as {code!r}: `manage.py office list` has them.")
    return house


def _operator(username: str) -> Staff:
    person = Staff.objects.find_active(username=username)
    if person is None:
        raise CommandError(f"Nobody of the head office is called {username!r}.")
    return person


def _secret(path: Path | None) -> str:
    return path.read_text().strip() if path else ""
