"""Seals gaming days: a Merkle root for each log, one over all logs, signed and chained to the day before.

A log's part of a day has its entries before the day's end and after the part of the day before. Several workers may
seal at once: unique constraints admit each row once, and a later worker finds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.db.models import Min

from ledger import alerts, clock, clock_corrections, log, sealed_note, site_log
from ledger.clock import WrongClock
from ledger.log import Draft
from ledger.models import HOUSE, Book, BookRoot, DayRoot, LogEntry
from ledger.proof import merkle, seals
from ledger.proof.chain import Fault, Head
from ledger.proof.seals import BadKey
from ledger.proof.spelling import canonical, timestamp
from ledger.sealed_note import Note
from tables.audit import activity_checks, keys, root_faults, roots, sealed_note_checks
from tables.audit.sealed_note_checks import BY
from tables.log.entries.days import DayRootDocument, DaySealed
from tables.reports import gaming_hours

GRACE: Final = timedelta(minutes=5)
"""The delay of sealing after the end of a day, in which transactions of that day commit."""


# --- Which days ------------------------------------------------------------------------------------------------


def unsealed(present: datetime) -> Iterator[date]:
    """The gaming days that are over and not sealed, in order."""
    last = DayRoot.objects.order_by("-number").values_list("day", flat=True).first()
    if last is None:
        began = LogEntry.objects.filter(seq=1).aggregate(at=Min("at"))["at"]
        if began is None:
            return
        day = gaming_hours.day_of(began)
    else:
        day = last + timedelta(days=1)
    while gaming_hours.span(day)[1] + GRACE <= present:
        yield day
        day += timedelta(days=1)


# --- Sealing ---------------------------------------------------------------------------------------------------


def seal_finished() -> list[DayRoot]:
    """Seal each gaming day that is over. Raises BadKey if the key is missing or must not sign this database, and
    WrongClock if the time is in doubt."""
    return [seal(day) for day in list(unsealed(clock.agreed()))]


def seal_days() -> int:
    """Seal all missed days; if that fails, raise an alert. Returns the number of faults."""
    try:
        seal_finished()
    except WrongClock as wrong:
        alerts.about_the_clock(wrong)
        return 1
    except BadKey as wrong:
        alerts.raise_alert(Book.objects.filter(name=HOUSE).first(), "not_sealed", f"No day can be sealed: {wrong}")
        return 1
    return 0


def seal(day: date) -> DayRoot:
    """Seal one day after all days before it, or return its existing seal. Raises BadKey and WrongClock."""
    key = keys.the_key()
    # A seal by an unpublished key would convince no verifier.
    keys.refuse_another(key)
    note = sealed_note_checks.agreed(seals.public_of(key))
    activity_checks.refuse_day(gaming_hours.span(day)[1] + GRACE, clock.agreed())
    # Logs are hashed before the site log is locked: that takes long, and writers of the site log would wait.
    for book in Book.objects.filter(head_seq__gt=0).order_by("pk"):
        seal_book(book, day, note)
    with transaction.atomic():
        head = site_log.lock()
        # Another worker may have signed the day while this one waited.
        row = DayRoot.objects.filter(day=day).first()
        return row or _sign(head, day, key)


def _sign(head: Head, day: date, key: Ed25519PrivateKey) -> DayRoot:
    """Sign a day under the lock of the site log, and write the signature there.

    The note next to the key has the day before the commit: a day that was signed is never signed with other contents.
    """
    head = keys.published_head(head, key)
    note = sealed_note_checks.agreed(seals.public_of(key))
    before = newest_root()
    if before and before.day + timedelta(days=1) != day:
        raise ValueError(f"{before.day} was sealed last: {day} does not follow it")
    leaves, (begins, ends) = roots.leaves_of(day), gaming_hours.span(day)
    slips = [slip for leaf in leaves for _, slip in roots.read_document(leaf)["slips"]]
    number = before.number + 1 if before else 1
    document = {
        "format": seals.DAY_ROOT,
        "number": number,
        "day": day.isoformat(),
        "begins": timestamp(begins),
        "ends": timestamp(ends),
        "books": len(leaves),
        "root": merkle.root(leaves).hex(),
        "slips": seals.numbered(roots.read_document(before.body)["slips"] if before else [], slips)[0],
        "previous": before.digest if before else None,
        "key": seals.public_of(key),
    }
    digest = seals.hash_of(document)
    books = sealed_note_checks.heads_of(BookRoot.objects.filter(day=day).select_related("book"))
    next_note = note.with_day(number, day.isoformat(), digest, books)
    signature = seals.sign(key, document)
    event = DaySealed(document=msgspec.convert(document, DayRootDocument), signature=signature.hex())
    log.append(head, Draft.of(event, BY))
    row: DayRoot = DayRoot.objects.create(
        day=day,
        number=number,
        prev_number=before.number if before else None,
        prev_hash=before.hash if before else None,
        body=canonical(document),
        hash=bytes.fromhex(digest),
        signature=signature,
        at=head.moment,
    )
    # The last step before the commit: if either fails after it, the note has at most one day that is not stored yet.
    sealed_note.write(sealed_note_checks.note_file(), next_note, key)
    return row


def seal_book(book: Book, day: date, note: Note) -> BookRoot | None:
    """The root of one log's part of a day; None for a log without entries by then.

    Nothing is stored if the log's chain does not lead there from the head in the last note. Raises BadNote.
    """
    root = BookRoot.objects.filter(book=book, day=day).first()
    if root is not None:
        sealed_note_checks.refuse_rewritten(note, Head(book.pk, book.name, root.last_seq, bytes(root.head_hash)))
        return root
    day_before = BookRoot.objects.filter(book=book, day__lt=day).order_by("-day").first()
    first = day_before.last_seq + 1 if day_before else 1
    last = max(first - 1, clock_corrections.last_before(book.pk, gaming_hours.span(day)[1]))
    if last == 0:
        return None
    sealed_note_checks.refuse_rewritten(note, Head(book.pk, book.name, last, roots.hash_at(book, last)))
    opening = roots.read_document(day_before.body) if day_before else None
    document = roots.document_of(book, day, first, last, opening)
    root = BookRoot(
        book=book, day=day, first_seq=first, last_seq=last, head_hash=bytes.fromhex(document["head"]),
        body=canonical(document),
    )  # fmt: skip
    # A concurrent worker computed an equal root: the first one stored is kept.
    BookRoot.objects.bulk_create([root], ignore_conflicts=True)
    return BookRoot.objects.get(book=book, day=day)


# --- Reading ---------------------------------------------------------------------------------------------------


def newest_root() -> DayRoot | None:
    """The newest signed root, of the gaming day that ended last; None before the first.

    The public writes it down from the pit's screen: any later rewrite of a day up to it is noticed.
    """
    row: DayRoot | None = DayRoot.objects.order_by("-number").first()
    return row


# --- Holding the roots against the log -------------------------------------------------------------------------


def wrong_root(book: Book, since: int = 0) -> Fault | None:
    """The first root of a log after an entry that differs from one computed from the log; for the site log, also of the
    sealed days. None if all agree."""
    if (fault := root_faults.wrong_book_root(book, since)) is not None or book.name != HOUSE:
        return fault
    return keys.wrong_key(book) or root_faults.wrong_day(book, since)
