"""The dealing of each kind of game.

It decides the seats dealt in, the start of a round, and the cards that an electronic shoe deals without further input.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Final

from tables.floor import pots
from tables.floor.command_context import CommandContext
from tables.floor.inputs import Bet, GameInput, StartGame
from tables.games import cards
from tables.games.game import Kind
from tables.games.protocol import AskCard, Choose, Shuffle
from tables.log.state import Shoe
from tables.refusals import Refused


class Dealing(ABC):
    """How the games of one kind are dealt."""

    is_dealt: bool = True
    """Whether rounds are dealt at all."""
    begins_with_bets: bool
    """Whether a round opens for bets as soon as the shoe is ready. If not, it has to be started."""

    @abstractmethod
    def seats(self, context: CommandContext, entered: GameInput) -> Sequence[int]:
        """The seats of the round that an input opens. Raises Refused where the input cannot open one."""

    @abstractmethod
    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        """The input that opens a round dealt to these seats."""

    @abstractmethod
    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        """Whether an electronic shoe deals a card that is due after a choice within the same input."""

    @abstractmethod
    def is_used_up(self, context: CommandContext, shoe: Shoe) -> bool:
        """Whether the shoe has to be shuffled before the next round."""

    @abstractmethod
    def playing(self, context: CommandContext) -> dict[int, bool]:
        """The seats that can be dealt in to the next game, and whether they are by default."""


class HouseDealing(Dealing):
    """Games against the house: every seat may bet, and the first bet opens the round."""

    begins_with_bets = True

    def seats(self, context: CommandContext, entered: GameInput) -> Sequence[int]:
        if isinstance(entered, StartGame):
            raise pots.game_goes_on()
        return range(1, context.table.seats + 1)

    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        return Bet(0, 0)

    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        return ask.to == choice.seat

    def is_used_up(self, context: CommandContext, shoe: Shoe) -> bool:
        """Whether the rounds after the cut card are dealt, or the game is shuffled before each round."""
        last, game = context.standing.dealt_before, context.game
        if shoe.cut_out and not (game.rounds_after_cut and last):
            return True
        if last is None or not last.plays:
            return False
        if game.is_fresh_each_round(context.rules):
            return True
        cut_round = shoe.standard.cut_round if shoe.standard else last.number
        return shoe.cut_out and last.number - cut_round >= game.rounds_after_cut

    def playing(self, context: CommandContext) -> dict[int, bool]:
        return {}


class PotDealing(Dealing):
    """Games for a pot: the dealer starts each game and names its seats."""

    begins_with_bets = False

    def seats(self, context: CommandContext, entered: GameInput) -> Sequence[int]:
        if not isinstance(entered, StartGame):
            raise Refused("no_game", "Start the next game first.", 409)
        return pots.seats_dealt_in(context, entered.seats)

    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        return StartGame(tuple(seats))

    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        """True: in a pot game no dealer's hand follows, so the next cards need no separate input."""
        return True

    def is_used_up(self, context: CommandContext, shoe: Shoe) -> bool:
        """Whether cards were dealt since the shuffle, and the next game needs a whole deck or a known rest of it.

        The rest is unknown if face-down cards are gone that were never shown, or the deck was reshuffled during the
        game.
        """
        last, game = context.standing.dealt_before, context.game
        if shoe.cut_out:
            return True
        if last is None or not last.plays:
            return False
        if any(type(action) is Shuffle for play in last.plays for action in play.actions):
            return True  # only the entries of that game record the order since its reshuffle
        whole = cards.DECK_SIZE * shoe.decks - shoe.burn
        left, gone = last.game.cards_left(last.state), sum(last.game.gone(last.state))
        return "dealt" not in game.carries or left != whole - gone

    def playing(self, context: CommandContext) -> dict[int, bool]:
        return {} if context.standing.round_open else pots.playing(context)


class NoDealing(Dealing):
    """Non-tracked tables: no rounds are dealt, and the win follows from the counts."""

    is_dealt = False
    begins_with_bets = False

    def seats(self, context: CommandContext, entered: GameInput) -> Sequence[int]:
        raise no_rounds()

    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        raise no_rounds()

    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        return False

    def is_used_up(self, context: CommandContext, shoe: Shoe) -> bool:
        return False

    def playing(self, context: CommandContext) -> dict[int, bool]:
        return {}


def no_rounds() -> Refused:
    """The refusal of any round at a non-tracked table."""
    message = "No rounds are entered at this table: sell chips, sign slips and count the rack; its counts tell its win."
    return Refused("no_rounds", message, 409)


_DEALINGS: Final[dict[Kind, Dealing]] = {"banked": HouseDealing(), "pot": PotDealing(), "counted": NoDealing()}


def dealing_at(context: CommandContext) -> Dealing:
    """How the game of the table is dealt."""
    return _DEALINGS[context.game.kind]
