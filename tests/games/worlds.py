"""What a viewer must not be able to tell: worlds that differ only in what is hidden from them look the same.

Two worlds are compared through all that a viewer gets: the view, and the prompts as that viewer may see them. Whatever
depends on a facedown card, or on a choice that is not shown yet, makes them differ somewhere.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import structs

from tables.games.game import Game
from tables.games.play import play, prompts_for
from tables.games.protocol import DEALER, Action, AskCard, AskChoice, Card, Choose, Illegal, Opening


def seen_by(game: Game[Any, Any], state: Any, viewer: int | None) -> bytes:
    """All that a viewer gets, as it leaves the house."""
    return msgspec.json.encode([game.view(state, viewer), prompts_for(game, state, viewer)])


def leaks_of_choices(game: Game[Any, Any], state: Any, seats: Sequence[int]) -> Iterator[str]:
    """Where others could tell what a seat has chosen while further seats are still to choose."""
    asks = [ask for ask in game.prompts(state) if isinstance(ask, AskChoice)]
    if len(asks) < 2:
        return
    for ask in asks:
        choices = [
            Choose(ask.seat, choice.name, choice.card, cards=choice.cards, target=choice.target, count=choice.count)
            for choice in ask.choices[:4]
        ]
        worlds = [play(game, state, action) for action in choices]
        for viewer in (None, DEALER, *(seat for seat in seats if seat != ask.seat)):
            if len({seen_by(game, world, viewer) for world in worlds}) > 1:
                yield f"what seat {ask.seat} chose in secret is seen by {viewer}"


def leaks_of_cards(
    game: Game[Any, Any], rules: Any, opening: Opening, actions: Sequence[Action], chance: random.Random
) -> Iterator[str]:
    """Where a viewer could tell two facedown cards of others apart: they are exchanged, and nothing else may change."""
    down = [
        index for index, ask in enumerate(_card_asks(game, rules, opening, actions)) if ask is not None and ask.down
    ]
    pairs = [(low, high) for low in down for high in down if low < high and _differ(actions, low, high)]
    for low, high in chance.sample(pairs, min(6, len(pairs))):
        swapped = [*actions]
        swapped[low], swapped[high] = _exchanged(actions, low, high)
        owners = {action.to for action in (actions[low], actions[high]) if isinstance(action, Card)}
        for state, world in _side_by_side(game, rules, opening, actions, swapped, after=high):
            for viewer in {None, DEALER, *opening.seats} - (owners - {DEALER}):
                if _hand(state, viewer) != _hand(world, viewer):
                    continue  # one of the two cards was passed to this one
                if seen_by(game, state, viewer) != seen_by(game, world, viewer):
                    yield f"which facedown cards {owners} have is seen by {viewer} after {len(state.actions)} actions"


def leaks_of_hands(game: Game[Any, Any], state: Any) -> Iterator[str]:
    """Where a view depends on another seat's hand: with other cards in that hand, the view must not change."""
    for viewer in (None, DEALER, *state.opening.seats):
        view = msgspec.json.encode(game.view(state, viewer))
        for player in state.players:
            if player.seat == viewer or not player.hand:
                continue
            swapped = structs.replace(player, hand=tuple(rank % 10 + 1 for rank in player.hand))
            players = tuple(swapped if holder is player else holder for holder in state.players)
            if msgspec.json.encode(game.view(structs.replace(state, players=players), viewer)) != view:
                yield f"viewer {viewer} reads the hand of seat {player.seat}"


def _card_asks(
    game: Game[Any, Any], rules: Any, opening: Opening, actions: Sequence[Action]
) -> Iterator[AskCard | None]:
    state = game.open(rules, opening)
    for action in actions:
        ask = game.prompts(state)[0]
        yield ask if isinstance(ask, AskCard) else None
        state = game.apply(state, action)


def _differ(actions: Sequence[Action], low: int, high: int) -> bool:
    low_card, high_card = actions[low], actions[high]
    return (
        isinstance(low_card, Card)
        and isinstance(high_card, Card)
        and low_card.rank != high_card.rank
        and low_card.to != high_card.to
    )


def _exchanged(actions: Sequence[Action], low: int, high: int) -> tuple[Card, Card]:
    low_card, high_card = actions[low], actions[high]
    assert isinstance(low_card, Card)
    assert isinstance(high_card, Card)
    return Card(high_card.rank, low_card.to), Card(low_card.rank, high_card.to)


def _side_by_side(
    game: Game[Any, Any], rules: Any, opening: Opening, actions: Sequence[Action], swapped: Sequence[Action], after: int
) -> Iterator[tuple[Any, Any]]:
    """The states of two worlds, from where both cards lie there for as long as they stay hidden and play goes alike."""
    state = world = game.open(rules, opening)
    for index, (action, exchanged) in enumerate(zip(actions, swapped, strict=True)):
        state = game.apply(state, action)
        try:
            world = play(game, world, exchanged)
        except Illegal:
            return  # the card was named, or its owner would have had other choices: no other world from here on
        if index >= after:
            if not _hidden_alone_differs(state, world) or _asks(game, state) != _asks(game, world):
                return
            yield state, world


def _hand(state: Any, viewer: int | None) -> Any:
    return next((player.hand for player in state.players if player.seat == viewer), ())


def _hidden_alone_differs(state: Any, world: Any) -> bool:
    """Whether what lies faceup is the same, and what was said of those who showed their cards and are out."""
    faceup = [
        (
            table_state.middle,
            [(player.stack, player.kept, player.columns) for player in table_state.players],
            [
                player.payout
                for player in table_state.players
                if player.state == "out" and player.payout.outcome != "fold"
            ],
        )
        for table_state in (state, world)
    ]
    return faceup[0] == faceup[1] and bool(state.prompts)


def _asks(game: Game[Any, Any], state: Any) -> list[tuple[str, int | None]]:
    """Who is asked: a decision with one legal answer is carried out, and so tells of itself by the house's ruling."""
    return [(type(ask).__name__, getattr(ask, "seat", None)) for ask in game.prompts(state)]
