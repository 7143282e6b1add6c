"""What the dealer and the pit enter about a dispute: a player's claim, what was heard, the ruling, and the close.

Each entry carries its dispute whole. The round itself is never touched.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from msgspec import UNSET, UnsetType, structs

from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables.disputes import disputed_moment, register
from tables.disputes.disputed_moment import Stretch
from tables.disputes.register import Register
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry
from tables.floor.handlers import as_written, enters, reproduces
from tables.floor.inputs import CloseDispute, NoteDispute, OpenDispute, RuleDispute
from tables.floor.voiding import void_step
from tables.games.protocol import MOST_CENTS
from tables.log.entries.corrections import CorrectionSigned
from tables.log.entries.disputes import (
    CLOSED,
    OPENED,
    RULED,
    RULINGS,
    AboutDispute,
    Dispute,
    DisputeClosed,
    DisputeNoted,
    DisputeOpened,
    DisputeRuled,
)
from tables.log.game_kinds import kind_of
from tables.log.irregularities import RULING
from tables.models import Staff
from tables.refusals import Refused
from tables.setup import policies
from tables.state import round_history
from tables.state.round_history import RoundAsOf, words

PLAYER, VOID = "player", "void"
MONEY: Final = frozenset({PLAYER, "house", VOID})
"""Rulings that a correction follows from."""


def permit_word(scene: CommandContext, by: Staff) -> None:
    """The dealer at the table and the pit open a dispute and say what they heard."""
    permissions.anybody_here(scene, by)
    dealer = scene.standing.dealer
    at_the_table = dealer is not None and dealer.username == by.username and by.has_perm("tables.deal")
    if not (at_the_table or by.has_perm("tables.run_floor")):
        raise Refused("not_permitted", "A dispute is opened by the dealer at the table or by the pit.", 403)


def permit_ruling(scene: CommandContext, by: Staff) -> None:
    """The pit rules and closes."""
    permissions.anybody_here(scene, by)
    by.require("tables.run_floor", "Only a pit boss rules on a dispute and closes it.")


@enters(OpenDispute, permit=permit_word)
def open_dispute(scene: CommandContext, entered: OpenDispute, reportable_from_cents: int | None = None) -> Decision:
    """A player disputes a round. What the log has of it by now is the evidence, and is fixed with it."""
    evidence, happened = _evidence(scene, entered)
    if not 0 <= entered.claim_cents <= MOST_CENTS:
        raise Refused("bad_amount", "Say how much is at stake; 0 if it is not about money.", 422)
    disputes = register.as_of(scene.table.book_id, scene.standing.seq)
    limit = policies.number("dispute_reportable_cents") if reportable_from_cents is None else reportable_from_cents
    dispute = Dispute(
        number=disputes.last + 1,
        round=entered.round,
        seat=entered.seat,
        claim=words(entered.claim, "what is claimed"),
        claimant=words(entered.claimant, "who claims it"),
        claim_cents=entered.claim_cents,
        reportable_from_cents=limit,
        opened_by=scene.signature,
        first_seq=evidence.first_seq,
        last_seq=evidence.last_seq,
        last_hash=evidence.last_hash,
        record_hash=evidence.record_hash,
        happened=happened,
    )
    step, alert = _step(scene, DisputeOpened, disputes, dispute), _alert(scene, dispute)
    facts = {"dispute": dispute.number, "seq": scene.next_seq} | ({"round": dispute.round} if dispute.round else {})
    return Decision([step], alert=alert, evidence=facts if alert else {})


def _evidence(scene: CommandContext, entered: OpenDispute) -> tuple[RoundAsOf | Stretch, str | UnsetType]:
    """What the log has of the round by now, or of the time since the last count where no rounds are entered; and then
    the moment that is disputed. Raises Refused."""
    if not kind_of(scene.game).is_by_count:
        round_ = _round(scene, entered.round)
        _refuse_seat(round_, entered.seat)
        return round_, UNSET
    if entered.round:
        raise Refused("unknown_round", f"{scene.table.name} has no rounds: say when it happened instead.", 422)
    if not 0 <= entered.seat <= scene.table.seats:
        raise Refused("unknown_seat", f"{scene.table.name} has the places 1 to {scene.table.seats}.", 422)
    return disputed_moment.stretch(scene), disputed_moment.happened(scene, entered.happened)


def _alert(scene: CommandContext, dispute: Dispute) -> str | None:
    """What the pit is to hear: of large disputes, and of those that it did not open itself."""
    matter = f"{scene.table.name}, {dispute.about}: dispute {dispute.number}"
    if dispute.reportable:
        return f"{matter} over {money(dispute.claim_cents)} is reportable"
    return None if scene.by.has_perm("tables.run_floor") else f"{matter} was opened by {scene.by.name}"


@enters(NoteDispute, permit=permit_word)
def note(scene: CommandContext, entered: NoteDispute) -> Decision:
    """Add a hearing or an inspection to a dispute."""
    disputes = register.as_of(scene.table.book_id, scene.standing.seq)
    dispute = disputes.get(entered.dispute)
    heard, outcome = words(entered.heard, "who was heard, or what was looked at"), words(entered.text, "what came out")
    after = structs.replace(dispute, notes=dispute.notes + 1)
    return Decision([_step(scene, DisputeNoted, disputes, after, heard=heard, text=outcome)])


@enters(RuleDispute, permit=permit_ruling)
def rule(scene: CommandContext, entered: RuleDispute) -> Decision:
    """The pit decides. Who dealt the round does not."""
    disputes = register.as_of(scene.table.book_id, scene.standing.seq)
    dispute = disputes.get(entered.dispute)
    if dispute.state != OPENED:
        raise Refused("ruled_already", f"Dispute {dispute.number} is ruled on already: {dispute.ruled}.", 409)
    if entered.ruling not in RULINGS:
        raise Refused("unknown_ruling", f"A ruling is one of {', '.join(RULINGS)}.", 422)
    if not dispute.round:
        return _rule_without_round(scene, disputes, dispute, entered)
    round_ = _round(scene, dispute.round)
    if scene.signature in round_.entered_by:
        sentence = f"{scene.by.name} entered round {dispute.round}: somebody else has to rule on it."
        raise Refused("own_round", sentence, 403)
    ends = entered.ruling == VOID and _is_open(scene, dispute.round)
    if entered.ruling in MONEY and not ends and not (entered.ruling == VOID and round_.round.voided):
        refuse_uncorrectable(round_)
    reason = words(entered.reason, "why it is ruled so")
    ruled = structs.replace(dispute, state=RULED, ruling=entered.ruling, reason=reason, ruled_by=scene.signature)
    step = _step(scene, DisputeRuled, disputes, ruled)
    if not ends:
        return Decision([step])
    permissions.the_floor_though_locked(scene, _staff(scene))
    alert = f"{scene.table.name}, round {dispute.round}: {scene.by.name} ruled it void while it was open"
    return Decision(
        [void_step(scene, RULING, reason), step],
        alert=alert,
        evidence={"dispute": dispute.number, "round": dispute.round},
    )


def _rule_without_round(scene: CommandContext, disputes: Register, dispute: Dispute, entered: RuleDispute) -> Decision:
    """Chips that change hands by it are counted with the rack: it takes no correction, and there is nothing to void."""
    if entered.ruling == VOID:
        sentence = "No round is to be void here: rule for the player, for the house, or that the result stands."
        raise Refused("unknown_ruling", sentence, 422)
    reason = words(entered.reason, "why it is ruled so")
    ruled = structs.replace(dispute, state=RULED, ruling=entered.ruling, reason=reason, ruled_by=scene.signature)
    return Decision([_step(scene, DisputeRuled, disputes, ruled)])


def _is_open(scene: CommandContext, number: int) -> bool:
    """Whether a round goes on: ruled void, it ends there and then."""
    current = scene.standing.round
    return scene.standing.round_open and current is not None and current.number == number


def _staff(scene: CommandContext) -> Staff:
    assert isinstance(scene.by, Staff)  # noqa: S101 -- no seat rules
    return scene.by


@enters(CloseDispute, permit=permit_ruling)
def close(scene: CommandContext, entered: CloseDispute) -> Decision:
    """What was ruled is done. A ruling about money closes with its correction, or with a word why there is none."""
    disputes = register.as_of(scene.table.book_id, scene.standing.seq)
    dispute = disputes.get(entered.dispute)
    if dispute.state != RULED:
        raise Refused("not_ruled", f"Rule on dispute {dispute.number} first.", 409)
    slips = corrections_of(scene.table.book_id, dispute.number, scene.standing.seq)
    settlement = words(entered.text, "how it was settled") if entered.text.strip() else ""
    is_void = bool(dispute.round) and bool(_round(scene, dispute.round).round.voided)
    if dispute.ruling in MONEY and not dispute.round and not settlement:
        sentence = "Say how it was settled: what was paid or taken at the table, and by whom."
        raise Refused("no_settlement", sentence, 422)
    if dispute.ruling in MONEY and not (slips or settlement or is_void):
        raise Refused("no_correction", "No correction was signed for this ruling: sign one, or say why there is none.")
    closed = structs.replace(dispute, state=CLOSED)
    return Decision([_step(scene, DisputeClosed, disputes, closed, text=settlement, corrections=tuple(slips))])


def corrections_of(book_id: int, number: int, through_seq: int) -> list[str]:
    """The slips of the corrections that were signed for a dispute."""
    words = round_history.about(book_id, CorrectionSigned.subject, f'"dispute":{number},', through_seq)
    corrections = [word.event.correction for word in words if isinstance(word.event, CorrectionSigned)]
    return [correction.slip for correction in corrections if correction.dispute == number]


def refuse_uncorrectable(round_: RoundAsOf) -> None:
    """Raises Refused where the house has nothing to pay or take: in mid-round, and where players play each other."""
    if not round_.over:
        sentence = f"Round {round_.round.number} is not over: take back what was entered wrongly, or rule it void."
        raise Refused("round_open", sentence, 409)
    if round_.round.voided:
        sentence = f"Round {round_.round.number} is void: every bet went back, and there is nothing to pay or take."
        raise Refused("round_void", sentence, 409)
    if not round_.round.house_payouts:
        sentence = f"{round_.round.game.title} is played for a pot: the house has no part in what seats pay each other."
        raise Refused("not_banked", sentence, 422)


def _round(scene: CommandContext, number: int) -> RoundAsOf:
    round_ = round_history.as_of(scene.table.book_id, number, scene.standing.seq)
    if round_ is None:
        raise Refused("unknown_round", f"Round {number} was not dealt at {scene.table.name}.", 404)
    return round_


def _refuse_seat(round_: RoundAsOf, seat: int) -> None:
    if seat and seat not in round_.round.opening.seats:
        raise Refused("unknown_seat", f"There was no seat {seat} in round {round_.round.number}.", 422)


def _step(
    scene: CommandContext, event: type[AboutDispute], disputes: Register, dispute: Dispute, **adds: Any
) -> PendingEntry:
    """The entry about a dispute: it whole, and what is open at the table after it."""
    after = disputes.after(dispute)
    return PendingEntry(event(**scene.author, dispute=dispute, open=after.open, last=after.last, **adds))


# --- Enacted anew ----------------------------------------------------------------------------------------------


@reproduces(DisputeOpened)
def enact_opening(scene: CommandContext, event: DisputeOpened, entry: Entry) -> PendingEntry:
    """By the limit for reporting that the house had when the dispute was opened, whatever it has since set."""
    claim = event.dispute
    entered = OpenDispute(claim.round, claim.claim, claim.claimant, claim.seat, claim.claim_cents, claim.happened or "")
    acting = replace(as_written(scene, event, entry, permit_word), clock=entry.at)
    return open_dispute(acting, entered, claim.reportable_from_cents).steps[0]


@reproduces(DisputeNoted)
def enact_note(scene: CommandContext, event: DisputeNoted, entry: Entry) -> PendingEntry:
    entered = NoteDispute(event.dispute.number, event.heard, event.text)
    return note(as_written(scene, event, entry, permit_word), entered).steps[0]


@reproduces(DisputeRuled)
def enact_ruling(scene: CommandContext, event: DisputeRuled, entry: Entry) -> PendingEntry:
    ruled = event.dispute
    entered = RuleDispute(ruled.number, ruled.ruling or "", ruled.reason or "")
    return rule(as_written(scene, event, entry, permit_ruling), entered).steps[0]


@reproduces(DisputeClosed)
def enact_closing(scene: CommandContext, event: DisputeClosed, entry: Entry) -> PendingEntry:
    entered = CloseDispute(event.dispute.number, event.text)
    return close(as_written(scene, event, entry, permit_ruling), entered).steps[0]
