"""Chips on the move: post() is the only writer of transfers, and balances() reads what they add up to."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import connection, transaction

from ledger.chips import CAGE, DROP_BOX, HOUSE_PLACES, ISSUE, LAYOUT, OVER_SHORT, PLAYERS, RACK, REVERSAL
from ledger.models import HOUSE, Account, Book, Transfer
from ledger.surveillance import Draft, Head, append, seal, write

Place = tuple[str, int | None]


@dataclass(frozen=True, slots=True)
class Move:
    """One movement of chips, before it is posted."""

    kind: str
    source_account_id: int
    source_place: str
    target_account_id: int
    target_place: str
    amount_cents: int
    reverses: int | None = None

    def spelled(self) -> list[str | int | None]:
        """As the body of its entry records it, so that the log alone tells where every chip went."""
        source = f"{self.source_place}#{self.source_account_id}"
        target = f"{self.target_place}#{self.target_account_id}"
        return [self.kind, source, target, self.amount_cents, self.reverses]


@dataclass(frozen=True, slots=True)
class Chart:
    """The accounts that a book's entries may move chips between: its own, and the house's cage and issue."""

    book_id: int
    ids: Mapping[Place, int]

    def move(self, kind: str, source: str | Place, target: str | Place, amount_cents: int) -> Move:
        """A movement between places; a seat's place on the layout is ("layout", seat)."""
        start, end = ((place, None) if isinstance(place, str) else place for place in (source, target))
        return Move(kind, self.ids[start], start[0], self.ids[end], end[0], amount_cents)


INSERT_TRANSFERS = """
    INSERT INTO ledger_transfer (book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place,
        amount_cents, reverses_id) VALUES """
ONE_TRANSFER = "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"


def post(head: Head, draft: Draft, moves: Sequence[Move]) -> Head:
    """Write an entry and the chips that it moves after the head that lock() gave; returns the new head.

    One round trip. Entry, transfers, the book's new head and the announcement are stored together or not at all.
    Raises surveillance.Stale or KeyReused; any other movement that the house does not permit is an IntegrityError.
    """
    if not moves:
        return append(head, draft)
    sealed = seal(head, draft, [move.spelled() for move in moves])
    seq, legs = sealed.head.seq, len(moves)
    values: list[object] = []
    for leg, move in enumerate(moves, start=1):
        values += (
            head.book_id, seq, leg, legs, move.kind, move.source_account_id, move.source_place,
            move.target_account_id, move.target_place, move.amount_cents, move.reverses,
        )  # fmt: skip
    return write(sealed, INSERT_TRANSFERS + ", ".join([ONE_TRANSFER] * legs), values)


def reverse(transfers: Iterable[Transfer]) -> list[Move]:
    """The movements that undo these transfers, the last one first."""
    return [
        Move(REVERSAL, row.target_id, row.target_place, row.source_id, row.source_place, row.amount_cents, row.pk)
        for row in sorted(transfers, key=lambda row: (row.seq, row.leg), reverse=True)
    ]


# --- Books and accounts ---------------------------------------------------------------------------------------


def open_house() -> Book:
    """The house's book with its cage and issue; made when it is not there yet."""
    return _open(HOUSE, [(ISSUE, None), (CAGE, None), (PLAYERS, None)])


def open_table_book(name: str, seats: int) -> Book:
    """A table's book with its rack, players, drop box, over/short and a place on the layout per seat.

    Made when it is not there yet; seats that a table gained get theirs, none is ever taken away.
    """
    if name == HOUSE:
        raise ValueError(f"{HOUSE!r} is the name of the house's own book")
    own: list[Place] = [(place, None) for place in (RACK, PLAYERS, DROP_BOX, OVER_SHORT)]
    return _open(name, own + [(LAYOUT, seat) for seat in range(1, seats + 1)])


def _open(name: str, places: Iterable[Place]) -> Book:
    with transaction.atomic():
        book, _ = Book.objects.get_or_create(name=name)
        Account.objects.bulk_create(
            [Account(book=book, place=place, seat=seat) for place, seat in places], ignore_conflicts=True
        )
    return book


def chart(book_id: int) -> Chart:
    """The accounts that entries of this book may move chips between."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT place, seat, id FROM ledger_account WHERE book_id = %s OR place = ANY(%s)",
            [book_id, sorted(HOUSE_PLACES)],
        )
        return Chart(book_id, {(place, seat): account for place, seat, account in cursor.fetchall()})


# --- Balances -------------------------------------------------------------------------------------------------

NET_EFFECT = """
    WITH horizon AS (SELECT coalesce(max(through_seq), 0) AS seq FROM ledger_recount WHERE book_id = %(book)s),
    since AS (
        SELECT leg.account_id, sum(leg.cents) AS cents
        FROM ledger_transfer AS t, horizon,
            LATERAL (VALUES (t.source_id, -t.amount_cents), (t.target_id, t.amount_cents)) AS leg (account_id, cents)
        WHERE t.book_id = %(book)s AND t.seq > horizon.seq
        GROUP BY leg.account_id)
    SELECT a.id, coalesce(counted.balance_cents, 0) + coalesce(since.cents, 0)
    FROM ledger_account AS a
    LEFT JOIN since ON since.account_id = a.id
    LEFT JOIN LATERAL (
        SELECT r.balance_cents FROM ledger_recount AS r
        WHERE r.account_id = a.id AND r.book_id = %(book)s ORDER BY r.through_seq DESC LIMIT 1) AS counted ON true
    WHERE a.book_id = %(book)s OR a.scope = 0
"""


def net_effect(book_id: int) -> dict[int, int]:
    """What one book's transfers did to each account it may touch: the last recount and what followed it."""
    with connection.cursor() as cursor:
        cursor.execute(NET_EFFECT, {"book": book_id})
        return {account: int(cents) for account, cents in cursor.fetchall()}


def balances(book_id: int) -> dict[Account, int]:
    """What lies in each place of this book now. The house's places are moved by every book, so all are asked."""
    accounts = list(Account.objects.filter(book_id=book_id).order_by("place", "seat"))
    books = [book_id] if not any(account.place in HOUSE_PLACES for account in accounts) else _all_books()
    effects = [net_effect(book) for book in books]
    return {account: sum(effect.get(account.pk, 0) for effect in effects) for account in accounts}


def balance(account: Account) -> int:
    """What lies in one place now."""
    return balances(account.book_id)[account]


def _all_books() -> list[int]:
    return list(Book.objects.values_list("pk", flat=True))
