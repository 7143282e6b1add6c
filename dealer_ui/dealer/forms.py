"""Hidden fields of every form of the dealer: the idempotency key of its rendering, and its sequence number."""

from __future__ import annotations

from uuid import UUID

from django.http import QueryDict

from tables.refusals import Refused


def key_of(form: QueryDict) -> UUID:
    """The idempotency key of a form's rendering. Raises Refused."""
    try:
        return UUID(form.get("key", ""))
    except ValueError:
        raise _incomplete() from None


def seq_of(form: QueryDict) -> int:
    """The sequence number that a form was drawn from. Raises Refused."""
    typed = form.get("seq", "")
    if not (typed.isascii() and typed.isdecimal() and len(typed) < 19):
        raise _incomplete()
    return int(typed)


def _incomplete() -> Refused:
    return Refused("bad_input", "This form was incomplete: enter it again.", 400)
