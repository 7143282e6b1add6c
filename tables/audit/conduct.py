"""The rules of the house about its log: what may be written in a book, by whom, after what, and with which chips.

A proof holds every entry against them. An entry is enacted again at the table as the log tells it, by the functions
that refuse an input on the floor, and has to say what the floor would have written. Those functions stand in the rooms,
each beside the handler of its input (see `handlers`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import msgspec

from ledger.house import Difference, difference
from ledger.models import HOUSE, Book, LogEntry
from ledger.proof.chain import Entry, canonical
from tables.games.catalog import GAMES
from tables.handlers import CHECKS, ENACTMENTS
from tables.log.catalog import read_as
from tables.log.entries.settings import TableSet
from tables.log.event import Event, Misconduct
from tables.log.fold import Standing
from tables.log.terms import Settings, limits_of, rules_of, settings_after
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.scene import Scene, Step, seat_of
from tables.setup.table_settings import WAITS


class Floor:
    """A table, or the house, as its log tells it up to one entry."""

    def __init__(self, book: Book, through: int = 0) -> None:
        self._book = book
        self._settings: Settings | None = None
        self._table: Table | None = None
        for setting in _settings_through(book, through):
            self._set(settings_after(self._settings, setting.after))

    def enact(self, standing: Standing, event: Event, entry: Entry, move_kinds: Collection[str]) -> None:
        """Hold an entry against what the house would have written here. Raises Misconduct for anything else.

        ``standing`` is where the table stands before the entry, ``move_kinds`` the kinds of its transfers.
        """
        if wrong := set(move_kinds) - event.may_make():
            raise Misconduct(f"it makes a {min(wrong)}, which no {event.subject} {event.kind} does")
        if event.of_the_house is not (self._book.name == HOUSE) or event.kind != entry.kind:
            raise Misconduct(f"the house writes no entry {entry.subject} {entry.kind} in this book")
        if isinstance(event, TableSet):
            self._change(standing, event)
        if check := CHECKS.get(type(event)):
            check(event, entry)
        if type(event) in ENACTMENTS:
            _compare(self._due_step(standing, event, entry), event, entry)

    def _due_step(self, standing: Standing, event: Event, entry: Entry) -> Step:
        enactment, scene = ENACTMENTS[type(event)], self._scene(standing, entry)
        try:
            if enactment.permit is not None:
                _refuse_player(entry)
                enactment.permit(scene, _writer(standing, entry))
            return enactment.enact(scene, event, entry)
        except Refused as refused:
            raise Misconduct(f"it could not be entered then: {refused.sentence}") from None

    def _scene(self, standing: Standing, entry: Entry) -> Scene:
        table = self._table
        if table is None:
            raise Misconduct("the log does not say how the table was set up before it")
        return Scene(
            table=table,
            game=GAMES[table.game],
            rules=self._rules,
            limits=self._limits,
            standing=standing,
            by=_writer(standing, entry),
        )

    # --- settings

    def _change(self, standing: Standing, event: TableSet) -> None:
        before = asdict(self._settings) if self._settings else {}
        after = settings_after(self._settings, event.after)
        due = difference(before, asdict(after)) if before else Difference({}, event.after)
        if where := _difference(due._asdict(), {"before": event.before, "after": event.after}):
            raise Misconduct(f"the settings were others before it: its {where}")
        if before and standing.round_open and (waiting := WAITS.keys() & event.after.keys()):
            raise Misconduct(f"it changes the {min(waiting)} of a table at which a round is open")
        self._set(after)

    def _set(self, settings: Settings) -> None:
        fields = {name: value for name, value in asdict(settings).items() if name != "denominations"}
        self._settings, self._table = settings, Table(name=self._book.name, book_id=self._book.pk, **fields)
        self._rules, self._limits = rules_of(self._table), limits_of(self._table)


def _settings_through(book: Book, through: int) -> Iterable[TableSet]:
    """Every change of a table's settings up to an entry, the first one first."""
    if through:
        entries = LogEntry.objects.filter(book=book, subject=TableSet.subject, kind=TableSet.kinds[0])
        for body in entries.filter(seq__lte=through).order_by("seq").values_list("body", flat=True):
            yield read_as(TableSet, body)


# --- who wrote it ----------------------------------------------------------------------------------------------


def _writer(standing: Standing, entry: Entry) -> Staff:
    """Who wrote an entry, as far as a table's log knows: its dealer, or else somebody who runs the floor."""
    dealer = standing.dealer
    if dealer is not None and entry.by == dealer.signature:
        return _person(dealer.username, dealer.name, Role.DEALER)
    return _person("", entry.by, Role.PIT_BOSS)


@lru_cache(maxsize=100)
def _person(username: str, name: str, role: Role) -> Staff:
    return Staff(username=username, name=name, role=role)


def _refuse_player(entry: Entry) -> None:
    if seat_of(entry.by) is not None:
        raise Misconduct(f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else")


# --- what it says ----------------------------------------------------------------------------------------------


def _compare(step: Step, event: Event, entry: Entry) -> None:
    """Raise Misconduct where an entry does not say what the house would have written."""
    due = step.event
    if (due.subject, due.kind) != (event.subject, event.kind):
        raise Misconduct(f"the house would have written {due.subject} {due.kind}")
    if step.round != entry.round:
        raise Misconduct(f"its round is {entry.round}, the table is at round {step.round}")
    # What asked for it, and how that was answered, is known to nobody else.
    input_facts = {"request": event.request, "refused": event.refused, "happened_at": event.happened_at}
    due = msgspec.structs.replace(due, **input_facts)
    if due != event and (where := _difference(due.content(), event.content())):
        raise Misconduct(f"its {where}")


def _difference(due: Mapping[str, Any], content: Mapping[str, Any]) -> str | None:
    """The first place where two contents are not the same, and what they have there."""
    if canonical(due) == canonical(content):
        return None
    for name in sorted(due.keys() | content.keys()):
        ours, theirs = due.get(name), content.get(name)
        if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
            if deeper := _difference(ours, theirs):
                return f"{name}.{deeper}"
        elif canonical({name: ours}) != canonical({name: theirs}):
            return f"{name} is {_abbreviation(theirs)}, not {_abbreviation(ours)}"
    return "content is another"


def _abbreviation(value: Any) -> str:
    spelled = canonical({"": value}).decode()[4:-1]
    return spelled if len(spelled) <= 80 else f"{spelled[:77]}..."
