"""The two forms of round records: of the Pairs family, where a card is a number; and of games on standard cards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tables.games.cards import BY_RANK, NOTHING, PAIRS, STANDARD, Composition, Pack, pack_of
from tables.games.game import BankedGame, Game, PotGame
from tables.games.protocol import AskCard, AskChoice, AskShuffle, Bet, Choose, Opening, Payout, Prompt
from tables.games.record_document import Record, RecordAction, RecordError, invalid

NAMED: Final = {name: name for name in ("card", "cards", "target", "count")}
"""What a decision may name, by the default keys."""
_MOST_SEATS: Final = 7
_HIGHEST_SEAT: Final = 99

Spelling = TypeVar("Spelling", int, str)


class Listing(NamedTuple, Generic[Spelling]):
    """The cards of a record, in its own spelling."""

    cards: tuple[Spelling, ...]
    dealt: tuple[Spelling, ...] | None


class Form(ABC, Generic[Spelling]):
    """How the rounds of a game are written."""

    def __init__(self, game: Game[Any, Any]) -> None:
        self.game = game

    @abstractmethod
    def listing(self, record: Record) -> Listing[Spelling]:
        """The cards of a record and those gone before it, checked by type. Raises RecordError, as all methods here
        do."""

    @abstractmethod
    def pack(self, listing: Listing[Spelling], rules: Any) -> Pack:
        """The pack that a record's cards are written in."""

    @abstractmethod
    def cards(self, listing: Listing[Spelling], pack: Pack) -> Sequence[int]:
        """Its cards, by number in the pack."""

    @abstractmethod
    def dealt(self, listing: Listing[Spelling], pack: Pack) -> Composition:
        """Cards gone when its round began."""

    @abstractmethod
    def bets(self, record: Record, rules: Any) -> list[tuple[str, Bet]]:
        """Its bets, each with its place in the document; none in a game without bets."""

    @abstractmethod
    def refuse_seats(self, record: Record) -> None:
        """Raises RecordError for seats or decisions with keys that this form does not have."""

    @abstractmethod
    def spelled(self, game_actions: Mapping[str, Any], opening: Opening) -> dict[str, Any]:
        """The keys that depend on this form, `seats`, `cards` and `dealt`, from a round's actions."""

    @abstractmethod
    def results(self, payouts: Sequence[Payout], *, complete: bool) -> list[dict[str, Any]]:
        """Result of each seat."""

    @abstractmethod
    def open_prompts(self, prompts: Sequence[Prompt]) -> list[dict[str, Any]]:
        """The open prompts of an incomplete record."""


def _read(decoder: msgspec.json.Decoder[tuple[Spelling, ...]], key: str, part: msgspec.Raw) -> tuple[Spelling, ...]:
    try:
        return decoder.decode(part)
    except msgspec.ValidationError as error:
        raise invalid(error, key) from None


# --- The Pairs family -------------------------------------------------------------------------------------------

_ranks = msgspec.json.Decoder(tuple[int, ...])
_counts = msgspec.json.Decoder(tuple[Annotated[int, Meta(ge=0)], ...])


class FamilyForm(Form[int]):
    """A card is its rank, ``dealt`` counts each rank, and a seat has one bet."""

    def listing(self, record: Record) -> Listing[int]:
        if isinstance(record.actions, UnsetType):
            raise RecordError("record", "object missing required field `actions`")
        dealt = None if isinstance(record.dealt, UnsetType) else _read(_counts, "dealt", record.dealt)
        return Listing(_read(_ranks, "cards", record.cards), dealt)

    def pack(self, listing: Listing[int], rules: Any) -> Pack:
        return PAIRS

    def cards(self, listing: Listing[int], pack: Pack) -> Sequence[int]:
        return listing.cards

    def dealt(self, listing: Listing[int], pack: Pack) -> Composition:
        if listing.dealt is None:
            return pack.nothing
        if len(listing.dealt) != len(pack.nothing):
            raise RecordError("dealt", f"ten counts, one a rank, not {len(listing.dealt)}")
        return listing.dealt

    def bets(self, record: Record, rules: Any) -> list[tuple[str, Bet]]:
        bets = []
        for index, seat in enumerate(record.seats):
            place = f"seats[{index}].bet"
            if not isinstance(self.game, BankedGame):
                if not isinstance(seat.bet, UnsetType):
                    raise RecordError(place, "there are no bets in this game")
            elif isinstance(seat.bet, UnsetType):
                raise RecordError(place, "a bet is required in a house-banked game")
            else:
                bets.append((place, Bet(seat.seat, seat.bet)))
        return bets

    def refuse_seats(self, record: Record) -> None:
        for index, seat in enumerate(record.seats):
            if not isinstance(seat.bets, UnsetType):
                raise RecordError(f"seats[{index}].bets", "a seat has one bet in this game: it is called bet")
        for index, action in enumerate(record.actions or ()):
            if not 1 <= action.seat <= _HIGHEST_SEAT:
                bound = ">= 1" if action.seat < 1 else f"<= {_HIGHEST_SEAT}"
                raise RecordError(f"actions[{index}].seat", f"expected `int` {bound}")

    def spelled(self, game_actions: Mapping[str, Any], opening: Opening) -> dict[str, Any]:
        dealt = {} if opening.dealt == NOTHING else {"dealt": list(opening.dealt)}
        bets = {bet.seat: bet.amount_cents for bet in game_actions["bets"]}
        return {"seats": self._seats(opening, bets), "cards": game_actions["cards"], **dealt}

    def _seats(self, opening: Opening, bets: Mapping[int, int]) -> list[dict[str, int]]:
        if opening.stacks:
            return [{"seat": seat, "coins": coins} for seat, coins in zip(opening.seats, opening.stacks, strict=True)]
        if isinstance(self.game, PotGame):
            return [{"seat": seat} for seat in opening.seats]
        return [{"seat": seat, "bet": cents} for seat, cents in sorted(bets.items()) if cents]

    def results(self, payouts: Sequence[Payout], *, complete: bool) -> list[dict[str, Any]]:
        return [_family_result(payout) for payout in payouts]

    def open_prompts(self, prompts: Sequence[Prompt]) -> list[dict[str, Any]]:
        return [_family_prompt(prompt) for prompt in prompts]


def _family_result(payout: Payout) -> dict[str, Any]:
    result = {
        "seat": payout.seat,
        "outcome": payout.outcome,
        "card": payout.card,
        "net": payout.net_cents,
        "returned": payout.returned_cents,
    }
    return result if payout.score is None else {**result, "score": payout.score}


def _family_prompt(prompt: Prompt) -> dict[str, Any]:
    if isinstance(prompt, AskChoice):
        return {"kind": "choose", "seat": prompt.seat, **_choices(prompt)}
    if isinstance(prompt, AskCard):
        return {"kind": "card", "seat": prompt.to, "choices": [], "cost": {}}
    kind = "shuffle" if isinstance(prompt, AskShuffle) else "bet"
    return {"kind": kind, "seat": 0, "choices": [], "cost": {}}


def _choices(prompt: AskChoice) -> dict[str, Any]:
    names = list(dict.fromkeys(choice.name for choice in prompt.choices))
    return {
        "choices": names,
        "cost": {choice.name: choice.cost_cents for choice in prompt.choices if choice.cost_cents},
    }


# --- Standard cards ---------------------------------------------------------------------------------------------


_spellings = msgspec.json.Decoder(tuple[str, ...])


class StandardForm(Form[str]):
    """A card is written by rank and suit, or by its rank alone; ``dealt`` lists cards, and a seat's bets have names."""

    game: BankedGame[Any, Any]

    def listing(self, record: Record) -> Listing[str]:
        dealt = None if isinstance(record.dealt, UnsetType) else _read(_spellings, "dealt", record.dealt)
        return Listing(_read(_spellings, "cards", record.cards), dealt)

    def pack(self, listing: Listing[str], rules: Any) -> Pack:
        first = next(iter((*listing.cards[:1], *(listing.dealt or ())[:1])), None)
        if first is None:
            return self.game.pack(rules)
        return BY_RANK if len(first) == 1 else STANDARD

    def cards(self, listing: Listing[str], pack: Pack) -> Sequence[int]:
        return self._numbers("cards", listing.cards, pack)

    def dealt(self, listing: Listing[str], pack: Pack) -> Composition:
        return pack.count(self._numbers("dealt", listing.dealt or (), pack))

    @staticmethod
    def _numbers(key: str, items: Sequence[str], pack: Pack) -> list[int]:
        try:
            return [pack.number(item) for item in items]
        except KeyError:
            pass
        for place, item in enumerate(items):
            if item not in pack.spellings:
                examples = "by rank alone, like 7 or T" if pack is BY_RANK else "by rank and suit, like 7h or Ts"
                raise RecordError(f"{key}[{place}]", f"{item!r} is no card: all cards of this record are {examples}")
        raise AssertionError

    def bets(self, record: Record, rules: Any) -> list[tuple[str, Bet]]:
        spread = [wager.name for wager in self.game.wagers(rules)]
        bets = []
        for index, seat in enumerate(record.seats):
            if not seat.bets:
                raise RecordError(f"seats[{index}].bets", f"a seat places at least one of {', '.join(spread)}")
            for name in seat.bets:
                if name not in spread:
                    sentence = f"this table spreads {', '.join(spread)}, not {name!r}"
                    raise RecordError(f"seats[{index}].bets", sentence)
            for name in spread:
                if name in seat.bets:
                    bets.append((f"seats[{index}].bets.{name}", Bet(seat.seat, seat.bets[name], name)))
        return bets

    def refuse_seats(self, record: Record) -> None:
        for index, seat in enumerate(record.seats):
            if seat.seat > _MOST_SEATS:
                raise RecordError(f"seats[{index}].seat", f"a table has seats 1 to {_MOST_SEATS}")
            for key in ("bet", "coins"):
                if getattr(seat, key) is not UNSET:
                    raise RecordError(f"seats[{index}].{key}", "a seat of this game has bets, by their names")
        for index, action in enumerate(record.actions or ()):
            for key in action.named():
                raise RecordError(f"actions[{index}].{key}", "a decision of this game names seat and do, nothing else")

    def spelled(self, game_actions: Mapping[str, Any], opening: Opening) -> dict[str, Any]:
        pack = pack_of(opening.dealt)
        seats: dict[int, dict[str, int]] = {}
        for bet in game_actions["bets"]:
            seats.setdefault(bet.seat, {})[bet.wager] = bet.amount_cents
        dealt = {"dealt": [pack.spell(card) for card in pack.cards(opening.dealt)]} if any(opening.dealt) else {}
        return {
            "seats": [
                {"seat": seat, "bets": {name: cents for name, cents in bets.items() if cents}}
                for seat, bets in sorted(seats.items())
                if any(bets.values())
            ],
            "cards": [pack.spell(card) for card in game_actions["cards"]],
            **dealt,
        }

    def results(self, payouts: Sequence[Payout], *, complete: bool) -> list[dict[str, Any]]:
        return [_standard_result(payout) for payout in payouts] if complete else []

    def open_prompts(self, prompts: Sequence[Prompt]) -> list[dict[str, Any]]:
        return [_standard_prompt(prompt) for prompt in prompts[:1]]


def _standard_result(payout: Payout) -> dict[str, Any]:
    wagers: list[dict[str, Any]] = []
    for wager in payout.wagers:
        hand = {} if wager.hand is None else {"hand": wager.hand}
        staked, returned = wager.staked_cents, wager.returned_cents
        wagers.append({"bet": wager.bet, **hand, "staked": staked, "returned": returned, "outcome": wager.outcome})
    return {"seat": payout.seat, "net": payout.net_cents, "returned": payout.returned_cents, "wagers": wagers}


def _standard_prompt(prompt: Prompt) -> dict[str, Any]:
    if not isinstance(prompt, AskChoice):
        return {"kind": "card"}
    if not prompt.seat:
        return {"kind": "peek"}
    return {"kind": "decision", "seat": prompt.seat, "hand": prompt.hand, **_choices(prompt)}


def form_of(game: Game[Any, Any]) -> Form[Any]:
    """How the rounds of a game are written."""
    return StandardForm(game) if isinstance(game, BankedGame) and game.side_by_side else FamilyForm(game)


# --- decisions ---------------------------------------------------------------------------------------------------


def spelled_decision(game: Game[Any, Any], action: Choose) -> dict[str, Any]:
    """A decision with all that it names, by the record's keys."""
    named = {key: getattr(action, field) for key, field in (NAMED | dict(game.names)).items()}
    fields = set(game.names.values())
    spelled = {
        key: value for key, value in named.items() if value is not None and (key in game.names or key not in fields)
    }
    return {"seat": action.seat, "do": action.choice, **spelled}


def names_in(game: Game[Any, Any]) -> dict[str, str]:
    """Fields of a decision in a game, by the record's keys."""
    return {key: field for key, field in NAMED.items() if field not in game.names.values()} | dict(game.names)


def choice_of(decision: RecordAction, place: str, names: Mapping[str, str]) -> Choose:
    """A decision of a record. Raises RecordError for keys that decisions of this game do not have."""
    named = decision.named()
    for key in named:
        if key not in names:
            raise RecordError(f"{place}.{key}", "this game's decisions do not name such a thing")
    return Choose(decision.seat, decision.do, **{names[key]: value for key, value in named.items()})
