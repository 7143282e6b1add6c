"""What a proven bundle says that tables won: reckoned from what moved, and as two people signed it in the house.

Reckoned is the ledger's own: what came to a rack and into its box, but for what the cage sent and took. It is there
as soon as a day is. What people counted (boxes, openers, corrections) comes with the figures that the house signs when
it closes the day, which stands in a later day's log. From then on those count.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

from casino.office.models import Arrival, Source, TableDay
from ledger.proof import spelling
from ledger.proof.chips import CASH, DROP_BOX, LAYOUT, PLAYERS, RACK, REVERSAL, TRANSIT
from tables.audit.outside.book_proof import HOUSE
from tables.audit.outside.bundle import Bundle, book_part, leaves_part
from tables.games.catalog import GAMES
from tables.games.game import Kind
from tables.log.catalog import read
from tables.log.entries.days import DayClosed
from tables.log.entries.settings import TableSet
from tables.log.terms import Settings, game_title, settings_after


@dataclass(slots=True)
class Line:
    """What one table did on a day."""

    game: str = ""
    kind: Kind = "counted"
    begun: int = 0
    """Rounds that began on it, less those that were made void on it."""
    settled: int = 0
    """Rounds whose bets were settled on it, less those that were taken back."""
    win_cents: int = 0
    drop_cents: int = 0

    @property
    def rounds(self) -> int:
        """As the house's own figures count them."""
        return {"banked": self.settled, "pot": self.begun, "counted": 0}[self.kind]


@dataclass(slots=True)
class Sheet:
    """All that a bundle says of figures."""

    reckoned: dict[tuple[str, str], Line] = field(default_factory=lambda: defaultdict(Line))
    """By day and table."""
    signed: list[DayClosed] = field(default_factory=list)


class _Entry(NamedTuple):
    seq: int
    subject: str
    kind: str
    round: int | None
    body: bytes


def sheet_of(path: Path) -> Sheet:
    """The figures of a bundle that was verified: nothing here is doubted."""
    sheet = Sheet()
    with Bundle(path) as bundle:
        days = _days(bundle)
        names = [str(leaf["book"]) for leaf in bundle.documents(leaves_part(days[-1]))]
        for number, name in enumerate(names, 1):
            if name == HOUSE:
                sheet.signed += _closes(bundle, number)
            else:
                _reckon(sheet.reckoned, bundle, number, name, _leaves(bundle, days, name))
    return sheet


def _days(bundle: Bundle) -> list[str]:
    """The bundle's own days, in order."""
    first, last = bundle.days
    every = (line["document"]["day"] for line in bundle.documents("roots.jsonl"))
    return [day for day in every if first <= day <= last]


def _leaves(bundle: Bundle, days: Sequence[str], name: str) -> list[Mapping[str, Any]]:
    """A book's documents."""
    return [leaf for day in days for leaf in bundle.documents(leaves_part(day)) if leaf["book"] == name]


def _closes(bundle: Bundle, number: int) -> Iterator[DayClosed]:
    """The days that the house closed."""
    for entry in _entries(bundle, number):
        if (entry.subject, entry.kind) == (DayClosed.subject, DayClosed.kinds[0]):
            event = read(entry.subject, entry.kind, entry.body, house=True)
            assert isinstance(event, DayClosed)  # noqa: S101 -- the catalog has no other of this kind
            yield event


def _reckon(
    lines: dict[tuple[str, str], Line], bundle: Bundle, number: int, name: str, leaves: Sequence[Mapping[str, Any]]
) -> None:
    """Rounds and money of a table, each on the day of its entry."""
    days = {seq: str(leaf["day"]) for leaf in leaves for seq in range(leaf["first"], leaf["last"] + 1)}
    settings: Settings | None = None
    newest = 0
    for entry in _carried(bundle, number):
        settings, newest = _settings(settings, entry), max(newest, entry.round or 0)
    for entry in _entries(bundle, number):
        settings = _settings(settings, entry)
        line = lines[days[entry.seq], name]
        if settings is not None:
            line.game, line.kind = game_title(settings), GAMES[settings.game].kind
        if entry.subject == "round":
            line.begun += ((entry.round or 0) > newest) - (entry.kind == "voided")
            newest = max(newest, entry.round or 0)
    staking: set[tuple[int, bool]] = set()
    for _, seq, _, kind, _, source, _, target, cents, _ in bundle.documents(book_part(number, "transfers")):
        line = lines[days[seq], name]
        _move(line, source, target, cents)
        taken_back = kind == REVERSAL and (source, target) == (LAYOUT, PLAYERS)
        if (kind == "stake" or taken_back) and (seq, taken_back) not in staking:
            staking.add((seq, taken_back))
            line.settled += -1 if taken_back else 1


def _settings(settings: Settings | None, entry: _Entry) -> Settings | None:
    """A table's settings after an entry."""
    if (entry.subject, entry.kind) != (TableSet.subject, TableSet.kinds[0]):
        return settings
    event = read(entry.subject, entry.kind, entry.body, house=False)
    assert isinstance(event, TableSet)  # noqa: S101 -- the catalog has no other of this kind
    return settings_after(settings, event.after)


def _move(line: Line, source: str, target: str, cents: int) -> None:
    """Win is what a rack and a box gain from anywhere but the cage; a box that is taken away loses nothing."""
    if TRANSIT in (source, target):
        return
    if {source, target} == {CASH, DROP_BOX}:
        dropped_cents = cents if target == DROP_BOX else -cents
        line.drop_cents += dropped_cents
        line.win_cents += dropped_cents
    line.win_cents += cents * ((target == RACK) - (source == RACK))


def _carried(bundle: Bundle, number: int) -> Iterator[_Entry]:
    for line in bundle.documents(book_part(number, "carried")):
        yield _entry(line["body"].encode())


def _entries(bundle: Bundle, number: int) -> Iterator[_Entry]:
    for line in bundle.lines(book_part(number, "entries")):
        yield _entry(line[65:])


def _entry(line: bytes) -> _Entry:
    heading, body = spelling.split(line)
    if heading is None:  # of format 1, which repeats its columns
        columns = json.loads(body)
        return _Entry(columns["seq"], columns["subject"], columns["kind"], columns["round"], body)
    _, seq, _, subject, kind, number, *_ = heading
    return _Entry(seq, subject, kind, number, body)


# --- Kept ------------------------------------------------------------------------------------------------------


def enter(arrival: Arrival, sheet: Sheet, fresh: Collection[date]) -> None:
    """Keep what a bundle says of the days that are new with it. What is kept already was the same."""
    rows = [
        TableDay(
            house=arrival.house, day=date.fromisoformat(day), table=table, source=Source.RECKONED, game=line.game,
            rounds=line.rounds, win_cents=line.win_cents, drop_cents=line.drop_cents, arrival=arrival,
        )
        for (day, table), line in sheet.reckoned.items()
        if date.fromisoformat(day) in fresh
    ]  # fmt: skip
    rows += [_signed(arrival, close, row) for close in sheet.signed for row in close.figures]
    TableDay.objects.bulk_create(rows, ignore_conflicts=True)


def _signed(arrival: Arrival, close: DayClosed, row: Mapping[str, Any]) -> TableDay:
    return TableDay(
        house=arrival.house, day=date.fromisoformat(close.day), table=row["name"], source=Source.SIGNED,
        game=row["game"], rounds=row["rounds"], win_cents=row["win_cents"], drop_cents=row["drop_cents"],
        handle_cents=row.get("handle_cents"), theoretical_cents=row.get("theoretical_cents"), arrival=arrival,
    )  # fmt: skip
