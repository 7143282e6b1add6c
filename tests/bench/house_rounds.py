"""Rounds of the house-banked games on standard cards: dealt once by a simple policy, then played again and again."""

import random
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any, NamedTuple

from tables.games.blackjack import MOST, NO_BLACKJACK, STANDS, total
from tables.games.catalog import GAMES
from tables.games.play import play, run
from tables.games.protocol import (
    DEALER,
    Action,
    AskCard,
    AskChoice,
    Bet,
    Card,
    Choose,
    CloseBets,
    Opening,
    Payout,
    Prompt,
)
from tables.games.three_card_poker import HIGH_CARD, value_of
from tests.bench.house_loops import LOOPS, Wagers, counting

SHOES, FRESH = 12, 60
"""So many shoes of each game; of a game that is shuffled before every round, times so many rounds."""
MAIN_BETS = {
    "baccarat": ("player", "banker"),
    "dragon_tiger": ("dragon", "tiger"),
    "casino_war": ("main",),
    "three_card_poker": ("ante",),
    "blackjack": ("main",),
}
SIDE_BETS = {
    "baccarat": "tie",
    "dragon_tiger": "tie",
    "casino_war": "tie",
    "three_card_poker": "pair_plus",
    "blackjack": "perfect_pairs",
}
Answer = Callable[[tuple[Prompt, ...]], Action]
TURN = ""
"""Instead of a decision: the hole card is turned, for it makes a blackjack."""


class Shoe(NamedTuple):
    """The rounds that were dealt from a shoe, and what is needed to play them again."""

    settled: list[tuple[Payout, ...]]
    turned: list[int]
    """The cards in the order in which they were turned faceup."""
    words: list[str]
    """The decisions, with what the dealer does at a peek."""
    dealt: list[int]
    """The cards in the order of dealing."""

    @property
    def decisions(self) -> list[str]:
        """Those of the seats alone."""
        return [word for word in self.words if word not in (TURN, NO_BLACKJACK)]


def answers(bet: Callable[[], Action], draw: Callable[[], int], word: Callable[[], str]) -> Answer:
    """What the table does in one round: the bets, the cards of the shoe, the decisions."""

    def answer(prompts: tuple[Prompt, ...]) -> Action:
        ask = prompts[0]
        if isinstance(ask, AskCard):
            return Card(draw(), ask.to)
        if isinstance(ask, AskChoice):
            choice = word()
            return Choose(ask.seat, choice) if choice != TURN else Card(draw(), DEALER)
        return bet()

    return answer


class Table:
    """A game with so many seats that bet the same every round, every other seat on a side bet too."""

    def __init__(self, name: str, seats: int) -> None:
        self.game, self.loop = GAMES[name], LOOPS[name]
        spread = (SIDE_BETS[name],)
        self.rules = self.game.rules_type(spread=spread) if name == "blackjack" else self.game.rules_type()
        self.title = f"{self.game.title}, {seats} seat{'s' if seats > 1 else ''}"
        self.seats = tuple(range(1, seats + 1))
        mains = MAIN_BETS[name]
        self.bets = [(seat, mains[seat % len(mains)], 100 * seat) for seat in self.seats]
        self.bets += [(seat, SIDE_BETS[name], 25) for seat in self.seats if seat % 2]
        self.bets.sort(key=itemgetter(0))
        self.betting: tuple[Action, ...] = (*(Bet(seat, cents, wager) for seat, wager, cents in self.bets), CloseBets())
        self.pack = self.game.pack(self.rules)
        self.is_fresh = self.game.is_fresh_each_round(self.rules)
        self.shoes = [*self._dealt(random.Random(f"{name} {seats}"))]

    def opening(self, before: Any) -> Opening:
        """What a round starts from, after another one from the same shoe."""
        if before is None or self.is_fresh:
            return Opening(self.seats, dealt=self.pack.nothing, unseen=0)
        return Opening(self.seats, dealt=before.gone, unseen=before.unseen)

    # --- dealt once ---

    def _dealt(self, chance: random.Random) -> Iterator[Shoe]:
        for _ in range(SHOES * FRESH if self.is_fresh else SHOES):
            cards = self.pack.cards(self.pack.shoes[self.game.decks(self.rules)])
            chance.shuffle(cards)
            shoe, state = Shoe([], [], [], []), None
            while state is None or (not self.is_fresh and state.left > self.game.at_cut(self.rules)):
                state = self._round(shoe, cards, self.game.open(self.rules, self.opening(state)))
            yield shoe

    def _round(self, shoe: Shoe, cards: list[int], state: Any) -> Any:
        """One round by the policy, its cards and decisions written down."""
        bet, turned, words = iter(self.betting), [], []
        hole = 0
        while prompts := self.game.prompts(state):
            ask = prompts[0]
            action: Action
            if isinstance(ask, AskChoice) and ask.seat == DEALER:
                hole = cards.pop()
                makes_one = total([state.hands[0].cards[0], hole]) == MOST
                action = Card(hole, DEALER) if makes_one else Choose(DEALER, NO_BLACKJACK)
                words.append(TURN if makes_one else NO_BLACKJACK)
            elif isinstance(ask, AskChoice):
                action = Choose(ask.seat, decision(state, ask))
                words.append(action.choice)
            elif isinstance(ask, AskCard):
                action = Card(hole if ask.shown and hole else cards.pop(), ask.to)
            else:
                action = next(bet)
            if isinstance(action, Card):
                turned.append(action)
            state = play(self.game, state, action)
        shoe.settled.append(self.game.settle(state))
        shoe.turned.extend(card.rank for card in turned)
        shoe.words.extend(words)
        shoe.dealt.extend(card.rank for card in self._in_dealt_order(turned))
        return state

    def _in_dealt_order(self, turned: list[Card]) -> list[Card]:
        """A hole card is turned late, but it was dealt after the seats' second cards."""
        if self.game.name != "blackjack":
            return turned
        hole = [place for place, card in enumerate(turned) if card.to == DEALER][1]
        hole_place = 2 * len(self.seats) + 1
        return [*turned[:hole_place], turned[hole], *turned[hole_place:hole], *turned[hole + 1 :]]

    # --- played again ---

    def by_engine(self) -> list[tuple[Payout, ...]]:
        """The payouts of every round, by the kernel."""
        game, results = self.game, []
        for shoe in self.shoes:
            state, draw, word = None, iter(shoe.turned).__next__, iter(shoe.words).__next__
            for _ in shoe.settled:
                answer = answers(iter(self.betting).__next__, draw, word)
                state = run(game, game.open(self.rules, self.opening(state)), answer)
                results.append(game.settle(state))
        return results

    def by_hand(self) -> list[list[Wagers]]:
        """What became of each wager in every round, by the loop."""
        loop, bets, results = self.loop, self.bets, []
        whole = self.pack.shoes[self.game.decks(self.rules)]
        for shoe in self.shoes:
            draw, decide = counting(shoe.dealt, whole), iter(shoe.decisions).__next__
            for _ in shoe.settled:
                results.append(loop(bets, draw, decide))
        return results

    def see_that_both_agree(self) -> tuple[int, int]:
        """That the kernel and the loop come to the same in every round; how many rounds and actions that are."""
        by_engine, by_hand = self.by_engine(), self.by_hand()
        for payouts, wagers in zip(by_engine, by_hand, strict=True):
            assert [_wagers_of(payout) for payout in payouts] == [sorted(own) for own in wagers], "they differ"
        actions = sum(len(shoe.turned) + len(shoe.words) - shoe.words.count(TURN) for shoe in self.shoes)
        return len(by_hand), actions + len(by_hand) * len(self.betting)


def _wagers_of(payout: Payout) -> Wagers:
    return sorted((own.bet, own.staked_cents, own.returned_cents, own.outcome) for own in payout.wagers)


def house_tables() -> Iterator[Table]:
    """A table of each game with five seats, then with one."""
    for name in LOOPS:
        for seats in (5, 1):
            yield Table(name, seats)


def decision(state: Any, ask: AskChoice) -> str:
    """War; Q-6-4 and better; no insurance, hit to 17, double on 10 and 11, split aces and eights."""
    names = {choice.name for choice in ask.choices}
    cards = next(spot for spot in state.spots if spot.seat == ask.seat).hands[ask.hand - 1].cards
    if "fold" in names:
        return "play" if value_of(cards) >= (HIGH_CARD, (12, 6, 4)) else "fold"
    if "hit" not in names:
        return "war" if "war" in names else "decline"
    if "split" in names and cards[0] % 13 in (1, 8):
        return "split"
    points = total(cards)
    if "double" in names and points in (10, 11):
        return "double"
    return "hit" if points < STANDS else "stand"
