"""Alerts as users read them: those for a role, filtered, grouped if similar, and acknowledged together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from ledger import alerts, clock
from ledger.models import Acknowledgement, Alert, Escalation
from tables.alerts import rules_in_force
from tables.alerts.alert_raising import with_steps
from tables.alerts.alert_types import ALERT_TYPES, OTHER, Rule, Severity, of_severity, sort_of
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pit_assignments

OPEN, ACKNOWLEDGED = "open", "acknowledged"
APART: Final = timedelta(minutes=30)
"""Similar alerts are grouped while no more than this time passes from one to the next."""
OVERSEERS: Final = frozenset({Role.AUDITOR, Role.SURVEILLANCE})
"""Roles that may also read the alerts of others."""
LONGEST_NOTE: Final = 500
NOTES_OF_LATE: Final = timedelta(days=30)
"""Period over which the notes on alerts of a kind are counted."""
MOST_NOTES: Final = 3


@dataclass(frozen=True, slots=True)
class AlertFilter:
    """Criteria of a list of alerts; an empty field imposes no condition."""

    state: str = ""
    """`open`, `acknowledged`, or empty for both."""
    hearer: str = ""
    """The role that receives them."""
    severity: Severity | None = None
    kind: str = ""
    books: frozenset[int] | None = None
    not_books: frozenset[int] = frozenset()
    """Logs whose alerts are left out; alerts about no table remain."""
    by: str = ""
    """The user who acknowledged them."""
    since: datetime | None = None
    until: datetime | None = None
    """Bounds on the time of acknowledgement or, for open alerts, of being raised."""
    text: str = ""


def chosen(filters: AlertFilter) -> QuerySet[Alert]:
    """The alerts that match, with their escalations, unordered."""
    return with_steps(Alert.objects.filter(_condition(filters)))


def _condition(filters: AlertFilter) -> Q:
    condition = Q()
    if filters.state:
        condition &= Q(acknowledgement__isnull=filters.state == OPEN)
    if filters.hearer:
        condition &= heard_by(filters.hearer, rules_in_force.in_force())
    if filters.severity is not None:
        condition &= _so_pressing(filters.severity)
    if filters.kind:
        condition &= Q(kind=filters.kind)
    if filters.books is not None:
        condition &= Q(book__in=filters.books)
    if filters.not_books:
        condition &= Q(book=None) | ~Q(book__in=filters.not_books)
    if filters.by:
        condition &= Q(acknowledgement__by=filters.by)
    moment = "acknowledgement__at" if filters.state == ACKNOWLEDGED else "at"
    if filters.since:
        condition &= Q(**{f"{moment}__gte": filters.since})
    if filters.until:
        condition &= Q(**{f"{moment}__lt": filters.until})
    if filters.text:
        parts = ("message", "acknowledgement__note", "acknowledgement__by")
        condition &= Q.create([(f"{part}__icontains", filters.text) for part in parts], connector=Q.OR)
    return condition


def _so_pressing(severity: Severity) -> Q:
    """Condition on severity; kinds without a type have the severity ATTENTION."""
    if severity == Severity.ATTENTION:
        return ~Q(kind__in=of_severity(Severity.URGENT) | of_severity(Severity.NOTICE))
    return Q(kind__in=of_severity(severity))


def heard_by(role: str, rules: Mapping[str, Rule]) -> Q:
    """The condition under which a role receives an alert: `alert_raising.heard` as a database condition."""
    by_rule = Q(kind__in=[about for about, rule in rules.items() if role in rule.roles])
    if role in rules[OTHER].roles:
        by_rule |= ~Q(kind__in=list(rules))
    escalated = Q(Exists(Escalation.objects.filter(alert=OuterRef("pk"), roles__contains=[role])))
    return Q(evidence__roles__contains=[role]) | (~Q(evidence__has_key="roles") & by_rule) | escalated


def may_hear(role: str, hearer: str) -> str:
    """The role whose alerts a user reads: their own role or, for surveillance and auditors, any chosen one or all
    ("")."""
    return hearer if role in OVERSEERS else str(role)


# --- Alike -----------------------------------------------------------------------------------------------------


def groups(newest_first: Iterable[Alert]) -> list[list[Alert]]:
    """Alerts grouped by kind, table and person if they follow each other closely; groups and members newest first."""
    together: list[list[Alert]] = []
    latest: dict[tuple[object, ...], list[Alert]] = {}
    for alert in newest_first:
        key = _matter(alert)
        group = latest.get(key)
        if group is not None and group[-1].at - alert.at <= APART:
            group.append(alert)
        else:
            latest[key] = [alert]
            together.append(latest[key])
    return together


def _matter(alert: Alert) -> tuple[object, ...]:
    """The key that similar alerts share."""
    if sort_of(alert.kind).is_apart:
        return (alert.pk,)
    return (alert.kind, alert.book_id, person(alert))


def person(alert: Alert) -> str:
    """The user name or badge that an alert is about; "" if none."""
    names = (alert.evidence.get(name) for name in ("username", "of", "badge"))
    return next((name for name in names if isinstance(name, str) and name), "")


# --- Taking note -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Taken:
    """Result of acknowledging several alerts together."""

    alerts: list[Alert] = field(default_factory=list)
    before: list[Alert] = field(default_factory=list)
    """Those acknowledged earlier by another user."""


def acknowledge(numbers: Collection[int], note: str, *, by: Staff) -> Taken:
    """Acknowledge alerts by name, with one note for all of them. Raises Refused."""
    note = note.strip()
    if not note:
        raise Refused("no_note", "Say in a few words what the alert came to, then acknowledge it.", 422)
    if len(note) > LONGEST_NOTE or not note.replace("\n", " ").replace("\r", " ").isprintable():
        raise Refused("bad_note", f"Say it in at most {LONGEST_NOTE} plain characters.", 422)
    hearer = "" if by.role in OVERSEERS else str(by.role)
    outcome = Taken()
    with transaction.atomic():
        rows = Alert.objects.filter(_condition(AlertFilter(hearer=hearer)), pk__in=numbers).select_related("book")
        pit_assignments.refuse_any(by, {alert.book.name for alert in rows if alert.book is not None})
        for alert in rows.order_by("pk"):
            try:
                alerts.acknowledge(alert, by.signature, note)
                outcome.alerts.append(alert)
            except alerts.AlreadyAcknowledged:
                outcome.before.append(alert)
    if not outcome.alerts + outcome.before:
        raise Refused("no_alert", "Choose the alerts first: none was chosen that you hear of.", 422)
    return outcome


def usual_notes(kinds: Collection[str]) -> dict[str, list[str]]:
    """For each kind of alert, the repeated recent notes, most frequent first, then the usual ones."""
    since = clock.read().database - NOTES_OF_LATE
    counted = (
        Acknowledgement.objects.filter(alert__kind__in=kinds, at__gte=since)
        .exclude(note="")
        .values("alert__kind", "note")
        .annotate(times=Count("pk"))
        .filter(times__gt=1)
        .order_by("-times", "note")
    )
    notes: dict[str, list[str]] = {kind: [] for kind in kinds}
    for row in counted:
        notes[row["alert__kind"]].append(row["note"])
    return {kind: _distinct([*own, *sort_of(kind).notes]) for kind, own in notes.items()}


def _distinct(notes: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(notes))[:MOST_NOTES]


def kinds() -> list[tuple[str, str]]:
    """All types of alert with their titles, for a choice field."""
    return sorted(((kind, sort.title) for kind, sort in ALERT_TYPES.items()), key=lambda named: named[1])
