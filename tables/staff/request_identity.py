"""Reads a request's session, terminal and user in one round trip, at the start of every request.

Django and `terminals` would query them one after the other. Nothing is cached for the next request, so an ended
session, a revoked terminal and a deactivated user are noticed at once. Anything unexpected is left unset: Django then
queries it itself, and decides.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Final

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from ledger.prepared import Statement, read_row
from ledger.raw_rows import RawRows
from tables.models import Staff, Terminal
from tables.staff import terminals

_TERMINALS: Final = RawRows(Terminal)
_STAFF: Final = RawRows(Staff)
_ARRIVAL: Final = Statement(
    "tables_arrival",
    "text, timestamptz, text, bigint",
    f"""SELECT s.session_data, {_TERMINALS.columns("t")}, {_STAFF.columns("p")}
        FROM {Session._meta.db_table} AS s
        LEFT JOIN {Terminal._meta.db_table} AS t ON t.token_digest = $3 AND t.is_active
        LEFT JOIN {Staff._meta.db_table} AS p ON p.id = $4
        WHERE s.session_key = $1 AND s.expire_date > $2""",  # noqa: S608
)
_BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
_NOBODY: Final = 0
_MOST: Final = 10_000

_people: Final[dict[str, int]] = {}
"""User id that each session named when last read. It is a guess that lets one query read the user as well, and counts
only if the session read with it names that user.
"""


def read(request: HttpRequest) -> None:
    """Set the request's session data, terminal and person; does nothing without a session."""
    session, token = request.session, terminals.claims(request)
    key = session.session_key
    if key is None:
        return
    digest = terminals.digest_of_token(token) if token else ""
    row = read_row(_ARRIVAL, [key, timezone.now(), digest, _people.get(key, _NOBODY)])
    if row is None:
        return
    data, *columns = row
    setattr(session, "_session_cache", json.loads(_signed(type(session), data)))  # noqa: B010 -- as Django's own would
    _note_terminal(request, token, columns[: len(_TERMINALS)])
    _note_person(request, session, columns[len(_TERMINALS) :])


@lru_cache(maxsize=10_000)
def _signed(kind: type[SessionBase], data: str) -> str:
    """A session's data as JSON. The cache saves checking the same signature again at every input."""
    return json.dumps(kind().decode(data))


def _note_terminal(request: HttpRequest, token: str | None, columns: list[object]) -> None:
    """Note the terminal, or that there is none, if the request has a terminal's cookie."""
    if token:
        terminals.note_here(request, _TERMINALS.row(columns) if columns[0] is not None else None)


def _note_person(request: HttpRequest, session: SessionBase, columns: list[object]) -> None:
    """Note the person whom the session names, if they are active and their password and role are those of sign-in."""
    number, key = session.get(SESSION_KEY), str(session.session_key)
    if number is None or session.get(BACKEND_SESSION_KEY) != _BACKEND:
        return
    if columns[0] is None or str(columns[0]) != number:
        if len(_people) >= _MOST:
            _people.clear()
        _people[key] = int(number)
        return
    person = _STAFF.row(columns)
    sign_in_hash = session.get(HASH_SESSION_KEY, "")
    if person.is_active and constant_time_compare(sign_in_hash, person.get_session_auth_hash()):
        setattr(request, "_cached_user", person)  # noqa: B010 -- where Django's own middleware keeps it
