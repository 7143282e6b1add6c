"""Emergency codes: made by an operator, used up by two of them, and gone with the role."""

from __future__ import annotations

from ledger.site_log import digest_of
from tables.log.entries.carried_rows import RowsTakenOver
from tables.log.entries.staff import EmergencyCodeMade, EmergencySignIn, StaffChanged
from tables.models import EmergencyCode
from tables.projections.records import Rows, named, of_the_house
from tables.roles import Role


def in_log() -> Rows:
    """Every code that should be good."""
    codes: dict[str, dict[str, str]] = {}
    for entry in of_the_house("emergency_codes", staff=["emergency_code_made", "emergency_sign_in", "changed"]):
        match entry.event:
            case EmergencyCodeMade(username=username, code=code):
                codes[username] = {"code": code or ""}
            case EmergencySignIn(username=username, other=other):
                codes.pop(username, None)
                codes.pop(other, None)
            case StaffChanged(username=username) as event:
                after = event.after or {}
                if after.get("role", Role.OPERATOR) != Role.OPERATOR or not after.get("is_active", True):
                    codes.pop(username, None)
            case RowsTakenOver() as event:
                codes = named(event)
    return codes


def in_database() -> Rows:
    """Every code that is good."""
    rows = EmergencyCode.objects.values_list("operator__username", "digest")
    return {username: {"code": digest_of(digest)} for username, digest in rows}
