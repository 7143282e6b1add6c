"""``manage.py pepper``: the keys that hashes of PINs and passwords are sealed with, and carrying these over."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from ledger import house
from tables import pepper
from tables.log.entries.kept import PepperCarriedOver
from tables.models import SECRETS, Staff

BY: Final = "the command line"


class Command(BaseCommand):
    """Make the first key, or seal what is not sealed with the current one; ``--rotate``, ``--check``."""

    help = "Make the file of keys if there is none, and seal every hash of a PIN or password with the first of them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Either of the two."""
        what = parser.add_mutually_exclusive_group()
        what.add_argument("--rotate", action="store_true", help="put a new key first, and carry every hash over to it")
        what.add_argument("--check", action="store_true", help="change nothing; exit 1 and name whose hashes are left")

    def handle(self, *args: Any, rotate: bool, check: bool, **options: Any) -> None:
        """Hashes whose key is missing stop everything, before anything is changed."""
        if check:
            self._check()
            return
        if not pepper.exists() and any(pepper.is_sealed(getattr(owner, column)) for owner, column in _kept()):
            raise CommandError("Hashes are sealed already, and PEPPER_FILE is not there: put the file back.")
        if rotate:
            _refuse_unreadable()
        if rotate or not pepper.exists():
            pepper.add_key()
        self.stdout.write(f"{carry()} hashes carried over to the first of {len(pepper.keys())} keys")

    def _check(self) -> None:
        left = [owner.owner_of(column) for owner, column in _kept() if not pepper.is_current(getattr(owner, column))]
        if left:
            raise CommandError(f"Not sealed with the current key: the {', the '.join(left)}")
        self.stdout.write("Every hash is sealed with the current key")


def carry() -> int:
    """Seal every hash anew that is not sealed with the current key, in one transaction; how many there were. The
    house's book says whose, and with which key."""
    with transaction.atomic():
        house.lock()
        list(Staff.objects.select_for_update(no_key=True).order_by("pk"))
        _refuse_unreadable()
        behind = [(owner, column) for owner, column in _kept() if not pepper.is_current(getattr(owner, column))]
        sealed: dict[str, dict[str, str]] = {}
        for owner, column in behind:
            if owner.reseal(column):
                sealed.setdefault(owner.username, {})[column] = owner.digests[column]
        if sealed:
            house.note(PepperCarriedOver(key=pepper.current(), secrets=sealed), BY)
    return len(behind)


def _refuse_unreadable() -> None:
    for owner, column in _kept():
        try:
            pepper.unseal(getattr(owner, column), owner.owner_of(column))
        except pepper.NoSuchKey as missing:
            raise CommandError(f"Nothing was changed: {missing}. Put the old key below the others.") from None


def _kept() -> list[tuple[Staff, str]]:
    return [(owner, column) for owner in Staff.objects.order_by("pk") for column in SECRETS]
