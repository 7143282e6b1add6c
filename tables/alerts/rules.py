"""The rules that alerts are raised by: facts go in, and an alert comes out or none does. Pure; nothing is read here.

What a rule asks of a fact is one number: a bet in cents, minutes without an entry, a level. Each kind of rule says in
which measure, and what it is set to in a house that has set nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from ledger.proof.chips import money
from tables.games.catalog import GAMES

LEVELS: Final = ("info", "supervisor", "surveillance", "regulator")
"""How far an alert goes. They are the levels of discrepancies, too."""
SUPERVISOR, SURVEILLANCE, REGULATOR = 1, 2, 3
HEARERS: Final = ("pit_boss", "operator", "auditor", "surveillance")
"""The roles that an alert may be told to: those that watch the floor."""
AT_LEVEL: Final[Mapping[int, frozenset[str]]] = {
    0: frozenset(),
    SUPERVISOR: frozenset({"pit_boss"}),
    SURVEILLANCE: frozenset({"pit_boss", "surveillance", "operator"}),
    REGULATOR: frozenset({"pit_boss", "surveillance", "operator", "auditor"}),
}
"""Who hears of an alert that was escalated so far, whatever its rule says besides."""
STREAK_WINDOW: Final = timedelta(hours=1)
"""So far back a dealer's take-backs and corrections count together."""

CENTS, MINUTES, SECONDS, PERCENT, COUNT, LEVEL = "amount", "minutes", "seconds", "per cent", "times", "level"


@dataclass(frozen=True, slots=True)
class Rule:
    """When an alert of a kind is raised, and who hears of it."""

    about: str
    is_on: bool
    threshold: int | None
    level: int
    tables: tuple[str, ...] = ()
    """By name; none named means all."""
    games: tuple[str, ...] = ()
    roles: tuple[str, ...] = ("pit_boss",)
    escalate_minutes: int = 10
    """So long may nobody take note of it; 0 where it is never escalated."""
    escalate_to: tuple[str, ...] = ("surveillance",)

    @property
    def kind(self) -> RuleKind:
        return KINDS[self.about]

    def is_for(self, table: str, game: str) -> bool:
        """Whether it looks at a table. What belongs to no table is looked at in any case."""
        if not table or not (self.tables or self.games):
            return True
        return table in self.tables or game in self.games


@dataclass(frozen=True, slots=True)
class RuleKind:
    """A kind of alert that has a rule."""

    title: str
    says: str
    """What it is about, for whoever sets it."""
    measure: str
    """What its threshold counts; empty where it has none."""
    rule: Rule
    """As it is set in a house that has set nothing."""
    bounds: tuple[int, int] = (1, 10**12)
    is_below: bool = False
    """Whether the alert is raised below the threshold, and not from it on."""
    of_tables: bool = True
    """Whether it may be kept to some tables or games."""
    always_on: bool = False

    def spelled(self, threshold: int | None) -> str:
        """A threshold in words."""
        if threshold is None:
            return ""
        if self.measure == CENTS:
            return money(threshold)
        if self.measure == LEVEL:
            return LEVELS[threshold]
        return f"{threshold} {self.measure}"


def _kinds(*kinds: RuleKind) -> Mapping[str, RuleKind]:
    return {kind.rule.about: kind for kind in kinds}


KINDS: Final = _kinds(
    RuleKind(
        "Large bet", "A seat's bet, or all that it staked in a round; in a game for a pot, all that it paid.", CENTS,
        Rule("large_bet", True, 100_000, SUPERVISOR),
    ),
    RuleKind(
        "Large win in a round", "What a seat won in one round: from the house, or in a game for a pot from the others.",
        CENTS,
        Rule("large_win", True, 500_000, SUPERVISOR),
    ),
    RuleKind(
        "Large win over a shift", "What a seat won since the shift began, from the house or from the others.", CENTS,
        Rule("large_win_shift", True, 1_000_000, SURVEILLANCE, roles=("pit_boss", "surveillance")),
    ),
    RuleKind(
        "Rack below an amount", "A fill is due: the rack holds less than this.", CENTS,
        Rule("rack_low", False, 100_000, SUPERVISOR), is_below=True,
    ),
    RuleKind(
        "Rack below a share of the opener", "A fill is due: the rack holds less than this part of what it opened"
        " with.", PERCENT, Rule("rack_low_share", True, 40, SUPERVISOR), bounds=(1, 99), is_below=True,
    ),
    RuleKind(
        "Table idle", "The table is open and has a dealer, and nothing was entered for so long.", MINUTES,
        Rule("table_idle", True, 15, 0, escalate_minutes=0), bounds=(1, 1_440),
    ),
    RuleKind(
        "Relief due", "A dealer has dealt at the table for so long.", MINUTES,
        Rule("relief_due", True, 60, 0, escalate_minutes=15, escalate_to=("pit_boss",)), bounds=(5, 720),
    ),
    RuleKind(
        "Dealer's streak of corrections", "So many take-backs and corrections of one dealer within an hour.", COUNT,
        Rule("corrections_streak", True, 4, SUPERVISOR), bounds=(2, 100),
    ),
    RuleKind(
        "Discrepancy", "Counted and expected were not the same, at this level or above.", LEVEL,
        Rule("discrepancy", True, SUPERVISOR, SUPERVISOR), bounds=(0, REGULATOR),
    ),
    RuleKind(
        "PIN reset", "Somebody's PIN was reset. That raises an alert in any case: here further people hear of it.", "",
        Rule("pin_reset", False, None, SUPERVISOR, roles=("pit_boss", "surveillance")), of_tables=False,
    ),
    RuleKind(
        "Lock-out", "Too many wrong secrets were tried: for a person, or at a terminal.", "",
        Rule("lock_out", True, None, SUPERVISOR, roles=("pit_boss", "operator", "surveillance")), of_tables=False,
    ),
    RuleKind(
        "Settings changed", "A table, a pay table, chips, hours, a role, a rule or a channel is set otherwise.", "",
        Rule("settings_changed", True, None, 0, roles=("pit_boss", "surveillance"), escalate_minutes=0),
    ),
    RuleKind(
        "Clock drift", "The clock of a browser or of a server differs from the database's by more than this.", SECONDS,
        Rule("clock_drift", True, 30, SUPERVISOR, roles=("pit_boss", "operator"), escalate_minutes=60,
             escalate_to=("operator", "surveillance")), bounds=(2, 3_600), of_tables=False,
    ),
    RuleKind(
        "Anything else", "What the watch or the floor found and no other rule is about: a broken log, a wrong clock, a"
        " card that the shoe cannot hold.", "",
        Rule("other", True, None, SUPERVISOR, roles=("pit_boss", "operator", "surveillance"), escalate_minutes=30),
        of_tables=False, always_on=True,
    ),
)  # fmt: skip
"""Every kind that has a rule."""
DEFAULTS: Final[Mapping[str, Rule]] = {about: kind.rule for about, kind in KINDS.items()}
OTHER: Final = "other"


@dataclass(frozen=True, slots=True)
class Fact:
    """Something that happened, or goes on, and that a rule may be about."""

    about: str
    cause: str
    """What two facts have in common that are one matter."""
    says: str
    number: int | None = None
    """What the rule's threshold is held against."""
    table: str = ""
    game: str = ""
    round: int | None = None
    once: bool = False
    """Whether it is told once only, though somebody took note of it: it is of one moment."""
    least_level: int = 0
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RaisedAlert:
    """An alert as a rule has it raised."""

    level: int
    roles: tuple[str, ...]


def call(rule: Rule, fact: Fact) -> RaisedAlert | None:
    """The alert that a rule makes of a fact, if any."""
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
"""After so many escalations the next ones wait twice as long each: an alert that nobody is there to read all night does
not fill the log."""


def escalation_due(rule: Rule, raised_at: datetime, steps: Sequence[datetime], moment: datetime) -> bool:
    """Whether an alert that nobody took note of is to be escalated once more, after these steps."""
    if not rule.escalate_minutes:
        return False
    wait = timedelta(minutes=rule.escalate_minutes) * 2 ** max(0, len(steps) - STEPS_APART + 1)
    return moment - (steps[-1] if steps else raised_at) >= wait


def escalated(rule: Rule, level: int, roles: Collection[str]) -> RaisedAlert:
    """How far it goes by the next escalation. Time alone makes nothing a matter for the regulator."""
    higher = level if level >= SURVEILLANCE else level + 1
    return RaisedAlert(higher, tuple(sorted({*roles, *rule.escalate_to} | AT_LEVEL[higher])))


# --- Setting them ----------------------------------------------------------------------------------------------

MOST_MINUTES: Final = 1_440


def faults(rule: Rule, tables: Collection[str]) -> dict[str, str]:
    """What is wrong with a rule that somebody typed, by its field."""
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


def _threshold_faults(kind: RuleKind, rule: Rule) -> dict[str, str]:
    least, most = kind.bounds
    if not kind.measure:
        return {} if rule.threshold is None else {"threshold": "This rule has no threshold."}
    if rule.threshold is None or not least <= rule.threshold <= most:
        return {"threshold": f"The threshold is from {kind.spelled(least)} to {kind.spelled(most)}."}
    return {}
