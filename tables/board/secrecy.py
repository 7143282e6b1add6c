"""Secrecy of games in progress and of counts: what may be shown before a game is over or two people agree.

An electronic shoe knows the players' facedown cards, which all others must not. The second counter must not know the
first count.

All code that reads a table's log for display uses this module, whatever the reader's role. While a game is in progress,
each of its entries shows only what everyone at the table saw; facedown cards and secret choices are shown when it is
over. The hashes are those of the complete entries throughout, so that they prove that no entry was changed in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import msgspec
from msgspec import structs

from ledger.log import read_head, read_heads
from ledger.proof import spelling
from ledger.proof.chain import Entry
from tables.games.play import prompts_for
from tables.games.protocol import DEALER, Action, AskCard, AskChoice, Card, Choose, Payout, Prompt
from tables.log import catalog
from tables.log.entries.rounds import Paid, Played, TakenBack, clauses_of, seats_of
from tables.log.entries.slips import SlipSigned
from tables.log.event import Event
from tables.log.message import Description, Message
from tables.log.state import Round, TableState, holds_cards
from tables.state import table_state as standings

Told = list[dict[str, Any]]
"""The actions of one input, without secrets."""

_TOLD: Final = ("opening", "decided", "commitment", "corrects", "seat")
"""Fields of an entry that may be shown, in addition to its actions."""


_SEALED: Final = b'"sealed":true'
"""Marker in the body of an entry that is not shown completely; no stored entry has it."""
_SALTED: Final = b'"salt":'
"""Marker of every entry that may contain a secret (see `rounds.enter` and `slips.sign`)."""


def sealed(standing: TableState) -> Round | None:
    """The game in progress whose secrets must not be shown; None if there is none."""
    current = standing.round
    return current if standing.round_open and current is not None and current.secret else None


def veiled(book_id: int, entries: Sequence[Entry]) -> list[Entry]:
    """Entries of a table's log without what is still secret.

    The table's state is read after the entries: otherwise a newer entry could not be recognised as one of a game in
    progress.
    """
    if not any(_SALTED in bytes(entry.body) for entry in entries):
        return list(entries)
    standing = standings.at(read_head(book_id))
    game, counting = sealed(standing), {slip.name for slip in standing.slips if slip.counts}
    if counting:
        entries = [_unseen(entry, counting) if entry.subject == "slip" else entry for entry in entries]
    if game is None:
        return list(entries)
    inputs = plays(game)
    secret = (entry.subject == "round" and entry.round == game.number for entry in entries)
    return [_veil(entry, inputs) if hide else entry for entry, hide in zip(entries, secret, strict=True)]


def veiled_in_several(entries: Sequence[tuple[int, Entry]]) -> list[tuple[int, Entry]]:
    """Entries of rounds in several logs, as (log, entry), without what is still secret; a constant number of queries.

    A take-back has no salt and reveals as much as an input does, so each log with an entry of a round is checked.
    """
    dealt = {book for book, entry in entries if entry.subject == Veiled.subject}
    if not dealt:
        return list(entries)
    games = {book: sealed(standing) for book, standing in standings.at_all(read_heads(dealt)).items()}
    inputs = {book: plays(game) for book, game in games.items() if game is not None}

    def shown(book: int, entry: Entry) -> Entry:
        game = games.get(book)
        hides = game is not None and entry.subject == Veiled.subject and entry.round == game.number
        return _veil(entry, inputs[book]) if hides else entry

    return [(book, shown(book, entry)) for book, entry in entries]


def _veil(entry: Entry, inputs: dict[int, Told]) -> Entry:
    content = catalog.event_of(entry).content()
    shown: dict[str, Any] = {name: content[name] for name in _TOLD if name in content}
    shown |= {"actions": inputs.get(entry.seq, []), "sealed": True}
    return replace(entry, key=None, body=spelling.spell(entry.subject, shown, entry.moves))


def _unseen(entry: Entry, counting: set[str]) -> Entry:
    """An entry about slips without the counts so far, which the next counter must not know."""
    event = catalog.read_as(SlipSigned, entry.body)
    if event.slip in counting:
        event = structs.replace(event, chips=(), salt="", now=structs.replace(event.now, counts=()))
    blank = tuple(structs.replace(slip, counts=()) if slip.read().name in counting else slip for slip in event.open)
    content = structs.replace(event, open=blank).content()
    return replace(entry, key=None, body=spelling.spell(entry.subject, content, entry.moves))


class Veiled(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of a round, without its secrets."""

    subject: ClassVar[str] = Played.subject
    kinds: ClassVar[tuple[str, ...]] = (*Played.kinds, *Paid.kinds, *TakenBack.kinds)

    actions: tuple[dict[str, Any], ...]
    sealed: bool
    opening: dict[str, Any] | None = None
    decided: tuple[Payout, ...] = ()
    commitment: str | None = None
    corrects: int | None = None
    seat: int | None = None

    @property
    def seats(self) -> frozenset[int]:
        """The seats that something happened at."""
        return frozenset({self.seat}) if self.seat is not None else seats_of(self.actions)

    def description(self) -> Description:
        if self.seat is not None:
            return Message("Seat {seat} is done", seat=self.seat)
        actions = clauses_of(self.actions)
        if self.corrects is None:
            return actions
        return Message("Takes back entry {entry}: {actions}", entry=self.corrects, actions=actions)


def event_of(entry: Entry) -> Event:
    """The event of an entry, or its visible part. Raises Unreadable."""
    if entry.subject == Veiled.subject and _SEALED in entry.body:
        return catalog.read_as(Veiled, entry.body)
    return catalog.event_of(entry)


def latest(current: Round | None) -> Told:
    """The latest input of a round, without what is still secret."""
    if current is None or not current.plays:
        return []
    if current.secret and not current.over:
        return plays(current)[current.plays[-1].seq]
    actions: Told = msgspec.to_builtins(current.plays[-1].actions)
    return actions


def plays(current: Round) -> dict[int, Told]:
    """Every input of a game in progress by entry number, without its secrets."""
    game, state = current.game, current.game.open(current.rules, current.opening)
    inputs: dict[int, Told] = {}
    waiting: tuple[Prompt, ...] | None = None
    for play in current.plays:
        inputs[play.seq] = []
        for action in play.actions:
            prompts = game.prompts(state)
            together = len(prompts) > 1 or prompts == waiting
            inputs[play.seq].append(_told(current, state, prompts, action, together=together))
            waiting = tuple(ask for ask in prompts if not _answers(ask, action)) if together else None
            state = game.apply(state, action)
    return inputs


def _answers(ask: Prompt, action: Action) -> bool:
    return isinstance(ask, AskChoice) and isinstance(action, Choose) and ask.seat == action.seat


def _told(current: Round, state: Any, prompts: Sequence[Prompt], action: Action, *, together: bool) -> dict[str, Any]:
    """One action as everyone saw it: where a facedown card went, or that a seat chose."""
    if isinstance(action, Card):
        seen = any(isinstance(ask, AskCard) and ask.to == action.to and not ask.down for ask in prompts)
        return {"do": "card", "to": action.to} | ({"rank": action.rank} if seen else {})
    if isinstance(action, Choose):
        if together:
            return {"do": "choose", "seat": action.seat}
        if holds_cards(current.game, state, action.seat):
            return {"do": "choose", "seat": action.seat, "choice": action.choice}
    whole: dict[str, Any] = msgspec.to_builtins(action)
    return whole


def for_staff(current: Round | None) -> tuple[Prompt, ...]:
    """A game's prompts as staff may see them. Physical cards unknown to the system need no secrecy."""
    if current is None:
        return ()
    if current.secret:
        return prompts_for(current.game, current.state, DEALER)
    return current.game.prompts(current.state)
