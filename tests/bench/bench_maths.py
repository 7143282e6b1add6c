"""`./run bench maths [--rounds N]`: the exact solve and the simulator, beside the same loops in C built by gcc.

Both sides must come to the same: the value to 1e-12, the counts of every outcome exactly, from the same dice. They
take turns on one core, and the median of their ratios counts. Last, N rounds (ten million by default) on all cores are
held against the exact outcomes, seat by seat; it fails when one is more than four standard errors off.
"""

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from tables.games import blackjack as blackjack_rules
from tables.games.rocket import Rocket, Rules
from tables.management.commands import simulate
from tables.maths import baccarat, blackjack, blackjack_simulation, providers, three_card_poker
from tables.maths.advantage import card_simulation, dealt_rounds
from tables.maths.advantage.rocket_simulation import Table, chart, deal, nothing
from tables.maths.rocket_value import solve
from tables.maths.seat_covariance import covariance
from tables.maths.situation import DECKS, NEVER_FOLD, OPTIMAL, Situation, Strategy, fresh

SOURCE = Path(__file__).with_name("maths.c")
REPEATS = 15
ROUNDS = 1_000_000
SOLVED = (fresh(6), OPTIMAL)


def in_c(folder: str) -> ctypes.CDLL:
    library = Path(folder) / "maths.so"
    command = ["gcc", "-O3", "-march=native", "-std=gnu11", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True)
    loops = ctypes.CDLL(str(library))
    loops.solve.restype = ctypes.c_double
    loops.deal.restype = ctypes.c_int64
    loops.deal.argtypes = [ctypes.c_uint64, ctypes.c_int64, *[ctypes.c_int] * 5, *[ctypes.c_void_p] * 3]
    loops.prepare()
    return loops


def solved_in_c(loops: ctypes.CDLL, situation: Situation, strategy: Strategy) -> float:
    unseen, full = (np.array(counts, np.int32) for counts in (situation.unseen, situation.full))
    limit = -1 if strategy.limit is None else strategy.limit
    pointers = (ctypes.c_void_p(counts.ctypes.data) for counts in (unseen, full))
    return float(loops.solve(*pointers, situation.left, limit))


def dealt_in_c(loops: ctypes.CDLL, table: Table, folds: Any, rounds: int) -> Any:
    tally, rules = nothing(table.seats), table.rules
    cut = 55 * rules.decks if table.fresh else Rocket().at_cut(rules)
    low_card = rules.start == "low_card"
    arrays = (counts.ctypes.data for counts in (folds, tally.ends, tally.totals))
    sizes = (table.seats, rules.decks, rules.burn, cut, low_card)
    loops.deal(1, rounds, *sizes, *arrays)
    return tally


def seconds(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def side_by_side(label: str, ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> None:
    ours()
    theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    our_time, their_time = (median(times) for times in zip(*pairs, strict=True))
    ratio = median(our_seconds / their_seconds for our_seconds, their_seconds in pairs)
    print(f"{label:44}{1000 * our_time:>12.2f}{1000 * their_time:>12.2f}{ratio:>9.2f} x")


def the_same(loops: ctypes.CDLL) -> None:
    """Before anything is measured: C and we compute the same."""
    for decks in DECKS:
        for strategy in (OPTIMAL, NEVER_FOLD, Strategy(2)):
            deep = Situation(decks, (0, 1, 2, 3, 0, 2, 1, 2, 3, 1))
            for situation in (fresh(decks), deep):
                differs = abs(solved_in_c(loops, situation, strategy) - solve(situation, strategy).value)
                assert differs < 1e-12, f"{decks} decks, {strategy.name}: C differs by {differs}"
    for table in tables():
        mine, c_deal = deal(table, 1, 100_000), dealt_in_c(loops, table, chart(table.solution), 100_000)
        assert (mine.ends == c_deal.ends).all(), "the rounds in C came out otherwise"
        assert (mine.totals == c_deal.totals).all(), "the tables in C came out otherwise"


def tables() -> list[Table]:
    six_decks, one_deck = solve(fresh(6)), solve(fresh(1))
    return [
        Table(Rules(6), 1, six_decks, fresh=True),
        Table(Rules(6), 6, six_decks),
        Table(Rules(1, start="low_card", burn=20, reshuffle_at=0.1), 6, one_deck),
    ]


# --- Games of standard cards -----------------------------------------------------------------------------------------


def dealt_by_both(loops: ctypes.CDLL) -> list[tuple[str, Callable[[int], Any], Callable[[int], Any]]]:
    """For each game: so many rounds of a full shoe by us, and by C, as counts of how they ended."""
    deck = (1,) * 52
    every = three_card_poker.against(deck, (0, 0, 0, 1, 4, 5))
    hands, qualifies = dealt_rounds.hand_words(deck, every), three_card_poker.hands().qualifies
    draws = baccarat.banker_draws().astype(np.uint8).ravel()
    eight, by_card, six = (32,) * 13, (8,) * 52, (24,) * 13
    jack = blackjack_rules.Rules()
    best = blackjack.solve(jack, six).chart

    def in_c(game: str, pile: Any, counts: int, *arguments: Any) -> Callable[[int], Any]:
        loop = getattr(loops, game)
        loop.argtypes = [ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int]
        loop.argtypes += [ctypes.c_int if isinstance(extra, int) else ctypes.c_void_p for extra in (*arguments, None)]
        loop.restype = None

        def deal_rounds(rounds: int) -> Any:
            tally = np.zeros(counts, np.int64)
            extras = (extra if isinstance(extra, int) else extra.ctypes.data for extra in arguments)
            loop(1, rounds, pile.ctypes.data, len(pile), *extras, tally.ctypes.data)
            return tally

        return deal_rounds

    return [
        (
            "baccarat",
            lambda rounds: card_simulation.baccarat(eight, draws, rounds, 1),
            in_c("baccarat", card_simulation.pile_by_value(eight), 30, draws),
        ),
        (
            "dragon_tiger",
            lambda rounds: card_simulation.dragon_tiger(by_card, rounds, 1),
            in_c("dragon_tiger", card_simulation.pile(by_card), 4),
        ),
        (
            "casino_war",
            lambda rounds: card_simulation.casino_war(six, rounds, 1),
            in_c("casino_war", card_simulation.pile(six), 5),
        ),
        (
            "three_card_poker",
            lambda rounds: card_simulation.three_card_poker(deck, hands, qualifies, rounds, 1),
            in_c("three_card_poker", card_simulation.pile(deck), 31, hands, qualifies),
        ),
        (
            "blackjack",
            lambda rounds: blackjack_simulation.simulate(jack, best, rounds, 1).ends.ravel(),
            in_c("blackjack", card_simulation.pile(six), 322, blackjack_simulation.columns(best)),
        ),
    ]


def standard_games(loops: ctypes.CDLL) -> None:
    """Simulated rounds beside C, and how long exact values take once their first call is over."""
    for game, ours, theirs in dealt_by_both(loops):
        assert (ours(100_000) == theirs(100_000)).all(), f"the rounds of {game} in C came out otherwise"
        side_by_side(
            f"{ROUNDS:,} rounds of {game}",
            lambda ours=ours: ours(ROUNDS),  # type: ignore[misc]
            lambda theirs=theirs: theirs(ROUNDS),  # type: ignore[misc]
            5,
        )
    blackjack.solve.cache_clear()
    seconds_of_jack = seconds(lambda: blackjack.solve(blackjack_rules.Rules(), (24,) * 13))
    print(f"{'the best chart of blackjack, and its edge':44}{1000 * seconds_of_jack:>12.2f}")
    for game in ("baccarat", "dragon_tiger", "casino_war", "three_card_poker"):
        values, rules = providers.provider(game), providers.rules_type(game)()
        assert values
        values.sheet(rules)
        times = [seconds(lambda values=values, rules=rules: values.sheet(rules)) for _ in range(REPEATS)]  # type: ignore[misc]
        print(f"{f'every wager of {game}, exactly':44}{1000 * median(times):>12.2f}")


def agrees(rounds: int) -> bool:
    """All cores, six seats, a fresh shoe each round."""
    table = Table(Rules(6), 6, solve(fresh(6)), fresh=True)
    cores = os.cpu_count() or 1
    start = perf_counter()
    tally = simulate.run(table, seed=1, rounds=rounds, cores=cores, keep=None, report=simulate.progress())
    time = perf_counter() - start
    off = [abs(error) for seat in range(1, 7) for error in tally.errors(seat, table.solution)]
    print(
        f"\n{tally.rounds:,} rounds of six seats on {cores} cores: {tally.rounds / time:,.0f} rounds/s,"
        f" {6 * tally.rounds / time:,.0f} bets/s"
    )
    print(f"The worst of {len(off)} outcomes is {max(off):.2f} standard errors off its exact probability")
    for seat in simulate.facts(table, tally)["seats"]:
        print(f"seat {seat['seat']}: edge {seat['edge']:.6%}, {seat['errors_off']:+.2f} standard errors off")
        off.append(abs(seat["errors_off"]))
    exact, simulated = covariance(table.solution) / table.solution.variance, simulate.facts(table, tally)
    print(f"correlation of two seats: exact {exact:.6f}, simulated {simulated['correlation_of_seats']:.6f}")
    return max(off) < 4


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench maths")
    parser.add_argument("--rounds", type=int, default=10_000_000)
    rounds = parser.parse_args().rounds
    if not shutil.which("gcc"):
        sys.exit("This benchmark compiles the same loops in C, so it needs gcc.")
    with tempfile.TemporaryDirectory() as folder:
        loops = in_c(folder)
        the_same(loops)
        print(f"Medians in ms, one core{'ours':>33}{'C':>12}{'ratio':>11}")
        side_by_side("exact solve of every state", lambda: solve(*SOLVED), lambda: solved_in_c(loops, *SOLVED), REPEATS)
        side_by_side(
            "  with every outcome (C: the value alone)",
            lambda: solve(*SOLVED).outcomes,
            lambda: solved_in_c(loops, *SOLVED),
            REPEATS,
        )
        for table in tables():
            folds = chart(table.solution)
            decks = "one deck" if table.rules.decks == 1 else f"{table.rules.decks} decks"
            side_by_side(
                f"{ROUNDS:,} rounds, {table.seats} {'seat' if table.seats == 1 else 'seats'}, {decks}",
                lambda table=table, folds=folds: deal(table, 1, ROUNDS, folds),  # type: ignore[misc]
                lambda table=table, folds=folds: dealt_in_c(loops, table, folds, ROUNDS),  # type: ignore[misc]
                5,
            )
        standard_games(loops)
    if not agrees(rounds):
        sys.exit("Simulation and exact value do not agree.")


if __name__ == "__main__":
    main()
