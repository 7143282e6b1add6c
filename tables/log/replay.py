"""What a table's log proves by itself: each round by the engine, each transfer by the rules. Pure; nothing is read.

The house's own proof and the verifier for outsiders both follow a log with this, one entry after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ledger.proof.chain import Entry
from ledger.proof.chips import BY_COUNT, MOVEMENTS
from ledger.proof.moves import Chart, Move, Posted
from tables.log.catalog import fold
from tables.log.entries.chips import ChipsSold
from tables.log.entries.rounds import DEALT, Played
from tables.log.entries.seats import SEATED
from tables.log.event import AuditFailure, Context, Event
from tables.log.shoe_orders import Seals
from tables.log.state import TableState


@dataclass(slots=True)
class Replay:
    """Follows a table's log: where the table stands, and what each entry has to have moved."""

    chart: Chart
    standing: TableState = field(default_factory=TableState)
    seals: Seals | None = None
    """What house shoes committed to, where that is known."""
    held: dict[str, int] | None = None
    """What lies in each place of the table that has no seat, likewise."""
    posted: dict[int, Sequence[Posted]] = field(default_factory=dict)
    """The transfers of the latest round's entries, and of sales since then: what is taken back is undone by them."""
    rounds: int = 0
    """How many rounds were over on the way."""

    def follow(self, entry: Entry, event: Event, posted: Sequence[Posted]) -> None:
        """One more entry, with what it says and the transfers that its body records.

        Raises AuditFailure, shoe_orders.Unproven or Illegal.
        """
        before, moves = self.standing, [transfer.move for transfer in posted]
        self.standing = fold(before, event, seq=entry.seq, round=entry.round)
        context = Context(
            seq=entry.seq,
            round=entry.round,
            before=before,
            after=self.standing,
            chart=self.chart,
            recorded=moves,
            posted=self.posted,
            held=self.held,
            moment=entry.at,
        )
        due = event.moved(context)
        if due is None:
            _refuse_kinds(event, moves)
        elif list(due) != moves:
            raise AuditFailure(_difference(due, moves))
        event.bear_out(context)
        self._remember(entry.seq, event, posted)
        if self.seals is not None:
            self.seals.follow(self.standing, entry.seq, event)
        if self.held is not None:
            _carry(self.held, moves)

    def _remember(self, seq: int, event: Event, posted: Sequence[Posted]) -> None:
        if event.subject != Played.subject and not isinstance(event, ChipsSold):
            return
        if isinstance(event, Played):
            self.rounds += self.standing.round is not None and self.standing.round.over
            if event.opening is not None:
                self.posted.clear()
        if posted:
            self.posted[seq] = posted


def _carry(balances: dict[str, int], moves: Sequence[Move]) -> None:
    """Move chips between the places without a seat."""
    for move in moves:
        balances[move.source_place] = balances.get(move.source_place, 0) - move.amount_cents
        balances[move.target_place] = balances.get(move.target_place, 0) + move.amount_cents


def _refuse_kinds(event: Event, moves: Sequence[Move]) -> None:
    for move in moves:
        if (move.source_place, move.target_place) not in MOVEMENTS.get(move.kind, ()):
            raise AuditFailure(f"it moves {move.spelled()}, which is not on the list of movements")
        if move.kind in DEALT | SEATED | BY_COUNT:
            raise AuditFailure(f"it makes a {move.kind}, which no {event.subject} {event.kind} does")


def _difference(due: Sequence[Move], moves: Sequence[Move]) -> str:
    for number, (expected, move) in enumerate(zip(due, moves, strict=False), 1):
        if expected != move:
            return f"its transfer {number} is {move.spelled()}, the round's payouts make it {expected.spelled()}"
    return f"it moved chips {len(moves)} times, the round's payouts make it {len(due)}"
