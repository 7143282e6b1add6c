"""Compares a bundle's days with the records of outside witnesses: the checkpoint in it, and the witnesses' own files.
Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from ledger.proof import heads as heads_of_books
from ledger.proof import merkle, seals
from ledger.proof.checkpoint import Checkpoint, hashes_of
from ledger.proof.heads import BadHeads, Head, HeadsLeaf
from ledger.proof.merkle import Unproved
from ledger.proof.note import BadNote, Note, VerifierKey
from ledger.proof.spelling import timestamp
from tables.audit.outside.book_proof import Document, Say
from tables.audit.outside.bundle import ROOTS, WITNESS, Bundle, Wrong, book_part
from tables.audit.outside.testimony import Source
from tables.audit.outside.witness_file import BadFile, Cosigned, HeadsRecord, origin_of

SLACK: Final = timedelta(minutes=1)
"""A leaf's heads are read a little after its time."""
_DIGITS: Final = 64
"""The digits of an entry's hash, at the beginning of its line."""


@dataclass(slots=True)
class Witnessed:
    """One comparison of a bundle with witnesses. All methods raise Wrong."""

    bundle: Bundle
    chain: Sequence[Document]
    """The documents of all days, up to the bundle's last."""
    books: Mapping[str, Document]
    """Each log's document of the last day, in the order of the tree."""
    before: Mapping[str, Document]
    """Each log's document of the day before the bundle's first."""
    keys: Sequence[VerifierKey]
    """The witnesses' keys, obtained independently; if empty, those that the bundle names."""
    say: Say

    def run(self, sources: Sequence[str]) -> None:
        """Check the checkpoint in the bundle, then the records of each witness.

        Missing parts of a log that was cut off are reported before a checkpoint that is missing with them.
        """
        origins = [self._checkpoint()] if self.bundle.has(WITNESS) else []
        for place in sources:
            self._hear(Source(place, tuple(self.keys)), origins)
        if not origins and self.keys:
            raise Wrong(WITNESS, "is missing: no witness saw these days sealed, or somebody took it out")
        if not origins:
            self.say("note   no witness saw these days: that no tail was cut off is the house's word")

    # --- the checkpoint in the bundle

    def _checkpoint(self) -> str:
        """Check the bundle's checkpoint. Returns the origin of its tree."""
        try:
            return self._check(self.bundle.documents(WITNESS))
        except (BadNote, BadHeads, Unproved, ValueError, LookupError, TypeError, AttributeError) as bad:
            raise Wrong(WITNESS, f"it is no testimony of a witness: {bad}") from None

    def _check(self, lines: Iterator[Any]) -> str:
        document = next(lines)
        note, leaf = Note.parse(document["checkpoint"]), HeadsLeaf.parse(document["leaf"].encode())
        heads = dict(map(heads_of_books.read_head, lines))
        checkpoint = Checkpoint.parse(note.text)
        trusted = bool(self.keys)
        self.keys = self.keys or [VerifierKey.parse(vkey) for vkey in document["witnesses"]]
        if not (times := note.signers(self.keys)):
            names = ", ".join(key.name for key in self.keys)
            raise Wrong(WITNESS, f"its checkpoint is not cosigned by {names}")
        if leaf.number != checkpoint.size - 1:
            raise Wrong(WITNESS, "its leaf is not the last one of its checkpoint")
        path = hashes_of(document["path"])
        merkle.check_inclusion(bytes(leaf), leaf.number, checkpoint.size, path, checkpoint.root)
        leaf.refuse_other(heads)
        self._refuse_seal(leaf, document["days"])
        self._refuse_heads(heads)
        books = ", ".join(f"{name} up to entry {book['last']}" for name, book in self.books.items())
        for key, seconds in times.items():
            moment = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
            self.say(f"holds  witnessed by {key.name} at {moment}, as {checkpoint.origin}: {books}")
        # Keys from the bundle itself prove nothing against a site that invented its witness.
        if not trusted:
            self.say("note   no witness's key was given from outside: that is as good as the keys in the bundle")
        return checkpoint.origin

    def _refuse_seal(self, leaf: HeadsLeaf, later: Sequence[Document]) -> None:
        """Check that the days lead from the bundle's last to the one that the witness saw sealed."""
        days = [self.chain[-1], *later]
        digests = [seals.hash_of(day) for day in days]
        linked = all(day["previous"] == before for day, before in zip(days[1:], digests, strict=False))
        # The witness may have signed some days later: the chain connects its seal to the bundle's last day.
        if not linked or leaf.sealed != (days[-1]["number"], digests[-1]):
            raise Wrong(WITNESS, f"the witness did not see the day {self.chain[-1]['day']} sealed as it is here")

    def _refuse_heads(self, heads: Mapping[str, Head]) -> None:
        for name, book in self.books.items():
            seq, digest = heads.get(name, (0, ""))
            if seq < book["last"] or (seq == book["last"] and digest != book["head"]):
                raise Wrong(WITNESS, f"the witness saw {name} up to entry {seq}, and it goes up to {book['last']} here")

    # --- what a witness says by itself

    def _hear(self, source: Source, origins: Sequence[str]) -> None:
        places: dict[str, dict[int, str]] = {}
        latest: Cosigned | None = None
        trees: set[str] = set()
        try:
            with source.records(origins) as records:
                for record in records:
                    trees.add(origin_of(record))
                    if not origins and len(trees) > 1:
                        raise Wrong(source.place, f"it saw {' and '.join(sorted(trees))}, and the bundle names no tree")
                    if origins and origin_of(record) not in origins:
                        continue
                    # A conflict record is proof by itself, whatever the bundle contains.
                    if isinstance(record, Note):
                        raise Wrong(source.place, "the house's key signed two trees: the witness has both")
                    if isinstance(record, Cosigned):
                        self._refuse_other_tree(record)
                        latest = record
                    else:
                        self._refuse_cut(source, record, places)
        except (BadFile, OSError) as bad:
            raise Wrong(source.place, f"the witness cannot be heard: {bad}") from None
        if latest is None:
            raise Wrong(source.place, "the witness saw nothing of this house")
        count = self._refuse_other_entries(source, places)
        self.say(
            f"holds  {source.place}: {latest.key.name} saw {latest.checkpoint.size:,} leaves of"
            f" {latest.checkpoint.origin}; {count:,} entries of these days that it was told of are the same ones"
        )

    def _refuse_other_tree(self, record: Cosigned) -> None:
        if not self.bundle.has(WITNESS):
            return
        own = Checkpoint.parse(Note.parse(next(self.bundle.documents(WITNESS))["checkpoint"]).text)
        checkpoint = record.checkpoint
        # Trees of different sizes are compared by the witness itself, which accepts only consistent growth.
        if (own.origin, own.size) == (checkpoint.origin, checkpoint.size) and own.root != checkpoint.root:
            raise Wrong(WITNESS, f"the witness cosigned another tree of {own.size:,} leaves: history was written anew")

    def _refuse_cut(self, source: Source, record: HeadsRecord, places: dict[str, dict[int, str]]) -> None:
        """Check that heads from before the end of the last day are in the bundle or before it."""
        if record.leaf.sealed and record.leaf.sealed[0] <= len(self.chain):
            number, digest = record.leaf.sealed
            if seals.hash_of(self.chain[number - 1]) != digest:
                raise Wrong(ROOTS, f"the witness saw day {number} sealed otherwise, at {record.leaf.at}")
        is_before_the_end = timestamp(record.leaf.moment + SLACK) < self.chain[-1]["ends"]
        for name, (seq, digest) in record.moved.items():
            book = self.books.get(name)
            if is_before_the_end and book is None:
                says = f"the book {name} is missing: at {record.leaf.at} the witness saw it up to entry {seq}"
                raise Wrong(source.place, says)
            if book is not None and seq <= book["last"]:
                places.setdefault(name, {})[seq] = digest
            elif book is not None and is_before_the_end:
                says = f"at {record.leaf.at} the witness saw {name} up to entry {seq}, and it goes up to {book['last']}"
                raise Wrong(source.place, f"{says} here: its tail was cut off")

    def _refuse_other_entries(self, source: Source, places: Mapping[str, Mapping[int, str]]) -> int:
        """Check the witnessed entries of the bundle's days. Returns their number."""
        count = 0
        for number, name in enumerate(self.books, 1):
            part, digests = book_part(number, "entries"), places.get(name, {})
            first = self.before[name]["last"] + 1 if name in self.before else 1
            for seq, line in enumerate(self.bundle.lines(part) if digests else (), first):
                if seq not in digests:
                    continue
                if digests[seq].encode() != line[:_DIGITS]:
                    raise Wrong(part, f"{name}, entry {seq}: the witness {source.place} was told of another")
                count += 1
        return count
