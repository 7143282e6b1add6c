"""Rounds of each game dealt at random, tallied as the game's provider values them: a check of the exact values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tables.games import baccarat as baccarat_game
from tables.games import blackjack as blackjack_game
from tables.games import casino_war as casino_war_game
from tables.games import dragon_tiger as dragon_tiger_game
from tables.games import three_card_poker as three_card_poker_game
from tables.games.cards import Composition
from tables.maths import baccarat, blackjack, casino_war, dragon_tiger, three_card_poker
from tables.maths.advantage import card_simulation
from tables.maths.blackjack_sides import INSURANCE_LINES, PAIR_LINES, THREE_LINES, lines
from tables.maths.blackjack_simulation import MOST, first_cards, simulate
from tables.maths.standard import by_rank
from tables.maths.three_card_poker import ANTE_ENDS, DECK, HANDS, Against
from tables.maths.worth import Tally

Deal = Callable[[Any, Composition | None, int, int], Tally]
"""Options, cards (None for a full shoe), number of rounds, seed. The same seed deals the same rounds, each from all the
cards. Thread-safe; raises Unknowable for cards from which no round can be dealt."""


def deal_baccarat(rules: baccarat_game.Rules, composition: Composition | None, rounds: int, seed: int) -> Tally:
    """Deal rounds of baccarat."""
    draws = baccarat.banker_draws().astype(np.uint8).ravel()
    counts = card_simulation.baccarat(baccarat.shoe(rules, composition), draws, rounds, seed)
    outcomes = len(baccarat.ENDS)
    ends, pairs, margins = (part.tolist() for part in np.split(counts, (outcomes, outcomes + 2)))
    player, banker = ({"win": won, "lose": rounds - won} for won in pairs)
    by_end = dict(zip(baccarat.ENDS, ends, strict=True))
    by_margin = dict(zip(baccarat.MARGINS, margins, strict=True))
    return {"round": by_end, "margin": by_margin, "player_pair": player, "banker_pair": banker}


def deal_blackjack(rules: blackjack_game.Rules, composition: Composition | None, rounds: int, seed: int) -> Tally:
    """Deal rounds of blackjack: "main" counts rounds by the result of the hand in tenths of its bet, each other wager
    counts them by the line of its pay table."""
    cards = blackjack.shoe(rules, composition)
    ranks = by_rank(cards)
    ends = simulate(rules, blackjack.solve(rules, ranks).chart, rounds, seed, ranks).ends.sum(axis=0)
    nothing = np.zeros(0, np.uint8)
    counts = first_cards(cards, lines() if len(cards) > len(ranks) else (nothing, nothing), rounds, seed)
    wagers = (*blackjack.SUITED, "insurance")
    names = zip(wagers, (PAIR_LINES, THREE_LINES, INSURANCE_LINES), counts, strict=True)
    return {
        "main": {str(place - MOST): int(count) for place, count in enumerate(ends)},
        **{bet: dict(zip(lines_of, map(int, line_rounds), strict=False)) for bet, lines_of, line_rounds in names},
    }


def deal_casino_war(rules: casino_war_game.Rules, composition: Composition | None, rounds: int, seed: int) -> Tally:
    """Deal rounds of Casino War; each tie goes to war."""
    counts = map(int, card_simulation.casino_war(casino_war.shoe(rules, composition), rounds, seed))
    return {"round": dict(zip(casino_war.ENDS, counts, strict=True))}


def deal_dragon_tiger(rules: dragon_tiger_game.Rules, composition: Composition | None, rounds: int, seed: int) -> Tally:
    """Deal rounds of Dragon Tiger."""
    cards = dragon_tiger.shoe(rules, composition)
    dragon, tiger, tie, suited = map(int, card_simulation.dragon_tiger(cards, rounds, seed))
    return {
        "round": {"dragon": dragon, "tiger": tiger, "tie": tie},
        "suited_tie": {"win": suited, "lose": rounds - suited},
    }


def deal_three_card_poker(
    rules: three_card_poker_game.Rules, composition: Composition | None, rounds: int, seed: int
) -> Tally:
    """Deal rounds of Three Card Poker; each hand is played or folded as is best for it."""
    cards = three_card_poker.deck(rules, composition)
    against = three_card_poker.against(cards, three_card_poker.bonus(rules))
    qualifies = three_card_poker.hands().qualifies
    counts = [*map(int, card_simulation.three_card_poker(cards, hand_words(cards, against), qualifies, rounds, seed))]
    played = [f"{end} {kind}" for kind in HANDS for end in ANTE_ENDS]
    ante, kinds = counts[: len(played) + 1], counts[len(played) + 1 :]
    return {
        "ante": dict(zip((*played, "fold"), ante, strict=True)),
        "pair_plus": dict(zip(HANDS, kinds, strict=True)),
    }


def hand_words(cards: Composition, against: Against) -> NDArray[np.uint16]:
    """For any three cards in any order one number: the strength, the kind, and whether a seat plays the hand."""
    rows = three_card_poker.hands().cards[three_card_poker.is_dealt(cards)]
    table = np.zeros(DECK**3, np.uint16)
    for order in permutations(range(3)):
        first, second, third = rows[:, order].T
        table[(first * DECK + second) * DECK + third] = against.strength | against.kind << 10 | against.plays << 13
    return table


DEALS: Final[Mapping[str, Deal]] = {
    "baccarat": deal_baccarat,
    "blackjack": deal_blackjack,
    "casino_war": deal_casino_war,
    "dragon_tiger": deal_dragon_tiger,
    "three_card_poker": deal_three_card_poker,
}
"""The games that are dealt one round a shoe; Rocket has a simulation of whole shoes (``rocket_simulation.py``)."""
