"""Emergency sign-in, which no lock-out blocks: printed codes of two operators, used together, admit the first of them.

A code has 128 random bits and cannot be guessed, so failures are not counted and cannot lock it. The database stores
its digest. A code works once, while its owner is an operator; a new one replaces it.
"""

from __future__ import annotations

import base64
import secrets
from hashlib import sha256
from typing import Final

from django.db import transaction

from ledger.alerts import raise_alert
from ledger.site_log import append, digest_of
from tables.log.entries.staff import EmergencyCodeMade, EmergencySignIn
from tables.models import EmergencyCode, Staff
from tables.refusals import Refused
from tables.roles import Role

_BITS: Final = 128
_GROUP: Final = 5
_LOOKS_LIKE: Final = str.maketrans("018", "OIB", " -–\t")
"""Characters often misread on paper, with the character meant: codes contain none of these digits."""


def make(operator: Staff) -> str:
    """Create an emergency code, to be shown once and printed; it replaces the earlier one. Raises Refused."""
    if operator.role != Role.OPERATOR or not operator.is_active:
        raise Refused("not_permitted", "Only an operator has an emergency code.", 403)
    code = base64.b32encode(secrets.token_bytes(_BITS // 8)).decode().rstrip("=")
    with transaction.atomic():
        EmergencyCode.objects.filter(operator=operator).delete()
        row = EmergencyCode.objects.create(operator=operator, digest=_digest(code))
        append(EmergencyCodeMade(username=operator.username, code=digest_of(row.digest)), operator.signature)
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))


def use(first: str, second: str, *, address: str | None) -> Staff:
    """The operator whose code is the first one. Uses both codes up and raises an alert. Raises Refused."""
    with transaction.atomic():
        # Lock the rows in one order: of two sessions with the same codes the second waits, and finds no codes.
        rows = EmergencyCode.objects.select_for_update(of=("self",)).order_by("pk").select_related("operator")
        codes = {row.digest: row for row in rows.filter(digest__in=[_digest(first), _digest(second)])}
        code, helper_code = codes.get(_digest(first)), codes.get(_digest(second))
        if (
            code is None
            or helper_code is None
            or code.pk == helper_code.pk
            or not _is_valid(code)
            or not _is_valid(helper_code)
        ):
            says = "This takes the codes of two operators, typed as they are printed; each works once."
            raise Refused("wrong_codes", says, 403)
        code.delete()
        helper_code.delete()
        username, helper = code.operator.username, helper_code.operator.username
        append(EmergencySignIn(username=username, other=helper, address=address), code.operator.signature)
        evidence = {"username": username, "with": helper, "address": address}
        names = f"{code.operator.name} came in by emergency codes, with {helper_code.operator.name}’s."
        raise_alert(None, "emergency_sign_in", f"{names} Both are used up.", evidence)
    return code.operator


def withdraw(staff: Staff) -> None:
    """Delete the emergency code of a staff member who is no longer an operator."""
    EmergencyCode.objects.filter(operator=staff).delete()


def _is_valid(code: EmergencyCode) -> bool:
    return code.operator.is_active and code.operator.role == Role.OPERATOR


def _digest(code: str) -> str:
    return sha256(code.upper().translate(_LOOKS_LIKE).encode()).hexdigest()
