"""Sealing gaming days: a Merkle root for each book, one over all books, signed and chained to the day before.

A book's part of a day is what was written in it before the day's end and after the part of the day before. Several
workers may seal at once: each row can be there once only, and whoever comes second finds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.db.models import Min, Q
from django.utils import timezone

from ledger import alerts, clock, house, log, mends, sealed_note
from ledger.clock import WrongClock
from ledger.log import Draft
from ledger.models import HOUSE, Account, Book, BookRoot, DayRoot, LogEntry, Slip
from ledger.proof import merkle, seals
from ledger.proof.chain import Fault, Head, canonical, timestamp
from ledger.proof.chips import HOUSE_PLACES
from ledger.proof.seals import BadKey
from ledger.recount import moved_cents
from ledger.sealed_note import Note
from tables import standing
from tables.audit import sealed, witness
from tables.day import hours
from tables.log.catalog import read, read_as
from tables.log.entries.days import DayRootDocument, DaySealed
from tables.log.entries.keys import AboutKey, KeyPublished, KeyReplaced, KeyRotated
from tables.log.entries.rounds import Played
from tables.log.entries.settings import TableSet
from tables.log.entries.shoes import Shuffled

BY: Final = "sealing"
GRACE: Final = timedelta(minutes=5)
"""How long after its end a day is sealed: what was being written then has been written."""


# --- Which days ------------------------------------------------------------------------------------------------


def unsealed(present: datetime) -> Iterator[date]:
    """The gaming days that are over and not sealed, the first one first."""
    last = DayRoot.objects.order_by("-number").values_list("day", flat=True).first()
    if last is None:
        began = LogEntry.objects.filter(seq=1).aggregate(at=Min("at"))["at"]
        if began is None:
            return
        day = hours.day_of(began)
    else:
        day = last + timedelta(days=1)
    while hours.span(day)[1] + GRACE <= present:
        yield day
        day += timedelta(days=1)


# --- Sealing ---------------------------------------------------------------------------------------------------


def seal_finished() -> list[DayRoot]:
    """Seal every gaming day that is over. Raises BadKey where there is no key to sign with, or it must not be used on
    what is there; WrongClock where nobody knows what day it is."""
    return [seal(day) for day in list(unsealed(clock.agreed()))]


def seal_days() -> int:
    """Seal whatever was missed; where that cannot be done the pit hears of it. How many things were wrong."""
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
    """Seal one day, after all before it; or find that it was."""
    key = the_key()
    _refuse_another(key)
    note = sealed.agreed(seals.public_of(key))
    witness.refuse_day(hours.span(day)[1] + GRACE, clock.agreed())
    for book in Book.objects.filter(head_seq__gt=0).order_by("pk"):
        seal_book(book, day, note)
    with transaction.atomic():
        head = house.lock()
        row = DayRoot.objects.filter(day=day).first()
        return row or _sign(head, day, key)


def _sign(head: Head, day: date, key: Ed25519PrivateKey) -> DayRoot:
    """Sign a day under the lock of the house's book, where the signature is written too.

    The note beside the key has it before the commit: what is signed once is never signed otherwise.
    """
    head = _published(head, key)
    note = sealed.agreed(seals.public_of(key))
    before = DayRoot.objects.order_by("-number").first()
    if before and before.day + timedelta(days=1) != day:
        raise ValueError(f"{before.day} was sealed last: {day} does not follow it")
    leaves, (begins, ends) = leaves_of(day), hours.span(day)
    begun = [slip for leaf in leaves for _, slip in _read(leaf)["slips"]]
    number = before.number + 1 if before else 1
    document = {
        "format": seals.DAY_ROOT,
        "number": number,
        "day": day.isoformat(),
        "begins": timestamp(begins),
        "ends": timestamp(ends),
        "books": len(leaves),
        "root": merkle.root(leaves).hex(),
        "slips": seals.numbered(_read(before.body)["slips"] if before else [], begun)[0],
        "previous": bytes(before.hash).hex() if before else None,
        "key": seals.public_of(key),
    }
    digest = seals.hash_of(document)
    books = sealed.heads_of(BookRoot.objects.filter(day=day).select_related("book"))
    noted = note.with_day(number, day.isoformat(), digest, books)
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
    sealed_note.write(sealed.note_file(), noted, key)
    return row


def leaves_of(day: date) -> list[bytes]:
    """The leaves of a day's tree: each book's document, by the books' names."""
    rows = BookRoot.objects.filter(day=day).values_list("book__name", "body")
    return [bytes(body) for _, body in sorted(rows)]


def seal_book(book: Book, day: date, note: Note) -> BookRoot | None:
    """The document about one book's part of a day; none for a book in which nothing was written by then.

    Nothing is kept of a book whose chain does not lead there from where the last note has it.
    """
    root = BookRoot.objects.filter(book=book, day=day).first()
    if root is not None:
        sealed.refuse_rewritten(note, Head(book.pk, book.name, root.last_seq, bytes(root.head_hash)))
        return root
    day_before = BookRoot.objects.filter(book=book, day__lt=day).order_by("-day").first()
    first = day_before.last_seq + 1 if day_before else 1
    last = max(first - 1, mends.last_before(book.pk, hours.span(day)[1]))
    if last == 0:
        return None
    sealed.refuse_rewritten(note, Head(book.pk, book.name, last, _hash_at(book, last)))
    opening = _read(day_before.body) if day_before else None
    document = document_of(book, day, first, last, opening)
    root = BookRoot(
        book=book, day=day, first_seq=first, last_seq=last, head_hash=bytes.fromhex(document["head"]),
        body=canonical(document),
    )  # fmt: skip
    BookRoot.objects.bulk_create([root], ignore_conflicts=True)
    return BookRoot.objects.get(book=book, day=day)


def document_of(book: Book, day: date, first: int, last: int, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """What is signed about one book's part of a day: its entries' root, and all that the next day rests on."""
    head_hash = _hash_at(book, last)
    mended = [[mend.entry, *mend.spelled()] for mend in mends.of(book.pk, first, last)]
    return {
        **({"mended": mended} if mended else {}),
        "format": seals.BOOK_ROOT,
        "book": book.name,
        "day": day.isoformat(),
        "first": first,
        "last": last,
        "head": head_hash.hex(),
        "root": merkle.root(hashes(book.pk, first, last)).hex(),
        "accounts": _accounts(book, first, last, before),
        "slips": _begun(book, first, last),
        "carried": carried(Head(book.pk, book.name, last, head_hash)),
    }


def hashes(book_id: int, first: int, last: int) -> Iterator[bytes]:
    """The leaves of a book's tree: the hashes of its entries, each of which names the whole history before it."""
    entries = LogEntry.objects.filter(book_id=book_id, seq__gte=first, seq__lte=last).order_by("seq")
    for digest in entries.values_list("hash", flat=True).iterator():
        yield bytes(digest)


def _hash_at(book: Book, seq: int) -> bytes:
    return bytes(LogEntry.objects.values_list("hash", flat=True).get(book=book, seq=seq))


def _accounts(book: Book, first: int, last: int, before: Mapping[str, Any] | None) -> list[list[Any]]:
    """[account, place, seat, cents] for every place of a book, and what it did to those that all books share."""
    balances = {account: cents for account, _, _, cents in (before["accounts"] if before else ())}
    changes = moved_cents(book.pk, first - 1, last)
    places = Account.objects.filter(Q(book=book) | Q(place__in=sorted(HOUSE_PLACES)))
    return [
        [account, place, seat, balances.get(account, 0) + changes.get(account, 0)]
        for account, place, seat in places.order_by("pk").values_list("pk", "place", "seat")
    ]


def _begun(book: Book, first: int, last: int) -> list[list[Any]]:
    """[entry, slip] for every slip that was begun in a book's part of the day."""
    slips = Slip.objects.filter(book=book, seq__gte=first, seq__lte=last).order_by("seq")
    return [[slip.seq, str(slip)] for slip in slips]


def _read(body: bytes | memoryview) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(bytes(body))
    return document


# --- What the next day rests on --------------------------------------------------------------------------------


def carried(head: Head) -> list[int]:
    """The entries that tell where a book stands: whoever proves the next day alone folds these first."""
    seqs = {*standing.registers(head)}
    if head.name == HOUSE:
        return sorted(seqs | {*_keys(head)})
    return sorted(seqs | {*_settings(head), *_of_the_shoe(head), *_corrections(head)})


def _keys(head: Head) -> Iterable[int]:
    """Every entry about the house's keys."""
    entries = LogEntry.objects.filter(book_id=head.book_id, subject="key", seq__lte=head.seq)
    return entries.values_list("seq", flat=True)


def _settings(head: Head) -> Iterable[int]:
    """For each setting of a table, the entry that set it last."""
    entries = LogEntry.objects.filter(book_id=head.book_id, subject="table", kind="settings_changed", seq__lte=head.seq)
    latest: dict[str, int] = {}
    for seq, body in entries.order_by("seq").values_list("seq", "body"):
        latest |= dict.fromkeys(read_as(TableSet, body).after, seq)
    return latest.values()


def _corrections(head: Head) -> Iterable[int]:
    """The latest entry about corrections: it has those that wait for a signature."""
    entries = LogEntry.objects.filter(book_id=head.book_id, subject="correction", seq__lte=head.seq)
    return entries.order_by("-seq").values_list("seq", flat=True)[:1]


def _of_the_shoe(head: Head) -> Iterable[int]:
    """Every entry since the house shoe that is dealt from was committed to: its cards are proved when it is opened."""
    shoe = standing.at(head).shoe
    if shoe is None or shoe.commitment is None:
        return ()
    entries = LogEntry.objects.filter(book_id=head.book_id, seq__lte=head.seq)
    shuffled = entries.filter(subject="shoe", kind="shuffled").order_by("-seq").values_list("seq", "body").first()
    assert shuffled is not None  # noqa: S101 -- nothing else commits first
    seq, body = shuffled
    if read_as(Shuffled, body).shoe.commitment == shoe.commitment:
        return range(seq, head.seq + 1)
    start = _reshuffled(head, seq, shoe.commitment)
    on_the_table = entries.filter(subject="shoe", seq__lt=start).order_by("-seq").values_list("seq", flat=True)[:1]
    return [*on_the_table, *range(start, head.seq + 1)]


def _reshuffled(head: Head, since: int, commitment: str) -> int:
    """The first entry of the round in which the discards were shuffled."""
    rounds = LogEntry.objects.filter(book_id=head.book_id, subject="round", seq__lte=head.seq)
    plays = rounds.filter(seq__gt=since, kind=Played.kinds[0]).order_by("-seq").values_list("round", "body")
    for number, body in plays.iterator():
        if read_as(Played, body).commitment == commitment:
            return int(rounds.filter(round=number).aggregate(seq=Min("seq"))["seq"])
    raise LookupError(f"no entry of {head.name} commits to {commitment}")


# --- The key ---------------------------------------------------------------------------------------------------


def the_key() -> Ed25519PrivateKey:
    """The house's key. Raises BadKey."""
    return seals.load_key(sealed.key_file())


def signing_key() -> Ed25519PrivateKey:
    """The house's key, once its log names it. Raises BadKey for another than it names."""
    key = the_key()
    _refuse_another(key)
    if published_key() is None:
        publish()
    return key


def published_key() -> str | None:
    """The public key that the house published last, in its own book."""
    newest = LogEntry.objects.filter(book__name=HOUSE, subject=AboutKey.subject).order_by("-seq")
    row = newest.values_list("kind", "body").first()
    return None if row is None else _key(*row).key


def _key(kind: str, body: bytes | memoryview) -> AboutKey:
    event = read(AboutKey.subject, kind, body, house=True)
    assert isinstance(event, AboutKey)  # noqa: S101 -- the catalog has no other of this subject
    return event


def publish() -> str:
    """Publish the key in the file, unless it is published. Raises BadKey for another one than the house signs with."""
    key = the_key()
    with transaction.atomic():
        _published(house.lock(), key)
    sealed.begin()
    return seals.public_of(key)


def rotate() -> str:
    """Make a new key, have the old one sign it, publish that, and only then put it into the old one's place."""
    path, old = sealed.key_file(), the_key()
    if sealed.agreed(seals.public_of(old)).number > DayRoot.objects.count():
        raise BadKey("A day was signed and is not stored yet: let the watch store it, then change the key.")
    coming = path.with_name(f"{path.name}.next")
    new = seals.make_key(coming)
    try:
        with transaction.atomic():
            head = _published(house.lock(), old)
            statement = seals.rotation(seals.public_of(old), seals.public_of(new))
            signature = seals.sign(old, statement).hex()
            event = KeyRotated(key=seals.public_of(new), rotation=statement, signature=signature)
            log.append(head, Draft.of(event, BY))
    except BaseException:
        coming.unlink()
        raise
    path.rename(path.with_name(f"{path.name}.until-{timezone.now():%Y%m%dT%H%M%SZ}"))
    coming.rename(path)
    sealed.carry_over()
    return seals.public_of(new)


def replace_lost(reason: str) -> str:
    """The key is gone: make and publish another, which nothing vouches for but the house's word and the reason."""
    path = sealed.key_file()
    if path.exists():
        raise BadKey(f"The key file {path} is there: `audit key --rotate` has it sign the new key.")
    if not reason.strip() or published_key() is None:
        raise BadKey("Say why a published key is replaced: auditors read it, and need the new key from you.")
    key = seals.make_key(path)
    with transaction.atomic():
        event = KeyReplaced(key=seals.public_of(key), reason=reason.strip())
        log.append(house.lock(), Draft.of(event, BY))
    sealed.carry_over()
    return seals.public_of(key)


def _published(head: Head, key: Ed25519PrivateKey) -> Head:
    """The house's head once its log names this key."""
    _refuse_another(key)
    if published_key() is None:
        return log.append(head, Draft.of(KeyPublished(key=seals.public_of(key)), BY))
    return head


def _refuse_another(key: Ed25519PrivateKey) -> None:
    """Raises BadKey for another key than the one that the house published."""
    public, published = seals.public_of(key), published_key()
    if published not in (None, public):
        raise BadKey(
            f"The house published the key {str(published)[:16]}, {sealed.key_file()} holds {public[:16]}: put the right"
            " file back. If it is lost: move this one away, and `manage.py audit key --lost REASON` makes another."
        )


# --- Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """The root that everybody may note down: a later rewrite of any day up to it shows."""

    day: date
    number: int
    root: str
    at: datetime


def todays_root() -> Shown | None:
    """The newest signed root, for the pit's screen: of the gaming day that ended last."""
    row = DayRoot.objects.order_by("-number").first()
    return None if row is None else Shown(row.day, row.number, bytes(row.hash).hex(), row.at)


# --- Holding the roots against the log -------------------------------------------------------------------------


def wrong_root(book: Book, since: int = 0) -> Fault | None:
    """The first root after an entry that is not what the log makes of it: of this book; in the house's, of the days."""
    roots = list(BookRoot.objects.filter(book=book, last_seq__gt=since).order_by("day"))
    day_before = BookRoot.objects.filter(book=book, day__lt=roots[0].day).order_by("-day").first() if roots else None
    for before, root in zip([day_before, *roots], roots, strict=False):
        if what := _differs(book, root, before):
            return Fault(book.name, root.last_seq, f"the root of {root.day} {what}")
    return _wrong_key(book) or _wrong_day(book, since) if book.name == HOUSE else None


def _differs(book: Book, root: BookRoot, before: BookRoot | None) -> str | None:
    document = _read(root.body)
    if (root.first_seq, root.last_seq) != (document["first"], document["last"]):
        return "is of other entries than its document says"
    if root.first_seq != (before.last_seq + 1 if before else 1):
        return "does not begin after the day before"
    due = document_of(book, root.day, root.first_seq, root.last_seq, _read(before.body) if before else None)
    if canonical(document) != bytes(root.body) or any(
        document.get(name) != due.get(name) for name in ("book", "day", "head", "root", "slips", "mended")
    ):
        return "is another than its entries make"
    if _lying(document) != _lying(due):
        return "says that other chips lie in its places than its transfers left there"
    return None


def _lying(document: Mapping[str, Any]) -> dict[int, int]:
    return {account: cents for account, _, _, cents in document["accounts"] if cents}


def _wrong_key(book: Book) -> Fault | None:
    """The house publishes one key, and each later one is signed by the one before, or is known to be without."""
    entries = LogEntry.objects.filter(book=book, subject="key").order_by("seq").values_list("seq", "kind", "body")
    current = None
    for seq, kind, body in entries:
        event = _key(kind, body)
        if isinstance(event, KeyPublished) != (current is None):
            return Fault(book.name, seq, "it publishes a key beside the one that the house has")
        if current is not None and isinstance(event, KeyRotated):
            statement, signature = seals.rotation(current, event.key), bytes.fromhex(event.signature)
            if event.rotation != statement or not seals.is_signed(current, signature, statement):
                return Fault(book.name, seq, "it changes keys, and the old key did not sign the new one")
        current = event.key
    return None


def _wrong_day(book: Book, since: int) -> Fault | None:
    """Each signed day is in the house's log as it was signed, in its order, over the documents that are there."""
    entries = LogEntry.objects.filter(book=book, subject="day", kind="sealed").order_by("seq")
    newest = 0
    for seq, body in entries.filter(seq__gt=since).values_list("seq", "body").iterator():
        event = read_as(DaySealed, body)
        newest = event.document.number
        if what := _not_as_kept(event, DayRoot.objects.filter(number__in=(newest - 1, newest)).order_by("number")):
            return Fault(book.name, seq, what)
    if newest and DayRoot.objects.filter(number__gt=newest).exists():
        return Fault(book.name, book.head_seq, f"a day after the {newest} that the log has is kept as sealed")
    return None


def _not_as_kept(event: DaySealed, days: Iterable[DayRoot]) -> str | None:
    document, rows = msgspec.to_builtins(event.document), {row.number: row for row in days}
    row, before = rows.get(document["number"]), rows.get(document["number"] - 1)
    if row is None or canonical(document) != bytes(row.body) or event.signature != bytes(row.signature).hex():
        return f"the day that it sealed, {document['day']}, is not the one that is kept"
    begins, ends = hours.span(row.day)
    if (document["begins"], document["ends"]) != (timestamp(begins), timestamp(ends)):
        return f"the gaming day {row.day} was sealed with other hours than it had"
    if document["previous"] != (bytes(before.hash).hex() if before else None):
        return f"the root of {row.day} is not chained to the day before it"
    if not seals.is_signed(document["key"], bytes(row.signature), document):
        return f"the root of {row.day} is not signed by its key"
    if document["root"] != merkle.root(leaves_of(row.day)).hex():
        return f"the root of {row.day} is not the one of its books' roots"
    return None
