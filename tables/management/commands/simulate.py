"""``manage.py simulate``: random rounds of a game on all cores, compared with the exact value.

For Rocket it deals whole tables, and an interrupted run can be resumed.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, _ArgumentGroup
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from django.core.management.base import BaseCommand, CommandError

from tables.games.rocket import Rules
from tables.refusals import sentence

if TYPE_CHECKING:
    from tables.maths.advantage.rocket_simulation import RocketTally, Table
    from tables.maths.worth import Tally as WagersTally

Progress = Callable[[int, int], None]
"""Called with how many chunks are dealt, and of how many."""
WHOLE_TABLES: Final = "rocket"
"""The game that is dealt to several seats out of one shoe after another."""
OF_ROCKET: Final[dict[str, Any]] = {
    "seats": 6,
    "decks": 6,
    "burn": 5,
    "reshuffle_at": 0.2,
    "start": "dealer_left",
    "strategy": "optimal",
    "fresh": False,
}
"""The default tables of Rocket. The arguments have no defaults, so that one passed with another game is noticed."""
MILLION: Final = 1_000_000


class Command(BaseCommand):
    """Prints what came of the rounds, and how far from the exact value that is."""

    help = "Deal millions of random rounds of a game and compare them with the exact value."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("game", nargs="?", default=WHOLE_TABLES, help="the game (default: rocket)")
        parser.add_argument("--rounds", type=int, default=10_000_000, help="rounds, dealt by the million")
        parser.add_argument("--seed", type=int, default=1, help="the same seed deals the same rounds")
        parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="default: all")
        parser.add_argument("--json", action="store_true", dest="as_json")
        self._add_arguments_of_rocket(parser.add_argument_group("only for rocket"))
        others = parser.add_argument_group("for all other games, whose shoe is fresh before every round")
        others.add_argument(
            "--set", nargs="+", action="extend", default=[], dest="chosen", metavar="OPTION=VALUE", help="as for par"
        )
        others.add_argument("--composition", metavar="A=32,2=31,...", help="as for par")

    def _add_arguments_of_rocket(self, parser: _ArgumentGroup) -> None:
        parser.add_argument("--seats", type=int, help="seats that bet (default: 6)")
        parser.add_argument("--decks", type=int, help="decks in the shoe (default: 6)")
        parser.add_argument("--burn", type=int, help="cards burned after a shuffle (default: 5)")
        parser.add_argument("--reshuffle-at", type=float, metavar="PART", help="depth of the cut card")
        parser.add_argument("--start", choices=["dealer_left", "low_card"], help="who acts first")
        parser.add_argument("--strategy", help="optimal (of a full shoe), never_fold, or fold_at:N")
        parser.add_argument("--fresh", action="store_true", help="shuffle before every round")
        parser.add_argument(
            "--spread",
            action="store_true",
            help="let Celery workers deal, --cores of them at a time; can be resumed",
        )
        parser.add_argument("--resume", type=Path, metavar="FILE", help="keep the run here, and go on where it stopped")

    def handle(
        self,
        *args: Any,
        game: str,
        rounds: int,
        seed: int,
        cores: int,
        as_json: bool,
        **options: Any,
    ) -> None:
        """Deal the rounds, and print what came of them."""
        from tables.maths.situation import Unknowable

        if rounds < 1 or cores < 1 or seed < 0:
            raise CommandError("Rounds and cores are at least 1, and a seed at least 0.")
        deal, lines = (_rocket, _lines) if game == WHOLE_TABLES else (partial(_any_game, game), _lines_of_wagers)
        try:
            totals = deal(rounds, seed, cores, **options)
        except Unknowable as refusal:
            raise CommandError(sentence(str(refusal))) from None
        self.stdout.write(json.dumps(totals, indent=2) if as_json else "\n".join(lines(totals)))


# --- Any game, a fresh shoe each round ---------------------------------------------------------------------------


def _any_game(
    game: str, rounds: int, seed: int, cores: int, *, chosen: list[str], composition: str | None, **only_rocket: Any
) -> dict[str, Any]:
    """The result of the rounds for each wager, with the exact values. Raises CommandError."""
    from tables.maths import options, providers
    from tables.maths.advantage.dealt_rounds import DEALS
    from tables.maths.worth import simulated

    provider = providers.provider(game)
    if game not in DEALS or not isinstance(provider, providers.TallyProvider):
        raise CommandError(f"There is no simulation of {game!r}.")
    for name, value in only_rocket.items():
        if name in (*OF_ROCKET, "spread", "resume") and not (value is None or value is False):
            argument = name.replace("_", "-")
            raise CommandError(f"--{argument} goes with rocket alone: the options of other games are set by --set.")
    rules = options.rules_of(providers.rules_type(game), chosen)
    cards = None if composition is None else options.cards_of(composition)
    exact = provider.sheet(rules, cards)
    sheet = provider.valued(rules, cards, _dealt(partial(DEALS[game], rules, cards), rounds, seed, cores), simulated)
    facts = sheet.facts() | {"rounds": -(-rounds // MILLION) * MILLION, "seed": seed}
    for bet, worth in exact.wagers.items():
        wager = facts["wagers"][bet]
        error = wager["standard_error"]
        wager["exact_edge"] = worth.house_edge
        wager["errors_off"] = (wager["house_edge"] - worth.house_edge) / error if error else 0.0
    return facts


def _dealt(deal: Callable[[int, int], WagersTally], rounds: int, seed: int, cores: int) -> WagersTally:
    """The sum of a number of rounds, rounded up to a million; equal on any number of cores."""
    from tables.maths.advantage.card_simulation import added
    from tables.maths.advantage.rocket_simulation import seed_of

    chunks, report = -(-rounds // MILLION), progress()
    tallies: list[WagersTally] = []
    pool = ThreadPoolExecutor(cores)
    try:
        parts = pool.map(partial(deal, MILLION), (seed_of(seed, chunk) for chunk in range(chunks)))
        for count, tally in enumerate(parts, 1):
            tallies = [added([*tallies, tally])]
            report(count, chunks)
    finally:
        pool.shutdown(cancel_futures=True)
    return tallies[0]


def _lines_of_wagers(totals: dict[str, Any]) -> list[str]:
    width = max(map(len, totals["wagers"])) + 2
    return [
        f"{totals['rounds']:,} rounds of {totals['game'].replace('_', ' ')}, a fresh shoe each",
        f"{'wager':<{width}}{'edge':>11}{'exact':>11}{'deviation':>12}{'off, in standard errors':>26}",
        *(
            f"{bet:<{width}}{wager['house_edge']:>11.5%}{wager['exact_edge']:>11.5%}"
            f"{wager['standard_deviation']:>12.6f}{wager['errors_off']:>+26.2f}"
            for bet, wager in totals["wagers"].items()
        ),
    ]


# --- Tables of Rocket ----------------------------------------------------------------------------------------------


def _rocket(
    rounds: int,
    seed: int,
    cores: int,
    *,
    chosen: list[str],
    composition: str | None,
    resume: Path | None,
    spread: bool,
    **options: Any,
) -> dict[str, Any]:
    from tables.maths.advantage.rocket_simulation import described

    if chosen or composition:
        raise CommandError("Rocket's options have arguments of their own: leave out --set and --composition.")
    if spread and resume:
        raise CommandError("A run that is spread is kept in the database: leave out --resume.")
    table = _table(**{name: default if options[name] is None else options[name] for name, default in OF_ROCKET.items()})
    if spread:
        return facts(table, _deal_spread(table, seed, rounds, cores))
    keep = Keep(resume, described(table, seed)) if resume else None
    return facts(table, run(table, seed, rounds, cores, keep=keep, report=progress()))


def _table(
    *,
    seats: int,
    decks: int,
    burn: int,
    reshuffle_at: float,
    start: str,
    strategy: str,
    fresh: bool,
) -> Table:
    from tables.maths import situation
    from tables.maths.advantage.rocket_simulation import Table
    from tables.maths.rocket_value import solve

    if not 0.1 <= reshuffle_at <= 0.5:
        raise situation.Unknowable(f"a cut card at {reshuffle_at:g} of the shoe is not placed: it lies at 0.1 to 0.5")
    solution = solve(situation.fresh(decks, burn), situation.strategy(strategy))
    rules = {"decks": decks, "burn": burn, "reshuffle_at": reshuffle_at, "start": start}
    return Table(msgspec.convert(rules, Rules), seats, solution, fresh)


@dataclass(frozen=True)
class Keep:
    """A run on disk: which one it is, how many of its chunks are dealt, and what came of them."""

    path: Path
    described: dict[str, Any]

    def read(self, empty: RocketTally) -> tuple[int, RocketTally]:
        """The number of chunks dealt, and their sum. Raises CommandError for the file of another run."""
        if not self.path.exists():
            return 0, empty
        try:
            document = json.loads(self.path.read_text())
            description, chunks = document["run"], int(document["chunks"])
            tally = empty.with_counts(document)
        except (ValueError, KeyError, TypeError):
            raise CommandError(f"{self.path} is no run of this command.") from None
        if description != self.described:
            raise CommandError(f"{self.path} is another run: {json.dumps(description)}.")
        return chunks, tally

    def write(self, chunks: int, tally: RocketTally) -> None:
        """Write to a new file and rename it, so that an interrupted run loses no chunk."""
        document = {"run": self.described, "chunks": chunks, **tally.counts()}
        draft = self.path.with_name(f"{self.path.name}.new")
        draft.write_text(json.dumps(document))
        draft.replace(self.path)


def run(table: Table, seed: int, rounds: int, cores: int, keep: Keep | None, report: Progress) -> RocketTally:
    """The sum of a number of rounds, rounded up to a million.

    Chunks are added in order, so the result is equal on any number of cores.
    """
    from tables.maths.advantage.rocket_simulation import CHUNK, chart, deal, nothing, seed_of

    first, tally = keep.read(nothing(table.seats)) if keep else (0, nothing(table.seats))
    chunks, folds = -(-rounds // CHUNK), chart(table.solution)
    pool = ThreadPoolExecutor(cores)
    try:
        parts = pool.map(partial(deal, table, folds=folds), (seed_of(seed, chunk) for chunk in range(first, chunks)))
        for count, part in enumerate(parts, first + 1):
            tally += part
            if keep:
                keep.write(count, tally)
            report(count, chunks)
    finally:
        pool.shutdown(cancel_futures=True)
    return tally


def _deal_spread(table: Table, seed: int, rounds: int, workers: int) -> RocketTally:
    """The rounds that ``run`` would deal, dealt by the site's workers. Raises CommandError without a worker."""
    from tables.edge import distributed_simulation
    from tables.maths.advantage.rocket_simulation import CHUNK, described, nothing

    chunks, run = -(-rounds // CHUNK), distributed_simulation.name(described(table, seed))
    try:
        distributed_simulation.deal(run, chunks, workers, progress())
    except distributed_simulation.NobodyDeals:
        raise CommandError(
            "No worker has dealt anything for a minute: start one (celery --app casino worker) and this command again;"
            " what is dealt is kept."
        ) from None
    return distributed_simulation.added_up(run, chunks, nothing(table.seats))


def progress() -> Progress:
    """A bar where standard error is a terminal; elsewhere nothing, for a log would keep each step of it."""
    return _bar if sys.stderr.isatty() else _silence


def _silence(count: int, chunks: int) -> None:
    """A report of progress that prints nothing."""


def _bar(count: int, chunks: int) -> None:
    """Drawn over itself, on a line of the terminal."""
    bar = "#" * (40 * count // chunks)
    print(f"\r[{bar:<40}] {count:,} of {chunks:,} million rounds", end="", file=sys.stderr, flush=True)
    if count == chunks:
        print(file=sys.stderr)


def facts(table: Table, tally: RocketTally) -> dict[str, Any]:
    """The result of a run, with the exact values of a single seat and a full shoe. Edges are fractions of the bet."""
    exact, seats = table.solution, range(1, table.seats + 1)
    mean, variance = tally.table()
    seat_variances = sum(tally.seat(seat)[1] for seat in seats)
    pairs = seat_variances * (table.seats - 1)
    return {
        "rounds": tally.rounds,
        "refills": tally.refills,
        "exact_edge": exact.house_edge,
        "exact_standard_deviation": exact.standard_deviation,
        "table_edge": -mean / table.seats,
        "table_standard_deviation": sqrt(variance),
        "correlation_of_seats": (variance - seat_variances) / pairs if pairs else None,
        "seats": [_seat(table, tally, seat) for seat in seats],
    }


def _seat(table: Table, tally: RocketTally, seat: int) -> dict[str, Any]:
    mean, variance = tally.seat(seat)
    error = table.solution.standard_deviation / sqrt(tally.rounds)
    return {
        "seat": seat,
        "edge": -mean,
        "standard_deviation": sqrt(variance),
        "errors_off": (-mean - table.solution.house_edge) / error,
        "errors_off_of_the_worst_outcome": max(abs(error) for error in tally.errors(seat, table.solution)),
    }


def _lines(totals: dict[str, Any]) -> list[str]:
    heading = f"{'seat':<6}{'edge':>11}{'deviation':>12}{'off, in standard errors':>26}{'worst outcome':>16}"
    correlation = totals["correlation_of_seats"]
    return [
        f"{totals['rounds']:,} rounds; the shoe ran out in mid-round {totals['refills']:,} times",
        f"Exact for one seat and a full shoe: edge {totals['exact_edge']:.6%}, deviation"
        f" {totals['exact_standard_deviation']:.6f}",
        heading,
        *(
            f"{seat['seat']:<6}{seat['edge']:>11.6%}{seat['standard_deviation']:>12.6f}{seat['errors_off']:>+26.2f}"
            f"{seat['errors_off_of_the_worst_outcome']:>16.2f}"
            for seat in totals["seats"]
        ),
        f"All seats together: edge {totals['table_edge']:.6%}, deviation {totals['table_standard_deviation']:.6f} bets"
        + ("" if correlation is None else f", correlation of two seats {correlation:.4f}"),
    ]
