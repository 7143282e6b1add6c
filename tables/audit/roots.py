"""The signed document about one log's part of a day: the root of its entries, and everything that the next day depends
on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

from django.db.models import Min, Q

from ledger import clock_corrections
from ledger.models import HOUSE, Account, Book, BookRoot, LogEntry, Slip
from ledger.proof import merkle, seals
from ledger.proof.chain import Head
from ledger.proof.chips import HOUSE_PLACES
from ledger.recount import moved_cents
from tables.floor import signature_checks
from tables.log.catalog import read_as
from tables.log.entries.keys import AboutKey
from tables.log.entries.rounds import Played
from tables.log.entries.settings import TableSet
from tables.log.entries.shoes import Shuffled
from tables.reports import gaming_hours
from tables.setup import pit_assignments
from tables.state import table_state


def leaves_of(day: date) -> list[bytes]:
    """The leaves of a day's tree: the documents of all logs, sorted by their names."""
    rows = BookRoot.objects.filter(day=day).values_list("book__name", "body")
    return [bytes(body) for _, body in sorted(rows)]


def document_of(book: Book, day: date, first: int, last: int, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The document about one log's part of a day: the root of its entries, and everything that the next day depends
    on."""
    head_hash = hash_at(book, last)
    spans = [[mend.entry, *mend.spelled()] for mend in clock_corrections.of(book.pk, first, last)]
    return {
        # Left out if empty, so that documents from before this member existed are computed unchanged.
        **({"mended": spans} if spans else {}),
        "format": seals.BOOK_ROOT,
        "book": book.name,
        "day": day.isoformat(),
        "first": first,
        "last": last,
        "head": head_hash.hex(),
        "root": merkle.root(hashes(book.pk, first, last)).hex(),
        "accounts": _accounts(book, first, last, before),
        "slips": _slips(book, first, last),
        "carried": carried_seqs(Head(book.pk, book.name, last, head_hash), gaming_hours.span(day).end),
    }


def hashes(book_id: int, first: int, last: int) -> Iterator[bytes]:
    """The leaves of a log's tree: the hashes of its entries, each of which covers the whole history before it."""
    entries = LogEntry.objects.filter(book_id=book_id, seq__gte=first, seq__lte=last).order_by("seq")
    for digest in entries.values_list("hash", flat=True).iterator():
        yield bytes(digest)


def hash_at(book: Book, seq: int) -> bytes:
    return bytes(LogEntry.objects.values_list("hash", flat=True).get(book=book, seq=seq))


def _accounts(book: Book, first: int, last: int, before: Mapping[str, Any] | None) -> list[list[Any]]:
    """[account, place, seat, cents] for each place of a log, and its net effect on the shared places. Where a seat's
    wagers are kept apart, the seat is [seat, wager]."""
    balances = {account: cents for account, _, _, cents in (before["accounts"] if before else ())}
    changes = moved_cents(book.pk, first - 1, last)
    places = Account.objects.filter(Q(book=book) | Q(place__in=sorted(HOUSE_PLACES)))
    return [
        [place.pk, place.place, place.spot, balances.get(place.pk, 0) + changes.get(place.pk, 0)]
        for place in places.order_by("pk")
    ]


def _slips(book: Book, first: int, last: int) -> list[list[Any]]:
    """[entry, slip] for each slip that started in a log's part of the day."""
    slips = Slip.objects.filter(book=book, seq__gte=first, seq__lte=last).order_by("seq")
    return [[slip.seq, str(slip)] for slip in slips]


def read_document(body: bytes | memoryview) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(bytes(body))
    return document


# --- What the next day rests on ----------------------------------------------------------------------------------


def carried_seqs(head: Head, ends: datetime) -> list[int]:
    """The numbers of the entries that define a log's state at the end of a day: a verifier of the next day alone
    replays these first. ``ends``: the end of the day."""
    seqs = {*table_state.registers(head)}
    if head.name == HOUSE:
        return sorted(seqs | {*_key_entries(head), *pit_assignments.history(head.seq).rests_on(ends)})
    return sorted(seqs | {*_setting_entries(head), *_shoe_entries(head)})


def _key_entries(head: Head) -> Iterable[int]:
    """The entries about the site's keys, terminal keys and signing passkeys: signatures of later days are verified with
    them, and with those who vouched for them."""
    subjects = (AboutKey.subject, *signature_checks.SUBJECTS)
    entries = LogEntry.objects.filter(book_id=head.book_id, subject__in=subjects, seq__lte=head.seq)
    return entries.values_list("seq", flat=True)


def _setting_entries(head: Head) -> Iterable[int]:
    """For each setting of a table, the entry that set it last."""
    entries = LogEntry.objects.filter(book_id=head.book_id, subject="table", kind="settings_changed", seq__lte=head.seq)
    latest: dict[str, int] = {}
    for seq, body in entries.order_by("seq").values_list("seq", "body"):
        latest |= dict.fromkeys(read_as(TableSet, body).after, seq)
    return latest.values()


def _shoe_entries(head: Head) -> Iterable[int]:
    """The entries since the commitment to the electronic shoe in use: its cards are verified when it is opened."""
    shoe = table_state.at(head).shoe
    if shoe is None or shoe.commitment is None:
        return ()
    entries = LogEntry.objects.filter(book_id=head.book_id, seq__lte=head.seq)
    shuffled = entries.filter(subject="shoe", kind="shuffled").order_by("-seq").values_list("seq", "body").first()
    assert shuffled is not None  # noqa: S101 -- nothing else commits first
    seq, body = shuffled
    if read_as(Shuffled, body).shoe.commitment == shoe.commitment:
        # The order stays sealed until the shoe ends, so the next day needs each card dealt from it so far.
        return range(seq, head.seq + 1)
    start = _reshuffle(head, seq, shoe.commitment)
    on_the_table = entries.filter(subject="shoe", seq__lt=start).order_by("-seq").values_list("seq", flat=True)[:1]
    return [*on_the_table, *range(start, head.seq + 1)]


def _reshuffle(head: Head, since: int, commitment: str) -> int:
    """The first entry of the round in which the discards were shuffled. Raises LookupError if no entry has this
    commitment."""
    rounds = LogEntry.objects.filter(book_id=head.book_id, subject="round", seq__lte=head.seq)
    plays = rounds.filter(seq__gt=since, kind=Played.kinds[0]).order_by("-seq").values_list("round", "body")
    for number, body in plays.iterator():
        if read_as(Played, body).commitment == commitment:
            return int(rounds.filter(round=number).aggregate(seq=Min("seq"))["seq"])
    raise LookupError(f"no entry of {head.name} commits to {commitment}")
