"""Idempotency keys: a write stores its answer under its key, in its transaction, and a repetition gets that answer.

Inputs and slips have their keys in the log instead (``tables/floor/writer.py``).
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
"""Members of bodies that no digest contains, because a PIN of few digits could be guessed from it."""

Form = TypeVar("Form")

_CLAIM: Final = """
    INSERT INTO tables_keptanswer (username, key, request, answer, at)
    VALUES (%(username)s, %(key)s, %(request)s, '', clock_timestamp())
    ON CONFLICT (username, key) DO NOTHING
"""


def once(call: Call[Any, Any], act: Callable[[], Form], form: type[Form], *, username: str = "") -> Form:
    """The answer of ``act``, or the stored answer if the write was done under this key. Raises Refused for another
    request under the key.

    A second request waits at the row until the first has committed or failed. A key belongs to the caller, or to
    the signer."""
    owner = username or call.by.username
    request = _digest(call)
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_CLAIM, {"username": owner, "key": call.key, "request": request})
            is_first = cursor.rowcount == 1
        row = KeptAnswer.objects.get(username=owner, key=call.key)
        if not is_first:
            return _stored_answer(row, request, form)
        outcome = act()
        row.answer = msgspec.json.encode(outcome).decode()
        row.save(update_fields=["answer"])
    return outcome


def _stored_answer(row: KeptAnswer, request: bytes, form: type[Form]) -> Form:
    if bytes(row.request) != request:
        raise Refused("key_reused", "This key was used for another request: send a new one.", 409)
    return msgspec.json.decode(row.answer, type=form)


def _digest(call: Call[Any, Any]) -> bytes:
    body: dict[str, Any] = msgspec.to_builtins(call.body)
    members = {name: value for name, value in body.items() if name not in ("key", *SECRETS)}
    # A write may be repeated in the other version of the API.
    address = {"path": call.request.path.replace(ROOTS[V1], ROOTS[UNVERSIONED], 1), "body": members}
    return sha256(canonical(address)).digest()
