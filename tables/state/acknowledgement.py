"""What a screen was told last of a table: its last entry, signed by the house, for the screen to show again later.

The signature is made with a key outside of the database, so an older copy of the database can tell what was
acknowledged beyond its own end from what somebody made up.
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
"""So much of a hash is shown: 64 bits tell one history from another."""
MOST_WORDS: Final = 6
LONGEST_WORDS: Final = 80
_LONGEST: Final = 2_500
_SALT: Final = "casino.acknowledged"
_WORDS: Final = msgspec.json.Decoder(tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """An entry that was acknowledged, with the last inputs that led to it in plain words."""

    seq: int
    hash: str
    """The first characters of the entry's hash."""
    after: int = 0
    """The entry that last confirmed the table after a restore: what was acknowledged before it is of a history that a
    pit boss gave up already. 0 where there is none."""
    words: tuple[str, ...] = ()


def sign(book_id: int, seq: int, digest: bytes | None, after: int = 0, words: Sequence[str] = ()) -> str:
    """As a screen keeps it; empty for a book without an entry."""
    if not seq or digest is None:
        return ""
    phrases = [text[:LONGEST_WORDS] for text in words[-MOST_WORDS:]]
    spelled = base64.urlsafe_b64encode(msgspec.json.encode(phrases)).decode().rstrip("=") if phrases else ""
    body = f"{seq}.{digest.hex()[:HEX]}.{after}.{spelled}"
    return f"{body}.{_signer().signature(f'{book_id}.{body}')}"


def read(book_id: int, document: str) -> Acknowledged | None:
    """What a screen shows; None for what the house did not sign for this book, which counts for nothing."""
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
    """Whatever names an entry by its number and hash."""

    @property
    def seq(self) -> int: ...
    @property
    def hash(self) -> str: ...


def is_missing(receipt: Entry, digest: bytes | None) -> bool:
    """Whether a book whose entry of that number has this hash, or which has none, is not the one that was told of."""
    return digest is None or bytes(digest).hex()[:HEX] != receipt.hash


def _signer() -> Signer:
    return Signer(salt=_SALT)
