"""Scripted player-pool games: their states, and the dealer's phrases."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Final, Generic, Literal, TypeVar

from tables.games.cards import DECK_SIZE, Composition
from tables.games.game import Due, Part, PotGame, Script, Wording, Words
from tables.games.layout import REASONS, Layout, Player
from tables.games.protocol import (
    MIDDLE,
    Action,
    AskCard,
    AskChoice,
    AskShuffle,
    Illegal,
    Money,
    Opening,
    Payment,
    Payout,
    Phrase,
    Prompt,
    SeatView,
    Struct,
    View,
)
from tables.games.scripted import ScriptedGame, ScriptState, Telling, say_choices

Rules = TypeVar("Rules")


class Seen(Struct, frozen=True):
    """A player as the layout showed them."""

    seat: int
    stack: tuple[int, ...]
    hand: tuple[int, ...]
    kept: tuple[int, ...]
    state: str
    payout: Payout
    coins: int | None
    columns: tuple[tuple[int, tuple[int, ...]], ...]


class GameState(ScriptState, frozen=True, dict=True, gc=True):
    """A game between two actions."""

    players: tuple[Seen, ...]
    middle: tuple[int, ...]
    facedown: int
    pot: int
    payments: tuple[Payment, ...]
    gone: Composition
    left: int
    button: int | None


class Scripted(ScriptedGame[GameState, Rules], PotGame[GameState, Rules], Generic[Rules]):
    """Base of the scripted player-pool games: each has its `script`, names and seat counts."""

    carries: ClassVar[frozenset[str]] = frozenset({"pot"})
    burn: ClassVar[int] = 0
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards"}
    words: ClassVar[Mapping[str, Words]] = {}
    cards: ClassVar[Mapping[Due, str]] = {}
    outcomes: ClassVar[tuple[str, ...]] = ("win", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = REASONS

    @abstractmethod
    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """The whole game, from the first card to the last payment."""

    # --- as a state machine ---

    def _begin(self, rules: Rules, opening: Opening) -> Telling[Layout]:
        cards_left = DECK_SIZE - self.burn - sum(opening.dealt)
        if cards_left < 0 or any(not 0 <= out <= rank for rank, out in enumerate(opening.dealt, 1)):
            raise Illegal("impossible_shoe", "more cards are gone than the deck holds after the burn")
        layout = Layout(
            opening=opening,
            burn=self.burn,
            players=_players(opening),
            pot=opening.pot,
            gone=opening.dealt,
            left=cards_left,
            button=opening.button,
        )
        return self.script(rules, layout), layout

    def _picture(
        self, rules: Rules, actions: tuple[Action, ...], prompts: tuple[Prompt, ...], layout: Layout
    ) -> GameState:
        """The state in which a script stopped."""
        return GameState(
            prompts,
            rules,
            layout.opening,
            actions,
            tuple(_player_seen(player) for player in layout.players),
            tuple(layout.middle),
            len(layout.pool),
            layout.pot,
            tuple(layout.payments),
            layout.gone,
            layout.left,
            layout.button,
        )

    # --- what comes out ---

    def settle(self, state: GameState) -> tuple[Payout, ...]:
        """Payouts in seat order; before the end, of the seats whose outcome is decided."""
        return tuple(player.payout for player in state.players if player.payout.outcome)

    def pot(self, state: GameState) -> int:
        """The coins in the pot; at the end, those that stay for the next game."""
        return state.pot

    def view(self, state: GameState, viewer: int | None) -> View:
        """Faceup cards and the pot for everyone; a hand for its owner alone."""
        return View(
            seats=tuple(_seat_view(player, mine=viewer == player.seat) for player in state.players),
            dealer=(),
            button=state.button,
            cards_left=state.left,
            over=not state.prompts,
            middle=state.middle,
            facedown=state.facedown,
            pot=state.pot,
        )

    def payments(self, state: GameState) -> tuple[Payment, ...]:
        """The coins that changed hands so far, in order."""
        return state.payments

    def gone(self, state: GameState) -> Composition:
        """Cards gone from the deck since its last shuffle."""
        return state.gone

    def cards_left(self, state: GameState) -> int:
        """Cards still to be dealt from the deck."""
        return state.left

    def decks(self, rules: Rules) -> int:
        """Decks in play: each scripted game has one."""
        return 1

    def burned(self, rules: Rules) -> int:
        """Number of cards burned, fixed by the game."""
        return self.burn

    def say(self, state: GameState, prompt: Prompt, money: Money) -> Phrase:
        """The prompt in the dealer's words; ``money`` says coins."""
        if isinstance(prompt, AskChoice):
            return say_choices(self.words, prompt, money)
        if isinstance(prompt, AskShuffle):
            burn = f", burn {prompt.burn}," if prompt.burn else ""
            do = f"Shuffle the {prompt.cards} cards that are not on the table{burn} and go on."
            call = "Shuffling." if state.left else "The deck is out. Shuffling the discards."
            return Phrase(do, call, self._rule("shuffle"))
        if isinstance(prompt, AskCard):
            return self._say_card(prompt)
        raise TypeError(f"{self.title} has no bets")

    def _say_card(self, prompt: AskCard) -> Phrase:
        middle, seat = prompt.to == MIDDLE, f"seat {prompt.to}"
        if prompt.shown:
            place = "in the middle" if middle else f"of {seat}"
            return Phrase(f"Turn a card {place} and name it.", "Show, please.", self._rule("turn"))
        place, face = "in the middle" if middle else f"to {seat}", " facedown" if prompt.down else ""
        if prompt.apart:
            do = f"Deal one of the {self.parts.get('facedown', 'shuffled cards')} {place}."
            return Phrase(do, f"Card for {seat}.", self._rule("apart"))
        due: Due = "down" if prompt.down else "middle" if middle else "seat"
        call = f"Card for the {self.parts.get('middle', 'middle')}." if middle else f"Card for {seat}."
        return Phrase(f"Deal a card{face} {place}.", call, self._rule(due))

    def _rule(self, due: Due) -> str:
        return self.cards.get(due, _RULES[due])


_RULES: Final[dict[Due, str]] = {
    "seat": "A card faceup.",
    "down": "Only its owner may look at it.",
    "middle": "It lies faceup for everyone.",
    "turn": "A card counts when it is seen.",
    "apart": "Chance decides who gets which of them.",
    "shuffle": "Cards in play and cards kept stay where they are.",
}


def _players(opening: Opening) -> list[Player]:
    stacks = opening.stacks or (None,) * len(opening.seats)
    return [Player(seat, stack_coins=coins) for seat, coins in zip(opening.seats, stacks, strict=True)]


def _player_seen(player: Player) -> Seen:
    payout = Payout(
        player.seat,
        staked_cents=player.paid,
        returned_cents=player.won,
        outcome=player.outcome,
        card=player.card,
        why=player.why,
        score=player.score,
    )
    columns = tuple((target, tuple(cards)) for target, cards in player.columns.items())
    return Seen(
        seat=player.seat,
        stack=tuple(player.stack),
        hand=tuple(player.hand),
        kept=tuple(player.kept),
        state=player.state,
        payout=payout,
        coins=player.coins,
        columns=columns,
    )


def _seat_view(player: Seen, *, mine: bool) -> SeatView:
    state: Literal["in", "out"] = "out" if player.state == "out" else "in"
    payout = player.payout if player.payout.outcome else None
    return SeatView(
        player.seat,
        stack=player.stack,
        state=state,
        payout=payout,
        hand=player.hand if mine else (),
        hand_size=len(player.hand),
        kept=player.kept,
        score=player.payout.score,
        coins=player.coins,
        columns=player.columns,
    )
