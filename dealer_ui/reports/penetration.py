"""How deep a shoe is dealt: what the cut card costs in time and gives away to a counter, for those who set up tables.

Read from results that are part of the product, so a page costs no more than any other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, TypeVar

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from dealer_ui.charts import plot
from dealer_ui.charts.axis import NUMBER, PER_CENT, Unit
from dealer_ui.charts.plot import Plot, PlotStep
from tables.maths.advantage.penetration import (
    SUBJECTS,
    Pace,
    PenetrationCell,
    Results,
    Subject,
    cards_behind,
    even,
    results,
    subject,
    tags_in_words,
)
from tables.maths.situation import Unknowable
from tables.refusals import Refused, sentence
from tables.reports.report import Column, Report, single_page

Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class PenetrationQuery:
    """What the page is asked for."""

    subject: Subject = SUBJECTS[0]
    decks: int = SUBJECTS[0].typical
    seats: int = SUBJECTS[0].seats[-1]
    spread: int = 10
    pace: Pace = field(default_factory=Pace)

    @property
    def measured(self) -> Results:
        """Of the game and wager that are asked for."""
        return results(self.subject.game, self.subject.wager)


@dataclass(frozen=True, slots=True)
class DepthRow:
    """A row of the list: one depth of the cut card."""

    cell: PenetrationCell
    query: PenetrationQuery

    @property
    def cards(self) -> int:
        """How many cards lie behind the cut card."""
        return cards_behind(self.cell.decks, self.cell.cut, self.query.subject.deck_size)

    @property
    def behind(self) -> str:
        """The part of the shoe behind the cut card, in per cent."""
        return _percent(self.cell.cut, 0)

    @property
    def usual(self) -> bool:
        """Whether the game comes with it."""
        return self.cell.cut == self.query.subject.usual

    @property
    def shuffling(self) -> str:
        """The part of the time that goes into shuffling."""
        return _percent(self.cell.shuffling(self.query.pace), 1)

    @property
    def an_hour(self) -> float:
        """Rounds dealt in an hour, shuffles included."""
        return self.cell.an_hour(self.query.pace)

    @property
    def positive(self) -> str:
        """The part of the rounds that begin with an edge for the seat."""
        return _percent(self.cell.positive, 2)

    @property
    def wins(self) -> str:
        """What a perfect counter wins in 100 rounds."""
        return _won(self.cell.wins(self.query.spread))

    @property
    def count_wins(self) -> str:
        """What the practical count wins in 100 rounds."""
        return _won(self.cell.count_wins(self.query.spread))

    @property
    def even(self) -> str:
        """From which spread on the perfect counter wins."""
        return even(self.cell.even, self.cell)

    @property
    def count_even(self) -> str:
        """From which spread on the practical count does."""
        return even(self.cell.count_even, self.cell)

    @property
    def says(self) -> str:
        """Which card count wins at this depth: a practical one, only a perfect one, or none."""
        if self.cell.count_wins(self.query.spread)[0] > 0:
            return "a practical count wins"
        return "only a perfect count wins" if self.cell.wins(self.query.spread)[0] > 0 else "no count wins"


def _percent(part: float, digits: int) -> str:
    return f"{100 * part:.{digits}f} %"


def _won(wins: tuple[float, float]) -> str:
    return f"{wins[0]:+.2f} ± {wins[1]:.2f}".replace("-", "−")


@require_GET
def penetration(request: HttpRequest) -> HttpResponse:
    """One shoe in full, and all shoes in the charts."""
    refused = ""
    try:
        query = _read_query(request)
    except Unknowable as refusal:
        query, refused = _usual(request), sentence(str(refusal))
    measured, game = query.measured, query.subject
    usual = measured.cell(query.decks, query.seats, game.usual)
    context = {
        "asked": query,
        "refused": refused,
        "subjects": SUBJECTS,
        "lines": [DepthRow(measured.cell(query.decks, query.seats, cut), query) for cut in reversed(game.cuts)],
        "wins": _plot(query, NUMBER, lambda cell: cell.wins(query.spread)[0]),
        "time": _plot(query, PER_CENT, lambda cell: 100 * cell.shuffling(query.pace)),
        "correlation": f"{usual.correlation:.3f}",
        "counts": any(measured.count.tags),
        "count": tags_in_words(measured).replace(": -", ": −"),
        "threshold": measured.count.threshold(query.decks),
        "measured": f"{measured.rounds:,}",
        "burn": measured.burn,
        "query": request.GET.urlencode(),
    }
    return render(request, "dealer_ui/pit/penetration.html", context, status=422 if refused else 200)


def read_query(request: HttpRequest) -> PenetrationQuery:
    """The shoe that is asked for. Raises Refused."""
    try:
        return _read_query(request)
    except Unknowable as refusal:
        raise Refused("unknown_shoe", f"{refusal}\n", 422) from None


SHOES_BY_DEPTH: Final = Report[PenetrationQuery, DepthRow](
    name=lambda query: f"cut-card-{query.subject.game}",
    permission=("tables.view_table",),
    columns=(
        Column("game", "query.subject.game"), Column("wager", "query.subject.wager"), Column("decks", "cell.decks"),
        Column("seats", "cell.seats"), Column("cut", "cell.cut"), Column("cards_behind", "cards"),
        Column("rounds_a_shoe", "cell.rounds"), Column("shuffling", lambda row: row.cell.shuffling(row.query.pace)),
        Column("rounds_an_hour", "an_hour"), Column("edge_with_the_seat", "cell.positive"),
        Column("perfect_counter", lambda row: row.cell.wins(row.query.spread)[0]),
        Column("perfect_counter_error", lambda row: row.cell.wins(row.query.spread)[1]),
        Column("wins_from", "cell.even"),
        Column("practical_count", lambda row: row.cell.count_wins(row.query.spread)[0]),
        Column("practical_count_error", lambda row: row.cell.count_wins(row.query.spread)[1]),
        Column("count_wins_from", "cell.count_even"),
    ),
    pages=lambda query: single_page([DepthRow(cell, query) for cell in query.measured.cells]),
)  # fmt: skip
"""Every shoe, by the spread and the seconds that are asked for. Wins are in lowest bets per 100 rounds."""


def _plot(query: PenetrationQuery, unit: Unit, value: Callable[[PenetrationCell], float]) -> Plot:
    """A line for each number of decks, from the shallowest shoe to the deepest; the marks have the chosen one."""
    measured, cuts = query.measured, query.subject.cuts[::-1]
    series = {decks: [value(measured.cell(decks, query.seats, cut)) for cut in cuts] for decks in query.subject.decks}
    top = plot.TOP
    panel = plot.lines(
        "",
        [(_decks(decks), line) for decks, line in series.items()],
        _decks(query.decks),
        unit=unit,
        top=top,
        height=280,
    )
    steps = [
        PlotStep(f"{cut:.0%} behind, {_decks(query.decks)}: {unit.say(round(Fraction(chosen), 2))}", f"{cut:.0%}")
        for cut, chosen in zip(cuts, series[query.decks], strict=True)
    ]
    return plot.plot([panel], steps)


def _decks(count: int) -> str:
    return f"{count} {'deck' if count == 1 else 'decks'}"


def _subject(request: HttpRequest) -> Subject:
    """The wager that is asked for, by its game and name. Raises Unknowable."""
    game, _, wager = request.GET.get("game", SUBJECTS[0].game).partition(" ")
    return subject(game, wager or None)


def _usual(request: HttpRequest) -> PenetrationQuery:
    """The default query for the requested game, or for the first game if the request names an unknown one."""
    try:
        chosen = _subject(request)
    except Unknowable:
        return PenetrationQuery()
    return PenetrationQuery(chosen, chosen.typical, chosen.seats[-1], 10 if chosen.lowest else 1)


def _read_query(request: HttpRequest) -> PenetrationQuery:
    """From the query. Raises Unknowable."""
    given, chosen = request.GET, _subject(request)
    usual = _usual(request)

    def number(name: str, usually: Number) -> Number:
        try:
            return type(usually)(given.get(name) or usually)
        except ValueError:
            raise Unknowable(f"{given[name][:40]!r} is no number of {name.replace('_', ' ')}") from None

    pace = Pace(
        number("round_seconds", usual.pace.round_seconds), number("shuffle_seconds", usual.pace.shuffle_seconds)
    )
    query = PenetrationQuery(
        chosen, number("decks", usual.decks), number("seats", usual.seats), number("spread", usual.spread), pace
    )
    query.measured.cell(query.decks, query.seats, chosen.usual).wins(query.spread)
    return query
