"""Checkpoints of an append-only tree (c2sp.org/tlog-checkpoint), and their submission to a witness
(c2sp.org/tlog-witness). Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ledger.proof.note import BadNote, Note, decoded, encoded

MOST_HASHES: Final = 63
"""The maximum number of hashes in a consistency proof."""
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a tree: its origin, the number of its leaves, and their root (RFC 9162)."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{encoded(self.root)}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """The first three lines of a note's text; further lines are ignored. Raises BadNote."""
        lines = text.split("\n")
        if lines.pop() or len(lines) < 3 or not all(lines):
            raise BadNote("A checkpoint has three lines at least: origin, size, root hash; and none is empty.")
        root = decoded(lines[2])
        if len(root) != 32:
            raise BadNote("The root hash of a checkpoint is 32 bytes.")
        return cls(lines[0], number(lines[1]), root)


@dataclass(frozen=True, slots=True)
class Submission:
    """A checkpoint for a witness, with the tree size that the witness saw last and the consistency proof from there."""

    old_size: int
    proof: tuple[bytes, ...]
    note: Note

    def __bytes__(self) -> bytes:
        lines = [f"old {self.old_size}", *map(encoded, self.proof), "", str(self.note)]
        return "\n".join(lines).encode()

    @classmethod
    def parse(cls, body: bytes) -> Submission:
        """A submission from the body of a request. Raises BadNote."""
        try:
            head, gap, note = body.decode().partition("\n\n")
        except UnicodeDecodeError:
            raise BadNote("The body is not UTF-8.") from None
        first, *hashes = head.split("\n")
        if not gap or not first.startswith("old "):
            raise BadNote("The body is a line with the old size, a proof, an empty line and a checkpoint.")
        # The body comes from the network: its size is limited before any hash is decoded.
        if len(hashes) > MOST_HASHES:
            raise BadNote(f"A consistency proof has {MOST_HASHES} lines at most.")
        return cls(number(first.removeprefix("old ")), hashes_of(hashes), Note.parse(note))


def hashes_of(lines: Sequence[str]) -> tuple[bytes, ...]:
    """Hashes of 32 bytes from lines of base64. Raises BadNote."""
    hashes = tuple(decoded(line) for line in lines)
    if any(len(digest) != 32 for digest in hashes):
        raise BadNote("Each hash of a proof is 32 bytes.")
    return hashes


def number(text: str) -> int:
    """A non-negative decimal number without leading zeroes. Raises BadNote."""
    if not _NUMBER.fullmatch(text):
        raise BadNote(f"{text[:30]!r} is no number without leading zeroes.")
    return int(text)
