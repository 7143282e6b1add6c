"""Round records: one round as one JSON document, judged by the engine alone.

The format ``round-record/1`` lists the seats with their bets, every card in the order it left the deck, and the
decisions in the order they were made; the engine's prompts say which of the three is due. ``judge`` answers a
record, ``record_of`` writes one from a round's actions. Nothing here touches a database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tables.games.cards import NOTHING, Composition
from tables.games.catalog import GAMES
from tables.games.felt import (
    Action,
    AskCard,
    AskChoice,
    AskShuffle,
    Bet,
    Card,
    Choose,
    CloseBets,
    Illegal,
    Opening,
    Payout,
    Prompt,
    Rake,
    Shuffle,
    Struct,
)
from tables.games.game import BankedGame, Game, PotGame
from tables.games.play import complete, run

FORMAT: Final = "round-record/1"
_SEAT = Annotated[int, Meta(ge=1, le=99)]
_COUNT = Annotated[int, Meta(ge=0)]
_LONGEST: Final = 300


class RecordError(Exception):
    """A record that is no round: one line that names the place in the document, and the rule."""

    def __init__(self, place: str, rule: str) -> None:
        line = f"{place}: {rule}"
        if len(line) > _LONGEST:
            line = line[: _LONGEST - 1] + "…"
        super().__init__("".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line))


class RecordSeat(Struct, frozen=True):
    """One seat, and its bet in house-banked games (minor units); in games for coins, what it has on the table."""

    seat: _SEAT
    bet: int | UnsetType = UNSET
    coins: _COUNT | UnsetType = UNSET


class RecordAction(Struct, frozen=True, rename={"from_": "from"}):
    """One decision, and what it names."""

    seat: _SEAT
    do: str
    card: int | UnsetType = UNSET
    cards: tuple[int, ...] | UnsetType = UNSET
    target: int | UnsetType = UNSET
    count: int | UnsetType = UNSET
    from_: int | UnsetType = UNSET
    column: int | UnsetType = UNSET

    def named(self) -> dict[str, Any]:
        """What the decision names, by the record's own keys."""
        given = {key: getattr(self, attribute) for key, attribute in _NAMED.items()}
        return {key: value for key, value in given.items() if value is not UNSET}


_NAMED: Final = {name: name for name in ("card", "cards", "target", "count", "column")} | {"from": "from_"}
_OWN: Final = {name: name for name in ("card", "cards", "target", "count")}
"""What a decision may name, where a game does not call it otherwise."""


class Record(Struct, frozen=True):
    """A round record, as ``round-record/1`` spells it: docs/round-record.md."""

    format: Literal["round-record/1"]
    game: str
    seats: tuple[RecordSeat, ...]
    cards: tuple[int, ...]
    actions: tuple[RecordAction, ...]
    options: msgspec.Raw = msgspec.Raw(b"{}")
    dealt: tuple[_COUNT, ...] | UnsetType = UNSET
    button: _SEAT | UnsetType = UNSET
    pot: _COUNT | UnsetType = UNSET
    first: _SEAT | UnsetType = UNSET
    rake: Rake | UnsetType = UNSET
    blind: bool | UnsetType = UNSET


# --- judging ---------------------------------------------------------------------------------------------------


def judge(document: bytes | str) -> dict[str, Any]:
    """The answer to a record: results, the house's net, and the open prompts when it is incomplete.

    Raises RecordError for anything that is no legal, possible round.
    """
    record = _parse(document)
    game = GAMES.get(record.game)
    if game is None:
        raise RecordError("game", f"{record.game!r} is not in the catalog, which has {', '.join(sorted(GAMES))}")
    rules = _rules(record, game)
    opening = _opening(record, game)
    answers = _Answers(record, game)
    try:
        state = run(game, game.open(rules, opening), answers)
    except Illegal as illegal:
        raise RecordError(illegal.facts.get("place", answers.place), illegal.sentence) from None
    prompts = game.prompts(state)
    answers.refuse_rest(prompts)
    return _answer(game, state, prompts)


def record_of(game: Game[Any, Any], rules: Any, opening: Opening, actions: Iterable[Action]) -> dict[str, Any]:
    """A round of a table's log as a record that anyone can replay: with all that older logs leave out of decisions."""
    return record_as_logged(game, rules, opening, complete(game, rules, opening, actions))


def record_as_logged(game: Game[Any, Any], rules: Any, opening: Opening, actions: Iterable[Action]) -> dict[str, Any]:
    """A round as a record, its decisions to the letter of the log: what was hashed once is hashed so for good."""
    bets: dict[int, int] = {}
    cards: list[int] = []
    decisions: list[dict[str, Any]] = []
    for action in actions:
        if isinstance(action, Bet):
            bets[action.seat] = action.amount_cents
        elif isinstance(action, Card):
            cards.append(action.rank)
        elif isinstance(action, Choose):
            decisions.append(_decision(game, action))
    record: dict[str, Any] = {
        "format": FORMAT,
        "game": game.name,
        "options": msgspec.to_builtins(rules),
        "seats": _seats(game, opening, bets),
        "cards": cards,
        "actions": decisions,
    }
    if opening.dealt != NOTHING:
        record["dealt"] = list(opening.dealt)
    if opening.button is not None:
        record["button"] = opening.button
    if opening.pot:
        record["pot"] = opening.pot
    if opening.first is not None:
        record["first"] = opening.first
    if opening.rake is not None:
        record["rake"] = msgspec.to_builtins(opening.rake)
    if opening.blind:
        record["blind"] = True
    return record


def _seats(game: Game[Any, Any], opening: Opening, bets: dict[int, int]) -> list[dict[str, int]]:
    if opening.stacks:
        return [{"seat": seat, "coins": coins} for seat, coins in zip(opening.seats, opening.stacks, strict=True)]
    if isinstance(game, PotGame):
        return [{"seat": seat} for seat in opening.seats]
    return [{"seat": seat, "bet": cents} for seat, cents in sorted(bets.items()) if cents]


def _decision(game: Game[Any, Any], action: Choose) -> dict[str, Any]:
    named = {key: getattr(action, field) for key, field in (_OWN | dict(game.names)).items()}
    taken = set(game.names.values())
    spelled = {
        key: value for key, value in named.items() if value is not None and (key in game.names or key not in taken)
    }
    return {"seat": action.seat, "do": action.choice, **spelled}


# --- reading ---------------------------------------------------------------------------------------------------


def _parse(document: bytes | str) -> Record:
    try:
        record = _decoder.decode(document)
        # Of a key that is given twice, JSON readers take the last: that would be a guess.
        _keys.decode(document if isinstance(document, str) else document.decode())
    except msgspec.ValidationError as error:
        raise _invalid(error) from None
    except UnicodeError:
        raise RecordError("record", "not JSON: not in UTF-8") from None
    except (msgspec.DecodeError, json.JSONDecodeError) as error:
        raise RecordError("record", f"not JSON: {str(error).removeprefix('JSON is malformed: ')}") from None
    except RecursionError:
        raise RecordError("record", "nested too deeply") from None
    return record


def _invalid(error: msgspec.ValidationError, within: str = "") -> RecordError:
    """msgspec's ``... - at `$.seats[0].bet``` with the place first."""
    text, _, path = str(error).rpartition(" - at `$")
    if not text:
        text, path = path, ""
    place = f"{within}{path.rstrip('`')}".removeprefix(".")
    return RecordError(place or "record", text[:1].lower() + text[1:])


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    seen = set()
    for key, _ in pairs:
        if key in seen:
            raise RecordError(key or '""', "this key is given twice in one object")
        seen.add(key)


_decoder = msgspec.json.Decoder(Record)
_keys = json.JSONDecoder(object_pairs_hook=_each_once, parse_int=str)
"""Looks at nothing but the keys (and so has no need to make numbers of digits)."""


def _rules(record: Record, game: Game[Any, Any]) -> Any:
    try:
        return msgspec.json.decode(record.options, type=game.rules_type)
    except msgspec.ValidationError as error:
        raise _invalid(error, "options") from None


def _opening(record: Record, game: Game[Any, Any]) -> Opening:
    for key in ("dealt", "button", "pot", "first", "rake", "blind"):
        if getattr(record, key) is not UNSET and key not in _uses(game):
            raise RecordError(key, f"{game.name} has no use for it")
    seats = tuple(seat.seat for seat in record.seats)
    if len(seats) not in game.seat_counts:
        low, high = game.seat_counts[0], game.seat_counts[-1]
        raise RecordError("seats", f"{game.name} is played by {low} to {high}, not by {len(seats)}")
    for index, (seat, following) in enumerate(pairwise(seats), 1):
        if seat >= following:
            raise RecordError(f"seats[{index}]", f"seats stand clockwise, each once: {following} cannot follow {seat}")
    dealt: Composition = NOTHING if isinstance(record.dealt, UnsetType) else record.dealt
    if len(dealt) != len(NOTHING):
        raise RecordError("dealt", f"ten counts, one a rank, not {len(dealt)}")
    button, pot, first = (None if value is UNSET else value for value in (record.button, record.pot, record.first))
    rake = None if isinstance(record.rake, UnsetType) else record.rake
    return Opening(
        seats,
        dealt=dealt,
        button=button,
        pot=pot or 0,
        first=first,
        stacks=_stacks(record, game),
        rake=rake,
        blind=record.blind is True,
    )


def _uses(game: Game[Any, Any]) -> frozenset[str]:
    """The keys that a game has a use for, of those that others have none for."""
    if not isinstance(game, PotGame):
        return game.carries
    return game.carries | {"blind"} | ({"rake", "coins"} if game.coins else set())


def _stacks(record: Record, game: Game[Any, Any]) -> tuple[int, ...]:
    """What the seats have on the table; all of them say so, or none."""
    given = [seat.coins for seat in record.seats if not isinstance(seat.coins, UnsetType)]
    if not given:
        return ()
    index = next((index for index, seat in enumerate(record.seats) if isinstance(seat.coins, UnsetType)), None)
    if "coins" not in _uses(game):
        raise RecordError(f"seats[{index or 0}].coins", "there are no coins in this game")
    if index is not None:
        raise RecordError(f"seats[{index}].coins", "either every seat says what it has on the table, or none does")
    return tuple(given)


# --- running ---------------------------------------------------------------------------------------------------


class _Answers:
    """Answers each prompt from the record, in its order; ``None`` when it has no further answer."""

    def __init__(self, record: Record, game: Game[Any, Any]) -> None:
        self.record = record
        self.names = {key: field for key, field in _OWN.items() if field not in game.names.values()} | dict(game.names)
        if not isinstance(game, BankedGame):
            self._no_bets()
        self.bets = self.cards = self.actions = 0
        self.place = "dealt"  # all that a game may find impossible in an opening

    def __call__(self, prompts: tuple[Prompt, ...]) -> Action | None:
        ask, record = prompts[0], self.record
        if type(ask) is AskCard:
            if self.cards == len(record.cards):
                return None
            self.place = f"cards[{self.cards}]"
            self.cards += 1
            return Card(record.cards[self.cards - 1], ask.to)
        if type(ask) is AskChoice:
            if self.actions == len(record.actions):
                return None
            self.place = f"actions[{self.actions}]"
            self.actions += 1
            return self._choose(prompts, record.actions[self.actions - 1])
        if type(ask) is AskShuffle:
            self.place = "cards"
            return Shuffle()
        return self._bet()

    def _choose(self, prompts: tuple[Prompt, ...], decision: RecordAction) -> Choose:
        named = decision.named()
        for key in named:
            if key not in self.names:
                raise RecordError(f"{self.place}.{key}", "this game's decisions do not name such a thing")
        choice = Choose(decision.seat, decision.do, **{self.names[key]: value for key, value in named.items()})
        self._refuse_gaps(prompts, choice)
        return choice

    def _refuse_gaps(self, prompts: tuple[Prompt, ...], answer: Choose) -> None:
        """Raise RecordError where the engine would know what is left out: who reads a record need not work it out."""
        asked = [ask for ask in prompts if type(ask) is AskChoice and ask.names_things and ask.seat == answer.seat]
        meant = [choice for ask in asked for choice in ask.choices if choice.means(answer)]
        if len(meant) != 1:
            return  # the engine itself refuses what is unclear, or not offered
        due = [key for key, field in self.names.items() if getattr(meant[0], field) is not None]
        gaps = [repr(key) for key in due if getattr(answer, self.names[key]) is None]
        if gaps:
            says = f"leaves out {' and '.join(gaps)}, which a record names even where only one is possible"
            raise RecordError(self.place, f"seat {answer.seat}: {answer.choice!r} {says}")

    def _no_bets(self) -> None:
        for index, seat in enumerate(self.record.seats):
            if not isinstance(seat.bet, UnsetType):
                raise RecordError(f"seats[{index}].bet", "there are no bets in this game")

    def _bet(self) -> Action:
        if self.bets == len(self.record.seats):
            self.place = "seats"
            return CloseBets()
        self.place = f"seats[{self.bets}].bet"
        seat = self.record.seats[self.bets]
        if isinstance(seat.bet, UnsetType):
            raise RecordError(self.place, "a bet is required in a house-banked game")
        self.bets += 1
        return Bet(seat.seat, seat.bet)

    def refuse_rest(self, prompts: tuple[Prompt, ...]) -> None:
        """Raise RecordError for cards or decisions that nothing asked for."""
        due = "the round is over"
        if prompts:
            due = "a decision is due first" if isinstance(prompts[0], AskChoice) else "a card is due first"
        record = self.record
        if self.cards < len(record.cards):
            raise RecordError(f"cards[{self.cards}]", f"{len(record.cards) - self.cards} left over: {due}")
        if self.actions < len(record.actions):
            raise RecordError(f"actions[{self.actions}]", f"{len(record.actions) - self.actions} left over: {due}")


# --- answering -------------------------------------------------------------------------------------------------


def _answer(game: Game[Any, Any], state: Any, prompts: tuple[Prompt, ...]) -> dict[str, Any]:
    payouts = game.settle(state)
    return {
        "game": game.name,
        "complete": not prompts,
        "results": [_result(payout) for payout in payouts],
        "house_net": _house_net(game, state, payouts),
        "pot_left": game.pot(state) if isinstance(game, PotGame) else 0,
        "next": [_open_prompt(prompt) for prompt in prompts],
    }


def _house_net(game: Game[Any, Any], state: Any, payouts: Sequence[Payout]) -> int:
    """What the house won of the seats, or raked."""
    if isinstance(game, PotGame):
        return sum(payment.coins for payment in game.payments(state) if payment.kind == "rake")
    return -sum(payout.net_cents for payout in payouts)


def _result(payout: Payout) -> dict[str, Any]:
    result = {
        "seat": payout.seat,
        "outcome": payout.outcome,
        "card": payout.card,
        "net": payout.net_cents,
        "returned": payout.returned_cents,
    }
    return result if payout.score is None else {**result, "score": payout.score}


def _open_prompt(prompt: Prompt) -> dict[str, Any]:
    if isinstance(prompt, AskChoice):
        costs = {choice.name: choice.cost_cents for choice in prompt.choices if choice.cost_cents}
        names = list(dict.fromkeys(choice.name for choice in prompt.choices))
        return {"kind": "choose", "seat": prompt.seat, "choices": names, "cost": costs}
    if isinstance(prompt, AskCard):
        return {"kind": "card", "seat": prompt.to, "choices": [], "cost": {}}
    kind = "shuffle" if isinstance(prompt, AskShuffle) else "bet"
    return {"kind": kind, "seat": 0, "choices": [], "cost": {}}
