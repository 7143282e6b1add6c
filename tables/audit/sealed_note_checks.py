"""Compares the database with the note next to the key: before a day is signed, and whenever the log is verified."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

import msgspec
from django.conf import settings
from django.db import transaction

from ledger import log, sealed_note, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, BookRoot, DayRoot, LogEntry
from ledger.proof import seals
from ledger.proof.chain import Broken, Fault, Head, walk
from ledger.proof.seals import BadKey
from ledger.raw_rows import fetch_rows
from ledger.sealed_note import HOW, BadNote, Note
from tables.log.catalog import read_as
from tables.log.entries.days import NoteRestored, Restoration
from tables.log.entries.keys import KeyRotated
from tables.log.signatory import document_fault
from tables.models import Staff

BY: Final = "sealing"
"""The author, in the log, of entries that the site's key signs; not a staff member."""


def key_file() -> Path:
    """The path of the site's key. Raises BadKey if none is configured."""
    if not settings.AUDIT_KEY_FILE:
        raise BadKey("No key file is set: name one in AUDIT_KEY_FILE, and make the key with `manage.py audit key`.")
    return Path(settings.AUDIT_KEY_FILE)


def note_file() -> Path:
    """The path of the note, next to the key. Raises BadKey if no key is configured."""
    return sealed_note.path_of(key_file())


# --- Holding them together -------------------------------------------------------------------------------------


def agreed(public: str) -> Note:
    """The note, if the database matches it. Raises BadNote, naming the log or the day."""
    content = sealed_note.read(note_file())
    if content is None:
        if DayRoot.objects.exists():
            raise BadNote(
                f"The house has sealed days, and no note of them at {note_file()}. Is the worker on another host than"
                " before? If not: `manage.py audit key --note` proves everything and makes one."
            )
        return Note()
    note, signer = content
    # After a rotation the note may still have the old key's signature; any other key would be an attacker's.
    if signer != public and public not in _successors(signer):
        raise BadNote(f"{note_file()} was signed by another key, {signer[:16]}; {HOW}.")
    _refuse_books(note)
    _refuse_days(note)
    return note


def fault() -> Fault | None:
    """The first difference between the database and the note; None if they match, and on a host without the key."""
    try:
        content = sealed_note.read(note_file()) if os.access(note_file(), os.R_OK) else None
        if content is not None:
            _refuse_books(content[0])
            _refuse_days(content[0])
    except BadNote as wrong:
        return wrong.fault or Fault(HOUSE, 0, str(wrong))
    except BadKey:
        return None
    return None


def _refuse_days(note: Note) -> None:
    """Raise BadNote unless each day has its noted hash. The last noted day may be missing: its worker was killed before
    the commit."""
    hashes = {number: bytes(digest).hex() for number, digest in DayRoot.objects.values_list("number", "hash")}
    for number, day, digest in note.days:
        if number in hashes and hashes[number] != digest:
            raise _bad_note(f"{day}, sealed as number {number}, is another than the one noted beside the key")
    last = max(hashes, default=0)
    # More than one missing day cannot come from a crash: the database is older than the note.
    if last < note.number - 1:
        raise _bad_note(f"{note.number} days were sealed by the note beside the key, and {last} are there")
    if last > note.number:
        raise _bad_note(f"{last} days are kept as sealed, and the note beside the key has {note.number}")


def _refuse_books(note: Note) -> None:
    """Raise BadNote unless each log still has the entry that was noted as its last."""
    names = list(note.books)
    rows = fetch_rows(
        "SELECT n.name, n.seq, e.hash FROM unnest(%s::text[], %s::bigint[]) AS n (name, seq)"
        " LEFT JOIN ledger_book AS b ON b.name = n.name"
        " LEFT JOIN ledger_logentry AS e ON e.book_id = b.id AND e.seq = n.seq ORDER BY n.name",
        [names, [note.books[name][0] for name in names]],
    )
    for name, seq, digest in rows:
        if digest is None:
            raise _bad_note("is missing, and is noted beside the key: it was sealed", name, seq)
        if bytes(digest).hex() != note.books[name][1]:
            raise _bad_note("is another than the one noted beside the key: hashed anew", name, seq)


def _bad_note(what: str, book: str = HOUSE, seq: int = 0) -> BadNote:
    wrong = Fault(book, seq or Book.objects.values_list("head_seq", flat=True).get(name=book), what)
    says = f"{wrong}. Nothing is signed: somebody changed the database, or put an older one back; {HOW}."
    return BadNote(says, wrong)


def refuse_rewritten(note: Note, book: Head) -> None:
    """Raise BadNote unless the chain leads from the noted entry to the one up to which a day is to be signed."""
    seq, digest = note.books.get(book.name, (0, ""))
    # Every entry since the noted one is hashed again, so that no day is signed over a rewritten chain.
    after = Head(book.book_id, book.name, seq, bytes.fromhex(digest)) if seq else None
    try:
        for _ in walk(log.entries(book.book_id, seq, book.seq), book, after=after):
            pass
    except Broken as broken:
        raise BadNote(f"{broken.fault}. Nothing is signed; {HOW}.", broken.fault) from None


def _successors(signer: str) -> Iterable[str]:
    """The keys that follow this one, each signed by the one before, starting with this one."""
    successors = [signer]
    bodies = LogEntry.objects.of_site().filter(subject="key", kind="rotated").order_by("seq")
    for body in bodies.values_list("body", flat=True):
        event = read_as(KeyRotated, body)
        statement = seals.rotation(successors[-1], event.key)
        if seals.is_signed(successors[-1], bytes.fromhex(event.signature), statement):
            successors.append(event.key)
    return successors


# --- Making the note -------------------------------------------------------------------------------------------


def from_the_database() -> Note:
    """A note made from the database: only as reliable as the verification made before."""
    days = DayRoot.objects.order_by("number").values_list("number", "day", "hash")
    sealed_days = tuple((number, day.isoformat(), bytes(digest).hex()) for number, day, digest in days)
    last = DayRoot.objects.order_by("-number").first()
    return Note(sealed_days, heads(last) if last else {})


def heads(day: DayRoot) -> Mapping[str, tuple[int, str]]:
    """The last entry of each log in a sealed day: number and hex hash, by the log's name."""
    return heads_of(BookRoot.objects.filter(day=day.day).select_related("book"))


def heads_of(rows: Iterable[BookRoot]) -> Mapping[str, tuple[int, str]]:
    """The last entry in each of these roots: number and hex hash, by the log's name."""
    return {row.book.name: (row.last_seq, bytes(row.head_hash).hex()) for row in rows}


def begin() -> None:
    """Create the empty note of a site that has not sealed anything."""
    if not DayRoot.objects.exists() and not note_file().exists():
        sealed_note.write(note_file(), Note(), seals.load_key(key_file()))


def carry_over() -> None:
    """Sign the note again with the key that is in the file now."""
    if (content := sealed_note.read(note_file())) is not None:
        sealed_note.write(note_file(), content[0], seals.load_key(key_file()))


def make() -> Note:
    """Create the first note of a site that had none. The caller has verified all logs. Raises BadNote."""
    if note_file().exists():
        raise BadNote(f"There is a note {note_file()} already: if it is of a newer database, see --restored.")
    note = from_the_database()
    sealed_note.write(note_file(), note, seals.load_key(key_file()))
    return note


def accept_restored(reason: str, by: tuple[Staff, Staff]) -> Note:
    """Accept that an older database was restored, vouched for by two people. Raises BadNote.

    The days since then are given up, and will be signed again under their numbers. The log records which those were,
    and the two people.
    """
    key, content = seals.load_key(key_file()), sealed_note.read(note_file())
    if content is None or not reason.strip() or document_fault(person.signature for person in by):
        raise BadNote("There has to be a note, a reason, and two different people who stand for it.")
    before, database = content[0], from_the_database()
    given_up = tuple(day for day in before.days if day not in database.days)
    note = Note(database.days, database.books, (*before.left, *given_up))
    document = Restoration(
        format="note-restored/1",
        left=[list(day) for day in given_up],
        number=database.number,
        reason=reason.strip(),
        by=tuple(person.signature for person in by),
        key=seals.public_of(key),
    )
    with transaction.atomic():
        signature = seals.sign(key, msgspec.to_builtins(document)).hex()
        log.append(site_log.lock(), Draft.of(NoteRestored(document=document, signature=signature), BY))
        sealed_note.write(note_file(), note, key)
    return note
