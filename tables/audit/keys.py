"""The house's key: read, published in the house's own book, changed, replaced; and what its book says of it, proved.

The public key stands in the log before anything is signed with it. Each later key is signed by the one before, so who
trusts one of them can trust the next; where a key was lost, only the house's word and its reason stand for another.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, DayRoot, LogEntry
from ledger.proof import seals
from ledger.proof.chain import Fault, Head
from ledger.proof.seals import BadKey
from tables.audit import sealed_note_checks
from tables.audit.sealed_note_checks import BY
from tables.log.catalog import read
from tables.log.entries.keys import AboutKey, KeyPublished, KeyReplaced, KeyRotated


def the_key() -> Ed25519PrivateKey:
    """The house's key, as its file has it. Raises BadKey where the file is missing, open to others, or holds no key."""
    return seals.load_key(sealed_note_checks.key_file())


def signing_key() -> Ed25519PrivateKey:
    """The house's key, once its log names it. Raises BadKey for another than it names."""
    key = the_key()
    refuse_another(key)
    if published_key() is None:
        publish()
    return key


def published_key() -> str | None:
    """The public key that the house published last, in its own book."""
    newest = LogEntry.objects.filter(book__name=HOUSE, subject=AboutKey.subject).order_by("-seq")
    row = newest.values_list("kind", "body").first()
    return None if row is None else _event(*row).key


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key that days were sealed with, and how it came to be the house's."""

    public: str
    kind: str
    moment: datetime
    seq: int
    reason: str = ""


def lines() -> list[KeyLine]:
    """Every key that the house published, the newest first."""
    entries = LogEntry.objects.filter(book__name=HOUSE, subject=AboutKey.subject).order_by("-seq")
    rows = [(_event(entry.kind, entry.body), entry) for entry in entries]
    return [
        KeyLine(event.key, entry.kind, entry.at, entry.seq, event.reason if isinstance(event, KeyReplaced) else "")
        for event, entry in rows
    ]


def _event(kind: str, body: bytes | memoryview) -> AboutKey:
    event = read(AboutKey.subject, kind, body, house=True)
    assert isinstance(event, AboutKey)  # noqa: S101 -- the catalog has no other of this subject
    return event


def publish() -> str:
    """Publish the key in the file, unless it is published. Raises BadKey for another one than the house signs with."""
    key = the_key()
    with transaction.atomic():
        published_head(site_log.lock(), key)
    sealed_note_checks.begin()
    return seals.public_of(key)


def rotate() -> str:
    """Make a new key, have the old one sign it, publish that, and only then put it into the old one's place."""
    path, old = sealed_note_checks.key_file(), the_key()
    if sealed_note_checks.agreed(seals.public_of(old)).number > DayRoot.objects.count():
        raise BadKey("A day was signed and is not stored yet: let the watch store it, then change the key.")
    coming = path.with_name(f"{path.name}.next")
    new = seals.make_key(coming)
    try:
        with transaction.atomic():
            head = published_head(site_log.lock(), old)
            statement = seals.rotation(seals.public_of(old), seals.public_of(new))
            signature = seals.sign(old, statement).hex()
            event = KeyRotated(key=seals.public_of(new), rotation=statement, signature=signature)
            log.append(head, Draft.of(event, BY))
    except BaseException:
        coming.unlink()
        raise
    # The log names the new key from here on. Whoever is killed before both names are changed finds it as ``.next``.
    path.rename(path.with_name(f"{path.name}.until-{timezone.now():%Y%m%dT%H%M%SZ}"))
    coming.rename(path)
    sealed_note_checks.carry_over()
    return seals.public_of(new)


def replace_lost(reason: str) -> str:
    """The key is gone: make and publish another, which nothing vouches for but the house's word and the reason."""
    path = sealed_note_checks.key_file()
    if path.exists():
        raise BadKey(f"The key file {path} is there: `audit key --rotate` has it sign the new key.")
    if not reason.strip() or published_key() is None:
        raise BadKey("Say why a published key is replaced: auditors read it, and need the new key from you.")
    key = seals.make_key(path)
    with transaction.atomic():
        event = KeyReplaced(key=seals.public_of(key), reason=reason.strip())
        log.append(site_log.lock(), Draft.of(event, BY))
    sealed_note_checks.carry_over()
    return seals.public_of(key)


def published_head(head: Head, key: Ed25519PrivateKey) -> Head:
    """The house's head, under its lock, once its log names this key: the first key is published here."""
    refuse_another(key)
    if published_key() is None:
        return log.append(head, Draft.of(KeyPublished(key=seals.public_of(key)), BY))
    return head


def refuse_another(key: Ed25519PrivateKey) -> None:
    """Raises BadKey for another key than the one that the house published."""
    public, published = seals.public_of(key), published_key()
    if published not in (None, public):
        raise BadKey(
            f"The house published the key {str(published)[:16]}, {sealed_note_checks.key_file()} holds {public[:16]}:"
            " put the right file back. If it is lost: move this one away, and"
            " `manage.py audit key --lost REASON` makes another."
        )


def wrong_key(book: Book) -> Fault | None:
    """The first entry that names a key wrongly: the house publishes one key, and each later one is signed by the one
    before it, or says why it is not."""
    entries = LogEntry.objects.filter(book=book, subject="key").order_by("seq").values_list("seq", "kind", "body")
    current = None
    for seq, kind, body in entries:
        event = _event(kind, body)
        if isinstance(event, KeyPublished) != (current is None):
            return Fault(book.name, seq, "it publishes a key beside the one that the house has")
        if current is not None and isinstance(event, KeyRotated):
            statement, signature = seals.rotation(current, event.key), bytes.fromhex(event.signature)
            if event.rotation != statement or not seals.is_signed(current, signature, statement):
                return Fault(book.name, seq, "it changes keys, and the old key did not sign the new one")
        current = event.key
    return None
