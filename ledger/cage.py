"""Chip movements: ``post`` is the only writer of transfers, and ``balances`` adds them up."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from ledger.log import CHUNK, LAST_SEQ, Draft, seal, write
from ledger.models import HOUSE, Account, Book
from ledger.prepared import Statement
from ledger.proof.chain import Head
from ledger.proof.chips import (
    BANK,
    BOXES,
    CAGE,
    CASH,
    CASH_OVER_SHORT,
    DEPOSITARY,
    DROP_BOX,
    HOUSE_PLACES,
    ISSUE,
    LAYOUT,
    OVER_SHORT,
    PLAYERS,
    POT,
    RACK,
    SEAT,
    TRANSIT,
    VAULT,
    VAULT_CASH,
)
from ledger.proof.moves import Chart, Move, Place, Posted
from ledger.raw_rows import fetch_row, fetch_rows

INSERT_TRANSFERS = Statement(
    "ledger_transfers",
    "bigint, bigint, smallint, text[], bigint[], text[], bigint[], text[], bigint[], bigint[]",
    """INSERT INTO ledger_transfer (book_id, seq, legs, kind, source_id, source_place, target_id, target_place,
        amount_cents, reverses_id, leg)
    SELECT $1, $2, $3, move.* FROM unnest($4, $5, $6, $7, $8, $9, $10) WITH ORDINALITY AS move""",
)


def post(head: Head, draft: Draft, moves: Sequence[Move], *, commit: bool = False) -> Head:
    """Write an entry and its transfers after a locked head. Returns the new head.

    Takes one round trip. Entry, transfers, the log's new head and the notification are stored together or not at all.
    Raises Stale or KeyReused, and IntegrityError for a movement that the database does not permit. ``commit``: the
    transaction ends here, unless it is part of a larger one, and no query may follow in it.
    """
    # The body of the entry records the transfers too, so a transfer that is changed or added later shows in the hash
    # chain.
    sealed = seal(head, draft, [move.spelled() for move in moves])
    columns = [list(column) for column in zip(*map(astuple, moves), strict=True)]
    insert = (INSERT_TRANSFERS, [head.book_id, sealed.head.seq, len(moves), *columns])
    return write(sealed, *([insert] if moves else []), commit=commit)


# --- Books and accounts ---------------------------------------------------------------------------------------


def open_house() -> Book:
    """The site log with its vault, cage, cash, and the sources of chips and cash; created if it does not exist."""
    chips, money = (ISSUE, VAULT, CAGE, PLAYERS, OVER_SHORT), (CASH, BANK, VAULT_CASH, DEPOSITARY, CASH_OVER_SHORT)
    return _open(HOUSE, [(place, None) for place in (*chips, *money)])


def open_table_book(name: str, seats: int, *, pot: bool = False, wagers: Iterable[str] = ()) -> Book:
    """The log of a table with its rack, drop box, chips in transit, and the places of each seat: its layout, one per
    wager where wagers are kept apart or, at a table with a pot, the player's chips in play.

    It is created if it does not exist. Places that a table gained are added; none is ever removed. Raises ValueError
    for the name of the site log.
    """
    if name == HOUSE:
        raise ValueError(f"{HOUSE!r} is the name of the house's own book")
    own: list[Place] = [
        (place, None) for place in (RACK, TRANSIT, PLAYERS, OVER_SHORT, DROP_BOX, BOXES, CASH_OVER_SHORT)
    ]
    own += [(POT, None)] if pot else []
    own += [(SEAT if pot else LAYOUT, seat) for seat in range(1, seats + 1)]
    return _open(name, own + [(LAYOUT, (seat, wager)) for seat in range(1, seats + 1) for wager in wagers])


def _open(name: str, places: Iterable[Place]) -> Book:
    with transaction.atomic():
        book, _ = Book.objects.get_or_create(name=name)
        Account.objects.bulk_create([_account(book, place) for place in places], ignore_conflicts=True)
    return book


def _account(book: Book, place: Place) -> Account:
    name, spot = place
    seat, wager = spot if isinstance(spot, tuple) else (spot, None)
    return Account(book=book, place=name, seat=seat, wager=wager)


def chart(book_id: int) -> Chart:
    """The accounts that entries of this log may move chips between: its own and those of the whole site."""
    rows = fetch_rows(
        "SELECT place, seat, wager, id FROM ledger_account WHERE book_id = %s OR place = ANY(%s)",
        [book_id, sorted(HOUSE_PLACES)],
    )
    return Chart(book_id, {(place, (seat, wager) if wager else seat): account for place, seat, wager, account in rows})


# --- Balances -------------------------------------------------------------------------------------------------


def horizons(books: Sequence[int]) -> dict[int, int]:
    """The entry up to which each log has been recounted; 0 for none. The database rejects transfers at or before it."""
    rows = fetch_rows(
        "SELECT book_id, (SELECT max(through_seq) FROM ledger_recount WHERE book_id = b.book_id)"
        " FROM unnest(%s::bigint[]) AS b (book_id)",
        [list(books)],
    )
    return {book: seq or 0 for book, seq in rows}


# Each horizon is a literal in the query: from a join, the planner would expect a third of the history and read the
# whole table. One statement, so that all logs are seen in one snapshot.
NET_EFFECT = """
    WITH horizon (book_id, seq) AS (VALUES {horizons}), moved AS ({moved}),
    net (account_id, cents) AS (
        SELECT source_id, -amount_cents FROM moved
        UNION ALL SELECT target_id, amount_cents FROM moved
        UNION ALL SELECT r.account_id, r.balance_cents
        FROM horizon AS h JOIN ledger_recount AS r ON r.book_id = h.book_id AND r.through_seq = h.seq)
    SELECT account_id, sum(cents) FROM net GROUP BY account_id
"""
MOVED = "SELECT source_id, target_id, amount_cents FROM ledger_transfer WHERE book_id = %s AND seq > %s"


def net_effect(books: Sequence[int]) -> dict[int, int]:
    """The sum in cents of these logs' transfers on each account: the last recount and the transfers after it."""
    if not books:
        return {}
    ends = horizons(books)
    query = NET_EFFECT.format(
        horizons=", ".join(["(%s::bigint, %s::bigint)"] * len(ends)), moved=" UNION ALL ".join([MOVED] * len(ends))
    )
    rows = fetch_rows(query, [value for pair in ends.items() for value in pair] * 2)
    return {account: int(cents) for account, cents in rows}


def balances(book_id: int) -> dict[Account, int]:
    """The balance in cents of each place of this log. Transfers of all logs move the shared places of the site, so all
    logs are added up for them."""
    accounts = list(Account.objects.filter(book_id=book_id).order_by("place", "seat", "wager"))
    # A table's balance needs only its own log; adding up all logs would cost much more.
    shared = any(account.place in HOUSE_PLACES for account in accounts)
    net = net_effect(all_books() if shared else [book_id])
    return {account: net.get(account.pk, 0) for account in accounts}


def balance(account: Account) -> int:
    return net_effect(all_books() if account.place in HOUSE_PLACES else [account.book_id]).get(account.pk, 0)


BALANCE_AT = """
    SELECT coalesce(sum(moved.cents), 0) FROM unnest(%(books)s::bigint[], %(seqs)s::bigint[]) AS book (id, seq)
    CROSS JOIN LATERAL (SELECT coalesce(max(through_seq), 0) AS seq FROM ledger_recount
        WHERE book_id = book.id AND through_seq <= book.seq) AS since
    CROSS JOIN LATERAL (
        SELECT balance_cents FROM ledger_recount
            WHERE book_id = book.id AND through_seq = since.seq AND account_id = %(account)s
        UNION ALL SELECT -amount_cents FROM ledger_transfer
            WHERE book_id = book.id AND seq > since.seq AND seq <= book.seq AND source_id = %(account)s
        UNION ALL SELECT amount_cents FROM ledger_transfer
            WHERE book_id = book.id AND seq > since.seq AND seq <= book.seq AND target_id = %(account)s
    ) AS moved (cents)
"""


def held_by_players() -> int:
    """The chips of all tables that players hold, in cents. Players carry chips from table to table, so only the total
    has a meaning."""
    net = net_effect(all_books())
    return sum(net.get(pk, 0) for pk in Account.objects.filter(place=PLAYERS).values_list("pk", flat=True))


def balance_at(account: Account, through: Mapping[int, int]) -> int:
    """The balance in cents of an account after the given entry of each log."""
    parameters = {"books": list(through), "seqs": list(through.values()), "account": account.pk}
    return int(fetch_row(BALANCE_AT, parameters)[0])


# The last recount of each log before its entry, and the transfers after it: history that was added up before is not
# read again.
NET_EFFECT_AT = """
    SELECT moved.account, sum(moved.cents) FROM unnest(%(books)s::bigint[], %(seqs)s::bigint[]) AS book (id, seq)
    CROSS JOIN LATERAL (SELECT coalesce(max(through_seq), 0) AS seq FROM ledger_recount
        WHERE book_id = book.id AND through_seq <= book.seq) AS since
    CROSS JOIN LATERAL (
        SELECT account_id, balance_cents FROM ledger_recount WHERE book_id = book.id AND through_seq = since.seq
        UNION ALL SELECT source_id, -amount_cents FROM ledger_transfer
            WHERE book_id = book.id AND seq > since.seq AND seq <= book.seq
        UNION ALL SELECT target_id, amount_cents FROM ledger_transfer
            WHERE book_id = book.id AND seq > since.seq AND seq <= book.seq
    ) AS moved (account, cents)
    GROUP BY moved.account
"""


def net_effect_at(through: Mapping[int, int]) -> dict[int, int]:
    """The balance in cents of each account after the given entry of each log."""
    rows = fetch_rows(NET_EFFECT_AT, {"books": list(through), "seqs": list(through.values())})
    return {account: int(cents) for account, cents in rows}


def hold_shared() -> None:
    """Until the transaction ends, block other callers from taking chips or cash from places that all logs share.

    Two tables have separate locks, and meet only at the vault, the cage and the bank. Take this lock last, after all
    logs' locks: a fixed order prevents deadlocks.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('places of the house', 0))")


def all_books() -> list[int]:
    """The ids of all logs, the site log included."""
    return list(Book.objects.order_by("pk").values_list("pk", flat=True))


# --- Reading transfers ----------------------------------------------------------------------------------------


_POSTED = (
    "SELECT seq, leg, id, kind, source_id, source_place, target_id, target_place, amount_cents, reverses_id"
    " FROM ledger_transfer"
)


def _posted(cursor: CursorWrapper) -> list[Posted]:
    return [Posted(seq, leg, pk, Move(*move)) for seq, leg, pk, *move in cursor.fetchall()]


def transfers_of(book_id: int, seqs: Iterable[int]) -> list[Posted]:
    """The transfers of some entries of a log, in order."""
    with connection.cursor() as cursor:
        cursor.execute(f"{_POSTED} WHERE book_id = %s AND seq = ANY(%s) ORDER BY seq, leg", [book_id, list(seqs)])
        return _posted(cursor)


def transfers(book_id: int, since: int = 0, through: int | None = None) -> Iterator[Posted]:
    """The transfers of a log's entries after ``since``, in order, at most CHUNK in memory at a time."""
    last, limit = (since + 1, -1, -1), through if through is not None else LAST_SEQ
    while True:
        with connection.cursor() as cursor:
            cursor.execute(
                f"{_POSTED} WHERE book_id = %s AND seq >= %s AND seq <= %s AND (seq, leg, id) > (%s, %s, %s)"
                " ORDER BY seq, leg, id LIMIT %s",
                [book_id, last[0], limit, *last, CHUNK],
            )
            page = _posted(cursor)
        yield from page
        if len(page) < CHUNK:
            return
        last = (page[-1].seq, page[-1].leg, page[-1].id)
