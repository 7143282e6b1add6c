"""Casino War, exactly: a card each, and where they tie another card each.

The three cards burned before a war are unknown, and unseen cards are exchangeable: they change nothing but how many
cards a round takes.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import perm, prod
from typing import Final

import msgspec

from tables.games.cards import BY_RANK, RANK_OF, Composition
from tables.games.casino_war import BURNED, PAY_FORM, Rules
from tables.games.house_script import HouseState, SpotSeen
from tables.games.pays import net
from tables.games.protocol import Settled
from tables.maths import cents
from tables.maths.covariances import Covariances, pairs_of
from tables.maths.covariances import exact as exact_covariances
from tables.maths.standard import by_rank, shoe_of, spelled
from tables.maths.worth import Edge, Results, Sheet, Tally, Valued, exact, results

ASSUMES: Final = "A seat that ties goes to war."
CARDS: Final = 7
ENDS: Final = ("win", "lose", "war_win", "war_lose", "second_tie")
CHART: Final = {"tie": "war"}
_HALF: Final = Fraction(1, 2)


def shoe(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from."""
    return shoe_of(composition, rules.decks, CARDS)


def tally(ranks: Composition) -> Tally:
    """Number of ways in which four cards (the seat's, the dealer's, and both again) give each end of a war.

    Which of two different ranks is the seat's is an even chance, whatever was dealt before.
    """
    size = sum(ranks)
    first, later = size * (size - 1), (size - 2) * (size - 3)
    pairs = [copies * (copies - 1) for copies in ranks]
    ties = sum(pairs) * later
    again = sum(
        ways * (sum(pairs) - ways + (copies - 2) * (copies - 3))
        for copies, ways in zip(ranks, pairs, strict=True)
        if ways
    )
    decided, higher = (first * later - ties) // 2, (ties - again) // 2
    return {"round": dict(zip(ENDS, (decided, decided, higher, higher, again), strict=True))}


# --- A round in progress
# ----------------------------------------------------------------------------------------------


def midround(state: HouseState) -> dict[int, float]:
    """Expectation of each seat that bet, in cents, if it goes to war at every tie. Raises Unknowable."""
    dealer = [RANK_OF[card] - 1 for card in state.hands[0].cards]
    dealt = len(dealer) + sum(len(hand.cards) for spot in state.spots for hand in spot.hands)
    ranks = by_rank(cents.unseen(state, state.rules.decks, 2 * len(state.spots) + 2 + BURNED - dealt))

    def wager_cents(spot: SpotSeen, wager: Settled) -> float:
        own = [RANK_OF[card] - 1 for hand in spot.hands for card in hand.cards]
        if wager.bet == "raise":
            return 0.0  # its result is part of the worth of the first bet
        worth = (
            _tie_worth(state.rules, ranks, own) if wager.bet == "tie" else _main_worth(state.rules, ranks, own, dealer)
        )
        return worth * wager.staked_cents

    return cents.expected(state, wager_cents)


def _tie_worth(rules: Rules, ranks: Composition, own: list[int]) -> float:
    """Before the dealer has a card: once he has, it is decided."""
    likely = ranks[own[0]] / sum(ranks) if own else _tie_chance(ranks)
    return float(_tie(rules, 0, 0) + 1) * likely - 1


def _tie_chance(ranks: Composition) -> float:
    """Probability that two cards have one rank."""
    return sum(copies * (copies - 1) for copies in ranks) / (sum(ranks) * (sum(ranks) - 1))


def _main_worth(rules: Rules, ranks: Composition, own: list[int], dealer: list[int]) -> float:
    """Mean win of a first bet with its raise, as a fraction of it."""
    if not own:
        result = wagers(rules, tally(ranks))["main"]
        return float(sum(net * ways for net, ways in result.items()) / sum(result.values()))
    if not dealer:
        return sum(
            copies / sum(ranks) * _first_worth(rules, _without(ranks, (rank,)), own[0], rank)
            for rank, copies in enumerate(ranks)
            if copies
        )
    if len(own) < 2:
        return _first_worth(rules, ranks, own[0], dealer[0])
    if len(dealer) > 1:
        return _war_end(rules, own[1], dealer[1])
    return sum(copies / sum(ranks) * _war_end(rules, own[1], rank) for rank, copies in enumerate(ranks))


def _first_worth(rules: Rules, ranks: Composition, own: int, dealer: int) -> float:
    """Both have a card; if they tie, both have another one to come from these."""
    if own != dealer:
        return 1.0 if _high(own) > _high(dealer) else -1.0
    again = _tie_chance(ranks)
    return again * _second_tie(rules) + (1 - again) * (1 - 2) / 2


def _war_end(rules: Rules, own: int, dealer: int) -> float:
    if own == dealer:
        return float(_second_tie(rules))
    return 1.0 if _high(own) > _high(dealer) else -2.0


# --- From a shoe to its sheet ----------------------------------------------------------------------------------------


def wagers(rules: Rules, often: Tally) -> dict[str, Results]:
    """Result of each wager, with the number of ways: the first bet with its raise, always raised, and the tie."""
    ends = often["round"]
    main = (
        (1, ends["win"]),
        (-1, ends["lose"]),
        (1, ends["war_win"]),
        (-2, ends["war_lose"]),
        (_second_tie(rules), ends["second_tie"]),
    )
    tie = ((net(PAY_FORM.in_force(rules)["tie"]["tie"]), _ties(often)), (-1, ends["win"] + ends["lose"]))
    return {bet: results(pays) for bet, pays in {"main": main, "tie": tie}.items() if bet in ("main", *rules.spread)}


def beside(rules: Rules, often: Tally) -> dict[str, dict[str, Results]]:
    """The first bet of a seat that surrenders at every tie, if surrender is allowed."""
    ends = often["round"]
    surrendering = results(((1, ends["win"]), (-1, ends["lose"]), (-_HALF, _ties(often))))
    return {"main": {"with_surrender": surrendering}} if rules.surrender else {}


def covariances(rules: Rules, composition: Composition | None = None) -> Covariances:
    """Exactly, of seats that always go to war. Two seats meet the same cards of the dealer, in the war too."""
    ranks = shoe(rules, composition)
    of_seat = dict.fromkeys(pairs_of(("main", "tie")), Fraction(0))
    of_seats = dict(of_seat)
    means = dict.fromkeys(("main", "tie"), Fraction(0))
    deals = [(dealt, _ways(ranks, dealt)) for dealt in product(range(len(ranks)), repeat=3)]
    ends: Counter[tuple[tuple[Fraction, Fraction], ...]] = Counter()
    for dealt, ways in deals:
        if ways:
            ends[tuple((_first_bet(rules, ranks, dealt, seat), _tie(rules, seat, dealt[0])) for seat in dealt[1:])] += (
                ways
            )
            if dealt[0] == dealt[1]:
                # The sums above contain the mean of a war; this adds the rest of its square and of the product of two.
                square, crossed = _spread(rules, _without(ranks, dealt))
                of_seat["main", "main"] += ways * square
                of_seats["main", "main"] += ways * crossed if dealt[1] == dealt[2] else 0
    for nets, ways in ends.items():
        seat, neighbour = ({"main": main, "tie": tie} for main, tie in nets)
        for bet in means:
            means[bet] += ways * seat[bet]
        for first, second in of_seat:
            of_seat[first, second] += ways * seat[first] * seat[second]
            of_seats[first, second] += ways * seat[first] * neighbour[second]
    total = perm(sum(ranks), 3)
    every = exact_covariances(
        {bet: sums / total for bet, sums in means.items()},
        {pair: sums / total for pair, sums in of_seat.items()},
        {pair: sums / total for pair, sums in of_seats.items()},
    )
    return {pair: together for pair, together in every.items() if {*pair} <= {"main", *rules.spread}}


def _ways(ranks: Composition, dealt: tuple[int, ...]) -> int:
    """Number of ways in which these ranks are dealt, one after the other."""
    return prod(ranks[rank] - dealt[:place].count(rank) for place, rank in enumerate(dealt))


def _without(ranks: Composition, dealt: tuple[int, ...]) -> Composition:
    return tuple(copies - dealt.count(rank) for rank, copies in enumerate(ranks))


def _high(rank: int) -> int:
    """Aces are high."""
    return rank or len(BY_RANK.deck)


def _tie(rules: Rules, seat: int, dealer: int) -> Fraction:
    return net(PAY_FORM.in_force(rules)["tie"]["tie"]) if seat == dealer else Fraction(-1)


def _first_bet(rules: Rules, ranks: Composition, dealt: tuple[int, ...], seat: int) -> Fraction:
    """Result of the first bet with this card; at a tie, the mean over the war."""
    if seat != dealt[0]:
        return Fraction(1 if _high(seat) > _high(dealt[0]) else -1)
    return _mean_of_war(rules, _without(ranks, dealt))


def _second_tie(rules: Rules) -> int:
    return 2 if rules.second_tie == "bonus" else 1


@lru_cache(maxsize=1024)
def _mean_of_war(rules: Rules, ranks: Composition) -> Fraction:
    size = sum(ranks)
    ties = Fraction(sum(copies * (copies - 1) for copies in ranks), size * (size - 1))
    return (1 - ties) / 2 * (1 - 2) + ties * _second_tie(rules)


@lru_cache(maxsize=1024)
def _spread(rules: Rules, ranks: Composition) -> tuple[Fraction, Fraction]:
    """The variance of a war from these cards, and the covariance of two seats at war."""
    ends: Counter[tuple[int, int]] = Counter()
    for dealt in product(range(len(ranks)), repeat=3):
        dealer, *seats = dealt
        first, second = (
            _second_tie(rules) if seat == dealer else 1 if _high(seat) > _high(dealer) else -2 for seat in seats
        )
        ends[first, second] += _ways(ranks, dealt)
    total, apart = perm(sum(ranks), 3), _mean_of_war(rules, ranks) ** 2
    square = Fraction(sum(first * first * ways for (first, _), ways in ends.items()), total)
    crossed = Fraction(sum(first * second * ways for (first, second), ways in ends.items()), total)
    return square - apart, crossed - apart


def _ties(often: Tally) -> int:
    ends = often["round"]
    return ends["war_win"] + ends["war_lose"] + ends["second_tie"]


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """Worth of every wager to a seat that always goes to war. Raises Unknowable."""
    return valued(rules, composition, tally(shoe(rules, composition)), exact)


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """Worth of every wager, from the unseen cards. Raises Unknowable."""
    return sheet(rules, unseen).edges


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally, however it came about."""
    side_ends = beside(rules, often)
    worths = {bet: worth(ends, side_ends.get(bet)) for bet, ends in wagers(rules, often).items()}
    return Sheet("casino_war", msgspec.to_builtins(rules), worths, spelled(shoe(rules, composition)), CHART)
