"""Practice of Baccarat: the drawing rules, and the payouts of each commission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Final

from tables.games.baccarat import DRAGON_BONUS, Baccarat, Rules, is_natural, total
from tables.games.house_script import HouseState, hand_named
from tables.games.protocol import BANKER_HAND, PLAYER_HAND, Action, AskCard, Card
from tables.training.card_practice import Ending, PracticeStep, SpreadPractice, ending
from tables.training.questions import numbered

_PLAYER: Final = numbered(
    {
        "player_draws": "Player draws",
        "player_stands": "Player stands",
        "natural": "A natural: neither hand draws",
    }
)
_BANKER: Final = numbered({"banker_draws": "Banker draws", "banker_stands": "Banker stands"})
_WON: Final = {
    "player": "The player's hand wins",
    "banker": "The banker's hand wins",
    "tie": "A tie: both sides' bets go back",
}
_BY_COMMISSION: Final[Mapping[str, Mapping[str, str]]] = {
    "five_percent": _WON,
    "six_pays_half": {**_WON, "six": "The banker's hand wins with a 6: half is paid"},
    "ez": {**_WON, "seven": "The banker's hand wins with a three-card 7: its bets go back"},
}
_NATURAL: Final = "An 8 or a 9 in two cards on either side ends the round."
_PLAYER_RULE: Final = "The player draws on 0 to 5 and stands on 6 and 7."
_SEVEN: Final = "With 7 the banker stands, whatever the player's third card is."
_HIGHER: Final = "The hand with more points wins: the last digit of what its cards count, tens and faces nothing."
_SPECIAL: Final = {
    "six": "A banker's win with a 6, of two cards or three, pays half.",
    "seven": "A banker's win with a three-card 7 gives the banker's bets back.",
    "tie": "A tie gives the bets on both sides back.",
}


class BaccaratPractice(SpreadPractice):
    """Practice of Baccarat: bets, drawing questions and payouts."""

    game = Baccarat()
    options: ClassVar[tuple[str, ...]] = ("commission", "spread", "decks", "tie_pays", "super_6_pays", "rounding")

    def ways(self, rules: Rules) -> Mapping[str, Ending]:
        """The endings of the hands by their draws, of the sides, and of each side bet offered."""
        drawn: dict[str, Ending] = {
            "a natural": lambda state: _is_natural(state),
            "neither draws": lambda state: _cards(state) == (2, 2) and not _is_natural(state),
            "only the player draws": lambda state: _cards(state) == (3, 2),
            "only the banker draws": lambda state: _cards(state) == (2, 3),
            "both draw": lambda state: _cards(state) == (3, 3),
            "player wins": ending("player", "win"),
            "banker wins": ending("banker", "win"),
            "sides go back": lambda state: _winner(state) == "tie",
        }
        if rules.commission == "six_pays_half":
            drawn["banker wins with a 6"] = lambda state: _called(state) == "six" and ending("banker", "win")(state)
        if rules.commission == "ez":
            drawn["banker pushes with a three-card 7"] = lambda state: (
                _called(state) == "seven" and ending("banker", "push")(state)
            )
        for name in rules.spread:
            drawn |= _bonus_ways(name) if name in DRAGON_BONUS else [(f"{_words(name)} wins", ending(name, "win"))]
        return drawn

    def calls(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Questions on who draws, once both hands have two cards and after the player's third; and on the winner."""
        if not isinstance(action, Card):
            return
        cards, due = _cards(after), after.prompts[0] if after.prompts else None
        to = due.to if isinstance(due, AskCard) else None
        if cards == (2, 2):
            yield self._player(after, to)
        if cards == (3, 2) or (cards == (2, 2) and to != PLAYER_HAND and not _is_natural(after)):
            yield self._banker(after, to)
        if due is None:
            words = _BY_COMMISSION[after.rules.commission]
            right = _called(after)
            yield PracticeStep("called", "Which hand has won?", right, _SPECIAL.get(right, _HIGHER), numbered(words))

    def _player(self, state: HouseState, to: int | None) -> PracticeStep:
        right = "natural" if _is_natural(state) else "player_draws" if to == PLAYER_HAND else "player_stands"
        rule = _NATURAL if right == "natural" else _PLAYER_RULE
        return PracticeStep("turn", "Two cards each. What does the player's hand do?", right, rule, _PLAYER)

    def _banker(self, state: HouseState, to: int | None) -> PracticeStep:
        hand, player = hand_named(state, "banker"), hand_named(state, "player")
        right = "banker_draws" if to == BANKER_HAND else "banker_stands"
        always = len(player.cards) == 3 and total(hand.cards) == 7
        rule = _SEVEN if always else self.game.say_card(state, _BANKERS_CARD).rule
        drew = "The player drew" if len(player.cards) == 3 else "The player stands"
        return PracticeStep("turn", f"{drew}. What does the banker's hand do?", right, rule, _BANKER)

    def turns(self, before: HouseState, action: Action, after: HouseState) -> Iterable[PracticeStep]:
        """Nothing: the next step is the drawing rule."""
        return ()


_BANKERS_CARD: Final = AskCard(BANKER_HAND, (), 1)
"""A prompt that makes the game state the banker's drawing rule, whether the banker draws or not."""


def _words(bet: str) -> str:
    return bet.replace("_", " ")


def _bonus_ways(name: str) -> Iterator[tuple[str, Ending]]:
    """The endings of a dragon bonus with a payout or a push, whatever its odds."""
    side, is_placed = DRAGON_BONUS[name], ending(name, "win", "lose", "push")

    def by_natural(winner: str) -> Ending:
        return lambda state: is_placed(state) and _is_natural(state) and _winner(state) == winner

    def by_margin(state: HouseState) -> bool:
        return is_placed(state) and not _is_natural(state) and _winner(state) == side and abs(_lead(state)) >= 4

    yield f"{_words(name)}: a natural", by_natural(side)
    yield f"{_words(name)}: 4 points ahead or more", by_margin
    yield f"{_words(name)}: a natural tie", by_natural("tie")


def _cards(state: HouseState) -> tuple[int, int]:
    player, banker = (len(hand_named(state, name).cards) for name in ("player", "banker"))
    return player, banker


def _is_natural(state: HouseState) -> bool:
    player, banker = (hand_named(state, name).cards for name in ("player", "banker"))
    return is_natural(player, banker)


def _lead(state: HouseState) -> int:
    """The player's lead in points."""
    player, banker = (total(hand_named(state, name).cards) for name in ("player", "banker"))
    return player - banker


def _winner(state: HouseState) -> str:
    lead = _lead(state)
    return "player" if lead > 0 else "banker" if lead < 0 else "tie"


def _called(state: HouseState) -> str:
    """The winner, with the banker's total if the commission depends on it."""
    winner, hand = _winner(state), hand_named(state, "banker").cards
    points = total(hand)
    if winner == "banker" and state.rules.commission == "six_pays_half" and points == 6:
        return "six"
    if winner == "banker" and state.rules.commission == "ez" and (points, len(hand)) == (7, 3):
        return "seven"
    return winner
