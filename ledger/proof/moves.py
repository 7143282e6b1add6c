"""Chip movements without a database: their form, and the comparison of stored transfers with the log."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from ledger.proof.chain import Broken, Entry, Fault
from ledger.proof.chips import REVERSAL

Place = tuple[str, int | tuple[int, str] | None]
"""A place in a log: its name and None, a seat, or a seat and a wager where a seat's wagers are kept apart."""


@dataclass(frozen=True, slots=True)
class Move:
    """One movement of chips, before it is posted. The amount is in cents."""

    kind: str
    source_account_id: int
    source_place: str
    target_account_id: int
    target_place: str
    amount_cents: int
    reverses: int | None = None

    def spelled(self) -> list[str | int | None]:
        """The movement in the format of an entry's body, so that the log alone shows where each chip went."""
        source = f"{self.source_place}#{self.source_account_id}"
        target = f"{self.target_place}#{self.target_account_id}"
        return [self.kind, source, target, self.amount_cents, self.reverses]

    def undone(self, number: int) -> "Move":
        """The reversal of this movement, which was posted as the transfer with this id."""
        source, target = (self.target_account_id, self.target_place), (self.source_account_id, self.source_place)
        return Move(REVERSAL, *source, *target, self.amount_cents, number)


@dataclass(frozen=True, slots=True)
class Chart:
    """The accounts that a log's entries may move chips between: its own, and those that the whole site shares."""

    book_id: int
    ids: Mapping[Place, int]

    def move(self, kind: str, source: str | Place, target: str | Place, amount_cents: int) -> Move:
        """A movement between places; a seat's place on the layout is ("layout", seat), or ("layout", (seat, wager)).
        Raises KeyError for an unknown place."""
        start, end = ((place, None) if isinstance(place, str) else place for place in (source, target))
        return Move(
            kind,
            source_account_id=self.ids[start],
            source_place=start[0],
            target_account_id=self.ids[end],
            target_place=end[0],
            amount_cents=amount_cents,
        )


@dataclass(frozen=True, slots=True)
class Posted:
    """A transfer read from the database."""

    seq: int
    leg: int
    id: int
    move: Move


def undone(transfers: Iterable[Posted]) -> list[Move]:
    """The reversals of these transfers, the last one first."""
    # The last first: chips must be back in a place before an earlier movement from it is undone.
    last_first = sorted(transfers, key=lambda transfer: (transfer.seq, transfer.leg), reverse=True)
    return [transfer.move.undone(transfer.id) for transfer in last_first]


class Proven(NamedTuple):
    """A verified entry with its transfers."""

    entry: Entry
    transfers: tuple[Posted, ...]


def reconcile(chain: Iterable[Entry], posted: Iterable[Posted], book: str) -> Iterator[Proven]:
    """Join entries with their transfers. Raises Broken if the transfers differ from those that the entry's body
    records."""
    groups = groupby(posted, key=lambda transfer: transfer.seq)
    seq, group = next(groups, (None, iter(())))
    for entry in chain:
        # A transfer without an entry would move chips that no log accounts for.
        if seq is not None and seq < entry.seq:
            raise Broken(Fault(book, seq, "moves chips, but no such entry is there"))
        transfers: tuple[Posted, ...] = ()
        if seq == entry.seq:
            transfers = tuple(group)
            seq, group = next(groups, (None, iter(())))
        if reason := _difference(entry, transfers):
            raise Broken(Fault(book, entry.seq, reason))
        yield Proven(entry, transfers)


def _difference(entry: Entry, transfers: tuple[Posted, ...]) -> str | None:
    recorded = entry.moves
    if len(transfers) != len(recorded):
        return f"it recorded {len(recorded)} transfers, {len(transfers)} are there"
    for leg, (transfer, move) in enumerate(zip(transfers, recorded, strict=True), start=1):
        if transfer.leg != leg or transfer.move.spelled() != move:
            return f"its transfer {leg} is {transfer.move.spelled()}, it recorded {move}"
    return None
