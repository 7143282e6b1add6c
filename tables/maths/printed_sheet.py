"""The PAR sheet as one self-contained HTML page, for a regulator's file or a printer."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from tables.games.cards import RANKS
from tables.maths import par
from tables.maths.par import FirstDecision, ParSheet, percent
from tables.maths.rocket_value import DEALER_RANKS

_SIDE: Final = 44
"""Size of a square of the chart, and of the space below a bar, in pixels."""
_BAR: Final = 32
_STYLE: Final = """
:root { color-scheme: light; --ink: #1c2430; --pale: #5b6675; --line: #d5dae1; --fold: #b3541e; --hit: #1f6f8b; }
* { box-sizing: border-box; }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: #fff; max-width: 60rem; margin: 2rem auto;
  padding: 0 1.25rem; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; } p { margin: .25rem 0; }
.pale { color: var(--pale); }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: .75rem 1.5rem;
  margin: 1.25rem 0; }
dt { color: var(--pale); font-size: .85rem; } dd { margin: 0; font-size: 1.15rem; }
table { border-collapse: collapse; } th { text-align: left; font-weight: 600; }
th, td { padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); } td.n, th.n { text-align: right; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
svg .on { fill: #fff; font-weight: 600; } svg .small { font-size: 10px; }
.fold { fill: var(--fold); } .hit { fill: var(--hit); }
.none { fill: #eef0f3; }
section { break-inside: avoid; }
@page { size: A4; margin: 15mm 16mm;
  @bottom-right { content: counter(page) " / " counter(pages); font-size: 8pt; } }
@media print {
  body { margin: 0; padding: 0; max-width: none; font-size: 9pt; line-height: 1.35; print-color-adjust: exact; }
  h1 { font-size: 15pt; } h2 { font-size: 11pt; margin: 5mm 0 1mm; break-after: avoid; }
  dd { font-size: 10pt; } dt { font-size: 8pt; }
  dl { grid-template-columns: repeat(3, auto); gap: 2mm 8mm; margin: 3mm 0; }
  th, td { padding: .5mm 4mm .5mm 0; } thead { display: table-header-group; }
  svg.chart { height: 80mm; width: auto; } svg.bars { height: 44mm; width: auto; }
}
"""


def page(sheet: ParSheet, bankroll: float | None = None) -> str:
    """The whole page, with its style in it: it loads nothing."""
    situation, solution = sheet.solution.situation, sheet.solution
    title = f"Rocket: PAR sheet, {situation.decks} {'deck' if situation.decks == 1 else 'decks'}"
    counts = ", ".join(f"{rank}: {count}" for rank, count in zip(RANKS, situation.unseen, strict=True))
    parts = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>',
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body>',
        f"<h1>{escape(title)}</h1>",
        f"<p>Of one bet. Strategy: {solution.strategy.name}. Burn: {situation.burn}.</p>",
        f'<p class="pale">Unseen cards by rank: {counts}.</p>',
        _worth(sheet),
        _section("First decision", _LEGEND, chart(sheet)),
        _section("Results of a bet", _RESULTS, bars(sheet)),
        _section("Later decisions that fold", _LATER, _later(sheet)),
        _section("Outcomes", "", _outcomes(sheet)),
        _section("Hold with 95 % confidence", _HOLD, _hold(sheet)),
        _section("Risk of ruin", _RUIN, _ruin(sheet, bankroll)),
        "</body></html>",
    )
    return "\n".join(parts)


_LEGEND: Final = (
    "The seat's card down, the dealer's across: F fold, H hit. Below the letter: what the other way would cost, in"
    " hundredths of the bet."
)
_RESULTS: Final = "Probability of each result, in percent. Left of the middle the seat loses."
_LATER: Final = "Cards on each side down, cost of a fold in tenths of the bet across."
_HOLD: Final = "For equal bets whose results do not hang together. Hold is the win as a part of all bets."
_RUIN: Final = "For single bets for ever. For several seats at a time, divide the bankroll by their number."


def _section(heading: str, note: str, body: str) -> str:
    paragraph = f'<p class="pale">{note}</p>' if note else ""
    return f"<section><h2>{heading}</h2>{paragraph}{body}</section>"


def _worth(sheet: ParSheet) -> str:
    most, chance = sheet.exposure
    facts = {
        "House edge": f"{percent(sheet.house_edge)} of the bet",
        "Standard deviation": f"{sheet.standard_deviation:.6f} bets",
        "N0": par.rounds(sheet.n0),
        "Rounds to 95 % confidence": par.rounds(sheet.rounds_to_95),
        "Exposure": f"{most:.1f} of the bet, in {percent(chance, 2)} of rounds",
    }
    return f"<dl>{''.join(f'<div><dt>{name}</dt><dd>{value}</dd></div>' for name, value in facts.items())}</dl>"


def chart(sheet: ParSheet) -> str:
    """The first decisions as an SVG drawing: a square for each pair of cards."""
    cells = {(cell.player, cell.dealer): cell for cell in sheet.first()}
    width, height = _SIDE * (len(DEALER_RANKS) + 1), _SIDE * (len(RANKS) + 1)
    parts = [_svg("chart", width, height, "Chart of first decisions")]
    for column, dealer in enumerate(DEALER_RANKS, 1):
        parts.append(_text(_SIDE * column + _SIDE / 2, _SIDE * 0.7, dealer))
        parts += [_square(column, row, cells.get((rank, dealer))) for row, rank in enumerate(RANKS, 1)]
    parts += [_text(_SIDE * 0.7, _SIDE * row + _SIDE * 0.6, rank) for row, rank in enumerate(RANKS, 1)]
    return "".join((*parts, "</svg>"))


def _square(column: int, row: int, cell: FirstDecision | None) -> str:
    x, y = _SIDE * column, _SIDE * row
    kind = "none" if cell is None else "fold" if cell.folds else "hit"
    square = f'<rect class="{kind}" x="{x + 1}" y="{y + 1}" width="{_SIDE - 2}" height="{_SIDE - 2}" rx="4"/>'
    if cell is None:
        return square
    # Where the strategy does not play best, the other way would gain: its cost is below 0.
    cost = cell.choice.mistake if (cell.choice.best == "fold") == cell.folds else -cell.choice.mistake
    letter = _text(x + _SIDE / 2, y + _SIDE * 0.47, par.letter(cell), "on")
    return f"{square}{letter}{_text(x + _SIDE / 2, y + _SIDE * 0.8, f'{10 * cost:.1f}', 'on small')}"


def bars(sheet: ParSheet) -> str:
    """The distribution of what a seat wins, from -10 to 10 tenths of its bet, as an SVG drawing."""
    chances = sheet.solution.distribution
    width, height, tallest = _BAR * 21, 180, max(chances.values())
    parts = [_svg("bars", width, height + 40, "Results of a bet")]
    for column, tenths in enumerate(range(-10, 11)):
        tall = height * chances.get(tenths, 0.0) / tallest
        x, kind = _BAR * column, "fold" if tenths < 0 else "hit"
        parts.append(
            f'<rect class="{kind}" x="{x + 3}" y="{height + 18 - tall:.1f}" width="{_BAR - 6}" height="{tall:.1f}"/>'
        )
        if chances.get(tenths, 0.0) > 0:
            parts.append(_text(x + _BAR / 2, height + 13 - tall, f"{100 * chances[tenths]:.1f}", "small"))
        parts.append(_text(x + _BAR / 2, height + 33, f"{tenths / 10:+.1f}" if tenths else "0", "small"))
    return "".join((*parts, "</svg>"))


def _svg(kind: str, width: int, height: int, label: str) -> str:
    return f'<svg class="{kind}" viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{label}">'


def _text(x: float, y: float, text: object, kind: str = "") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{text}</text>'


def _table(head: tuple[str, ...], rows: Iterator[tuple[object, ...]], words: int = 0) -> str:
    """An HTML table; all columns but the first `words` are numbers, aligned to the right."""
    kinds = ["" if column < words else ' class="n"' for column in range(len(head))]
    top = "".join(f"<th{kind}>{cell}</th>" for kind, cell in zip(kinds, head, strict=True))
    body = (
        f"<tr>{''.join(f'<td{kind}>{cell}</td>' for kind, cell in zip(kinds, row, strict=True))}</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{''.join(body)}</tbody></table>"


def _later(sheet: ParSheet) -> str:
    folds = {(later.cards, later.cost): later.folds for later in sheet.later()}
    if not folds:
        return "<p>None can be reached.</p>"
    costs = sorted({cost for _, cost in folds})
    rows = (
        (cards, *(percent(folds[cards, cost], 1) if (cards, cost) in folds else "" for cost in costs))
        for cards in sorted({cards for cards, _ in folds})
    )
    return _table(("cards", *map(str, costs)), rows)


def _outcomes(sheet: ParSheet) -> str:
    rows = (
        (outcome.replace("_", " "), rank, f"{win:+.1f}", percent(chance, 6), percent(-win * chance, 6))
        for (outcome, rank), chance in sheet.solution.outcomes.items()
        for win in [par.net(outcome, rank) / 10]
    )
    return _table(("outcome", "rank", "seat wins, bets", "probability", "to the edge"), rows, words=1)


def _hold(sheet: ParSheet) -> str:
    rows = ((f"{count:,}", *map(percent, sheet.hold(count))) for count in par.ROUNDS)
    return _table(("bets", "from", "to"), rows)


def _ruin(sheet: ParSheet, bankroll: float | None) -> str:
    rows = (
        (percent(risk, 1), "none is enough" if bets is None else f"{bets:,.1f}")
        for risk in par.RISKS
        for bets in [sheet.bankroll(risk)]
    )
    table = _table(("risk of at most", "bankroll, bets"), rows)
    if bankroll is None:
        return table
    ruin = sheet.ruin(bankroll)
    return f"<p>With {bankroll:,g} bets: between {ruin.least:.3g} and {ruin.most:.3g}.</p>{table}"
