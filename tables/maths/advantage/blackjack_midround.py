"""Worth of a blackjack round in progress to each seat: best play by the visible cards.

Every hand that may result is valued exactly from the composition, with every card removed, as in `blackjack_hands`; but
by arrays, in tens of milliseconds and without machine code, since a page waits. For a dealer who peeks, as there:
values are means of the win, counted as 0 if the dealer has a blackjack, and are divided by the probability of none once
the dealer has peeked.

A pair may be split once: the worth of a hand of a split ignores further splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tables.games.blackjack import NO_BLACKJACK, Rules
from tables.games.cards import RANK_OF, STANDARD, UNKNOWN, Composition
from tables.games.house_script import HandSeen, HouseState, SpotSeen
from tables.games.odds import Odds, half
from tables.games.protocol import MAIN, AskCard, AskChoice, Choose, Settled
from tables.maths import cents
from tables.maths.blackjack_chart import blackjack_odds, pay_of, play_of, value_of, values_of
from tables.maths.blackjack_dealer import ACE, BLACKJACK, KINDS, TEN, VALUES, best, natural, tree
from tables.maths.blackjack_hands import OUT, StakeValue, lattice, place
from tables.maths.blackjack_sides import pair_line, pays_of, perfect_pairs, three_line, twenty_one_plus_three, won
from tables.maths.standard import by_rank

ASSUMES: Final = (
    "A pair is split where that is best, but a hand of a split is not split again; nobody takes insurance who has not"
    " done so; and the table's cap leaves room for doubles and splits."
)
"""The assumptions behind the values, for people who rule on a dispute."""
_EACH: Final = 3
"""Cards that must be left for each hand and for the dealer; with fewer the shoe might run out."""
Floats = NDArray[np.float64]
Places = NDArray[np.int64]
ByValue = tuple[int, ...]
"""Number of cards of each value, aces first."""


# --- Hands from a shoe -------------------------------------------------------------------------------------------


@cache
def _hard() -> Places:
    """The hard total of every hand."""
    return np.asarray(lattice().counts @ np.arange(1, KINDS + 1), np.int64)


@dataclass(frozen=True)
class Solved:
    """Worth of every hand that contains some cards against an upcard, for each unit of its bet."""

    counts: ByValue
    """The unseen cards together with the hand's own."""
    safe: Floats
    """Probability that the dealer has no blackjack, given the hand."""
    stand: Floats
    play: Floats
    """The hand may hit or stand."""
    hit: Floats
    double: Floats


@lru_cache(maxsize=512)
def solved(rules: Rules, upcard: int, counts: ByValue, start: ByValue, later: bool = False) -> Solved:
    """Every hand with at least the cards of ``start``. ``counts`` are the cards that may come and the hand's own.

    ``later``: whether it is a hand that a split added, of which a dealer's blackjack may take less.
    """
    hands, pay = lattice(), pay_of(rules)
    stakes = pay.later if later else pay.first
    places = np.flatnonzero((hands.counts >= start).all(axis=1) & (hands.counts <= counts).all(axis=1))
    ends = np.zeros((BLACKJACK + 1, len(hands.total)))
    ends[:, places] = dealers_ends(upcard, np.array(counts)[:, None] - hands.counts[places].T, rules.soft17 == "hit")
    stand, twice = (_standing(ends, hands.total, stake) for stake in stakes)
    play, hit = stand.copy(), np.zeros(len(stand))
    for total in range(int(_hard()[places].max()), -1, -1):
        layer = places[_hard()[places] == total]
        if not len(layer):
            continue
        hit[layer] = _drawn(counts, upcard, layer, play, stakes.single)
        draws = (hands.total[layer] < 21) & (hands.cards[layer] >= 1)
        play[layer] = np.where(draws, np.maximum(stand[layer], hit[layer]), stand[layer])
    double = np.zeros(len(stand))
    double[places] = _drawn(counts, upcard, places, twice, stakes.double)
    return Solved(counts, _safe(counts, upcard, rules), stand, play, hit, double)


def _safe(counts: ByValue, upcard: int, rules: Rules) -> Floats:
    """Probability that the dealer has no blackjack, given each hand."""
    hands, makes_one = lattice(), natural(upcard)
    if makes_one == OUT:
        return np.ones(len(hands.total))
    cards_left = np.maximum(sum(counts) - hands.cards, 1)
    return np.asarray(1 - np.maximum(counts[makes_one] - hands.counts[:, makes_one], 0) / cards_left)


def dealers_ends(upcard: int, counts: Places, hits_soft_17: bool) -> Floats:
    """Probability of each end of the dealer: a row for 17 to 21, a bust and a blackjack, a column for each set of
    cards."""
    sets = tree(upcard, hits_soft_17)
    free, size = counts.astype(np.float64), counts.sum(axis=0)
    chance, ends = np.ones((1, counts.shape[1])), np.zeros((BLACKJACK + 1, counts.shape[1]))
    layer_start = 0
    for drawn in range(1, int(sets.cards[-1]) + 1):
        places = np.flatnonzero(sets.cards == drawn)
        share = np.where(size >= drawn, 1 / np.maximum(size - drawn + 1, 1), 0)
        copies = np.maximum(free[sets.value[places]] - sets.already[places, None], 0)
        chance = chance[sets.parent[places] - layer_start] * copies * share
        layer_start = int(places[0])
        for end in range(BLACKJACK + 1):
            ending = sets.end[places] == end
            ends[end] += sets.orders[places][ending] @ chance[ending]
    return ends


def _standing(ends: Floats, total: Places, stake: StakeValue) -> Floats:
    """Contribution of each hand that stands."""
    totals = np.arange(17, 22)[:, None]
    win = ends[5] + (ends[:5] * (totals < total)).sum(axis=0)
    lose = (ends[:5] * (totals > total)).sum(axis=0)
    return np.asarray(stake.win * win + stake.lose * lose + stake.natural * ends[BLACKJACK])


def _drawn(counts: ByValue, upcard: int, places: Places, onward: Floats, stake: StakeValue) -> Floats:
    """Contribution of each hand with one further card."""
    hands, makes_one = lattice(), natural(upcard)
    cards_left = sum(counts) - hands.cards[places]
    free = np.maximum(np.array(counts) - hands.counts[places], 0)
    beaten = np.zeros(free.shape)
    if makes_one != OUT:
        beaten = (free[:, [makes_one]] - (np.arange(KINDS) == makes_one)) / np.maximum(cards_left - 1, 1)[:, None]
    longer = hands.onward[places]
    worth = np.where(longer == OUT, stake.lose * (1 - beaten) + stake.bust_natural * beaten, onward[longer])
    return np.asarray((free * worth).sum(axis=1) / np.maximum(cards_left, 1))


# --- A hand and its choices --------------------------------------------------------------------------------------


class StakeTerms(NamedTuple):
    """Payments on a seat's own stake in whole chips, as fractions of it."""

    blackjack: float
    surrender: float


def first_worth(rules: Rules, terms: StakeTerms, hand: tuple[int, ...], upcard: int, of: Solved) -> float:
    """Worth of two first cards for each unit of the bet, before the dealer peeks."""
    index = place(hand)
    safe, peeks = float(of.safe[index]), rules.hole == "peek"
    if sorted(hand) == [ACE, TEN]:
        return terms.blackjack * safe
    beaten = -(1 - safe) if peeks else 0.0
    ways = [*_two_card_ways(rules, of, index, is_split=False)]
    if hand[0] == hand[1] and rules.splits:
        ways.append(_split(rules, upcard, of.counts, hand[0]))
    if rules.surrender != "none":
        lost = terms.surrender if rules.surrender == "early" else -1.0
        ways.append(terms.surrender * safe + (0.0 if peeks else lost * (1 - safe)))
    return max(ways) + beaten


def _two_card_ways(rules: Rules, of: Solved, index: int, *, is_split: bool) -> list[float]:
    """Worth of standing, hitting and doubling a hand of two cards; 21 always stands."""
    hands, play = lattice(), play_of(rules)
    total, ways = hands.total[index], [float(of.stand[index])]
    if total < 21:
        ways.append(float(of.hit[index]))
        may = play.soft == 1 if hands.soft[index] else play.least <= total <= play.most
        if may and (rules.double_after_split or not is_split):
            ways.append(float(of.double[index]))
    return ways


def _split(rules: Rules, upcard: int, counts: ByValue, value: int) -> float:
    """Worth of both hands of a split; each knows that a card of its value is in the other."""
    remainder = _minus(counts, value)
    return sum(one_card(rules, upcard, remainder, value, later=later) for later in (False, True))


def one_card(rules: Rules, upcard: int, counts: ByValue, value: int, *, later: bool) -> float:
    """Worth of a split hand that has its first card."""
    hands, start = lattice(), _count((value,))
    of = solved(rules, upcard, counts, start, later and rules.hole == "none_original")
    first, mean = place((value,)), 0.0
    remainder = _minus(counts, value)
    for second, free in enumerate(remainder):
        if not free:
            continue
        index = int(hands.onward[first, second])
        if value == ACE and not rules.hit_split_aces:
            worth = float(of.stand[index])
        else:
            worth = max(_two_card_ways(rules, of, index, is_split=True))
        mean += free / sum(remainder) * worth
    return mean


def _count(values: Sequence[int]) -> ByValue:
    return tuple(values.count(value) for value in VALUES)


def _minus(counts: ByValue, value: int) -> ByValue:
    return (*counts[:value], counts[value] - 1, *counts[value + 1 :])


def _plus(counts: ByValue, values: Sequence[int]) -> ByValue:
    return tuple(copies + values.count(value) for value, copies in enumerate(counts))


# --- The dealer, as far as he has cards --------------------------------------------------------------------------


def dealer_from(rules: Rules, unseen: ByValue, dealer: Sequence[int]) -> Floats:
    """Probabilities of the dealer's ends, 17 to 21, bust and blackjack, from the dealer's present cards."""
    if len(dealer) == 1:
        return dealers_ends(dealer[0], np.array(unseen)[:, None], rules.soft17 == "hit")[:, 0]
    ends = np.zeros(BLACKJACK + 1)
    total, soft = best(sum(value + 1 for value in dealer), ACE in dealer)
    if len(dealer) == 2 and sorted(dealer) == [ACE, TEN]:
        ends[BLACKJACK] = 1
    elif total > 21:
        ends[5] = 1
    elif total > 17 or (total == 17 and not (soft and rules.soft17 == "hit")):
        ends[total - 17] = 1
    else:
        for value, free in enumerate(unseen):
            if free:
                ends += free / sum(unseen) * dealer_from(rules, _minus(unseen, value), (*dealer, value))
    return ends


# --- The round ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Moment:
    """A round in progress, as far as hands depend on it."""

    rules: Rules
    unseen: ByValue
    dealer: tuple[int, ...]
    """Values of the dealer's faceup cards."""
    looked: bool
    """Whether the dealer peeked and declared no blackjack."""
    asked: object
    """The first open prompt."""


def midround(state: HouseState) -> dict[int, float]:
    """Expectation of each seat that bet, in cents. Raises Unknowable."""
    rules: Rules = state.rules
    cards = cents.unseen(state, rules.decks, _to_come(state))
    moment = Moment(
        rules,
        values_of(by_rank(cards)),
        tuple(value_of(RANK_OF[card]) for card in state.hands[0].cards if card != UNKNOWN),
        looked=any(type(action) is Choose and action.choice == NO_BLACKJACK for action in state.actions),
        asked=state.prompts[0] if state.prompts else None,
    )

    def wager_cents(spot: SpotSeen, wager: Settled) -> float:
        if wager.bet == "insurance":
            return wager.staked_cents * (3 * _beaten(moment) - 1)
        if wager.bet != MAIN:
            return wager.staked_cents * _side(state.rules, wager.bet, cards, spot, state.hands[0])
        return _main_cents(moment, spot, wager)

    return cents.expected(state, wager_cents)


def _to_come(state: HouseState) -> int:
    """Cards that the round may need at most, as an estimate."""
    if not state.prompts:
        return 0
    hands = [hand for spot in state.spots for hand in spot.hands]
    dealt = len(state.hands[0].cards) + sum(len(hand.cards) for hand in hands)
    rules: Rules = state.rules
    missing = 2 * len(state.spots) + 1 + (rules.hole == "peek") - dealt
    if missing > 0:
        return missing + _EACH * (len(state.spots) + 1)
    return _EACH * (1 + sum(not hand.state for hand in hands))


def _beaten(moment: Moment) -> float:
    """Probability of a dealer's blackjack."""
    if len(moment.dealer) > 1:
        return float(len(moment.dealer) == 2 and sorted(moment.dealer) == [ACE, TEN])
    makes_one = natural(moment.dealer[0])
    return 0.0 if moment.looked or makes_one == OUT else moment.unseen[makes_one] / sum(moment.unseen)


def _main_cents(moment: Moment, spot: SpotSeen, wager: Settled) -> float:
    """A hand and its bet."""
    rules, staked = moment.rules, wager.put_up[0][1]
    terms = StakeTerms(
        Odds(*blackjack_odds(rules)).of(staked, rules.unit, rules.rounding)[0] / staked,
        -half(staked, rules.unit) / staked,
    )
    hand = spot.hands[(wager.hand or 1) - 1] if spot.hands else None
    values = tuple(value_of(RANK_OF[card]) for card in hand.cards) if hand else ()
    if len(spot.hands) <= 1 and len(values) < 2:
        return staked * _undealt(moment, terms, values)
    assert hand is not None  # noqa: S101 -- it has cards
    doubled = any(name == "double" for name, _ in wager.put_up)
    return staked * _hand_worth(moment, terms, hand, values, (len(spot.hands) > 1, doubled))


def _undealt(moment: Moment, terms: StakeTerms, own: tuple[int, ...]) -> float:
    """Two first cards of which some are to come, and maybe the upcard."""
    if not moment.dealer:
        return sum(
            free / sum(moment.unseen) * _dealt(moment.rules, terms, upcard, _minus(moment.unseen, upcard), own)
            for upcard, free in enumerate(moment.unseen)
            if free
        )
    return _dealt(moment.rules, terms, moment.dealer[0], moment.unseen, own)


@lru_cache(maxsize=256)
def _dealt(rules: Rules, terms: StakeTerms, upcard: int, unseen: ByValue, own: tuple[int, ...]) -> float:
    """Over all that may make two cards of them."""
    mean, size = 0.0, sum(unseen)
    of = solved(rules, upcard, _plus(unseen, own), _count(own))
    for draw in product(VALUES, repeat=2 - len(own)):
        hand = (*own, *draw)
        ways, counts_left = 1.0, unseen
        for drawn, value in enumerate(draw):
            ways *= counts_left[value] / (size - drawn)
            counts_left = _minus(counts_left, value)
        if ways and list(draw) == sorted(draw):
            often = 2 if len(set(draw)) == 2 else 1
            mean += often * ways * first_worth(rules, terms, hand, upcard, of)
    return mean


def _hand_worth(
    moment: Moment, terms: StakeTerms, hand: HandSeen, values: tuple[int, ...], history: tuple[bool, bool]
) -> float:
    """A hand that has its first cards, for each unit of its first bet. ``history``: was it split, and doubled."""
    rules, (is_split, doubled) = moment.rules, history
    later = is_split and hand.number > 1 and rules.hole == "none_original"
    if not is_split and len(values) == 2 and sorted(values) == [ACE, TEN]:
        return terms.blackjack * (1 - _beaten(moment))
    if hand.state == "stands" or len(moment.dealer) > 1:
        return _stood(moment, values, doubled=doubled, later=later)
    counts, upcard = _plus(moment.unseen, values), moment.dealer[0]
    if len(values) == 1:
        worth, safe = one_card(rules, upcard, counts, values[0], later=later), _safe_now(moment)
        return worth / safe
    of, index = solved(rules, upcard, counts, _count(values), later), place(values)
    safe = _safe_now(moment)
    if _card_is_due(moment, hand):
        return float(of.double[index] if doubled else of.hit[index]) / safe
    if len(values) > 2:
        return float(of.play[index]) / safe
    if not is_split:
        worth = first_worth(rules, terms, values, upcard, of)
        return (worth + 1 - safe) / safe if moment.looked else worth
    ways = _two_card_ways(rules, of, index, is_split=True)
    if values[0] == ACE and not rules.hit_split_aces:
        ways = ways[:1]
    if _may_split(moment, hand):
        ways.append(_split(rules, upcard, counts, values[0]))
    return max(ways) / safe


def _safe_now(moment: Moment) -> float:
    """Divisor of values: the probability that the dealer has no blackjack, if the dealer has peeked; otherwise 1."""
    makes_one = natural(moment.dealer[0])
    if not moment.looked or makes_one == OUT or len(moment.dealer) > 1:
        return 1.0
    return 1 - moment.unseen[makes_one] / sum(moment.unseen)


def _card_is_due(moment: Moment, hand: HandSeen) -> bool:
    """Whether the hand was hit or doubled, and its card is to come."""
    prompt = moment.asked
    return type(prompt) is AskCard and prompt.to == hand.seat and (prompt.hand or 1) == hand.number


def _may_split(moment: Moment, hand: HandSeen) -> bool:
    """Whether a split is offered now to a hand of a split."""
    prompt = moment.asked
    if type(prompt) is not AskChoice or prompt.seat != hand.seat or prompt.hand != hand.number:
        return False
    return any(choice.name == "split" for choice in prompt.choices)


def _stood(moment: Moment, values: tuple[int, ...], *, doubled: bool, later: bool) -> float:
    """A hand that waits for the dealer, for each unit of its first bet."""
    pay = pay_of(moment.rules)
    stakes = pay.later if later else pay.first
    stake = stakes.double if doubled else stakes.single
    ends = dealer_from(moment.rules, moment.unseen, moment.dealer)
    total, _ = best(sum(value + 1 for value in values), ACE in values)
    worth = float(_standing(ends[:, None], np.array([total]), stake)[0])
    return worth / _safe_now(moment)


# --- The wagers on the first cards -------------------------------------------------------------------------------


def _side(rules: Rules, bet: str, cards: Composition, spot: SpotSeen, dealer: HandSeen) -> float:
    """A side bet of which not all cards lie there."""
    own = [*spot.hands[0].cards] if spot.hands else []
    up = [card for card in dealer.cards[:1] if card != UNKNOWN]
    pays = pays_of(rules)
    line_of, lying, size = (pair_line, own, 2) if bet == "perfect_pairs" else (three_line, [*own, *up], 3)
    if not lying:
        ways_of = perfect_pairs(cards, pays) if bet == "perfect_pairs" else twenty_one_plus_three(cards, pays)
        return float(sum(net * ways for net, ways in ways_of.items()) / sum(ways_of.values()))
    mean, total = 0.0, sum(cards)
    for further_cards in product(STANDARD.cards(STANDARD.deck), repeat=size - len(lying)):
        ways = 1.0
        for drawn, card in enumerate(further_cards):
            ways *= max(cards[card - 1] - further_cards[:drawn].count(card), 0) / (total - drawn)
        mean += ways * float(won(pays[bet], line_of((*lying, *further_cards)))) if ways else 0.0
    return mean
