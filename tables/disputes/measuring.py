"""How often the mispay finder is right: mistakes are planted in rounds that are dealt by chance, and looked for.

Pure but for chance, which comes from a seed. A pool of rounds is dealt for each game by the engine, and every single
mistake in each of them is listed once; a span is so many rounds in a row of the pool. A mistake is drawn from all of a
span's, as likely as the rates say (or each kind as likely as any other: then the ranking believes what is not so), and
only what its amount comes to is told.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import sqrt
from typing import Any, Final, cast

from tables.disputes import mispays
from tables.disputes.mispays import NAMED_FROM, Slip, Suspect, chips_of, in_chips, odds_of, ranked, slips
from tables.disputes.rack_history import Dealt
from tables.games.catalog import GAMES
from tables.games.felt import Action, AskBet, AskCard, AskChoice, Bet, Card, Choose, CloseBets, Limits, Opening
from tables.games.game import BankedGame
from tables.games.play import play
from tables.log.series import Chips

VALUES: Final = (100, 500, 2_500, 10_000)
BETS: Final = (1_000, 1_500, 2_000, 2_500, 3_000, 5_000, 7_500, 10_000)
BANKED: Final = tuple(name for name, game in GAMES.items() if not hasattr(game, "coins") or game.coins is None)
SPANS: Final = (20, 60, 180)
FORMER: Final[Mapping[str, float]] = {"other_odds": 0.0}
"""What the former ranking knew nothing of; its other rates were those of today."""


@dataclass(frozen=True, slots=True)
class Told:
    """What of a rack's difference is told to the finder besides its amount."""

    name: str
    broken: float | None
    """Which part of the payments and bets was in other chips than the fewest; None: the chips are not told."""


TOLD: Final = (
    Told("amount alone", None),
    Told("by worth, all in fewest chips", 0.0),
    Told("by worth, 10 % broken", 0.10),
)


@dataclass(frozen=True, slots=True)
class Pool:
    """Rounds of a game, each with every mistake that can happen in it."""

    game: str
    rounds: Sequence[Dealt]
    mistakes: Sequence[Sequence[Slip]]


# --- Rounds ----------------------------------------------------------------------------------------------------


def pool(name: str, rounds: int, chance: random.Random) -> Pool:
    """So many rounds of a game of two to five seats, each from a full shoe."""
    game = cast(BankedGame[Any, Any], GAMES[name])
    dealt = [_deal(game, number, chance) for number in range(1, rounds + 1)]
    odds = odds_of(dealt)
    return Pool(name, dealt, [slips(round_, None, VALUES, odds) for round_ in dealt])


def _deal(game: BankedGame[Any, Any], number: int, chance: random.Random) -> Dealt:
    rules = game.rules_type(unit=100)
    seats = tuple(range(1, max(game.seat_counts) + 1))
    opening = Opening(seats, Limits(500, 10_000), game.pack(rules).nothing)
    players = set(chance.sample(seats, chance.randint(2, min(5, len(seats)))))
    state, actions = game.open(rules, opening), list[Action]()

    def enter(action: Action) -> None:
        nonlocal state
        state = play(game, state, action)
        actions.append(action)

    for action in _bets(game.prompts(state), players, chance):
        enter(action)
    enter(CloseBets())
    while prompts := game.prompts(state):
        enter(_answer(prompts[0], chance))
    return Dealt(number, number * 40, game, rules, opening, actions=tuple(actions), payouts=tuple(game.settle(state)))


def _bets(prompts: Sequence[Any], players: set[int], chance: random.Random) -> Iterator[Bet]:
    """One main bet a player; side bets stay empty, since each adds mistakes of its own kind and none of another."""
    asked = [ask for ask in prompts if isinstance(ask, AskBet) and ask.seat in players and not ask.needs]
    seats: dict[int, list[AskBet]] = defaultdict(list)
    for ask in asked:
        seats[ask.seat].append(ask)
    for seat, asks in seats.items():
        ask = asks[0] if len(asks) == 1 or chance.random() < 0.7 else chance.choice(asks)
        steps = [cents for cents in BETS if ask.low_cents <= cents <= ask.high_cents and not cents % ask.step_cents]
        yield Bet(seat, chance.choice(steps), ask.wager)


def _answer(ask: Any, chance: random.Random) -> Action:
    if isinstance(ask, AskCard):
        return Card(chance.choice(ask.may_come), ask.to)
    if isinstance(ask, AskChoice):
        choice = chance.choice(ask.choices)
        return Choose(ask.seat, choice.name, choice.card, choice.cards, choice.target, choice.count)
    raise TypeError(f"nothing answers {ask}")


# --- One search ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """What came out of so many searches."""

    searches: int = 0
    first: int = 0
    three: int = 0
    five: int = 0
    named: int = 0
    named_wrongly: int = 0
    silent_needlessly: int = 0
    """Nothing was named though the true round came first."""

    def add(self, place: int | None, is_named: bool) -> None:
        """``place``: of the true round in the list, from 1; None where nothing in the list is true."""
        self.searches += 1
        self.first += place == 1
        self.three += place is not None and place <= 3
        self.five += place is not None and place <= 5
        self.named += is_named
        self.named_wrongly += is_named and place != 1
        self.silent_needlessly += not is_named and place == 1


def share(count: int, of: int) -> tuple[float, float]:
    """A share and its standard error, in per cent."""
    part = count / of if of else 0.0
    return 100 * part, 100 * sqrt(part * (1 - part) / of) if of else 0.0


@dataclass(frozen=True, slots=True)
class Line:
    """One line of what was measured."""

    game: str
    rounds: int
    priors: str
    ranking: str
    tally: Tally


PRIORS: Final = ("by the rates", "each kind alike", "two at once")


def measure(games: Sequence[str], searches: int, seed: int, pool_rounds: int = 360) -> Iterator[Line]:
    """Lines for each game, length of span, way of drawing mistakes, and what is told; with the former ranking's."""
    for game in games:
        chance = random.Random(f"{seed} {game}")  # noqa: S311 -- no card of a house hangs on it
        dealt = pool(game, pool_rounds, chance)
        for rounds in SPANS:
            for priors in PRIORS:
                tallies = _searched(dealt, rounds, priors, searches, chance)
                yield from (Line(game, rounds, priors, ranking, tally) for ranking, tally in tallies.items())


def _searched(dealt: Pool, rounds: int, priors: str, searches: int, chance: random.Random) -> Mapping[str, Tally]:
    tallies: dict[str, Tally] = {name: Tally() for name in ("former ranking", *(evidence.name for evidence in TOLD))}
    for _ in range(searches):
        start = chance.randrange(len(dealt.rounds) - rounds + 1)
        span = range(start, start + rounds)
        planted = [_planted(dealt, span, priors, chance) for _ in range(2 if priors == "two at once" else 1)]
        variance = sum(slip.rack_cents for _, slip in planted)
        if not variance:
            continue
        places = _fitting(dealt, span, variance)
        truth = {dealt.rounds[place].number for place, _ in planted} if len(planted) == 1 else set[int]()
        former = sorted(((_formerly(suspect), suspect.seq, suspect.round) for suspect in places), reverse=True)
        tallies["former ranking"].add(_place([number for _, _, number in former], truth), bool(former))
        for evidence in TOLD:
            off = (
                None
                if evidence.broken is None
                else _off(dealt, span, [slip for _, slip in planted], evidence.broken, chance)
            )
            suspects = ranked(places, VALUES, off)
            is_named = bool(suspects) and suspects[0].share >= NAMED_FROM
            tallies[evidence.name].add(_place([suspect.round for suspect in suspects], truth), is_named)
    return tallies


def _formerly(suspect: Suspect) -> float:
    return sum(slip.weight * FORMER.get(slip.kind, 1.0) for slip in suspect.slips)


def _place(numbers: Sequence[int | None], truth: set[int]) -> int | None:
    return next((place for place, number in enumerate(numbers, 1) if number in truth), None)


def _planted(dealt: Pool, span: range, priors: str, chance: random.Random) -> tuple[int, Slip]:
    """A round of the span, and a mistake in it."""
    candidates = [(place, slip) for place in span for slip in dealt.mistakes[place]]
    if priors != "each kind alike":
        return chance.choices(candidates, cum_weights=list(accumulate(slip.weight for _, slip in candidates)))[0]
    kind = chance.choice(sorted({slip.kind for _, slip in candidates}))
    return chance.choice([candidate for candidate in candidates if candidate[1].kind == kind])


def _fitting(dealt: Pool, span: range, variance_cents: int) -> list[Suspect]:
    fitting = (
        Suspect(
            dealt.rounds[place].seq,
            dealt.rounds[place].number,
            tuple(slip for slip in dealt.mistakes[place] if slip.rack_cents == variance_cents),
        )
        for place in span
    )
    return [suspect for suspect in fitting if suspect.slips]


def _off(dealt: Pool, span: range, mistakes: Sequence[Slip], broken: float, chance: random.Random) -> Chips:
    """By how many chips of each worth a rack is off after the mistakes, where some amounts lay in smaller chips."""
    off: Counter[int] = Counter()
    for slip in mistakes:
        off.update(chips_of(slip, VALUES))
    for amount_cents in mispays.rack_amounts(dealt.rounds[place] for place in span):
        if chance.random() >= broken:
            continue
        whole = {value: count for value, count in in_chips(amount_cents, VALUES).items() if value != VALUES[0]}
        if whole:
            value = chance.choice(sorted(whole))
            smaller = VALUES[VALUES.index(value) - 1]
            sign = 1 if amount_cents > 0 else -1
            off[value] -= sign
            off[smaller] += sign * (value // smaller)
    return tuple(sorted((value, count) for value, count in off.items() if count))


def added(lines: Sequence[Line]) -> Tally:
    """Several lines as one."""
    total = Tally()
    for name in Tally.__slots__:
        setattr(total, name, sum(getattr(line.tally, name) for line in lines))
    return replace(total)
