"""Signers at the command line: staff members, each by user name and PIN."""

from __future__ import annotations

from getpass import getpass

from ledger.proof.seals import BadKey
from tables.models import Staff
from tables.staff import secret_ages


def who_signs(username: str) -> Staff:
    """The pit boss or operator with this user name, authenticated by PIN. Raises BadKey for any other person."""
    person = Staff.objects.find_active(username=username)
    if person is None or not (person.has_perm("tables.run_floor") or person.has_perm("tables.close_day")):
        raise BadKey(f"{username!r} is nobody who may stand for this: name pit bosses or operators.")
    if secret_ages.is_expired(person, "pin"):
        raise BadKey(f"The PIN of {person.name} is too old: it is changed at a terminal first.")
    if not person.check_pin(getpass(f"PIN of {person.name}: ")):
        raise BadKey(f"The PIN of {person.name} is wrong.")
    return person
