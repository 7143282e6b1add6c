"""The kinds of game on the felt: who is dealt in, when the next round begins, and how a house shoe deals on."""

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
    """How games of a kind are dealt."""

    is_dealt: bool = True
    """Whether rounds are dealt at all."""
    begins_with_bets: bool
    """Whether the next round lies open for bets as soon as the shoe is ready; or else waits to be started."""

    @abstractmethod
    def seats(self, scene: CommandContext, entered: GameInput) -> Sequence[int]:
        """The seats that the round which an input opens is dealt to. Raises Refused where it opens none."""

    @abstractmethod
    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        """What opens a round that is dealt to these seats."""

    @abstractmethod
    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        """Whether a card that is due after a choice belongs to the same input, where a house shoe deals."""

    @abstractmethod
    def is_used_up(self, scene: CommandContext, shoe: Shoe) -> bool:
        """Whether a shoe has to be shuffled before the next round, whatever its cut card says."""

    @abstractmethod
    def playing(self, scene: CommandContext) -> dict[int, bool]:
        """The seats that can be dealt in to the next game, and whether they are, if nobody says otherwise."""


class HouseDealing(Dealing):
    """Against the house: every seat may bet, and the first bet opens the round."""

    begins_with_bets = True

    def seats(self, scene: CommandContext, entered: GameInput) -> Sequence[int]:
        if isinstance(entered, StartGame):
            raise pots.game_goes_on()
        return range(1, scene.table.seats + 1)

    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        return Bet(0, 0)

    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        return ask.to == choice.seat

    def is_used_up(self, scene: CommandContext, shoe: Shoe) -> bool:
        """The cut card is out, and the rounds are dealt that follow it; or every round is shuffled for."""
        last, game = scene.standing.dealt_before, scene.game
        if shoe.cut_out and not (game.rounds_after_cut and last):
            return True
        if last is None or not last.plays:
            return False
        if game.is_fresh_each_round(scene.rules):
            return True
        cut_round = shoe.standard.cut_round if shoe.standard else last.number
        return shoe.cut_out and last.number - cut_round >= game.rounds_after_cut

    def playing(self, scene: CommandContext) -> dict[int, bool]:
        return {}


class PotDealing(Dealing):
    """For a pot: a game is started, among the seats that the dealer names."""

    begins_with_bets = False

    def seats(self, scene: CommandContext, entered: GameInput) -> Sequence[int]:
        if not isinstance(entered, StartGame):
            raise Refused("no_game", "Start the next game first.", 409)
        return pots.seats_dealt_in(scene, entered.seats)

    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        return StartGame(tuple(seats))

    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        """Where no dealer acts by rules of his own, neither does anybody wait for the cards that follow."""
        return True

    def is_used_up(self, scene: CommandContext, shoe: Shoe) -> bool:
        """Cards were dealt since the shuffle, and the game starts from a whole deck or cannot know which ones: facedown
        cards that were never shown may be among them, or the deck was shuffled anew in mid-game."""
        last, game = scene.standing.dealt_before, scene.game
        if shoe.cut_out:
            return True
        if last is None or not last.plays:
            return False
        if any(type(action) is Shuffle for play in last.plays for action in play.actions):
            return True  # the order that it is dealt from since stands in that game's entries alone
        whole = cards.DECK_SIZE * shoe.decks - shoe.burn
        left, gone = last.game.cards_left(last.state), sum(last.game.gone(last.state))
        return "dealt" not in game.carries or left != whole - gone

    def playing(self, scene: CommandContext) -> dict[int, bool]:
        return {} if scene.standing.round_open else pots.playing(scene)


class NoDealing(Dealing):
    """By its counts: nothing is dealt here."""

    is_dealt = False
    begins_with_bets = False

    def seats(self, scene: CommandContext, entered: GameInput) -> Sequence[int]:
        raise no_rounds()

    def first_input(self, seats: Sequence[int]) -> Bet | StartGame:
        raise no_rounds()

    def deals_on(self, ask: AskCard, choice: Choose) -> bool:
        return False

    def is_used_up(self, scene: CommandContext, shoe: Shoe) -> bool:
        return False

    def playing(self, scene: CommandContext) -> dict[int, bool]:
        return {}


def no_rounds() -> Refused:
    """That no round is entered here."""
    says = "No rounds are entered at this table: sell chips, sign slips and count the rack; its counts tell its win."
    return Refused("no_rounds", says, 409)


_DEALINGS: Final[dict[Kind, Dealing]] = {"banked": HouseDealing(), "pot": PotDealing(), "counted": NoDealing()}


def dealing_at(scene: CommandContext) -> Dealing:
    """How the table's game is dealt."""
    return _DEALINGS[scene.game.kind]
