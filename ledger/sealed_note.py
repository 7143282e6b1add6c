"""What was sealed, noted in a file beside the key: outside of the database, whose owner could otherwise take it back.

The note has the hash of every day's document and how far each book was read for the last one. It is written, and is on
the disk, before the day is committed: a killed worker may sign the same document again, and never another one under
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
    """The database and the note beside the key do not agree, or there is no note: nothing is signed."""

    def __init__(self, sentence: str, fault: Fault | None = None) -> None:
        super().__init__(sentence)
        self.fault = fault


@dataclass(frozen=True, slots=True)
class Note:
    """The days that were sealed, and where the books stood at the end of the last one."""

    days: tuple[tuple[int, str, str], ...] = ()
    """(number, day, hash of its document)"""
    books: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """The last entry of each book's part, and its hash."""
    left: tuple[tuple[int, str, str], ...] = ()
    """Days that were sealed, and given up when an older database was put back: two people said so."""

    @property
    def number(self) -> int:
        """The last day's; 0 before the first."""
        return self.days[-1][0] if self.days else 0

    def hash_of(self, number: int) -> str | None:
        """The hash of the document of a day; None where no such day was sealed."""
        return next((digest for sealed, _, digest in reversed(self.days) if sealed == number), None)

    def with_day(self, number: int, day: str, digest: str, books: Mapping[str, tuple[int, str]]) -> Note:
        """The note once another day is signed. Raises BadNote where another document has its number already."""
        noted = self.hash_of(number)
        if noted not in (None, digest):
            sentence = f"{day} was signed as day {number} before, and was another then: history was written anew."
            raise BadNote(f"{sentence} Nothing is signed; {HOW}.")
        return self if noted else Note((*self.days, (number, day, digest)), books, self.left)


def path_of(key_file: Path) -> Path:
    """Where the note of a key is: beside it."""
    return key_file.with_name(f"{key_file.name}.sealed")


def read(path: Path) -> tuple[Note, str] | None:
    """The note, and the key that signed it; None where there is none. Raises BadNote for a file that is no note."""
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
    """Put the note in its place: the old one is there, or the new one, whenever the machine stops. Raises BadNote."""
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
    coming = path.with_name(f"{path.name}.new")
    coming.unlink(missing_ok=True)
    descriptor = os.open(coming, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content + b"\n")
        file.flush()
        os.fsync(descriptor)
    coming.replace(path)
    _on_the_disk(path.parent)


def _on_the_disk(folder: Path) -> None:
    """A rename is safe once its folder is written."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _days(rows: Any) -> tuple[tuple[int, str, str], ...]:
    return tuple((int(number), str(day), str(digest)) for number, day, digest in rows)
