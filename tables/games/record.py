"""Round records: one round as one JSON document, judged by the engine alone.

The format ``round-record/1`` lists the seats with their bets, every card in the order it left the deck, and the
decisions in the order they were made; the engine's prompts say which of the three is due. ``judge`` answers a
record, ``record_of`` writes one from a round's actions. Nothing here touches a database.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from tables.games.cards import UNKNOWN, Pack, pack_of
from tables.games.catalog import DEALT, versions_of
from tables.games.game import Game, PotGame
from tables.games.play import complete, run
from tables.games.protocol import (
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
    SetAside,
    Shuffle,
)
from tables.games.record_document import FORMAT, Record, RecordAction, RecordError, invalid, parse
from tables.games.record_forms import Form, Listing, choice_of, form_of, names_in, spelled_decision

# --- judging ---------------------------------------------------------------------------------------------------


def judge(document: bytes | str) -> dict[str, Any]:
    """The result of a record: payouts, the casino's net win, and the open prompts of an incomplete round.

    Raises RecordError for anything but a legal, possible round.
    """
    record = parse(document)
    game = _game(record)
    form = form_of(game)
    listing, rules = form.listing(record), _rules(record, game)
    answers: _Answers | None = None
    try:
        pack = form.pack(listing, rules)
        opening = _opening(record, form, listing, pack)
        answers = _Answers(record, form, form.cards(listing, pack), form.bets(record, rules))
        answers.aside = _aside_in(record, pack)
        state = run(game, game.open(rules, opening), answers)
    except Illegal as illegal:
        place = answers.place if answers else "options"  # before the first answer, the options are at fault
        raise RecordError(illegal.facts.get("place", place), illegal.sentence) from None
    prompts = game.prompts(state)
    answers.refuse_rest(prompts)
    if not isinstance(record.voided, UnsetType):
        return _voided(game, record.voided)
    return _answer(game, form, state, prompts)


def record_of(
    game: Game[Any, Any], rules: Any, opening: Opening, actions: Iterable[Action], *, voided: str = ""
) -> dict[str, Any]:
    """A round of a table's log as a record that anyone can replay: with all that older logs leave out of decisions."""
    record = record_as_logged(game, rules, opening, complete(game, rules, opening, actions), voided=voided)
    return record if len(versions_of(game.name)) == 1 else record | {"version": game.version}


def record_as_logged(
    game: Game[Any, Any], rules: Any, opening: Opening, actions: Iterable[Action], *, voided: str = ""
) -> dict[str, Any]:
    """A round as a record, with its decisions exactly as logged, so that its hash never changes."""
    actions = [*actions]
    content = {
        "bets": [action for action in actions if isinstance(action, Bet)],
        "cards": game.in_dealt_order([action for action in actions if isinstance(action, Card)]),
    }
    record: dict[str, Any] = {
        "format": FORMAT,
        "game": game.name,
        "options": msgspec.to_builtins(rules),
        "actions": [spelled_decision(game, action) for action in actions if isinstance(action, Choose)],
        **form_of(game).spelled(content, opening),
    }
    if game.version > 1:  # records of version 1 were hashed without it
        record["version"] = game.version
    if opening.button is not None:
        record["button"] = opening.button
    if opening.pot:
        record["pot"] = opening.pot
    if opening.first is not None:
        record["first"] = opening.first
    if opening.rake is not None:
        record["rake"] = msgspec.to_builtins(opening.rake)
    if opening.blind and isinstance(game, PotGame):
        record["blind"] = True
    if opening.commission_is_marked is True:
        record["commission_is_marked"] = True
    if aside := _spelled_aside(actions, pack_of(opening.dealt)):
        record["aside"] = aside
    if voided:
        record["voided"] = voided
    return record


def _spelled_aside(actions: Sequence[Action], pack: Pack) -> list[dict[str, Any]]:
    dealt, aside = 0, list[dict[str, Any]]()
    for action in actions:
        dealt += isinstance(action, Card)
        if isinstance(action, SetAside):
            aside.append({"after": dealt, "card": pack.spell(action.rank) if action.rank != UNKNOWN else None})
    return aside


# --- reading ---------------------------------------------------------------------------------------------------


def _game(record: Record) -> Game[Any, Any]:
    if record.game not in DEALT:
        raise RecordError("game", f"{record.game!r} is not in the catalog, which has {', '.join(sorted(DEALT))}")
    games = {game.version: game for game in versions_of(record.game)}
    version = DEALT[record.game].version if isinstance(record.version, UnsetType) else record.version
    if version not in games:
        versions = ", ".join(map(str, sorted(games)))
        raise RecordError("version", f"{record.game} has rules of version {versions}, not {version}")
    return games[version]


def _rules(record: Record, game: Game[Any, Any]) -> Any:
    try:
        return msgspec.json.decode(record.options, type=game.rules_type)
    except msgspec.ValidationError as error:
        raise invalid(error, "options") from None


def _opening(record: Record, form: Form[Any], listing: Listing[Any], pack: Pack) -> Opening:
    game = form.game
    for key in ("dealt", "button", "pot", "first", "rake", "blind", "commission_is_marked"):
        if getattr(record, key) is not UNSET and key not in _uses(game):
            raise RecordError(key, f"{game.name} has no use for it")
    seats = tuple(seat.seat for seat in record.seats)
    if len(seats) not in game.seat_counts:
        low, high = game.seat_counts[0], game.seat_counts[-1]
        raise RecordError("seats", f"{game.name} is played by {low} to {high}, not by {len(seats)}")
    for index, (seat, following) in enumerate(pairwise(seats), 1):
        if seat >= following:
            raise RecordError(f"seats[{index}]", f"seats stand clockwise, each once: {following} cannot follow {seat}")
    button, pot, first = (None if value is UNSET else value for value in (record.button, record.pot, record.first))
    rake = None if isinstance(record.rake, UnsetType) else record.rake
    return Opening(
        seats,
        dealt=form.dealt(listing, pack),
        button=button,
        pot=pot or 0,
        first=first,
        stacks=_stacks(record, game),
        rake=rake,
        blind=record.blind is True,
        commission_is_marked=True if record.commission_is_marked is True else UNSET,
    )


def _uses(game: Game[Any, Any]) -> frozenset[str]:
    """The keys that a game has a use for, of those that others have none for."""
    if not isinstance(game, PotGame):
        return game.carries
    return game.carries | {"blind"} | ({"rake", "coins"} if game.coins else set())


def _stacks(record: Record, game: Game[Any, Any]) -> tuple[int, ...]:
    """Coins of the seats on the table; either all seats state them or none. Raises RecordError."""
    coins = [seat.coins for seat in record.seats if not isinstance(seat.coins, UnsetType)]
    if not coins:
        return ()
    index = next((index for index, seat in enumerate(record.seats) if isinstance(seat.coins, UnsetType)), None)
    if "coins" not in _uses(game):
        raise RecordError(f"seats[{index or 0}].coins", "there are no coins in this game")
    if index is not None:
        raise RecordError(f"seats[{index}].coins", "either every seat says what it has on the table, or none does")
    return tuple(coins)


# --- running ---------------------------------------------------------------------------------------------------


class _Answers:
    """Answers each prompt from the record, in its order; ``None`` when it has no further answer."""

    def __init__(self, record: Record, form: Form[Any], cards: Sequence[int], bets: Sequence[tuple[str, Bet]]) -> None:
        form.refuse_seats(record)
        self.actions, self.cards, self.bets = record.actions or (), cards, bets
        self.names = names_in(form.game)
        self.next_bet = self.next_card = self.next_action = 0
        self.aside: list[tuple[int, int]] = []
        """(after how many cards, card) of those that left the shoe unplayed."""
        self.place = "dealt"  # all that a game may find impossible in an opening

    def __call__(self, prompts: tuple[Prompt, ...]) -> Action | None:
        ask = prompts[0]
        if self.aside and self.aside[0][0] == self.next_card and type(ask) is not AskShuffle:
            self.place = "aside"
            return SetAside(self.aside.pop(0)[1])
        if type(ask) is AskCard:
            return self._card(ask)
        if type(ask) is AskChoice:
            return self._decision(prompts)
        if type(ask) is AskShuffle:
            self.place = "cards"
            return Shuffle()
        return self._bet()

    def _card(self, ask: AskCard) -> Card | None:
        if self.next_card == len(self.cards):
            return None
        self.place = f"cards[{self.next_card}]"
        self.next_card += 1
        return Card(self.cards[self.next_card - 1], ask.to)

    def _decision(self, prompts: tuple[Prompt, ...]) -> Action | None:
        """The next decision; if there is none, a card that may be turned instead."""
        if self.next_action == len(self.actions):
            turn = prompts[-1]
            return self._card(turn) if type(turn) is AskCard else None
        self.place = f"actions[{self.next_action}]"
        self.next_action += 1
        return self._choose(prompts, self.actions[self.next_action - 1])

    def _choose(self, prompts: tuple[Prompt, ...], decision: RecordAction) -> Choose:
        choice = choice_of(decision, self.place, self.names)
        self._refuse_gaps(prompts, choice)
        return choice

    def _refuse_gaps(self, prompts: tuple[Prompt, ...], answer: Choose) -> None:
        """Raise RecordError for an omitted part of a decision that the engine would infer: a reader need not infer
        it."""
        asks = [ask for ask in prompts if type(ask) is AskChoice and ask.names_things and ask.seat == answer.seat]
        matches = [choice for ask in asks for choice in ask.choices if choice.means(answer)]
        if len(matches) != 1:
            return  # the engine itself refuses an ambiguous or illegal choice
        due = [key for key, field in self.names.items() if getattr(matches[0], field) is not None]
        gaps = [repr(key) for key in due if getattr(answer, self.names[key]) is None]
        if gaps:
            fault = f"leaves out {' and '.join(gaps)}, which a record names even where only one is possible"
            raise RecordError(self.place, f"seat {answer.seat}: {answer.choice!r} {fault}")

    def _bet(self) -> Action:
        if self.next_bet == len(self.bets):
            self.place = "seats"
            return CloseBets()
        self.place, bet = self.bets[self.next_bet]
        self.next_bet += 1
        return bet

    def refuse_rest(self, prompts: tuple[Prompt, ...]) -> None:
        """Raise RecordError for surplus cards or decisions."""
        due = "the round is over"
        if prompts:
            due = "a decision is due first" if isinstance(prompts[0], AskChoice) else "a card is due first"
        if (surplus := len(self.cards) - self.next_card) > 0:
            raise RecordError(f"cards[{self.next_card}]", f"{surplus} left over: {due}")
        if (surplus := len(self.actions) - self.next_action) > 0:
            raise RecordError(f"actions[{self.next_action}]", f"{surplus} left over: {due}")
        if self.aside:
            raise RecordError("aside", f"{len(self.aside)} left over: {due}")


# --- answering -------------------------------------------------------------------------------------------------


def _answer(game: Game[Any, Any], form: Form[Any], state: Any, prompts: tuple[Prompt, ...]) -> dict[str, Any]:
    payouts = game.settle(state)
    results = form.results(payouts, complete=not prompts)
    return {
        "game": game.name,
        "complete": not prompts,
        "results": results,
        "house_net": _house_net(game, state, payouts) if results else 0,
        "pot_left": game.pot(state) if isinstance(game, PotGame) else 0,
        "next": form.open_prompts(prompts),
    }


def _voided(game: Game[Any, Any], reason: str) -> dict[str, Any]:
    """The result of a void round: the cards are possible, and there are no payouts."""
    return {
        "game": game.name,
        "complete": True,
        "results": [],
        "house_net": 0,
        "pot_left": 0,
        "next": [],
        "voided": reason,
    }


def _aside_in(record: Record, pack: Pack) -> list[tuple[int, int]]:
    """The cards that left the shoe unplayed, in order. Raises RecordError."""
    if isinstance(record.aside, UnsetType):
        return []
    aside = []
    for index, item in enumerate(record.aside):
        try:
            aside.append((item.after, UNKNOWN if item.card is None else pack.number(item.card)))
        except KeyError:
            raise RecordError(f"aside[{index}].card", f"there is no card {item.card!r} here") from None
    return sorted(aside, key=itemgetter(0))


def _house_net(game: Game[Any, Any], state: Any, payouts: Sequence[Payout]) -> int:
    """The casino's net win from the seats, or its rake."""
    if isinstance(game, PotGame):
        return sum(payment.coins for payment in game.payments(state) if payment.kind == "rake")
    return -sum(payout.net_cents for payout in payouts)
