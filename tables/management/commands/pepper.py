"""``manage.py pepper``: the keys that PINs, passwords and channels' secrets are sealed with; carrying these over."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from ledger import site_log
from tables import pepper
from tables.alerts import channels
from tables.log.entries.carried_rows import PepperCarriedOver
from tables.models import OneTimeCode, SecretVersion, ServiceToken, Staff
from tables.models.staff import SECRETS
from tables.staff import codes, service_tokens

BY: Final = "the command line"


class Command(BaseCommand):
    """Make the first key, or seal unsealed secrets with the current one; ``--rotate``, ``--check``."""

    help = (
        "Make the file of keys if there is none, and seal PINs, passwords and channels' secrets with the first of them."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """At most one of the two options may be used."""
        group = parser.add_mutually_exclusive_group()
        group.add_argument("--rotate", action="store_true", help="put a new key first, and carry every hash over to it")
        group.add_argument("--check", action="store_true", help="change nothing; exit 1 and name whose hashes are left")

    def handle(self, *args: Any, rotate: bool, check: bool, **options: Any) -> None:
        """Seal, rotate or check. A hash whose key is missing stops the command before any change."""
        if check:
            self._check()
            return
        sealed = (
            *(getattr(owner, column) for owner, column in _hashes()),
            *(row.secret for row in channels.in_force()),
            *(token.kept for token in ServiceToken.objects.all()),
        )
        if not pepper.exists() and any(map(pepper.is_sealed, sealed)):
            raise CommandError("Hashes are sealed already, and PEPPER_FILE is not there: put the file back.")
        if rotate:
            _refuse_unreadable()
        if rotate or not pepper.exists():
            pepper.add_key()
        self.stdout.write(f"{carry()} secrets carried over to the first of {len(pepper.keys())} keys")

    def _check(self) -> None:
        stale = [owner.owner_of(column) for owner, column in _hashes() if not pepper.is_current(getattr(owner, column))]
        stale += [f"{row} of before" for row in SecretVersion.objects.all() if not pepper.is_current(row.kept)]
        stale += [f"code {code}" for code in OneTimeCode.objects.all() if not pepper.is_current(code.first)]
        stale += [token.owner for token in service_tokens.behind()]
        stale += [f"secret of the channel {row.name}" for row in channels.behind()]
        if stale:
            names = ", the ".join(stale)
            raise CommandError(f"Not sealed with the current key: the {names}")
        self.stdout.write("Every secret is sealed with the current key")


def carry() -> int:
    """Seal every secret with the current key in one transaction; returns the number of secrets that were behind.

    The site's log records their owners and the key; for a channel, by its next version.
    """
    with transaction.atomic():
        site_log.lock()
        list(Staff.objects.select_for_update(no_key=True).order_by("pk"))
        _refuse_unreadable()
        behind = [(owner, column) for owner, column in _hashes() if not pepper.is_current(getattr(owner, column))]
        sealed: dict[str, dict[str, str]] = {}
        for owner, column in behind:
            if owner.reseal(column):
                sealed.setdefault(owner.username, {})[column] = owner.digests[column]
        carried = len(behind) + _carry_codes(sealed) + _carry_versions(sealed)
        if sealed:
            site_log.append(PepperCarriedOver(key=pepper.current(), secrets=sealed), BY)
        carried += channels.carry_over(BY) + service_tokens.carry_over(BY)
    return carried


Sealed = dict[str, dict[str, str]]
"""The digests of newly sealed secrets, by user name and column."""


def _carry_codes(sealed: Sealed) -> int:
    """Seal both halves of every valid one-time code again; returns the number of halves."""
    behind = 0
    for code in OneTimeCode.objects.select_for_update(of=("self",)).select_related("staff"):
        for half in ("first", "second"):
            if not pepper.is_current(getattr(code, half)):
                owner = codes.owner_of(code.staff, code.secret, half)
                setattr(code, half, pepper.seal(pepper.unseal(getattr(code, half), owner), owner))
                digest = site_log.digest_of(getattr(code, half))
                sealed.setdefault(code.staff.username, {})[f"code:{code.secret}:{half}"] = digest
                code.save(update_fields=[half])
                behind += 1
    return behind


def _carry_versions(sealed: Sealed) -> int:
    """Secrets of before, which may not be used again."""
    behind = 0
    for row in SecretVersion.objects.select_for_update(of=("self",)).select_related("staff"):
        if not pepper.is_current(row.kept):
            owner = row.staff.owner_of(row.secret)
            row.kept = pepper.seal(pepper.unseal(row.kept, owner), owner)
            row.save(update_fields=["kept"])
            if row.seq is not None:
                digest = site_log.digest_of(row.kept)
                sealed.setdefault(row.staff.username, {})[f"version:{row.secret}:{row.seq}"] = digest
            behind += 1
    return behind


def _refuse_unreadable() -> None:
    try:
        channels.refuse_unreadable()
        service_tokens.refuse_unreadable()
        for owner, column in _hashes():
            pepper.unseal(getattr(owner, column), owner.owner_of(column))
        for row in SecretVersion.objects.select_related("staff"):
            pepper.unseal(row.kept, row.staff.owner_of(row.secret))
        for code in OneTimeCode.objects.select_related("staff"):
            for half in ("first", "second"):
                pepper.unseal(getattr(code, half), codes.owner_of(code.staff, code.secret, half))
    except pepper.NoSuchKey as missing:
        raise CommandError(f"Nothing was changed: {missing}. Put the old key below the others.") from None


def _hashes() -> list[tuple[Staff, str]]:
    return [(owner, column) for owner in Staff.objects.order_by("pk") for column in SECRETS]
