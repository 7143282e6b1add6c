"""The secret addresses of placards, derived from the table and the site's key.

Nothing on a placard is private, but addresses that can be enumerated would show all limits of the floor to anyone. The
policy *Series of the placards' addresses* is part of each: another number replaces all addresses.
"""

from __future__ import annotations

import hmac
from base64 import b32encode
from hashlib import sha256

from django.conf import settings
from django.urls import reverse

from tables.models import Table
from tables.setup import pits, policies

_LETTERS = 10
"""Short enough for the remote control of a television; 50 bits."""


def of_table(table: Table) -> str:
    """The path of a table's placard."""
    return reverse("placard", args=[f"{table.pk}-{_mark(f'table {table.pk}')}"])


def of_pit(pit: str) -> str:
    """The path of all placards of a pit."""
    return reverse("placard-pit", args=[_mark(f"pit {pit}")])


def table_of(token: str) -> Table | None:
    """The table that an address leads to, retired ones too."""
    number, _, mark = token.partition("-")
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        return None
    if not _is_mark(mark, f"table {int(number)}"):
        return None
    return Table.objects.filter(pk=int(number)).select_related("book").first()


def pit_of(mark: str) -> str | None:
    """The pit that an address leads to."""
    names = dict.fromkeys(row.pit for row in pits.sections())
    return next((name for name in names if _is_mark(mark, f"pit {name}")), None)


def _is_mark(mark: str, owner: str) -> bool:
    """Whether an address is valid under any key of the site: a printed one stays valid after a key was replaced."""
    series = policies.number("placard_series")
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(hmac.compare_digest(mark.encode(), _digest(key, series, owner).encode()) for key in keys)


def _mark(owner: str) -> str:
    return _digest(settings.SECRET_KEY, policies.number("placard_series"), owner)


def _digest(key: str, series: int, owner: str) -> str:
    digest = hmac.new(key.encode(), f"placard {series} {owner}".encode(), sha256).digest()
    return b32encode(digest).decode().lower()[:_LETTERS]
