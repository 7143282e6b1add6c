"""Accuracy of the payout-error search, measured on simulated rounds with planted mistakes.

Pure apart from seeded randomness. The engine deals a pool of rounds for each game, and every single mistake possible in
each round is listed once. A span is a run of consecutive rounds of the pool. Each dealer has an error rate that is
hidden from the search. Take-backs, disputes and bookmarks occur at random, more often in rounds with a mistake. The
planted mistake is drawn from all mistakes of the span, either by the rates or with equal odds for each kind, which
contradicts the assumptions of the ranking. The search sees only the rack variance and the log's evidence on the rounds.

Each ranking is compared with its limit: the accuracy of an ideal search that has the same evidence and also the exact
rates, dealers and habits of the players. The limit is computed from the probabilities of the likeliest rounds of each
search, not by counting hits. The gap below the limit is the fault of the ranking; the rest is missing information.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from math import log2, sqrt
from statistics import fmean, stdev
from typing import Any, Final, cast

from tables.disputes import payout_errors
from tables.disputes.payout_errors import (
    NAMED_FROM,
    Mistake,
    Suspect,
    VarianceCount,
    by_chips,
    chips_of,
    in_chips,
    loads_of,
    odds_of,
    ranked,
    slips,
    times,
    weighed,
    weighed_by_left_over,
)
from tables.disputes.rack_history import Dealt
from tables.disputes.round_evidence import BOOKMARKED, DISPUTED, of_round
from tables.games.catalog import DEALT
from tables.games.game import BankedGame
from tables.games.play import play
from tables.games.protocol import Action, AskBet, AskCard, AskChoice, Bet, Card, Choose, CloseBets, Limits, Opening
from tables.log.payout_error_rates import DEFAULTS
from tables.log.slip_types import Chips

VALUES: Final = (100, 500, 2_500, 10_000)
BETS: Final = (1_000, 1_500, 2_000, 2_500, 3_000, 5_000, 7_500, 10_000)
BANKED: Final = tuple(name for name, game in DEALT.items() if not hasattr(game, "coins") or game.coins is None)
SPANS: Final = (20, 60, 180)
FORMER: Final[Mapping[str, float]] = {"other_odds": 0.0}
"""What the ranking of 0.4 knew nothing of; its other rates were those of today."""

TROUBLE: Final = 0.04
"""Probability of a take-back or a refused card in a round of an average dealer; proportional to the dealer's error
rate."""
MARKED: Final = 0.01
"""Probability that a round without a mistake is disputed, and that surveillance bookmarks it."""
DEALERS: Final = 4
TURN: Final = 20
"""Rounds until a dealer is relieved."""
SHAPE: Final = 2.0
"""Of the gamma distribution of dealers' rates: the best of four errs a third as often as the worst, or less."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence that a ranking uses in addition to the amount of the rack variance, and how it weighs it."""

    name: str
    broken: float | None = None
    """Which part of the payments and bets was in other chips than the fewest; None: the chips are not told."""
    with_marks: bool = True
    """Whether what else the log says of the rounds is weighed."""
    formerly: bool = False
    """Chips by how many are left over, as they were weighed first."""
    limit: bool = False
    """Not a ranking: how often anybody could be right."""


TOLD: Final = (
    Evidence("amount alone", with_marks=False),
    Evidence("amount and marks"),
    Evidence("amount and marks: limit", limit=True),
    Evidence("fewest chips, former weighing", 0.0, with_marks=False, formerly=True),
    Evidence("fewest chips, without marks", 0.0, with_marks=False),
    Evidence("fewest chips", 0.0),
    Evidence("fewest chips: limit", 0.0, limit=True),
    Evidence("10 % broken, former weighing", 0.10, with_marks=False, formerly=True),
    Evidence("10 % broken, without marks", 0.10, with_marks=False),
    Evidence("10 % broken", 0.10),
    Evidence("10 % broken: limit", 0.10, limit=True),
)


@dataclass(frozen=True, slots=True)
class Pool:
    """Rounds of a game, each with every mistake that can happen in it."""

    game: str
    rounds: Sequence[Dealt]
    mistakes: Sequence[Sequence[Mistake]]
    """As the ranking that knows the amount alone weighs them."""
    likely: Sequence[Sequence[Mistake]]
    """As likely as they are: with the dealers' own rates, and with what was noticed."""


# --- Rounds ----------------------------------------------------------------------------------------------------


def pool(name: str, rounds: int, chance: random.Random) -> Pool:
    """Simulated rounds of a game with two to five players, each from a full shoe, and their possible mistakes."""
    game = cast(BankedGame[Any, Any], DEALT[name])
    dealt = [_deal(game, number, chance) for number in range(1, rounds + 1)]
    odds = odds_of(dealt)
    cares = [chance.gammavariate(SHAPE, 1 / SHAPE) for _ in range(DEALERS)]
    dealt = [_noticed(round_, cares, chance) for round_ in dealt]
    mistakes = [slips(round_, None, VALUES, odds) for round_ in dealt]
    troubled = {round_.number for round_ in dealt if round_.troubled}
    likely = []
    for round_, possible in zip(dealt, mistakes, strict=True):
        evidence = of_round(round_, troubled, {round_.dealer: cares[int(round_.dealer)]}, DEFAULTS)
        likely.append([replace(slip, weight=slip.weight * evidence.times * times(slip, DEFAULTS)) for slip in possible])
    return Pool(name, dealt, mistakes, likely)


def _noticed(round_: Dealt, cares: Sequence[float], chance: random.Random) -> Dealt:
    """A round with its dealer, and with what would be noticed of it if nothing went wrong but what is planted."""
    dealer = (round_.number // TURN) % DEALERS
    marks = frozenset(mark for mark in (DISPUTED, BOOKMARKED) if chance.random() < MARKED)
    return replace(round_, dealer=str(dealer), troubled=chance.random() < TROUBLE * cares[dealer], marks=marks)


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
    prompts_due = [ask for ask in prompts if isinstance(ask, AskBet) and ask.seat in players and not ask.needs]
    seats: dict[int, list[AskBet]] = defaultdict(list)
    for ask in prompts_due:
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
class TrialTally:
    """The results of a number of searches."""

    searches: int = 0
    first: int = 0
    three: int = 0
    five: int = 0
    named: int = 0
    named_wrongly: int = 0
    silent_needlessly: int = 0
    """Nothing was named though the true round came first."""
    limits: list[tuple[float, float, float]] = field(default_factory=list)
    """Of a limit: how likely the likeliest round was in each search, the three likeliest together, and the five."""
    bits: list[float] = field(default_factory=list)
    """What was left to be known of which round it was, in bits."""

    def reckon(self, weights: Sequence[float]) -> None:
        """One search of a limit, from the weights of its rounds, the largest first."""
        total = sum(weights)
        if not total:
            return
        self.searches += 1
        shares = [weight / total for weight in weights]
        self.limits.append((sum(shares[:1]), sum(shares[:3]), sum(shares[:5])))
        self.bits.append(-sum(part * log2(part) for part in shares if part > 0))

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
class TrialRow:
    """One line of what was measured."""

    game: str
    rounds: int
    priors: str
    ranking: str
    tally: TrialTally


PRIORS: Final = ("by the rates", "each kind alike", "two at once")


def measure(
    games: Sequence[str], searches: int, seed: int, pool_rounds: int = 360, spans: Sequence[int] = SPANS
) -> Iterator[TrialRow]:
    """Yield a row for each game, span length, way of drawing mistakes and ranking, including the former ranking."""
    for game in games:
        chance = random.Random(f"{seed} {game}")  # noqa: S311 -- no card of a house hangs on it
        dealt = pool(game, pool_rounds, chance)
        for rounds in spans:
            for priors in PRIORS:
                tallies = _searched(dealt, rounds, priors, searches, chance)
                yield from (TrialRow(game, rounds, priors, ranking, tally) for ranking, tally in tallies.items())


def _searched(dealt: Pool, rounds: int, priors: str, searches: int, chance: random.Random) -> Mapping[str, TrialTally]:
    # What is drawn otherwise than by the rates has another limit, which nobody reckons here.
    rankings = [evidence for evidence in TOLD if priors == PRIORS[0] or not evidence.limit]
    tallies: dict[str, TrialTally] = {
        name: TrialTally() for name in ("former ranking", *(evidence.name for evidence in rankings))
    }
    for _ in range(searches):
        start = chance.randrange(len(dealt.rounds) - rounds + 1)
        span = range(start, start + rounds)
        planted = [_planted(dealt, span, priors, chance) for _ in range(2 if priors == "two at once" else 1)]
        variance = sum(slip.rack_cents for _, slip in planted)
        if not variance:
            continue
        truth = {dealt.rounds[place].number for place, _ in planted} if len(planted) == 1 else set[int]()
        places = _fitting(dealt, dealt.mistakes, span, variance)
        former = sorted(((_formerly(suspect), suspect.seq, suspect.round) for suspect in places), reverse=True)
        tallies["former ranking"].add(_place([number for _, _, number in former], truth), bool(former))
        search = _Search(dealt, span, places, _fitting(dealt, dealt.likely, span, variance))
        slips_planted = [slip for _, slip in planted]
        offs = {part: _off(dealt, span, slips_planted, part, chance) for part in PARTS}
        for evidence in rankings:
            suspects = search.ranked(evidence, None if evidence.broken is None else offs[evidence.broken])
            if evidence.limit:
                tallies[evidence.name].reckon([suspect.weight for suspect in suspects])
                continue
            is_named = bool(suspects) and suspects[0].share >= NAMED_FROM
            tallies[evidence.name].add(_place([suspect.round for suspect in suspects], truth), is_named)
    return tallies


PARTS: Final = tuple(sorted({evidence.broken for evidence in TOLD if evidence.broken is not None}))


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: the rounds that fit, as the finder weighs them and as likely as they are."""

    dealt: Pool
    span: range
    places: Sequence[Suspect]
    likely: Sequence[Suspect]

    def ranked(self, evidence: Evidence, off: Chips | None) -> list[Suspect]:
        rounds = [self.dealt.rounds[place] for place in self.span]
        places = self.likely if evidence.limit else self.places
        if evidence.with_marks and not evidence.limit:
            places = weighed(places, rounds, DEFAULTS)
        if evidence.formerly:
            return ranked(weighed_by_left_over(places, VALUES, off or ()), VALUES, None)
        counted = (
            VarianceCount(0, {}, off, loads_of(payout_errors.rack_amounts(rounds), VALUES)) if off is not None else None
        )
        if evidence.limit and counted is not None:
            exactly = {evidence.broken or 1e-9: 1.0}
            return ranked(by_chips(places, VALUES, counted, exactly, stray=0.0), VALUES, None)
        return ranked(places, VALUES, counted)


def _formerly(suspect: Suspect) -> float:
    return sum(slip.weight * FORMER.get(slip.kind, 1.0) for slip in suspect.slips)


def _place(numbers: Sequence[int | None], truth: set[int]) -> int | None:
    return next((place for place, number in enumerate(numbers, 1) if number in truth), None)


def _planted(dealt: Pool, span: range, priors: str, chance: random.Random) -> tuple[int, Mistake]:
    """A round of the span, and a mistake in it."""
    candidates = [(place, slip) for place in span for slip in dealt.likely[place]]
    if priors != "each kind alike":
        return chance.choices(candidates, cum_weights=list(accumulate(slip.weight for _, slip in candidates)))[0]
    kind = chance.choice(sorted({slip.kind for _, slip in candidates}))
    return chance.choice([candidate for candidate in candidates if candidate[1].kind == kind])


def _fitting(dealt: Pool, mistakes: Sequence[Sequence[Mistake]], span: range, variance_cents: int) -> list[Suspect]:
    fitting = (
        Suspect(
            dealt.rounds[place].seq,
            dealt.rounds[place].number,
            tuple(slip for slip in mistakes[place] if slip.rack_cents == variance_cents),
        )
        for place in span
    )
    return [suspect for suspect in fitting if suspect.slips]


def _off(dealt: Pool, span: range, mistakes: Sequence[Mistake], broken: float, chance: random.Random) -> Chips:
    """By how many chips of each worth a rack is off after the mistakes, where some amounts lay in smaller chips."""
    off: Counter[int] = Counter()
    for slip in mistakes:
        off.update(chips_of(slip, VALUES))
    for amount_cents in payout_errors.rack_amounts(dealt.rounds[place] for place in span):
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


def added(lines: Sequence[TrialRow]) -> TrialTally:
    """Several lines as one."""
    total = TrialTally()
    for line in lines:
        for name in COUNTS:
            setattr(total, name, getattr(total, name) + getattr(line.tally, name))
        total.limits += line.tally.limits
        total.bits += line.tally.bits
    return total


COUNTS: Final = ("searches", "first", "three", "five", "named", "named_wrongly", "silent_needlessly")


def average(parts: Sequence[float]) -> tuple[float, float]:
    """A mean and its standard error, in per cent."""
    return 100 * fmean(parts), 100 * (stdev(parts) / sqrt(len(parts)) if len(parts) > 1 else 0.0)
