"""Who works here: taking people on, changing what they may do, giving new passwords and PINs.

Every change is an entry in the house's book that says who made it. Secrets are never in it, only that they are new.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.contrib.auth.hashers import make_password
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction

from ledger import clock, house, log
from ledger.house import difference, note
from ledger.log import Draft
from tables import pepper, standing
from tables.log import duties
from tables.log.entries.doors import DealerSignedOut
from tables.log.entries.staff import StaffAdded, StaffChanged, StaffLockOutLifted
from tables.log.fold import Standing
from tables.models import PIN_DIGITS, SECRETS, STAFF_FACTS, Staff, Table
from tables.play import doors
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import house_terms
from tables.setup.table_settings import Faults, round_is_open
from tables.staff import attempts, emergency


def add_staff(*, username: str, name: str, role: str, by: Staff, **badge_and_secrets: Any) -> Staff:
    """Take somebody on. ``badge_and_secrets``: badge, password, pin."""
    _permit(by, "tables.add_staff")
    staff = Staff(username=username)
    changes = {"name": name, "role": role} | badge_and_secrets
    _refuse(username_faults(username) | change_faults(staff, changes))
    hashes = _hashes(staff, changes)
    with transaction.atomic():
        _apply(staff, changes, hashes)
        facts: dict[str, Any] = {
            "name": staff.name,
            "role": str(staff.role),
            "badge": staff.badge,
            "further": tuple(staff.further),
            "new": tuple(_new_secrets(changes)),
            "secrets": staff.digests,
        }
        note(StaffAdded(username=username, **facts), by.signature)
    return staff


def change_staff(staff: Staff, changes: Mapping[str, Any], *, by: Staff) -> Staff:
    """Change somebody's name, role, badge, password, PIN, or whether they work here. A dealer who stands at a table
    and may not deal any more is tapped out; in mid-round that has to wait. All their sign-ins end when their role or a
    secret changes."""
    _permit(by, "tables.change_staff")
    hashes = _hashes(staff, changes)
    with transaction.atomic():
        house.lock()  # one at a time: two operators may not take the role from each other
        staff = Staff.objects.get(pk=staff.pk)
        _refuse(change_faults(staff, changes))
        before = staff.facts
        if _stops_dealing(staff, changes):
            _tap_out(staff, by)
        _apply(staff, changes, hashes)
        if staff.role != Role.OPERATOR or not staff.is_active:
            emergency.withdraw(staff)
        new = _new_secrets(changes)
        changed = difference(before, staff.facts)
        if new or changed.after:
            note(
                StaffChanged(username=staff.username, new=tuple(new), secrets=staff.digests, **changed._asdict()),
                by.signature,
            )
    return staff


def change_password(staff: Staff, *, new: str) -> None:
    """Somebody who has proved who they are gives themselves another password; their other sign-ins end."""
    _refuse(_password_faults(staff, new))
    staff.set_password(new)
    with transaction.atomic():
        staff.save(update_fields=["password"])
        note(StaffChanged(username=staff.username, new=("password",), secrets=staff.digests), staff.signature)


def work_as(staff: Staff, role: str) -> Staff:
    """Somebody works in another of the roles that they were given, from now on. They sign in anew. Raises Refused.

    Their PIN stays: it is theirs, and what it signs is said by the role. Who stands at a table taps out first."""
    with transaction.atomic():
        house.lock()
        staff = Staff.objects.get(pk=staff.pk)
        if role not in staff.roles:
            raise Refused("not_permitted", f"{staff.name} may not work as {role.replace('_', ' ')}.", 403)
        table = doors.table_of(staff)
        if table is not None:
            raise Refused("at_a_table", f"{staff.name} deals at {table.name}: tap out there first.", 409)
        before = staff.facts
        staff.further, staff.role = [name for name in staff.roles if name != role], role
        changed = difference(before, staff.facts)
        if changed.after:
            staff.save(update_fields=["role", "further"])
            note(
                StaffChanged(username=staff.username, new=(), secrets=staff.digests, **changed._asdict()),
                staff.signature,
            )
    return staff


def lift_lock_out(staff: Staff, *, by: Staff) -> None:
    """Let somebody try again who was locked out after too many failed sign-ins."""
    _permit(by, "tables.change_staff")
    with transaction.atomic():
        attempts.forget_name(staff.username)
        attempts.forget_name(staff.badge or "")
        note(StaffLockOutLifted(username=staff.username), by.signature)


def _permit(by: Staff, permission: str) -> None:
    if not by.has_perm(permission):
        raise Refused("not_permitted", "Only an operator changes staff.", 403)


def _refuse(faults: Faults) -> None:
    if faults:
        raise Refused("bad_staff", " ".join(faults.values()), 422, fields=faults)


def _new_secrets(changes: Mapping[str, Any]) -> list[str]:
    return [name for name in SECRETS if changes.get(name)]


def _hashes(staff: Staff, changes: Mapping[str, Any]) -> dict[str, str]:
    """The new secrets as they are kept. Hashing takes long and waits its turn, so it is done before anything is
    locked."""
    secrets = {name: changes[name] for name in SECRETS if changes.get(name)}
    return {name: pepper.seal(make_password(secret), staff.owner_of(name)) for name, secret in secrets.items()}


def _apply(staff: Staff, changes: Mapping[str, Any], hashes: Mapping[str, str]) -> None:
    """A PIN is given for what somebody may do: with another role it is a new one, or none."""
    role = staff.role
    for name in STAFF_FACTS:
        if name in changes:
            setattr(staff, name, changes[name])
    staff.further = [role for role in staff.further if role != staff.role]
    if role == duties.ADMINISTERS != staff.role:
        staff.administered_until = clock.agreed()
    staff.badge = staff.badge or None
    if "password" in hashes or not staff.password:
        staff.password = hashes.get("password") or make_password(None)
    if staff.badge is None or staff.role != role:
        staff.set_pin(None)
    staff.pin = hashes.get("pin", staff.pin)
    staff.save()


# --- Standing at a table ---------------------------------------------------------------------------------------


def _stops_dealing(staff: Staff, changes: Mapping[str, Any]) -> bool:
    """Whether a change takes away that they may deal."""
    after = {"role": staff.role, "is_active": staff.is_active, **changes}
    return staff.role == Role.DEALER and (after["role"] != Role.DEALER or not after["is_active"])


def _tap_out(staff: Staff, by: Staff) -> None:
    """Sign them out of the table where they stand. Raises Refused in mid-round: a relief goes first."""
    table = doors.table_of(staff)
    if table is None:
        return
    head = log.lock(table.book_id)
    state = standing.at(head)
    if state.dealer is None or state.dealer.username != staff.username:
        return
    if state.round_open:
        _refuse({"is_active": _relief_sentence(staff, table, state)})
    log.append(head, Draft.of(DealerSignedOut(username=staff.username, name=staff.name), by.signature))


def _dealing_faults(staff: Staff, changes: Mapping[str, Any]) -> Faults:
    table = doors.table_of(staff)
    if table is None or not (state := standing.of(table)).round_open:
        return {}
    return {"role" if changes.get("is_active", True) else "is_active": _relief_sentence(staff, table, state)}


def _relief_sentence(staff: Staff, table: Table, state: Standing) -> str:
    return round_is_open(table, state, f"{staff.name} can be taken off it after a relief, or")


# --- Judging ---------------------------------------------------------------------------------------------------


def username_faults(username: str) -> Faults:
    """What is wrong with the user name of somebody new. It is theirs for good: the log knows them by it."""
    if not re.fullmatch(r"[a-z][a-z0-9._-]{1,39}", username):
        return {"username": "A user name has 2 to 40 small letters, digits, dots or dashes, and begins with a letter."}
    if username == "seat":
        return {"username": "The log calls players so: choose another user name."}
    if Staff.objects.filter(username=username).exists():
        return {"username": f"There is a {username} already."}
    return {}


def change_faults(staff: Staff, changes: Mapping[str, Any]) -> Faults:
    """What is wrong with changes to somebody, who may be new."""
    after = staff.facts | {name: value for name, value in changes.items() if name in STAFF_FACTS}
    faults = _fact_faults(staff, after) | _duty_faults(after)
    if password := changes.get("password"):
        faults |= _password_faults(staff, password)
    if pin := changes.get("pin"):
        faults |= _pin_faults(pin, after)
    if _stops_dealing(staff, changes):
        faults |= _dealing_faults(staff, changes)
    if _is_last_operator(staff, after):
        faults["role" if after["is_active"] else "is_active"] = "Somebody else has to be an active operator first."
    return faults


def _fact_faults(staff: Staff, after: Mapping[str, Any]) -> Faults:
    faults: Faults = {}
    name, badge = after["name"], after["badge"]
    if not name.strip() or not name.isprintable() or len(name) > 60:
        faults["name"] = "A name has 1 to 60 characters."
    if after["role"] not in Role.values:
        faults["role"] = f"A role is one of {', '.join(Role.values)}."
    if badge and not re.fullmatch(r"[0-9]{3,8}", badge):
        faults["badge"] = "A badge number has 3 to 8 digits."
    elif badge and Staff.objects.filter(badge=badge).exclude(pk=staff.pk).exists():
        faults["badge"] = f"Somebody has badge {badge} already."
    return faults


def _duty_faults(after: Mapping[str, Any]) -> Faults:
    """What the separation of duties has against somebody's roles."""
    roles = {after["role"], *after["further"]}
    if strangers := roles - set(Role.values):
        return {"further": f"There is no role {min(strangers)}."}
    says = duties.fault(roles)
    return {"further" if after["further"] else "role": says} if says else {}


def _password_faults(staff: Staff, password: str) -> Faults:
    try:
        validate_password(password, staff)
    except ValidationError as error:
        return {"password": " ".join(error.messages)}
    return {}


def _pin_faults(pin: str, after: Mapping[str, Any]) -> Faults:
    if not re.fullmatch(PIN_DIGITS, pin) or len(pin) < house_terms.number("pin_digits_min"):
        return {"pin": pin_rule()}
    if len(set(pin)) == 1 or pin in "01234567890" or pin in "09876543210" or pin == after["badge"]:
        return {"pin": "This PIN is among the first that anybody would try: choose another."}
    if not after["badge"]:
        return {"badge": "A PIN goes with a badge number."}
    return {}


def pin_rule() -> str:
    """What a new PIN has to be, in words."""
    least = house_terms.number("pin_digits_min")
    return f"A PIN has {least} to 8 digits." if least < 8 else "A PIN has 8 digits."


def _is_last_operator(staff: Staff, after: Mapping[str, Any]) -> bool:
    """Whether nobody could undo this change."""
    was = staff.pk and staff.is_active and staff.role == Role.OPERATOR
    stays = after["is_active"] and after["role"] == Role.OPERATOR
    if not was or stays:
        return False
    return not Staff.objects.filter(role=Role.OPERATOR, is_active=True).exclude(pk=staff.pk).exists()
