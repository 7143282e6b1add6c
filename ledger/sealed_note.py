"""The list of sealed days in a file next to the signing key, outside of the database, whose owner could otherwise
revert a seal.

The note has the hash of every day's document, and the last entry of each log in the last one. It is flushed to disk
before the day is committed: after a crash a worker may sign the same document again, but never a different one under
its number.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from ledger.proof import seals
from ledger.proof.chain import Fault
from ledger.proof.seals import BadKey
from ledger.proof.spelling import canonical

FORMAT: Final = "sealed-note/1"
HOW: Final = "docs/clocks-and-seals.md says what to do"


class BadNote(BadKey):
    """The database and the note next to the key disagree, or there is no note. Nothing is signed."""

    def __init__(self, sentence: str, fault: Fault | None = None) -> None:
        super().__init__(sentence)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Note:
    """The sealed days, and the heads of the logs at the end of the last one."""

    days: tuple[tuple[int, str, str], ...] = ()
    """(number, day, hex hash of its document) of each day."""
    books: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """The last sealed entry of each log, by name: its number and its hex hash."""
    left: tuple[tuple[int, str, str], ...] = ()
    """Days that were sealed and then given up when an older database was restored, under dual control."""

    @property
    def number(self) -> int:
        """The number of the last day; 0 before the first."""
        return self.days[-1][0] if self.days else 0

    def hash_of(self, number: int) -> str | None:
        """The hex hash of a day's document; None if no such day was sealed."""
        return next((digest for sealed, _, digest in reversed(self.days) if sealed == number), None)

    def with_day(self, number: int, day: str, digest: str, books: Mapping[str, tuple[int, str]]) -> Note:
        """The note with another signed day. Raises BadNote if a different document was signed under its number."""
        # Two documents under one number would be two histories of one day, both with a valid signature.
        earlier = self.hash_of(number)
        if earlier not in (None, digest):
            sentence = f"{day} was signed as day {number} before, and was another then: history was written anew."
            raise BadNote(f"{sentence} Nothing is signed; {HOW}.")
        return self if earlier else Note((*self.days, (number, day, digest)), books, self.left)


def path_of(key_file: Path) -> Path:
    """The path of the note of a key: in the folder of the key file."""
    return key_file.with_name(f"{key_file.name}.sealed")


def read(path: Path) -> tuple[Note, str] | None:
    """The note and the public key that signed it; None without a file. Raises BadNote for an unreadable or altered
    file."""
    try:
        document = json.loads(path.read_bytes())
        body, key = document["note"], str(document["note"]["key"])
        if body["format"] != FORMAT or not seals.is_signed(key, bytes.fromhex(document["signature"]), body):
            raise ValueError
        books = {str(name): (int(seq), str(digest)) for name, (seq, digest) in body["books"].items()}
        return Note(_days(body["days"]), books, _days(body["left"])), key
    except FileNotFoundError:
        return None
    except OSError as error:
        raise BadNote(f"The note of what was sealed, {path}, cannot be read ({error.strerror}).") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise BadNote(f"{path} is no note of what was sealed, or was changed; {HOW}.") from None


def write(path: Path, note: Note, key: Ed25519PrivateKey) -> None:
    """Replace the note atomically: after a crash at any time, the old or the new one is complete. Raises BadNote."""
    try:
        _write(path, note, key)
    except OSError as error:
        sentence = f"The note of what was sealed, {path}, cannot be written ({error.strerror})"
        raise BadNote(f"{sentence}: the worker's user has to be able to write in the folder of the key.") from None


def _write(path: Path, note: Note, key: Ed25519PrivateKey) -> None:
    body = {
        "format": FORMAT,
        "key": seals.public_of(key),
        "days": note.days,
        "books": note.books,
        "left": note.left,
    }
    content = canonical({"note": body, "signature": seals.sign(key, body).hex()})
    draft = path.with_name(f"{path.name}.new")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content + b"\n")
        # The content must be on disk before the rename: a power cut could otherwise leave an empty note.
        file.flush()
        os.fsync(descriptor)
    # The rename is atomic: a reader sees the old note or the whole new one.
    draft.replace(path)
    _on_the_disk(path.parent)


def _on_the_disk(folder: Path) -> None:
    """Flush a folder, which makes a rename in it durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _days(rows: Any) -> tuple[tuple[int, str, str], ...]:
    return tuple((int(number), str(day), str(digest)) for number, day, digest in rows)
