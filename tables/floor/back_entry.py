"""Back-entry at a table: started and ended under dual control, rounds announced from paper, papers compared.

Input from paper passes the functions and checks of live input. An additional entry names the paper and the time at
which the event took place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from ledger import clock_corrections
from ledger.models import HOUSE, LogEntry
from ledger.proof.chain import Entry, Head
from tables.floor import permissions
from tables.floor.command_context import CommandContext, Decision, PendingEntry, author_of
from tables.floor.game_kinds import dealing_at, no_rounds
from tables.floor.handlers import checks, enters
from tables.floor.inputs import AnnounceRound, BeginBackEntry, ComparePaper, EndBackEntry
from tables.log import back_entry
from tables.log.back_entry import CASH, Mode, spelled
from tables.log.catalog import read, read_as
from tables.log.entries.back_entry import (
    SUBJECT,
    AboutBackEntry,
    BackEntryBegun,
    BackEntryEnded,
    EnteredFromPaper,
    HouseBackEntryBegun,
    HouseBackEntryEnded,
    HouseEnteredFromPaper,
    HousePaperCompared,
    PaperCompared,
    RoundFromPaper,
    compared_after,
    refuse_round,
    round_after,
)
from tables.log.entries.chips import ChipsSold, Redeemed, SoldAtTheCage
from tables.log.entries.rounds import Played
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.event import AuditFailure, Event
from tables.log.message import text_of
from tables.log.signatory import Signatory
from tables.log.slip_types import HOUSE_COUNTS
from tables.log.slip_workflow import Wrong
from tables.models import Staff
from tables.refusals import Refused
from tables.state.round_history import about, last_count, words

_STATUS: Final[Mapping[str, int]] = {
    "not_permitted": 403, "wrong_role": 403, "signed_already": 403, "not_your_table": 403,
    "bad_moment": 422, "bad_span": 422, "bad_paper": 422, "unknown_reason": 422, "outside_outage": 422,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FromPaper:
    """The paper that an input was entered from: its printed number, and the time of the event by the paper."""

    number: str
    happened: datetime


def refused(wrong: Wrong) -> Refused:
    """The refusal of the log's vocabulary as a Refused with an HTTP status: 403 persons, 422 values, 409 the rest."""
    return Refused(wrong.code, wrong.sentence, _STATUS.get(wrong.code, 409))


def one_who_begins(context: CommandContext, by: Staff) -> None:
    """A pit boss or the cage manager."""
    permissions.anybody_here(context, by)
    refuse_beginner(by)


def refuse_beginner(by: Staff) -> None:
    """Raises Refused for a role that may not start or end back-entry, at a table or in the site's log."""
    if by.role not in back_entry.BEGIN:
        raise Refused("not_permitted", "A pit boss or the cage manager begins and ends back-entry.", 403)


def one_who_compares(context: CommandContext, by: Staff) -> None:
    """Any role that handles chips, cash or cards. `compared_after` refuses persons who entered part of the paper."""
    permissions.anybody_here(context, by)
    if by.role not in back_entry.COMPARE:
        raise Refused("not_permitted", "Whoever works with chips, cash or cards compares a paper.", 403)


# --- Begun and ended -------------------------------------------------------------------------------------------


@enters(BeginBackEntry, permit=one_who_begins)
def begin(context: CommandContext, entered: BeginBackEntry) -> Decision:
    """Back-entry starts at a table, with an alert. Raises Refused."""
    # An alert, because back-entry lets events of the past into the log. Persons who took no part have to hear of it.
    event = begun(BackEntryBegun, entered, context.by, context.standing.back_entry, context.next_seq, context.moment)
    return Decision(
        [PendingEntry(event)],
        alert=f"{context.table.name}: {begun_in_words(event)}",
        evidence={"seq": context.next_seq},
    )


def begun(
    kind: type[BackEntryBegun], entered: BeginBackEntry, by: Any, mode: Mode | None, seq: int, moment: datetime
) -> BackEntryBegun:
    """The entry that starts back-entry, of a table's or the site's log by `kind`. Raises Refused.

    `seq` is the number of this entry; `mode` is the state of back-entry before it.
    """
    second, span = person(entered.second), (spelled(entered.since), spelled(entered.until))
    note = words(entered.note, "what happened")
    try:
        back_entry.refuse_pair(by.signatory, second)
        after = back_entry.begun(mode, seq, span, entered.reason, moment)
    except Wrong as wrong:
        raise refused(wrong) from None
    return kind(
        **author_of(by), reason=entered.reason, since=span[0], until=span[1], note=note, second=second, mode=after
    )


def begun_in_words(event: BackEntryBegun) -> str:
    """The text of the alert about the start of back-entry."""
    return f"{event.name}: {text_of(event.description())}"


@enters(EndBackEntry, permit=one_who_begins)
def end(context: CommandContext, entered: EndBackEntry) -> Decision:
    """Back-entry ends at a table. Raises Refused."""
    return Decision([PendingEntry(ended(BackEntryEnded, entered, context.by, context.standing.back_entry))])


def ended(kind: type[BackEntryEnded], entered: EndBackEntry, by: Any, mode: Mode | None) -> BackEntryEnded:
    """The entry that ends back-entry, of a table's or the site's log by `kind`. Raises Refused."""
    second = person(entered.second)
    try:
        back_entry.refuse_pair(by.signatory, second)
        back_entry.refuse_end(mode)
    except Wrong as wrong:
        raise refused(wrong) from None
    return kind(**author_of(by), second=second)


def person(username: str) -> Signatory:
    """The second signatory, by user name. Raises Refused unless an active staff member has it."""
    second = Staff.objects.find_active(username=username)
    if second is None:
        raise Refused("second_person", "Two people sign: the second signs by badge and PIN.", 403)
    return second.signatory


# --- Rounds and papers -----------------------------------------------------------------------------------------


@enters(AnnounceRound, permit=permissions.the_dealer)
def announce(context: CommandContext, entered: AnnounceRound) -> Decision:
    """The next round to be entered was dealt by hand, or the open round was finished by hand. Raises Refused."""
    state, happened, by = context.standing, spelled(entered.happened), context.by
    if not dealing_at(context).is_dealt:
        raise no_rounds()
    try:
        refuse_round(state)
        after = round_after(state, entered.number.strip(), happened, by.username)
    except Wrong as wrong:
        raise refused(wrong) from None
    if message := contradicted(context.table.book_id, state.seq, happened, is_round=True):
        raise Refused("counted_since", message, 409)
    # An entry before the first card: a round from paper must never look as if it had been dealt live.
    event = RoundFromPaper(
        **context.author, dealt_as=state.next_number, number=entered.number.strip(), happened=happened, mode=after
    )
    return Decision([PendingEntry(event)])


@enters(ComparePaper, permit=one_who_compares)
def compare(context: CommandContext, entered: ComparePaper) -> Decision:
    """A second person compared the entries of a paper with the paper.

    Raises Refused for a dealer of one of its rounds.
    """
    assert isinstance(context.by, Staff)  # noqa: S101 -- no player compares a paper
    number = entered.number.strip()
    try:
        after = compared_after(context.standing, number, context.by.signatory)
    except Wrong as wrong:
        raise refused(wrong) from None
    # The person who keyed the paper would confirm their own misreading.
    if context.by.signature in _dealt_by(context.table.book_id, context.standing.back_entry, number):
        message = f"{context.by.name} dealt a round of paper no. {number}: another person has to compare it."
        raise Refused("signed_already", message, 403)
    return Decision([PendingEntry(PaperCompared(**context.author, number=number, mode=after))])


def _dealt_by(book_id: int, mode: Mode | None, number: str) -> set[str]:
    """The signatures of all dealers who entered rounds of a paper, including dealers relieved during a round."""
    entries = LogEntry.objects.filter(book_id=book_id, seq__gt=mode.begun if mode else 0)
    bodies = (
        entries.filter(subject=SUBJECT, kind__in=RoundFromPaper.kinds).order_by("seq").values_list("body", flat=True)
    )
    numbers = {event.dealt_as: event.number for event in (read_as(RoundFromPaper, body) for body in bodies)}
    rounds = [dealt_as for dealt_as, paper in numbers.items() if paper == number]
    return set(entries.filter(subject=Played.subject, round__in=rounds).values_list("by", flat=True))


# --- What is entered from paper --------------------------------------------------------------------------------


def noted(decision: Decision, paper: FromPaper | None, by: Any, mode: Mode | None, head: Head) -> Decision:
    """Stage `annotate`: add an entry about the paper that an input was entered from. Raises Refused.

    A live input is returned unchanged.
    """
    if paper is None or decision.refusal:
        return decision
    event, happened, number = decision.steps[0].event, spelled(paper.happened), paper.number.strip()
    about = about_of(event)
    if about is None:
        raise Refused("not_from_paper", "Slips, and chips for cash, are entered from paper; this is entered live.", 422)
    try:
        after = back_entry.entered(mode, number, about, happened, by.username)
    except Wrong as wrong:
        raise refused(wrong) from None
    if message := contradicted(head.book_id, head.seq, happened, in_house=event.of_the_house):
        raise Refused("counted_since", message, 409)
    kind = HouseEnteredFromPaper if event.of_the_house else EnteredFromPaper
    # The first entry of the decision follows the head of the locked log, so its number is known before it is written.
    note = kind(**author_of(by), of=head.seq + 1, number=number, about=about, happened=happened, mode=after)
    return replace(decision, steps=[*decision.steps, PendingEntry(note)])


def about_of(event: Event) -> str | None:
    """The slip of an event that may be entered from paper, or CASH for chips sold or redeemed; None for all others."""
    if isinstance(event, SlipSigned):
        return event.slip
    return CASH if isinstance(event, ChipsSold | SoldAtTheCage | Redeemed) else None


def in_house(book_id: int, through: int | None = None) -> Mode | None:
    """The state of back-entry in the site's log, as of entry `through` (default: the newest); None before its first."""
    rows = LogEntry.objects.filter(book_id=book_id, subject=SUBJECT).order_by("-seq")
    row = (rows if through is None else rows.filter(seq__lte=through)).values_list("kind", "body").first()
    if row is None:
        return None
    event = read(SUBJECT, row[0], row[1], house=True)
    assert isinstance(event, AboutBackEntry)  # noqa: S101 -- the catalog has no other of this subject
    return event.mode


# --- What the book itself contradicts --------------------------------------------------------------------------


def contradicted(book_id: int, through: int, happened: str, *, is_round: bool = False, in_house: bool = False) -> str:
    """Why an event cannot have happened at a moment, by the entries of a log up to `through`; empty if it can.

    A count includes everything before it, so an earlier event would be counted twice. Rounds are entered in the order
    of their cards.
    """
    seq = _last_house_count(book_id, through) if in_house else last_count(book_id, through)
    # The count has replaced the balance. A fill posted now for a time before it would be in the rack twice.
    counted = _moment(book_id, seq)
    if counted is not None and happened < spelled(counted):
        message = (
            f"It was counted at {back_entry.shown(spelled(counted))}, and this happened before: it is in that count."
        )
        return f"{message} What the count was over or short is a discrepancy; the paper belongs to its file."
    if not is_round:
        return ""
    played = _moment(book_id, _last_round(book_id, through))
    if played is not None and happened < spelled(played):
        return f"A round was dealt here at {back_entry.shown(spelled(played))}: rounds are entered in their order."
    return ""


def _last_house_count(book_id: int, through: int) -> int:
    """The newest count of the site's holdings that two persons agreed on; 0 where there is none."""
    counts = LogEntry.objects.filter(book_id=book_id, subject="slip", kind__in=HOUSE_COUNTS, seq__lte=through)
    for seq, body in counts.order_by("-seq").values_list("seq", "body"):
        if read_as(HouseSlipSigned, body).after.agreed is not None:
            return int(seq)
    return 0


def _last_round(book_id: int, through: int) -> int:
    """The entry that opened the newest round; 0 where there is none.

    A round that was open when the outage began may have been finished later by hand, so its first entry decides.
    """
    plays = LogEntry.objects.filter(book_id=book_id, subject=Played.subject, seq__lte=through)
    number = plays.order_by("-seq").values_list("round", flat=True).first()
    return plays.filter(round=number).order_by("seq").values_list("seq", flat=True).first() or 0


def _moment(book_id: int, seq: int) -> datetime | None:
    """The time of an event: by its paper where it was entered from one. None for no entry and for a corrected clock."""
    if not seq or clock_corrections.of(book_id, seq, seq):
        return None
    entry = LogEntry.objects.values_list("subject", "round", "at").get(book_id=book_id, seq=seq)
    happened = _of_round(book_id, entry[1] or 0, seq - 1) if entry[0] == Played.subject else _of_entry(book_id, seq)
    if happened:
        return back_entry.moment_of(happened)
    moment: datetime = entry[2]
    return moment


def _of_round(book_id: int, number: int, through: int) -> str:
    """The time of a round by its paper; empty where it was dealt live."""
    announced = announcement(book_id, number, through)
    return announced.event.happened if announced else ""


@dataclass(frozen=True, slots=True)
class Announced:
    """The entry that announced a round from paper."""

    seq: int
    event: RoundFromPaper


def announcement(book_id: int, number: int, through: int) -> Announced | None:
    """The last announcement of a round up to an entry; None where it was dealt live."""
    for word in reversed([*about(book_id, SUBJECT, f'"dealt_as":{number}', through)]):
        if isinstance(word.event, RoundFromPaper) and word.event.dealt_as == number:
            return Announced(word.seq, word.event)
    return None


def _of_entry(book_id: int, seq: int) -> str:
    """The time of an entry's event by its paper; empty for a live entry.

    The note follows within a few entries. A table that opens or closes takes the time of the count before that entry.
    """
    rows = LogEntry.objects.filter(
        book_id=book_id, subject=SUBJECT, kind=EnteredFromPaper.kinds[0], seq__gt=seq, seq__lte=seq + _NEAR
    )
    for body in rows.order_by("seq").values_list("body", flat=True):
        note = read_as(EnteredFromPaper, body)
        if note.of in (seq, seq - 1):
            return note.happened
    return ""


_NEAR: Final = 40
"""A count that closes a table revokes the pages of its seats, entry by entry, before the note is written."""


# --- Proved ----------------------------------------------------------------------------------------------------


@checks(
    BackEntryBegun, BackEntryEnded, EnteredFromPaper, RoundFromPaper, PaperCompared,
    HouseBackEntryBegun, HouseBackEntryEnded, HouseEnteredFromPaper, HousePaperCompared,
)  # fmt: skip
def check(event: AboutBackEntry, entry: Entry) -> None:
    """Raises AuditFailure where an entry of back-entry contradicts the log.

    Either the entry that it names is another's, or the event cannot have happened at that time.
    """
    if isinstance(event, EnteredFromPaper):
        _check_entry(event, entry)
    if isinstance(event, EnteredFromPaper | RoundFromPaper):
        through = event.of - 1 if isinstance(event, EnteredFromPaper) else entry.seq - 1
        house, is_round = entry.book == HOUSE, isinstance(event, RoundFromPaper)
        if message := contradicted(entry.book_id, through, event.happened, is_round=is_round, in_house=house):
            raise AuditFailure(f"it could not be entered then: {message}")


def _check_entry(event: EnteredFromPaper, entry: Entry) -> None:
    row = LogEntry.objects.filter(book_id=entry.book_id, seq=event.of).values_list("subject", "kind", "body", "by")
    # The note is signed by the author of the input: another name would shift the responsibility for it.
    subject, kind, body, by = row.get()
    if by != entry.by or about_of(read(subject, kind, body, house=entry.book == HOUSE)) != event.about:
        raise AuditFailure(f"entry {event.of} is about something else, or by somebody else")
