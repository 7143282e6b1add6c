"""A sheet of any game as text: its options, and a line for each wager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tables.games.protocol import Money
from tables.maths.worth import Cost, Sheet, Worth

_WORDS: Final = {"standard_deviation": "deviation", "hit_frequency": "wins"}


def lines(sheet: Sheet) -> Iterator[str]:
    """The sheet, part by part."""
    yield f"{sheet.game.replace('_', ' ').title()}: what each wager is worth to the house, per unit of it"
    yield "Options: " + ", ".join(f"{name} {_spelled(value)}" for name, value in sheet.options.items())
    yield f"Cards: {_cards(sheet.composition)}"
    yield ""
    rows = list(_rows(sheet.wagers))
    width = max(len("wager"), *(len(name) for name, _ in rows)) + 2
    yield f"{'wager':<{width}}{'house edge':>14}{'deviation':>14}{'wins':>14}  method"
    for name, worth in rows:
        yield _row(f"{name:<{width}}", worth)
    if sheet.chart is not None:
        yield ""
        yield from _chart(sheet.chart)


def _cards(composition: Mapping[str, int]) -> str:
    counts = set(composition.values())
    if len(counts) == 1:
        return f"{counts.pop()} of each of {len(composition)}"
    return ", ".join(f"{card}: {count}" for card, count in composition.items())


def _rows(wagers: Mapping[str, Worth], indent: str = "") -> Iterator[tuple[str, Worth]]:
    for name, worth in wagers.items():
        yield indent + name, worth
        yield from _rows(worth.beside, f"{indent}  ")


def _row(name: str, worth: Worth) -> str:
    error = "" if worth.standard_error is None else f", standard error {worth.standard_error:.5%}"
    error += "".join(
        f", standard error of the {_WORDS[number]} {size:.1g}" for number, size in worth.standard_errors.items()
    )
    return (
        f"{name}{worth.house_edge:>13.5%} {worth.standard_deviation:>13.6f} {worth.hit_frequency:>13.5%}"
        f"  {worth.method}{error}"
    )


def rounding(words: str, costs: Mapping[str, Cost], money: Money) -> Iterator[str]:
    """The cost of rounding to the player at a table, as a fraction of the bet: at the least bet, and over all bets."""
    if not costs:
        yield f"{words}." if words else "Every bet is paid exactly."
        return
    yield f"{words or 'The half that the casino takes is rounded down to whole chips'}."
    yield "That costs the player, on average and as a part of the bet (below zero: the casino):"
    for wager, cost in costs.items():
        least = money(cost.least_cents)
        yield f"  {wager}: {cost.at_least:.5%} of the least bet of {least}, {cost.over_all:.5%} of all bets together"


def _chart(chart: Mapping[str, Any]) -> Iterator[str]:
    """The assumed play of the seat: single decisions, or tables of them with a row for each hand."""
    for name, value in chart.items():
        if not isinstance(value, Mapping):
            yield f"{name.replace('_', ' ').capitalize()}: {_spelled(value)}"
            continue
        yield f"{name.replace('_', ' ').capitalize()}:"
        for row, cells in value.items():
            yield f"  {row:<6}{_cells(cells)}"


def _cells(cells: Any) -> str:
    if isinstance(cells, Mapping):
        return " ".join(f"{upcard}:{cell:<3}" for upcard, cell in cells.items())
    return cells if isinstance(cells, str) else " ".join(f"{cell:<3}" for cell in cells)


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "/".join(map(str, value)) or "none"
    return str(value)
