"""A write sent twice is done once: its answer is stored under its key, in the same transaction.

Inputs and slips keep their keys in the log (``tables/floor/writer.py``). Other writes have no place there.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, Final, TypeVar

import msgspec
from django.db import connection, transaction

from ledger.proof.spelling import canonical
from tables.api.operations import Call
from tables.api.versions import ROOTS, UNVERSIONED, V1
from tables.models import KeptAnswer
from tables.refusals import Refused

SECRETS: Final = ("pin", "second_pin", "attested")
"""Kept in no digest: a PIN of a few figures would be guessed from it."""

Form = TypeVar("Form")

_CLAIM: Final = """
    INSERT INTO tables_keptanswer (username, key, request, answer, at)
    VALUES (%(username)s, %(key)s, %(request)s, '', clock_timestamp())
    ON CONFLICT (username, key) DO NOTHING
"""


def once(call: Call[Any, Any], act: Callable[[], Form], form: type[Form], *, username: str = "") -> Form:
    """Do it, unless it was done under this key: then it is answered as before. Another body under the key is refused.

    A second request waits at the row until the first has committed or failed. A key belongs to the caller, or to
    the signer."""
    owner = username or call.by.username
    asked = _digest(call)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, {"username": owner, "key": call.key, "request": asked})
            is_first = cursor.rowcount == 1
        row = KeptAnswer.objects.get(username=owner, key=call.key)
        if not is_first:
            return _again(row, asked, form)
        outcome = act()
        row.answer = msgspec.json.encode(outcome).decode()
        row.save(update_fields=["answer"])
    return outcome


def _again(row: KeptAnswer, asked: bytes, form: type[Form]) -> Form:
    if bytes(row.request) != asked:
        raise Refused("key_reused", "This key was used for another request: send a new one.", 409)
    return msgspec.json.decode(row.answer, type=form)


def _digest(call: Call[Any, Any]) -> bytes:
    body: dict[str, Any] = msgspec.to_builtins(call.body)
    spelled = {name: value for name, value in body.items() if name not in ("key", *SECRETS)}
    # One write, whichever version of the API repeats it.
    address = {"path": call.request.path.replace(ROOTS[V1], ROOTS[UNVERSIONED], 1), "body": spelled}
    return sha256(canonical(address)).digest()
