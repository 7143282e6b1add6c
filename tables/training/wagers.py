"""Random bets of the seats in a practice, consistent with the relations of the game's wagers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from tables.games.game import Wager
from tables.games.odds import HouseRules
from tables.games.protocol import Bet
from tables.training.chance import one_of

_UNITS: Final = (5, 10, 15, 20, 25, 40, 50, 75, 100, 200)
"""Bet sizes in chip units; side bets use the smaller half.

Some of them give no whole chips at five per cent, or at a half: those are the payouts that dealers get wrong.
"""
_PLACED: Final = {"needed": 0.9, "opposite": 0.5, "other": 0.4}


def placed(
    chance: Random, rules: HouseRules, seat: int, wagers: tuple[Wager, ...], steps: Mapping[str, int]
) -> Iterator[Bet]:
    """A seat's bets: at least one, and never both of two opposite ones. `steps`: `HouseScript.bet_steps`."""
    needed = {wager.needs for wager in wagers} | {wager.name for wager in wagers if wager.times > 1}
    own: list[Wager] = []
    for wager in wagers:
        case = "needed" if wager.name in needed else "opposite" if wager.opposite else "other"
        fits = wager.opposite not in {choice.name for choice in own} and (
            not wager.needs or wager.needs in {choice.name for choice in own}
        )
        if fits and chance.random() < _PLACED[case]:
            own.append(wager)
    alone = [wager for wager in wagers if not wager.needs]
    for wager in own or [one_of(chance, alone)]:
        is_main = wager is wagers[0] or wager.name in needed or bool(wager.opposite)
        units, step = one_of(chance, _UNITS if is_main else _UNITS[:5]), steps.get(wager.name, 1)
        yield Bet(seat, -(-units // step) * step * rules.unit, wager.name)
