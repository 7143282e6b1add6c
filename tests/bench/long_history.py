"""Puts years of short rounds behind a table for a benchmark, chained and settled exactly as record() would do it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from time import perf_counter

import psycopg

from ledger.log import read_head
from ledger.models import LogEntry, Transfer
from ledger.proof import spelling
from ledger.proof.chain import Head
from ledger.proof.spelling import Heading
from tables.models import Staff, Table
from tables.state import table_state
from tests.floor import Hand

ENTRY = """COPY ledger_logentry
    (book_id, seq, at, subject, kind, round, by, key, legs, body, hash) FROM STDIN"""
TRANSFER = """COPY ledger_transfer
    (book_id, seq, leg, legs, kind, source_id, source_place, target_id, target_place, amount_cents) FROM STDIN"""
SHOES_AT_ONCE = 500


ROUNDS_A_SHOE = 20


def lay_history(table: Table, dealer: Staff, rounds: int, *, alone: bool = True) -> None:
    """Deal a shoe of short rounds and repeat it by COPY, as the tables' owner. The proof holds for all of them.

    With many tables pass ``alone=False``, and call ``tidy_up`` once at the end.
    """
    began = perf_counter()
    hand = Hand(table, dealer)
    _copy(table, -(-rounds // ROUNDS_A_SHOE), _deal_shoe(hand))
    if alone:
        tidy_up()
        print(f"  ({rounds:,} rounds, {hand.now.seq:,} entries written in {perf_counter() - began:.0f} s)")


@dataclass(frozen=True)
class DealtShoe:
    entries: Sequence[LogEntry]

    @property
    def number(self) -> int:
        return int(self.entries[0].content["opening"]["shoe"])

    @property
    def first_round(self) -> int:
        return self.entries[0].round or 0

    @property
    def moment(self) -> datetime:
        """The time of all repeated entries: no entry may be older than the one before it."""
        return self.entries[-1].at


def _deal_shoe(hand: Hand) -> DealtShoe:
    """Deal rounds with one seat that folds, until the next shoe is ready; returns their entries."""
    before = hand.now.seq
    for _ in range(ROUNDS_A_SHOE):
        hand.bets(seat1=1_000)
        hand.cards(8, 9)
        hand("choose", seat=1, choice="fold")
        hand.pay()
    hand("retire_shoe")
    hand.ready_shoe()
    return DealtShoe(list(LogEntry.objects.filter(book_id=hand.table.book_id, seq__gt=before).order_by("seq")))


def tidy_up() -> None:
    """Vacuum and analyze, as the database does by itself in time: its plans depend on it."""
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"], autocommit=True) as owner:
        owner.execute("VACUUM ANALYZE ledger_logentry, ledger_transfer, ledger_book")


def _copy(table: Table, shoes: int, dealt: DealtShoe) -> None:
    head, first_round = read_head(table.book_id), table_state.of(table).next_number
    first_shoe = dealt.number + 1
    stencils = [Stencil.of(entry, head, dealt) for entry in dealt.entries]
    with psycopg.connect(os.environ["DATABASE_OWNER_URL"]) as owner, owner.cursor() as cursor:
        for start in range(0, shoes, SHOES_AT_ONCE):
            numbers = range(start, min(start + SHOES_AT_ONCE, shoes))
            places = ((first_shoe + number, first_round + number * ROUNDS_A_SHOE) for number in numbers)
            history = _repeat(stencils, head, places)
            with cursor.copy(ENTRY) as rows:
                rows.write("".join(history.entries))
            with cursor.copy(TRANSFER) as rows:
                rows.write("".join(history.transfers))
            head = history.head
            cursor.execute(
                "UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s",
                [head.seq, head.hash, table.book_id],
            )
            owner.commit()


SEQ, ROUND, SHOE, NEXT_SHOE, READY = 8_888_888_888, 7_777_777_777, 6_666_666_666, 5_555_555_555, 4_444_444_444
"""Placeholders in a stencil for the numbers that differ between entries. READY is the entry that made the shoe
ready."""
PLACES = {SEQ: "seq", ROUND: "round", SHOE: "shoe", NEXT_SHOE: "next_shoe", READY: "ready"}
TRANSFER_COLUMNS = (
    "leg", "legs", "kind", "source_id", "source_place", "target_id", "target_place", "amount_cents",
)  # fmt: skip


@dataclass(frozen=True)
class Stencil:
    """An entry to repeat: its heading and body in the form that is hashed, its row and its transfers in COPY's
    format."""

    heading: str
    body: str
    columns: str
    transfers: str
    offset: int
    """The number of its round within the shoe, from 0."""

    @staticmethod
    def of(entry: LogEntry, head: Head, dealt: DealtShoe) -> Stencil:
        round_number, moment = None if entry.round is None else ROUND, dealt.moment
        heading = Heading(
            book=head.name, seq=SEQ, at=moment, subject=entry.subject, kind=entry.kind, round=round_number,
            by=entry.by, key=None,
        )  # fmt: skip
        columns = [
            head.book_id, SEQ, moment, entry.subject, entry.kind, round_number or r"\N", entry.by, r"\N", entry.legs,
        ]  # fmt: skip
        content = dict(entry.content)
        if "opening" in content:
            content["opening"] = content["opening"] | {"shoe": SHOE}
        if shoe := content.get("shoe"):
            number = SHOE if shoe["number"] == dealt.number else NEXT_SHOE
            content["shoe"] = shoe | {"number": number, "ready_seq": shoe["ready_seq"] and READY}
        legs = Transfer.objects.filter(book_id=head.book_id, seq=entry.seq).order_by("leg")
        transfers = (_tab_separated([head.book_id, SEQ, *leg]) for leg in legs.values_list(*TRANSFER_COLUMNS))
        return Stencil(
            heading=_template(heading.spelled().decode()),
            body=_template(spelling.spell(entry.subject, content, entry.parts.moves).decode()),
            columns=_template(_tab_separated(columns)),
            transfers=_template("".join(f"{transfer}\n" for transfer in transfers)),
            offset=(entry.round or dealt.first_round) - dealt.first_round,
        )


def _template(text: str) -> str:
    """The text as a format string, with the placeholder numbers as its fields."""
    text = text.replace("%", "%%")
    for number, name in PLACES.items():
        text = text.replace(str(number), f"%({name})d")
    return text


def _tab_separated(row: Iterable[object]) -> str:
    return "\t".join(str(value) for value in row)


@dataclass(frozen=True)
class History:
    """Repeated entries and transfers in COPY's format, and the book's head after them."""

    head: Head
    entries: list[str]
    transfers: list[str]


def _repeat(stencils: Sequence[Stencil], head: Head, shoes: Iterable[tuple[int, int]]) -> History:
    """Repeat the entries after a head, for each shoe's number and its first round's number."""
    entries, transfers, digest, seq = [], [], head.hash or b"", head.seq
    for shoe, first in shoes:
        ready = seq
        for stencil in stencils:
            seq += 1
            place = {"seq": seq, "round": first + stencil.offset, "shoe": shoe, "next_shoe": shoe + 1, "ready": ready}
            body = (stencil.body % place).encode()
            digest = sha256(b"%b%b %b" % (digest, (stencil.heading % place).encode(), body)).digest()
            entries.append(f"{stencil.columns % place}\t\\\\x{body.hex()}\t\\\\x{digest.hex()}\n")
            transfers.append(stencil.transfers % place)
    return History(replace(head, seq=seq, hash=digest), entries, transfers)
