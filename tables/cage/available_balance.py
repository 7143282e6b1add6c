"""The available balance of a place: its balance less the amounts that slips in progress have set aside there.

Chips that are given out or broken down are set aside, and the ledger moves them only when they are carried. By the
balance alone, two slips could give out the same chips.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from ledger import cage
from ledger.models import HOUSE, Account
from ledger.proof.chips import HOUSE_PLACES, PLAYERS, money
from ledger.raw_rows import fetch_rows
from tables.cage import chips_in_play
from tables.log import slip_workflow
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.slip_workflow import Slip


class Available(NamedTuple):
    """The available balance of a place, in cents."""

    cents: int
    set_aside: Mapping[str, int]
    """Amounts in cents, by the label of the slip that has them set aside there."""

    @property
    def clauses(self) -> list[str]:
        """The total set aside and its slips, as one clause; none if nothing is set aside."""
        if not self.set_aside:
            return []
        return [f"{money(sum(self.set_aside.values()))} is set aside for {', '.join(self.set_aside)}"]


def of(account: Account, slip: Slip | None = None) -> Available:
    """The available balance of a place; the whole balance for a slip whose earlier step set its chips aside there.

    Exact under the lock of the account's book; for a place that all books share, while ``cage.hold_shared`` is held.
    """
    is_shared = account.place in HOUSE_PLACES or account.place == PLAYERS
    # Players carry chips from table to table, so their chips are counted over all tables.
    balance_cents = chips_in_play.most_with_players_cents() if account.place == PLAYERS else cage.balance(account)
    if slip is not None and slip.had_set_aside(account.place):
        return Available(balance_cents, {})
    books = cage.all_books() if is_shared else [account.book_id]
    set_aside = slip_workflow.set_aside(in_progress(books), account.place)
    return Available(balance_cents - sum(set_aside.values()), set_aside)


# The newest entry about a slip lists every slip of its book that is in progress.
_NEWEST: Final = """
    SELECT book.name, newest.body FROM ledger_book AS book CROSS JOIN LATERAL (
        SELECT body FROM ledger_logentry WHERE book_id = book.id AND subject = 'slip' ORDER BY seq DESC LIMIT 1
    ) AS newest WHERE book.id = ANY(%s)
"""


def in_progress(books: list[int]) -> Iterator[Slip]:
    """The slips of these books that need a further signature."""
    rows = fetch_rows(_NEWEST, [books])
    for name, body in rows:
        yield from read_as(HouseSlipSigned if name == HOUSE else SlipSigned, body).waiting
