"""Raising a minimum while players are seated: which changes need notice, whether notice was given, and which seats keep
the old minimum. Pure; the floor and the verifier call the same functions.

Maryland requires the notice in COMAR 36.05.03.21. Ohio lets seated players keep the old minimum (OAC 3772-11-04).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import structs

from tables.games.protocol import HeldMinimum
from tables.log.limit_plans import MINIMA, WAGER, Layer, Layers, NextChange, Takes, Value, Values, values_of
from tables.log.state import Announced, TableState

MINIMUM: Final = "min_cents"
ROUNDS_MISSED: Final = 3
"""The number of consecutive rounds without a bet after which a seat counts as left. A player may sit out one or two."""


UNTOLD: Final = "it leaves out which notice the house gives, which entries before it say"
"""The fault of an entry that raises a minimum without naming the notice period."""


# --- What takes notice -------------------------------------------------------------------------------------------


def raised(before: Values, after: Values) -> dict[str, int]:
    """The limits whose minimum rises, with the new minimum in cents. A wager without limits of its own has the table's
    minimum."""
    names = [name for name in {**before, **after} if name in MINIMA or name.startswith(WAGER)]
    least = {name: (_least(before, name), _least(after, name)) for name in sorted(names)}
    return {name: late for name, (early, late) in least.items() if late > early}


def _least(values: Values, name: str) -> int:
    value = values.get(name, values.get(MINIMUM, 0))
    return value if isinstance(value, int) else value[0]


def seated(state: TableState) -> tuple[int, ...]:
    """The seats with players: those with chips, or those dealt in to the latest round since the table opened."""
    if not state.is_open:
        return ()
    if state.stacks:
        return tuple(sorted(state.stacks))
    current = state.round
    if current is None or current.first_seq < state.opened_seq:
        return ()
    return tuple(seat.seat for seat in current.dealt_in)


def has_players(state: TableState, *, by_count: bool) -> bool:
    """Whether there are players to whom notice is due. An open non-tracked table always has players, because its seats
    are unknown."""
    return state.is_open if by_count else bool(seated(state))


def covers(announced: Announced | None, raises: Mapping[str, int], moment: datetime) -> bool:
    """Whether notice of every raised minimum was given and has expired."""
    if announced is None or announced.effective > moment:
        return False
    return all(least <= announced.least.get(name, 0) for name, least in raises.items())


def fault(state: TableState, before: Values, after: Values, *, moment: datetime, minutes: int, by_count: bool) -> str:
    """The fault in setting a table to other limits; empty if there is none."""
    raises = raised(before, after)
    if not (raises and minutes and has_players(state, by_count=by_count)) or covers(state.announced, raises, moment):
        return ""
    return f"it raises the {min(raises)} while players are seated, and their notice was not given or is not over"


# --- What is due -------------------------------------------------------------------------------------------------


def due_now(
    set_to: Values, layers: Layers, state: TableState, *, moment: datetime, minutes: int, by_count: bool
) -> tuple[dict[str, Value], dict[str, int]]:
    """The values that the plans require now, and the minimums that wait for notice. Changes that take effect with the
    next shoe wait until then."""
    due, values = values_of(layers), dict(set_to)
    for name in {**set_to, **due}:
        if name not in layers or takes(layers[name]) == "round" or between_shoes(state):
            _copy_limit(values, name, due)
    raises = raised(set_to, values)
    if not fault(state, set_to, values, moment=moment, minutes=minutes, by_count=by_count):
        return values, {}
    for name in raises:
        _copy_limit(values, name, set_to)
    return values, raises


def between_shoes(state: TableState) -> bool:
    """Whether there is no shoe, or no round was dealt from it yet."""
    shoe = state.shoe
    return shoe is None or shoe.stage != "ready" or state.dealt_before is None


def takes(layer: Layer) -> Takes:
    """Whether a layer takes effect with the next round or with the next shoe."""
    return layer.plan.takes if layer.plan else "round"


def _copy_limit(values: dict[str, Value], name: str, source: Values) -> None:
    if name in source:
        values[name] = source[name]
    else:
        values.pop(name, None)


def to_announce(
    state: TableState,
    values: Values,
    waiting: Mapping[str, int],
    changes: Iterable[NextChange],
    *,
    moment: datetime,
    minutes: int,
) -> tuple[dict[str, int], datetime] | None:
    """The minimums that must be announced at an open table, and when they take effect: those waiting for notice, or
    those of the first coming change that raises one, once its notice is due. None if there are none."""
    if not (state.is_open and minutes):
        return None
    notice = timedelta(minutes=minutes)
    least, earliest = dict(waiting), moment
    for change in sorted(changes, key=lambda change: change.moment):
        if not least and change.moment <= moment + notice:
            by_round = {name: layer for name, layer in change.layers.items() if takes(layer) == "round"}
            least, earliest = raised(values, {**values, **values_of(by_round)}), change.moment
    if not least:
        return None
    present = state.announced
    if present is not None and dict(present.least) == least and (waiting or present.effective >= earliest):
        return least, present.effective
    return least, max(earliest, moment + notice)


# --- Who keeps the old minimum -----------------------------------------------------------------------------------


def kept_after(state: TableState, before: Values, minimums: Mapping[str, Any]) -> dict[str, Any]:
    """The settings for seats that keep the old minimum after a raise: each occupied seat with its lowest minimum so
    far."""
    least = _least(before, MINIMUM)
    older = {keeper.seat: keeper.min_cents for keeper in kept_in(minimums, state)}
    seats = {str(seat): min(least, older.get(seat, least)) for seat in seated(state)}
    return {"from_round": first_round(state), "seats": seats} if seats else {}


def first_round(state: TableState) -> int:
    """The number of the next round to be opened."""
    if state.round is not None and state.round_open:
        return state.round.number + 1
    return state.next_number


def kept_in(minimums: Mapping[str, Any], state: TableState) -> tuple[HeldMinimum, ...]:
    """The seats that keep an older minimum in the next round: those that the settings name at first, and from then on
    those that have not left since."""
    before = state.round
    if not minimums or before is None or before.first_seq < state.opened_seq:
        return ()
    number = first_round(state)
    if number <= minimums["from_round"]:
        return tuple(HeldMinimum(int(seat), cents) for seat, cents in sorted(minimums["seats"].items()))
    limits = before.bet_limits
    present = (limits.kept or ()) if limits else ()
    if before.voided or before.number == number:
        return tuple(present)
    bettors = {seat.seat for seat in before.dealt_in}
    counted = [structs.replace(keeper, missed=0 if keeper.seat in bettors else keeper.missed + 1) for keeper in present]
    return tuple(keeper for keeper in counted if keeper.missed < ROUNDS_MISSED)
