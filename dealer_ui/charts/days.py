"""The daily win as a bar chart, one bar per gaming day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date

from dealer_ui.charts import plot
from dealer_ui.charts.axis import MONEY, amount, signed_amount
from dealer_ui.charts.plot import Plot, PlotStep


def wins(lines: Sequence[tuple[date, int, int]], address: Callable[[date], str]) -> Plot:
    """(day, win, drop), each with the address of its own figures."""
    values = [win for _, win, _ in lines]
    kinds = ["up" if win > 0 else "down" if win < 0 else "" for win in values]
    panel = plot.bars("Win", values, kinds, unit=MONEY, top=plot.TOP + plot.NAMED, height=170)
    labels = plot.sparse([str(day.day) for day, _, _ in lines])
    steps = [
        PlotStep(_says(*line), label, under=month, link=address(line[0]))
        for line, label, month in zip(lines, labels, _months([day for day, _, _ in lines], labels), strict=True)
    ]
    return plot.plot([panel], steps)


def _says(day: date, win_cents: int, drop_cents: int) -> str:
    return f"{day.day} {day:%b}: win {signed_amount(win_cents)}, drop {amount(drop_cents)}"


def _months(days: Sequence[date], labels: Sequence[str]) -> list[str]:
    """Each month's name, below the first of its days that bears a label."""
    first = {f"{day:%Y-%m}": day for day, label in reversed(list(zip(days, labels, strict=True))) if label}
    return [f"{day:%b}" if first.get(f"{day:%Y-%m}") == day else "" for day in days]
