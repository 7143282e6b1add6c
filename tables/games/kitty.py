"""Kitty: the lowest unmatched bid takes the target, and the most cards of each rank score it.

Designed by James Ernest and Paul Peterson.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from msgspec import Meta

from tables.games.captures import most_of_each_rank
from tables.games.game import Due, Part, Script, Wording, Words
from tables.games.layout import Layout, Player, cards_to, say_paid
from tables.games.protocol import MIDDLE, Choice, Fact, Illegal, Opening, Struct, because
from tables.games.script import GameState, Scripted

KITTY: Final = 7
HARD: Final = (1, 1, 1, 1, 1, 1, 1)
SOFT: Final = (1, 2, 2, 2)
"""Number of cards of the kitty that are turned up in each round."""
GIVER: Final = 1
"""The bid that takes a target for another player."""
TEAM: Final = 2


class Rules(Struct, frozen=True):
    """The table's options."""

    soft: Annotated[bool, Meta(description="Rounds of one, two, two and two targets.")] = False
    partners: Annotated[bool, Meta(description="Facing seats are a team; four or six play.")] = False
    gambling: Annotated[bool, Meta(description="The losers pay the differences of the scores.")] = False


class Kitty(Scripted[Rules]):
    """The game, as the kernel plays it. It ends with the kitty; a hand always has a card left to bid."""

    name: ClassVar[str] = "kitty"
    title: ClassVar[str] = "Kitty"
    carries: ClassVar[frozenset[str]] = frozenset({"pot"})
    seat_counts: ClassVar[range] = range(3, 7)
    parts: ClassVar[Mapping[Part, str]] = {
        "stack": "bid",
        "hand": "hand",
        "middle": "targets",
        "facedown": "kitty",
        "score": "points",
        "pot": "pot",
    }
    words: ClassVar[Mapping[str, Words]] = {
        "pass": Words(
            "Pass",
            "Move the passed cards one seat to the left, facedown.",
            "Everyone passes a card before looking at the one that comes.",
        ),
        "bid": Words("Bid", "Turn all bids together.", "The lowest bid that nobody matches takes the target."),
        "choose": Words(
            "Take",
            "Give the seat the target that it chose.",
            "The lowest unmatched bid chooses, the next one takes the other target.",
            of="middle",
        ),
        "give": Words(
            "Give to",
            "Move the target to the seat that it is given to.",
            "A bid of 1 gives its target to another player.",
        ),
    }
    cards: ClassVar[Mapping[Due, str]] = {
        "down": "Seven cards are the kitty; all others are dealt out.",
        "turn": "The most cards of a rank in hand score that rank.",
    }
    outcomes: ClassVar[tuple[str, ...]] = ("win", "split", "lose")
    reasons: ClassVar[Mapping[str, Wording]] = {
        "points": "{points} points, the most have {most}",
        "pays_difference": lambda points, most, paid: (
            f"{points} points, the most have {most}: pays {say_paid(paid, most - points)}"
        ),
    }
    rules_type = Rules

    def open(self, rules: Rules, opening: Opening) -> GameState:
        """A new game. Raises Illegal when partners could not sit facing each other."""
        players = len(opening.seats)
        if rules.partners and players % TEAM:
            raise Illegal("seat_count", f"kitty with partners is played by 4 or 6, not by {players}", place="seats")
        return super().open(rules, opening)

    def script(self, rules: Rules, layout: Layout) -> Script[None]:
        """The kitty, then all other cards to the hands; a round for each target or two; then the score."""
        yield from _deal(layout)
        for targets in SOFT if rules.soft else HARD:
            yield from _turn_up(layout, targets)
            yield from _pass_left(layout)
            yield from layout.show_together("bid")
            yield from _capture(rules, layout)
            _clear(layout)
        for player in layout.players:
            yield from layout.open_hand(player)
        _score(rules, layout)


# --- a round ---------------------------------------------------------------------------------------------------


def _deal(layout: Layout) -> Script[None]:
    """Deal the kitty and the hands facedown. Cards that would make the hands uneven, three with five players, remain
    unseen."""
    for _ in range(KITTY):
        rank = yield from layout.draw(MIDDLE, down=True)
        layout.pool.append(rank)
    hand, unseen = divmod(layout.left, len(layout.players))
    layout.left -= unseen
    yield from layout.deal(hand, down=True)


def _turn_up(layout: Layout, targets: int) -> Script[None]:
    """The kitty is turned in the order in which it was dealt."""
    for _ in range(targets):
        rank = yield from layout.turn(layout.pool[0], MIDDLE)
        layout.middle.append(rank)
        del layout.pool[0]


def _pass_left(layout: Layout) -> Script[None]:
    """Pass a card left: all choose before any of them sees the card received. Physical cards are not named."""
    if layout.opening.blind:
        for player in layout.players:
            layout.forget(player)
        return
    choices = yield from layout.choose_all({player.seat: cards_to("pass", player.hand) for player in layout.players})
    for player in layout.players:
        rank = choices[player.seat].card or 0
        player.hand.remove(rank)
        layout.left_of(player).hand.append(rank)


def _capture(rules: Rules, layout: Layout) -> Script[None]:
    """The lowest unmatched bid takes a target, and the next one the other; there may be no such bid."""
    bids = [_bid_of(player) for player in layout.players]
    unmatched = [player for player in layout.players if bids.count(_bid_of(player)) == 1]
    unmatched.sort(key=_bid_of)
    for player in unmatched[: len(layout.middle)]:
        choice = yield from layout.choose(player, cards_to("choose", layout.middle))
        gets = (yield from _give(rules, layout, player)) if _bid_of(player) == GIVER else player
        rank = choice.card or 0
        layout.middle.remove(rank)
        gets.hand.append(rank)


def _bid_of(player: Player) -> int:
    return player.stack[0]


def _give(rules: Rules, layout: Layout, giver: Player) -> Script[Player]:
    """The player who took a target with a 1 gives it to another player, not of the same team."""
    team = _team(rules, layout, giver)
    receivers = [player for player in layout.players if _team(rules, layout, player) != team]
    choice = yield from layout.choose(giver, [Choice("give", target=receiver.seat) for receiver in receivers])
    return layout.player(choice.target or 0)


def _clear(layout: Layout) -> None:
    """Discard the bids and the targets not taken."""
    layout.middle.clear()
    for player in layout.players:
        player.stack.clear()


# --- the score -------------------------------------------------------------------------------------------------


def _team(rules: Rules, layout: Layout, player: Player) -> int:
    """The team of a player: players who face each other are a team; without partners each player is one."""
    teams = len(layout.players) // (TEAM if rules.partners else 1)
    return layout.players.index(player) % teams


def _score(rules: Rules, layout: Layout) -> None:
    """The most cards of each rank in the hands, or in those of a team together."""
    hands: dict[int, list[int]] = {}
    for player in layout.players:
        hands.setdefault(_team(rules, layout, player), []).extend(player.hand)
    points = most_of_each_rank(hands)
    most = max(points.values())
    best = "win" if list(points.values()).count(most) == 1 else "split"
    for player in layout.players:
        player.score = points[_team(rules, layout, player)]
        player.ends(best if player.score == most else "lose", because("points", points=player.score or 0, most=most))
    if rules.gambling:
        _settle(layout, most)


def _settle(layout: Layout, most: int) -> None:
    """Each loser pays the difference of the scores once; the winners share it through the pot.

    Partners have their team's score: every loser pays, and the winning partners get equal parts.
    """
    winners = [player for player in layout.players if player.score == most]
    losers = [player for player in layout.players if player not in winners]
    for loser in losers:
        due = most - (loser.score or 0)
        facts: dict[str, Fact] = {"points": loser.score or 0, "most": most, "paid": layout.to_pot(loser, due)}
        loser.ends(loser.outcome, because("pays_difference", **facts))
    if losers:
        layout.share_pot(winners)
