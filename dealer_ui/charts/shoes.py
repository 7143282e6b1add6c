"""A shoe after the fact: the player's edge before each round, and below it a panel of bets for each seat."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from dealer_ui.charts import plot
from dealer_ui.charts.axis import MONEY, PER_CENT, Unit, amount
from dealer_ui.charts.plot import Panel, Plot, PlotStep

A_PER_CENT: Final = 10**13
"""One per cent in the unit of a shoe audit's edge, 10^-15."""
EDGE: Final = Unit(lambda edge: PER_CENT.say(edge / A_PER_CENT))


def edges(rounds: Sequence[dict[str, Any]]) -> Plot | None:
    """The plot of a shoe's audited rounds; None without any."""
    if not rounds:
        return None
    top = plot.TOP + plot.NAMED
    panels = [plot.stairs("The player's edge", [-row["edge"] for row in rounds], unit=EDGE, top=top, height=140)]
    for seat in sorted({seat for row in rounds for seat, _, _ in row["bets"]}):
        panels.append(_bets(seat, rounds, plot.below(panels[-1])))
    labels = plot.sparse([f"{row['round']:,}" for row in rounds])
    return plot.plot(panels, [PlotStep(_says(row), label) for row, label in zip(rounds, labels, strict=True)])


def _bets(seat: int, rounds: Sequence[dict[str, Any]], top: float) -> Panel:
    bets = [next((bet for player, bet, _ in row["bets"] if player == seat), 0) for row in rounds]
    kinds = [_kind(bet, row["edge"]) for bet, row in zip(bets, rounds, strict=True)]
    return plot.bars(f"Seat {seat}", bets, kinds, unit=MONEY, top=top, height=48)


def _kind(bet_cents: int, edge: int) -> str:
    if not bet_cents:
        return ""
    return "favoured" if edge < 0 else "bet"


def _says(row: dict[str, Any]) -> str:
    edge = Fraction(-row["edge"], A_PER_CENT)
    bets = [f"seat {seat} bet {amount(bet)}" for seat, bet, _ in row["bets"]]
    signed = f"{float(edge):+.2f}".replace("-", "−")
    return ", ".join([f"Round {row['round']}: {signed} %", *bets])
