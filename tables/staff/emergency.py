"""A way in that nobody can shut: two operators' printed codes at once let the first of them in.

A code is 128 random bits, so nobody guesses one: no count of failures is kept, and none can lock it. The database
keeps its digest. It works once, for as long as its owner is an operator; another one takes its place.
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
"""What is read off paper wrongly; there are no such digits in a code."""


def make(operator: Staff) -> str:
    """A new code, to be shown once and printed; the one before is worthless. Raises Refused."""
    if operator.role != Role.OPERATOR or not operator.is_active:
        raise Refused("not_permitted", "Only an operator has an emergency code.", 403)
    code = base64.b32encode(secrets.token_bytes(_BITS // 8)).decode().rstrip("=")
    with transaction.atomic():
        EmergencyCode.objects.filter(operator=operator).delete()
        row = EmergencyCode.objects.create(operator=operator, digest=_digest(code))
        append(EmergencyCodeMade(username=operator.username, code=digest_of(row.digest)), operator.signature)
    return "-".join(code[start : start + _GROUP] for start in range(0, len(code), _GROUP))


def use(first: str, second: str, *, address: str | None) -> Staff:
    """The operator whose code is the first. Both codes are used up, and the pit hears of it. Raises Refused."""
    with transaction.atomic():
        # In one order, so that two who use the same codes at once wait for each other, and the second finds none.
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
    """Whoever is no operator any more has no code."""
    EmergencyCode.objects.filter(operator=staff).delete()


def _is_valid(code: EmergencyCode) -> bool:
    return code.operator.is_active and code.operator.role == Role.OPERATOR


def _digest(code: str) -> str:
    return sha256(code.upper().translate(_LOOKS_LIKE).encode()).hexdigest()
