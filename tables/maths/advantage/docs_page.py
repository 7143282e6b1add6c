"""The tables of docs/maths.md: computed, never typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import sqrt
from typing import Final

from tables.games.cards import RANKS
from tables.games.rocket import Rules
from tables.maths import par
from tables.maths.advantage.penetration import CUTS, Pace, PenetrationCell, even, results, tags_in_words
from tables.maths.advantage.rocket_simulation import Table, deal, seed_of
from tables.maths.par import ParSheet, percent
from tables.maths.rocket_reference import Exact
from tables.maths.rocket_value import solve
from tables.maths.situation import DECKS, NEVER_FOLD, OPTIMAL, Strategy, fresh

START: Final = "<!-- computed: ./run manage par --docs -->"
END: Final = "<!-- end -->"
STRATEGIES: Final = (OPTIMAL, NEVER_FOLD, *(Strategy(limit) for limit in range(1, 11)))
SIMULATED_ROUNDS: Final = 1_000_000
"""Rounds for each row of the table of simulated tables."""
SEED: Final = 2026


def rewritten(page: str) -> str:
    """The page with recomputed tables."""
    head, _, tail = page.partition(START)
    tables = "\n".join(_tables())
    return f"{head}{START}\n\n{tables}\n\n{END}{tail.partition(END)[2]}"


@cache
def _sheet(decks: int, strategy: Strategy) -> ParSheet:
    return ParSheet(solve(fresh(decks), strategy))


def _tables() -> Iterator[str]:
    for heading, table in (
        ("House edge of a full shoe, in percent of the bet, by strategy", _edges()),
        ("Best play", _best_play()),
        ("One deck, in rational numbers", _rational_edge()),
        ("First decisions that fold (the seat's card - the dealer's), best play", _folds()),
        ("Probability of each outcome in percent, best play", _outcomes()),
        ("Whole tables, simulated", _simulation()),
        ("The cut card: six seats, a fifth of the shoe behind it", _cut_card()),
        ("The cut card by depth: six seats", _depths()),
        ("Tags of a count by the largest, six decks", _tags()),
    ):
        yield from (f"### {heading}", "", *table, "")
    yield "The same numbers with every digit: `./run manage par rocket --decks N --json` and"
    yield "`./run manage penetration --cut all --seats 1-6 --json`."


def _row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def _head(cells: Sequence[object]) -> tuple[str, str]:
    return _row(cells), "|" + "---|" * len(cells)


def _edges() -> Iterator[str]:
    yield from _head(["strategy", *(_decks(decks) for decks in DECKS)])
    for strategy in STRATEGIES:
        yield _row([f"`{strategy.name}`", *(f"{_sheet(decks, strategy).house_edge:.6%}"[:-1] for decks in DECKS)])


def _decks(decks: int) -> str:
    return "1 deck" if decks == 1 else f"{decks} decks"


def _best_play() -> Iterator[str]:
    yield from _head(
        [
            "decks",
            "house edge",
            "standard deviation",
            "N0, rounds",
            "rounds to 95 %",
            "bankroll for a ruin of 1 %, bets",
        ]
    )
    for decks in DECKS:
        sheet = _sheet(decks, OPTIMAL)
        yield _row(
            [
                decks,
                f"{sheet.house_edge:.12f}",
                f"{sheet.standard_deviation:.12f}",
                f"{sheet.n0 or 0:,.1f}",
                f"{sheet.rounds_to_95 or 0:,.1f}",
                f"{sheet.bankroll(0.01) or 0:.2f}",
            ]
        )


@cache
def one_deck() -> Fraction:
    """The house edge of best play from a full deck."""
    return -Exact(fresh(1), OPTIMAL).value() / 10


def _rational_edge() -> Iterator[str]:
    edge, solver_edge = one_deck(), _sheet(1, OPTIMAL).house_edge
    yield f"The house edge of best play from a full deck is exactly {edge.numerator} / {edge.denominator}."
    yield f"The double nearest to it is {float(edge)!r}; in doubles the solver finds {solver_edge:.15f}."


def _folds() -> Iterator[str]:
    yield from _head(["decks", "folds"])
    for decks in DECKS:
        cells = (cell for cell in _sheet(decks, OPTIMAL).first() if cell.folds)
        yield _row([decks, ", ".join(f"{cell.player}-{cell.dealer}" for cell in cells)])


def _outcomes() -> Iterator[str]:
    yield from _head(["outcome", "rank", "seat wins, tenths", *(_decks(decks) for decks in DECKS)])
    solutions = [_sheet(decks, OPTIMAL).solution for decks in DECKS]
    ends = {end for solution in solutions for end in solution.outcomes}
    for outcome, rank in sorted(ends, key=lambda end: (par.net(*end) > 0, end)):
        shares = (f"{solution.outcomes.get((outcome, rank), 0.0):.6%}"[:-1] for solution in solutions)
        yield _row([outcome.replace("_", " "), rank, f"{par.net(outcome, rank):+d}", *shares])


def _simulation() -> Iterator[str]:
    yield f"Dealt to the cut card, {SIMULATED_ROUNDS:,} rounds a row; every seat plays the best play of a full shoe."
    yield from (
        "",
        *_head(["decks", "seats", "exact edge", "simulated edge", "shoes out in 1,000 rounds", "correlation"]),
    )
    for decks, seats in ((1, 1), (1, 3), (1, 6), (2, 6), (6, 1), (6, 6), (8, 6)):
        solution = _sheet(decks, OPTIMAL).solution
        tally = deal(Table(Rules(decks), seats, solution), seed_of(SEED, decks * 10 + seats), SIMULATED_ROUNDS)
        mean, variance = tally.table()
        seat_variances = sum(tally.seat(seat)[1] for seat in range(1, seats + 1))
        error = 1.96 * sqrt(variance / SIMULATED_ROUNDS) / seats
        yield _row(
            [
                decks,
                seats,
                percent(solution.house_edge, 3),
                f"{percent(-mean / seats, 3)} ± {100 * error:.3f}",
                f"{1000 * tally.refills / SIMULATED_ROUNDS:.2f}",
                f"{(variance - seat_variances) / (seat_variances * (seats - 1)):.3f}" if seats > 1 else "",
            ]
        )


SPREAD: Final = 10


def _cut_card() -> Iterator[str]:
    study, pace = results(), Pace()
    yield f"A round of {pace.round_seconds:g} seconds, a shuffle of {pace.shuffle_seconds:g}; bets of 1 to {SPREAD}."
    yield ""
    yield from _head(
        [
            "decks",
            "rounds a shoe",
            "shuffling",
            "rounds with the edge at the seat",
            "perfect counter, 100 rounds",
            "wins from",
            "practical count, 100 rounds",
            "wins from",
            "above, per deck",
            "correlation",
        ]
    )
    for decks in DECKS:
        cell = study.cell(decks, 6, 0.2)
        yield _row(
            [
                decks,
                f"{cell.rounds:.2f}",
                percent(cell.shuffling(pace), 1),
                f"{percent(cell.positive, 2)} ± {100 * cell.positive_error:.2f}",
                "{:+.3f} ± {:.3f}".format(*cell.wins(SPREAD)),
                even(cell.even, cell),
                "{:+.3f} ± {:.3f}".format(*cell.count_wins(SPREAD)),
                even(cell.count_even, cell),
                study.count.threshold(decks),
                f"{cell.correlation:.4f}",
            ]
        )
    yield ""
    yield f"The count: {tags_in_words(study)}."


def _depths() -> Iterator[str]:
    rows: tuple[tuple[str, Callable[[PenetrationCell], str]], ...] = (
        ("rounds a shoe", lambda cell: f"{cell.rounds:.1f}"),
        ("rounds with the edge at the seat", lambda cell: percent(cell.positive, 2)),
        (f"perfect counter, 100 rounds of 1 to {SPREAD}", lambda cell: f"{cell.wins(SPREAD)[0]:+.2f}"),
        ("perfect counter wins from", lambda cell: even(cell.even, cell)),
        ("practical count wins from", lambda cell: even(cell.count_even, cell)),
    )
    yield from _head(["", "decks", *(f"{cut:.0%} behind" for cut in CUTS)])
    for heading, value in rows:
        for decks in DECKS:
            yield _row([heading, decks, *(value(results().cell(decks, 6, cut)) for cut in CUTS)])


def _tags() -> Iterator[str]:
    yield from _head(["largest", *RANKS, "correlation with the exact edge"])
    for largest, count in enumerate(results().best_tags, 1):
        yield _row([largest, *(f"{tag:+d}" if tag else "" for tag in count.tags), f"{count.correlation:.4f}"])
