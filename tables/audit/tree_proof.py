"""Verifies the tree of log heads against the log, and both against the records of outside witnesses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final, TypeVar

from ledger.models import Cosignature, HeadsRow
from ledger.proof import heads as heads_of_books
from ledger.proof import merkle
from ledger.proof.checkpoint import Checkpoint
from ledger.proof.heads import BadHeads, Head, HeadsLeaf
from ledger.proof.note import BadNote, Note, VerifierKey, read_signatures
from tables.audit import checkpoints
from tables.audit.checkpoints import WHOLE, Lost
from tables.audit.outside.testimony import Source
from tables.audit.outside.witness_file import Cosigned, HeadsRecord, Record, origin_of

HEADS_PER_QUERY: Final = 2_000
"""The number of heads that one query looks up."""


T = TypeVar("T")


def _chunks(items: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


class Fault(Exception):
    """A failed verification; the message names it in one sentence."""


@dataclass(slots=True)
class TreeProof:
    """The result of verifying one tree."""

    origin: str
    leaves: int = 0
    cosignatures: int = 0
    fault: str | None = None


def prove_all() -> list[TreeProof]:
    """Verify each tree of the site from its first leaf on."""
    names = dict.fromkeys(tree.origin for tree in checkpoints.trees())
    strays = HeadsRow.objects.exclude(origin__in=names).order_by().values_list("origin", flat=True).distinct()
    return [*map(prove, names), *(TreeProof(origin, fault=f"no entry begins the tree {origin}") for origin in strays)]


def prove(origin: str) -> TreeProof:
    """Verify one tree: hash each leaf again, look up each of its heads in the log, and verify each signature."""
    report = TreeProof(origin)
    try:
        _Proof(report).run()
    except (Fault, Lost, BadHeads, BadNote) as wrong:
        report.fault = f"the tree {origin}: {wrong}"
    return report


@dataclass(slots=True)
class _Proof:
    report: TreeProof
    tree: merkle.MerkleTree = field(default_factory=merkle.MerkleTree)
    heads: dict[str, Head] = field(default_factory=dict)
    sealed: Head | None = None

    def run(self) -> None:
        origin = self.report.origin
        keys = [tree.key for tree in checkpoints.trees() if tree.origin == origin]
        rows = HeadsRow.objects.filter(origin=origin).order_by("number").iterator(chunk_size=500)
        signed = _Cosignatures(origin)
        for chunk in _chunks(rows, 500):
            places = [place for row in chunk for place in self._follow(row, keys, signed)]
            _refuse_missing(places)
        # A witness that signed more leaves than exist proves that the end of the tree was cut off.
        if beyond := signed.beyond():
            raise Fault(f"a witness saw {beyond.size:,} leaves, and {self.tree.size:,} are there: its tail was cut off")
        self.report.leaves, self.report.cosignatures = self.tree.size, signed.count

    def _follow(self, row: HeadsRow, keys: list[VerifierKey], signed: _Cosignatures) -> list[tuple[str, int, str]]:
        """Verify one leaf. Returns the heads that moved with it."""
        leaf = checkpoints.leaf_of(row)
        where = f"leaf {row.number}"
        if row.number != self.tree.size or leaf.number != row.number:
            raise Fault(f"the leaf {self.tree.size} is missing")
        # Stored hashes serve later proofs, so each of them is recomputed.
        if b"".join(self.tree.add(bytes(leaf))) != bytes(row.hashes) or leaf.moment != row.at:
            raise Fault(f"{where}: what is kept with it is not what it comes to")
        moved = self._take_heads(row, leaf)
        text = Checkpoint(row.origin, self.tree.size, self.tree.root).text
        if not Note(text, read_signatures(row.signature)).signers(keys):
            raise Fault(f"{where}: its checkpoint is not signed by the house's key")
        if leaf.sealed not in (None, self.sealed) and (says := checkpoints.seal_fault(leaf.sealed)):
            raise Fault(f"{says} ({where}, {leaf.at})")
        self.sealed = leaf.sealed
        signed.hold(text, self.tree.size)
        return moved

    def _take_heads(self, row: HeadsRow, leaf: HeadsLeaf) -> list[tuple[str, int, str]]:
        stored = checkpoints.heads_of(row.heads)
        after = stored if row.number % WHOLE == 0 else self.heads | stored
        # The tree itself may be consistent although a log shrank between two leaves.
        if loss := heads_of_books.loss(self.heads, after):
            raise Fault(f"{loss} (leaf {row.number}, {leaf.at})")
        leaf.refuse_other(after)
        moved = heads_of_books.movement(self.heads, after)
        self.heads = after
        return [(name, *head) for name, head in moved.items()]


def _refuse_missing(places: list[tuple[str, int, str]]) -> None:
    for chunk in _chunks(places, HEADS_PER_QUERY):
        if says := next(checkpoints.entry_faults(chunk), None):
            raise Fault(says)


class _Cosignatures:
    """The cosignatures of a tree, in the order of its growth."""

    def __init__(self, origin: str) -> None:
        rows = Cosignature.objects.filter(origin=origin).order_by("size", "witness")
        self._rows = iter(rows.iterator(chunk_size=500))
        self._next: Any = next(self._rows, None)
        self.count = 0

    def hold(self, text: str, size: int) -> None:
        """Raise Fault for a cosignature of this size over another tree."""
        while self._next is not None and self._next.size == size:
            key = VerifierKey.parse(self._next.witness)
            if not Note(text, read_signatures(self._next.line)).signers([key]):
                raise Fault(f"what {key.name} cosigned of {size:,} leaves is another tree")
            self.count += 1
            self._next = next(self._rows, None)

    def beyond(self) -> Any:
        """The first cosignature of more leaves than there are."""
        return self._next


# --- What a witness says ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Testimony:
    """The records of one witness about this site, and the faults that they reveal."""

    names: tuple[str, ...]
    latest: dict[str, Cosigned] = field(default_factory=dict)
    """The last checkpoint of each tree, by its origin."""
    heads: dict[str, Head] = field(default_factory=dict)
    leaf: HeadsLeaf | None = None
    faults: list[str] = field(default_factory=list)


def read_testimony(source: Source) -> Testimony:
    """Read a witness's records and compare all of them with the log. Raises BadFile and OSError."""
    origins = list(dict.fromkeys(tree.origin for tree in checkpoints.trees()))
    testimony = Testimony(tuple(dict.fromkeys(key.name for key in source.keys)))
    with source.records(origins) as records:
        for chunk in _chunks(_of_this_house(records, origins), 500):
            _take_in(testimony, chunk)
    _hold_trees(testimony, origins)
    return testimony


def _of_this_house(records: Iterable[Record], origins: list[str]) -> Iterator[Record]:
    """The records of this site's trees. If the log names no tree, as after a loss, any record may be of this site."""
    for record in records:
        if not origins or origin_of(record) in origins:
            yield record


def _take_in(testimony: Testimony, chunk: Iterable[Record]) -> None:
    places: list[tuple[str, int, str]] = []
    for record in chunk:
        if isinstance(record, HeadsRecord):
            places += [(name, *head) for name, head in record.moved.items()]
            if record.leaf.sealed and (testimony.leaf is None or testimony.leaf.sealed != record.leaf.sealed):
                _note_fault(testimony, checkpoints.seal_fault(record.leaf.sealed), record.leaf.at)
            testimony.heads |= dict(record.moved)
            testimony.leaf = record.leaf
        elif isinstance(record, Cosigned):
            testimony.latest[record.checkpoint.origin] = record
        else:
            testimony.faults.append("the house's key signed another tree beside the one that the witness cosigned")
    for part in _chunks(places, HEADS_PER_QUERY):
        for says in checkpoints.entry_faults(part):
            _note_fault(testimony, says, None)


def _note_fault(testimony: Testimony, says: str | None, moment: str | None) -> None:
    if says is not None:
        testimony.faults.append(f"{says} (seen at {moment})" if moment else says)


def _hold_trees(testimony: Testimony, origins: list[str]) -> None:
    for origin, cosigned in testimony.latest.items():
        checkpoint = cosigned.checkpoint
        row = checkpoints.newest(origin)
        size = row.number + 1 if row and origin in origins else 0
        claim = f"it saw {checkpoint.size:,} leaves of {origin} at {moment_of(cosigned)}"
        if size < checkpoint.size:
            testimony.faults.append(f"{claim}, and {size:,} are there: the tail was cut off, or an older log put back")
        else:
            try:
                root = checkpoints.root_at(origin, checkpoint.size)
            except Lost as lost:
                testimony.faults.append(str(lost))
                continue
            # Equal sizes with different roots mean that an earlier leaf was replaced.
            if root != checkpoint.root:
                testimony.faults.append(f"{claim}, and they are others now: history was written anew")


def moment_of(cosigned: Cosigned) -> str:
    return f"{datetime.fromtimestamp(cosigned.seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
