"""The paper of the floor: which slips there are, in which steps they are signed, and by whom.

Pure: a slip in progress is what the table's log says of it. Who may sign and that nobody signs twice is told here;
``slips.py`` makes it happen. Sources: 9 NYCRR 5323.9 and COMAR 36.05.03 for fills, credits, openers and closers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import msgspec

from ledger.proof.chips import BANK, BOXES, CAGE, CASH_OVER_SHORT, DROP_BOX, OVER_SHORT, RACK, REVERSAL, TRANSIT, VAULT
from ledger.proof.moves import Chart, Move

Chips = tuple[tuple[int, int], ...]
"""(value in cents, how many), the largest value first."""


class Stage(NamedTuple):
    """One step of a slip: who may take it, and what it is called."""

    name: str
    by: frozenset[str]
    says: str
    here: bool = False
    """Only the dealer who stands at the table."""

    @property
    def to_be(self) -> str:
        """While it is to come: "to be counted again, unseen"."""
        return f"to be {self.says[:1].lower()}{self.says[1:].removesuffix(' by').removesuffix(',')}"


def _stage(name: str, says: str, *by: str, here: bool = False) -> Stage:
    return Stage(name, frozenset(by), says, here)


_COUNT: Final = (
    _stage("counted", "Counted by", "dealer", "pit_boss"),
    _stage("recounted", "Counted again by", "dealer", "pit_boss"),
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
    "withdrawal": (
        _stage("requested", "Requested by", "cashier"),
        _stage("approved", "Approved by", "pit_boss", "operator"),
    ),
    "deposit": (
        _stage("requested", "Brought by", "cashier"),
        _stage("approved", "Taken into the vault by", "pit_boss", "operator"),
    ),
    "cage": (
        _stage("counted", "Counted by", "cashier"),
        _stage("recounted", "Counted again by", "cashier", "operator"),
    ),
    "drop": (
        _stage("removed", "Box removed by", "security"),
        _stage("witnessed", "Witnessed by", "security", "counter"),
        _stage("counted", "Counted by", "counter"),
        _stage("recounted", "Counted again, unseen, by", "counter"),
    ),
}
"""The steps of each series, in order. A box is counted on by ever other people until two counts agree."""

RACKS: Final = ("opener", "closer", "rack")
"""Slips of chips counted in a rack, by a dealer and a pit boss."""
COUNTS: Final = (*RACKS, "cage")
"""Slips of chips counted by two people, each for themselves. Where the two counts differ the slip comes to nothing, and
it is counted anew."""
IN_THE_HOUSE: Final = ("withdrawal", "deposit", "cage")
"""Slips of no table: between the vault and the cage, and what the cage holds."""

VOIDABLE: Final = ("fill", "credit")
VOID: Final = (
    _stage("void_asked", "Void asked for by", "cashier", "pit_boss"),
    _stage("voided", "Void signed by", "security", "auditor", "operator"),
)
"""A void is signed by one of the cage or the floor, and by somebody who belongs to neither."""

_MOVED: Final[Mapping[tuple[str, str], tuple[str, str, str]]] = {
    ("fill", "carried"): ("fill_out", CAGE, TRANSIT),
    ("fill", "confirmed"): ("fill", TRANSIT, RACK),
    ("credit", "carried"): ("credit_out", RACK, TRANSIT),
    ("credit", "received"): ("credit", TRANSIT, CAGE),
    ("withdrawal", "approved"): ("withdraw", VAULT, CAGE),
    ("deposit", "approved"): ("deposit", CAGE, VAULT),
}
"""The steps that move a slip's whole amount: kind, source, target."""


class Wrong(Exception):
    """A signature that the house does not take."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


class Signed(NamedTuple):
    """One signature: the step, whose it is, in which role, and the entry that holds it."""

    stage: str
    username: str
    name: str
    role: str
    seq: int


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip and how far it is signed."""

    series: str
    year: int
    number: int
    chips: Chips = ()
    """What is to be moved; empty where chips or cash are counted."""
    signed: tuple[Signed, ...] = ()
    counts: tuple[Chips, ...] = ()
    """What was counted, each time by another person."""
    expected_cents: int = 0
    """What the transfers say there is to be counted. No screen shows it before two counts agree."""
    box: str = ""
    """The drop box, as it is marked."""
    reason: str = ""
    """Why it is to be void, once somebody asked for it."""

    @property
    def name(self) -> str:
        """How the slip is called, for good: its series, year and number."""
        return f"{self.series}/{self.year}/{self.number}"

    @property
    def stages(self) -> tuple[str, ...]:
        """The steps that are signed."""
        return tuple(one.stage for one in self.signed)

    @property
    def total_cents(self) -> int:
        """What is to be moved, or what was counted and agreed upon."""
        return total(self.agreed or ()) if self.series in (*COUNTS, "drop") else total(self.chips)

    @property
    def agreed(self) -> Chips | None:
        """What two people counted alike, each for themselves."""
        found = [one for at, one in enumerate(self.counts) if one in self.counts[:at]]
        return found[0] if found else None

    @property
    def due(self) -> Stage | None:
        """The step that is to be signed next; None when nothing is: it is complete, or void, or came to nothing."""
        own, signed = STAGES[self.series], len(self.signed)
        if "void_asked" in self.stages:
            return None if "voided" in self.stages else VOID[1]
        if self.series == "drop" and signed >= len(own):
            return None if self.agreed is not None else own[-1]._replace(name=f"recounted_{signed - len(own) + 2}")
        return own[signed] if signed < len(own) else None

    @property
    def moves_on(self) -> bool:
        """Whether the chips are on their way: nobody's until they are received."""
        arrival = {"fill": "confirmed", "credit": "received"}.get(self.series)
        return arrival is not None and "carried" in self.stages and not {arrival, "voided"} & set(self.stages)

    def spelled(self) -> dict[str, Any]:
        """As the log's slip entries list it."""
        return {
            "series": self.series,
            "year": self.year,
            "number": self.number,
            "chips": spelled(self.chips),
            "signed": [list(one) for one in self.signed],
            "counts": [spelled(one) for one in self.counts],
            "expected_cents": self.expected_cents,
            "box": self.box,
            "reason": self.reason,
        }


def read(said: Mapping[str, Any]) -> Slip:
    """A slip as the log spells it."""
    return Slip(
        series=said["series"],
        year=said["year"],
        number=said["number"],
        chips=as_chips(said["chips"]),
        signed=tuple(Signed(*one) for one in said["signed"]),
        counts=tuple(as_chips(one) for one in said["counts"]),
        expected_cents=said["expected_cents"],
        box=said["box"],
        reason=said["reason"],
    )


def as_chips(said: Iterable[Sequence[int]]) -> Chips:
    """Chips as the log or a form lists them: sorted, each value once, nothing with a count of zero."""
    counts: dict[int, int] = {}
    for value, count in said:
        counts[int(value)] = counts.get(int(value), 0) + int(count)
    return tuple(sorted(((value, count) for value, count in counts.items() if count), reverse=True))


def spelled(chips: Chips) -> list[list[int]]:
    """Chips as the log lists them."""
    return [list(pair) for pair in chips]


def total(chips: Chips) -> int:
    """What they are worth, in cents."""
    return sum(value * count for value, count in chips)


# --- Signing ---------------------------------------------------------------------------------------------------


class Said(msgspec.Struct, frozen=True):
    """What an entry about a slip says: the step, who signs it, and what that step adds."""

    slip: str
    stage: str
    username: str
    name: str
    badge: str | None
    role: str
    chips: tuple[tuple[int, int], ...] = ()
    expected_cents: int = 0
    box: str = ""
    reason: str = ""
    salt: str = ""
    """With a count: everyone may see the entry's hash, and there are few counts to try it with."""
    finished: dict[str, Any] | None = None
    """The slip, where it was complete before a void was asked for."""


def sign(slips: Sequence[Slip], said: Said, seq: int, dealer: str | None) -> Slip:
    """The slip after a signature. ``slips`` are those in progress, ``dealer`` is who stands at the table.

    Raises Wrong: another step is due, somebody of another role, or who signed on this slip already.
    """
    before = _before(slips, said)
    stage = VOID[0] if said.stage == "void_asked" else before.due
    if stage is None or stage.name != said.stage:
        due = f"{stage.says.lower()} comes next" if stage else "nothing is left to sign on it"
        raise Wrong("other_step", f"{_title(before)}: {due}.")
    _refuse(before, stage, said, dealer)
    signed = (*before.signed, Signed(said.stage, said.username, said.name, said.role, seq))
    counts = before.counts
    if stage.name.startswith(("counted", "recounted")):
        counts = (*counts, as_chips(said.chips))
    expected = said.expected_cents if expects(before.series, said.stage) else before.expected_cents
    return replace(before, signed=signed, counts=counts, expected_cents=expected, reason=said.reason or before.reason)


def is_count(stage: str) -> bool:
    """Whether chips or cash are counted in this step."""
    return kind_of(stage) in ("counted", "recounted")


def kind_of(stage: str) -> str:
    """The step without the number that tells a third count from the second."""
    return stage.rstrip("0123456789").rstrip("_")


def kinds(*, house: bool) -> dict[str, frozenset[str]]:
    """Every kind of entry about slips of the house, or of a table, with the kinds of transfer that it may make."""
    found: dict[str, set[str]] = {}
    for series, stages in STAGES.items():
        if (series in IN_THE_HOUSE) is not house:
            continue
        for stage in (*stages, *(VOID if series in VOIDABLE else ())):
            found[f"{series}_{stage.name}"] = (
                {_MOVED[series, stage.name][0]} if (series, stage.name) in _MOVED else set()
            )
        if series in COUNTS:
            found[f"{series}_recounted"] |= {"over", "short"}
    if not house:
        for series in VOIDABLE:
            found[f"{series}_voided"] |= {REVERSAL}
        found["drop_witnessed"] |= {"box_out"}
        found["drop_recounted"] |= {"count", "cash_over", "cash_short"}
    return {kind: frozenset(moved) for kind, moved in found.items()}


def expects(series: str, stage: str) -> bool:
    """Whether what the transfers say there is, is looked up at this step: the rack's at the last count, a box's when
    it leaves the table."""
    return stage == ("witnessed" if series == "drop" else "recounted") and series in (*COUNTS, "drop")


def _before(slips: Sequence[Slip], said: Said) -> Slip:
    series, year, number = said.slip.split("/")
    known = next((slip for slip in slips if slip.name == said.slip), None)
    if known is not None:
        return known
    if said.stage == "void_asked" and said.finished is not None:
        return read(said.finished)
    if series not in STAGES or said.stage != STAGES[series][0].name:
        raise Wrong("unknown_slip", f"There is no {series} {number} of {year} in progress at this table.")
    chips = () if series in (*COUNTS, "drop") else as_chips(said.chips)
    return Slip(series, int(year), int(number), chips, box=said.box)


def _refuse(slip: Slip, stage: Stage, said: Said, dealer: str | None) -> None:
    if said.stage == "void_asked" and (slip.series not in VOIDABLE or "void_asked" in slip.stages):
        raise Wrong("not_voidable", f"{_title(slip)} cannot be made void.")
    if said.role not in stage.by:
        raise Wrong("wrong_role", f"{_title(slip)}: this step is signed by {either(stage.by)}, not by {said.name}.")
    if said.username in {one.username for one in slip.signed}:
        raise Wrong("signed_already", f"{said.name} signed on this slip already: another person has to.")
    if stage.here and dealer is not None and said.username != dealer:
        raise Wrong("not_the_dealer", f"{_title(slip)}: the dealer at the table signs this step, not {said.name}.")
    if slip.series in RACKS and slip.signed and slip.signed[0].role == said.role:
        raise Wrong("wrong_role", "A rack is counted by a dealer and by a pit boss.")


def either(roles: Iterable[str]) -> str:
    """The roles that may sign, in words: "a dealer or a pit boss"."""
    names = sorted(_CALLED.get(role, role.replace("_", " ")) for role in roles)
    return " or ".join(f"{'an' if name[0] in 'aeiou' else 'a'} {name}" for name in names)


_CALLED: Final = {"security": "security officer"}


def _title(slip: Slip) -> str:
    return f"{slip.series.capitalize()} {slip.number}"


def content(said: Said, after: Slip, slips: Sequence[Slip]) -> dict[str, Any]:
    """What the entry of a signature says: the signature, the slip after it, and all slips that are in progress then."""
    return {
        "slip": said.slip,
        "stage": said.stage,
        "username": said.username,
        "name": said.name,
        "badge": said.badge,
        "role": said.role,
        "chips": spelled(said.chips),
        "expected_cents": said.expected_cents,
        "box": said.box,
        "reason": said.reason,
        "salt": said.salt,
        "finished": said.finished,
        "now": after.spelled(),
        "open": [one.spelled() for one in in_progress(slips, after)],
    }


def in_progress(slips: Sequence[Slip], after: Slip) -> tuple[Slip, ...]:
    """The slips in progress after one of them was signed."""
    others = [slip for slip in slips if slip.name != after.name]
    return tuple(others if after.due is None else [*others, after])


def moves(chart: Chart, slip: Slip, undone: Sequence[Move] = ()) -> list[Move]:
    """What the latest signature on a slip moves. ``undone``: the reversals of all that the slip moved, for a void."""
    stage = slip.signed[-1].stage
    if stage == "voided":
        return list(undone)
    if moved := _MOVED.get((slip.series, stage)):
        return [chart.move(*moved, slip.total_cents)]
    if slip.series == "drop" and stage == "witnessed" and slip.expected_cents:
        return [chart.move("box_out", DROP_BOX, BOXES, slip.expected_cents)]
    if slip.agreed is None or slip.due is not None:
        return []
    variance = slip.total_cents - slip.expected_cents
    if slip.series == "drop":
        return [*_variance(chart, variance, "cash_", BOXES, CASH_OVER_SHORT), *_counted(chart, slip.total_cents)]
    return _variance(chart, variance, "", CAGE if slip.series == "cage" else RACK, OVER_SHORT)


def _variance(chart: Chart, cents: int, prefix: str, place: str, against: str) -> list[Move]:
    """What was counted more or less than there had to be: never absorbed."""
    if cents > 0:
        return [chart.move(f"{prefix}over", against, place, cents)]
    return [chart.move(f"{prefix}short", place, against, -cents)] if cents else []


def _counted(chart: Chart, cents: int) -> list[Move]:
    return [chart.move("count", BOXES, BANK, cents)] if cents else []
