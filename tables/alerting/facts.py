"""What new entries tell that a rule may be about, read from the log by a worker after each was committed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db.models import F

from ledger import cage, discrepancies
from ledger.models import Account, LogEntry
from ledger.proof.chain import Entry
from ledger.proof.chips import RACK, money
from tables import standing
from tables.alerting.rows import ShiftWin
from tables.alerting.rules import STREAK_WINDOW, Fact
from tables.day import hours
from tables.games.catalog import GAMES
from tables.games.felt import Bet, Payout
from tables.log.catalog import read_as
from tables.log.entries.alert_rules import AlertRuleSet, ChannelSet
from tables.log.entries.chips import DenominationAdded, DenominationChanged
from tables.log.entries.corrections import CorrectionSigned
from tables.log.entries.house_terms import TermsChanged
from tables.log.entries.journal import DiscrepancyOpened
from tables.log.entries.rounds import Played, TakenBack
from tables.log.entries.settings import HoursSet, PayTableMade, TableSet
from tables.log.entries.staff import SecretReset, StaffChanged, StaffLockedOut
from tables.log.entries.terminals import TerminalChanged, TerminalLockedOut
from tables.log.event import Event
from tables.models import PIN, Table

SETTINGS: Final = (
    TableSet, PayTableMade, HoursSet, TermsChanged, DenominationAdded, DenominationChanged, TerminalChanged,
    AlertRuleSet, ChannelSet,
)  # fmt: skip
"""The entries by which the house is set otherwise."""
WITHIN: Final = 5_000
"""So many entries of a table are looked through for a dealer's streak: more than anybody enters in an hour."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """A fact, and the entry that tells of it."""

    fact: Fact
    entry: Entry


# --- At a table ------------------------------------------------------------------------------------------------


def at_table(table: Table, entry: Entry, event: Event) -> Iterator[Fact]:
    """What one entry of a table's book tells."""
    match event:
        case Played():
            yield from _bets(table, entry, event)
            yield from _wins(table, entry, event.decided)
        case TakenBack():
            _unwin(table, entry, event)
            yield from _streak(table, entry, _author(table, event.corrects))
        case CorrectionSigned():
            yield from _streak(table, entry, _dealer_of(table, event.correction.round))
        case TableSet() if event.before:
            yield _setting(entry, event, table)


def _bets(table: Table, entry: Entry, event: Played) -> Iterator[Fact]:
    """Each bet, and where doubles and raises came to it, all that a seat staked."""
    if not GAMES[table.game].dealer_plays:
        return
    for action in event.actions:
        if isinstance(action, Bet):
            yield _bet(table, entry, action.seat, action.amount_cents)
    for payout in event.decided:
        yield _bet(table, entry, payout.seat, payout.staked_cents)


def _bet(table: Table, entry: Entry, seat: int, cents: int) -> Fact:
    says = f"Large bet at {table.name}: seat {seat} has {money(cents)} on the layout in round {entry.round}"
    return _of(table, entry, Fact("large_bet", f"seat {seat}", says, cents))


def _wins(table: Table, entry: Entry, decided: Iterable[Payout]) -> Iterator[Fact]:
    if not GAMES[table.game].dealer_plays:
        return  # in games for a pot nobody wins from the house
    for payout in decided:
        if payout.net_cents:
            sum_cents, shift = _kept(table, entry, payout.seat, payout.net_cents)
        if payout.net_cents > 0:
            won = f"seat {payout.seat} won {money(payout.net_cents)} in round {entry.round}"
            yield _of(
                table, entry, Fact("large_win", f"seat {payout.seat}", f"Large win at {table.name}: {won}",
                payout.net_cents)
            )  # fmt: skip
            so_far = f"seat {payout.seat} has won {money(sum_cents)} since the shift began" if sum_cents > 0 else ""
            yield _of(
                table, entry, Fact("large_win_shift", f"seat {payout.seat}, shift of {shift:%Y-%m-%d %H:%M}",
                f"Large win over a shift at {table.name}: {so_far}", sum_cents, once=True)
            )  # fmt: skip


def _unwin(table: Table, entry: Entry, event: TakenBack) -> None:
    """What was settled by an input that does not count was not won."""
    body = LogEntry.objects.filter(book_id=table.book_id, seq=event.corrects).values_list("kind", "body").first()
    if body is None or body[0] != Played.kinds[0] or not GAMES[table.game].dealer_plays:
        return
    for payout in read_as(Played, body[1]).decided:
        _kept(table, entry, payout.seat, -payout.net_cents)


def _kept(table: Table, entry: Entry, seat: int, cents: int) -> tuple[int, datetime]:
    """A seat's sum over the shift, with what came to it; and when the shift began."""
    shift = hours.shift_of(_moment(entry)).start
    row, _ = ShiftWin.objects.get_or_create(book_id=table.book_id, shift=shift, seat=seat)
    ShiftWin.objects.filter(pk=row.pk).update(cents=F("cents") + cents)
    return row.cents + cents, shift


def _streak(table: Table, entry: Entry, dealer: str) -> Iterator[Fact]:
    """How often in an hour what a dealer had entered was taken back or corrected."""
    since = _moment(entry) - STREAK_WINDOW
    recent = LogEntry.objects.filter(
        book_id=table.book_id, seq__gt=entry.seq - WITHIN, seq__lte=entry.seq, at__gte=since
    )
    taken_back = recent.filter(subject="round", kind=TakenBack.kinds[0]).values_list("body", flat=True)
    corrected = recent.filter(subject="correction", kind=CorrectionSigned.kinds[0]).values_list("body", flat=True)
    whose = [_author(table, read_as(TakenBack, body).corrects) for body in taken_back]
    whose += [_dealer_of(table, read_as(CorrectionSigned, body).correction.round) for body in corrected]
    times = whose.count(dealer)
    says = f"{times} take-backs and corrections of {dealer} within an hour at {table.name}"
    yield _of(table, entry, Fact("corrections_streak", dealer, says, times))


def _author(table: Table, seq: int) -> str:
    """Who wrote an entry."""
    by = LogEntry.objects.filter(book_id=table.book_id, seq=seq).values_list("by", flat=True).first()
    return str(by or "")


def _dealer_of(table: Table, number: int) -> str:
    """Who dealt a round: whoever entered its first input."""
    dealt = LogEntry.objects.filter(book_id=table.book_id, round=number).order_by("seq")
    return str(dealt.values_list("by", flat=True).first() or "")


def of_rack(table: Table, entry: Entry) -> Iterator[Fact]:
    """How much the rack holds after the last of some entries. Told once for each opening and each fill: what is low
    stays low until chips come."""
    state = standing.of(table)
    if not state.is_open or state.opening_rack_cents <= 0:
        return
    rack = Account.objects.filter(book_id=table.book_id, place=RACK).first()
    if rack is None:
        return
    cents = cage.balance(rack)
    filled = (
        LogEntry.objects.filter(book_id=table.book_id, subject="slip", kind="fill_confirmed", seq__gt=state.opened_seq)
        .order_by("-seq")
        .values_list("seq", flat=True)
        .first()
    )
    cause, share = f"since entry {filled or state.opened_seq}", cents * 100 // state.opening_rack_cents
    opener = money(state.opening_rack_cents)
    says = f"Rack low at {table.name}: {money(cents)} left, {share} % of the opener of {opener}; a fill is due"
    yield _of(table, entry, Fact("rack_low", cause, says, cents, once=True))
    yield _of(table, entry, Fact("rack_low_share", cause, says, share, once=True))


def _of(table: Table, entry: Entry, fact: Fact) -> Fact:
    return Fact(
        fact.about, fact.cause, fact.says, fact.number, table.name, table.game, entry.round, fact.once,
        fact.least_level, fact.evidence,
    )  # fmt: skip


def _moment(entry: Entry) -> datetime:
    if entry.at is None:
        raise ValueError(f"entry {entry.seq} of {entry.book} has no time")
    return entry.at


# --- In the house's book ---------------------------------------------------------------------------------------


def in_house(entry: Entry, event: Event) -> Iterator[Fact]:
    """What one entry of the house's book tells."""
    match event:
        case DiscrepancyOpened():
            level = discrepancies.LEVELS[event.level]
            says = f"Discrepancy {event.number}, level {level}: {event.message}"
            yield Fact(
                "discrepancy", f"discrepancy {event.number}", says, event.level, table=_table_named(event.book),
                once=True, least_level=event.level, evidence={"discrepancy": event.number},
            )  # fmt: skip
        case SecretReset() if event.secret == PIN:
            says = f"The PIN of {event.username} is reset, as {entry.by} confirmed"
            yield Fact("pin_reset", f"of {event.username}", says)
        case StaffChanged() if "role" in (event.after or {}):
            yield _setting(entry, event)
        case StaffLockedOut():
            yield Fact("lock_out", f"of {event.username}", f"{event.username} is locked out: too many wrong secrets")
        case TerminalLockedOut():
            yield Fact("lock_out", f"at {event.name}", f"{event.name} is locked: too many wrong PINs were tried there")
        case _ if isinstance(event, SETTINGS):
            yield _setting(entry, event)


def _setting(entry: Entry, event: Event, table: Table | None = None) -> Fact:
    where = f" at {table.name}" if table else ""
    return Fact(
        "settings_changed", f"{event.subject} by {entry.by}", f"Settings changed{where} by {entry.by}: {event.words()}",
        table=table.name if table else "", game=table.game if table else "",
    )  # fmt: skip


def _table_named(book: str) -> str:
    return book if Table.objects.filter(book__name=book).exists() else ""


def evidence_of(noticed: Noticed) -> Mapping[str, object]:
    """Where an alert's fact stands in the log."""
    entry = noticed.entry
    return {"entry": entry.seq, "in": entry.book, **({"round": entry.round} if entry.round else {})}
