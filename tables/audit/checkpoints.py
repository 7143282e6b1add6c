"""The tree that outside witnesses observe: one leaf per minute, with the heads of all logs (docs/witness.md).

A leaf stores only the heads that moved in its minute; a proof reads as many rows as the tree is high. No input waits
for this: one statement reads the heads, and no log is locked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final, TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.db import transaction

from ledger import clock, log, runs, site_log
from ledger.log import Draft
from ledger.models import DayRoot, HeadsRow, LogEntry
from ledger.proof import heads as heads_of_books
from ledger.proof import merkle, note, seals
from ledger.proof.checkpoint import Checkpoint
from ledger.proof.heads import Head, Heads, HeadsLeaf
from ledger.proof.merkle import TreeProofs
from ledger.proof.note import ED25519, Note, VerifierKey
from ledger.proof.seals import BadKey
from ledger.proof.spelling import timestamp
from ledger.raw_rows import fetch_rows
from tables.log.catalog import read_as
from tables.log.entries.checkpoints import CheckpointsBegun

BY: Final = "witnessing"
"""The author of log entries about trees; not a staff member."""
WHOLE: Final = 64
"""Every 64th leaf is stored with all heads, so that the heads at any leaf can be read from at most that many rows."""
SLOT: Final = timedelta(minutes=1)
_HASH: Final = 32

T = TypeVar("T")


class Lost(Exception):
    """The logs lost entries that the last leaf has, so no further leaf is made. The message names log and entry."""


# --- Trees and keys ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SignedTree:
    """A tree with one of its signing keys, as an entry of the site log names them."""

    key: VerifierKey
    seq: int

    @property
    def origin(self) -> str:
        return self.key.name


def trees() -> list[SignedTree]:
    """All trees and all their keys, in the order of their entries."""
    entries = LogEntry.objects.of_site().filter(subject=CheckpointsBegun.subject).order_by("seq")
    rows = entries.values_list("seq", "body")
    return [SignedTree(VerifierKey.parse(read_as(CheckpointsBegun, body).key), seq) for seq, body in rows]


def current_tree() -> SignedTree | None:
    """The tree that grows now; None if the site has none."""
    every = trees()
    return every[-1] if every else None


def key_file() -> Path:
    """The path of the checkpoint key. Raises BadKey if none is set."""
    if not settings.CHECKPOINT_KEY_FILE:
        raise BadKey("No key file is set: name one in CHECKPOINT_KEY_FILE, and run `manage.py audit checkpoints`.")
    return Path(settings.CHECKPOINT_KEY_FILE)


def begin(origin: str, *, reason: str = "", by: Sequence[str] = ()) -> SignedTree:
    """Begin the site's tree under a name, with the key in the file; or continue it with another key.

    Leaving an older tree needs a reason and two users. Raises BadKey and BadNote.
    """
    path = key_file()
    key = seals.load_key(path) if path.exists() else seals.make_key(path)
    public = VerifierKey.of(origin, ED25519, key)
    with transaction.atomic():
        head = site_log.lock()
        every = trees()
        if every and every[-1].key == public:
            return every[-1]
        if every and (not reason.strip() or len(set(by)) < 2):
            raise BadKey(f"The house has the tree {every[-1].key}: leaving it needs a reason and two people.")
        # Witnesses remember a tree by its name: a smaller tree under an old name would look like a log that was cut
        # off.
        if any(tree.key == public or (tree.origin == origin != every[-1].origin) for tree in every):
            raise BadKey(f"{origin} was left before, and no witness accepts it again. Choose another name.")
        event = CheckpointsBegun(key=str(public), reason=reason.strip(), by=tuple(by))
        return SignedTree(public, log.append(head, Draft.of(event, BY)).seq)


def signing_key(tree: SignedTree) -> Ed25519PrivateKey:
    """The checkpoint key in the file. Raises BadKey if the log names another one for this tree."""
    key = seals.load_key(key_file())
    if VerifierKey.of(tree.origin, ED25519, key) != tree.key:
        raise BadKey(
            f"The house's log names the key {tree.key} for its checkpoints, but {key_file()} holds another: restore the"
            " right file, or begin again with `manage.py audit checkpoints`."
        )
    return key


# --- Growing ----------------------------------------------------------------------------------------------------


def grow() -> HeadsRow | None:
    """Add this minute's leaf. None if the site has no tree, the leaf exists, or another worker is adding it.

    Raises BadKey, Lost and clock.WrongClock.
    """
    if (tree := current_tree()) is None:
        return None
    # Key and clock are checked first: without them no leaf may be added.
    key, moment = signing_key(tree), clock.agreed()
    with runs.alone("checkpoint") as is_alone:
        last = newest(tree.origin) if is_alone else None
        if not is_alone or (last is not None and moment - last.at < SLOT / 2):
            return None
        with transaction.atomic():
            return _leaf(tree, key, last, moment)


def _leaf(tree: SignedTree, key: Ed25519PrivateKey, last: HeadsRow | None, moment: datetime) -> HeadsRow:
    # Seals before heads: a day sealed in between is in the next leaf, and never in a leaf without its entries.
    sealed, heads = sealed_last(), present_heads()
    earlier = heads_at(last) if last else {}
    # A signed leaf after a loss would make the site vouch for the shortened log.
    if last is not None and (loss := _loss(last, earlier, heads)):
        raise Lost(loss)
    number = last.number + 1 if last else 0
    leaf = HeadsLeaf(number, timestamp(moment), len(heads), heads_of_books.root_of(heads), sealed)
    grown = merkle.MerkleTree(size=number, full=_full_subtrees(tree.origin, number))
    hashes = grown.add(bytes(leaf))
    moved = heads if number % WHOLE == 0 else heads_of_books.movement(earlier, heads)
    text = Checkpoint(tree.origin, grown.size, grown.root).text
    row: HeadsRow = HeadsRow.objects.create(
        origin=tree.origin,
        number=number,
        previous=last.number if last else None,
        at=moment,
        leaf=bytes(leaf),
        heads=b"\n".join(heads_of_books.lines_of(moved)),
        hashes=b"".join(hashes),
        signature=note.sign(key, tree.origin, text).line,
    )
    return row


def _loss(last: HeadsRow, earlier: Heads, heads: Heads) -> str | None:
    """The first loss since the last leaf, whose heads must still be entries of the log; None if nothing was lost."""
    if loss := heads_of_books.loss(earlier, heads):
        return loss
    # A head that grew hides a rewritten past: the earlier head must still be an entry.
    moved = [(name, *head) for name, head in earlier.items() if heads[name] != head]
    if fault := next(entry_faults(moved), None):
        return fault
    sealed = leaf_of(last).sealed
    return None if sealed is None else seal_fault(sealed)


def seal_fault(sealed: Head) -> str | None:
    """The fault of a day that a leaf names as sealed; None if its seal is unchanged."""
    number, digest = sealed
    row = DayRoot.objects.filter(number=number).values_list("hash", flat=True).first()
    if row is None:
        return f"the seal of day {number} is gone"
    return None if bytes(row).hex() == digest else f"day {number} is sealed otherwise than before"


def entry_faults(places: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    """A sentence for each head that is no longer an entry of the log. Heads are (log, number, hash in hex)."""
    names, numbers, digests = ([place[part] for place in places] for part in range(3))
    rows = fetch_rows(
        "SELECT n.name, n.seq, n.digest, b.head_seq, e.hash"
        " FROM unnest(%s::text[], %s::bigint[], %s::text[]) WITH ORDINALITY AS n (name, seq, digest, place)"
        " LEFT JOIN ledger_book AS b ON b.name = n.name"
        " LEFT JOIN ledger_logentry AS e ON e.book_id = b.id AND e.seq = n.seq"
        " WHERE e.hash IS NULL OR encode(e.hash, 'hex') <> n.digest ORDER BY n.place",
        [names, numbers, digests],
    )
    for name, seq, _, head_seq, digest in rows:
        if head_seq is None:
            yield f"{name} is missing: it went up to entry {seq}"
        elif digest is None:
            yield f"{name} went up to entry {seq}, and goes up to {head_seq} now: its tail was cut off"
        else:
            yield f"{name}, entry {seq}: it is another entry than before"


def present_heads() -> dict[str, Head]:
    """The heads of all logs in one snapshot, read by one statement."""
    rows = fetch_rows("SELECT name, head_seq, head_hash FROM ledger_book WHERE head_seq > 0")
    return {name: (seq, bytes(digest).hex()) for name, seq, digest in rows}


def sealed_last() -> Head | None:
    """The number of the newest sealed day, and the hex hash of its document; None before the first."""
    row = DayRoot.objects.order_by("-number").values_list("number", "hash").first()
    return None if row is None else (row[0], bytes(row[1]).hex())


# --- Reading ----------------------------------------------------------------------------------------------------


def newest(origin: str) -> HeadsRow | None:
    row: HeadsRow | None = HeadsRow.objects.filter(origin=origin).order_by("-number").first()
    return row


def leaf_of(row: HeadsRow) -> HeadsLeaf:
    return HeadsLeaf.parse(bytes(row.leaf))


def heads_of(content: bytes | memoryview) -> dict[str, Head]:
    """The heads stored in a row. Raises heads.BadHeads."""
    return dict(heads_of_books.read_head(msgspec.json.decode(line)) for line in bytes(content).split(b"\n") if line)


def heads_at(row: HeadsRow) -> dict[str, Head]:
    """The heads of all logs at a leaf, from the last row with all heads and the movements since."""
    heads: dict[str, Head] = {}
    span = HeadsRow.objects.filter(origin=row.origin, number__gte=row.number // WHOLE * WHOLE, number__lte=row.number)
    for content in span.order_by("number").values_list("heads", flat=True):
        heads |= heads_of(content)
    return heads


def make_proof(origin: str, size: int, prove: Callable[[TreeProofs], T]) -> T:
    """A proof about the tree of the first ``size`` leaves.

    The places of the required hashes do not depend on their values, so ``prove`` is called twice: first to collect
    the places, then, after one statement has read them, for the answer. Raises Lost if a stored hash is missing.
    """
    places: set[tuple[int, int]] = set()

    def place(level: int, index: int) -> bytes:
        places.add((level, index))
        return merkle.EMPTY

    prove(TreeProofs(size, place))
    hashes = _hashes(origin, places)
    return prove(TreeProofs(size, lambda level, index: hashes[level, index]))


def root_at(origin: str, size: int) -> bytes:
    return make_proof(origin, size, lambda proofs: proofs.root)


def checkpoint_of(row: HeadsRow) -> Note:
    """The signed checkpoint of the tree that ends with a leaf."""
    size = row.number + 1
    text = Checkpoint(row.origin, size, root_at(row.origin, size)).text
    return Note(text, note.read_signatures(row.signature))


def _full_subtrees(origin: str, size: int) -> list[bytes]:
    """The hashes of the full subtrees that make up a tree of ``size`` leaves, the largest first."""
    places = []
    for level in reversed(range(size.bit_length())):
        if size >> level & 1:
            places.append((level, (size >> level) - 1))
    hashes = _hashes(origin, places)
    return [hashes[place] for place in places]


def _hashes(origin: str, places: Sequence[tuple[int, int]] | set[tuple[int, int]]) -> Mapping[tuple[int, int], bytes]:
    """The hashes of full subtrees by level and index. Each is stored with the subtree's last leaf. Raises Lost."""
    last = {(level, index): ((index + 1) << level) - 1 for level, index in places}
    # One query for all hashes: a proof for a tree of years needs some forty of them.
    rows = HeadsRow.objects.filter(origin=origin, number__in=set(last.values())).values_list("number", "hashes")
    by_leaf = {number: bytes(hashes) for number, hashes in rows}
    if missing := set(last.values()) - by_leaf.keys():
        raise Lost(f"the leaf {min(missing)} of the tree {origin} is gone")
    return {place: by_leaf[number][place[0] * _HASH :][:_HASH] for place, number in last.items()}
