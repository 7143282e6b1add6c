"""Corrections: a mispay that was found later is put right by a slip of two signatures, which names the round and seat.

The round and its transfers stay as they are. Three amounts are told apart, each as what the player won (or lost, below
zero): what the log *recorded*, which the engine decided; what was *handed* over; and what is *due*. What is due is what
was recorded, unless a dispute was ruled otherwise. The difference between due and handed changes hands now.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Final

from ledger import clock_corrections, slips
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from ledger.proof.slip_name import SlipName
from ledger.slips import Signing
from tables.disputes import claims, register
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import as_written, checks, enters, reproduces
from tables.floor.inputs import DeclineCorrection, ProposeCorrection, SignCorrection
from tables.games.protocol import MOST_CENTS, Payout
from tables.log import slip_workflow
from tables.log.entries.corrections import (
    AboutCorrection,
    Correction,
    CorrectionDeclined,
    CorrectionProposed,
    CorrectionSigned,
)
from tables.log.entries.disputes import Dispute
from tables.log.settlement import correction_moves
from tables.log.signatory import same_person_fault
from tables.log.slip_types import CORRECTION
from tables.log.slip_workflow import Wrong
from tables.models import Staff
from tables.refusals import Refused
from tables.state import round_history
from tables.state.round_history import words

SERIES: Final = CORRECTION.name
_SECOND: Final = CORRECTION.stages[-1]
"""Who may give the second signature."""


# --- What may be entered ---------------------------------------------------------------------------------------


def permit_proposal(scene: CommandContext, by: Staff) -> None:
    permissions.anybody_here(scene, by)
    if not by.has_perm("tables.run_floor"):
        raise Refused("not_permitted", "Only a pit boss proposes a correction.", 403)
    permissions.not_while_counted(scene, by)
    permissions.not_locked(scene)


def permit_signature(scene: CommandContext, by: Staff) -> None:
    """Another pit boss signs or declines it."""
    _permit(scene, by, _SECOND.by)
    permissions.not_administering(by)


def permit_former_signature(scene: CommandContext, by: Staff) -> None:
    """In a proof, somebody who might have signed it in years past, too."""
    _permit(scene, by, _SECOND.by | _SECOND.formerly)


def _permit(scene: CommandContext, by: Staff, roles: Collection[str]) -> None:
    permissions.anybody_here(scene, by)
    if by.role not in roles:
        raise Refused("not_permitted", "A correction is signed by a second pit boss.", 403)
    permissions.not_while_counted(scene, by)
    permissions.not_locked(scene)


@enters(ProposeCorrection, permit=permit_proposal)
def propose(scene: CommandContext, entered: ProposeCorrection, slip: str | None = None) -> Decision:
    """A pit boss says what was handed over, and what is to change hands. Raises Refused."""
    assert isinstance(scene.by, Staff)  # noqa: S101 -- record() lets nobody else near a correction
    payout, ledger_cents = _payout(scene, entered.round, entered.seat), _ledger_cents(scene, entered)
    dispute = _dispute(scene, entered)
    due = payout.net_cents if entered.due_cents is None else entered.due_cents
    if due != payout.net_cents and dispute is None:
        recorded = _with_sign(payout.net_cents)
        sentence = f"The engine decided {recorded}: another amount is due only by a ruling; name its dispute."
        raise Refused("no_ruling", sentence, 422)
    for cents in (due, entered.handed_cents):
        if not -payout.staked_cents <= cents <= MOST_CENTS:
            most = money(payout.staked_cents)
            raise Refused("bad_amount", f"Seat {entered.seat} can lose no more than its bet of {most}.", 422)
    if due == entered.handed_cents:
        raise Refused("nothing_to_correct", f"Seat {entered.seat} got {_with_sign(due)}, which is what is due.", 422)
    correction = Correction(
        slip=slip or str(slips.next_name(SERIES)),
        round=entered.round,
        seat=entered.seat,
        recorded_cents=payout.net_cents,
        due_cents=due,
        handed_cents=entered.handed_cents,
        believed_cents=ledger_cents,
        reason=words(entered.reason, "what went wrong"),
        dispute=entered.dispute,
        earlier=entered.earlier,
        proposed_by=scene.by.username,
        proposed_as=scene.signature,
    )
    signing = _signing(scene.by, correction, "proposed", abs(correction.difference_cents))
    return Decision([_step(scene, CorrectionProposed, correction, waits=True)], signing=signing)


def sign(scene: CommandContext, entered: SignCorrection) -> Decision:
    """The second signature: the chips change hands. Raises Refused."""
    correction = _open_correction(scene, entered.slip)
    _refuse_signer(scene, correction)
    if not scene.standing.is_open:
        raise Refused("table_closed", f"{scene.table.name} is closed: its rack is locked until it opens.", 409)
    was_counted = _was_counted_since(scene, correction)
    off_cents = 0 if was_counted else correction.off_cents
    moves = correction_moves(scene.chart, correction.difference_cents, off_cents)
    facts = {"counted": was_counted, "off_cents": off_cents, "difference_cents": correction.difference_cents}
    step = replace(_step(scene, CorrectionSigned, correction, waits=False, **facts), moves=moves)
    assert isinstance(scene.by, Staff)  # noqa: S101
    return Decision([step], signing=_signing(scene.by, correction, "signed"))


@enters(SignCorrection, permit=permit_signature)
def sign_with_chips(scene: CommandContext, entered: SignCorrection) -> Decision:
    """The second signature on the floor. A proof asks ``sign`` alone: what lay in the rack, the transfers tell it."""
    outcome = sign(scene, entered)
    _refuse_barred(scene, entered.slip)
    event = outcome.steps[0].event
    assert isinstance(event, CorrectionSigned)  # noqa: S101 -- it was just signed
    leaves = event.difference_cents - event.off_cents
    if leaves > scene.available_cents:
        raise Refused("bad_amount", f"The rack does not hold {money(leaves)}: ask for a fill first.", 422)
    return outcome


@enters(DeclineCorrection, permit=permit_signature)
def decline_on_the_floor(scene: CommandContext, entered: DeclineCorrection) -> Decision:
    """The same; by nobody whose PIN was reset meanwhile."""
    outcome = decline(scene, entered)
    _refuse_barred(scene, entered.slip)
    return outcome


def decline(scene: CommandContext, entered: DeclineCorrection) -> Decision:
    """It is not signed, and says why; its number stays, and no chips move. Raises Refused."""
    correction = _open_correction(scene, entered.slip)
    assert isinstance(scene.by, Staff)  # noqa: S101
    _refuse_signer(scene, correction)
    step = _step(scene, CorrectionDeclined, correction, waits=False, text=words(entered.reason, "why it is not signed"))
    return Decision([step], signing=_signing(scene.by, correction, "declined"))


@reproduces(CorrectionProposed)
def enact_proposal(scene: CommandContext, event: CorrectionProposed, entry: Entry) -> PendingEntry:
    """Under the number that it got: another one would be due by now."""
    fields = ("round", "seat", "handed_cents", "reason", "due_cents", "dispute", "earlier")
    entered = ProposeCorrection(**{name: getattr(event.correction, name) for name in fields})
    return propose(as_written(scene, event, entry, permit_proposal), entered, event.correction.slip).steps[0]


@reproduces(CorrectionSigned)
def enact_signature(scene: CommandContext, event: CorrectionSigned, entry: Entry) -> PendingEntry:
    """Without a look at the rack: whether it could pay, the transfers tell."""
    entered = SignCorrection(event.correction.slip)
    return sign(as_written(scene, event, entry, permit_former_signature), entered).steps[0]


@reproduces(CorrectionDeclined)
def enact_refusal(scene: CommandContext, event: CorrectionDeclined, entry: Entry) -> PendingEntry:
    entered = DeclineCorrection(event.correction.slip, event.text)
    return decline(as_written(scene, event, entry, permit_former_signature), entered).steps[0]


@checks(CorrectionSigned, CorrectionDeclined)
def check_signer(event: CorrectionSigned | CorrectionDeclined, entry: Entry) -> None:
    """Whoever signed was not barred from it by a reset of their PIN."""
    proposed = _proposed_at(entry.book_id, event.correction.slip, entry.seq)
    if proposed is not None:
        permissions.check_not_barred(entry, event.username, proposed)


def _refuse_barred(scene: CommandContext, slip: str) -> None:
    book_id = scene.table.book_id
    proposed = _proposed_at(book_id, slip, scene.standing.seq)
    if proposed is not None and isinstance(scene.by, Staff):
        permissions.not_barred(scene.by, clock_corrections.time_of(book_id, proposed))


def _proposed_at(book_id: int, slip: str, through_seq: int) -> int | None:
    """The entry that proposed a correction."""
    for word in round_history.about(book_id, SERIES, f'"slip":"{slip}"', through_seq):
        if isinstance(word.event, CorrectionProposed) and word.event.correction.slip == slip:
            return word.seq
    return None


def waiting(book_id: int, through_seq: int) -> tuple[Correction, ...]:
    """The corrections of a table that wait for their second signature, as it stood at an entry."""
    latest = round_history.latest(book_id, SERIES, through_seq)
    return latest.open if isinstance(latest, AboutCorrection) else ()


def _open_correction(scene: CommandContext, slip: str) -> Correction:
    for correction in waiting(scene.table.book_id, scene.standing.seq):
        if correction.slip == slip:
            return correction
    raise Refused("unknown_slip", f"There is no {slip} that waits for a signature at {scene.table.name}.", 404)


def _refuse_signer(scene: CommandContext, correction: Correction) -> None:
    """Raises Refused where the signer may not sign the second step of the correction's slip."""
    assert isinstance(scene.by, Staff)  # noqa: S101 -- record() lets nobody else near a correction
    if fault := same_person_fault(scene.by.signatory, [correction.proposer], did="proposed it"):
        raise Refused("signed_already", fault, 403)
    try:
        slip_workflow.refuse_signer(correction.as_slip, _SECOND, scene.by.signatory)
    except Wrong as wrong:
        raise Refused(wrong.code, wrong.sentence, 403) from None


def _payout(scene: CommandContext, number: int, seat: int) -> Payout:
    """What the engine decided for a seat of a round that is over."""
    round_ = round_history.as_of(scene.table.book_id, number, scene.standing.seq)
    if round_ is None:
        raise Refused("unknown_round", f"Round {number} was not dealt at {scene.table.name}.", 404)
    claims.refuse_uncorrectable(round_)
    standing = scene.standing
    if standing.round_open and standing.round is not None and standing.round.number == number:
        raise Refused("round_open", f"Seats of round {number} are still being paid.", 409)
    payout = round_.payout(seat)
    if payout is None:
        raise Refused("unknown_seat", f"Seat {seat} had no bet in round {number}.", 422)
    return payout


def _ledger_cents(scene: CommandContext, entered: ProposeCorrection) -> int:
    """What the ledger takes for handed over to a seat; an earlier correction has to be named."""
    book_id, seq = scene.table.book_id, scene.standing.seq
    rivals = [
        correction
        for correction in waiting(book_id, seq)
        if (correction.round, correction.seat) == (entered.round, entered.seat)
    ]
    if rivals:
        raise Refused(
            "waits_already", f"{rivals[0].slip} for this seat waits for a signature: sign or decline it.", 409
        )
    newest = signed_last(book_id, entered.round, entered.seat, seq)
    if newest is None:
        if entered.earlier:
            raise Refused("unknown_slip", f"{entered.earlier} is no correction of this round and seat.", 422)
        return _payout(scene, entered.round, entered.seat).net_cents
    if entered.earlier != newest.slip:
        sentence = f"{newest.slip} corrected this seat already: name it, and count what it paid as handed over."
        raise Refused("corrected_already", sentence, 409)
    return newest.due_cents


def due_by(dispute: Dispute, payout: Payout) -> int | None:
    """What a ruling makes due to a seat: by what is at stake, and nothing where the round is void. None where no amount
    was named."""
    if dispute.ruling == claims.VOID:
        return 0
    if not dispute.claim_cents:
        return None
    way = 1 if dispute.ruling == claims.PLAYER else -1
    return max(payout.net_cents + way * dispute.claim_cents, -payout.staked_cents)


def signed_last(book_id: int, number: int, seat: int, through_seq: int) -> Correction | None:
    """The latest correction of a round and seat that was signed by an entry."""
    latest = None
    for word in round_history.about(book_id, SERIES, f'"round":{number},"seat":{seat},', through_seq):
        if isinstance(word.event, CorrectionSigned):
            correction = word.event.correction
            latest = correction if (correction.round, correction.seat) == (number, seat) else latest
    return latest


def _dispute(scene: CommandContext, entered: ProposeCorrection) -> int | None:
    """The dispute that a correction carries out: of this round, and ruled on for one of the sides."""
    if entered.dispute is None:
        return None
    dispute = register.as_of(scene.table.book_id, scene.standing.seq).get(entered.dispute)
    if dispute.round != entered.round or dispute.seat not in (0, entered.seat):
        raise Refused(
            "other_round", f"Dispute {dispute.number} is about round {dispute.round}, seat {dispute.seat}.", 422
        )
    if dispute.ruling not in claims.MONEY:
        raise Refused("not_ruled", f"Dispute {dispute.number} has no ruling that a correction follows from.", 409)
    return dispute.number


def _was_counted_since(scene: CommandContext, correction: Correction) -> bool:
    """Whether the rack was counted since the mispay: the count has then taken over what it left there."""
    book_id, through = scene.table.book_id, scene.standing.seq
    since = 0
    if correction.earlier is None:
        round_ = round_history.as_of(book_id, correction.round, through)
        since = round_.settled_seq if round_ else 0
    else:
        for word in round_history.about(book_id, SERIES, f'"slip":"{correction.earlier}"', through):
            if isinstance(word.event, CorrectionSigned) and word.event.correction.slip == correction.earlier:
                since = word.seq
    return round_history.last_count(book_id, through) > since


def _signing(by: Staff, correction: Correction, stage: str, begins_cents: int | None = None) -> Signing:
    return Signing(SlipName.parse(correction.slip), stage, by.username, str(by.role), begins_cents)


def _step(
    scene: CommandContext, event: type[AboutCorrection], correction: Correction, *, waits: bool, **adds: Any
) -> PendingEntry:
    """An entry about a correction: it whole, and all that wait for a signature at the table."""
    papers = [paper for paper in waiting(scene.table.book_id, scene.standing.seq) if paper.slip != correction.slip]
    open_corrections = (*papers, correction) if waits else tuple(papers)
    return PendingEntry(event(**scene.author, correction=correction, open=open_corrections, **adds))


def _with_sign(cents: int) -> str:
    return money(cents) if cents <= 0 else f"+{money(cents)}"
