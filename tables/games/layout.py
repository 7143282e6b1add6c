"""Layout of a scripted game: players, middle, pot and deck, and what a script does with them.

A script is a generator: it yields the open prompts and is sent the action that answered one of them. The layout is its
working memory and changes with it; only `script.py` holds one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from tables.games.cards import DECK, DECK_SIZE, RANKS, UNKNOWN, Composition, add, count
from tables.games.game import Script, Wording
from tables.games.protocol import (
    AskCard,
    AskChoice,
    AskShuffle,
    Card,
    Choice,
    Choose,
    Illegal,
    Opening,
    Payment,
    Reason,
    Why,
    because,
)


class NoCard(Exception):
    """A card is needed, but deck and discards are empty except for the burned card."""


@dataclass(slots=True)
class Player:
    """One seat while a game is played."""

    seat: int
    stack: list[int] = field(default_factory=list)
    """Faceup cards."""
    hand: list[int] = field(default_factory=list)
    """Facedown cards that only this player knows; UNKNOWN ones are unknown to the system as well."""
    kept: list[int] = field(default_factory=list)
    """Cards kept for score: out of the deck until the game ends."""
    state: str = "in"
    paid: int = 0
    """Coins put in so far."""
    won: int = 0
    """Coins received so far."""
    stack_coins: int | None = None
    """Coins that the player had on the table at the start, which payments cannot exceed. None: not limited."""
    columns: dict[int, list[int]] = field(default_factory=dict)
    """The player's side of each column, by its target: cards that lie in the stack, too."""
    score: int | None = None
    outcome: str = ""
    card: int | None = None
    """The card that the outcome is about."""
    why: Why = ()

    @property
    def is_in(self) -> bool:
        return self.state == "in"

    @property
    def coins(self) -> int | None:
        """Coins left on the table. None: not limited."""
        return None if self.stack_coins is None else self.stack_coins - self.paid + self.won

    def can_pay(self, coins: int) -> bool:
        """Whether the player has this number of coins on the table: there is no credit."""
        return self.coins is None or self.coins >= coins

    def out(self, outcome: str, reason: Reason, card: int | None = None) -> None:
        """This player is out; the cards in play are discards from now on."""
        self.ends(outcome, reason, card)
        self.state, self.stack, self.hand = "out", [], []

    def ends(self, outcome: str, reason: Reason, card: int | None = None) -> None:
        """Set this player's result, at the end of the game."""
        self.outcome, self.why, self.card = outcome, (reason,), card


@dataclass(slots=True)
class Layout:
    """Everything on the table."""

    opening: Opening
    burn: int
    players: list[Player]
    """Clockwise from the dealer's left."""
    pot: int
    gone: Composition
    left: int
    middle: list[int] = field(default_factory=list)
    """Shared faceup cards."""
    aside: list[int] = field(default_factory=list)
    """Cards out of the deck until the game ends, in no hand."""
    pool: list[int] = field(default_factory=list)
    """Shared facedown cards in the middle, hidden from all until they are turned or dealt again."""
    payments: list[Payment] = field(default_factory=list)
    """The coins that changed hands, in order."""
    button: int | None = None
    acting: int | None = None

    # --- who ---

    def player(self, seat: int) -> Player:
        return next(player for player in self.players if player.seat == seat)

    @property
    def still_in(self) -> list[Player]:
        """The players still in the game, clockwise from the dealer's left."""
        return [player for player in self.players if player.is_in]

    def clockwise(self, start: Player) -> list[Player]:
        """Every player, clockwise, starting with ``start``."""
        place = self.players.index(start)
        return self.players[place:] + self.players[:place]

    def left_of(self, player: Player, among: Collection[Player] | None = None) -> Player:
        """The first player to the left of ``player`` among those given (default: those still in); may be itself."""
        candidates = self.still_in if among is None else among
        return next(neighbour for neighbour in [*self.clockwise(player)[1:], player] if neighbour in candidates)

    def next_seat(self, previous: int) -> Player:
        """The first player to the left of a seat, which may be empty."""
        return min(self.players, key=lambda player: (player.seat <= previous, player.seat))

    # --- coins: what one account loses another gains, to the coin ---

    def to_pot(self, player: Player, coins: int) -> int:
        """A player pays into the pot, or puts all that is there into it when it is less; how much was paid."""
        return self._pay("pay_pot", player, None, coins)

    def pays(self, player: Player, payee: Player, coins: int) -> int:
        """A player pays another one, all that is there when it is less; how much was paid."""
        return self._pay("pay_seat", player, payee, coins)

    def share_pot(self, winners: Sequence[Player]) -> None:
        """Pay the pot: the casino takes its rake, the rest is split evenly, and odd coins stay in the pot for the next
        game."""
        if (rake := self.opening.rake) and (raked := rake.of(self.pot)):
            self.pot -= raked
            self.payments.append(Payment("rake", raked))
        share, self.pot = divmod(self.pot, len(winners))
        for winner in winners:
            winner.won += share
            if share:
                self.payments.append(Payment("win_pot", share, payee=winner.seat))

    def _pay(self, kind: Literal["pay_pot", "pay_seat"], player: Player, payee: Player | None, coins: int) -> int:
        paid = coins if player.coins is None else min(coins, player.coins)
        player.paid += paid
        if payee is None:
            self.pot += paid
        else:
            payee.won += paid
        if paid:
            self.payments.append(Payment(kind, paid, player.seat, payee.seat if payee else 0))
        return paid

    # --- cards ---

    @property
    def in_play(self) -> Composition:
        """All cards that a shuffle of the discards leaves in place."""
        return count(self._on_table())

    def _on_table(self) -> list[int]:
        ranks = [rank for player in self.players for rank in (*player.stack, *player.hand, *player.kept)]
        return [*ranks, *self.middle, *self.aside, *self.pool]

    @property
    def discards(self) -> int:
        """How many cards are neither in the deck nor anywhere on the table: discards, burned ones too."""
        return DECK_SIZE - self.left - len(self._on_table())

    @property
    def can_draw(self) -> bool:
        """Whether a card can be had, after a shuffle of the discards if need be."""
        return self.left > 0 or self.discards > self.burn

    def shuffle_discards(self) -> None:
        """Everything that is not on the table is shuffled into the deck, and the burn is repeated."""
        cards = DECK_SIZE - len(self._on_table())
        self.gone, self.left = self.in_play, max(0, cards - self.burn)

    def reshuffle(self) -> Script[None]:
        """Everything that is not on the table, the rest of the deck included, is shuffled now."""
        yield (AskShuffle(DECK_SIZE - len(self._on_table()), self.burn),)
        self.shuffle_discards()

    def draw(self, to: int, *, down: bool = False) -> Script[int]:
        """The rank of the next card of the deck, for the caller to place. Raises NoCard if there is none.

        A physical card dealt facedown is UNKNOWN and is not entered.
        """
        if not self.left:
            if not self.can_draw:
                raise NoCard
            yield from self.reshuffle()
        if down and self.opening.blind:
            self.left -= 1
            return UNKNOWN
        rank = yield from self._card(AskCard(to, self.gone, 1, down))
        self.gone, self.left = add(self.gone, rank), self.left - 1
        return rank

    def set_aside(self, card: int) -> None:
        """A card leaves the deck unplayed; it is among the discards from here on."""
        self.left -= 1
        if card != UNKNOWN:
            self.gone = add(self.gone, card)

    def draw_unpaired(self, player: Player) -> Script[int]:
        """The next card that pairs nothing in a player's stack; those that do are discarded and replaced.

        Raises NoCard when only cards that would pair are left, for they would come back with every shuffle.
        """
        while True:
            unpaired = (rank for rank in RANKS if rank not in player.stack)
            if all(self.in_play[rank - 1] == DECK[rank - 1] for rank in unpaired):
                raise NoCard
            rank = yield from self.draw(player.seat)
            if rank not in player.stack:
                return rank

    def draw_from(self, pool: list[int], to: int) -> Script[int]:
        """The rank of the next card of a few that were shuffled apart from the deck, which it leaves."""
        complement = tuple(whole - copies for whole, copies in zip(DECK, count(pool), strict=True))
        if UNKNOWN in pool:
            complement = self.gone
        rank = yield from self._card(AskCard(to, complement, 1, apart=True))
        self._leaves(pool, rank)
        return rank

    # --- facedown cards ---

    def may_show(self, player: Player) -> list[int]:
        """The ranks that a player's hand may hold, each once: all that the deck could have, if a card is unknown."""
        ranks = set(player.hand)
        if UNKNOWN in ranks:
            ranks |= {rank for rank in RANKS if self.gone[rank - 1] < DECK[rank - 1]}
        return sorted(ranks - {UNKNOWN})

    def show(self, player: Player, rank: int) -> None:
        """A card leaves a player's hand to be seen; one that was unknown is known from here on."""
        self._leaves(player.hand, rank)

    def show_together(self, name: str) -> Script[None]:
        """Everyone still in chooses a card of the hand in secret; they are laid faceup together.

        Physical ones are named when they lie there, seat by seat: else two seats could name the same one.
        """
        players = self.still_in
        for together in [[player] for player in players] if self.opening.blind else [players]:
            choices = yield from self.choose_all(
                {player.seat: cards_to(name, self.may_show(player)) for player in together}
            )
            for player in together:
                rank = choices[player.seat].card or 0
                self.show(player, rank)
                player.stack.append(rank)

    def forget(self, player: Player) -> None:
        """Physical cards left this hand unseen, and others came: any that were known may now be elsewhere."""
        faces = count(player.hand)
        self.gone = tuple(out - copies for out, copies in zip(self.gone, faces, strict=True))
        player.hand = [UNKNOWN] * len(player.hand)

    def open_hand(self, player: Player) -> Script[None]:
        """A player shows the whole hand: the dealer names the cards of it that are unknown."""
        yield from self.open_cards(player.hand, player.seat)

    def open_cards(self, cards: list[int], to: int) -> Script[None]:
        """Turn some cards, at a seat or in the middle."""
        for place, rank in enumerate(cards):
            cards[place] = yield from self.turn(rank, to)

    def turn(self, rank: int, to: int) -> Script[int]:
        """The rank of a facedown card that is turned now, at a seat or in the middle."""
        if rank != UNKNOWN:
            return rank
        rank = yield from self._card(AskCard(to, self.gone, 1, shown=True))
        self.gone = add(self.gone, rank)
        return rank

    def _leaves(self, cards: list[int], rank: int) -> None:
        if rank in cards:
            cards.remove(rank)
        else:
            cards.remove(UNKNOWN)
            self.gone = add(self.gone, rank)

    @staticmethod
    def _card(ask: AskCard) -> Script[int]:
        action = yield (ask,)
        assert isinstance(action, Card)  # noqa: S101 -- nothing else answers this prompt
        return action.rank

    def deal(self, cards: int = 1, *, down: bool = False, to: Iterable[Player] | None = None) -> Script[None]:
        """Deal this number of cards to each player, one at a time, clockwise from the first."""
        receivers = list(self.still_in if to is None else to)
        for _ in range(cards):
            for player in receivers:
                rank = yield from self.draw(player.seat, down=down)
                (player.hand if down else player.stack).append(rank)

    # --- decisions ---

    def choose(self, player: Player, choices: Iterable[Choice]) -> Script[Choice]:
        """A player's choice. A decision with one legal answer is carried out without a prompt."""
        answers = yield from self.choose_all({player.seat: tuple(choices)})
        return answers[player.seat]

    def choose_all(self, options: Mapping[int, Sequence[Choice]]) -> Script[dict[int, Choice]]:
        """Simultaneous choices of several players, secret until all have chosen, entered in any order."""
        answers = {seat: choices[0] for seat, choices in options.items() if len(choices) == 1}
        while open_ := tuple(_ask(seat, options[seat]) for seat in sorted(options) if seat not in answers):
            self.acting = open_[0].seat if len(options) == 1 else None
            action = yield open_
            assert isinstance(action, Choose)  # noqa: S101 -- nothing else answers these prompts
            answers[action.seat] = next(choice for choice in options[action.seat] if choice.means(action))
        self.acting = None
        return answers

    # --- what many games share ---

    def low_card(
        self,
        among: Sequence[Player] | None = None,
        *,
        low: Callable[[int], int] = int,
        pairs_count: bool = True,
        enough: int | None = None,
    ) -> Script[Player]:
        """The starting player: the lowest card of those just dealt. Ties get further cards, which stay in their stacks.

        Only the new cards are compared, among those still tied. A pair made here costs nothing: the pairing card is
        discarded and replaced at once (unless pairs do not count). A tie that cannot be broken for want of cards goes
        to the tied seat nearest to the dealer's left. `low` gives the order of ranks, if it is not their own. A stack
        of `enough` cards ends it at once, and its player is returned.
        """
        tied = list(self.still_in if among is None else among)
        faceup = {player.seat: player.stack[-1] for player in tied}
        while True:
            lowest = min(low(faceup[player.seat]) for player in tied)
            tied = [player for player in tied if low(faceup[player.seat]) == lowest]
            if len(tied) == 1:
                return tied[0]
            for player in tied:
                try:
                    rank = yield from (self.draw_unpaired(player) if pairs_count else self.draw(player.seat))
                except NoCard:
                    return tied[0]
                player.stack.append(rank)
                if len(player.stack) == enough:
                    return player
                faceup[player.seat] = rank

    def folds(self, player: Player) -> None:
        """A player pays the lowest card in play to the pot, and is out."""
        low = self.lowest_in_play()
        paid = self.to_pot(player, low)
        player.out("fold", because("fold", rank=low, paid=paid), low)

    def pairs(self, player: Player, rank: int) -> None:
        """A player who caught a pair pays its rank to the pot, and is out."""
        paid = self.to_pot(player, rank)
        player.out("pair", because("pair", rank=rank, paid=paid), rank)

    def last_one_wins(self) -> None:
        """The one player who is still in takes the pot."""
        [winner] = self.still_in
        self.share_pot([winner])
        winner.ends("win", because("last_player"))

    def lowest_in_play(self) -> int:
        """The lowest faceup card of any player still in."""
        return min(rank for player in self.still_in for rank in player.stack)

    def require_first(self) -> Player:
        """The seat that chance chose to start. Raises Illegal when the opening does not name one."""
        if self.opening.first is None:
            raise Illegal("first_required", "chance chooses who starts: name the seat", place="first")
        if self.opening.first not in self.opening.seats:
            raise Illegal("first_required", f"there is no seat {self.opening.first} in this game", place="first")
        return self.player(self.opening.first)


def say_paid(paid: int, due: int) -> str:
    """A payment as text for a reason: "8", or "5 of 8, all that is there" if a player is all-in."""
    return str(due) if paid == due else f"{paid} of {due}, all that is there"


REASONS: Final[Mapping[str, Wording]] = {
    "fold": lambda rank, paid: f"folds for the lowest card in play, a {rank}: pays {say_paid(paid, rank)} to the pot",
    "pair": lambda rank, paid: f"pair of {rank}s: pays {say_paid(paid, rank)} to the pot",
    "last_player": "the last player in takes the pot",
}
"""Reasons of the games in which a fold or a pair pays the pot."""


def cards_to(name: str, cards: Iterable[int]) -> tuple[Choice, ...]:
    """One choice for each rank among some cards."""
    return tuple(Choice(name, card=rank) for rank in sorted(set(cards)))


def _ask(seat: int, choices: Sequence[Choice]) -> AskChoice:
    return AskChoice(seat, tuple(choices), any(choice.names_things for choice in choices))
