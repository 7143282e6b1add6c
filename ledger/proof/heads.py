"""Where all books of a house stand at a moment: the leaves of the tree that a witness sees grow. Pure.

A leaf names the root of a tree over every book's head, so that it says of each book how far it goes, and that there is
no other book; and the day that was sealed last. Its spelling is in docs/witness.md.
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
"""The number of a book's last entry, and its hash in hex."""
Heads = Mapping[str, Head]
"""The heads of books by their names."""


class BadHeads(ValueError):
    """No leaf, or heads that are not those of a leaf; the message is one sentence."""


@dataclass(frozen=True, slots=True)
class HeadsLeaf:
    """What one leaf says."""

    number: int
    """The leaf's own index in the tree, from 0 on."""
    at: str
    books: int
    heads: str
    """The root of the tree over the heads, in hex."""
    sealed: Head | None
    """The number of the newest sealed day, and the hash of its document."""

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
        """Raises BadHeads."""
        try:
            document = json.loads(line)
            if document.pop("format") != FORMAT:
                raise ValueError
            sealed = document.pop("sealed")
            leaf = cls(**document, sealed=None if sealed is None else (int(sealed[0]), str(sealed[1])))
            leaf.moment  # noqa: B018 -- a leaf whose time nobody can read is no leaf
            if bytes(leaf) != line:
                raise ValueError
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise BadHeads("It is no leaf with the heads of a house's books.") from None
        return leaf

    def refuse_other(self, heads: Heads) -> None:
        """Raises BadHeads unless these are the heads that it was made of."""
        if self.books != len(heads) or self.heads != root_of(heads):
            raise BadHeads(f"The heads are not those of the leaf {self.number}.")


def lines_of(heads: Heads) -> list[bytes]:
    """One line for each head, in the order of the books' names."""
    return [canonical([name, *heads[name]]) for name in sorted(heads)]


def root_of(heads: Heads) -> str:
    return merkle.root(lines_of(heads)).hex()


def read_head(row: Any) -> tuple[str, Head]:
    """One head as its line has it. Raises BadHeads."""
    try:
        name, seq, digest = row
        if not isinstance(name, str) or not isinstance(seq, int) or seq < 1 or len(bytes.fromhex(digest)) != 32:
            raise ValueError
    except (ValueError, TypeError):
        raise BadHeads("It is no head of a book: a name, a number, a hash.") from None
    return name, (seq, digest)


def movement(before: Heads, after: Heads) -> dict[str, Head]:
    """The heads that are others than before."""
    return {name: head for name, head in after.items() if before.get(name) != head}


def loss(before: Heads, after: Heads) -> str | None:
    """What books lost between two moments, if anything: a book only grows, and none is ever taken away."""
    for name, (seq, digest) in sorted(before.items()):
        if name not in after:
            return f"{name} is missing: it went up to entry {seq}"
        if after[name][0] < seq:
            return f"{name} went up to entry {seq}, and goes up to {after[name][0]} now: its tail was cut off"
        if after[name][0] == seq and after[name][1] != digest:
            return f"{name}, entry {seq}: it is another entry than before"
    return None
