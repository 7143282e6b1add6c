"""`./run bench engine`: every game through the engine; banked ones beside minimal hand-written loops on the same cards.

Rocket with six seats and six-deck shoes, dealt to the cut card; seats fold when that costs no more than two tenths of
the bet. The games on standard cards with five seats and with one (``house_rounds.py``). Both sides must come to the
same result in every round; they take turns, and the median of their ratios counts. Of the games for a pot, random
rounds that were played before are played again from their actions. Seconds are the processor's: others may use it too.

`./run bench engine COMMIT` measures the engine of that commit by turns with this one, in the same run.
"""

import importlib.util
import io
import random
import subprocess
import sys
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, TypeVar

from tables.games.cards import NOTHING, shoe
from tables.games.catalog import DEALT
from tables.games.play import play, replay, run
from tables.games.protocol import Action, AskCard, AskChoice, Bet, Card, Choose, CloseBets, Opening, Payout, Prompt
from tables.games.rocket import Rocket, Rules, State
from tests.bench import house_rounds
from tests.games.test_every_game import PlayOut
from tests.games.test_every_game import _random_play_out as random_play_out

SHOES, REPEATS = 60, 9
ROUNDS = 200
"""So many random rounds of each game."""
ROCKET, RULES = Rocket(), Rules()
SEATS = (1, 2, 3, 4, 5, 6)
BETS = (100, 50, 200, 10, 70, 1_000)
BETTING: tuple[Action, ...] = (*(Bet(seat, bet) for seat, bet in zip(SEATS, BETS, strict=True)), CloseBets())
CUT = ROCKET.at_cut(RULES)
CHEAP = 2
"""A fold that costs so many tenths of the bet is taken."""

T = TypeVar("T")
Result = list[tuple[str, int | None, int]]
"""Of each seat: outcome, card, and what it won."""
Answer = Callable[[tuple[Prompt, ...]], Action]
Way = Callable[[State, Answer], State]
Dealt = Callable[[list[list[int]]], list[tuple[Payout, ...]]]
"""Deals shoes in one of the ways, upon one of the engines."""


def shuffled_shoes() -> list[list[int]]:
    """Shoes after the burn, the first card first; the same in every run."""
    chance = random.Random(1)
    cards = [rank for rank, copies in enumerate(shoe(RULES.decks), 1) for _ in range(copies)]
    return [chance.sample(cards, len(cards))[RULES.burn :] for _ in range(SHOES)]


# --- by the engine --------------------------------------------------------------------------------------------


def answers(draw: Callable[[], int]) -> Answer:
    """What the table does in one round: the bets, the cards of the shoe, the seats' decisions."""
    bet = iter(BETTING).__next__

    def answer(prompts: tuple[Prompt, ...]) -> Action:
        ask = prompts[0]
        if isinstance(ask, AskCard):
            return Card(draw(), ask.to)
        if isinstance(ask, AskChoice):
            seat = ask.seat
            return Choose(seat, "fold" if ask.choices[1].cost_cents * 10 <= BETS[seat - 1] * CHEAP else "hit")
        return bet()

    return answer


def by_run(state: State, answer: Answer) -> State:
    """Through ``run``: every prompt is asked once."""
    return run(ROCKET, state, answer)


def by_play(state: State, answer: Answer) -> State:
    """Through ``prompts`` and ``play``, which looks at the prompts again, as screens and the log do."""
    while prompts := ROCKET.prompts(state):
        state = play(ROCKET, state, answer(prompts))
    return state


def by_engine(way: Way, shoes: list[list[int]]) -> list[tuple[Payout, ...]]:
    results = []
    for cards in shoes:
        draw, dealt, cards_left = iter(cards).__next__, NOTHING, len(cards)
        while cards_left > CUT:
            state = way(ROCKET.open(RULES, Opening(SEATS, dealt=dealt)), answers(draw))
            results.append(ROCKET.settle(state))
            dealt, cards_left = ROCKET.gone(state), ROCKET.cards_left(state)
    return results


# --- by hand --------------------------------------------------------------------------------------------------


def by_hand(shoes: list[list[int]]) -> list[Result]:
    """The same results and nothing else: no bets to check, no turn to keep, no cards to count, no way to resume."""
    results = []
    for cards in shoes:
        deck = cards[::-1]
        while len(deck) > CUT:
            results.append(round_by_hand(deck.pop))
    return results


def round_by_hand(draw: Callable[[], int]) -> Result:
    stacks = [[draw()] for _ in BETS]
    dealer = [draw()]
    if dealer[0] == 3:
        return [("death_card", 3, bet * 3 // 10) for bet in BETS]
    results: Result = [("", None, 0)] * len(BETS)
    playing = list(range(len(BETS)))
    while playing:
        lowest, still = min(dealer), []
        for seat in playing:
            stack = stacks[seat]
            low = min(lowest, *stack)
            if low <= CHEAP:
                results[seat] = ("fold", low, -low * BETS[seat] // 10)
                continue
            card = draw()
            if card in stack:
                results[seat] = ("pair", card, -card * BETS[seat] // 10)
                continue
            stack.append(card)
            still.append(seat)
        playing = still
        if playing:
            card = draw()
            if card == 3 or card in dealer:
                outcome = "death_card" if card == 3 else "dealer_pair"
                for seat in playing:
                    results[seat] = (outcome, card, card * BETS[seat] // 10)
                break
            dealer.append(card)
    return results


# --- where the time goes --------------------------------------------------------------------------------------

Step = tuple[State, tuple[Prompt, ...], Action]


def steps(shoes: list[list[int]]) -> list[Step]:
    """Every action of the rounds, with the state that it met and its prompts."""
    played: list[Step] = []

    def watched(state: State, answer: Answer) -> State:
        while prompts := ROCKET.prompts(state):
            action = answer(prompts)
            played.append((state, prompts, action))
            state = ROCKET.apply(state, action)
        return state

    by_engine(watched, shoes)
    return played


def parts(played: list[Step]) -> Iterator[tuple[str, float]]:
    """Microseconds an action, of each part of the engine by itself."""

    def prompts() -> None:
        for state, _, _ in played:
            ROCKET.prompts(state)

    def admits() -> None:
        for _, asks, action in played:
            for ask in asks:
                if ask.admits(action):
                    break

    def apply() -> None:
        for state, _, action in played:
            ROCKET.apply(state, action)

    for part in (prompts, admits, apply):
        yield part.__name__, min(seconds(part)[0] for _ in range(REPEATS)) / len(played) * 1e6


def seconds(work: Callable[[], T]) -> tuple[float, T]:
    start = process_time()
    result = work()
    return process_time() - start, result


def measured(shoes: list[list[int]], ways: list[Dealt]) -> tuple[list[float], list[list[float]]]:
    """Seconds of the loop and of each way, by turns; what they come to must be the same."""
    loop: list[float] = []
    engine: list[list[float]] = [[] for _ in ways]
    for _ in range(REPEATS):
        time, expected = seconds(lambda: by_hand(shoes))
        loop.append(time)
        for way, times in zip(ways, engine, strict=True):
            time, results = seconds(partial(way, shoes))
            dealt = [[(payout.outcome, payout.card, payout.net_cents) for payout in result] for result in results]
            assert dealt == expected, "the engine and the hand-written loop differ"
            times.append(time)
    return loop, engine


def earlier(commit: str, file: str) -> Any:
    """A file of these, loaded upon the games of an earlier commit."""
    now_loaded = {name: sys.modules.pop(name) for name in [*sys.modules] if name.split(".")[0] == "tables"}
    files = subprocess.run(["git", "archive", commit, "tables"], check=True, capture_output=True).stdout
    spec = importlib.util.spec_from_file_location("bench_earlier", file)
    assert spec is not None
    assert spec.loader is not None
    bench = importlib.util.module_from_spec(spec)
    with TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(files)) as archive:
            archive.extractall(folder, filter="data")
        sys.path.insert(0, folder)
        try:
            spec.loader.exec_module(bench)
            assert Path(folder) in Path(sys.modules["tables.games.rocket"].__file__ or "").parents
        finally:
            sys.path.remove(folder)
            for name in [name for name in sys.modules if name.split(".")[0] == "tables"]:
                del sys.modules[name]
            sys.modules.update(now_loaded)
    return bench


# --- the games on standard cards ------------------------------------------------------------------------------


def print_house_games(commits: list[str]) -> None:
    """Of each game and number of seats: rounds a second of the loop and of the engine, and of earlier ones by turns."""
    engines = {"engine": house_rounds}
    engines |= {commit[:9]: earlier(commit, house_rounds.__file__) for commit in commits}
    rates = "".join(f"{label + '/s':>14}{'time':>9}" for label in engines)
    print(f"\n{'beside a loop by hand':28}{'actions':>8}{'loop/s':>10}{rates}")
    for tables in zip(*(module.house_tables() for module in engines.values()), strict=True):
        rounds, actions = tables[0].see_that_both_agree()
        loop: list[float] = []
        engine: list[list[float]] = [[] for _ in tables]
        for _ in range(REPEATS):
            loop.append(seconds(tables[0].by_hand)[0])
            for table, times in zip(tables, engine, strict=True):
                times.append(seconds(table.by_engine)[0])
        line = f"{tables[0].title:28}{actions / rounds:>8.0f}{rounds / median(loop):>10,.0f}"
        for times in engine:
            ratio = median(time / by_hand for time, by_hand in zip(times, loop, strict=True))
            line += f"{rounds / median(times):>14,.0f}{ratio:>7.1f} x"
        print(line)


# --- games for a pot ------------------------------------------------------------------------------------------


def pot_games() -> Iterator[tuple[str, int, int, float]]:
    """Of each game: its title, how many rounds and actions were played again, and the seconds."""
    for name, game in DEALT.items():
        if game.kind != "pot":
            continue
        rounds = [random_play_out(name, seed) for seed in range(ROUNDS)]
        times = [seconds(partial(_again, rounds))[0] for _ in range(3)]
        yield game.title, len(rounds), sum(len(round_.actions) for round_ in rounds), median(times)


def _again(rounds: list[PlayOut]) -> None:
    for round_ in rounds:
        assert replay(round_.game, round_.rules, round_.opening, round_.actions) == round_.state


def main() -> None:
    shoes = shuffled_shoes()
    rounds, trail = len(by_hand(shoes)), steps(shoes)
    actions = len(trail)
    ways: dict[str, Dealt] = {
        "engine: run": partial(by_engine, by_run),
        "engine: prompts, play": partial(by_engine, by_play),
    }
    for commit in sys.argv[1:]:
        before = earlier(commit, __file__)
        ways[f"{commit[:9]}: run"] = partial(before.by_engine, before.by_run)
        ways[f"{commit[:9]}: prompts, play"] = partial(before.by_engine, before.by_play)
    loop, engine = measured(shoes, [*ways.values()])
    print(f"{rounds:,} rounds of Rocket, six seats, six decks, {actions:,} actions; medians of {REPEATS} runs")
    print(f"{'':24}{'rounds/s':>10}{'actions/s':>12}{'us/action':>11}{'time':>9}")
    print(f"{'hand-written loop':24}{rounds / median(loop):>10,.0f}{'':>23}{'1 x':>9}")
    for label, times in zip(ways, engine, strict=True):
        time = median(times)
        ratio = median(way_time / loop_time for way_time, loop_time in zip(times, loop, strict=True))
        print(f"{label:24}{rounds / time:>10,.0f}{actions / time:>12,.0f}{time / actions * 1e6:>11.2f}{ratio:>7.1f} x")
    shares = dict(parts(trail))
    shares["answering, opening, settling"] = min(engine[0]) / actions * 1e6 - sum(shares.values())
    print("Where the time of an action goes, in us:", ", ".join(f"{name} {us:.2f}" for name, us in shares.items()))
    print_house_games(sys.argv[1:])
    print(f"\n{'random rounds, replayed':24}{'rounds/s':>10}{'actions/s':>12}{'us/action':>11}{'actions/round':>15}")
    for title, played, actions, time in pot_games():
        print(
            f"{title:24}{played / time:>10,.0f}{actions / time:>12,.0f}{time / actions * 1e6:>11.1f}"
            f"{actions / played:>15.0f}"
        )


if __name__ == "__main__":
    main()
