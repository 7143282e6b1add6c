"""Limit plans: the plan that sets each limit of a table at a given moment, its origin, and the next change. Pure.

Plans form layers. The table's own settings are at the bottom, then plans of the site, of a game, of a pit and of a
table. Within a scope, a plan for an event is above one for hours of the week, which is above a permanent one. Of two
plans equal in both, the later entry is on top. A plan sets some limits and leaves the others to the layers below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

from tables.games.protocol import Struct
from tables.log import moments
from tables.log.message import Joined, Label, Message, Money, Parameter, joined, text_of, timestamp
from tables.log.terms import Set
from tables.log.wall_clock import moment_of

Scope = Literal["house", "game", "pit", "table"]
Takes = Literal["round", "shoe"]
"""Whether a change takes effect with the next round or with the next shoe."""
Value = int | tuple[int, int]
"""An amount in minor units, or the minimum and maximum of a wager with limits of its own."""
Values = Mapping[str, Value]
"""Limits by their names: those of ``AMOUNTS``, and ``wager NAME``."""


class LimitKind(NamedTuple):
    """A limit that is one amount. A bet may not fall below a minimum. The others are maxima: a bet may not exceed them,
    and raising them may need dual control."""

    title: str
    """Completes "The … is more than 0"."""
    heading: str
    """Its column in the grid and in the files of the grid, which are read by it."""
    help_text: str = ""
    """What the form of a plan says about it."""
    is_minimum: bool = False


SCOPES: Final[tuple[Scope, ...]] = ("house", "game", "pit", "table")
LIMIT_KINDS: Final[Mapping[str, LimitKind]] = {
    "min_cents": LimitKind("minimum", "Minimum", "Empty: left to the layers below.", is_minimum=True),
    "max_cents": LimitKind("maximum", "Maximum"),
    "seat_max_cents": LimitKind(
        "maximum of a seat", "Seat maximum", "All wagers of one seat before the cards, together."
    ),
    "cap_cents": LimitKind("exposure of the table", "Exposure", "The most of all bets of a round together."),
}
"""The limits that are one amount, by the names of settings."""
AMOUNTS: Final = {name: kind.title for name, kind in LIMIT_KINDS.items()}
MINIMA: Final = frozenset(name for name, kind in LIMIT_KINDS.items() if kind.is_minimum)
LIMIT_SETTINGS: Final = (*AMOUNTS, "wager_limits")
"""The settings of a table that are limits. ``docs/adding-a-limit.md`` lists where each of them appears."""
WAGER: Final = "wager "
"""The prefix of the name of a wager's own limits."""
DAY: Final = timedelta(days=1)


# --- When a plan holds -------------------------------------------------------------------------------------------


class Always(Struct, frozen=True, tag_field="when", tag="always"):
    """At any time."""

    rank = 0

    def holds(self, moment: datetime) -> bool:
        return True

    def edges(self, since: datetime) -> Iterator[datetime]:
        yield from ()

    def description(self) -> Message:
        return Message("always")


class Hours(Struct, frozen=True, tag_field="when", tag="hours"):
    """A schedule for weekdays, from one wall-clock time to another. It runs past midnight if the end is not after the
    start, and then belongs to the weekday of its start."""

    weekdays: tuple[int, ...]
    """0 is Monday."""
    starts: str
    """HH:MM."""
    ends: str
    zone: str
    """The wall clock: a time zone of the IANA database."""

    rank = 1

    def stretch(self, day: date) -> tuple[datetime, datetime]:
        """The stretch that starts on a day: its first moment, and the first one after it."""
        starts, ends = time.fromisoformat(self.starts), time.fromisoformat(self.ends)
        last = day + DAY if ends <= starts else day
        return moment_of(self.zone, day, starts), moment_of(self.zone, last, ends)

    def stretches(self, since: datetime, days: int) -> Iterator[tuple[datetime, datetime]]:
        """The periods of the day before a moment, of its day, and of this number of days after it."""
        first = since.astimezone(ZoneInfo(self.zone)).date() - DAY
        for number in range(days + 2):
            day = first + number * DAY
            if day.weekday() in self.weekdays:
                yield self.stretch(day)

    def holds(self, moment: datetime) -> bool:
        return any(start <= moment < end for start, end in self.stretches(moment, 0))

    def edges(self, since: datetime) -> Iterator[datetime]:
        for stretch in self.stretches(since, 8):
            yield from stretch

    def description(self) -> Message:
        days = joined(Label(WEEKDAYS[day]) for day in self.weekdays)
        return Message("{days} {starts} to {ends}", days=days, starts=self.starts, ends=self.ends)


class Occasion(Struct, frozen=True, tag_field="when", tag="event"):
    """From one moment to another: a holiday, a tournament."""

    starts: str
    """ISO 8601, in UTC."""
    ends: str

    rank = 2

    def holds(self, moment: datetime) -> bool:
        start, end = self.edges(moment)
        return start <= moment < end

    def edges(self, since: datetime) -> Iterator[datetime]:
        yield from map(moments.within, self.span())

    def span(self) -> tuple[datetime, datetime]:
        """Start and end as they are written. Raises ValueError."""
        return datetime.fromisoformat(self.starts), datetime.fromisoformat(self.ends)

    def description(self) -> Message:
        return Message("{starts} to {ends} UTC", starts=timestamp(self.starts), ends=timestamp(self.ends))


Schedule = Always | Hours | Occasion
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def place_of(scope: Scope, of: str, tables: Sequence[str] = ()) -> Message:
    """The place that a plan is for."""
    if tables:
        return Message("tables {names}", names=joined(tables))
    if scope == "house":
        return Message("the whole house")
    return Message("{scope} {name}", scope=Label(scope), name=of.replace("_", " "))


def called(name: str) -> str:
    """The title of a limit."""
    return AMOUNTS.get(name) or name.removeprefix(WAGER).replace("_", " ")


def amount_of(value: Value) -> Parameter:
    """The value of a limit."""
    if isinstance(value, int):
        return Money(value)
    low, high = value
    return Message("{low} to {high}", low=Money(low), high=Money(high))


def limits_of(values: Values) -> Joined:
    """Limits with their values."""
    return joined(
        Message("{limit} {amount}", limit=Label(called(name)), amount=amount_of(value))
        for name, value in values.items()
    )


# --- Plans -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One version of a plan, as set by an entry in the log of the site."""

    name: str
    version: int
    seq: int
    """The sequence number of the entry that set it."""
    effective: datetime
    """The moment from which it replaces the previous version."""
    scope: Scope
    of: str = ""
    """The game, pit or table that it is for; empty for the whole site."""
    schedule: Schedule = field(default_factory=Always)
    values: Values = field(default_factory=dict)
    note: str = ""
    takes: Takes = "round"
    keeps_seated: bool = False
    """Whether occupied seats keep the old minimum until the player leaves."""
    retired: bool = False
    tables: tuple[str, ...] = ()
    """The tables that it is for, if it is for several; ``of`` is empty then."""
    excluded: tuple[str, ...] = ()
    """The tables of its place at which it does not apply."""

    @property
    def rank(self) -> tuple[int, int, int]:
        """The position among layers; the highest is on top."""
        return SCOPES.index(self.scope), self.schedule.rank, self.seq

    @property
    def place(self) -> Message:
        """The place that it is for."""
        return place_of(self.scope, self.of, self.tables)

    @property
    def where(self) -> str:
        """The text of the place that it is for."""
        return text_of(self.place)

    def is_over(self, moment: datetime) -> bool:
        """Whether it was for an event that has ended."""
        return isinstance(self.schedule, Occasion) and max(self.schedule.edges(moment)) <= moment

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"


LONGEST: Final = 40
"""The longest name of a plan."""


def emergency_name(table: str, number: int = 1) -> str:
    """A name of a plan by which a pit boss tightens the limits of a table. A number tells apart the plans of tables
    whose names begin alike, and those that an operator extended."""
    suffix = f", {number}" if number > 1 else ""
    return f"Emergency {table}"[: LONGEST - len(suffix)].strip() + suffix


def is_emergency(plan: str, table: str) -> bool:
    """Whether a plan's name is one of those for the emergencies of a table."""
    number = plan.rpartition(", ")[2]
    return plan in (emergency_name(table), emergency_name(table, int(number) if number.isdecimal() else 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The facts about a table that select its layers."""

    table: str
    game: str
    pit: str = ""
    wagers: frozenset[str] = frozenset()
    """The wagers of its game that may have limits of their own."""
    own: Values = field(default_factory=dict)
    """The table's own settings: the bottom layer."""

    def concern(self, plan: Plan) -> bool:
        """Whether a plan applies to this table."""
        return self.are_of(plan) and self.table not in plan.excluded

    def are_of(self, plan: Plan) -> bool:
        """Whether this table belongs to the place of a plan, which may exclude it."""
        if plan.scope == "house":
            return not plan.of
        names = {"game": self.game, "pit": self.pit, "table": self.table}
        return bool(names[plan.scope]) and names[plan.scope] in (plan.tables or (plan.of,))

    def have(self, name: str) -> bool:
        """Whether the table has such a limit at all: a wager may be another game's."""
        return not name.startswith(WAGER) or name.removeprefix(WAGER) in self.wagers


@dataclass(frozen=True, slots=True)
class Layer:
    """The value that one layer sets for one limit."""

    value: Value
    plan: Plan | None
    """The plan; None for the table's own settings."""
    holds: bool = True
    """Whether the schedule of the layer applies now. If not, the layers below it do."""

    @property
    def name(self) -> str:
        return self.plan.name if self.plan else ""

    @property
    def why(self) -> str:
        """The text of its origin."""
        return text_of(self.origin)

    @property
    def origin(self) -> Message:
        """The plan that it comes from, or the table."""
        if self.plan is None:
            return Message("set at the table itself")
        plan: dict[str, Parameter] = {
            "name": self.plan.name,
            "place": self.plan.place,
            "schedule": self.plan.schedule.description(),
        }
        if not self.plan.note:
            return Message("plan {name}: {place}, {schedule}", **plan)
        return Message("plan {name} ({note}): {place}, {schedule}", **plan, note=self.plan.note)


Layers = Mapping[str, Layer]
"""For each limit, the layer that sets it."""
Stack = Mapping[str, tuple[Layer, ...]]
"""For each limit, all layers that set it, the topmost first."""


@dataclass(frozen=True, slots=True)
class NextChange:
    """The next moment at which a table's limits change."""

    moment: datetime
    layers: Layers
    changed: tuple[str, ...]
    """The limits that change, including those that no layer sets any more."""


@dataclass(frozen=True, slots=True)
class EffectiveLimits:
    """The limits of a table that result from its plans."""

    layers: Layers
    stack: Stack
    next: NextChange | None

    @property
    def values(self) -> dict[str, Value]:
        return values_of(self.layers)


def values_of(layers: Layers) -> dict[str, Value]:
    """Each limit's value, without where it comes from."""
    return {name: layer.value for name, layer in layers.items()}


def changed_names(before: Values, after: Values) -> list[str]:
    """The names of the limits that differ, sorted."""
    return sorted(name for name in {**before, **after} if before.get(name) != after.get(name))


# --- What a table is set to --------------------------------------------------------------------------------------


def limits_in(settings: Set) -> dict[str, Value]:
    """The limits that settings have; those that are not set are left out."""
    amounts = {name: getattr(settings, name) for name in AMOUNTS}
    limits: dict[str, Value] = {name: cents for name, cents in amounts.items() if cents is not None}
    return limits | {f"{WAGER}{wager}": (least, most) for wager, (least, most) in settings.wager_limits.items()}


def own_limits(settings: Set) -> dict[str, Value]:
    """The table's own limits, regardless of plans that apply now."""
    own = limits_in(settings) | {name: plain(value) for name, value in settings.own_limits.items()}
    return {name: value for name, value in own.items() if value is not None}


def own_beneath(values: Values, own: Values) -> dict[str, Value | None]:
    """The own limits that settings must store because plans override them; None for a limit that the table does not
    set."""
    return {name: own.get(name) for name in changed_names(values, own)}


def in_settings(values: Mapping[str, Value]) -> dict[str, Any]:
    """Limits as a table's settings have them: every one that plans may set."""
    amounts: dict[str, Any] = {name: values.get(name) for name in AMOUNTS}
    wagers = {name.removeprefix(WAGER): value for name, value in values.items() if name.startswith(WAGER)}
    return amounts | {"wager_limits": wagers}


def plain(value: Any) -> Any:
    """A limit as plans have it, converted from JSON."""
    return tuple(value) if isinstance(value, list) else value


# --- Resolving ---------------------------------------------------------------------------------------------------


def resolve(plans: Iterable[Plan], facts: Facts, moment: datetime) -> EffectiveLimits:
    """The limits that result from plans at a moment, and their next change. The order of the plans does not matter."""
    ours = by_name(plans)
    stack = stack_at(ours, facts, moment)
    layers = _topmost(stack)
    return EffectiveLimits(layers, stack, _next(ours, facts, moment, values_of(layers)))


def layers_at(plans: Iterable[Plan], facts: Facts, moment: datetime) -> Layers:
    """For each limit, the layer that sets it at a moment."""
    return _topmost(stack_at(by_name(plans), facts, moment))


Versions = Mapping[str, Sequence[Plan]]


def by_name(plans: Iterable[Plan]) -> Versions:
    """The versions of each plan, sorted by effective time and then by entry."""
    versions: dict[str, list[Plan]] = {}
    for plan in plans:
        versions.setdefault(plan.name, []).append(plan)
    return {name: sorted(rows, key=lambda plan: (plan.effective, plan.seq)) for name, rows in versions.items()}


def in_force(versions: Versions, moment: datetime) -> list[Plan]:
    """The version of each plan in force at a moment: the latest by effective time. A version set later with an earlier
    effective time does not replace one announced for a time between them."""
    due = ([plan for plan in plans if plan.effective <= moment] for plans in versions.values())
    return [plans[-1] for plans in due if plans and not plans[-1].retired]


def stack_at(versions: Versions, facts: Facts, moment: datetime) -> dict[str, tuple[Layer, ...]]:
    """All layers of each limit of a table, the topmost first."""
    stack: dict[str, list[Layer]] = {}
    concerned = [plan for plan in in_force(versions, moment) if facts.concern(plan)]
    for plan in sorted(concerned, key=lambda plan: plan.rank, reverse=True):
        is_in_force = plan.schedule.holds(moment)
        for name, value in plan.values.items():
            if facts.have(name):
                stack.setdefault(name, []).append(Layer(value, plan, is_in_force))
    for name, value in facts.own.items():
        stack.setdefault(name, []).append(Layer(value, None))
    return {name: tuple(stack[name]) for name in sorted(stack)}


def _topmost(stack: Stack) -> dict[str, Layer]:
    holding = {name: [layer for layer in layers if layer.holds] for name, layers in stack.items()}
    return {name: layers[0] for name, layers in holding.items() if layers}


def _next(versions: Versions, facts: Facts, moment: datetime, values: Values) -> NextChange | None:
    for edge in _edges(versions, facts, moment):
        layers = _topmost(stack_at(versions, facts, edge))
        if changed := changed_names(values, values_of(layers)):
            return NextChange(edge, layers, tuple(changed))
    return None


def _edges(versions: Versions, facts: Facts, moment: datetime) -> list[datetime]:
    """The future moments at which limits may change: every dated one, and every start and end in the week after now and
    after each dated one. Later weeks only repeat these."""
    ours = [plan for plans in versions.values() for plan in plans if facts.concern(plan)]
    occasions = [plan.schedule for plan in ours if isinstance(plan.schedule, Occasion)]
    weekly = [plan.schedule for plan in ours if isinstance(plan.schedule, Hours)]
    # A version that is for another table ends the one before it here: so all versions' moments count.
    names = {plan.name for plan in ours}
    dated = {plan.effective for name in names for plan in versions[name]}
    dated |= {edge for schedule in occasions for edge in schedule.edges(moment)}
    to_come = {edge for edge in dated if edge > moment}
    recurring = {edge for since in (moment, *to_come) for schedule in weekly for edge in schedule.edges(since)}
    return sorted(edge.astimezone(UTC) for edge in to_come | recurring if edge > moment)
