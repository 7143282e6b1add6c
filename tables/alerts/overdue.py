"""Alerts by time instead of by an entry: idle tables, due reliefs, clocks, and escalation."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Final

from ledger import clock
from ledger.models import Alert, LogEntry
from ledger.runs import WatchPlan
from tables.alerts import delivery, rules_in_force, streams
from tables.alerts.alert_raising import alert_of, escalate_due
from tables.alerts.alert_types import Rule
from tables.alerts.rules import Fact
from tables.log.state import TableState
from tables.models import Table
from tables.reports import gaming_hours
from tables.rotation import board, line_ups
from tables.state import table_state

PLAN: Final = WatchPlan("look_after_alerts", "Looking after idle tables, reliefs and alerts", timedelta(minutes=1))


def check_overdue() -> int:
    """Raise and escalate what is overdue; returns the number of alerts raised or escalated."""
    rules, reading = rules_in_force.in_force(), clock.read()
    moment = reading.database
    raised = sum(is_new for _, is_new in _of_tables(rules, moment))
    raised += sum(alert_of(fact, rules, None, {})[1] for fact in rotation_facts(moment))
    raised += of_clock(f"server {socket.gethostname()}", reading.drift, rules) is not None
    raised += escalate_due(rules, moment)
    delivery.put_out(rules)
    streams.queue_due()
    return raised


def _of_tables(rules: Mapping[str, Rule], moment: datetime) -> Iterator[tuple[Alert | None, bool]]:
    tables = list(Table.objects.select_related("book"))
    states = table_state.at_all([table_state.head_of(table) for table in tables])
    for table in tables:
        for fact in time_facts(table, states[table.book_id], _moments(table, states[table.book_id]), moment):
            yield alert_of(fact, rules, table.book, {"entry": table.book.head_seq, "in": table.book.name})


def _moments(table: Table, state: TableState) -> Mapping[int, datetime]:
    """Times of the entries from which a table's periods count, by entry number."""
    if not state.is_open or state.dealer is None:
        return {}
    seqs = {state.seq, state.dealer.since_seq}
    return dict(LogEntry.objects.filter(book_id=table.book_id, seq__in=seqs).values_list("seq", "at"))


def time_facts(table: Table, state: TableState, moments: Mapping[int, datetime], moment: datetime) -> Iterator[Fact]:
    """Facts about how long a table has been idle and its dealer has dealt."""
    if not state.is_open or state.dealer is None:
        return
    since, tapped_in = moments.get(state.seq), moments.get(state.dealer.since_seq)
    fields = {"table": table.name, "game": table.game, "once": True}
    if since is not None:
        minutes = _minutes(moment - since)
        sentence = (
            f"{table.name} stands idle: {state.dealer.name} deals, and nothing was entered since {since:%H:%M} UTC"
        )
        yield Fact("table_idle", f"since entry {state.seq}", sentence, minutes, **fields)  # type: ignore[arg-type]
    if tapped_in is not None:
        minutes = _minutes(moment - tapped_in)
        sentence = f"Relief due at {table.name}: {state.dealer.name} deals there since {tapped_in:%H:%M} UTC"
        yield Fact("relief_due", f"since entry {state.dealer.since_seq}", sentence, minutes, **fields)  # type: ignore[arg-type]


def rotation_facts(moment: datetime) -> Iterator[Fact]:
    """Facts about pushes that are late, and about dealers who have dealt for too long without a break. A string whose
    tables are all closed has no push that is due."""
    for line_up in (each.line_up for each in line_ups.in_force(moment)):
        if moment > line_up.push_at and not line_up.is_dormant:
            sentence = f"The push of string {line_up.string} was due at {line_up.push_at:%H:%M} UTC"
            cause = f"{line_up.string} {line_up.push_at.isoformat()}"
            yield Fact("push_overdue", cause, sentence, _minutes(moment - line_up.push_at), once=True)
    limit = board.longest_stretch()
    for hours in board.hours_of_span(moment - gaming_hours.DAY, moment, moment):
        if hours.stretch >= limit:
            began = moment - hours.stretch
            sentence = f"{hours.name} has dealt without a break since {began:%H:%M} UTC, at {', '.join(hours.tables)}"
            # A stretch of a whole day is cut to it, so its beginning moves on with the clock: one alert a day.
            since = f"{moment:%Y-%m-%d}" if hours.stretch >= gaming_hours.DAY else f"{began:%Y-%m-%dT%H:%M}"
            yield Fact("break_overdue", f"{hours.username} {since}", sentence, once=True)


def _minutes(span: timedelta) -> int:
    return int(span.total_seconds() // 60)


# --- Clocks ----------------------------------------------------------------------------------------------------


def of_clock(owner: str, drift: timedelta, rules: Mapping[str, Rule]) -> Alert | None:
    """Compare a clock's drift from the database with the rule; returns the new alert, if any."""
    seconds, way = int(abs(drift).total_seconds()), "ahead of" if drift > clock.NONE else "behind"
    sentence = f"The clock of {owner} is {way} the database's by {clock.spelled(drift)}: set it (NTP)"
    fact = Fact("clock_drift", owner, sentence, seconds)
    alert, is_new = alert_of(fact, rules, None, {"drift_seconds": drift.total_seconds()})
    return alert if is_new else None


def of_browser(owner: str, milliseconds: int) -> Alert | None:
    """Compare a browser's time, in milliseconds since 1970, with the database's clock; returns the new alert, if any.

    The message's transit time counts as drift, so a threshold of a second or two is of no use.
    """
    reading = clock.read()
    bound = 10**15  # an untrusted value: bounded to what timedelta can represent
    drift = timedelta(milliseconds=max(min(milliseconds, bound), -bound)) - (reading.database - _EPOCH)
    return of_clock(owner, drift, rules_in_force.in_force())


_EPOCH: Final = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
