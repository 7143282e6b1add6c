"""Dual control: one person proposes a change, another approves it. Pure; the floor and the verifier call the same
functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from tables.games.catalog import GAMES
from tables.log.limit_plans import AMOUNTS, MINIMA, WAGER
from tables.log.policies import ALWAYS_TWO, MATTERS, Values

COMMAND_LINE: Final = "the command line"
"""The author of the operators created when no approver is left. Access to the command line implies ownership of the
machine."""

_TAKES: Final = ("rake_permille", "rake_cap_cents", "time_charge_cents", "marks_commission")


EDGE: Final = "edge"
"""Settings of a table by which a main wager favours the player. The approval shows the player's edge."""
SERVICE_ACCOUNT: Final = "service_account"
PLAN: Final = "limit_plan"
POST: Final = "post"
_TITLES: Final = {
    EDGE: "A wager in the player's favour",
    SERVICE_ACCOUNT: "What a program may do",
    PLAN: "A limit plan",
    POST: "Who runs which pit",
}
_LIKE: Final = {SERVICE_ACCOUNT: "staff", PLAN: "limits", POST: "staff"}
"""Subjects whose dual control follows another subject: service accounts and assignments follow staff, limit plans
follow limits."""


def needed(matter: str, terms: Values) -> bool:
    """Whether a subject is under dual control by these policies. A wager that favours the player always is."""
    if matter == EDGE:
        return True
    matter = _LIKE.get(matter, matter)
    return bool(terms["two_people"]) and (matter in ALWAYS_TWO or matter in terms["two_people_for"])


def title_of(matter: str) -> str:
    return MATTERS.get(matter) or _TITLES.get(matter) or matter.replace("_", " ")


UNBOUNDED: Final = 10**15
"""A maximum that is not set, in minor units: higher than any value that can be set."""


def raises(before: Mapping[str, int], after: Mapping[str, int], limit_cents: int) -> bool:
    """Whether any maximum rises above both the limit and its previous value. A maximum missing from ``before`` was
    0."""
    return any(cents > max(limit_cents, before.get(name, 0)) for name, cents in after.items())


def of_plan(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    terms: Values,
    beneath: Callable[[], Mapping[str, int]],
    *,
    formerly: bool = False,
) -> str | None:
    """The subject under which a version of a limit plan needs dual control; None if it needs none. It does if any
    maximum rises above the limit: the version sets a higher one, applies it at another place or time, or drops one and
    exposes a higher layer below. ``before`` is empty for a new plan. ``beneath``: for each maximum of the previous
    version, the highest one in the layers below; called only if one is dropped. ``formerly``: by the rule of releases
    up to 0.9.0, which did not apply the plan's own maximum to a wager without limits of its own."""
    if not needed(PLAN, terms):
        return None
    is_same_place = before.get("schedule") == after.get("schedule") and _tables(before) == _tables(after)
    earlier, later = (_highest_planned(values.get("values") or {}) for values in (before, after))
    limit = int(terms["two_people_limit_cents"])
    if raises(earlier if is_same_place else {}, later, limit):
        return PLAN
    names_left = earlier.keys() - (later.keys() if _reaches(before, after) else set())
    highest = beneath() if names_left else {}
    left = {name: highest.get(name, 0) for name in names_left}
    if not formerly:
        left |= {name: max(left[name], later.get("max_cents", 0)) for name in names_left if name.startswith(WAGER)}
    return PLAN if raises(earlier, left, limit) else None


def _tables(plan: Mapping[str, Any]) -> tuple[Any, set[str], set[str]]:
    """The tables at which a version of a plan applies: its scope, the names of its place, and the excluded tables."""
    return plan.get("scope"), set(plan.get("tables") or (plan.get("of", ""),)), set(plan.get("excluded", ()))


def _reaches(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a version applies at every place and time of the previous one. An event may last longer."""
    (scope, places, excluded), (later_scope, later_places, later_excluded) = _tables(before), _tables(after)
    if scope != later_scope or places - later_places or later_excluded - excluded:
        return False
    earlier, later = before["schedule"], after["schedule"]
    if earlier == later:
        return True
    if not earlier["when"] == later["when"] == "event":
        return False
    starts, ends = (
        [datetime.fromisoformat(version[edge]) for version in (earlier, later)] for edge in ("starts", "ends")
    )
    return starts[1] <= starts[0] and ends[1] >= ends[0]


def _highest_planned(values: Mapping[str, Any]) -> dict[str, int]:
    """The maxima of a plan; minimums are left out."""
    highest = {name: value[1] if isinstance(value, tuple | list) else value for name, value in values.items()}
    return {name: cents for name, cents in highest.items() if name != "min_cents"}


def of_table(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    terms: Values,
    set_to: Callable[[], Mapping[str, Any]],
    *,
    formerly: bool = False,
) -> str | None:
    """The subject under which a change of a table's settings needs dual control; None if it needs none. ``before`` is
    empty for a new table, whose options never need it. ``set_to``: all settings; ``before`` and ``after`` have only
    those that change. ``formerly``: by the rule of releases up to 0.9.0."""
    limit_cents = int(terms["two_people_limit_cents"])
    judge = _formerly_raises if formerly else _raises_limits
    concerned: dict[str, Callable[[], bool]] = {
        EDGE: lambda: bool(after.get("player_edges")),
        "limits": lambda: judge(before, after, limit_cents, set_to),
        "take": lambda: _changes_take(before, after),
        "pays": lambda: "options" in after,
    }
    return next((matter for matter, asks in concerned.items() if needed(matter, terms) and asks()), None)


def of_staff(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """The subject under which a change of a staff member needs dual control: an additional role, or reactivation.
    Deactivation and a switch among roles already held need one person."""
    gained = _roles(after) - _roles(before)
    return "staff" if gained or after.get("is_active") is True else None


def of_service_account(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """The subject under which a change of a service account needs dual control: more scopes, tables or addresses, or a
    later expiry. Reductions need one person."""
    gained = (
        set(after["scopes"]) - set(before.get("scopes", ()))
        or _widened(before.get("tables"), after["tables"])
        or _widened(before.get("addresses"), after["addresses"])
        or after["expires"] > before.get("expires", "")
    )
    return SERVICE_ACCOUNT if gained else None


def of_post(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """The subject under which a change of pit assignments needs dual control: an additional pit. A person without
    assignments is not restricted, so the first assignment reduces access and the end of the last one extends it."""
    earlier, later = (None if _unbounded(facts) else set(facts["pits"]) for facts in (before, after))
    gained = earlier is not None and (later is None or later - earlier)
    return POST if gained else None


def _unbounded(facts: Mapping[str, Any]) -> bool:
    return bool(facts["whole_floor"]) or not facts["pits"]


def _widened(before: Any, after: Any) -> bool:
    """Whether a list permits more than before. An empty list permits everything."""
    if not before:
        return before is None
    return not after or bool(set(after) - set(before))


def _roles(facts: Mapping[str, Any]) -> set[str]:
    return {role for role in (facts.get("role"), *(facts.get("further") or ())) if role}


_MAXIMA: Final = [name for name in AMOUNTS if name not in MINIMA]
_BOUNDS: Final = {"game", "options", "wager_limits", *_MAXIMA}
"""The settings that determine a table's maxima."""


def _raises_limits(
    before: Mapping[str, Any], after: Mapping[str, Any], limit_cents: int, set_to: Callable[[], Mapping[str, Any]]
) -> bool:
    """Whether any maximum of a table rises above both the limit and its previous value. For a new table, a seat maximum
    or table aggregate limit that is not set does not count."""
    if not after.keys() & _BOUNDS:
        return False
    if not before:
        maxima = effective_maxima(after, _wagers(after))
        return raises({}, {name: cents for name, cents in maxima.items() if cents < UNBOUNDED}, limit_cents)
    earlier, later = ({**set_to(), **change} for change in (before, after))
    wagers = _wagers(earlier) | _wagers(later)
    return raises(effective_maxima(earlier, wagers), effective_maxima(later, wagers), limit_cents)


def effective_maxima(settings: Mapping[str, Any], wagers: Iterable[str]) -> dict[str, int]:
    """The highest bet that a table's settings permit on each of these wagers, for a seat and for the table, in minor
    units. A wager without limits of its own has the table's maximum; a missing limit is unbounded."""
    most, own = settings["max_cents"], settings.get("wager_limits") or {}
    amounts = {name: settings.get(name) for name in _MAXIMA}
    maxima = {name: UNBOUNDED if cents is None else cents for name, cents in amounts.items()}
    return maxima | {WAGER + wager: own[wager][1] if wager in own else most for wager in wagers}


def _wagers(settings: Mapping[str, Any]) -> set[str]:
    limited = GAMES[settings["game"]].limited_wagers(settings["options"])
    return {*limited, *(settings.get("wager_limits") or ())}


def _formerly_raises(
    before: Mapping[str, Any], after: Mapping[str, Any], limit_cents: int, _: Callable[[], Mapping[str, Any]]
) -> bool:
    """The rule of releases up to 0.9.0, kept to verify their entries: no seat maximum, and only wagers that have limits
    of their own after the change."""
    uncapped = bool(before) and "cap_cents" in after and after["cap_cents"] is None
    return uncapped or raises(_highest(before), _highest(after), limit_cents)


def _highest(settings: Mapping[str, Any]) -> dict[str, int]:
    highest = {name: settings[name] for name in ("max_cents", "cap_cents") if settings.get(name) is not None}
    own = settings.get("wager_limits") or {}
    return highest | {WAGER + wager: most for wager, (_, most) in own.items()}


def _changes_take(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether the casino's take from a table changes. A new table without rake, time charge or commission changes
    nothing."""
    return any(name in after and (name in before or after[name]) for name in _TAKES)
