"""Emergency codes: made by an operator, used up by two of them, and gone with the role."""

from __future__ import annotations

from ledger.house import digest_of
from tables.audit.rows.reading import TAKEN_OVER, Rows, of_the_house
from tables.models import EmergencyCode
from tables.roles import Role


def told() -> Rows:
    """Every code that should be good."""
    codes: dict[str, dict[str, str]] = {}
    for entry in of_the_house("emergency_codes", staff=["emergency_code_made", "emergency_sign_in", "changed"]):
        said = entry.content
        match entry.kind:
            case "emergency_code_made":
                codes[said["username"]] = {"code": said.get("code", "")}
            case "emergency_sign_in":
                codes.pop(said["username"], None)
                codes.pop(said["with"], None)
            case "changed":
                after = said.get("after", {})
                if after.get("role", Role.OPERATOR) != Role.OPERATOR or not after.get("is_active", True):
                    codes.pop(said["username"], None)
            case _ if entry.kind == TAKEN_OVER:
                codes = {name: dict(code) for name, code in said["kept"].items()}
    return codes


def kept() -> Rows:
    """Every code that is good."""
    rows = EmergencyCode.objects.values_list("operator__username", "digest")
    return {username: {"code": digest_of(digest)} for username, digest in rows}
