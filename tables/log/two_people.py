"""What takes two people: one proposes it, another approves. Pure: the floor and a proof ask the same functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from tables.log.house_terms import ALWAYS_TWO, MATTERS, Values

COMMAND_LINE: Final = "the command line"
"""Who takes on operators of a house in which nobody is left to approve; whoever sits there owns the machine."""

_TAKES: Final = ("rake_permille", "rake_cap_cents", "time_charge_cents", "marks_commission")


SERVICE_ACCOUNT: Final = "service_account"
PLAN: Final = "limit_plan"
POST: Final = "post"
_TITLES: Final = {SERVICE_ACCOUNT: "What a program may do", PLAN: "A limit plan", POST: "Who runs which pit"}
_LIKE: Final = {SERVICE_ACCOUNT: "staff", PLAN: "limits", POST: "staff"}
"""Matters that take two people where another does: access is access, whoever has it, and limits are limits."""


def needed(matter: str, terms: Values) -> bool:
    """Whether a matter takes two people under these terms of the house."""
    matter = _LIKE.get(matter, matter)
    return bool(terms["two_people"]) and (matter in ALWAYS_TWO or matter in terms["two_people_for"])


def title_of(matter: str) -> str:
    return MATTERS.get(matter) or _TITLES.get(matter) or matter.replace("_", " ")


def of_plan(
    before: Mapping[str, Any], after: Mapping[str, Any], terms: Values, beneath: Callable[[], Mapping[str, int]]
) -> str | None:
    """The matter for which a version of a limit plan takes two people: any maximum lies above the limit, and is higher
    than it was. Either the version sets it so, or it sets it elsewhere or at other times; or it leaves a maximum to
    what lies beneath, and that is so high. None where it takes one. ``before`` is empty for a new plan. ``beneath``:
    for each maximum of the version before, the highest that lies beneath it; asked where one is left."""
    if not needed(PLAN, terms):
        return None
    is_same_place = all(before.get(name) == after.get(name) for name in _PLACE)
    earlier, later = (_highest_planned(values.get("values") or {}) for values in (before, after))
    limit = int(terms["two_people_limit_cents"])
    if any(cents > limit and cents > (earlier.get(name, 0) if is_same_place else 0) for name, cents in later.items()):
        return PLAN
    names_left = earlier.keys() - (later.keys() if _reaches(before, after) else set())
    highest = beneath() if names_left else {}
    return PLAN if any(highest.get(name, 0) > max(limit, earlier[name]) for name in names_left) else None


_PLACE: Final = ("scope", "of", "schedule")
"""What says where and when a plan holds."""


def _reaches(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a version holds wherever and whenever the one before it does: it may be an event that lasts longer."""
    if any(before.get(name) != after.get(name) for name in ("scope", "of")):
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
    """The limits of a plan that bound bets from above. What only a minimum bounds, bounds nothing."""
    highest = {name: value[1] if isinstance(value, tuple | list) else value for name, value in values.items()}
    return {name: cents for name, cents in highest.items() if name != "min_cents"}


def of_table(before: Mapping[str, Any], after: Mapping[str, Any], terms: Values) -> str | None:
    """The matter for which a change of a table's settings takes two people; None where it takes one. ``before`` is
    empty for a new table: it pays by its game's options, whatever they are."""
    matters = {
        "limits": _raises_limits(before, after, terms["two_people_limit_cents"]),
        "take": _changes_take(before, after),
        "pays": "options" in after,
    }
    return next((matter for matter, concerned in matters.items() if concerned and needed(matter, terms)), None)


def of_staff(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """The same of somebody who works here: what they may do more, and that they may again. Anybody can be barred by
    one, and works by themselves in another of the roles that they were given."""
    gained = _roles(after) - _roles(before)
    return "staff" if gained or after.get("is_active") is True else None


def of_service_account(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """The same of a program: that it may do more, at more tables, from more places, or for longer. Whatever takes
    something away is done by one."""
    gained = (
        set(after["scopes"]) - set(before.get("scopes", ()))
        or _widened(before.get("tables"), after["tables"])
        or _widened(before.get("addresses"), after["addresses"])
        or after["expires"] > before.get("expires", "")
    )
    return SERVICE_ACCOUNT if gained else None


def of_post(before: Mapping[str, Any], after: Mapping[str, Any]) -> str | None:
    """The same of who runs which pit: that somebody may run more. Whoever has no post is bounded by none, so the first
    one takes away, and the last one that ends gives back."""
    earlier, later = (None if _unbounded(facts) else set(facts["pits"]) for facts in (before, after))
    gained = earlier is not None and (later is None or later - earlier)
    return POST if gained else None


def _unbounded(facts: Mapping[str, Any]) -> bool:
    return bool(facts["whole_floor"]) or not facts["pits"]


def _widened(before: Any, after: Any) -> bool:
    """Whether a list has more than before; an empty one stands for everything."""
    if not before:
        return before is None
    return not after or bool(set(after) - set(before))


def _roles(facts: Mapping[str, Any]) -> set[str]:
    return {role for role in (facts.get("role"), *(facts.get("further") or ())) if role}


def _raises_limits(before: Mapping[str, Any], after: Mapping[str, Any], limit_cents: int) -> bool:
    """Whether any maximum comes to lie higher than it was, and above the limit."""
    highest = _highest(before)
    raised = {
        place: cents
        for place, cents in _highest(after).items()
        if cents > limit_cents and cents > highest.get(place, 0)
    }
    uncapped = bool(before) and "cap_cents" in after and after["cap_cents"] is None
    return bool(raised) or uncapped


def _highest(settings: Mapping[str, Any]) -> dict[str, int]:
    highest = {name: settings[name] for name in ("max_cents", "cap_cents") if settings.get(name) is not None}
    own = settings.get("wager_limits") or {}
    return highest | {f"wager {wager}": most for wager, (_, most) in own.items()}


def _changes_take(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """A new table that takes nothing changes nothing."""
    return any(name in after and (name in before or after[name]) for name in _TAKES)
