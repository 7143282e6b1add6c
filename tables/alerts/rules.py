"""Alert rules: a fact either raises an alert or does not. Pure: reads no data.

A rule compares one number of a fact with its threshold: a bet in cents, minutes without an entry, a level. The alert
types and the default of each rule are in `alert_types.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from tables.alerts.alert_types import KINDS, LEVELS, REGULATOR, SUPERVISOR, SURVEILLANCE, AlertType, Rule
from tables.games.catalog import GAMES

HEARERS: Final = ("pit_boss", "operator", "auditor", "surveillance")
"""Roles that may receive alerts: those that oversee the floor."""
AT_LEVEL: Final[Mapping[int, frozenset[str]]] = {
    0: frozenset(),
    SUPERVISOR: frozenset({"pit_boss"}),
    SURVEILLANCE: frozenset({"pit_boss", "surveillance", "operator"}),
    REGULATOR: frozenset({"pit_boss", "surveillance", "operator", "auditor"}),
}
"""Roles that receive an alert escalated to a level, in addition to those of its rule."""
STREAK_WINDOW: Final = timedelta(hours=1)
"""Period over which a dealer's take-backs and corrections are counted."""


@dataclass(frozen=True, slots=True)
class Fact:
    """An event or a condition that a rule may concern."""

    about: str
    cause: str
    """Key of facts that belong to one alert."""
    says: str
    number: int | None = None
    """Compared with the rule's threshold."""
    table: str = ""
    game: str = ""
    round: int | None = None
    once: bool = False
    """Whether such an alert is raised only once, even after an acknowledgement: it belongs to one moment."""
    least_level: int = 0
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RaisedAlert:
    """Level and receiving roles of an alert that a rule raises."""

    level: int
    roles: tuple[str, ...]


def call(rule: Rule, fact: Fact) -> RaisedAlert | None:
    """The alert that a rule raises for a fact; None if it raises none."""
    if not rule.is_on or not rule.is_for(fact.table, fact.game) or not _reaches(rule, fact.number):
        return None
    level = max(rule.level, fact.least_level)
    return RaisedAlert(level, tuple(sorted({*rule.roles} | (AT_LEVEL[level] if level > rule.level else frozenset()))))


def _reaches(rule: Rule, number: int | None) -> bool:
    if rule.threshold is None or number is None:
        return True
    return number < rule.threshold if rule.kind.is_below else number >= rule.threshold


# --- Escalating ------------------------------------------------------------------------------------------------

STEPS_APART: Final = 3
"""Escalations after which each next one waits twice as long: an alert unread overnight must not fill the log."""


def escalation_due(rule: Rule, raised_at: datetime, steps: Sequence[datetime], moment: datetime) -> bool:
    """Whether an unacknowledged alert is due for another escalation after these ones."""
    if not rule.escalate_minutes:
        return False
    wait = timedelta(minutes=rule.escalate_minutes) * 2 ** max(0, len(steps) - STEPS_APART + 1)
    return moment - (steps[-1] if steps else raised_at) >= wait


def escalated(rule: Rule, level: int, roles: Collection[str]) -> RaisedAlert:
    """Level and roles after the next escalation. Time never raises an alert to the level of the regulator."""
    higher = level if level >= SURVEILLANCE else level + 1
    return RaisedAlert(higher, tuple(sorted({*roles, *rule.escalate_to} | AT_LEVEL[higher])))


# --- Setting them ----------------------------------------------------------------------------------------------

MOST_MINUTES: Final = 1_440


def faults(rule: Rule, tables: Collection[str]) -> dict[str, str]:
    """Faults of a rule as entered, by field."""
    kind = KINDS.get(rule.about)
    if kind is None:
        return {"about": f"There is no rule about {rule.about}."}
    wrong = _threshold_faults(kind, rule)
    if kind.always_on and not rule.is_on:
        wrong["is_on"] = "This one stays on: somebody has to hear of what nobody thought of."
    if not 0 <= rule.level < len(LEVELS):
        wrong["level"] = f"A level is one of {', '.join(LEVELS)}."
    if unknown := sorted(set(rule.tables) - set(tables)):
        wrong["tables"] = f"There is no table {', '.join(unknown)}."
    if unknown := sorted(set(rule.games) - GAMES.keys()):
        wrong["games"] = f"There is no game {', '.join(unknown)}."
    if (rule.tables or rule.games) and not kind.of_tables:
        wrong["tables"] = "This rule is about the house, and cannot be kept to tables."
    if rule.is_on and not rule.roles:
        wrong["roles"] = "Somebody has to hear of it: choose a role at least."
    if set(rule.roles) - set(HEARERS) or set(rule.escalate_to) - set(HEARERS):
        wrong["roles"] = f"Alerts are told to those who watch the floor: {', '.join(HEARERS).replace('_', ' ')}."
    if not 0 <= rule.escalate_minutes <= MOST_MINUTES:
        wrong["escalate_minutes"] = f"It is escalated after 1 to {MOST_MINUTES:,} minutes; 0 means never."
    if rule.escalate_minutes and not rule.escalate_to:
        wrong["escalate_to"] = "Choose whom it is escalated to, or set the minutes to 0."
    return wrong


def _threshold_faults(kind: AlertType, rule: Rule) -> dict[str, str]:
    least, most = kind.bounds
    if not kind.measure:
        return {} if rule.threshold is None else {"threshold": "This rule has no threshold."}
    if rule.threshold is None or not least <= rule.threshold <= most:
        return {"threshold": f"The threshold is from {kind.spelled(least)} to {kind.spelled(most)}."}
    return {}
