"""Pay tables of games whose wagers pay by a table.

Each game has a form: its wagers, the lines of each, the permitted odds of each line, and the standard tables, which the
game's options choose. An operator's table comes with the rules, and replaces the standard one of each wager that it
contains. It has a digest of its lines, so that a change of them is detected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from hashlib import sha256
from math import gcd
from typing import Any, Final

from msgspec import UNSET

from tables.games.odds import HouseRules, Odds, PayTable
from tables.games.protocol import Illegal, Struct

Pays = Mapping[str, Mapping[str, Odds]]
"""Odds of each line, by wager."""
Spelled = Mapping[str, Mapping[str, str]]
"""Odds as text, such as 9:1, by wager and line, as a record has them."""
UNPAID: Final = Odds(0)
"""A line that is lost like any other."""
MOST_TO: Final = 100
PLACE: Final = "options.pays"
_ODDS: Final = re.compile(r"(0|[1-9][0-9]{0,3}):([1-9][0-9]{0,2})")


class PayLine(Struct, frozen=True):
    """A result of a wager, and the odds that a table may pay on it."""

    name: str
    label: str
    least: Odds
    most: Odds
    may_be_unpaid: bool = False

    def admits(self, odds: Odds) -> bool:
        """Whether a table may have these odds on this line."""
        if odds == UNPAID:
            return self.may_be_unpaid
        return self.least.fraction <= odds.fraction <= self.most.fraction and odds.to <= MOST_TO

    @property
    def bounds(self) -> str:
        """In words: "1:1 to 8:1, or 0:1"."""
        return f"{self.least.spelled} to {self.most.spelled}{', or 0:1' if self.may_be_unpaid else ''}"


class PaidWager(Struct, frozen=True):
    """A wager, or a bonus on one, that is paid by a table."""

    name: str
    title: str
    lines: tuple[PayLine, ...]
    shipped: Mapping[str, tuple[Odds, ...]]
    """The standard tables, each line's odds in order, by the value of the option that chooses one."""
    option: str = ""
    """That option; "" if there is one standard table."""
    on: str = ""
    """The wager that it is a bonus on, and part of the worth of; "" if it is a wager itself."""
    needs: Mapping[str, str] = {}
    """The only option under which it is offered."""

    def shipped_under(self, rules: HouseRules) -> Mapping[str, Odds]:
        """The odds of each line in the standard pay table for these options."""
        chosen = self.shipped[str(getattr(rules, self.option)) if self.option else ""]
        return dict(zip((line.name for line in self.lines), chosen, strict=True))


class PayForm(Struct, frozen=True):
    """The form of a game's pay table."""

    game: str = ""
    wagers: tuple[PaidWager, ...] = ()

    def wager(self, name: str) -> PaidWager:
        """A wager by name. Raises KeyError."""
        return {wager.name: wager for wager in self.wagers}[name]

    def in_force(self, rules: HouseRules) -> Pays:
        """The odds in force for every wager of the form under these rules. Raises Illegal for a table that does not fit
        the form."""
        own = {} if rules.pays is UNSET else self.read(rules.pays)
        return {wager.name: own.get(wager.name) or wager.shipped_under(rules) for wager in self.wagers}

    def read(self, table: PayTable) -> Pays:
        """The lines of a table. Raises Illegal for lines that do not fit the form or the digest."""
        pays = self.lines(table.wagers)
        if self.digest(pays) != table.sha256:
            raise _illegal(f"{table.name} version {table.version} has other lines than its digest names", "sha256")
        return pays

    def lines(self, wagers: Spelled) -> Pays:
        """Parse a pay table's lines. Raises Illegal with the place of a faulty one."""
        if not self.wagers:
            raise _illegal("this game pays nothing by a pay table")
        if not wagers:
            raise _illegal("a pay table has a wager at least", "wagers")
        forms = {wager.name: wager for wager in self.wagers}
        for name in wagers:
            if name not in forms:
                raise _illegal(f"{self.game} pays {_listed(forms)} by a table, not {name!r}", "wagers")
        return {name: _read(forms[name], wagers[name]) for name in forms if name in wagers}

    def table_of(self, name: str, version: int, wagers: Spelled) -> PayTable:
        """A table of these lines, with their digest. Raises Illegal."""
        pays = self.lines(wagers)
        return PayTable(name, version, spelled(pays), self.digest(pays))

    def digest(self, pays: Pays) -> str:
        """SHA-256, in hexadecimal, of the game and all lines in a fixed order."""
        document = {"game": self.game, "wagers": spelled(pays)}
        return sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def net(odds: Odds) -> Fraction:
    """Net win of a wager on a line, per unit staked: a line that is not paid loses."""
    return odds.fraction if odds.pays else Fraction(-1)


def spelled(pays: Pays) -> dict[str, dict[str, str]]:
    """The lines as a record writes them."""
    return {wager: {line: odds.spelled for line, odds in lines.items()} for wager, lines in pays.items()}


def odds_of(text: str) -> Odds:
    """Parse odds such as 9:1 in lowest terms. Raises ValueError, whose message states the form."""
    match = _ODDS.fullmatch(text)
    if not text:
        raise ValueError("odds are missing: a table has all lines of a wager, or none")
    if match is None:
        raise ValueError(f"odds are written as 9:1 or 3:2, not {text[:20]!r}")
    odds = Odds(int(match[1]), int(match[2]))
    if (divisor := gcd(*odds)) > 1:
        raise ValueError(f"odds are written in lowest terms: {Odds(odds.pays // divisor, odds.to // divisor).spelled}")
    return odds


def _read(form: PaidWager, lines: Mapping[str, str]) -> Mapping[str, Odds]:
    names = [line.name for line in form.lines]
    for name in (*lines, *names):
        if name not in names:
            raise _illegal(f"its lines are {_listed(names)}, not {name!r}", "wagers", form.name)
        if name not in lines:
            raise _illegal(f"it leaves out the line {name}", "wagers", form.name)
    return {line.name: _odds(form, line, lines[line.name]) for line in form.lines}


def _odds(form: PaidWager, line: PayLine, text: str) -> Odds:
    place = ("wagers", form.name, line.name)
    try:
        odds = odds_of(text)
    except ValueError as wrong:
        raise _illegal(str(wrong), *place) from None
    if not line.admits(odds):
        raise _illegal(f"{form.title}, {line.label}: pays {line.bounds}, not {odds.spelled}", *place)
    return odds


def _illegal(sentence: str, *place: str) -> Illegal:
    return Illegal("bad_pays", sentence, place=".".join((PLACE, *place)))


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(map(str, names))


NO_FORM: Final = PayForm()
"""The form of games without pay tables."""
