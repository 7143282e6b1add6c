"""Disputes: what a player claims of a round, the evidence, what was heard, the ruling, and how it was closed.

A dispute is what the entries about it say, and each of them carries it whole, with those that are open at the table: so
that the newest one tells what is open there, however long the log is. The round itself is never touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.db import connection
from msgspec import structs

from ledger.log import LAST_SEQ
from ledger.proof.chain import Entry
from ledger.proof.chips import money
from tables import past, permits
from tables.games.felt import MOST_CENTS
from tables.handlers import as_written, enacts, enters
from tables.inputs import CloseDispute, NoteDispute, OpenDispute, RuleDispute
from tables.log.catalog import read, read_as
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
from tables.log.fold import UNREADABLE
from tables.models import Staff
from tables.past import Past, words
from tables.refusals import Refused
from tables.scene import Outcome, Scene, Step

MONEY: Final = frozenset({"player", "house", "void"})
"""Rulings that a correction follows from."""


@dataclass(frozen=True, slots=True)
class Register:
    """The disputes of a table that are not closed, and the number of the last one."""

    open: tuple[Dispute, ...] = ()
    last: int = 0

    def get(self, number: int) -> Dispute:
        """An open dispute. Raises Refused."""
        for dispute in self.open:
            if dispute.number == number:
                return dispute
        if 1 <= number <= self.last:
            raise Refused("dispute_closed", f"Dispute {number} is closed: open another one for what is new.", 409)
        raise Refused("unknown_dispute", f"There is no dispute {number} at this table.", 404)

    def after(self, dispute: Dispute) -> Register:
        """The register once a dispute stands like this."""
        others = [other for other in self.open if other.number != dispute.number]
        still = others if dispute.state == CLOSED else [*others, dispute]
        return Register(tuple(sorted(still, key=lambda other: other.number)), max(self.last, dispute.number))


def register(book_id: int, through_seq: int) -> Register:
    """The open disputes of a table, as they stood at an entry."""
    latest = past.latest(book_id, AboutDispute.subject, through_seq)
    return _register(latest) if isinstance(latest, AboutDispute) else Register()


def _register(latest: AboutDispute) -> Register:
    return Register(latest.open, latest.last)


# --- What may be entered ---------------------------------------------------------------------------------------


def permit_word(scene: Scene, by: Staff) -> None:
    """The dealer at the table and the pit open a dispute and say what they heard."""
    permits.anybody_here(scene, by)
    dealer = scene.standing.dealer
    at_the_table = dealer is not None and dealer.username == by.username and by.has_perm("tables.deal")
    if not (at_the_table or by.has_perm("tables.run_floor")):
        raise Refused("not_permitted", "A dispute is opened by the dealer at the table or by the pit.", 403)


def permit_ruling(scene: Scene, by: Staff) -> None:
    """The pit rules and closes."""
    permits.anybody_here(scene, by)
    if not by.has_perm("tables.run_floor"):
        raise Refused("not_permitted", "Only a pit boss rules on a dispute and closes it.", 403)


@enters(OpenDispute, permit=permit_word)
def open_dispute(scene: Scene, entered: OpenDispute, reportable_from_cents: int | None = None) -> Outcome:
    """A player disputes a round. What the log has of it by now is the evidence, and is fixed with it."""
    round_ = _round(scene, entered.round)
    _refuse_seat(round_, entered.seat)
    if not 0 <= entered.claim_cents <= MOST_CENTS:
        raise Refused("bad_amount", "Say how much is at stake; 0 if it is not about money.", 422)
    disputes = register(scene.table.book_id, scene.standing.seq)
    limit = settings.DISPUTE_REPORTABLE_CENTS if reportable_from_cents is None else reportable_from_cents
    dispute = Dispute(
        number=disputes.last + 1,
        round=entered.round,
        seat=entered.seat,
        claim=words(entered.claim, "what is claimed"),
        claimant=words(entered.claimant, "who claims it"),
        claim_cents=entered.claim_cents,
        reportable_from_cents=limit,
        opened_by=scene.signature,
        first_seq=round_.first_seq,
        last_seq=round_.last_seq,
        last_hash=round_.last_hash,
        record_hash=round_.record_hash,
    )
    step, alert = _step(scene, DisputeOpened, disputes, dispute), _alert(scene, dispute)
    return Outcome([step], alert=alert, evidence={"round": dispute.round, "seq": scene.next_seq} if alert else {})


def _alert(scene: Scene, dispute: Dispute) -> str | None:
    """What the pit is to hear: of large disputes, and of those that it did not open itself."""
    what = f"{scene.table.name}, round {dispute.round}: dispute {dispute.number}"
    if dispute.reportable:
        return f"{what} over {money(dispute.claim_cents)} is reportable"
    return None if scene.by.has_perm("tables.run_floor") else f"{what} was opened by {scene.by.name}"


@enters(NoteDispute, permit=permit_word)
def note(scene: Scene, entered: NoteDispute) -> Outcome:
    """Somebody was heard, or something was looked at."""
    disputes = register(scene.table.book_id, scene.standing.seq)
    dispute = disputes.get(entered.dispute)
    heard, outcome = words(entered.heard, "who was heard, or what was looked at"), words(entered.text, "what came out")
    after = structs.replace(dispute, notes=dispute.notes + 1)
    return Outcome([_step(scene, DisputeNoted, disputes, after, heard=heard, text=outcome)])


@enters(RuleDispute, permit=permit_ruling)
def rule(scene: Scene, entered: RuleDispute) -> Outcome:
    """The pit decides. Who dealt the round does not."""
    disputes = register(scene.table.book_id, scene.standing.seq)
    dispute = disputes.get(entered.dispute)
    if dispute.state != OPENED:
        raise Refused("ruled_already", f"Dispute {dispute.number} is ruled on already: {dispute.ruled}.", 409)
    if entered.ruling not in RULINGS:
        raise Refused("unknown_ruling", f"A ruling is one of {', '.join(RULINGS)}.", 422)
    round_ = _round(scene, dispute.round)
    if scene.signature in round_.entered_by:
        says = f"{scene.by.name} entered round {dispute.round}: somebody else has to rule on it."
        raise Refused("own_round", says, 403)
    if entered.ruling in MONEY:
        refuse_uncorrectable(round_)
    reason = words(entered.reason, "why it is ruled so")
    ruled = structs.replace(dispute, state=RULED, ruling=entered.ruling, reason=reason, ruled_by=scene.signature)
    return Outcome([_step(scene, DisputeRuled, disputes, ruled)])


@enters(CloseDispute, permit=permit_ruling)
def close(scene: Scene, entered: CloseDispute) -> Outcome:
    """What was ruled is done. A ruling about money closes with its correction, or with a word why there is none."""
    disputes = register(scene.table.book_id, scene.standing.seq)
    dispute = disputes.get(entered.dispute)
    if dispute.state != RULED:
        raise Refused("not_ruled", f"Rule on dispute {dispute.number} first.", 409)
    slips = corrections_of(scene.table.book_id, dispute.number, scene.standing.seq)
    settlement = words(entered.text, "how it was settled") if entered.text.strip() else ""
    if dispute.ruling in MONEY and not slips and not settlement:
        raise Refused("no_correction", "No correction was signed for this ruling: sign one, or say why there is none.")
    closed = structs.replace(dispute, state=CLOSED)
    return Outcome([_step(scene, DisputeClosed, disputes, closed, text=settlement, corrections=tuple(slips))])


def corrections_of(book_id: int, number: int, through_seq: int) -> list[str]:
    """The slips of the corrections that were signed for a dispute."""
    words = past.about(book_id, CorrectionSigned.subject, f'"dispute":{number},', through_seq)
    corrections = [word.event.correction for word in words if isinstance(word.event, CorrectionSigned)]
    return [correction.slip for correction in corrections if correction.dispute == number]


def refuse_uncorrectable(round_: Past) -> None:
    """Raises Refused where the house has nothing to pay or take: in mid-round, and where players play each other."""
    if not round_.over:
        says = f"Round {round_.round.number} is not over: what is entered can still be taken back at the table."
        raise Refused("round_open", says, 409)
    if not round_.round.house_payouts:
        says = f"{round_.round.game.title} is played for a pot: the house has no part in what seats pay each other."
        raise Refused("not_banked", says, 422)


def _round(scene: Scene, number: int) -> Past:
    round_ = past.as_of(scene.table.book_id, number, scene.standing.seq)
    if round_ is None:
        raise Refused("unknown_round", f"Round {number} was not dealt at {scene.table.name}.", 404)
    return round_


def _refuse_seat(round_: Past, seat: int) -> None:
    if seat and seat not in round_.round.opening.seats:
        raise Refused("unknown_seat", f"There was no seat {seat} in round {round_.round.number}.", 422)


def _step(scene: Scene, event: type[AboutDispute], disputes: Register, dispute: Dispute, **adds: Any) -> Step:
    """The entry about a dispute: it whole, and what is open at the table after it."""
    after = disputes.after(dispute)
    return Step(event(**scene.author, dispute=dispute, open=after.open, last=after.last, **adds))


# --- Enacted anew ----------------------------------------------------------------------------------------------


@enacts(DisputeOpened)
def enact_opening(scene: Scene, event: DisputeOpened, entry: Entry) -> Step:
    """By the limit for reporting that the house had when the dispute was opened, whatever it has since set."""
    claim = event.dispute
    entered = OpenDispute(claim.round, claim.claim, claim.claimant, claim.seat, claim.claim_cents)
    acting = as_written(scene, event, entry, permit_word)
    return open_dispute(acting, entered, claim.reportable_from_cents).steps[0]


@enacts(DisputeNoted)
def enact_note(scene: Scene, event: DisputeNoted, entry: Entry) -> Step:
    entered = NoteDispute(event.dispute.number, event.heard, event.text)
    return note(as_written(scene, event, entry, permit_word), entered).steps[0]


@enacts(DisputeRuled)
def enact_ruling(scene: Scene, event: DisputeRuled, entry: Entry) -> Step:
    ruled = event.dispute
    entered = RuleDispute(ruled.number, ruled.ruling or "", ruled.reason or "")
    return rule(as_written(scene, event, entry, permit_ruling), entered).steps[0]


@enacts(DisputeClosed)
def enact_closing(scene: Scene, event: DisputeClosed, entry: Entry) -> Step:
    entered = CloseDispute(event.dispute.number, event.text)
    return close(as_written(scene, event, entry, permit_ruling), entered).steps[0]


# --- Reading ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Word:
    """One entry about a dispute, to be read."""

    seq: int
    at: datetime
    by: str
    kind: str
    heard: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """A dispute with everything that was written about it."""

    table_id: int
    table: str
    dispute: Dispute
    opened_at: datetime
    words: tuple[Word, ...]
    corrections: tuple[str, ...] = ()

    @property
    def closed_at(self) -> datetime | None:
        """When it was closed; None while it is open."""
        return self.words[-1].at if self.dispute.state == CLOSED else None


_OPEN: Final = """
    SELECT t.id, t.name, t.book_id, latest.kind, latest.body FROM tables_table AS t CROSS JOIN LATERAL (
        SELECT kind, body FROM ledger_logentry WHERE book_id = t.book_id AND subject = 'dispute'
        ORDER BY seq DESC LIMIT 1
    ) AS latest ORDER BY t.name
"""
_CLOSED: Final = """
    SELECT t.id, t.name, t.book_id, latest.body FROM tables_table AS t CROSS JOIN LATERAL (
        SELECT at, body FROM ledger_logentry WHERE book_id = t.book_id AND subject = 'dispute' AND kind = 'closed'
        ORDER BY seq DESC LIMIT %(count)s
    ) AS latest ORDER BY latest.at DESC LIMIT %(count)s
"""
_OPENED: Final = """
    SELECT opened.at
    FROM unnest(%s::bigint[], %s::bigint[], %s::text[]) WITH ORDINALITY AS one (book, since, piece, line)
    LEFT JOIN LATERAL (
        SELECT at FROM ledger_logentry WHERE book_id = one.book AND subject = 'dispute' AND seq > one.since
            AND kind = 'opened' AND position(convert_to(one.piece, 'UTF8') IN body) > 0 ORDER BY seq LIMIT 1
    ) AS opened ON true ORDER BY one.line
"""
"""A dispute is opened after the entries that are its evidence, and is the last one then."""


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the floor's list."""

    table_id: int
    table: str
    dispute: Dispute
    opened_at: datetime | None


def listed(count: int) -> tuple[list[Listed], int]:
    """Up to ``count`` disputes of the floor: the open ones, then the ones that were closed last; and how many there
    ever were. What it costs grows with those listed, not with those that ever were."""
    registers = _registers()
    open_disputes = [(pk, name, book, dispute) for pk, name, book, register in registers for dispute in register.open]
    disputes = open_disputes[:count]
    for pk, name, book, body in _rows(_CLOSED, {"count": count - len(disputes)}):
        with suppress(*UNREADABLE):
            disputes.append((pk, name, book, read_as(DisputeClosed, body).dispute))
    evidence = [[book for _, _, book, _ in disputes], [dispute.last_seq for *_, dispute in disputes]]
    moments = _rows(_OPENED, [*evidence, [f'"last":{dispute.number},' for *_, dispute in disputes]])
    lines = [
        Listed(pk, name, dispute, moment) for (pk, name, _, dispute), (moment,) in zip(disputes, moments, strict=True)
    ]
    return lines, sum(register.last for *_, register in registers)


def _registers() -> list[tuple[int, str, int, Register]]:
    registers = []
    for pk, name, book, kind, body in _rows(_OPEN):
        try:
            register = _register(_event(kind, body))
        except UNREADABLE:
            register = _register_from(cases(book))
        registers.append((pk, name, book, register))
    return registers


def _register_from(all_cases: Sequence[Case]) -> Register:
    """The register counted anew from every case, where the newest entry cannot be read."""
    open_disputes = [case.dispute for case in all_cases if case.dispute.state != CLOSED]
    return Register(tuple(open_disputes[::-1]), max((case.dispute.number for case in all_cases), default=0))


def _rows(sql: str, parameters: Any = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchall()


_ALL: Final = """
    SELECT t.id, t.name, e.seq, e.at, e.by, e.kind, e.body
    FROM tables_table AS t JOIN ledger_logentry AS e ON e.book_id = t.book_id AND e.subject = 'dispute'
    WHERE (%(book)s::bigint IS NULL OR e.book_id = %(book)s) AND e.seq > %(since)s
        AND (%(piece)s::bytea IS NULL OR position(%(piece)s::bytea IN e.body) > 0)
    ORDER BY t.id, e.seq
"""


def cases(book_id: int | None = None, round_: int | None = None) -> list[Case]:
    """Disputes of the floor, of a table, or of one of its rounds; the newest first."""
    candidates = _cases(book_id, None if round_ is None else f'"round":{round_},')
    matches = [case for case in candidates if round_ is None or case.dispute.round == round_]
    return sorted(matches, key=lambda case: (case.opened_at, case.dispute.number), reverse=True)


def case(book_id: int, number: int) -> Case | None:
    """One dispute of a table. Of an open one, only what was written since the round that it is about is looked at."""
    since = 0
    with suppress(*UNREADABLE):
        open_disputes = register(book_id, LAST_SEQ).open
        since = next((dispute.last_seq for dispute in open_disputes if dispute.number == number), 0)
    candidates = _cases(book_id, f'"number":{number},', since)
    return next((candidate for candidate in candidates if candidate.dispute.number == number), None)


def _cases(book_id: int | None, piece: str | None, since: int = 0) -> list[Case]:
    rows = _rows(_ALL, {"book": book_id, "since": since, "piece": None if piece is None else piece.encode()})
    lines: dict[tuple[int, int], list[_Line]] = {}
    for pk, name, seq, moment, by, kind, body in rows:
        with suppress(*UNREADABLE):
            event = _event(kind, body)
            word = Word(
                seq=seq,
                at=moment,
                by=by,
                kind=kind,
                heard=getattr(event, "heard", ""),
                text=getattr(event, "text", ""),
            )
            slips = event.corrections if isinstance(event, DisputeClosed) else ()
            lines.setdefault((pk, event.dispute.number), []).append((name, word, event.dispute, slips))
    return [_case(pk, entries) for (pk, _), entries in lines.items()]


def _event(kind: str, body: bytes) -> AboutDispute:
    event = read(AboutDispute.subject, kind, body)
    assert isinstance(event, AboutDispute)  # noqa: S101 -- the catalog has no other of this subject
    return event


_Line = tuple[str, Word, Dispute, tuple[str, ...]]
"""The table, what was written, the dispute after it, and the corrections that were named with it."""


def _case(pk: int, lines: Sequence[_Line]) -> Case:
    name, first, *_ = lines[0]
    *_, dispute, slips = lines[-1]
    words = tuple(word for _, word, *_ in lines)
    return Case(table_id=pk, table=name, dispute=dispute, opened_at=first.at, words=words, corrections=slips)
