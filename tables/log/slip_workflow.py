"""The paper of the floor: how a slip is signed, step by step, and what each signature moves.

Pure: a slip in progress follows from its log. ``slip_types.py`` declares the types, their steps and who signs each;
``tables/cage/slip_signatures.py`` signs them on the floor, and every proof calls these functions, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

import msgspec

from ledger.proof.chips import money
from ledger.proof.moves import Chart, Move
from ledger.proof.slip_name import NotASlipName, SlipName
from tables.log.signatory import Signatory, same_person_fault
from tables.log.slip_types import (
    IN_STOCK,
    SLIPS,
    VOID,
    VOID_ASKED,
    VOIDED,
    Chips,
    Flow,
    SlipType,
    Stage,
    kind_of,
    total,
)
from tables.refusals import Refused


class Wrong(Exception):
    """A signature that the house does not take."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code, self.sentence = code, sentence


class QuestionedNote(NamedTuple):
    """A note that a count did not accept as money, until a later slip accepts it."""

    kind: str
    """Torn, unknown, or suspected to be counterfeit: see ``APART``."""
    claimed_cents: int
    """What it would be worth."""
    envelope: str
    """The mark on the envelope that it lies in."""
    nth: int = 0
    """Which count of the slip put it apart, from 1 on."""


APART: Final = {"torn": "torn", "unknown": "unknown", "suspect": "suspected counterfeit"}
"""Why a note is put apart, and how that is said."""
FORGED: Final = "suspect"


class GivenSignature(NamedTuple):
    """One signature: the step, whose it is, in which role, and the entry that holds it."""

    stage: str
    username: str
    name: str
    role: str
    seq: int

    @property
    def signatory(self) -> Signatory:
        """The person who signed; a slip's list of signatures stores no badge number."""
        return Signatory(self.username, self.name, None, self.role)


@dataclass(frozen=True, slots=True)
class Slip:
    """A slip and how far it is signed."""

    series: SlipType
    year: int
    number: int
    chips: Chips = ()
    """The chips or cash to move; empty where chips or cash are counted."""
    signed: tuple[GivenSignature, ...] = ()
    counts: tuple[Chips, ...] = ()
    """What was counted, each time by another person."""
    expected_cents: int = 0
    """What the transfers say there is to be counted. No screen shows it before two counts agree."""
    box: str = ""
    """The drop box, as it is marked."""
    reason: str = ""
    """The reason for a void, once one was requested."""
    noted: Chips = ()
    """What a count is held against by pieces: a delivery note, or what there is of a series by the slips before."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What else it says, by the names of its fields (``slip_types.SlipField``)."""
    apart: tuple[QuestionedNote, ...] = ()
    """The notes that were counted as worth nothing, by each count."""
    tells_win: bool = False
    """Whether its count tells what a table without rounds won: then a difference is no shortage and no surplus."""

    @property
    def name(self) -> str:
        """How the log and addresses spell its name."""
        return str(SlipName(self.series.name, self.year, self.number))

    @property
    def label(self) -> str:
        """What it is called in sentences: "Fill 3"."""
        return f"{self.series.label} {self.number}"

    @property
    def stages(self) -> tuple[str, ...]:
        """The steps that are signed."""
        return tuple(signed.stage for signed in self.signed)

    @property
    def latest(self) -> Stage | None:
        """The step that was signed last."""
        return self.series.stage(self.signed[-1].stage) if self.signed else None

    @property
    def is_signed_again(self) -> bool:
        """Whether the person who signed the latest step also signed an earlier step."""
        *earlier, latest = self.signed
        return any(latest.signatory.is_same_person(signed.signatory) for signed in earlier)

    @property
    def is_void(self) -> bool:
        """Whether both signatures of a void are there."""
        return VOIDED in self.stages

    @property
    def is_to_be_void(self) -> bool:
        """Whether a void was requested; it may be complete by now."""
        return VOID_ASKED in self.stages

    @property
    def begun_seq(self) -> int:
        """The entry with which the slip was begun; of a complete slip that is made void, the one that asked for it."""
        if self.is_to_be_void:
            place = self.stages.index(VOID_ASKED)
            if replace(self, signed=self.signed[:place], reason="").due is None:
                return self.signed[place].seq
        return self.signed[0].seq

    @property
    def total_cents(self) -> int:
        """The amount to move, or the amount of the two counts that agree, in cents."""
        return total(self.agreed or ()) if self.series.count else total(self.chips)

    @property
    def apart_agreed(self) -> tuple[QuestionedNote, ...]:
        """The notes put apart by the count that was agreed upon."""
        place = self._agreed_place
        return () if place is None else self._apart_in(place)

    def _apart_in(self, place: int) -> tuple[QuestionedNote, ...]:
        return tuple(note for note in self.apart if note.nth == place + 1)

    @property
    def variance_cents(self) -> int:
        """What two people counted more, or below zero less, than the transfers say; 0 while nothing is agreed upon, and
        where the difference is what the table won."""
        if self.tells_win or (self.series.count and self.series.count.note == IN_STOCK):
            return 0
        return self._difference_cents

    @property
    def win_cents(self) -> int:
        """What the rack gained, or below zero lost, by play since it was counted before: cash in the box is no part of
        it. 0 where the count does not tell it."""
        return self._difference_cents if self.tells_win else 0

    @property
    def _difference_cents(self) -> int:
        return 0 if self.agreed is None else self.total_cents - self.due_cents

    @property
    def due_cents(self) -> int:
        """What a count is held against."""
        return total(self.noted) if self.series.count and self.series.count.note else self.expected_cents

    @property
    def is_as_noted(self) -> bool:
        """Whether, piece by piece, what was agreed upon is what the note says."""
        return self.agreed is None or not self.series.begins_with_note or self.agreed == self.noted

    @property
    def rest_cents(self) -> int:
        """What there is of a series and was not counted."""
        return 0 if self.agreed is None else total(self.noted) - total(self.agreed)

    @property
    def agreed(self) -> Chips | None:
        """What two people counted alike, each for themselves."""
        place = self._agreed_place
        return None if place is None else self.counts[place]

    @property
    def _agreed_place(self) -> int | None:
        """The first count that is like an earlier one, in its money and in what it put apart."""
        earlier: set[tuple[Chips, tuple[QuestionedNote, ...]]] = set()
        for place, chips in enumerate(self.counts):
            count = (chips, tuple(note._replace(nth=0) for note in self._apart_in(place)))
            if count in earlier:
                return place
            earlier.add(count)
        return None

    @property
    def came_to_nothing(self) -> bool:
        """Whether it ended with counts that differ."""
        return self.series.count is not None and self.due is None and self.agreed is None

    @property
    def due(self) -> Stage | None:
        """The step that is to be signed next; None when nothing is: it is complete, or void, or came to nothing."""
        own, count = self.series.stages, self.series.count
        if self.is_to_be_void:
            return None if self.is_void else VOID[1]
        if len(self.signed) < len(own):
            return own[len(self.signed)]
        if count and count.until_agreed and self.agreed is None:
            return own[-1]._replace(name=f"{own[-1].name}_{len(self.signed) - len(own) + 2}")
        return None

    @property
    def moved_pieces(self) -> Chips:
        """The chips that it moves, once it does."""
        if self.series.count is None or not self.series.count.rest:
            return self.chips or self.agreed or ()
        counted = dict(self.agreed or ())
        return as_chips((value, count - counted.get(value, 0)) for value, count in self.noted)

    @property
    def may_move(self) -> bool:
        """Whether a step that is still to come may move anything."""
        if self.due is None or self.series.count or self.is_to_be_void:
            return self.due is not None
        return any(stage.moves for stage in self.series.stages if stage.name not in self.stages)

    @property
    def sets_aside(self) -> str:
        """The place where its chips or cash are set aside, until they move or the slip is void; empty if nowhere."""
        signed = [stage for stage in self.series.stages if stage.name in self.stages]
        if self.is_void or any(stage.moves for stage in signed):
            return ""
        return next((stage.takes_from for stage in signed if stage.sets_aside), "")

    def had_set_aside(self, place: str) -> bool:
        """Whether a step before the latest one set the slip's chips or cash aside in a place."""
        earlier = [stage for stage in self.series.stages if stage.sets_aside and stage.name in self.stages[:-1]]
        return any(stage.takes_from == place for stage in earlier)

    @property
    def moves_on(self) -> bool:
        """Whether the chips are in transit between two places."""
        if self.series.transit is None or self.is_void:
            return False
        leaves, arrives = self.series.transit
        return leaves in self.stages and arrives not in self.stages


def as_chips(pairs: Iterable[Sequence[int]]) -> Chips:
    """Chips as the log or a form lists them: sorted, each value once, nothing with a count of zero."""
    counts: dict[int, int] = {}
    for value, count in pairs:
        counts[int(value)] = counts.get(int(value), 0) + int(count)
    return tuple(sorted(((value, count) for value, count in counts.items() if count), reverse=True))


def as_typed(pairs: Iterable[Sequence[int]], field: str = "") -> Chips:
    """Chips as a person or a program lists them in a field. Raises Refused where a kind is listed twice."""
    chips = list(pairs)
    kinds = Counter(int(value) for value, _ in chips)
    if repeated := [value for value, times in kinds.items() if times > 1]:
        raise repeated_kind(repeated[0], field)
    return as_chips(chips)


def repeated_kind(value: int, field: str = "") -> Refused:
    """The refusal of a list that has a kind of chip, note or coin twice."""
    place = f"{field.capitalize()}: " if field else ""
    return Refused("bad_count", f"{place}{money(value)} is listed more than once. Give one count for each kind.", 422)


def as_apart(notes: Iterable[Sequence[Any]], count: int) -> tuple[QuestionedNote, ...]:
    """Questioned notes of one count of a slip, sorted, so that two counts of the same notes are equal."""
    return tuple(sorted(QuestionedNote(str(kind), int(cents), str(mark), count) for kind, cents, mark, *_ in notes))


# --- Signing ---------------------------------------------------------------------------------------------------


class Signature(msgspec.Struct, frozen=True, kw_only=True):
    """What an entry about a slip says: the step, who signs it, and what that step adds."""

    slip: str
    stage: str
    by: Signatory
    chips: tuple[tuple[int, int], ...] = ()
    expected_cents: int = 0
    box: str = ""
    reason: str = ""
    salt: str = ""
    """With a count: everyone may see the entry's hash, and there are few counts to try it with."""
    finished: Slip | None = None
    """The slip, where it was complete before a void was asked for."""
    noted: tuple[tuple[int, int], ...] = ()
    facts: dict[str, str] = {}
    apart: tuple[QuestionedNote, ...] = ()


def sign(
    slips: Sequence[Slip],
    signature: Signature,
    seq: int,
    dealer: str | None,
    *,
    records: Mapping[str, SlipType] = SLIPS,
    by_count: bool = False,
) -> Slip:
    """The slip after a signature. ``slips`` are those in progress, ``dealer`` is the dealer at the table, ``by_count``
    says whether the table's win is known by its counts alone.

    Raises Wrong: another step is due, or the signer has another role or signed on this slip already.
    """
    before = _before(slips, signature, records, by_count=by_count)
    stage = VOID[0] if signature.stage == VOID_ASKED else before.due
    if stage is None or stage.name != signature.stage:
        due = f"{stage.title.lower()} comes next" if stage else "nothing is left to sign on it"
        raise Wrong("other_step", f"{before.label}: {due}.")
    _refuse(before, stage, signature, dealer)
    by = signature.by
    latest = GivenSignature(signature.stage, by.username, by.name, by.role, seq)
    return replace(
        before,
        signed=(*before.signed, latest),
        counts=(*before.counts, as_chips(signature.chips)) if stage.is_count else before.counts,
        expected_cents=signature.expected_cents if stage.expects else before.expected_cents,
        reason=signature.reason or before.reason,
        noted=as_chips(signature.noted) or before.noted,
        facts={**before.facts, **signature.facts},
        apart=before.apart + as_apart(signature.apart, len(before.counts) + 1),
    )


def _before(slips: Sequence[Slip], signature: Signature, records: Mapping[str, SlipType], *, by_count: bool) -> Slip:
    for slip in slips:
        if slip.name == signature.slip:
            return slip
    if signature.stage == VOID_ASKED and signature.finished is not None:
        return signature.finished
    return _begun(signature, records, by_count=by_count)


def _begun(signature: Signature, records: Mapping[str, SlipType], *, by_count: bool) -> Slip:
    try:
        name = SlipName.parse(signature.slip)
    except NotASlipName as error:
        raise Wrong("unknown_slip", f"{error}.") from None
    series = records.get(name.series)
    if series is None or signature.stage != series.first.name:
        raise not_in_progress(name)
    chips = () if series.count else as_chips(signature.chips)
    tells_win = by_count and series.count is not None and series.count.won is not None
    return Slip(series, name.year, name.number, chips, box=signature.box, tells_win=tells_win)


def not_in_progress(name: SlipName) -> Wrong:
    """The refusal of a signature on a slip that was not begun, or that is complete."""
    sentence = f"There is no {name.series} {name.number} of {name.year} in progress at this table."
    return Wrong("unknown_slip", sentence)


def _refuse(slip: Slip, stage: Stage, signature: Signature, dealer: str | None) -> None:
    if stage.name == VOID_ASKED and (not slip.series.is_voidable or slip.is_to_be_void):
        raise Wrong("not_voidable", f"{slip.label} cannot be made void.")
    if stage.name == VOID_ASKED and slip.series.completed_help and slip.due is None:
        raise Wrong("not_voidable", f"{slip.label} is complete, and not made void. {slip.series.completed_help}")
    by = signature.by
    refuse_signer(slip, stage, by)
    if stage.at_table_only and dealer is not None and by.username != dealer:
        raise Wrong("not_the_dealer", f"{slip.label}: the dealer at the table signs this step, not {by.name}.")
    _refuse_facts(slip, stage, signature.facts)
    _refuse_apart(slip, stage, signature.apart)
    reason = slip.series.count.two_roles if slip.series.count else ""
    if reason and slip.signed and slip.signed[0].role == by.role:
        raise Wrong("wrong_role", reason)


def refuse_signer(slip: Slip, stage: Stage, by: Signatory) -> None:
    """Raises Wrong where the role of a person does not sign a step, or the person signed an earlier step."""
    if by.role not in stage.roles | stage.former_roles:
        raise Wrong("wrong_role", f"{slip.label}: this step is signed by {either(stage.roles)}, not by {by.name}.")
    if fault := _signed_before(slip, stage, by):
        raise Wrong("signed_already", f"{fault} {slip.series.sole_signer_help}".strip())


def _signed_before(slip: Slip, stage: Stage, signer: Signatory) -> str:
    """Why a person may not sign a step after the earlier signers; empty if they may. One exception: the person who
    signed the step `Stage.also_by`, and no other, may sign this step too (a pit boss requests and confirms a fill)."""
    theirs = [given for given in slip.signed if given.signatory.is_same_person(signer)]
    if [given.stage for given in theirs] == [stage.also_by]:
        return ""
    return same_person_fault(signer, (given.signatory for given in theirs), did="signed on this slip already", to="")


def _refuse_facts(slip: Slip, stage: Stage, facts: Mapping[str, str]) -> None:
    """A step says what it is asked, all of it and nothing else."""
    expected = {fact.name: fact for fact in stage.fields}
    if strange := sorted(facts.keys() - expected.keys()):
        raise Wrong("bad_fact", f"{slip.label}: this step does not ask for {strange[0].replace('_', ' ')}.")
    for fact in expected.values():
        text = facts.get(fact.name, "")
        if not fact.is_optional and not text:
            raise Wrong("bad_fact", f"{slip.label}: fill in \u201c{fact.label}\u201d.")
        if text != text.strip() or not text.isprintable() or len(text) > fact.max_length:
            raise Wrong(
                "bad_fact", f"{slip.label}: \u201c{fact.label}\u201d has at most {fact.max_length} plain characters."
            )


def _refuse_apart(slip: Slip, stage: Stage, apart: Sequence[QuestionedNote]) -> None:
    """Only a count of cash puts notes apart."""
    if apart and not (stage.is_count and slip.series.cash):
        raise Wrong("bad_apart", f"{slip.label}: notes are put apart only where cash is counted.")
    for note in apart:
        if note.kind not in APART or note.claimed_cents < 0 or not note.envelope.strip():
            raise Wrong("bad_apart", f"{slip.label}: a note put apart has a kind, a worth and its envelope.")


def either(roles: Iterable[str]) -> str:
    """The roles that may sign, in words: "a dealer or a pit boss"."""
    return " or ".join(f"{'an' if name[0] in 'aeiou' else 'a'} {name}" for name in _names(roles))


def roles_in_words(roles: Iterable[str]) -> str:
    """The roles that may sign, without articles: "cashier, dealer or pit boss"."""
    *others, last = _names(roles)
    return f"{', '.join(others)} or {last}" if others else last


def _names(roles: Iterable[str]) -> list[str]:
    return sorted(_CALLED.get(role, role.replace("_", " ")) for role in roles)


_CALLED: Final = {"security": "security officer", "surveillance": "surveillance officer"}


def entry_kind(slip: Slip) -> str:
    """The kind of the entry of the latest signature on a slip: "fill_carried"."""
    return f"{slip.series.name}_{kind_of(slip.signed[-1].stage)}"


def in_progress(slips: Sequence[Slip], after: Slip) -> tuple[Slip, ...]:
    """The slips in progress after one of them was signed."""
    remainder = [slip for slip in slips if slip.name != after.name]
    return tuple(remainder if after.due is None else [*remainder, after])


def set_aside(slips: Iterable[Slip], place: str) -> dict[str, int]:
    """The amounts that slips in progress have set aside in a place: in cents, by the label of the slip."""
    return {slip.label: slip.total_cents for slip in slips if slip.sets_aside == place}


def moves(chart: Chart, slip: Slip, undone: Sequence[Move] = ()) -> list[Move]:
    """What the latest signature on a slip moves. ``undone``: the reversals of all that the slip moved, for a void."""
    stage, count = slip.latest, slip.series.count
    if slip.is_void:
        return list(undone)
    if stage is not None and stage.moves:
        # An empty box leaves the table all the same; chips are never carried for nothing.
        if stage.condition_field and not slip.facts.get(stage.condition_field):
            return []
        cents = slip.expected_cents if count else slip.total_cents
        return [] if count and not cents else [chart.move(*stage.moves, cents)]
    if count is None or slip.agreed is None or slip.due is not None:
        return []
    # The difference is booked before what was counted goes on, or the place would give more than it has.
    variance, win = slip.variance_cents, slip.win_cents
    flows: list[tuple[Flow | None, int]] = [(count.over, variance) if variance > 0 else (count.short, -variance)]
    flows += [(count.won, win) if win > 0 else (count.lost, -win)]
    flows += [(count.rest, slip.rest_cents), (count.then, slip.total_cents)]
    return [chart.move(*flow, cents) for flow, cents in flows if flow and cents]
