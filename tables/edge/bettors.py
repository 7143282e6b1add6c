"""Simulated shoes with card counters and other players: how often the test of `following` flags each.

Two studies: of the game whose seats decide and have one bet, and of games without decisions, in which each seat has
several wagers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, cast

from tables.games.cards import DECK_SIZE, NOTHING, RANKS, Composition, shoe
from tables.games.catalog import GAMES
from tables.games.game import BankedGame
from tables.games.play import play
from tables.games.protocol import (
    Action,
    AskCard,
    AskChoice,
    AskShuffle,
    Bet,
    Card,
    Choose,
    CloseBets,
    Limits,
    Opening,
    Shuffle,
)
from tables.games.rocket import Rocket, Rules, State
from tables.maths.advantage import providers
from tables.maths.advantage.bet_following import SeatHistory, ShoeEdges, follow, follow_wager
from tables.maths.advantage.linear_edge import Yardstick, yardsticks
from tables.maths.advantage.significance import LEVEL, together
from tables.maths.rocket_value import Solution, solve
from tables.maths.situation import Situation, fresh

GAME: Final = Rocket()
BET: Final = 10
_STAKE: Final = 1_000
"""Stake on a wager of a game with several: large enough that no winnings are rounded to nothing."""


@dataclass(frozen=True, slots=True)
class BettorShoe:
    """A shoe that was dealt: its course, and each seat's results in tenths, round by round."""

    course: ShoeEdges
    results: tuple[tuple[int, ...], ...]


def deal(decks: int, seats: int, seed: int, cut: float = 0.2) -> BettorShoe:
    """A shoe, by the engine, from its shuffle to its cut card. Every seat plays the best play of a full shoe."""
    chance = random.Random(f"{decks} {seats} {cut} {seed}")  # noqa: S311 -- a simulation, by seed
    rules = Rules(decks=decks, reshuffle_at=cut)
    order = [rank for rank, copies in zip(RANKS, shoe(decks), strict=True) for _ in range(copies)]
    chance.shuffle(order)
    order = order[rules.burn :]
    dealt, edges, unseen, results = NOTHING, [], [], []
    while decks * DECK_SIZE - rules.burn - sum(dealt) > GAME.at_cut(rules):
        edges.append(edge(decks, dealt, rules.burn))
        unseen.append(decks * DECK_SIZE - sum(dealt))
        state = _round(rules, seats, dealt, order, chance)
        results.append(tuple((payout.net_cents * 10) // BET for payout in GAME.settle(state)))
        dealt = GAME.gone(state)
    return BettorShoe(ShoeEdges(tuple(edges), tuple(unseen)), tuple(zip(*results, strict=True)))


def edge(decks: int, dealt: Composition, burn: int) -> float:
    """The exact house edge after these cards were dealt, as a fraction of the bet."""
    unseen = tuple(full - out for full, out in zip(shoe(decks), dealt, strict=True))
    return solve(Situation(decks, unseen, burn)).house_edge


def _round(rules: Rules, seats: int, dealt: Composition, order: list[int], chance: random.Random) -> State:
    numbers = tuple(range(1, seats + 1))
    state = GAME.open(rules, Opening(numbers, Limits(BET, BET, None), dealt=dealt))
    for seat in numbers:
        state = play(GAME, state, Bet(seat, BET))
    state = play(GAME, state, CloseBets())
    while prompts := GAME.prompts(state):
        state = play(GAME, state, _answer(prompts[0], state, rules, order, chance))
    return state


def _answer(prompt: object, state: State, rules: Rules, order: list[int], chance: random.Random) -> Action:
    if isinstance(prompt, AskCard):
        return Card(order.pop(0), prompt.to)
    if isinstance(prompt, AskChoice):
        stack = state.stacks[state.seats.index(prompt.seat)]
        return Choose(prompt.seat, chart(rules.decks).choice(stack, state.dealer).best)
    assert isinstance(prompt, AskShuffle)  # noqa: S101 -- nothing else is asked once bets are closed
    cards_out = [*state.dealer, *(rank for index in state.order for rank in state.stacks[index])]
    cards = [
        rank for rank, full in zip(RANKS, shoe(rules.decks), strict=True) for _ in range(full - cards_out.count(rank))
    ]
    chance.shuffle(cards)
    order[:] = cards[rules.burn :]
    return Shuffle()


@cache
def chart(decks: int) -> Solution:
    """The best play of a full shoe, by which all seats decide here, counters too."""
    return solve(fresh(decks))


# --- Games without decisions -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wagers:
    """A shoe dealt for simulated bettors, by wager: its edges, and the result of a bet of `BET` in each round."""

    courses: Mapping[str, ShoeEdges]
    nets: Mapping[str, tuple[int, ...]]


def deal_wagers(name: str, rules: Any, seed: int) -> Wagers:
    """A shoe, by the engine, from its shuffle to its cut card. All wagers are bet on in every round."""
    game, values = cast(BankedGame[Any, Any], GAMES[name]), providers.round_provider(name)
    if values is None or game.words:
        raise ValueError(f"{name} is no game of several wagers in which nobody decides")
    chance = random.Random(f"{name} {seed}")  # noqa: S311 -- a simulation, by seed
    pack = game.pack(rules)
    full = pack.shoes[game.decks(rules)]
    order, dealt = pack.cards(full), pack.nothing
    chance.shuffle(order)
    wagers = [wager.name for wager in game.wagers(rules)]
    courses: dict[str, list[tuple[float, Composition]]] = {wager: [] for wager in wagers}
    nets: dict[str, list[int]] = {wager: [] for wager in wagers}
    while len(order) > game.at_cut(rules):
        unseen = tuple(copies - out for copies, out in zip(full, dealt, strict=True))
        for wager, edge_now in values.edges(rules, unseen).items():
            courses[wager].append((edge_now.house, unseen))
        ends = _ends(game, rules, dealt, order)
        for wager in wagers:
            nets[wager].append(ends[wager])
        dealt = tuple(copies - undealt for copies, undealt in zip(full, pack.count(order), strict=True))
    sticks = yardsticks(name, rules, pack, game.decks(rules))
    return Wagers(
        {wager: _course(course, sticks[wager]) for wager, course in courses.items()},
        {wager: tuple(results) for wager, results in nets.items()},
    )


def _course(rounds: Sequence[tuple[float, Composition]], yardstick: Yardstick) -> ShoeEdges:
    edges, cards = tuple(edge_now for edge_now, _ in rounds), tuple(unseen for _, unseen in rounds)
    return ShoeEdges(edges, tuple(map(sum, cards)), cards, yardstick)


def _ends(game: BankedGame[Any, Any], rules: Any, gone: Composition, order: list[int]) -> dict[str, int]:
    """One round, to a seat for each wager, for some exclude each other."""
    wagers = [wager.name for wager in game.wagers(rules)]
    seats = tuple(range(1, len(wagers) + 1))
    state = game.open(rules, Opening(seats, Limits(), dealt=gone, unseen=0))
    for seat, wager in zip(seats, wagers, strict=True):
        state = play(game, state, Bet(seat, _STAKE, wager))
    state = play(game, state, CloseBets())
    while state.prompts:
        ask = state.prompts[0]
        assert isinstance(ask, AskCard)  # noqa: S101 -- nobody decides, and the cut card leaves enough for a round
        state = play(game, state, Card(order.pop(0), ask.to))
    return {wager: payout.net_cents for wager, payout in zip(wagers, game.settle(state), strict=True)}


# --- Who bets how ----------------------------------------------------------------------------------------------

Bettor = Callable[[Sequence[float], Sequence[int], float, random.Random], Iterator[int]]
"""Bets of a seat, given the edges, its own results, the edge of a full shoe, and chance."""


def at_random(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Bets of one to five units at random."""
    return (chance.randint(1, 5) for _ in edges)


def rising(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """A unit more every few rounds."""
    return (1 + number * 5 // len(edges) for number in range(len(edges)))


def wandering(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """A little more or a little less than before."""
    bet = 5
    for _ in edges:
        yield bet
        bet = min(10, max(1, bet + chance.choice((-1, 1))))


def doubling(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Double after a loss, up to sixteen; one unit after a win."""
    bet = 1
    for result in results:
        yield bet
        bet = min(16, bet * 2) if result < 0 else 1


def pressing(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Double after a win, up to eight; one unit after a loss."""
    bet = 1
    for result in results:
        yield bet
        bet = min(8, bet * 2) if result > 0 else 1


def _bet_after(result: int) -> int:
    """More after a large win, less after a large loss."""
    return 5 if result > 6 else 1 if result < -6 else 3


def by_size(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Bets by the last win or loss. The test does not know this rule, so it is the hardest of the innocent ones."""
    return (3 if not number else _bet_after(results[number - 1]) for number in range(len(edges)))


def counting(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Bets five units if the seat has an edge, otherwise one: a counter who knows the exact edge."""
    return (5 if edge < 0 else 1 for edge in edges)


def leaning(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Bets five units if the edge is better than a full shoe's, otherwise one."""
    return (5 if edge < full else 1 for edge in edges)


def now_and_then(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """A unit in one round of three."""
    return (int(chance.random() < 1 / 3) for _ in edges)


def chasing(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """A unit more with each round in which it did not come, up to ten; none for five rounds once it came."""
    bet = 1
    for result in results:
        yield max(bet, 0)
        bet = min(bet + 1, 10) if result < 0 else -5


def waiting(edges: Sequence[float], results: Sequence[int], full: float, chance: random.Random) -> Iterator[int]:
    """Bets five units if the seat has an edge, otherwise nothing."""
    return (5 if edge < 0 else 0 for edge in edges)


INNOCENT: Final[Mapping[str, Bettor]] = {
    "at random": at_random, "rising": rising, "wandering": wandering, "doubling after a loss": doubling,
    "doubling after a win": pressing, "by the size of the last result": by_size,
}  # fmt: skip
COUNTERS: Final[Mapping[str, Bettor]] = {"1:5 where the edge is theirs": counting, "1:5 below the full edge": leaning}
ON_THE_SIDE: Final[Mapping[str, Bettor]] = {
    "at random": at_random, "rising": rising, "wandering": wandering, "doubling after a loss": doubling,
    "now and then": now_and_then, "chasing it": chasing, "5 where the edge is theirs, else nothing": waiting,
    "1:5 below the full edge": leaning,
}  # fmt: skip
"""Betting behaviours on a wager next to a constant main bet, by name."""
SHOES_A_DAY: Final = 10
"""How many shoes of a seat are tested together in the check."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a bettor of a kind was flagged."""

    bettor: str
    seats: int
    """Number of seats and shoes tested."""
    flagged: int
    days: int
    """Number of seats tested over several shoes."""
    days_flagged: int


def check(shoes: Sequence[BettorShoe], decks: int, *, permutations: int, seed: int = 1) -> list[Rate]:
    """How often each kind of player is flagged at these shoes: at each seat of each, and over several."""
    full, rates = chart(decks).house_edge, []
    for name, bettor in (*INNOCENT.items(), *COUNTERS.items()):
        chance = random.Random(f"{decks} {len(shoes[0].results)} {seed} {name}")  # noqa: S311 -- a simulation, by seed
        seats: list[list[tuple[int, int]]] = []
        for sample in shoes:
            for index, results in enumerate(sample.results):
                bets = list(bettor(sample.course.edges, results, full, chance))
                test = follow(sample.course, bets, results, seed=chance.getrandbits(32), permutations=permutations)
                seats += [[]] if index >= len(seats) else []
                seats[index] += [(test.as_much, test.of)] if test else []
        rates.append(_rate(name, seats))
    return rates


def check_wager(shoes: Sequence[Wagers], wager: str, *, permutations: int, seed: int = 1) -> list[Rate]:
    """How often each kind of bettor on a wager is flagged, with a constant bet on the game's first wager."""
    full, main = shoes[0].courses[wager].edges[0], next(iter(shoes[0].courses))
    rates = []
    for name, bettor in ON_THE_SIDE.items():
        chance = random.Random(f"{wager} {seed} {name}")  # noqa: S311 -- a simulation, by seed
        tests = []
        for sample in shoes:
            course, nets = sample.courses[wager], sample.nets[wager]
            bets = list(bettor(course.edges, nets, full, chance))
            results = [
                10 * net + bet * side_net for net, bet, side_net in zip(sample.nets[main], bets, nets, strict=True)
            ]
            played = SeatHistory(tuple(results), tuple(10 + bet for bet in bets), nets)
            test = follow_wager(course, bets, played, seed=chance.getrandbits(32), permutations=permutations)
            tests += [(test.as_much, test.of)] if test else []
        rates.append(_rate(name, [tests]))
    return rates


def _rate(name: str, seats: Sequence[Sequence[tuple[int, int]]]) -> Rate:
    tests = [test for seat in seats for test in seat]
    days = [seat[start : start + SHOES_A_DAY] for seat in seats for start in range(0, len(seat), SHOES_A_DAY)]
    chances = [together(day) for day in days if len(day) == SHOES_A_DAY]
    return Rate(
        bettor=name,
        seats=len(tests),
        flagged=sum((1 + as_much) / (1 + of) <= LEVEL for as_much, of in tests),
        days=len(chances),
        days_flagged=sum(chance is not None and chance <= LEVEL for chance in chances),
    )
