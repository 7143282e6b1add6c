"""Real cards under a round that is played by chance: what is still in the shoe, and what lies facedown on the layout.

The games on standard cards lay cards down that nobody looks at. A shuffled pile knows what they are all the same, so
that they turn out to be what was dealt, and the dealer says of a hole card only what is true of it.
"""

from collections import defaultdict
from random import Random
from typing import Any

from tables.games.cards import UNKNOWN, pack_of
from tables.games.game import Game
from tables.games.protocol import Action, AskCard, AskChoice, Card, Prompt

Spot = tuple[int, int]
"""A seat (0: the dealer; below: the hands before him), and which of its hands."""


class Pile:
    """The cards of one shoe. Its top is the end of the list."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.cards: list[int] = []
        self.hidden: dict[Spot, list[int]] = {}
        self.favoured = chance.sample(range(13), chance.choice([1, 2, 4]))
        """Ranks that come up more often than chance would have it: pairs, ties and blackjacks."""
        self.favour = chance.choice([0.0, 0.3, 0.6])

    def shuffle(self, game: Game[Any, Any], rules: Any, state: Any) -> None:
        """All that is not gone and does not lie facedown; what was burned unseen goes with ``follow``."""
        dealt = game.gone(state)
        pack = pack_of(dealt)
        full = pack.shoes[game.decks(rules)]
        assert all(0 <= out <= whole for out, whole in zip(dealt, full, strict=True)), "a card is over its count"
        self.cards = pack.cards(tuple(whole - out for out, whole in zip(dealt, full, strict=True)))
        if not unaccounted(game, state, game.decks(rules)):  # otherwise the facedown card is known, and gone already
            for card in [card for cards in self.hidden.values() for card in cards]:
                self.cards.remove(card)
        self.chance.shuffle(self.cards)
        self.follow(game, state)

    def draw(self) -> int:
        """The next card; often one of a favoured rank."""
        wished = [place for place, card in enumerate(self.cards) if (card - 1) % 13 in self.favoured]
        if wished and self.chance.random() < self.favour:
            return self.cards.pop(self.chance.choice(wished))
        return self.cards.pop()

    def truthful(self, prompts: tuple[Prompt, ...]) -> tuple[Prompt, ...]:
        """The prompts that may be answered without a lie about a facedown card."""
        turns = [ask for ask in prompts if isinstance(ask, AskCard) and ask.shown]
        if not turns or len(prompts) == 1:
            return prompts
        card = self._facedown(turns[0].to)
        if card in turns[0].barred:
            return tuple(ask for ask in prompts if ask not in turns)
        peeks = isinstance(prompts[0], AskChoice) and not prompts[0].seat
        return tuple(turns) if peeks else prompts

    def turn(self, to: int) -> int:
        """The next facedown card of a seat's hand, or of the dealer's."""
        spot = next(spot for spot, cards in self.hidden.items() if spot[0] == to and cards)
        return self.hidden[spot].pop(0)

    def _facedown(self, to: int) -> int:
        return next(cards[0] for spot, cards in self.hidden.items() if spot[0] == to and cards)

    def follow(self, game: Game[Any, Any], state: Any) -> None:
        """Cards that left the shoe by themselves: laid facedown on the layout, or burned."""
        lying: defaultdict[Spot, list[int]] = defaultdict(list)
        for spot, facedown in facedown_hands(state):
            have = self.hidden.get(spot, [])
            lying[spot] = [*have, *(self.cards.pop() for _ in range(facedown - len(have)))]
        self.hidden = lying
        assert len(self.cards) >= game.cards_left(state)
        del self.cards[game.cards_left(state) :]


def facedown_hands(state: Any) -> list[tuple[Spot, int]]:
    """How many cards of each hand lie facedown."""
    hands = [*state.hands, *(hand for spot in state.spots for hand in spot.hands)]
    return [((hand.seat, hand.number), hand.cards.count(UNKNOWN)) for hand in hands]


def unaccounted(game: Game[Any, Any], state: Any, decks: int) -> int:
    """Cards of the shoe that are neither left in it, nor gone, nor facedown, nor burned."""
    dealt = game.gone(state)
    facedown = sum(cards for _, cards in facedown_hands(state))
    return pack_of(dealt).size * decks - sum(dealt) - game.cards_left(state) - facedown - int(state.unseen)


def is_shown(prompts: tuple[Prompt, ...], action: Action) -> bool:
    """Whether an action turns a card that lay there facedown."""
    return isinstance(action, Card) and any(
        isinstance(ask, AskCard) and ask.shown and ask.to == action.to for ask in prompts
    )
