"""The site's signing key: read, published in the site log, rotated and replaced; and verification of those entries.

The public key is in the log before anything is signed with it. Each later key is signed by the one before, so trust in
one key extends to the next. If a key was lost, only the site's statement and its reason vouch for the new one.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import Book, DayRoot, LogEntry
from ledger.proof import seals
from ledger.proof.chain import Fault, Head
from ledger.proof.seals import BadKey
from tables.audit import sealed_note_checks
from tables.audit.sealed_note_checks import BY
from tables.log.catalog import read
from tables.log.entries.keys import AboutKey, KeyPublished, KeyReplaced, KeyRotated


def the_key() -> Ed25519PrivateKey:
    """The site's key from its file. Raises BadKey if the file is missing, readable by others, or not a key."""
    return seals.load_key(sealed_note_checks.key_file())


def signing_key() -> Ed25519PrivateKey:
    """The site's key, published in the log if it was not yet. Raises BadKey if the log names another one."""
    key = the_key()
    refuse_another(key)
    if published_key() is None:
        publish()
    return key


def published_key() -> str | None:
    """The newest public key in the site log; None before the first."""
    newest = LogEntry.objects.of_site().filter(subject=AboutKey.subject).order_by("-seq")
    row = newest.values_list("kind", "body").first()
    return None if row is None else _event(*row).key


@dataclass(frozen=True, slots=True)
class KeyLine:
    """A key that sealed days, and how it was introduced."""

    public: str
    kind: str
    moment: datetime
    seq: int
    reason: str = ""


def lines() -> list[KeyLine]:
    """All published keys, newest first."""
    entries = LogEntry.objects.of_site().filter(subject=AboutKey.subject).order_by("-seq")
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
    """Publish the key in the file, unless it is published. Returns the public key. Raises BadKey if the log names
    another one."""
    key = the_key()
    with transaction.atomic():
        published_head(site_log.lock(), key)
    sealed_note_checks.begin()
    return seals.public_of(key)


def rotate() -> str:
    """Create a new key, sign it with the old one, publish that, and only then replace the key file. Returns the new
    public key. Raises BadKey."""
    path, old = sealed_note_checks.key_file(), the_key()
    # The day was signed with the old key: stored after the rotation, it would be signed by an outdated key.
    if sealed_note_checks.agreed(seals.public_of(old)).number > DayRoot.objects.count():
        raise BadKey("A day was signed and is not stored yet: let the watch store it, then change the key.")
    next_path = path.with_name(f"{path.name}.next")
    new = seals.make_key(next_path)
    try:
        with transaction.atomic():
            head = published_head(site_log.lock(), old)
            statement = seals.rotation(seals.public_of(old), seals.public_of(new))
            signature = seals.sign(old, statement).hex()
            event = KeyRotated(key=seals.public_of(new), rotation=statement, signature=signature)
            log.append(head, Draft.of(event, BY))
    except BaseException:
        # The log does not name the new key: it must not stay, or a later rotation could not create its file.
        next_path.unlink()
        raise
    # The log names the new key from here on. If the process is killed before both renames, the new key is in the file
    # ``.next``.
    path.rename(path.with_name(f"{path.name}.until-{timezone.now():%Y%m%dT%H%M%SZ}"))
    next_path.rename(path)
    sealed_note_checks.carry_over()
    return seals.public_of(new)


def replace_lost(reason: str) -> str:
    """Create and publish a key in place of a lost one. Only the site's statement and its reason vouch for it. Raises
    BadKey."""
    path = sealed_note_checks.key_file()
    if path.exists():
        raise BadKey(f"The key file {path} is there: `audit key --rotate` has it sign the new key.")
    if not reason.strip() or published_key() is None:
        raise BadKey("Say why a published key is replaced: auditors read it, and need the new key from you.")
    key = seals.make_key(path)
    site_log.append(KeyReplaced(key=seals.public_of(key), reason=reason.strip()), BY)
    sealed_note_checks.carry_over()
    return seals.public_of(key)


def published_head(head: Head, key: Ed25519PrivateKey) -> Head:
    """The head of the locked site log, after publishing this key if it is the first. Raises BadKey."""
    refuse_another(key)
    if published_key() is None:
        return log.append(head, Draft.of(KeyPublished(key=seals.public_of(key)), BY))
    return head


def refuse_another(key: Ed25519PrivateKey) -> None:
    """Raise BadKey if the site published a different key."""
    public, published = seals.public_of(key), published_key()
    if published not in (None, public):
        raise BadKey(
            f"The house published the key {str(published)[:16]}, {sealed_note_checks.key_file()} holds {public[:16]}:"
            " put the right file back. If it is lost: move this one away, and"
            " `manage.py audit key --lost REASON` makes another."
        )


def wrong_key(book: Book) -> Fault | None:
    """The first entry that introduces a key wrongly: one key is published, and each later key is signed by the one
    before it, or has a reason why not. None if all are right."""
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
