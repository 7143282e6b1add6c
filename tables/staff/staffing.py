"""Adding staff members and changing their roles and data.

Each change is an entry in the site log that names its author. Staff members set their own PINs and passwords
(`secret_changes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from ledger import clock, log, site_log
from ledger.log import Draft
from ledger.site_log import append, difference
from tables.floor import table_opening
from tables.log import dual_control, duties
from tables.log.entries.staff import StaffAdded, StaffChanged, StaffLockOutLifted
from tables.log.entries.tables import DealerSignedOut
from tables.log.state import TableState
from tables.models import Staff, Table
from tables.models.staff import PASSWORD, PIN, PIN_DIGITS, STAFF_FACTS
from tables.refusals import Faults, Refused
from tables.roles import Role
from tables.setup import policies, role_choices
from tables.setup.dual_control import ApprovalHandler, ApprovedProposal, handles, refuse_alone
from tables.setup.dual_control import ProposalDraft as ToPropose
from tables.setup.table_settings import round_is_open
from tables.staff import codes, emergency, guess_counts, secret_ages
from tables.state import table_state


def add_staff(
    *,
    username: str,
    name: str,
    role: str,
    by: Staff,
    badge: str | None = None,
    further: Sequence[str] = (),
    proposal: int | None = None,
) -> Staff:
    """Add a staff member, who sets their own secrets by code (see `codes.py`). Raises Refused.

    `further`: the other roles that they may work in.
    """
    _permit(by, "tables.add_staff")
    staff = Staff(username=username)
    changes = {"name": name, "role": role, "badge": badge, "further": list(further)}
    _refuse(username_faults(username) | change_faults(staff, changes))
    with transaction.atomic():
        _refuse_alone({}, {"role": role, "further": list(further)}, proposal)
        _apply(staff, changes)
        facts: dict[str, Any] = {
            "name": staff.name,
            "role": str(staff.role),
            "badge": staff.badge,
            "further": tuple(staff.further),
            "new": (),
            "secrets": staff.digests,
            "proposal": proposal,
        }
        append(StaffAdded(username=username, **facts), by.signature)
    return staff


def change_staff(staff: Staff, changes: Mapping[str, Any], *, by: Staff, proposal: int | None = None) -> Staff:
    """Change a staff member's name, roles, badge or active state. Raises Refused.

    A dealer at a table who may not deal any more is tapped out; in the middle of a round that is refused. A change of
    role ends all their sessions.
    """
    _permit(by, "tables.change_staff")
    with transaction.atomic():
        site_log.lock()  # one change at a time: two operators may not remove each other's role
        staff = Staff.objects.get(pk=staff.pk)
        _refuse(change_faults(staff, changes))
        before = staff.facts
        if _stops_dealing(staff, changes):
            _tap_out(staff, by)
        _apply(staff, changes)
        if staff.role != Role.OPERATOR or not staff.is_active:
            emergency.withdraw(staff)
        _withdraw_codes(staff, by)
        changed = difference(before, staff.facts)
        _refuse_alone(*changed, proposal)
        if changed.after:
            facts = changed._asdict() | {"proposal": proposal}
            event = StaffChanged(username=staff.username, new=(), secrets=staff.digests, **facts)
            append(event, by.signature)
    return staff


def _withdraw_codes(staff: Staff, by: Staff) -> None:
    if not staff.is_active:
        codes.withdraw_all(staff, by=by)
    elif staff.badge is None:
        codes.withdraw_all(staff, ("pin",), by=by)


# --- By two people ---------------------------------------------------------------------------------------------


def draft(username: str, changes: Mapping[str, Any]) -> ToPropose | None:
    """The proposal for adding or changing a staff member, if dual control applies to it; otherwise None. Raises
    Refused.

    Secrets are never part of it: the owner sets them.
    """
    staff = Staff.objects.filter(username=username).first()
    before = _proposed(staff.facts) if staff else {}
    typed = _proposed(changes)
    if "further" in typed:
        typed["further"] = [role for role in typed["further"] if role != (before | typed).get("role")]
    if not staff and not typed.get("further"):
        typed.pop("further", None)
    changed = difference(before, typed)
    matter = dual_control.of_staff(*changed)
    if matter is None or not dual_control.needed(matter, policies.as_entered(timezone.now())):
        return None
    _refuse(change_faults(staff or Staff(username=username), typed))
    return ToPropose(matter, username, *changed)


def _proposed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that can be proposed: not secrets, nor what follows from other facts."""
    names = ("name", "role", "further", "badge", "is_active")
    return {name: facts[name] or None if name == "badge" else facts[name] for name in names if name in facts}


def _stand(proposals: Sequence[ApprovedProposal]) -> list[Mapping[str, Any]]:
    people = Staff.objects.filter(username__in=[proposal.about for proposal in proposals])
    facts = {person.username: person.facts for person in people}
    return [{name: facts.get(row.about, {}).get(name) for name in row.before} for row in proposals]


def _apply_proposal(proposal: ApprovedProposal, by: Staff) -> None:
    if not proposal.before:
        add_staff(username=proposal.about, **proposal.after, by=by, proposal=proposal.number)
        return
    staff = Staff.objects.get(username=proposal.about)
    change_staff(staff, proposal.after, by=by, proposal=proposal.number)


handles("staff", matter=ApprovalHandler(_stand, _apply_proposal, "tables.change_staff"))


def _refuse_alone(before: Mapping[str, Any], after: Mapping[str, Any], proposal: int | None) -> None:
    """Raises Refused if dual control applies to this change and it has no approved proposal. Call it under the site
    log's lock.
    """
    terms = policies.as_entered(site_log.lock().moment)
    refuse_alone(dual_control.of_staff(before, after), terms, proposal)


def work_as(staff: Staff, role: str) -> Staff:
    """Change a staff member's role to another one assigned to them; they sign in again. Raises Refused.

    The PIN remains, since signatures record the role. A dealer at a table has to tap out first.
    """
    with transaction.atomic():
        site_log.lock()
        staff = Staff.objects.get(pk=staff.pk)
        if role not in staff.roles:
            raise Refused("not_permitted", f"{staff.name} may not work as {role.replace('_', ' ')}.", 403)
        table = table_opening.table_of(staff)
        if table is not None:
            raise Refused("at_a_table", f"{staff.name} deals at {table.name}: tap out there first.", 409)
        before = staff.facts
        staff.further, staff.role = [name for name in staff.roles if name != role], role
        changed = difference(before, staff.facts)
        if changed.after:
            staff.save(update_fields=["role", "further"])
            append(
                StaffChanged(username=staff.username, new=(), secrets=staff.digests, **changed._asdict()),
                staff.signature,
            )
    return staff


def lift_lock_out(staff: Staff, *, by: Staff) -> None:
    """Clear the failed sign-ins of a staff member who was locked out."""
    _permit(by, "tables.change_staff")
    with transaction.atomic():
        guess_counts.forget_name(staff.username)
        guess_counts.forget_name(staff.badge or "")
        append(StaffLockOutLifted(username=staff.username), by.signature)


def _permit(by: Staff, permission: str) -> None:
    by.require(permission, "Only an operator changes staff.")


def _refuse(faults: Faults) -> None:
    if faults:
        raise Refused("bad_staff", " ".join(faults.values()), 422, fields=faults)


def _apply(staff: Staff, changes: Mapping[str, Any]) -> None:
    """Set the changed facts and save. A change of role removes the PIN, and a new one needs a code."""
    role = staff.role
    for name in STAFF_FACTS:
        if name in changes:
            setattr(staff, name, changes[name])
    staff.further = [role for role in staff.further if role != staff.role]
    if role == duties.ADMINISTERS != staff.role:
        staff.administered_until = clock.agreed()
    staff.badge = staff.badge or None
    if not staff.password:
        staff.set_password(None)
    if staff.badge is None or staff.role != role:
        if staff.pk:
            secret_ages.keep_present(staff, "pin")
        staff.set_pin(None)
    staff.save()


# --- Standing at a table ---------------------------------------------------------------------------------------


def _stops_dealing(staff: Staff, changes: Mapping[str, Any]) -> bool:
    """Whether a change ends the staff member's right to deal."""
    after = {"role": staff.role, "is_active": staff.is_active, **changes}
    return staff.role == Role.DEALER and (after["role"] != Role.DEALER or not after["is_active"])


def _tap_out(staff: Staff, by: Staff) -> None:
    """Sign a dealer out of their table. Raises Refused in the middle of a round: a relief has to come first."""
    table = table_opening.table_of(staff)
    if table is None:
        return
    head = log.lock(table.book_id)
    state = table_state.at(head)
    if not state.is_dealt_by(staff.username):
        return
    if state.round_open:
        _refuse({"is_active": _relief_sentence(staff, table, state)})
    log.append(head, Draft.of(DealerSignedOut(username=staff.username, name=staff.name), by.signature))


def _dealing_faults(staff: Staff, changes: Mapping[str, Any]) -> Faults:
    table = table_opening.table_of(staff)
    if table is None or not (state := table_state.of(table)).round_open:
        return {}
    return {"role" if changes.get("is_active", True) else "is_active": _relief_sentence(staff, table, state)}


def _relief_sentence(staff: Staff, table: Table, state: TableState) -> str:
    return round_is_open(table, state, f"{staff.name} can be taken off it after a relief, or")


# --- Judging ---------------------------------------------------------------------------------------------------


def username_faults(username: str) -> Faults:
    """Faults of a new user name. It is permanent, since log entries refer to it."""
    if not re.fullmatch(r"[a-z][a-z0-9._-]{1,39}", username):
        return {"username": "A user name has 2 to 40 small letters, digits, dots or dashes, and begins with a letter."}
    if username in ("seat", "program"):
        return {"username": "The log calls players and programs so: choose another user name."}
    if Staff.objects.filter(username=username).exists():
        return {"username": f"There is a {username} already."}
    return {}


def change_faults(staff: Staff, changes: Mapping[str, Any]) -> Faults:
    """Faults of changes to a staff member, present or new, by field."""
    after = staff.facts | {name: value for name, value in changes.items() if name in STAFF_FACTS}
    faults = _fact_faults(staff, after) | _duty_faults(after)
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
    """Faults of a set of roles under the separation of duties."""
    roles = {after["role"], *after["further"]}
    if strangers := roles - set(Role.values):
        return {"further": f"There is no role {min(strangers)}."}
    says = role_choices.apart_fault(roles)
    return {"further" if after["further"] else "role": says} if says else {}


def _password_faults(staff: Staff, password: str) -> Faults:
    try:
        validate_password(password, staff)
    except ValidationError as error:
        return {"password": " ".join(error.messages)}
    return {}


def refuse_rule(secret: str, new: str) -> None:
    """Raises Refused for a PIN that is too short, malformed or among the first to be guessed."""
    if secret == PIN and (not re.fullmatch(PIN_DIGITS, new) or len(new) < policies.number("pin_digits_min")):
        _refuse({"pin": pin_rule()})
    if secret == PIN and (len(set(new)) == 1 or new in "01234567890" or new in "09876543210"):
        _refuse({"pin": _FIRST_TRIED})


def refuse_secret(staff: Staff, secret: str, new: str) -> None:
    """Raises Refused for a secret that breaks the general rules or is unsuitable for this person."""
    refuse_rule(secret, new)
    if secret == PASSWORD:
        _refuse(_password_faults(staff, new))
    elif not staff.badge:
        _refuse({"badge": "A PIN goes with a badge number."})
    elif new == staff.badge:
        _refuse({"pin": _FIRST_TRIED})


_FIRST_TRIED: Final = "This PIN is among the first that anybody would try: choose another."


def pin_rule() -> str:
    """The rule for new PINs, as a sentence."""
    least = policies.number("pin_digits_min")
    return f"A PIN has {least} to 8 digits." if least < 8 else "A PIN has 8 digits."


def _is_last_operator(staff: Staff, after: Mapping[str, Any]) -> bool:
    """Whether a change would leave no active operator to undo it."""
    was = staff.pk and staff.is_active and staff.role == Role.OPERATOR
    stays = after["is_active"] and after["role"] == Role.OPERATOR
    if not was or stays:
        return False
    return not Staff.objects.filter(role=Role.OPERATOR, is_active=True).exclude(pk=staff.pk).exists()
