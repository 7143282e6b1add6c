"""The effect of other limits or another pay table: a table's recent bets, under those limits, at its own pace and exact
edges.

An estimate for the approver, which assumes that players bet as they did.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Final

from ledger.models import LogEntry
from ledger.proof.chips import money
from tables.edge import cached_sheets
from tables.edge.cached_sheets import Worths
from tables.games.catalog import GAMES
from tables.games.protocol import MAIN, Bet, Limits
from tables.limits import plans
from tables.log import dual_control
from tables.log.catalog import read_as
from tables.log.entries.rounds import Played
from tables.log.game_kinds import kind_of
from tables.log.limit_plans import in_settings, limits_in
from tables.log.terms import Settings, limits_of, rules_of, settings_after
from tables.models import Proposal, Table
from tables.setup import table_settings

ROUNDS: Final = 60
"""Number of the latest rounds used."""
PAUSE: Final = timedelta(minutes=10)
"""A longer time between two rounds does not count towards the pace: the table was not in play."""
HOUR: Final = Fraction(3_600)

Bets = Mapping[tuple[int, str], int]
"""Bets of a round by seat and wager, in cents."""


@dataclass(frozen=True, slots=True)
class Side:
    """A table under some settings, in an hour of play."""

    handle_cents: int
    theoretical_cents: int | None
    """None while the edge of some wager is not known."""
    exposure_cents: int
    """The most that all bets before the cards of one round can come to."""
    edges: str

    @property
    def handle(self) -> str:
        return money(self.handle_cents)

    @property
    def theoretical(self) -> str:
        return "" if self.theoretical_cents is None else money(self.theoretical_cents)

    @property
    def exposure(self) -> str:
        return money(self.exposure_cents)


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a change at one table."""

    table: str
    rounds: int
    """Number of rounds that this rests on; with none, only the exposure is known."""
    an_hour: int
    """Rounds in an hour of play."""
    before: Side
    after: Side


def of_proposal(proposal: Proposal) -> list[Effect]:
    """The effect of a proposal at each table concerned; empty if it does not affect bets."""
    if proposal.matter in (dual_control.EDGE, "limits", "pays") and proposal.before:
        table = Table.objects.filter(name=proposal.about).first()
        if table is None:
            return []
        before = settings_after(table_settings.settings_of(table), proposal.before)
        return [of_change(table, before, settings_after(before, table_settings.values_of(proposal)))]
    if proposal.matter == "limit_plan":
        return _of_plan(proposal)
    return []


def _of_plan(proposal: Proposal) -> list[Effect]:
    """Effects of a limit plan at the tables concerned; limits that it does not set remain."""
    event = plans.event_of(proposal)
    if event.retired:
        return []
    effects: list[Effect] = []
    for table, facts in plans.tables_of(event):
        if table.name not in event.excluded:
            values = {name: value for name, value in event.values.items() if facts.have(name)}
            before = table_settings.settings_of(table)
            after = replace(before, **in_settings({**limits_in(before), **values}))
            effects.append(of_change(table, before, after))
    return effects


def of_change(table: Table, before: Settings, after: Settings) -> Effect:
    """The effect of a change of a table's settings."""
    rounds = list(_rounds(table))
    pace = _pace([moment for moment, _ in rounds])
    worths = cached_sheets.of([(settings.game, rules_of(settings)) for settings in (before, after)])
    sides = [
        _side(settings, [bets for _, bets in rounds], pace, worth)
        for settings, worth in zip((before, after), worths, strict=True)
    ]
    return Effect(table.name, len(rounds), round(pace), *sides)


def _side(settings: Settings, rounds: Sequence[Bets], pace: Fraction, worths: Worths) -> Side:
    limits = limits_of(settings)
    handle, won, is_known = Fraction(0), Fraction(0), True
    for bets in rounds:
        for wager, cents in _bets_within(bets, limits):
            edge = worths.edges.get(wager, worths.edge())
            handle, is_known = handle + cents, is_known and edge is not None
            won += cents * Fraction(edge or 0)
    hourly = pace / len(rounds) if rounds else Fraction(0)
    edges = ", ".join(f"{wager.replace('_', ' ')} {edge:.4%}" for wager, edge in sorted(worths.edges.items()))
    return Side(
        round(handle * hourly),
        round(won * hourly) if is_known and rounds else None,
        exposure(settings),
        edges or ("is being computed" if worths.pending else "not known"),
    )


def _bets_within(bets: Bets, limits: Limits) -> Iterator[tuple[str, Fraction]]:
    """A round's bets as they would have been: none under its minimum or over its maximum, each seat within its own, and
    all together within the table's exposure."""
    cents_by_bet = {
        place: Fraction(min(max(cents, limits.least(place[1], place[0])), limits.of(place[1])[1]))
        for place, cents in bets.items()
    }
    for seat in {seat for seat, _ in cents_by_bet}:
        total = sum(cents for place, cents in cents_by_bet.items() if place[0] == seat)
        most = limits.room_of(0)
        if total > most:
            cents_by_bet |= {place: cents * most / total for place, cents in cents_by_bet.items() if place[0] == seat}
    total, cap = sum(cents_by_bet.values(), Fraction(0)), limits.cap_cents
    share = Fraction(cap) / total if cap is not None and total > cap else Fraction(1)
    return ((wager, cents * share) for (_, wager), cents in cents_by_bet.items())


def exposure(settings: Settings) -> int:
    """The most that all bets before the cards can come to in one round, in cents."""
    limits = limits_of(settings)
    wagers = [wager.name for wager in kind_of(GAMES[settings.game]).wagers(rules_of(settings))] or [MAIN]
    own = [wager for wager in wagers if wager not in GAMES[settings.game].further]
    at_seat = min(sum(limits.of(wager)[1] for wager in own), limits.room_of(0))
    most = at_seat * settings.seats
    return most if limits.cap_cents is None else min(most, limits.cap_cents)


# --- What was bet ------------------------------------------------------------------------------------------------


def _rounds(table: Table) -> Iterator[tuple[datetime, Bets]]:
    """The latest rounds: when each began, and its bets before the cards."""
    plays = LogEntry.objects.filter(book_id=table.book_id, subject=Played.subject, kind=Played.kinds[0])
    newest = plays.order_by("-seq").values_list("round", flat=True).first()
    if newest is None:
        return
    begun: dict[int, datetime] = {}
    bets: dict[int, dict[tuple[int, str], int]] = {}
    rows = plays.filter(round__gt=newest - ROUNDS).order_by("seq").values_list("round", "at", "body")
    for number, moment, body in rows:
        placed = [action for action in read_as(Played, body).actions if isinstance(action, Bet)]
        if number is not None and placed:
            begun.setdefault(number, moment)
            bets.setdefault(number, {}).update({(bet.seat, bet.wager): bet.amount_cents for bet in placed})
    for number, moment in begun.items():
        yield moment, {place: cents for place, cents in bets[number].items() if cents}


def _pace(moments: Sequence[datetime]) -> Fraction:
    """Rounds in an hour of play: by the times from one round to the next, without pauses."""
    steps = [later - earlier for earlier, later in pairwise(moments) if later - earlier <= PAUSE]
    seconds = sum((Fraction(step / timedelta(seconds=1)) for step in steps), Fraction(0))
    return len(steps) * HOUR / seconds if seconds else Fraction(0)
