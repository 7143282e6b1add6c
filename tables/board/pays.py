"""Odds of a table's wagers that pay by pay tables, as text for the pages of supervisors and operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import UNSET

from tables.games.catalog import GAMES
from tables.games.odds import Odds
from tables.log.game_kinds import kind_of
from tables.log.terms import rules_of
from tables.models import Table


class PaidLines(NamedTuple):
    """A wager, or a bonus on one, with the odds of its lines."""

    title: str
    is_own: bool
    """Whether an operator's pay table says so, and not one that ships."""
    lines: Sequence[tuple[str, str]]

    def __str__(self) -> str:
        if len(self.lines) == 1:
            return f"{self.title}: {self.lines[0][1]}"
        return f"{self.title}: {', '.join(f'{label} {odds}' for label, odds in self.lines)}"


class Pays(NamedTuple):
    """The pay table of a table."""

    name: str
    """Name and version of an operator's pay table; "" if all wagers have standard ones."""
    wagers: Sequence[PaidLines]


def pays_at(table: Table) -> Pays:
    """The odds of the wagers offered at a table, as now set."""
    rules, form = rules_of(table), GAMES[table.game].pay_form
    if not form.wagers:
        return Pays("", ())
    own = None if rules.pays is UNSET else rules.pays
    spread = {wager.name for wager in kind_of(GAMES[table.game]).wagers(rules)}
    in_force = form.in_force(rules)
    wagers = [
        PaidLines(
            wager.title,
            own is not None and wager.name in own.wagers,
            [(line.label, _says(in_force[wager.name][line.name])) for line in wager.lines],
        )
        for wager in form.wagers
        if (wager.on or wager.name) in spread
    ]
    return Pays(f"{own.name} version {own.version}" if own else "", wagers)


def _says(odds: Odds) -> str:
    return str(odds) if odds.pays else "nothing"
