"""Blackjack's simulator deals the rounds of the engine: from the same dice both come to the same results."""

from fractions import Fraction
from typing import Any

import pytest

from tables.games.blackjack import Blackjack, Rules
from tables.games.cards import BY_RANK, UNKNOWN
from tables.games.protocol import DEALER, AskCard, AskChoice, Bet, Card, Choose, CloseBets, Opening
from tables.maths.blackjack import solve
from tables.maths.blackjack_simulation import deck_of, simulate
from tables.maths.random_cards import draw
from tests.maths.blackjack_naive import Naive, is_blackjack
from tests.pace import by_pace
from tests.tiers import sampled

GAME = Blackjack()
BET = 20
"""A multiple of ten: everything that is paid on it is whole."""
ROUNDS = by_pace(200, 600, 20_000)
LEGAL = {"H": ("hit",), "S": ("stand",), "D": ("double", "hit"), "Ds": ("double", "stand"), "P": ("split",)}
LEGAL |= {"R": ("surrender", "hit"), "Rs": ("surrender", "stand"), "Rp": ("surrender", "split")}
TABLES: tuple[dict[str, Any], ...] = (
    {},
    {"hole": "none", "double_after_split": False, "blackjack_pays": "6:5", "splits": 2},
    {"hole": "none_original", "resplit_aces": True, "soft17": "hit", "surrender": "late"},
    {"hit_split_aces": True, "split_by": "rank", "surrender": "late", "double": "9_to_11", "blackjack_pays": "1:1"},
    {"hole": "none_original", "hit_split_aces": True, "resplit_aces": True, "double": "10_to_11"},
)
RANKS = (16, 4, 4, 4, 4, 4, 4, 20, 4, 4, 4, 4, 4)
"""Many aces and eights, so that there are splits and blackjacks."""


class Engine:
    """One round, its cards from the dice of a seed, its decisions by the chart."""

    def __init__(self, rules: Rules, chart: dict[str, dict[str, dict[str, str]]], seed: int) -> None:
        self.naive, self.deck, self.hole = Naive(rules, chart), deck_of(RANKS, seed), UNKNOWN
        self.upcard = UNKNOWN
        state = GAME.open(rules, Opening((1,), dealt=BY_RANK.nothing))
        for action in (Bet(1, BET), CloseBets()):
            state = GAME.apply(state, action)
        while prompts := GAME.prompts(state):
            state = GAME.apply(state, self.answer(state, prompts))
        self.net = Fraction(sum(payout.net_cents for payout in GAME.settle(state)), BET)

    def card(self) -> int:
        cards_left = int(self.deck.left[0])
        self.deck.left[0] = cards_left - 1
        return int(draw(self.deck.cards, cards_left, self.deck.dice)) + 1

    def answer(self, state: Any, prompts: Any) -> Card | Choose:
        cards = [ask for ask in prompts if isinstance(ask, AskCard)]
        words = [ask for ask in prompts if isinstance(ask, AskChoice)]
        if words and words[0].seat == DEALER and not is_blackjack(self.upcard, self.hole):
            return Choose(DEALER, "no_blackjack")
        if words and words[0].seat != DEALER:
            return Choose(1, self.choice(state, words[0]))
        return Card(self.dealt(cards[0]), cards[0].to)

    def dealt(self, ask: AskCard) -> int:
        if ask.shown:
            return self.hole
        card = self.card()
        if ask.to == DEALER and not self.upcard:
            self.upcard = card
        elif self.upcard and not self.hole and self.naive.rules.hole == "peek":
            self.hole = self.card()  # laid facedown after the seat's second card; nobody keys it
        return card

    def choice(self, state: Any, ask: AskChoice) -> str:
        names = [choice.name for choice in ask.choices]
        if "decline" in names:
            return "decline"
        hand = tuple(state.spots[0].hands[max(ask.hand, 1) - 1].cards)
        for pair in (True, False):
            if pair and not (len(hand) == 2 and self.alike(hand)):
                continue
            for name in LEGAL[self.naive.letter(hand, self.upcard, pair)]:
                if name in names:
                    return name
        return "stand"

    def alike(self, hand: tuple[int, ...]) -> bool:
        left_card, right_card = hand
        return (
            left_card == right_card
            if self.naive.rules.split_by == "rank"
            else min(left_card, 10) == min(right_card, 10)
        )


@pytest.mark.parametrize("options", sampled(TABLES, "deals hundreds of rounds twice"))
def test_the_same_dice_deal_the_same_rounds(options: dict[str, Any]) -> None:
    """Harm: millions of rounds that prove the exact value of a game that no table deals."""
    rules = Rules(**options)
    chart = solve(rules, RANKS).chart
    table = chart.table()
    nets = []
    for seed in range(ROUNDS):
        dealt = simulate(rules, chart, 1, seed, RANKS).results
        nets.append(Engine(rules, table, seed).net)
        assert dealt == {nets[-1]: 1}, seed
    assert len(set(nets)) > 5
