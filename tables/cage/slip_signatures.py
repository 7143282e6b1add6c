"""How a slip is signed, in the log of a table or of the site: begun, signed step by step, made void.

Each signature is an entry by the person who signed. The record of its type (``tables/log/slip_types.py``) and
``tables/log/slip_workflow.py`` define its conditions and effects. This module adds the ledger: the slip's number, the
balance of a place, and its expected balance. A ``Desk`` is the log it is written to: a table's, or the
site's.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Final

from ledger import cage, clock_corrections, slips
from ledger.models import Account, LogEntry, SlipSignature
from ledger.proof.chips import HOUSE_PLACES, MAY_BE_NEGATIVE, PLAYERS, RACK, called, money
from ledger.proof.moves import Chart, Move, Posted, undone
from ledger.proof.slip_name import NotASlipName, SlipName
from ledger.slips import Signing, Variance
from tables.approvals import signing
from tables.cage import available_balance, blind_counts, chip_series, chip_stock, slip_fields
from tables.cage.available_balance import Available
from tables.floor.command_context import Decision, PendingEntry
from tables.floor.inputs import BeginSlip, SignSlip, VoidSlip
from tables.log import slip_workflow
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned, SlipSigned, signed
from tables.log.exception_categories import ORDINARY
from tables.log.slip_types import IN_STOCK, KEPT_APART, SLIPS, VOID, VOID_ASKED, Chips, SlipType, Stage
from tables.log.slip_workflow import Signature, Slip, Wrong
from tables.models import Staff
from tables.refusals import Refused
from tables.setup import role_choices

LONGEST_REASON: Final = 300
LONGEST_MARK: Final = 20
MOST_APART_CENTS: Final = 10**8
"""The highest claimed value of a note in question, in cents."""


class Desk(ABC):
    """A log with what is needed to sign its slips, under its lock."""

    in_house: ClassVar[bool]
    of: ClassVar[str]
    """The owner of the slips, as error messages name it."""
    most_of_one: ClassVar[int]
    """The most chips of one denomination in a count. A higher number is taken for a typing error."""
    no_such_chip: ClassVar[str]

    records: Mapping[str, SlipType] = SLIPS

    @property
    def is_by_count(self) -> bool:
        """Whether counts determine the win of the table."""
        return False

    @property
    @abstractmethod
    def by(self) -> Staff:
        """The signer."""

    @property
    @abstractmethod
    def where(self) -> str:
        """The name of the place in error messages."""

    @property
    @abstractmethod
    def book_id(self) -> int: ...

    @property
    @abstractmethod
    def next_seq(self) -> int:
        """The sequence number of the entry that will be written next."""

    @property
    @abstractmethod
    def chart(self) -> Chart: ...

    @property
    @abstractmethod
    def in_progress(self) -> tuple[Slip, ...]:
        """The slips of this log that need a further signature."""

    @property
    @abstractmethod
    def dealer(self) -> str | None:
        """The user name of the dealer at the table; None if there is none."""

    @abstractmethod
    def chips(self) -> Collection[int]:
        """The chip values that can be counted here, in cents."""

    @abstractmethod
    def expected_cents(self, place: str) -> int:
        """The balance of a place by its transfers, in cents."""

    def among(self, kind: str) -> Mapping[str, int]:
        """The items in custody of a kind (``slip_types.KEYS`` ...), each with its value in cents."""
        return {}

    @abstractmethod
    def permit(self, slip: Slip) -> None:
        """Raises Refused if the state of this log rules the slip out. Verification calls it too."""

    @property
    def has_signer_of_the_shift(self) -> bool:
        """Whether the signer did other work at the table since it was opened."""
        return False

    @abstractmethod
    def through(self, stage: Stage) -> Mapping[str, int] | None:
        """The last entry of each table's log included in a count, by the log's name; None if only this log matters."""

    @abstractmethod
    def follows(self, slip: Slip) -> list[PendingEntry]:
        """The further entries that a signature causes."""


# --- The three inputs ------------------------------------------------------------------------------------------


def begin(desk: Desk, entered: BeginSlip) -> Decision:
    """The first signature on a slip, which gives it its number. Raises Refused."""
    series = desk.records.get(entered.series)
    if series is None or series.in_house is not desk.in_house:
        names = [record.name for record in desk.records.values() if record.in_house is desk.in_house]
        raise Refused("unknown_slip", f"A slip of {desk.of} is one of {', '.join(names)}.", 422)
    chips = _sane(desk, series, entered.chips)
    box = entered.box if series.is_boxed else ""
    details: dict[str, Any] = {"box": box} | _details(desk, series.first, entered)
    if series.begins_with_note:
        details["noted"] = _sane(desk, series, entered.noted)
    # Taking a number locks the numbers of the series until the commit. The checks below it rely on that lock.
    signature = _signature(desk, slips.next_name(series.name), series.first, chips=chips, **details)
    outcome = _signed(desk, signature, begins_cents=series.about_cents(chips))
    if series.is_boxed:
        _refuse_mark(box)
    _refuse_second(desk, series)
    _refuse_retired(series, chips)
    return outcome


def sign(desk: Desk, entered: SignSlip) -> Decision:
    """The next signature on a slip in progress. Raises Refused."""
    if entered.stage == VOID_ASKED:
        # A void takes a reason, whichever form asks for it.
        return void(desk, VoidSlip(entered.slip, ""))
    name = _name(desk, entered.slip)
    slip = next((slip for slip in desk.in_progress if slip.name == entered.slip), None)
    if slip is None:
        # Asked here and not by paper.sign alone, for which a first step begins a slip: only begin gives out a number.
        raise _refused(slip_workflow.not_in_progress(name))
    # A step that there is not on such a slip is never due: paper.sign refuses it in its own words.
    stage = slip.series.stage(entered.stage) or Stage(entered.stage, frozenset(), "", ORDINARY)
    chips = _sane(desk, slip.series, entered.chips) if stage.is_count else ()
    details = _details(desk, stage, entered)
    # The last count of a lapsed series is compared with the pieces in stock, as of this signature.
    if slip.series.count and slip.series.count.note == IN_STOCK and stage == slip.series.stages[-1]:
        details["noted"] = chip_stock.of(slip.facts["series"]).left
    return _signed(desk, _signature(desk, name, stage, chips=chips, **details))


def void(desk: Desk, entered: VoidSlip) -> Decision:
    """The request to void a slip, in progress or complete, with its reason. Raises Refused."""
    reason = entered.reason.strip()
    if not reason or len(reason) > LONGEST_REASON or not reason.isprintable():
        raise Refused("bad_reason", f"Say in 1 to {LONGEST_REASON} plain characters why the slip is void.", 422)
    name, finished = _name(desk, entered.slip), None
    if entered.slip not in {slip.name for slip in desk.in_progress}:
        finished = _finished(desk, name)
    return _signed(desk, _signature(desk, name, VOID[0], reason=reason, finished=finished))


ENTERED: Final[Mapping[type, Callable[[Desk, Any], Decision]]] = {BeginSlip: begin, SignSlip: sign, VoidSlip: void}
"""The decision on each input at a desk; the signature's own entry is its first step. Raises Refused."""


# --- A signature and its entry ---------------------------------------------------------------------------------


def _signature(desk: Desk, name: SlipName, stage: Stage, **adds: Any) -> Signature:
    """The content of a signature. It includes the expected balance of the step, if the step notes one."""
    return Signature(
        slip=str(name),
        stage=stage.name,
        by=desk.by.signatory,
        expected_cents=desk.expected_cents(stage.expects) if stage.expects else 0,
        # The salt keeps a blind count secret: without it, a digest of the few likely counts could be guessed.
        salt=secrets.token_hex(16) if stage.is_count else "",
        **adds,
    )


def _signed(desk: Desk, signature: Signature, begins_cents: int | None = None) -> Decision:
    step, after = entry(desk, signature)
    stage = after.latest
    assert stage is not None  # noqa: S101 -- it was just signed
    _refuse_signer(desk, stage, after)
    if after.facts and not after.is_to_be_void:
        slip_fields.refuse(after, signature.chips or after.chips)
        if after.series.count and after.series.names_chip_series:
            slip_fields.refuse_again(after)
    _refuse_missing(after, stage, step.moves, desk)
    signature_row = Signing(
        name=SlipName.parse(signature.slip),
        stage=signature.stage,
        username=signature.by.username,
        role=signature.by.role,
        begins_cents=begins_cents,
        variance=_variance(desk, after),
    )
    alert, evidence = _alarm(after) or _suspicion(desk, after), {"slip": after.name}
    return Decision([step, *desk.follows(after)], alert=alert, evidence=evidence, signing=signature_row)


def entry(desk: Desk, signature: Signature) -> tuple[PendingEntry, Slip]:
    """The entry of a signature, and the slip after it. Raises Refused.

    Verification replays signatures through it: it depends on the log alone, not on present roles or policies.
    """
    waiting = desk.in_progress
    try:
        after = slip_workflow.sign(
            waiting, signature, desk.next_seq, desk.dealer, records=desk.records, by_count=desk.is_by_count
        )
    except Wrong as wrong:
        raise _refused(wrong) from None
    desk.permit(after)
    stage = after.latest
    assert stage is not None  # noqa: S101 -- it was just signed
    # A void reverses the transfers on record, not the amounts on the slip: what moved is what moves back.
    moves = slip_workflow.moves(desk.chart, after, undone(_moved(desk, after)) if after.is_void else ())
    return PendingEntry(signed(signature, after, waiting, desk.through(stage)), moves=moves), after


def _refuse_signer(desk: Desk, stage: Stage, slip: Slip) -> None:
    """Raises Refused if this person may not sign the step although the workflow accepts the role.

    ``slip`` is the slip after the signature. Checked only when signing: verification cannot know past role settings.
    """
    by = desk.by
    if by.role not in stage.roles:
        sentence = f"{slip.label}: this step is signed by {slip_workflow.either(stage.roles)}, not by {by.name}."
        raise Refused("wrong_role", sentence, 403)
    role_choices.refuse_signer(slip, stage, by)
    signing.refuse_administrator(by)
    # A signer who was barred after the slip was begun may not complete it either.
    if slip.begun_seq != desk.next_seq:
        signing.refuse_barred(by, clock_corrections.time_of(desk.book_id, slip.begun_seq))
    if stage.outsiders_only and desk.has_signer_of_the_shift:
        raise Refused("own_shift", f"{by.name} worked at {desk.where} in this shift: another has to.", 403)


def _variance(desk: Desk, slip: Slip) -> Variance | None:
    """The variance of a count that was just agreed; None if there is none."""
    if slip.series.count is None or not slip.variance_cents:
        return None
    involved = [line.username for line in slip.signed] + ([desk.dealer] if desk.dealer else [])
    return Variance(slip.series.count.of, slip.variance_cents, involved)


def _moved(desk: Desk, slip: Slip) -> list[Posted]:
    """All transfers of a slip so far."""
    return cage.transfers_of(desk.book_id, (line.seq for line in slip.signed))


def _finished(desk: Desk, name: SlipName) -> Slip:
    """A completed slip of this log after its last signature. Raises Refused if there is no such slip."""
    signatures = SlipSignature.objects.filter(
        slip__series=name.series, slip__year=name.year, slip__number=name.number, book_id=desk.book_id
    )
    last_seq = signatures.order_by("-seq").values_list("seq", flat=True).first()
    if last_seq is None:
        raise Refused("unknown_slip", f"There is no slip {name} at {desk.where}.", 404)
    body = LogEntry.objects.values_list("body", flat=True).get(book_id=desk.book_id, seq=last_seq)
    return read_as(HouseSlipSigned if desk.in_house else SlipSigned, body).after


def _name(desk: Desk, spelled: str) -> SlipName:
    try:
        return SlipName.parse(spelled)
    except NotASlipName:
        raise Refused("unknown_slip", f"There is no slip {spelled} at {desk.where}.", 404) from None


# --- Refusals --------------------------------------------------------------------------------------------------


_STATUS: Final[Mapping[str, int]] = {"wrong_role": 403, "bad_fact": 422, "bad_apart": 422}


def _refused(wrong: Wrong) -> Refused:
    return Refused(wrong.code, wrong.sentence, _STATUS.get(wrong.code, 409))


def _details(desk: Desk, stage: Stage, entered: BeginSlip | SignSlip) -> dict[str, Any]:
    """The fields of a step, and the notes in question that its count sets aside. Raises Refused."""
    for kind, cents, envelope in entered.apart:
        _refuse_apart(kind, cents, envelope)
    envelopes = [envelope.strip().casefold() for _, _, envelope in entered.apart]
    if len(set(envelopes)) < len(envelopes):
        raise Refused("bad_apart", "Each note that is put apart lies in an envelope of its own.", 422)
    _refuse_named(desk, stage, entered)
    apart = [(kind, cents, envelope.strip()) for kind, cents, envelope in entered.apart]
    return {"facts": slip_fields.read(stage, entered.facts, desk.among), "apart": slip_workflow.as_apart(apart, 0)}


def _refuse_named(desk: Desk, stage: Stage, entered: BeginSlip | SignSlip) -> None:
    """Raises Refused if another slip in progress names the same key or envelope: it must not be given out twice."""
    for fact in stage.fields:
        text = entered.facts.get(fact.name, "").strip()
        if fact.kind not in KEPT_APART or not text:
            continue
        for slip in desk.in_progress:
            if text in slip.facts.values():
                ends = "finish it, or make it void, first" if slip.series.is_voidable else "finish it first"
                raise Refused("unknown_fact", f"{slip.label} is about {text}, and is in progress: {ends}.", 422)


def _refuse_apart(kind: str, cents: int, envelope: str) -> None:
    if kind not in slip_workflow.APART:
        raise Refused("bad_apart", f"A note is put apart as {', '.join(slip_workflow.APART.values())}.", 422)
    if not 0 <= cents <= MOST_APART_CENTS:
        raise Refused("bad_apart", f"Say what the note would be worth: 0 to {money(MOST_APART_CENTS)}.", 422)
    if not envelope.strip() or len(envelope) > LONGEST_MARK or not envelope.isprintable():
        raise Refused("bad_apart", f"Give the mark on the envelope, in 1 to {LONGEST_MARK} characters.", 422)


def _sane(desk: Desk, series: SlipType, chips: Sequence[Sequence[int]]) -> Chips:
    """The typed counts in their stored form. Raises Refused for an unknown denomination or an impossible number."""
    known_values = series.cash or desk.chips()
    for value, count in chips:
        if value not in known_values:
            sentence = "There is no note or coin of {}." if series.cash else desk.no_such_chip
            raise Refused("unknown_chip", sentence.format(money(value)), 422)
        if not 0 <= count <= desk.most_of_one:
            raise Refused("bad_count", f"Of {money(value)}, count 0 to {desk.most_of_one:,}.", 422)
    return slip_workflow.as_typed(chips)


def _refuse_missing(slip: Slip, stage: Stage, moves: Sequence[Move], desk: Desk) -> None:
    """Raises Refused if chips are not available. Checked at the request and again when the chips move."""
    if stage.takes_from:
        _refuse_amount(slip, stage, desk)
    elif slip.series.count is None:
        if slip.series.has_chips and slip.total_cents <= 0:
            raise _no_amount(slip)
        _refuse_gone(desk, slip, moves)
    elif slip.series.count.rest:
        _refuse_gone(desk, slip, moves)


def _refuse_amount(slip: Slip, stage: Stage, desk: Desk) -> None:
    place, cents = stage.takes_from, slip.total_cents
    if cents <= 0:
        raise _no_amount(slip)
    if (stage.moves or stage.sets_aside) and place in HOUSE_PLACES:
        # Locked until the commit: another book may take from the same place. A request alone takes nothing.
        cage.hold_shared()
    own = Account.objects.filter(place=place)
    can_give = available_balance.of(own.get() if place in HOUSE_PLACES else own.get(book_id=desk.book_id), slip)
    if cents > can_give.cents:
        raise Refused("bad_amount", _lacks(desk, place, can_give, cents), 422)


def _no_amount(slip: Slip) -> Refused:
    kinds = "notes and coins" if slip.series.cash else "chips"
    return Refused("bad_amount", f"Say how many {kinds} of each kind the {slip.series.label.lower()} is for.", 422)


def _lacks(desk: Desk, place: str, can_give: Available, cents: int, suffix: str = "") -> str:
    """The refusal of an amount above the available balance, with the slips that have chips set aside there.

    It states the balance only to roles that never count the place: a refusal must not break a blind count.
    """
    clauses = can_give.clauses
    if place == RACK and desk.is_by_count:
        clauses = ["count it first", *clauses]
        return (
            f"By its last count and what was sold since, the rack does not hold {money(cents)}: {', '.join(clauses)}."
        )
    if place == RACK:
        return f"The rack does not hold {money(cents)}{suffix}: {', '.join(['ask for less', *clauses])}."
    if place == PLAYERS or place not in blind_counts.counted_by(desk.by.role):
        clauses = [f"{money(max(can_give.cents, 0))} is available", *clauses]
    held = "Players hold" if place == PLAYERS else f"The {called(place)} holds"
    return f"{held} less than {money(cents)}{suffix}{': ' if clauses else ''}{', '.join(clauses)}."


def _refuse_gone(desk: Desk, slip: Slip, moves: Sequence[Move]) -> None:
    """Raises Refused if chips that were available when the slip was begun have since left the place."""
    if any(move.source_place in HOUSE_PLACES for move in moves):
        # Two tables hold two books, and may empty the cage between them: the second one waits, and then counts anew.
        cage.hold_shared()
    # Net per place: chips that a slip moves in and out again need not be available before.
    outflows: dict[int, int] = {}
    for move in moves:
        outflows[move.source_account_id] = outflows.get(move.source_account_id, 0) + move.amount_cents
        outflows[move.target_account_id] = outflows.get(move.target_account_id, 0) - move.amount_cents
    sources = Account.objects.filter(pk__in=[pk for pk, cents in outflows.items() if cents > 0])
    for account in sources.exclude(place__in=MAY_BE_NEGATIVE - {PLAYERS}):
        can_give, cents = available_balance.of(account, slip), outflows[account.pk]
        if cents > can_give.cents:
            raise Refused("bad_amount", _lacks(desk, account.place, can_give, cents, " by now"), 409)


def _refuse_mark(box: str) -> None:
    if not box.strip() or len(box) > LONGEST_MARK or not box.isprintable():
        raise Refused("bad_box", f"Give the mark on the box, in 1 to {LONGEST_MARK} characters.", 422)


def _refuse_second(desk: Desk, series: SlipType) -> None:
    """Raises Refused if a slip in progress excludes this one, such as a second count of the same chips."""
    for slip in desk.in_progress:
        looked_up = any(stage.expects and stage.name in slip.stages for stage in slip.series.stages)
        if series.excludes(slip.series) and not looked_up:
            raise Refused("count_open", f"{slip.label} is to be signed first.", 409)


def _refuse_retired(series: SlipType, chips: Chips) -> None:
    """Raises Refused if a slip would bring retired chips back into play."""
    # Once the slip has its number: a retirement waits for the lock of the numbers, so one of the two sees the other.
    if not series.gives_out:
        return
    reasons = chip_series.retired_values()
    for value, _ in chips:
        if value in reasons:
            raise Refused("chip_retired", reasons[value], 409)


def _alarm(slip: Slip) -> str | None:
    """The message of the alert that a slip of this type raises with its first step; None for other slips and steps."""
    if not slip.series.raises_alert or len(slip.signed) != 1:
        return None
    about = money(slip.total_cents) if slip.series.has_chips else slip.facts["key"]
    return f"{slip.label}: {slip.series.title.lower()}, {about}, {slip.facts['place']}"


def _suspicion(desk: Desk, slip: Slip) -> str | None:
    """The message of the alert about notes that two agreeing counts suspect to be counterfeit, or None."""
    notes = [note for note in slip.apart_agreed if note.kind == slip_workflow.FORGED] if slip.due is None else []
    if not notes:
        return None
    marks = ", ".join(note.envelope for note in notes)
    worth = money(sum(note.claimed_cents for note in notes))
    return f"{desk.where}, {slip.label}: suspected counterfeit notes for {worth}, envelope {marks}"
