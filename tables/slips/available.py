"""What a place can still give: its balance less what slips in progress have set aside there.

Chips that are given out or broken down lie apart and move only when they are carried. By the balance alone, two slips
could give out the same chips.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from django.db import connection

from ledger import cage
from ledger.models import HOUSE, Account
from ledger.proof.chips import HOUSE_PLACES, PLAYERS, money
from tables.log import paper
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.paper import Slip
from tables.slips import in_play


class Available(NamedTuple):
    """What a place can give now, in cents."""

    cents: int
    set_aside: Mapping[str, int]
    """By the label of each slip that has something set aside there."""

    @property
    def clauses(self) -> list[str]:
        """What is set aside, and for which slips: one clause, or none."""
        if not self.set_aside:
            return []
        return [f"{money(sum(self.set_aside.values()))} is set aside for {', '.join(self.set_aside)}"]


def of(account: Account, slip: Slip | None = None) -> Available:
    """What a place can give; all that it holds, to a slip that had its chips set aside there before its latest step.

    Exact under the lock of the account's book; for a place that all books share, while ``cage.hold_shared`` is held.
    """
    is_shared = account.place in HOUSE_PLACES or account.place == PLAYERS
    # Players carry chips from table to table: only what they hold of all of them counts.
    balance_cents = in_play.most_with_players_cents() if account.place == PLAYERS else cage.balance(account)
    if slip is not None and slip.had_set_aside(account.place):
        return Available(balance_cents, {})
    books = cage.all_books() if is_shared else [account.book_id]
    set_aside = paper.set_aside(in_progress(books), account.place)
    return Available(balance_cents - sum(set_aside.values()), set_aside)


# The newest entry about a slip lists every slip of its book that is in progress.
_NEWEST: Final = """
    SELECT book.name, newest.body FROM ledger_book AS book CROSS JOIN LATERAL (
        SELECT body FROM ledger_logentry WHERE book_id = book.id AND subject = 'slip' ORDER BY seq DESC LIMIT 1
    ) AS newest WHERE book.id = ANY(%s)
"""


def in_progress(books: list[int]) -> Iterator[Slip]:
    """The slips of some books that wait for a signature."""
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST, [books])
        rows = cursor.fetchall()
    for name, body in rows:
        yield from read_as(HouseSlipSigned if name == HOUSE else SlipSigned, body).waiting
