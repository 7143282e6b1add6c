"""Exports audit bundles: everything that an outsider needs to verify some gaming days, and no secrets.

Only sealed days are exported. Equal days produce equal bytes on any host and at any time, once a witness saw them
sealed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from typing import IO, Any

from ledger import replica
from ledger.cage import transfers
from ledger.log import entries, read_head
from ledger.models import HOUSE, Book, BookRoot, DayRoot, LogEntry, Transfer
from ledger.proof import merkle
from ledger.proof.chain import Head
from ledger.proof.chips import REVERSAL
from ledger.proof.moves import Posted
from ledger.proof.spelling import canonical
from tables.audit import roots, witness_part
from tables.audit.outside.bundle import FORMATS, KEYS, ROOTS, WITNESS, Writer, book_part, leaves_part
from tables.log.catalog import read
from tables.log.entries.keys import AboutKey
from tables.log.entries.terminal_keys import AboutTerminalKey
from tables.state import table_state


class NotYet(Exception):
    """These days cannot be exported; the message says why in one sentence."""


def export(first: date, last: date, file: IO[bytes]) -> None:
    """Write the bundle of some gaming days, read from the replica if there is one. Raises NotYet and Unread."""
    # An export reads whole logs: on the primary it would slow the dealers down.
    with replica.reading():
        _export(first, last, file)


def _export(first: date, last: date, file: IO[bytes]) -> None:
    _refuse(first, last)
    writer = Writer(file)
    writer.part(KEYS, map(canonical, _keys()))
    writer.part(ROOTS, map(canonical, _roots(last)))
    for day in _days(first - timedelta(days=1), last):
        if leaves := roots.leaves_of(day):
            writer.part(leaves_part(day.isoformat()), leaves)
    rows = BookRoot.objects.filter(day=last).select_related("book")
    for number, row in enumerate(sorted(rows, key=lambda row: row.book.name), 1):
        _write_book(writer, number, row.book, first, last)
    # Only a bundle with a witness part needs the fourth format.
    if testimony := list(witness_part.lines_of(DayRoot.objects.get(day=last))):
        writer.part(WITNESS, testimony)
        writer.format = FORMATS[3]
    writer.close(first.isoformat(), last.isoformat())


def _refuse(first: date, last: date) -> None:
    count = DayRoot.objects.filter(day__gte=first, day__lte=last).count()
    if first > last:
        raise NotYet(f"{first} comes after {last}: name the first day first.")
    if count != (last - first).days + 1:
        days = DayRoot.objects.order_by("number").values_list("day", flat=True)
        span = f"{days[0]} to {days[len(days) - 1]}" if days else "none yet"
        raise NotYet(f"Days are exported once they are over and sealed, and those that are sealed are: {span}.")
    for row in BookRoot.objects.filter(day=last).exclude(book__name=HOUSE).select_related("book"):
        _refuse_secrets(row)


def _refuse_secrets(row: BookRoot) -> None:
    """Raise NotYet while a game with hidden cards, whose first entries are in these days, is still in progress: its
    bodies would reveal the cards."""
    sealed_round = table_state.at(Head(row.book_id, row.book.name, row.last_seq, bytes(row.head_hash))).round
    current_round = table_state.at(read_head(row.book_id)).round
    if sealed_round is None or current_round is None or sealed_round.number != current_round.number:
        return
    if current_round.secret and not current_round.over:
        raise NotYet(f"A game that hides cards is going on at {row.book.name}: export the day when it is over.")


def _days(first: date, last: date) -> Iterator[date]:
    while first <= last:
        yield first
        first += timedelta(days=1)


def _keys() -> Iterator[dict[str, Any]]:
    keys = LogEntry.objects.of_site().filter(subject=AboutKey.subject).order_by("seq")
    for kind, body in keys.values_list("kind", "body").iterator():
        yield read(AboutKey.subject, kind, body, house=True).content()


def _roots(last: date) -> Iterator[dict[str, Any]]:
    for body, signature in DayRoot.objects.filter(day__lte=last).order_by("number").values_list("body", "signature"):
        yield {"document": json.loads(bytes(body)), "signature": bytes(signature).hex()}


# --- one book --------------------------------------------------------------------------------------------------


def _write_book(writer: Writer, number: int, book: Book, first: date, last: date) -> None:
    firsts = list(BookRoot.objects.filter(book=book, day__lte=last).order_by("day").values_list("day", "first_seq"))
    start = next(seq for day, seq in firsts if day >= first)
    end = BookRoot.objects.get(book=book, day=last).last_seq
    earlier = _older_seqs(book, first, start, end)
    places = _places(book, earlier)
    if _has_short_bodies(book, end):
        # The oldest format that suffices: verifiers of that time can still read old days.
        writer.format = max(writer.format, FORMATS[1])
    if book.name == HOUSE and _has_terminal_keys(book, end):
        writer.format = FORMATS[2]
    writer.part(book_part(number, "carried"), map(canonical, _carried_entries(book, earlier, places)))
    writer.part(book_part(number, "proofs"), map(canonical, _proofs(places)))
    writer.part(book_part(number, "entries"), _entries(book, start, end))
    writer.part(book_part(number, "transfers"), (_row(posted) for posted in transfers(book.pk, start - 1, end)))


def _has_short_bodies(book: Book, last: int) -> bool:
    """Whether a bundle up to an entry needs the second format. Once a log has such an entry, all later ones are of
    it."""
    body = LogEntry.objects.filter(book=book, seq=last).order_by("seq").values_list("body", flat=True).first()
    return body is not None and not bytes(body).startswith(b"{")


def _has_terminal_keys(book: Book, last: int) -> bool:
    return LogEntry.objects.filter(book=book, subject=AboutTerminalKey.subject, seq__lte=last).exists()


def _entries(book: Book, start: int, end: int) -> Iterator[bytes]:
    for entry in entries(book.pk, start - 1, end):
        yield bytes(entry.hash).hex().encode() + b" " + entry.line


def _row(posted: Posted) -> bytes:
    return json.dumps(_columns(posted), separators=(",", ":")).encode()


def _columns(posted: Posted) -> list[Any]:
    move = posted.move
    places = (move.source_account_id, move.source_place, move.target_account_id, move.target_place)
    return [posted.id, posted.seq, posted.leg, move.kind, *places, move.amount_cents, move.reverses]


def _older_seqs(book: Book, first: date, start: int, end: int) -> list[int]:
    """The older entries that these days depend on: those that the day before named, and those whose transfers are
    reversed."""
    before = BookRoot.objects.filter(book=book, day__lt=first).order_by("-day").first()
    if before is None:
        return []
    reversals = Transfer.objects.filter(book=book, seq__gte=start, seq__lte=end, kind=REVERSAL).values("reverses_id")
    sources = Transfer.objects.filter(pk__in=reversals, seq__lt=start).values_list("seq", flat=True)
    return sorted({*json.loads(bytes(before.body))["carried"], *sources})


_Place = tuple[BookRoot, Sequence[int]]


def _places(book: Book, seqs: Iterable[int]) -> list[_Place]:
    """The roots of the days on which these entries were written, each with the numbers of its entries among them."""
    days: dict[int, BookRoot] = {}
    grouped: dict[int, list[int]] = defaultdict(list)
    for seq in seqs:
        row = next((row for row in days.values() if row.first_seq <= seq <= row.last_seq), None)
        row = row or BookRoot.objects.get(book=book, first_seq__lte=seq, last_seq__gte=seq)
        days[row.pk] = row
        grouped[row.pk].append(seq)
    return [(days[pk], numbers) for pk, numbers in grouped.items()]


def _carried_entries(book: Book, seqs: Sequence[int], places: Sequence[_Place]) -> Iterator[dict[str, Any]]:
    """Older entries, each with its inclusion proof in its day's root."""
    paths: dict[int, tuple[str, list[str]]] = {}
    for row, numbers in places:
        # One tree per day serves all of its entries: hashing the day once is the costly part.
        tree = merkle.Proofs(roots.hashes(book.pk, row.first_seq, row.last_seq))
        for seq in numbers:
            paths[seq] = row.day.isoformat(), [digest.hex() for digest in tree.inclusion(seq - row.first_seq)]
    for seq in seqs:
        entry, (day, path) = next(entries(book.pk, seq - 1, seq)), paths[seq]
        yield {
            "seq": seq,
            "day": day,
            "path": path,
            "previous": bytes(entry.prev_hash).hex() if entry.prev_hash else None,
            "body": entry.line.decode(),
            "transfers": [_columns(posted) for posted in transfers(book.pk, seq - 1, seq)],
        }


def _proofs(places: Sequence[_Place]) -> Iterator[dict[str, Any]]:
    """For each of those days, the inclusion proof of this log's document in the signed root."""
    for row, _ in sorted(places, key=lambda place: place[0].day):
        leaves = roots.leaves_of(row.day)
        index = leaves.index(bytes(row.body))
        path = [digest.hex() for digest in merkle.inclusion(index, leaves)]
        yield {"day": row.day.isoformat(), "index": index, "leaf": json.loads(bytes(row.body)), "path": path}
