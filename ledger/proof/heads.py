"""The heads of all logs of a site at one time: the leaves of the tree that a witness observes. Pure.

A leaf has the root of a tree over the heads of all logs, which fixes the length of each log and that there is no other
log; and the newest sealed day. Its format is in docs/witness.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from ledger.proof import merkle
from ledger.proof.spelling import canonical

FORMAT: Final = "house-heads/1"

Head = tuple[int, str]
"""The number of a log's last entry, and its hash in hex."""
Heads = Mapping[str, Head]
"""The heads of logs by name."""


class BadHeads(ValueError):
    """An invalid leaf, or heads that do not match a leaf; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class HeadsLeaf:
    """The content of one leaf."""

    number: int
    """The leaf's index in the tree, from 0."""
    at: str
    books: int
    heads: str
    """The root of the tree over the heads, in hex."""
    sealed: Head | None
    """The number of the newest sealed day, and the hex hash of its document; None before the first."""

    def __bytes__(self) -> bytes:
        return canonical(
            {
                "format": FORMAT,
                "number": self.number,
                "at": self.at,
                "books": self.books,
                "heads": self.heads,
                "sealed": list(self.sealed) if self.sealed else None,
            }
        )

    @property
    def moment(self) -> datetime:
        return datetime.fromisoformat(self.at)

    @classmethod
    def parse(cls, line: bytes) -> HeadsLeaf:
        """A leaf from its canonical bytes. Raises BadHeads."""
        try:
            document = json.loads(line)
            if document.pop("format") != FORMAT:
                raise ValueError
            sealed = document.pop("sealed")
            leaf = cls(**document, sealed=None if sealed is None else (int(sealed[0]), str(sealed[1])))
            leaf.moment  # noqa: B018 -- a leaf whose time nobody can read is no leaf
            # Only the canonical bytes count: two encodings of one leaf would be two different leaves of the tree.
            if bytes(leaf) != line:
                raise ValueError
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise BadHeads("It is no leaf with the heads of a house's books.") from None
        return leaf

    def refuse_other(self, heads: Heads) -> None:
        """Raise BadHeads unless the leaf was made from these heads."""
        if self.books != len(heads) or self.heads != root_of(heads):
            raise BadHeads(f"The heads are not those of the leaf {self.number}.")


def lines_of(heads: Heads) -> list[bytes]:
    """One canonical line per head, sorted by the names of the logs."""
    return [canonical([name, *heads[name]]) for name in sorted(heads)]


def root_of(heads: Heads) -> str:
    return merkle.root(lines_of(heads)).hex()


def read_head(row: Any) -> tuple[str, Head]:
    """A log's name and head from a parsed line. Raises BadHeads."""
    try:
        name, seq, digest = row
        if not isinstance(name, str) or not isinstance(seq, int) or seq < 1 or len(bytes.fromhex(digest)) != 32:
            raise ValueError
    except (ValueError, TypeError):
        raise BadHeads("It is no head of a book: a name, a number, a hash.") from None
    return name, (seq, digest)


def movement(before: Heads, after: Heads) -> dict[str, Head]:
    """The heads that changed between two times."""
    return {name: head for name, head in after.items() if before.get(name) != head}


def loss(before: Heads, after: Heads) -> str | None:
    """The first log that lost entries between two times, as a sentence; None if none did. A log only grows and is never
    removed."""
    for name, (seq, digest) in sorted(before.items()):
        # A missing log is the most serious loss, and would have no entry to compare.
        if name not in after:
            return f"{name} is missing: it went up to entry {seq}"
        if after[name][0] < seq:
            return f"{name} went up to entry {seq}, and goes up to {after[name][0]} now: its tail was cut off"
        if after[name][0] == seq and after[name][1] != digest:
            return f"{name}, entry {seq}: it is another entry than before"
    return None
