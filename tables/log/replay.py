"""What a table's log proves by itself: each round by the engine, each transfer by the rules. Pure; nothing is read.

The house's own proof and the verifier for outsiders both follow a log with this, one entry after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import msgspec

from ledger.proof.chain import Entry
from ledger.proof.chips import MOVEMENTS
from ledger.proof.moves import Chart, Move, Posted, undone
from tables.log.fold import Round, Standing, fold
from tables.log.paper import Signature, Wrong, in_progress, moves, sign
from tables.log.settlement import at_the_counter, chips_moved, correction_moves, seat_moves, sold
from tables.log.shoe_orders import Seals

DEALT: Final = frozenset({"stake", "loss", "win", "return", "pay_pot", "pay_seat", "win_pot", "rake"})
"""The movements that only a round makes."""
SEATED: Final = frozenset({"sit_down", "stand_up", "time_charge"})
"""The movements that only chips at the seats of a table with a pot make."""


class Misconduct(Exception):
    """The house would not have written this entry."""


@dataclass(slots=True)
class Replay:
    """Follows a table's log: where the table stands, and what each entry has to have moved."""

    chart: Chart
    now: Standing = field(default_factory=Standing)
    seals: Seals | None = None
    """What house shoes committed to, where that is known."""
    held: dict[str, int] | None = None
    """What lies in each place of the table that has no seat, likewise."""
    posted: dict[int, Sequence[Posted]] = field(default_factory=dict)
    """The transfers of the latest round's entries: what is taken back is undone by them."""
    rounds: int = 0
    """How many rounds were over on the way."""

    def follow(self, entry: Entry, posted: Sequence[Posted]) -> None:
        """One more entry, with the transfers that its body records. Raises Misconduct, orders.Unproven or Illegal."""
        before, moved = self.now, [one.move for one in posted]
        said = {"seq": entry.seq, "subject": entry.subject, "kind": entry.kind, "round": entry.round}
        self.now = fold(before, **said, content=entry.content)  # type: ignore[arg-type]
        due = self._due(before, entry)
        if due is None:
            _refuse_kinds(entry, moved)
        elif due != moved:
            raise Misconduct(_difference(due, moved))
        self._remember(entry, posted)
        if self.seals is not None:
            self.seals.follow(self.now, entry)
        if self.held is not None:
            for move in moved:
                self.held[move.source_place] = self.held.get(move.source_place, 0) - move.amount_cents
                self.held[move.target_place] = self.held.get(move.target_place, 0) + move.amount_cents

    def _due(self, before: Standing, entry: Entry) -> list[Move] | None:
        """What an entry has to have moved; None where the log alone cannot tell."""
        match entry.subject, entry.kind:
            case "round", "play":
                return self._played(entry, before.round)
            case "round", "take_back" if before.round is not None:
                settled = before.round.over or not before.round.game.banked
                return undone(self.posted.get(entry.content["corrects"], ())) if settled else []
            case "round", "paid":
                return []
            case "slip", _:
                return self._slip(before, entry)
            case "table", "opened" | "closed":
                return self._door(before, entry)
            case "correction", _:
                return self._correction(entry)
            case "chips", "buy_in":
                return sold(self.chart, entry.content["amount_cents"])
            case "chips", "sold" | "redeemed" as kind:
                return at_the_counter(self.chart, kind, _said_or_moved(entry))
            case "seats", kind:
                return seat_moves(self.chart, before.stacks, kind, entry.content)
        return None

    def _played(self, entry: Entry, before: Round | None) -> list[Move]:
        """The movements that follow from a round's entry; it has to say what the engine decided."""
        current = self.now.round
        assert current is not None  # noqa: S101 -- a round's entry was just folded
        said, decided = entry.content.get("decided", []), msgspec.to_builtins(current.plays[-1].decided)
        if said != list(decided):
            raise Misconduct(f"it says that {said} was decided, the rules say {decided}")
        self.rounds += current.over
        known = replace(current, plays=()) if "opening" in entry.content or before is None else before
        return chips_moved(self.chart, known, current.state)

    def _slip(self, before: Standing, entry: Entry) -> list[Move] | None:
        """What a signature moves; the slip is what it was before with this signature on it, and the others stay."""
        said = msgspec.convert(entry.content, Signature)
        try:
            after = sign(before.slips, said, entry.seq, before.dealer.username if before.dealer else None)
        except Wrong as wrong:
            raise Misconduct(f"it could not be signed then: {wrong.sentence}") from None
        rest = in_progress(before.slips, after)
        if after.spelled() != entry.content["now"] or [one.spelled() for one in rest] != entry.content["open"]:
            raise Misconduct("its slips are others than the signatures make them")
        stage = after.latest
        if self.held is not None and stage is not None and stage.expects and not after.series.in_house:
            due = self.held.get(stage.expects, 0)
            if due != after.expected_cents:
                raise Misconduct(f"it expects {after.expected_cents}, the transfers left {due}")
        return None if after.is_void else moves(self.chart, after)

    def _correction(self, entry: Entry) -> list[Move]:
        """What a correction moves: nothing before its second signature, then what its own amounts come to."""
        if entry.kind != "signed":
            return []
        said = entry.content["correction"]
        off = 0 if entry.content["counted"] else said["believed_cents"] - said["handed_cents"]
        return correction_moves(self.chart, said["due_cents"] - said["handed_cents"], off)

    def _door(self, before: Standing, entry: Entry) -> list[Move]:
        """A table opens with its opener and closes with its closer, each counted twice."""
        slip = before.counted
        if slip is None or slip.series.door != entry.kind:
            count = "an opener" if entry.kind == "opened" else "a closer"
            raise Misconduct(f"the table is {entry.kind} without {count}")
        said = (entry.content.get("slip"), entry.content.get("rack_cents"), entry.content.get("variance_cents"))
        if said != (slip.name, slip.total_cents, slip.total_cents - slip.expected_cents):
            raise Misconduct(f"it says {said}, the {slip.series.name} says {slip.total_cents}")
        return []

    def _remember(self, entry: Entry, posted: Sequence[Posted]) -> None:
        if entry.subject != "round":
            return
        if "opening" in entry.content:
            self.posted.clear()
        if posted:
            self.posted[entry.seq] = posted


def _said_or_moved(entry: Entry) -> int:
    """The amount of an exchange: as the entry says, or else what its first transfer moves, which the cash matches."""
    said = entry.content.get("amount_cents")
    return int(entry.document["moves"][0][3] if said is None else said)


def _refuse_kinds(entry: Entry, moved: Sequence[Move]) -> None:
    for move in moved:
        if (move.source_place, move.target_place) not in MOVEMENTS.get(move.kind, ()):
            raise Misconduct(f"it moves {move.spelled()}, which is not on the list of movements")
        if move.kind in DEALT | SEATED:
            raise Misconduct(f"it makes a {move.kind}, which no {entry.subject} {entry.kind} does")


def _difference(expected: Sequence[Move], found: Sequence[Move]) -> str:
    for number, (due, moved) in enumerate(zip(expected, found, strict=False), 1):
        if due != moved:
            return f"its transfer {number} is {moved.spelled()}, the round's payouts make it {due.spelled()}"
    return f"it moved chips {len(found)} times, the round's payouts make it {len(expected)}"
