"""The paper of the floor: which slips there are, in which steps they are signed, and by whom.

Pure: a slip in progress is what the table's log says of it. Who may sign and that nobody signs twice is told here;
``slips.py`` makes it happen. Sources: 9 NYCRR 5323.9 and COMAR 36.05.03 for fills, credits, openers and closers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

Chips = tuple[tuple[int, int], ...]
"""(value in cents, how many), the largest value first."""


class Stage(NamedTuple):
    """One step of a slip: who may take it, and what it is called."""

    name: str
    by: frozenset[str]
    says: str
    here: bool = False
    """Only the dealer who stands at the table."""


def _stage(name: str, says: str, *by: str, here: bool = False) -> Stage:
    return Stage(name, frozenset(by), says, here)


_COUNT: Final = (
    _stage("counted", "Counted by", "dealer", "pit_boss"),
    _stage("signed", "Counted again and signed by", "dealer", "pit_boss"),
)

STAGES: Final[Mapping[str, tuple[Stage, ...]]] = {
    "opener": _COUNT,
    "closer": _COUNT,
    "rack": _COUNT,
    "fill": (
        _stage("requested", "Requested by", "pit_boss"),
        _stage("issued", "Given out by the cage", "cashier"),
        _stage("carried", "Carried by", "security"),
        _stage("received", "Counted in by the dealer", "dealer", here=True),
        _stage("confirmed", "Seen by the floor", "pit_boss"),
    ),
    "credit": (
        _stage("requested", "Requested by", "pit_boss"),
        _stage("issued", "Broken down by the dealer", "dealer", here=True),
        _stage("confirmed", "Seen by the floor", "pit_boss"),
        _stage("carried", "Carried by", "security"),
        _stage("received", "Counted in by the cage", "cashier"),
    ),
    "drop": (
        _stage("removed", "Box removed by", "security"),
        _stage("witnessed", "Removal witnessed by", "security", "counter"),
        _stage("counted", "Counted by", "counter"),
        _stage("recounted", "Counted again, unseen, by", "counter"),
    ),
}
"""The steps of each series, in order. A box is counted on by ever other people until two counts agree."""

COUNTS: Final = ("opener", "closer", "rack")
"""Slips of chips counted in a rack, by a dealer and a pit boss."""

VOIDABLE: Final = ("fill", "credit")
VOID: Final = (
    _stage("void_asked", "Void asked for by", "cashier", "pit_boss"),
    _stage("voided", "Void signed by", "security", "auditor", "operator"),
)
"""A void is signed by one of the cage or the floor, and by somebody who belongs to neither."""

SERIES: Final = (*STAGES, "correction")
"""Each has numbers of its own, from 1 in every calendar year. Corrections are made in ``disputes.py``."""

_MOVED: Final[Mapping[tuple[str, str], tuple[str, str, str]]] = {
    ("fill", "carried"): ("fill_out", "cage", "transit"),
    ("fill", "confirmed"): ("fill", "transit", "rack"),
    ("credit", "carried"): ("credit_out", "rack", "transit"),
    ("credit", "received"): ("credit", "transit", "cage"),
}


def moved_by(series: str, stage: str) -> tuple[str, str, str] | None:
    """The kind, source and target of the chips that a step moves: a slip's whole amount, or nothing."""
    return _MOVED.get((series, stage))


class Signed(NamedTuple):
    """One signature: the step, whose it is, in which role, and the entry that holds it."""

    stage: str
    username: str
    name: str
    role: str
    seq: int


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip in progress."""

    series: str
    year: int
    number: int
    chips: Chips
    total_cents: int
    signed: tuple[Signed, ...]
    box: str = ""
    """The drop box, as it is marked."""
    counts: tuple[Chips, ...] = ()
    """What was counted in the box so far, each by another person."""
    reason: str = ""
    """Why it is to be void, once somebody asked for it."""

    @property
    def name(self) -> str:
        """How the slip is called, for good: its series, year and number."""
        return f"{self.series}/{self.year}/{self.number}"

    @property
    def due(self) -> Stage | None:
        """The step that is to be signed next; None once all are."""
        return due(self.series, [one.stage for one in self.signed], done=self.agreed)

    @property
    def agreed(self) -> bool:
        """Whether two counts of the box are the same."""
        return len(self.counts) != len({total(one) for one in self.counts})

    @property
    def in_transit(self) -> bool:
        """Whether the chips are on their way: nobody's until they are received."""
        stages = {one.stage for one in self.signed}
        arrived = {"fill": "confirmed", "credit": "received"}.get(self.series)
        return arrived is not None and "carried" in stages and arrived not in stages

    def with_signature(self, signature: Signed) -> Slip:
        """The slip after one more step."""
        return replace(self, signed=(*self.signed, signature))

    def spelled(self) -> dict[str, Any]:
        """As the log's slip entries list it."""
        return {
            "series": self.series,
            "year": self.year,
            "number": self.number,
            "chips": [list(pair) for pair in self.chips],
            "total_cents": self.total_cents,
            "signed": [list(one) for one in self.signed],
            "box": self.box,
            "counts": [[list(pair) for pair in one] for one in self.counts],
            "reason": self.reason,
        }


def read(said: Mapping[str, Any]) -> Slip:
    """A slip as the log spells it."""
    return Slip(
        series=said["series"],
        year=said["year"],
        number=said["number"],
        chips=as_chips(said["chips"]),
        total_cents=said["total_cents"],
        signed=tuple(Signed(*one) for one in said["signed"]),
        box=said["box"],
        counts=tuple(as_chips(one) for one in said["counts"]),
        reason=said["reason"],
    )


def due(series: str, stages: Sequence[str], *, done: bool) -> Stage | None:
    """What is to be signed after these steps: the void once it was asked for, else the next step of the series."""
    if "void_asked" in stages:
        return None if "voided" in stages else VOID[1]
    own = STAGES[series]
    if series == "drop" and len(stages) >= len(own):
        return None if done else own[-1]._replace(name=f"recounted_{len(stages) - len(own) + 2}")
    return own[len(stages)] if len(stages) < len(own) else None


def as_chips(said: Sequence[Sequence[int]]) -> Chips:
    """Chips as the log or a form lists them: sorted, nothing with a count of zero."""
    return tuple(sorted(((int(value), int(count)) for value, count in said if count), reverse=True))


def total(chips: Chips) -> int:
    """What they are worth, in cents."""
    return sum(value * count for value, count in chips)
