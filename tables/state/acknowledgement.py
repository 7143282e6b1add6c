"""Receipts for screens: the last entry of a table that a screen has seen, signed, to be presented again later.

The signing key is outside the database. So an older copy of the database can distinguish an entry acknowledged beyond
its own end from a forged one.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec
from django.core.signing import BadSignature, Signer

HEX: Final = 16
"""Hexadecimal digits of a hash that are shown: 64 bits distinguish histories."""
MOST_WORDS: Final = 6
LONGEST_WORDS: Final = 80
_LONGEST: Final = 2_500
_SALT: Final = "casino.acknowledged"
_WORDS: Final = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An acknowledged entry, with descriptions of the last inputs before it."""

    seq: int
    hash: str
    """The first characters of the entry's hash."""
    after: int = 0
    """The entry that last confirmed the table after a restore; 0 if there is none.

    Receipts from before it belong to a history that a pit boss has already abandoned.
    """
    words: tuple[str, ...] = ()


def sign(book_id: int, seq: int, digest: bytes | None, after: int = 0, words: Sequence[str] = ()) -> str:
    """The signed receipt for a screen; "" for a log without entries."""
    if not seq or digest is None:
        return ""
    phrases = [text[:LONGEST_WORDS] for text in words[-MOST_WORDS:]]
    spelled = base64.urlsafe_b64encode(msgspec.json.encode(phrases)).decode().rstrip("=") if phrases else ""
    body = f"{seq}.{digest.hex()[:HEX]}.{after}.{spelled}"
    return f"{body}.{_signer().signature(f'{book_id}.{body}')}"


def read(book_id: int, document: str) -> Acknowledged | None:
    """The content of a receipt; None if it was not signed by this site for this log."""
    body, _, signature = document.rpartition(".")
    if not body or len(document) > _LONGEST:
        return None
    signer = _signer()
    try:
        signer.unsign(f"{book_id}.{body}{signer.sep}{signature}")
        seq, digest, after, spelled = body.split(".")
        words = _WORDS.decode(base64.urlsafe_b64decode(spelled + "=" * (-len(spelled) % 4))) if spelled else ()
        return Acknowledged(int(seq), digest, int(after), words)
    except (BadSignature, binascii.Error, msgspec.DecodeError, ValueError):
        return None


class Entry(Protocol):
    """An object that identifies a log entry by number and hash."""

    @property
    def seq(self) -> int: ...
    @property
    def hash(self) -> str: ...


def is_missing(receipt: Entry, digest: bytes | None) -> bool:
    """Whether a log lacks the entry of a receipt. `digest` is the hash of its entry of that number, None if it has
    none."""
    return digest is None or bytes(digest).hex()[:HEX] != receipt.hash


def _signer() -> Signer:
    return Signer(salt=_SALT)
