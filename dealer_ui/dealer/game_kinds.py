"""The layout of the dealer's screen by kind of game: against the house, for a pot, and non-tracked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from ledger.proof.chips import money
from tables.board.table_view import Board, SeatBox
from tables.games.catalog import GAMES
from tables.games.game import Kind
from tables.log.terms import game_title, rounding_words


class Felt(ABC):
    """The layout of a kind of game on the dealer's screen."""

    name: str
    """For its styles."""
    round_is_called: str
    seats: str = "dealer_ui/dealer/_seats.html"
    """The template of the seats."""
    centre: str
    """The template of the centre: the dealer's cards, or the community cards and the pot."""
    cards: str
    """The template of a seat's cards."""
    bet: str
    """The template of a seat's chips."""
    keeps_cards: bool
    """Whether the cards of a round that is over lie until the next bet."""
    is_done_by_hands: bool
    """Whether the screen tells the dealer the chips to pay or take at once after an input."""

    @abstractmethod
    def lies_cents(self, box: SeatBox) -> int:
        """The chips at a seat, in cents, to which tapped chips are added."""

    @abstractmethod
    def called_cents(self, box: SeatBox) -> int:
        """A seat's win in cents, where it is shown next to the outcome; else 0."""

    @abstractmethod
    def is_away(self, board: Board, box: SeatBox) -> bool:
        """Whether a seat takes no part in the game on the table."""

    @abstractmethod
    def terms(self, board: Board) -> str:
        """The game and its limits, as text."""


class HouseFelt(Felt):
    """The layout of a game against the house."""

    name, round_is_called = "house", "Round"
    centre = "dealer_ui/dealer/_dealer_row.html"
    cards = "dealer_ui/dealer/_stack.html"
    bet = "dealer_ui/dealer/_seat_bet.html"
    keeps_cards, is_done_by_hands = True, True

    def lies_cents(self, box: SeatBox) -> int:
        return box.bet_cents

    def called_cents(self, box: SeatBox) -> int:
        return 0

    def is_away(self, board: Board, box: SeatBox) -> bool:
        return False

    def terms(self, board: Board) -> str:
        ask = next((box.ask for box in board.seats if box.ask), None)
        steps = f", in steps of {money(ask.step_cents)}" if ask else ""
        cap = f"; the table's cap is {money(board.cap_cents)}" if board.cap_cents else ""
        return f"{money(board.min_cents)} to {money(board.max_cents)}{steps}{cap}"


class SpreadFelt(HouseFelt):
    """The layout of a game against the house with several wagers at a seat, and standard cards."""

    name = "spread"
    seats = "dealer_ui/dealer/_spread_seats.html"
    centre = "dealer_ui/dealer/_hands_row.html"
    keeps_cards = False

    def terms(self, board: Board) -> str:
        table = board.table
        steps = f", in steps of {money(table.bet_step_cents)}" if table.bet_step_cents else ""
        cap = f"; the table's cap is {money(board.cap_cents)}" if board.cap_cents else ""
        rounding = f". {words}" if (words := rounding_words(table)) else ""
        limits = f"{money(board.min_cents)} to {money(board.max_cents)} a wager"
        return f"{GAMES[table.game].title}, {limits}{steps}{cap}{rounding}"


class PotFelt(Felt):
    """For a pot."""

    name, round_is_called = "pot", "Game"
    centre = "dealer_ui/dealer/_middle.html"
    cards = "dealer_ui/dealer/_cards.html"
    bet = "dealer_ui/dealer/_seat_chips.html"
    keeps_cards, is_done_by_hands = False, False

    def lies_cents(self, box: SeatBox) -> int:
        return box.chips_cents

    def called_cents(self, box: SeatBox) -> int:
        return box.outcome.net_cents if box.outcome else 0

    def is_away(self, board: Board, box: SeatBox) -> bool:
        return board.round_open and box.state == "empty"

    def terms(self, board: Board) -> str:
        """The game, its limits and the rake, as text."""
        table, title = board.table, GAMES[board.table.game].title
        if not board.coins:
            return title
        coin, least, most = money(table.unit_cents), money(board.min_cents), money(board.max_cents)
        terms = f"{title}, coin {coin}, {least} to {most}"
        if table.rake_permille:
            cap = f" up to {money(table.rake_cap_cents)}" if table.rake_cap_cents is not None else ""
            terms += f", rake {table.rake_permille / 10:g} %{cap}"
        return terms


class CountedFelt(Felt):
    """The layout of a non-tracked table: it shows the limits of bets; no bets or cards are known."""

    name, round_is_called = "counted", "Game"
    seats = "dealer_ui/dealer/_stated_wagers.html"
    centre = "dealer_ui/dealer/_in_play.html"
    cards = bet = ""
    keeps_cards, is_done_by_hands = False, False

    def lies_cents(self, box: SeatBox) -> int:
        return 0

    def called_cents(self, box: SeatBox) -> int:
        return 0

    def is_away(self, board: Board, box: SeatBox) -> bool:
        return False

    def terms(self, board: Board) -> str:
        return f"{game_title(board.table)}, {money(board.min_cents)} to {money(board.max_cents)}"


_FELTS: Final[dict[tuple[Kind, bool], Felt]] = {
    ("banked", False): HouseFelt(),
    ("banked", True): SpreadFelt(),
    ("pot", False): PotFelt(),
    ("counted", False): CountedFelt(),
}
"""By the kind of the game, and whether the wagers of a seat lie apart."""


def felt_of(board: Board) -> Felt:
    """The layout of a board by its kind of game."""
    return _FELTS[board.kind, board.side_by_side]
