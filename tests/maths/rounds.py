"""Every course of a lone seat's round, through the real engine, with its exact probability."""

from collections import Counter
from fractions import Fraction

from tables.games.protocol import AskCard, AskChoice, AskShuffle, Bet, Card, Choose, CloseBets, Opening, Shuffle
from tables.games.rocket import Rocket, Rules, State
from tables.maths.situation import Situation, Strategy

GAME = Rocket()
BET = 10
"""A tenth of it is one cent."""
Ends = dict[tuple[str, int | None, int], Fraction]
"""By outcome, rank and what the seat won, in tenths: the probability."""


def begun(situation: Situation, seats: tuple[int, ...] = (1,)) -> State:
    """These seats have bet; the cards that are not unseen are gone."""
    dealt = tuple(full - unseen for full, unseen in zip(situation.full, situation.unseen, strict=True))
    state = GAME.open(Rules(situation.decks, situation.burn), Opening(seats, dealt=dealt))
    for seat in seats:
        state = GAME.apply(state, Bet(seat, BET))
    return GAME.apply(state, CloseBets())


def ends(situation: Situation, strategy: Strategy) -> Ends:
    """All that may become of the seat. Places that differ only in the order of the cards are told once."""
    memo: dict[tuple[object, ...], Ends] = {}

    def ends_from(state: State) -> Ends:
        place = (state.stage, frozenset(state.stacks[0]), frozenset(state.dealer), state.gone, state.left)
        if not GAME.prompts(state):
            return ended(state)
        if place not in memo:
            memo[place] = tell(state)
        return memo[place]

    def tell(state: State) -> Ends:
        (ask,) = GAME.prompts(state)
        if isinstance(ask, AskShuffle):
            return ends_from(GAME.apply(state, Shuffle()))
        if isinstance(ask, AskChoice):
            return decided(state, ask)
        assert isinstance(ask, AskCard)
        chances: Counter[tuple[str, int | None, int]] = Counter()
        cards = Counter(ask.may_come)
        for rank, copies in cards.items():
            chance = Fraction(copies, cards.total())
            for end, share in ends_from(GAME.apply(state, Card(rank, ask.to))).items():
                chances[end] += chance * share
        return dict(chances)

    def decided(state: State, ask: AskChoice) -> Ends:
        cost = ask.choices[-1].cost_cents
        if strategy.limit is not None:
            return ends_from(GAME.apply(state, Choose(1, "fold" if cost <= strategy.limit else "hit")))
        hit, fold = (ends_from(GAME.apply(state, Choose(1, choice))) for choice in ("hit", "fold"))
        return fold if mean(fold) > mean(hit) else hit

    return ends_from(begun(situation))


def ended(state: State) -> Ends:
    (payout,) = GAME.settle(state)
    return {(payout.outcome, payout.card, payout.net_cents): Fraction(1)}


def mean(seat_ends: Ends) -> Fraction:
    return sum((won * chance for (_, _, won), chance in seat_ends.items()), Fraction(0))


def results(situation: Situation, strategy: Strategy, seats: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """The probability of each row of what the seats win, in tenths, when all fold at the same cost."""
    memo: dict[tuple[object, ...], dict[tuple[int, ...], Fraction]] = {}

    def rows_from(state: State) -> dict[tuple[int, ...], Fraction]:
        if not GAME.prompts(state):
            return {tuple(payout.net_cents for payout in GAME.settle(state)): Fraction(1)}
        sets = tuple(frozenset(stack) for stack in state.stacks)
        place = (state.stage, state.waiting, sets, frozenset(state.dealer), state.gone, state.payouts)
        if place not in memo:
            memo[place] = tell(state)
        return memo[place]

    def tell(state: State) -> dict[tuple[int, ...], Fraction]:
        (ask,) = GAME.prompts(state)
        if isinstance(ask, AskChoice):
            folds = ask.choices[-1].cost_cents <= (strategy.limit or 0)
            return rows_from(GAME.apply(state, Choose(ask.seat, "fold" if folds else "hit")))
        assert isinstance(ask, AskCard)
        chances: Counter[tuple[int, ...]] = Counter()
        cards = Counter(ask.may_come)
        for rank, copies in cards.items():
            for row, share in rows_from(GAME.apply(state, Card(rank, ask.to))).items():
                chances[row] += Fraction(copies, cards.total()) * share
        return dict(chances)

    return rows_from(begun(situation, seats))
