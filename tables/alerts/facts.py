"""Facts in new log entries that a rule may concern, read by a worker after the commit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from django.db.models import F

from ledger import cage, discrepancies
from ledger.models import Account, LogEntry, Transfer
from ledger.proof.chain import Entry
from ledger.proof.chips import RACK, REVERSAL, money
from tables.alerts.alert_types import ALERT_TYPES, KINDS
from tables.alerts.models import ShiftWin
from tables.alerts.rules import STREAK_WINDOW, Fact
from tables.games.protocol import Bet
from tables.log.catalog import EVENTS, read_as
from tables.log.entries.corrections import CorrectionSigned
from tables.log.entries.journal import DiscrepancyOpened
from tables.log.entries.rounds import Played, TakenBack, Voided
from tables.log.entries.settings import TableSet
from tables.log.entries.staff import SecretReset, StaffChanged, StaffLockedOut
from tables.log.entries.terminals import TerminalLockedOut
from tables.log.event import Event
from tables.log.message import text_of
from tables.models import Table
from tables.models.staff import PIN
from tables.reports import gaming_hours
from tables.state import table_state

PAID: Final = ("pay_pot", "pay_seat")
"""Transfers by which a seat pays in a player-pool game: to the pot, or to another seat."""
WITHIN: Final = 5_000
"""Entries of a table searched for a dealer's streak: more than anyone can enter in an hour."""


@dataclass(frozen=True, slots=True)
class Noticed:
    """A fact, and the entry that contains it."""

    fact: Fact
    entry: Entry


Producer = Callable[[Entry, Any, Any], Iterator[Fact]]
"""Computes facts from an entry, its event and its table; the table is None for entries in the log of the site."""
P = TypeVar("P", bound=Producer)
PRODUCERS: Final[dict[str, Producer]] = {}
"""The functions that compute facts from entries, by type of alert."""


def raises(*alerts: str) -> Callable[[P], P]:
    """The decorated function computes the facts of these types of alert, for the kinds whose records name one."""

    def put(function: P) -> P:
        PRODUCERS.update(dict.fromkeys(alerts, function))
        return function

    return put


def of_entry(entry: Entry, event: Event, table: Table | None) -> Iterator[Fact]:
    """The facts of one entry, by the types of alert that the record of its kind names."""
    if table is not None:
        _correct_wins(table, entry, event)
    for producer in dict.fromkeys(PRODUCERS[name] for name in event.record.alerts if name in PRODUCERS):
        yield from producer(entry, event, table)


# --- At a table ------------------------------------------------------------------------------------------------


@raises("large_bet")
def _stakes(entry: Entry, event: Played, table: Table) -> Iterator[Fact]:
    """The bets of an input or, in a player-pool game, the payments of its seats."""
    return (_bets if table.dealer_plays else _pot_bets)(table, entry, event)


@raises("large_win", "large_win_shift")
def _results(entry: Entry, event: Played, table: Table) -> Iterator[Fact]:
    """The wins of seats by an input."""
    return _wins(table, entry, _decided(table, entry.round, entry.seq, event))


@raises("corrections_streak")
def _corrections(entry: Entry, event: TakenBack | CorrectionSigned, table: Table) -> Iterator[Fact]:
    """The recent take-backs and corrections of the dealer whose input an entry takes back or corrects."""
    if isinstance(event, CorrectionSigned):
        yield from _streak(table, entry, _dealer_of(table, event.correction.round))
    elif event.seat is None:
        yield from _streak(table, entry, _author(table, event.corrects))


def _correct_wins(table: Table, entry: Entry, event: Event) -> None:
    """Deduct from the results of the shift what an entry takes back or makes void."""
    if isinstance(event, Voided):
        _unwin_all(table, entry)
    elif isinstance(event, TakenBack) and event.seat is None:
        _unwin(table, entry, event)


def _bets(table: Table, entry: Entry, event: Played) -> Iterator[Fact]:
    """Each bet, and the total that each settled seat staked, including doubles and raises."""
    for action in event.actions:
        if isinstance(action, Bet):
            yield _bet(table, entry, action.seat, action.amount_cents)
    for payout in event.decided:
        yield _bet(table, entry, payout.seat, payout.staked_cents)


def _bet(table: Table, entry: Entry, seat: int, cents: int) -> Fact:
    sentence = f"Large bet at {table.name}: seat {seat} has {money(cents)} on the layout in round {entry.round}"
    return _of(table, entry, Fact("large_bet", f"seat {seat}", sentence, cents))


def _pot_bets(table: Table, entry: Entry, event: Played) -> Iterator[Fact]:
    """In a player-pool game, the total that a seat has paid in the round, at each payment."""
    if not entry.legs:
        return
    payers = _payers(table, entry.seq)
    for seat, sums in _pot_sums(table, entry.round, entry.seq).items() if payers else ():
        if seat in payers:
            sentence = (
                f"Large bet at {table.name}: seat {seat} has paid {money(sums.paid_cents)} in round {entry.round}"
            )
            yield _of(table, entry, Fact("large_bet", f"seat {seat}", sentence, sums.paid_cents))


@dataclass(slots=True)
class _Sums:
    """A seat's sums in a round of a player-pool game, in cents: what it paid, and its net result."""

    paid_cents: int = 0
    net_cents: int = 0


def _payers(table: Table, seq: int) -> set[int]:
    """Seats that paid with an entry."""
    paid = Transfer.objects.filter(book_id=table.book_id, seq=seq, kind__in=PAID)
    return {seat for seat in paid.values_list("source__seat", flat=True) if seat is not None}


def _pot_sums(table: Table, number: int | None, through: int) -> dict[int, _Sums]:
    """Each seat's sums in a round up to an entry, without what was taken back or reversed."""
    entries = LogEntry.objects.filter(book_id=table.book_id, round=number, seq__lte=through, subject="round")
    moved = Transfer.objects.filter(book_id=table.book_id, seq__in=list(entries.values_list("seq", flat=True)))
    sums: dict[int, _Sums] = defaultdict(_Sums)
    for kind, source, target, cents in moved.values_list("kind", "source__seat", "target__seat", "amount_cents"):
        if source is not None:
            sums[source].net_cents -= cents
            sums[source].paid_cents += cents if kind in PAID else 0
        if target is not None:
            sums[target].net_cents += cents
            sums[target].paid_cents -= cents if kind == REVERSAL else 0
    return sums


def _decided(table: Table, number: int | None, seq: int, event: Played) -> dict[int, int]:
    """Net win of each seat by an entry, in cents: from the casino or, at the end of a player-pool game, from the
    others."""
    if table.dealer_plays:
        return {payout.seat: payout.net_cents for payout in event.decided}
    if not event.ends_round:
        return {}
    return {seat: sums.net_cents for seat, sums in _pot_sums(table, number, seq).items()}


def _wins(table: Table, entry: Entry, net: Mapping[int, int]) -> Iterator[Fact]:
    from_whom = "" if table.dealer_plays else " from the others"
    for seat, cents in sorted(net.items()):
        if cents:
            sum_cents, shift = _shift_sum(table, entry, seat, cents)
        if cents > 0:
            won = f"seat {seat} won {money(cents)}{from_whom} in round {entry.round}"
            yield _of(
                table, entry, Fact("large_win", f"seat {seat}", f"Large win at {table.name}: {won}", cents)
            )  # fmt: skip
            so_far = f"seat {seat} has won {money(sum_cents)}{from_whom} since the shift began" if sum_cents > 0 else ""
            yield _of(
                table, entry, Fact("large_win_shift", f"seat {seat}, shift of {shift:%Y-%m-%d %H:%M}",
                f"Large win over a shift at {table.name}: {so_far}", sum_cents, once=True)
            )  # fmt: skip


def _unwin(table: Table, entry: Entry, event: TakenBack) -> None:
    """Deduct what was settled by an input that was taken back."""
    _take_off(table, entry, event.corrects)


def _unwin_all(table: Table, entry: Entry) -> None:
    """Deduct what was settled in a round before it was made void.

    A player-pool game has nothing to deduct: it can be void only while it is in progress, and its wins count at its
    end.
    """
    if not table.dealer_plays:
        return
    before = LogEntry.objects.filter(book_id=table.book_id, round=entry.round, subject="round", seq__lt=entry.seq)
    rows = list(before.order_by("seq").values_list("seq", "kind", "body"))
    back = {read_as(TakenBack, body).corrects for _, kind, body in rows if kind == TakenBack.kinds[0]}
    for seq, kind, _ in rows:
        if kind == Played.kinds[0] and seq not in back:
            _take_off(table, entry, seq)


def _take_off(table: Table, entry: Entry, seq: int) -> None:
    """Deduct the results of an input from the seats' sums over the shift."""
    row = LogEntry.objects.filter(book_id=table.book_id, seq=seq).values_list("kind", "body").first()
    if row is None or row[0] != Played.kinds[0]:
        return
    for seat, cents in _decided(table, entry.round, seq, read_as(Played, row[1])).items():
        _shift_sum(table, entry, seat, -cents)


def _shift_sum(table: Table, entry: Entry, seat: int, cents: int) -> tuple[int, datetime]:
    """Add to a seat's sum over the shift; returns the new sum in cents and when the shift began."""
    shift = gaming_hours.shift_of(_moment(entry)).start
    row, _ = ShiftWin.objects.get_or_create(book_id=table.book_id, shift=shift, seat=seat)
    ShiftWin.objects.filter(pk=row.pk).update(cents=F("cents") + cents)
    return row.cents + cents, shift


def _streak(table: Table, entry: Entry, dealer: str) -> Iterator[Fact]:
    """How many inputs of a dealer were taken back or corrected within an hour."""
    since = _moment(entry) - STREAK_WINDOW
    recent = LogEntry.objects.filter(
        book_id=table.book_id, seq__gt=entry.seq - WITHIN, seq__lte=entry.seq, at__gte=since
    )
    taken_back = recent.filter(subject="round", kind=TakenBack.kinds[0]).values_list("body", flat=True)
    corrected = recent.filter(subject="correction", kind=CorrectionSigned.kinds[0]).values_list("body", flat=True)
    inputs = (event for event in (read_as(TakenBack, body) for body in taken_back) if event.seat is None)
    dealers = [_author(table, event.corrects) for event in inputs]
    dealers += [_dealer_of(table, read_as(CorrectionSigned, body).correction.round) for body in corrected]
    times = dealers.count(dealer)
    sentence = f"{times} take-backs and corrections of {dealer} within an hour at {table.name}"
    yield _of(table, entry, Fact("corrections_streak", dealer, sentence, times))


def _author(table: Table, seq: int) -> str:
    """Author of an entry."""
    by = LogEntry.objects.filter(book_id=table.book_id, seq=seq).values_list("by", flat=True).first()
    return str(by or "")


def _dealer_of(table: Table, number: int) -> str:
    """Dealer of a round: the author of its first entry."""
    dealt = LogEntry.objects.filter(book_id=table.book_id, round=number).order_by("seq")
    return str(dealt.values_list("by", flat=True).first() or "")


def of_rack(table: Table, entry: Entry) -> Iterator[Fact]:
    """The rack's balance after the last of some entries.

    Reported once for each opening and each fill: a low rack remains low until chips arrive.
    """
    state = table_state.of(table)
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
    sentence = f"Rack low at {table.name}: {money(cents)} left, {share} % of the opener of {opener}; a fill is due"
    yield _of(table, entry, Fact("rack_low", cause, sentence, cents, once=True))
    yield _of(table, entry, Fact("rack_low_share", cause, sentence, share, once=True))


def _of(table: Table, entry: Entry, fact: Fact) -> Fact:
    return Fact(
        fact.about, fact.cause, fact.says, fact.number, table.name, table.game, entry.round, fact.once,
        fact.least_level, fact.evidence,
    )  # fmt: skip


def _moment(entry: Entry) -> datetime:
    if entry.at is None:
        raise ValueError(f"entry {entry.seq} of {entry.book} has no time")
    return entry.at


# --- In the log of the site ------------------------------------------------------------------------------------


@raises("discrepancy")
def _variance(entry: Entry, event: DiscrepancyOpened, table: None) -> Iterator[Fact]:
    level = discrepancies.LEVELS[event.level]
    sentence = f"Discrepancy {event.number}, level {level}: {event.message}"
    yield Fact(
        "discrepancy", f"discrepancy {event.number}", sentence, event.level, table=_table_named(event.book), once=True,
        least_level=event.level, evidence={"discrepancy": event.number},
    )  # fmt: skip


@raises("pin_reset")
def _pin_reset(entry: Entry, event: SecretReset, table: None) -> Iterator[Fact]:
    if event.secret == PIN:
        sentence = f"The PIN of {event.username} is reset, as {entry.by} confirmed"
        yield Fact("pin_reset", f"of {event.username}", sentence)


@raises("lock_out")
def _lock_out(entry: Entry, event: StaffLockedOut | TerminalLockedOut, table: None) -> Iterator[Fact]:
    if isinstance(event, TerminalLockedOut):
        yield Fact("lock_out", f"at {event.name}", f"{event.name} is locked: too many wrong PINs were tried there")
    else:
        yield Fact("lock_out", f"of {event.username}", f"{event.username} is locked out: too many wrong secrets")


@raises("settings_changed")
def _settings(entry: Entry, event: Event, table: Table | None) -> Iterator[Fact]:
    """A change of settings. Setting a table up is not one; of changes to staff, only those of a role are."""
    is_new = isinstance(event, TableSet) and not event.before
    keeps_role = isinstance(event, StaffChanged) and "role" not in (event.after or {})
    if not (is_new or keeps_role):
        yield _setting(entry, event, table)


def _setting(entry: Entry, event: Event, table: Table | None) -> Fact:
    place, description = f" at {table.name}" if table else "", text_of(event.description())
    return Fact(
        "settings_changed", f"{event.subject} by {entry.by}", f"Settings changed{place} by {entry.by}: {description}",
        table=table.name if table else "", game=table.game if table else "",
    )  # fmt: skip


def _table_named(book: str) -> str:
    return book if Table.objects.filter(book__name=book).exists() else ""


def evidence_of(noticed: Noticed) -> Mapping[str, object]:
    """Where the log has the entry behind an alert."""
    entry = noticed.entry
    return {"entry": entry.seq, "in": entry.book, **({"round": entry.round} if entry.round else {})}


def refuse_mismatch(named: Set[str]) -> None:
    """Check that alert names in kind records, alert types and fact functions agree. Raises TypeError.

    Each named alert has a type, and each named alert with a rule has a function that computes its facts.
    """
    faults = {
        "No alert type is called": named - ALERT_TYPES.keys(),
        "No function of tables/alerts/facts.py @raises": (named & KINDS.keys()) - PRODUCERS.keys(),
        "No record of a kind of entry names": PRODUCERS.keys() - named,
    }
    if sentences := [f"{says} {', '.join(sorted(names))}." for says, names in faults.items() if names]:
        raise TypeError(" ".join(sentences))


refuse_mismatch({name for event in EVENTS for name in event.record.alerts})
