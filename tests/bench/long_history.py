"""Years of rounds behind a table, for a benchmark: short ones, chained and settled as record() would have."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from time import perf_counter
from typing import Any

import psycopg

from ledger.cage import chart
from ledger.log import Draft, Sealed, read_head, seal
from ledger.models import LogEntry
from ledger.proof.chain import Head
from ledger.proof.moves import Chart
from tables import standing
from tables.models import Staff, Table
from tests.floor import Hand

ENTRY = """COPY ledger_logentry
    (book_id, seq, at, subject, kind, round, by, key, legs, body, hash) FROM STDIN"""
TRANSFER = """COPY ledger_transfer
    (book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place, amount_cents) FROM STDIN"""
AT_ONCE = 10_000


def lay_history(table: Table, dealer: Staff, rounds: int, *, alone: bool = True) -> None:
    """Add rounds of one seat that folds, as the owner of the tables, by COPY; then a fresh shoe. Whoever lays it at
    many tables tidies up once, at the end."""
    began = perf_counter()
    hand = Hand(table, dealer)
    hand("bet", seat=1, amount_cents=1_000)
    opening = LogEntry.objects.filter(book_id=table.book_id).latest("seq")
    hand("take_back")
    _copy(table, rounds, opening.content["opening"])
    hand("retire_shoe")
    hand.ready_shoe()
    if alone:
        tidy_up()
        print(f"  ({rounds:,} rounds, {hand.now.seq:,} entries laid in {perf_counter() - began:.0f} s)")


def tidy_up() -> None:
    """As the database does by itself in time, and what its plans are made by."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE ledger_logentry, ledger_transfer, ledger_book")


def _copy(table: Table, rounds: int, opening: dict[str, Any]) -> None:
    head, first = read_head(table.book_id), standing.of(table).next_number
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner, owner.cursor() as cursor:
        for start in range(first, first + rounds, AT_ONCE):
            sealed = list(
                _rounds(head, chart(table.book_id), range(start, min(start + AT_ONCE, first + rounds)), opening)
            )
            head = sealed[-1][0].head
            with cursor.copy(ENTRY) as rows:
                for entry, _ in sealed:
                    rows.write_row(entry.row)
            with cursor.copy(TRANSFER) as rows:
                for _, transfers in sealed:
                    for transfer in transfers:
                        rows.write_row(transfer)
            cursor.execute(
                "UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s",
                [head.seq, head.hash, table.book_id],
            )
            owner.commit()


Rows = tuple[Sealed, list[tuple[Any, ...]]]


def _rounds(head: Head, accounts: Chart, numbers: range, opening: dict[str, Any]) -> Iterator[Rows]:
    at, layout = datetime.now(UTC), ("layout", 1)
    why = "folds for the lowest card, 8: pays 8/10 of the bet"
    paid = {"seat": 1, "staked_cents": 1_000, "returned_cents": 200, "outcome": "fold", "card": 8, "why": why}
    contents: list[dict[str, Any]] = [
        {"actions": [{"do": "bet", "seat": 1, "amount_cents": 1_000}], "opening": opening},
        {"actions": [{"do": "close_bets"}]},
        {"actions": [{"do": "card", "rank": 8, "to": 1}]},
        {"actions": [{"do": "card", "rank": 9, "to": 0}]},
        {"actions": [{"do": "choose", "seat": 1, "choice": "fold"}], "decided": [paid]},
    ]
    moves = [
        accounts.move("stake", "players", layout, 1_000),
        accounts.move("loss", layout, "rack", 800),
        accounts.move("return", layout, "players", 200),
    ]
    for number in numbers:
        for content in contents:
            settles = moves if "decided" in content else []
            draft = Draft("round", "play", "101 Dora", content, number, at=at)
            sealed = seal(head, draft, [move.spelled() for move in settles])
            head = sealed.head
            yield sealed, [
                (
                    head.book_id, head.seq, leg, len(moves), move.kind, move.source_account_id, move.source_place,
                    move.target_account_id, move.target_place, move.amount_cents,
                )
                for leg, move in enumerate(settles, 1)
            ]  # fmt: skip
