"""The tables' win from a verified bundle: first computed from chip movements, later as the casino signed it.

Computed figures come from the ledger: the gains of a rack and its drop box, except from and to the cage. They exist as
soon as the day does. Counted amounts (boxes, openers, corrections) come with the figures that two people sign when they
close the day, which are in a later day's log. From then on the signed figures count.
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
class TableFigures:
    """One table's figures of a day."""

    game: str = ""
    kind: Kind = "counted"
    begun: int = 0
    """Rounds begun on that day, less those voided on it."""
    settled: int = 0
    """Rounds settled on that day, less settlements taken back on it."""
    win_cents: int = 0
    drop_cents: int = 0

    @property
    def rounds(self) -> int:
        """The number of rounds, counted as in the casino's own figures."""
        return {"banked": self.settled, "pot": self.begun, "counted": 0}[self.kind]


@dataclass(slots=True)
class BundleFigures:
    """All figures in a bundle."""

    reckoned: dict[tuple[str, str], TableFigures] = field(default_factory=lambda: defaultdict(TableFigures))
    """By day and table."""
    signed: list[DayClosed] = field(default_factory=list)


class _Entry(NamedTuple):
    seq: int
    subject: str
    kind: str
    round: int | None
    body: bytes


def sheet_of(path: Path) -> BundleFigures:
    """The figures of a bundle, which must have been verified: nothing is checked here."""
    sheet = BundleFigures()
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
    """The bundle's days in order, without those before it that its chain also names."""
    first, last = bundle.days
    every = (line["document"]["day"] for line in bundle.documents("roots.jsonl"))
    return [day for day in every if first <= day <= last]


def _leaves(bundle: Bundle, days: Sequence[str], name: str) -> list[Mapping[str, Any]]:
    """The leaves of a log, one for each day."""
    return [leaf for day in days for leaf in bundle.documents(leaves_part(day)) if leaf["book"] == name]


def _closes(bundle: Bundle, number: int) -> Iterator[DayClosed]:
    """The day closings among a log's entries."""
    for entry in _entries(bundle, number):
        if (entry.subject, entry.kind) == (DayClosed.subject, DayClosed.kinds[0]):
            event = read(entry.subject, entry.kind, entry.body, house=True)
            assert isinstance(event, DayClosed)  # noqa: S101 -- the catalog has no other of this kind
            yield event


def _reckon(
    lines: dict[tuple[str, str], TableFigures],
    bundle: Bundle,
    number: int,
    name: str,
    leaves: Sequence[Mapping[str, Any]],
) -> None:
    """Add up a table's rounds and money, each on the day of its entry."""
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


def _move(line: TableFigures, source: str, target: str, cents: int) -> None:
    """Add a chip movement to win and drop. The gains of rack and box are win, except from and to the cage; removing a
    box is no loss."""
    # Fills and credits only exchange chips with the cage: they are neither win nor loss.
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
    if heading is None:  # format 1, whose body repeats the columns
        columns = json.loads(body)
        return _Entry(columns["seq"], columns["subject"], columns["kind"], columns["round"], body)
    _, seq, _, subject, kind, number, *_ = heading
    return _Entry(seq, subject, kind, number, body)


# --- Storing ---------------------------------------------------------------------------------------------------


def enter(arrival: Arrival, sheet: BundleFigures, fresh: Collection[date]) -> None:
    """Store the computed figures of the new days, and all signed ones. Rows that exist already are equal, and are
    kept."""
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
