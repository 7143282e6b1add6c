"""Pairs: hit or fold, and avoid collecting too many points.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player
from tables.games.protocol import Choice, Struct, because
from tables.games.script import Scripted

EIGHT: Final = 8
CALAMITY: Final = 7
CATCH: Final = 5
"""Cards without a pair that make a Five Card Catch."""

Settlement = Literal["forfeit", "downspear", "seattle", "norland", "tacoma", "olympia", "portland", "cutchfeld"]


class Rules(Struct, frozen=True):
    """The table's options."""

    settlement: Annotated[Settlement, Meta(description="Who pays whom when somebody has lost.")] = "forfeit"
    tacoma_coins: Annotated[int, Meta(ge=1, le=1_000_000, description="What the loser pays under tacoma.")] = 6
    five_card_catch: Annotated[
        bool, Meta(description="Five cards without a pair win at once; only with cutchfeld.")
    ] = False
    continuous: Annotated[bool, Meta(description="Who pairs or folds discards alone and plays on.")] = False
    pieces_of_eight: Annotated[bool, Meta(description="An 8 may be discarded for two cards.")] = False
    calamities: Annotated[bool, Meta(description="A 7 starts before a 1, and keeps the turn.")] = False

    def __post_init__(self) -> None:
        """Refuse options that do not go together."""
        if self.five_card_catch and self.settlement != "cutchfeld":
            raise ValueError(f"five_card_catch belongs to the cutchfeld settlement, not to {self.settlement}")


class Pairs(Scripted[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "Pairs"
    names: ClassVar[Mapping[str, str]] = {"from": "target"}
    carries: ClassVar[frozenset[str]] = frozenset({"pot", "dealt"})
    seat_counts: ClassVar[range] = range(2, 9)
    burn: ClassVar[int] = 5
    parts: ClassVar[Mapping[Part, str]] = {"stack": "cards", "kept": "kept for score", "score": "points", "pot": "pot"}
    words: ClassVar[Mapping[str, Words]] = {
        "hit": Words("Hit", "Deal the seat a card faceup.", "A card that pairs the stack scores its rank."),
        "fold": Words(
            "Fold",
            "Lay the card that the fold takes with the seat's score.",
            "A fold scores the lowest card in play; in Continuous, any card in play.",
            of="stack",
        ),
        "eight": Words(
            "Discard the 8",
            "Clear the seat's 8, then deal two cards; none after one that pairs.",
            "An 8 may be discarded for two cards.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "seat": "One card each starts a round, and the low card acts first; a hit that pairs scores.",
        "shuffle": "Cards in play and cards kept for score stay where they are.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "lose", "out")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "forfeit": "{points} points: seat {seat} loses",
        "paid_each": "{points} points: the loser pays 1 coin to every player",
        "paid_lowest": "{points} points: the loser pays 1 coin to each player with the lowest score",
        "paid_difference": "{points} points: the loser pays every player the difference of their scores",
        "paid_share": "{points} points, the lowest score, for which the loser pays {coins}",
        "between": "{points} points: neither the loser nor the lowest, who has {lowest}",
        "loser": "{points} points: the first to reach {target}",
        "catch": "a Five Card Catch",
        "pays_catch": "pays {points} for a Five Card Catch at seat {seat}",
    }
    rules_type = Rules

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """Rounds, until a score reaches the target or a stack catches five cards; then coins change hands.

        Every round takes a card out of the game for score, and every turn within it lays a card down: it ends.
        """
        for player in layout.players:
            player.score = 0
        while not _over(rules, layout):
            yield from _round(rules, layout)
        if loser := _loser(layout):
            _settle(rules, layout, loser)
        elif catcher := _catcher(rules, layout):
            _pay_catcher(layout, catcher)


# --- the end ---------------------------------------------------------------------------------------------------


def target(players: int) -> int:
    """The losing score: a share of 60, and one more; beyond six players it falls no further."""
    return 60 // min(players, 6) + 1


def points(player: Player) -> int:
    """A player's score: the sum of the cards kept."""
    return sum(player.kept)


def _loser(layout: Layout) -> Player | None:
    return next((player for player in layout.players if points(player) >= target(len(layout.players))), None)


def _catcher(rules: Rules, layout: Layout) -> Player | None:
    if not rules.five_card_catch:
        return None
    return next((player for player in layout.players if len(player.stack) >= CATCH), None)


def _over(rules: Rules, layout: Layout) -> bool:
    return bool(_loser(layout) or _catcher(rules, layout))


# --- a round ---------------------------------------------------------------------------------------------------


def _round(rules: Rules, layout: Layout) -> Script[None]:
    """Turns pass left until a player scores. In Continuous they go on after that: one round is the whole game."""
    acting = yield from _deal(rules, layout)
    while not _over(rules, layout):
        before = points(acting)
        received = yield from _decide(rules, layout, acting)
        if points(acting) > before and not rules.continuous:
            return
        if not (rules.calamities and CALAMITY in received):
            acting = layout.left_of(acting)


def _deal(rules: Rules, layout: Layout) -> Script[Player]:
    """One card each; the low card starts. A Calamity is lower than a 1 here; a tie-breaker may complete a catch."""
    yield from layout.deal()
    low = _calamities_first if rules.calamities else int
    return (yield from layout.low_card(low=low, enough=CATCH if rules.five_card_catch else None))


def _calamities_first(rank: int) -> int:
    return 0 if rank == CALAMITY else rank


def _decide(rules: Rules, layout: Layout, player: Player) -> Script[list[int]]:
    """One decision of a player, carried out; returns the cards that the player received."""
    choice = yield from layout.choose(player, _choices(rules, layout, player))
    if choice.name == "fold":
        rank = layout.lowest_in_play() if choice.card is None else choice.card
        if choice.target is not None:
            layout.player(choice.target).stack.remove(rank)
        _keep(rules, layout, player, rank)
        return []
    received, paired = yield from take(layout, player, choice)
    if paired:
        _keep(rules, layout, player, received[-1])
    return received


def _choices(rules: Rules, layout: Layout, player: Player) -> list[Choice]:
    """Hit or fold; with an empty stack only a hit, if a card can be had."""
    must_hit = layout.can_draw and not player.stack
    folds = [] if must_hit else _folds(rules, layout)
    return hit_or(folds, layout, player, pieces_of_eight=rules.pieces_of_eight)


def _folds(rules: Rules, layout: Layout) -> list[Choice]:
    """A fold takes the lowest card in play; in Continuous, any."""
    if not rules.continuous:
        return [Choice("fold")]
    return [Choice("fold", card=rank, target=owner.seat) for owner in layout.players for rank in sorted(owner.stack)]


def _keep(rules: Rules, layout: Layout, player: Player, rank: int) -> None:
    """Keep a card for score; discard everything in play or, in Continuous, that player's cards."""
    player.kept.append(rank)
    player.score = points(player)
    for owner in [player] if rules.continuous else layout.players:
        owner.stack.clear()


# --- taking cards, as Port does it too -------------------------------------------------------------------------


def hit_or(alternatives: list[Choice], layout: Layout, player: Player, *, pieces_of_eight: bool) -> list[Choice]:
    """A hit, or something else, or perhaps an eight; only something else when no card can be had.

    Where one card can be had, an eight can have its two: it is a discard itself before they are drawn.
    """
    if not layout.can_draw:
        return alternatives
    eight = [Choice("eight")] if pieces_of_eight and EIGHT in player.stack else []
    return [Choice("hit", draws=True), *alternatives, *eight]


def take(layout: Layout, player: Player, choice: Choice) -> Script[tuple[list[int], bool]]:
    """The cards that a hit brings, or the two for an eight that is discarded; and whether the last one paired.

    A card that pairs is not laid down, and none is dealt after it.
    """
    received: list[int] = []
    if choice.name == "eight":
        player.stack.remove(EIGHT)
    for _ in range(2 if choice.name == "eight" else 1):
        rank = yield from layout.draw(player.seat)
        received.append(rank)
        if rank in player.stack:
            return received, True
        player.stack.append(rank)
    return received, False


# --- settlement ------------------------------------------------------------------------------------------------


def _settle(rules: Rules, layout: Layout, loser: Player) -> None:
    """The loser pays by the table's settlement. The winners are those who are paid; in a forfeit, all but the loser."""
    opponents = layout.clockwise(loser)[1:]  # the order of payment: clockwise from the loser's left
    low = min(points(player) for player in opponents)
    lowest = [player for player in opponents if points(player) == low]
    match rules.settlement:
        case "forfeit":
            _win(opponents, "forfeit", seat=loser.seat)
        case "downspear" | "seattle":
            for opponent in opponents:
                layout.pays(loser, opponent, 1)
            _win(opponents, "paid_each")
        case "norland":
            for opponent in lowest:
                layout.pays(loser, opponent, 1)
            _win(lowest, "paid_lowest")
        case "portland":
            for opponent in opponents:
                layout.pays(loser, opponent, points(loser) - points(opponent))
            _win(opponents, "paid_difference")
        case "tacoma":
            _share(layout, loser, rules.tacoma_coins, lowest)
        case "olympia":
            _share(layout, loser, points(loser) - low, lowest)
        case "cutchfeld":
            _share(layout, loser, points(loser), lowest)
    for opponent in opponents:
        if not opponent.outcome:
            opponent.ends("out", because("between", points=points(opponent), lowest=low))
    loser.ends("lose", because("loser", points=points(loser), target=target(len(layout.players))))


def _win(winners: Iterable[Player], code: str, **facts: int) -> None:
    for winner in winners:
        winner.ends("win", because(code, points=points(winner), **facts))


def _share(layout: Layout, loser: Player, coins: int, lowest: list[Player]) -> None:
    """A shared payment goes through the pot: odd coins stay there, and those of earlier games are shared as well."""
    layout.to_pot(loser, coins)
    layout.share_pot(lowest)
    for winner in lowest:
        reason = because("paid_share", points=points(winner), coins=coins)
        winner.ends("win" if len(lowest) == 1 else "split", reason)


def _pay_catcher(layout: Layout, catcher: Player) -> None:
    """A Five Card Catch wins at once: every other player pays the own score."""
    for payer in layout.players:
        if payer is not catcher:
            layout.pays(payer, catcher, points(payer))
            payer.ends("lose", because("pays_catch", points=points(payer), seat=catcher.seat))
    catcher.ends("win", because("catch"))
