"""Regent: bluff with facedown cards, and catch the others with a pair in them; played to the last one in.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Final

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import REASONS, Layout, Player, say_paid
from tables.games.protocol import Choice, Fact, Struct, because
from tables.games.script import Scripted

DOWN: Final = 2
DUEL: Final = 2
"""With two players there is no middle to pay to: a player who folds pays the other."""


class Rules(Struct, frozen=True):
    """No options."""


class Regent(Scripted[Rules]):
    """The game, as the kernel plays it.

    It ends: a card goes from the deck to a hand or a stack, or from a hand to a stack, and comes back only when a
    player goes out. When nothing can move any more, folding is still left.
    """

    name: ClassVar[str] = "regent"
    title: ClassVar[str] = "Regent"
    carries: ClassVar[frozenset[str]] = frozenset({"dealt"})
    seat_counts: ClassVar[range] = range(2, 7)
    burn: ClassVar[int] = 5
    parts: ClassVar[Mapping[Part, str]] = {"stack": "faceup cards", "hand": "hand", "pot": "middle"}
    words: ClassVar[Mapping[str, Words]] = {
        "draw": Words("Draw", "Deal the seat a card facedown.", "A card for the own hand, unseen by the others."),
        "attack": Words(
            "Attack",
            "Deal the target a card faceup.",
            "A card that pairs the target's faceup ones costs the attacker its rank, and the game.",
        ),
        "gift": Words(
            "Gift",
            "Lay the card of the seat's hand faceup before the target.",
            "A card of the hand that pairs none of the target's faceup cards.",
        ),
        "see": Words(
            "See",
            "Turn the target's hand.",
            "A pair there pays its rank to whoever saw it; without one the highest card is paid for having looked.",
        ),
        "fold": Words(
            "Fold",
            "Take the seat's cards away, and move what it pays.",
            "Folding costs the lowest faceup card: to the other of two players, else to the last one in.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "Only its owner looks at a hand.",
        "turn": "Every card of the hand that is seen is shown.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "pair", "fold", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = {
        **REASONS,
        "last_in": "the last player in",
        "fold_to_seat": lambda rank, paid, seat: (
            f"folds for the lowest card in play, a {rank}: {_said(rank, paid, seat)}"
        ),
        "paired_other": lambda rank, paid, seat: f"deals seat {seat} a pair of {rank}s: {_said(rank, paid, seat)}",
        "seen": lambda rank, paid, seat: f"seen by seat {seat} with a pair of {rank}s: {_said(rank, paid, seat)}",
        "saw_no_pair": lambda rank, paid, seat: (
            f"sees seat {seat}, highest card {rank} and no pair: {_said(rank, paid, seat)}"
        ),
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Two cards down and one up, the low card starts; then turns until one player is left."""
        yield from layout.deal(DOWN, down=True)
        yield from layout.deal()
        acting = yield from layout.low_card()
        while len(layout.still_in) > 1:
            acting = yield from _turn(layout, acting)
        if layout.pot:
            layout.last_one_wins()
        else:
            layout.still_in[0].ends("win", because("last_in"))


def _turn(layout: Layout, player: Player) -> Script[Player]:
    """One turn; returns the next player: the target, or the first one to the left who is still in."""
    choice = yield from layout.choose(player, _ways(layout, player))
    if choice.target is None:
        yield from _draw_or_fold(layout, player, choice)
        return layout.left_of(player)
    target = layout.player(choice.target)
    if choice.name == "attack":
        yield from _attack(layout, player, target)
    elif choice.name == "see":
        yield from _see(layout, player, target)
    else:
        _gift(layout, player, target, choice)
    return target if target.is_in else layout.left_of(target)


def _ways(layout: Layout, player: Player) -> Iterator[Choice]:
    """Draw, attack, gift, fold or see. A physical card drawn facedown is not named, since it is unseen."""
    rivals = [rival for rival in layout.still_in if rival is not player]
    if layout.can_draw:
        yield Choice("draw", draws=not layout.opening.blind)
        yield from (Choice("attack", target=rival.seat) for rival in rivals)
    for rival in rivals:
        gifts = (rank for rank in layout.may_show(player) if rank not in rival.stack)
        yield from (Choice("gift", card=rank, target=rival.seat) for rank in gifts)
    yield Choice("fold", layout.lowest_in_play())
    yield from (Choice("see", target=rival.seat) for rival in rivals if rival.hand)


def _draw_or_fold(layout: Layout, player: Player, choice: Choice) -> Script[None]:
    if choice.name == "draw":
        rank = yield from layout.draw(player.seat, down=True)
        player.hand.append(rank)
    elif len(layout.players) == DUEL:
        low = layout.lowest_in_play()
        paid = _pays(layout, player, layout.left_of(player), low)
        player.out("fold", because("fold_to_seat", rank=low, **paid), low)
    else:
        layout.folds(player)


def _attack(layout: Layout, player: Player, target: Player) -> Script[None]:
    """A card of the deck to another player's stack; if it pairs there, it is discarded and the attacker is out."""
    rank = yield from layout.draw(target.seat)
    if rank not in target.stack:
        target.stack.append(rank)
        return
    paid = _pays(layout, player, target, rank)
    player.out("lose", because("paired_other", rank=rank, **paid), rank)


def _gift(layout: Layout, player: Player, target: Player, choice: Choice) -> None:
    assert choice.card is not None  # noqa: S101 -- every gift names its card
    layout.show(player, choice.card)
    target.stack.append(choice.card)


def _see(layout: Layout, player: Player, target: Player) -> Script[None]:
    """Show another player's hand: a pair among these cards puts its owner out, otherwise the player who looked."""
    yield from layout.open_hand(target)
    cards = [*target.stack, *target.hand]
    if pairs := [rank for rank in cards if cards.count(rank) > 1]:
        rank = max(pairs)
        paid = _pays(layout, target, player, rank)
        target.out("pair", because("seen", rank=rank, **paid), rank)
        return
    target.stack, target.hand = cards, []
    high = max(cards)
    paid = _pays(layout, player, target, high)
    player.out("lose", because("saw_no_pair", rank=high, **paid), high)


def _pays(layout: Layout, player: Player, payee: Player, coins: int) -> dict[str, Fact]:
    """A player pays another one; the facts of that for a reason."""
    return {"paid": layout.pays(player, payee, coins), "seat": payee.seat}


def _said(rank: int, paid: int, seat: int) -> str:
    return f"pays {say_paid(paid, rank)} to seat {seat}"
