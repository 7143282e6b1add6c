"""Corrections: a payout error that was found later is corrected by a slip of two signatures that names round and seat.

The round and its transfers stay as they are. Three amounts, each won by the player (or lost, below zero), differ: the
*recorded* amount, which the engine decided; the *handed* amount, which the player got; and the *due* amount, which is
the recorded one unless a dispute was ruled otherwise. The difference between due and handed changes hands now.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ledger import clock_corrections, slips
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from ledger.proof.moves import Move
from ledger.proof.slip_name import SlipName
from ledger.slips import Signing
from tables.approvals import signing
from tables.approvals.signing import SigningStage
from tables.disputes import claims, register
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import as_written, checks, enters, reproduces
from tables.floor.inputs import DeclineCorrection, ProposeCorrection, SignCorrection
from tables.games.protocol import MOST_CENTS, Payout
from tables.log.corrections import Correction
from tables.log.entries.corrections import AboutCorrection, CorrectionDeclined, CorrectionProposed, CorrectionSigned
from tables.log.entries.disputes import Dispute
from tables.log.settlement import correction_moves
from tables.log.slip_types import CORRECTION
from tables.models import Staff
from tables.refusals import Refused
from tables.state import round_history
from tables.state.round_history import words

SERIES: Final = CORRECTION.name
_SECOND_STAGE: Final = CORRECTION.stages[-1]
FIRST: Final = SigningStage(
    may=signing.with_permission("tables.run_floor"),
    refusal="Only a pit boss proposes a correction.",
    action="propose it",
)
SECOND: Final = SigningStage(
    may=lambda by: by.role in _SECOND_STAGE.roles,
    refusal="A correction is signed by a second pit boss.",
    did="proposed it",
    formerly=_SECOND_STAGE.former_roles,
    handles_chips=True,
)


# --- What may be entered ---------------------------------------------------------------------------------------


def permit_proposal(scene: CommandContext, by: Staff) -> None:
    """Permits a pit boss to propose a correction, at a table with a rack that is neither being counted nor locked."""
    FIRST.refuse(by)
    _permit_here(scene, by)


def permit_signature(scene: CommandContext, by: Staff) -> None:
    """Permits another pit boss to sign or decline the correction."""
    SECOND.refuse(by)
    _permit_here(scene, by)


def _permit_here(scene: CommandContext, by: Staff) -> None:
    permissions.not_while_counted(scene, by)
    permissions.not_locked(scene)


@enters(ProposeCorrection, permit=permit_proposal)
def propose(scene: CommandContext, entered: ProposeCorrection, slip: str | None = None) -> Decision:
    """Propose a correction with the amounts handed over and due. Raises Refused."""
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
    return _decision(scene, CorrectionProposed, correction, begins_cents=abs(correction.difference_cents))


def sign(scene: CommandContext, entered: SignCorrection) -> Decision:
    """Give the second signature: the chips change hands. Raises Refused."""
    correction = _open_correction(scene, entered.slip)
    if not scene.standing.is_open:
        raise Refused("table_closed", f"{scene.table.name} is closed: its rack is locked until it opens.", 409)
    # A count since the mistake has booked its surplus or shortage already; booking it again would double it.
    was_counted = _was_counted_since(scene, correction)
    off_cents = 0 if was_counted else correction.off_cents
    moves = correction_moves(scene.chart, correction.difference_cents, off_cents)
    facts = {"counted": was_counted, "off_cents": off_cents, "difference_cents": correction.difference_cents}
    return _decision(scene, CorrectionSigned, correction, moves=moves, **facts)


@enters(SignCorrection, permit=permit_signature)
def sign_with_chips(scene: CommandContext, entered: SignCorrection) -> Decision:
    """Give the second signature on the floor, with a check of the rack. Verification uses ``sign`` alone."""
    _refuse_signer(scene, entered.slip)
    outcome = sign(scene, entered)
    event = outcome.steps[0].event
    assert isinstance(event, CorrectionSigned)  # noqa: S101 -- it was just signed
    leaves = event.difference_cents - event.off_cents
    if leaves > scene.available_cents:
        raise Refused("bad_amount", f"The rack does not hold {money(leaves)}: ask for a fill first.", 422)
    return outcome


@enters(DeclineCorrection, permit=permit_signature)
def decline_on_the_floor(scene: CommandContext, entered: DeclineCorrection) -> Decision:
    """Decline a correction on the floor. Verification uses ``decline`` alone."""
    _refuse_signer(scene, entered.slip)
    return decline(scene, entered)


def decline(scene: CommandContext, entered: DeclineCorrection) -> Decision:
    """Decline a correction with a reason. Its number remains used, and no chips move. Raises Refused."""
    correction = _open_correction(scene, entered.slip)
    return _decision(scene, CorrectionDeclined, correction, text=words(entered.reason, "why it is not signed"))


@reproduces(CorrectionProposed)
def enact_proposal(scene: CommandContext, event: CorrectionProposed, entry: Entry) -> PendingEntry:
    """Replays a proposal under its recorded slip number, not the next free one."""
    FIRST.check(event, entry)
    fields = ("round", "seat", "handed_cents", "reason", "due_cents", "dispute", "earlier")
    entered = ProposeCorrection(**{name: getattr(event.correction, name) for name in fields})
    return propose(as_written(scene, event, entry, _permit_here), entered, event.correction.slip).steps[0]


@reproduces(CorrectionSigned)
def enact_signature(scene: CommandContext, event: CorrectionSigned, entry: Entry) -> PendingEntry:
    """Replays a second signature without a check of the rack: the transfers show whether it could pay."""
    return sign(as_written(scene, event, entry, _permit_here), SignCorrection(event.correction.slip)).steps[0]


@reproduces(CorrectionDeclined)
def enact_refusal(scene: CommandContext, event: CorrectionDeclined, entry: Entry) -> PendingEntry:
    """Replays a declined correction with its recorded reason."""
    entered = DeclineCorrection(event.correction.slip, event.text)
    return decline(as_written(scene, event, entry, _permit_here), entered).steps[0]


@checks(CorrectionSigned, CorrectionDeclined)
def check_signer(event: CorrectionSigned | CorrectionDeclined, entry: Entry) -> None:
    """Raises AuditFailure if the author was not entitled to the second signature."""
    correction = event.correction
    SECOND.check(event, entry, correction.proposer, _proposed_at(entry.book_id, correction.slip, entry.seq))


def _refuse_signer(scene: CommandContext, slip: str) -> None:
    """Raises Refused if the signer may not sign or decline an open correction."""
    assert isinstance(scene.by, Staff)  # noqa: S101 -- record() lets nobody else near a correction
    correction, book_id = _open_correction(scene, slip), scene.table.book_id
    proposed = _proposed_at(book_id, slip, scene.standing.seq)
    SECOND.refuse(scene.by, correction.proposer, clock_corrections.time_of(book_id, proposed) if proposed else None)


def _proposed_at(book_id: int, slip: str, through_seq: int) -> int | None:
    """The sequence number of the entry that proposed a correction; None if there is none."""
    for word in round_history.about(book_id, SERIES, f'"slip":"{slip}"', through_seq):
        if isinstance(word.event, CorrectionProposed) and word.event.correction.slip == slip:
            return word.seq
    return None


def waiting(book_id: int, through_seq: int) -> tuple[Correction, ...]:
    """A table's corrections without a second signature, as of an entry."""
    latest = round_history.latest(book_id, SERIES, through_seq)
    return latest.open if isinstance(latest, AboutCorrection) else ()


def _open_correction(scene: CommandContext, slip: str) -> Correction:
    for correction in scene.standing.corrections:
        if correction.slip == slip:
            return correction
    raise Refused("unknown_slip", f"There is no {slip} that waits for a signature at {scene.table.name}.", 404)


def _payout(scene: CommandContext, number: int, seat: int) -> Payout:
    """The engine's result for a seat of a finished round. Raises Refused if there is none."""
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
    """The amount handed over to a seat by the ledger, in cents. Raises Refused for an unnamed earlier correction."""
    book_id, seq = scene.table.book_id, scene.standing.seq
    rivals = [
        correction
        for correction in scene.standing.corrections
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
    """The net amount due to a seat by a ruling, in cents: 0 if the round is void, None if no amount was claimed."""
    if dispute.ruling == claims.VOID:
        return 0
    if not dispute.claim_cents:
        return None
    way = 1 if dispute.ruling == claims.PLAYER else -1
    return max(payout.net_cents + way * dispute.claim_cents, -payout.staked_cents)


def signed_last(book_id: int, number: int, seat: int, through_seq: int) -> Correction | None:
    """The latest signed correction of a round and seat, as of an entry."""
    latest = None
    for word in round_history.about(book_id, SERIES, f'"round":{number},"seat":{seat},', through_seq):
        if isinstance(word.event, CorrectionSigned):
            correction = word.event.correction
            latest = correction if (correction.round, correction.seat) == (number, seat) else latest
    return latest


def _dispute(scene: CommandContext, entered: ProposeCorrection) -> int | None:
    """The dispute that a correction carries out. Raises Refused unless its ruling is about money in this round."""
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
    """Whether the rack was counted since the payout error: the count has then booked the difference."""
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


def _decision(
    scene: CommandContext,
    event: type[AboutCorrection],
    correction: Correction,
    *,
    begins_cents: int | None = None,
    moves: Sequence[Move] = (),
    **adds: Any,
) -> Decision:
    """The signature with its entry: the complete correction, and all open corrections of the table."""
    others = [paper for paper in scene.standing.corrections if paper.slip != correction.slip]
    waiting = others if begins_cents is None else [*others, correction]
    entry = event(**scene.author, correction=correction, open=tuple(waiting), **adds)
    by, name = entry.signatory, SlipName.parse(correction.slip)
    return Decision(
        [PendingEntry(entry, moves=moves)],
        signing=Signing(name, entry.kind, by.username, by.role, begins_cents),
    )


def _with_sign(cents: int) -> str:
    return money(cents) if cents <= 0 else f"+{money(cents)}"
