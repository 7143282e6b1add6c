"""Back-entry at a table: begun and ended by two people, rounds announced from paper, papers compared.

What is entered from paper is entered as ever, by the same functions and refused by the same rules; an entry beside it
says from which paper it came, and when it happened.
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
    """What somebody says beside an input: on which paper it stands, and when it happened."""

    number: str
    happened: datetime


def refused(wrong: Wrong) -> Refused:
    """What the vocabulary refuses, as the floor says it."""
    return Refused(wrong.code, wrong.sentence, _STATUS.get(wrong.code, 409))


def one_who_begins(scene: CommandContext, by: Staff) -> None:
    """A pit boss, or the cage manager."""
    permissions.anybody_here(scene, by)
    refuse_beginner(by)


def refuse_beginner(by: Staff) -> None:
    """Raises Refused for whoever neither begins nor ends back-entry, in whichever book."""
    if by.role not in back_entry.BEGIN:
        raise Refused("not_permitted", "A pit boss or the cage manager begins and ends back-entry.", 403)


def one_who_compares(scene: CommandContext, by: Staff) -> None:
    """Whoever handles chips, cash or cards here; whether they entered something of the paper is asked of the paper."""
    permissions.anybody_here(scene, by)
    if by.role not in back_entry.COMPARE:
        raise Refused("not_permitted", "Whoever works with chips, cash or cards compares a paper.", 403)


# --- Begun and ended -------------------------------------------------------------------------------------------


@enters(BeginBackEntry, permit=one_who_begins)
def begin(scene: CommandContext, entered: BeginBackEntry) -> Decision:
    """A table goes into back-entry. Raises Refused."""
    event = begun(BackEntryBegun, entered, scene.by, scene.standing.back_entry, scene.next_seq, scene.moment)
    return Decision(
        [PendingEntry(event)], alert=f"{scene.table.name}: {begun_in_words(event)}", evidence={"seq": scene.next_seq}
    )


def begun(
    kind: type[BackEntryBegun], entered: BeginBackEntry, by: Any, mode: Mode | None, seq: int, moment: datetime
) -> BackEntryBegun:
    """The entry that begins it, in whichever book. Raises Refused."""
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
    """The alert about it."""
    return f"{event.name}: {text_of(event.description())}"


@enters(EndBackEntry, permit=one_who_begins)
def end(scene: CommandContext, entered: EndBackEntry) -> Decision:
    """Back-entry ends at a table. Raises Refused."""
    return Decision([PendingEntry(ended(BackEntryEnded, entered, scene.by, scene.standing.back_entry))])


def ended(kind: type[BackEntryEnded], entered: EndBackEntry, by: Any, mode: Mode | None) -> BackEntryEnded:
    """The entry that ends it, in whichever book. Raises Refused."""
    second = person(entered.second)
    try:
        back_entry.refuse_pair(by.signatory, second)
        back_entry.refuse_end(mode)
    except Wrong as wrong:
        raise refused(wrong) from None
    return kind(**author_of(by), second=second)


def person(username: str) -> Signatory:
    """Who signs beside, by their user name. Raises Refused."""
    somebody = Staff.objects.filter(username=username, is_active=True).first()
    if somebody is None:
        raise Refused("second_person", "Two people sign: the second signs by badge and PIN.", 403)
    return somebody.signatory


# --- Rounds and papers -----------------------------------------------------------------------------------------


@enters(AnnounceRound, permit=permissions.the_dealer)
def announce(scene: CommandContext, entered: AnnounceRound) -> Decision:
    """The next round is one that was played by hand, or the open one was finished so. Raises Refused."""
    standing, happened, by = scene.standing, spelled(entered.happened), scene.by
    if not dealing_at(scene).is_dealt:
        raise no_rounds()
    try:
        refuse_round(standing)
        after = round_after(standing, entered.number.strip(), happened, by.username)
    except Wrong as wrong:
        raise refused(wrong) from None
    if says := contradicted(scene.table.book_id, standing.seq, happened, is_round=True):
        raise Refused("counted_since", says, 409)
    event = RoundFromPaper(
        **scene.author, dealt_as=standing.next_number, number=entered.number.strip(), happened=happened, mode=after
    )
    return Decision([PendingEntry(event)])


@enters(ComparePaper, permit=one_who_compares)
def compare(scene: CommandContext, entered: ComparePaper) -> Decision:
    """A second person compared what was entered with its paper. Raises Refused."""
    assert isinstance(scene.by, Staff)  # noqa: S101 -- no player compares a paper
    number = entered.number.strip()
    try:
        after = compared_after(scene.standing, number, scene.by.signatory)
    except Wrong as wrong:
        raise refused(wrong) from None
    if scene.by.signature in _dealt_by(scene.table.book_id, scene.standing.back_entry, number):
        says = f"{scene.by.name} dealt a round of paper no. {number}: another person has to compare it."
        raise Refused("signed_already", says, 403)
    return Decision([PendingEntry(PaperCompared(**scene.author, number=number, mode=after))])


def _dealt_by(book_id: int, mode: Mode | None, number: str) -> set[str]:
    """The signatures of the dealers who entered rounds of a paper, those after a relief in mid-round too."""
    entries = LogEntry.objects.filter(book_id=book_id, seq__gt=mode.begun if mode else 0)
    bodies = (
        entries.filter(subject=SUBJECT, kind__in=RoundFromPaper.kinds).order_by("seq").values_list("body", flat=True)
    )
    numbers = {event.dealt_as: event.number for event in (read_as(RoundFromPaper, body) for body in bodies)}
    rounds = [dealt_as for dealt_as, paper in numbers.items() if paper == number]
    return set(entries.filter(subject=Played.subject, round__in=rounds).values_list("by", flat=True))


# --- What is entered from paper --------------------------------------------------------------------------------


def noted(decision: Decision, paper: FromPaper | None, by: Any, mode: Mode | None, head: Head) -> Decision:
    """Stage `annotate`: a decision with an entry about the paper that its input was entered from; unchanged for a live
    input. Raises Refused."""
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
    if says := contradicted(head.book_id, head.seq, happened, in_house=event.of_the_house):
        raise Refused("counted_since", says, 409)
    kind = HouseEnteredFromPaper if event.of_the_house else EnteredFromPaper
    note = kind(**author_of(by), of=head.seq + 1, number=number, about=about, happened=happened, mode=after)
    return replace(decision, steps=[*decision.steps, PendingEntry(note)])


def about_of(event: Event) -> str | None:
    """What a paper is about from which this was entered; None for what is entered from none."""
    if isinstance(event, SlipSigned):
        return event.slip
    return CASH if isinstance(event, ChipsSold | SoldAtTheCage | Redeemed) else None


def in_house(book_id: int, through: int | None = None) -> Mode | None:
    """How the house's own book stands; a table's standing says it of the table."""
    rows = LogEntry.objects.filter(book_id=book_id, subject=SUBJECT).order_by("-seq")
    row = (rows if through is None else rows.filter(seq__lte=through)).values_list("kind", "body").first()
    if row is None:
        return None
    event = read(SUBJECT, row[0], row[1], house=True)
    assert isinstance(event, AboutBackEntry)  # noqa: S101 -- the catalog has no other of this subject
    return event.mode


# --- What the book itself contradicts --------------------------------------------------------------------------


def contradicted(book_id: int, through: int, happened: str, *, is_round: bool = False, in_house: bool = False) -> str:
    """Why something cannot have happened at a moment, by what the book has through an entry; empty if it can. A count
    took over what lay there: what happened before it is in it already. Rounds are in the order of their cards."""
    seq = _last_house_count(book_id, through) if in_house else last_count(book_id, through)
    counted = _moment(book_id, seq)
    if counted is not None and happened < spelled(counted):
        says = f"It was counted at {back_entry.shown(spelled(counted))}, and this happened before: it is in that count."
        return f"{says} What the count was over or short is a discrepancy; the paper belongs to its file."
    if not is_round:
        return ""
    played = _moment(book_id, _last_round(book_id, through))
    if played is not None and happened < spelled(played):
        return f"A round was dealt here at {back_entry.shown(spelled(played))}: rounds are entered in their order."
    return ""


def _last_house_count(book_id: int, through: int) -> int:
    """The newest count of what the house holds that two people agreed upon; 0 where there is none."""
    counts = LogEntry.objects.filter(book_id=book_id, subject="slip", kind__in=HOUSE_COUNTS, seq__lte=through)
    for seq, body in counts.order_by("-seq").values_list("seq", "body"):
        if read_as(HouseSlipSigned, body).after.agreed is not None:
            return int(seq)
    return 0


def _last_round(book_id: int, through: int) -> int:
    """The entry that opened the newest round; 0 where there is none. One that was open when the outage began may have
    been finished afterwards, and those that followed it by hand come after its beginning."""
    plays = LogEntry.objects.filter(book_id=book_id, subject=Played.subject, seq__lte=through)
    number = plays.order_by("-seq").values_list("round", flat=True).first()
    return plays.filter(round=number).order_by("seq").values_list("seq", flat=True).first() or 0


def _moment(book_id: int, seq: int) -> datetime | None:
    """When something happened: by its paper, where it was entered from one."""
    if not seq or clock_corrections.of(book_id, seq, seq):
        return None
    entry = LogEntry.objects.values_list("subject", "round", "at").get(book_id=book_id, seq=seq)
    happened = _of_round(book_id, entry[1] or 0, seq - 1) if entry[0] == Played.subject else _of_entry(book_id, seq)
    if happened:
        return back_entry.moment_of(happened)
    moment: datetime = entry[2]
    return moment


def _of_round(book_id: int, number: int, through: int) -> str:
    """When a round happened by its paper; nothing where it was dealt live."""
    announced = announcement(book_id, number, through)
    return announced.event.happened if announced else ""


@dataclass(frozen=True, slots=True)
class Announced:
    """The entry that announced a round from paper."""

    seq: int
    event: RoundFromPaper


def announcement(book_id: int, number: int, through: int) -> Announced | None:
    """The last announcement of a round through an entry; None where it was dealt live."""
    for word in reversed([*about(book_id, SUBJECT, f'"dealt_as":{number}', through)]):
        if isinstance(word.event, RoundFromPaper) and word.event.dealt_as == number:
            return Announced(word.seq, word.event)
    return None


def _of_entry(book_id: int, seq: int) -> str:
    """When an entry's matter happened by its paper. The note stands within a few entries of it. A table that opens or
    closes does so with the count before it."""
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
    """What the vocabulary cannot see by itself: which entry it is about, and what the log contradicts. Raises
    AuditFailure."""
    if isinstance(event, EnteredFromPaper):
        _check_entry(event, entry)
    if isinstance(event, EnteredFromPaper | RoundFromPaper):
        through = event.of - 1 if isinstance(event, EnteredFromPaper) else entry.seq - 1
        house, is_round = entry.book == HOUSE, isinstance(event, RoundFromPaper)
        if says := contradicted(entry.book_id, through, event.happened, is_round=is_round, in_house=house):
            raise AuditFailure(f"it could not be entered then: {says}")


def _check_entry(event: EnteredFromPaper, entry: Entry) -> None:
    row = LogEntry.objects.filter(book_id=entry.book_id, seq=event.of).values_list("subject", "kind", "body", "by")
    subject, kind, body, by = row.get()
    if by != entry.by or about_of(read(subject, kind, body, house=entry.book == HOUSE)) != event.about:
        raise AuditFailure(f"entry {event.of} is about something else, or by somebody else")
