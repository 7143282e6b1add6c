"""Round records: one round as one JSON document, judged by the engine alone.

The format ``round-record/1`` lists the seats with their bets, every card in the order it left the deck, and the
decisions in the order they were made; the engine's prompts say which of the three is due. ``judge`` answers a
record, ``record_of`` writes one from a round's actions. Nothing here touches a database.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tables.games.cards import NOTHING, Composition
from tables.games.catalog import GAMES
from tables.games.felt import (
    MOST_CENTS,
    Action,
    AskBet,
    AskCard,
    AskChoice,
    AskCloseBets,
    AskShuffle,
    Bet,
    Card,
    Choose,
    CloseBets,
    Game,
    Illegal,
    Opening,
    Payout,
    Prompt,
    Shuffle,
    Struct,
)
from tables.games.play import play

FORMAT: Final = "round-record/1"
_SEAT = Annotated[int, Meta(ge=1, le=99)]
_COUNT = Annotated[int, Meta(ge=0)]


class RecordError(Exception):
    """A record that is no round: one line that names the position and the rule."""


class RecordSeat(Struct, frozen=True):
    """One seat, and its bet in house-banked games (minor units)."""

    seat: _SEAT
    bet: int | UnsetType = UNSET


class RecordAction(Struct, frozen=True):
    """One decision."""

    seat: _SEAT
    do: str


class Record(Struct, frozen=True):
    """The document."""

    format: Literal["round-record/1"]
    game: str
    seats: tuple[RecordSeat, ...]
    cards: tuple[int, ...]
    actions: tuple[RecordAction, ...]
    options: msgspec.Raw = msgspec.Raw(b"{}")
    dealt: tuple[_COUNT, ...] | UnsetType = UNSET
    button: _SEAT | UnsetType = UNSET


_decoder = msgspec.json.Decoder(Record)


def judge(document: bytes | str) -> dict[str, Any]:
    """The answer to a record: results, the house's net, and the open prompts when it is incomplete.

    Raises RecordError for anything that is no legal, possible round.
    """
    record = _parse(document)
    game = GAMES.get(record.game)
    if game is None:
        raise RecordError(f"game: {record.game!r} is not in the catalog, which has {', '.join(sorted(GAMES))}")
    rules = _rules(record, game)
    opening = _opening(record, game)
    try:
        state = game.open(rules, opening)
    except Illegal as illegal:
        raise RecordError(f"dealt: {illegal.sentence}") from None
    return _answer(game, *_run(record, game, state))


def record_of(game: Game[Any, Any], rules: Any, opening: Opening, actions: Iterable[Action]) -> dict[str, Any]:
    """A round of a table's log as a record that anyone can replay."""
    bets: dict[int, int] = {}
    cards: list[int] = []
    decisions: list[dict[str, Any]] = []
    for action in actions:
        if isinstance(action, Bet):
            bets[action.seat] = action.amount_cents
        elif isinstance(action, Card):
            cards.append(action.rank)
        elif isinstance(action, Choose):
            decisions.append({"seat": action.seat, "do": action.choice})
    record: dict[str, Any] = {
        "format": FORMAT,
        "game": game.name,
        "options": msgspec.to_builtins(rules),
        "seats": [{"seat": seat, "bet": cents} for seat, cents in sorted(bets.items()) if cents],
        "cards": cards,
        "actions": decisions,
    }
    if opening.dealt != NOTHING:
        record["dealt"] = list(opening.dealt)
    if opening.button is not None:
        record["button"] = opening.button
    return record


# --- reading ---------------------------------------------------------------------------------------------------


def _parse(document: bytes | str) -> Record:
    try:
        return _decoder.decode(document)
    except msgspec.ValidationError as error:
        raise RecordError(_where(str(error))) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise RecordError(f"not JSON: {error}") from None
    except RecursionError:
        raise RecordError("not a record: nested too deeply") from None


def _where(message: str) -> str:
    """msgspec's ``... - at `$.seats[0].bet``` as ``seats[0].bet: ...``."""
    text, _, path = message.partition(" - at `$")
    place = path.rstrip("`").removeprefix(".")
    return f"{place or 'record'}: {text[:1].lower()}{text[1:]}"


def _rules(record: Record, game: Game[Any, Any]) -> Any:
    try:
        return msgspec.json.decode(record.options, type=game.rules_type)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$")
        raise RecordError(f"options{path.rstrip('`')}: {text[:1].lower()}{text[1:]}") from None


def _opening(record: Record, game: Game[Any, Any]) -> Opening:
    for key in ("dealt", "button"):
        if getattr(record, key) is not UNSET and key not in game.carries:
            raise RecordError(f"{key}: {game.name} has no use for it")
    seats = tuple(seat.seat for seat in record.seats)
    if len(seats) not in game.seat_counts:
        low, high = game.seat_counts[0], game.seat_counts[-1]
        raise RecordError(f"seats: {game.name} is played by {low} to {high}, not by {len(seats)}")
    for at, (one, other) in enumerate(pairwise(seats), 1):
        if one >= other:
            raise RecordError(f"seats[{at}]: seats stand clockwise, each once: {other} cannot follow {one}")
    dealt: Composition = NOTHING if isinstance(record.dealt, UnsetType) else record.dealt
    if len(dealt) != len(NOTHING):
        raise RecordError(f"dealt: ten counts, one a rank, not {len(dealt)}")
    button = None if isinstance(record.button, UnsetType) else record.button
    return Opening(seats, dealt=dealt, button=button)


# --- running ---------------------------------------------------------------------------------------------------


def _run(record: Record, game: Game[Any, Any], state: Any) -> tuple[Any, tuple[Prompt, ...]]:
    """Answer each prompt from the record until one has no answer there or the round is over."""
    cards, actions, bets = 0, 0, 0
    while True:
        prompts = game.prompts(state)
        if not prompts:
            break
        ask = prompts[0]
        action: Action
        if isinstance(ask, AskBet | AskCloseBets):
            if bets == len(record.seats):
                where, action = "seats", CloseBets()
            else:
                where, action = f"seats[{bets}].bet", _bet(record.seats[bets], f"seats[{bets}].bet")
                bets += 1
        elif isinstance(ask, AskCard):
            if cards == len(record.cards):
                break
            where, action = f"cards[{cards}]", Card(record.cards[cards], ask.to)
            cards += 1
        elif isinstance(ask, AskChoice):
            if actions == len(record.actions):
                break
            decision = record.actions[actions]
            where, action = f"actions[{actions}]", Choose(decision.seat, decision.do)
            actions += 1
        else:
            where, action = "cards", Shuffle()
        try:
            state = play(game, state, action)
        except Illegal as illegal:
            raise RecordError(f"{where}: {illegal.sentence}") from None
    _nothing_left(record, prompts, cards, actions)
    return state, prompts


def _bet(seat: RecordSeat, where: str) -> Bet:
    if isinstance(seat.bet, UnsetType):
        raise RecordError(f"{where}: a bet is required in a house-banked game")
    if not 1 <= seat.bet <= MOST_CENTS:
        raise RecordError(f"{where}: a bet is at least ten chip units and at most {MOST_CENTS}, not {seat.bet}")
    return Bet(seat.seat, seat.bet)


def _nothing_left(record: Record, prompts: tuple[Prompt, ...], cards: int, actions: int) -> None:
    due = "the round is over" if not prompts else "a decision is due" if isinstance(prompts[0], AskChoice) else ""
    if cards < len(record.cards):
        raise RecordError(f"cards[{cards}]: {len(record.cards) - cards} left over: {due}")
    if actions < len(record.actions):
        raise RecordError(
            f"actions[{actions}]: {len(record.actions) - actions} left over: {due or 'a card is due first'}"
        )


# --- answering -------------------------------------------------------------------------------------------------


def _answer(game: Game[Any, Any], state: Any, prompts: tuple[Prompt, ...]) -> dict[str, Any]:
    payouts = game.settle(state)
    return {
        "game": game.name,
        "complete": not prompts,
        "results": [_result(payout) for payout in payouts],
        "house_net": -sum(payout.net_cents for payout in payouts),
        "pot_left": 0,
        "next": [_open_prompt(prompt) for prompt in prompts],
    }


def _result(payout: Payout) -> dict[str, Any]:
    return {
        "seat": payout.seat,
        "outcome": payout.outcome,
        "card": payout.card,
        "net": payout.net_cents,
        "returned": payout.returned_cents,
    }


def _open_prompt(prompt: Prompt) -> dict[str, Any]:
    if isinstance(prompt, AskChoice):
        costs = {choice.name: choice.cost_cents for choice in prompt.choices if choice.cost_cents}
        return {
            "kind": "choose",
            "seat": prompt.seat,
            "choices": [choice.name for choice in prompt.choices],
            "cost": costs,
        }
    if isinstance(prompt, AskCard):
        return {"kind": "card", "seat": prompt.to, "choices": [], "cost": {}}
    kind = "shuffle" if isinstance(prompt, AskShuffle) else "bet"
    return {"kind": kind, "seat": 0, "choices": [], "cost": {}}
