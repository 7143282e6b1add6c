"""Figures across sites, added up by site, game or table, and never across currencies.

A site's signed figures of a day count as soon as they are here; until then the figures computed from the entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Final

from django.db.models import Max

from casino.office.models import Day, House
from ledger.raw_rows import fetch_rows

HOUSE, GAME, TABLE = "house", "game", "table"
GROUPS: Final = {HOUSE: (True, False, False), GAME: (False, False, True), TABLE: (True, True, True)}
"""Whether each grouping keeps site, table and game apart."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The sums of a span of days, in one currency."""

    house: str
    table: str
    game: str
    days: int
    """The number of table days added up."""
    signed_days: int
    """The number of these that were signed at the site."""
    rounds: int
    win_cents: int
    drop_cents: int
    handle_cents: int | None
    theoretical_cents: int | None
    """From signed days only; None if none of them has it."""

    @property
    def name(self) -> str:
        """The line's title."""
        return ", ".join(part for part in (self.house, self.table) if part) or self.game

    @property
    def hold_permille(self) -> int | None:
        """Win divided by drop, in thousandths; None without a drop."""
        return round(Fraction(self.win_cents * 1000, self.drop_cents)) if self.drop_cents else None

    @property
    def is_signed(self) -> bool:
        """Whether all table days were signed."""
        return self.days == self.signed_days


# Signed figures cover whole days: a single signed row replaces all reckoned rows of its day.
_COUNTING: Final = """
    SELECT t.*, h.name AS house_name, h.code, h.currency
    FROM office_tableday AS t JOIN office_house AS h ON h.id = t.house_id
    WHERE t.day BETWEEN %(first)s AND %(last)s AND (%(code)s = '' OR h.code = %(code)s) AND (t.source = 'signed'
        OR NOT EXISTS (SELECT FROM office_tableday AS s
            WHERE s.house_id = t.house_id AND s.day = t.day AND s.source = 'signed'))
"""
_SUMS: Final = f"""
    SELECT currency, CASE WHEN %(by_house)s THEN house_name ELSE '' END,
        CASE WHEN %(by_table)s THEN "table" ELSE '' END,
        CASE WHEN %(by_game)s THEN game ELSE '' END,
        count(*), count(*) FILTER (WHERE source = 'signed'), sum(rounds)::bigint, sum(win_cents)::bigint,
        sum(drop_cents)::bigint, sum(handle_cents)::bigint, sum(theoretical_cents)::bigint
    FROM ({_COUNTING}) AS counting
    WHERE rounds <> 0 OR win_cents <> 0 OR drop_cents <> 0
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
"""  # noqa: S608
_DAYS: Final = f"""
    SELECT day, sum(win_cents)::bigint, sum(drop_cents)::bigint FROM ({_COUNTING}) AS counting
    WHERE currency = %(currency)s GROUP BY day ORDER BY day
"""  # noqa: S608
_MISSING: Final = """
    SELECT h.name, d.day::date FROM office_house AS h
    JOIN LATERAL (SELECT min(day) AS first FROM office_day WHERE house_id = h.id) AS begun ON begun.first IS NOT NULL
    CROSS JOIN LATERAL
        generate_series(greatest(begun.first, %(first)s::date), %(last)s::date, interval '1 day') AS d (day)
    WHERE (%(code)s = '' OR h.code = %(code)s)
        AND NOT EXISTS (SELECT FROM office_day AS held WHERE held.house_id = h.id AND held.day = d.day::date)
    ORDER BY 1, 2
"""


def between(first: date, last: date, by: str, code: str = "") -> list[tuple[str, list[Figures]]]:
    """The lines of each currency, grouped ``by`` site, game or table; for one site (``code``) or for all."""
    by_house, by_table, by_game = GROUPS[by]
    grouping = {"by_house": by_house, "by_table": by_table, "by_game": by_game}
    rows = fetch_rows(_SUMS, {"first": first, "last": last, "code": code} | grouping)
    currencies: dict[str, list[Figures]] = {}
    for currency, *row in rows:
        currencies.setdefault(currency, []).append(Figures(*row))
    return list(currencies.items())


def together(lines: Iterable[Figures]) -> Figures:
    """The sum of lines in one currency."""
    every = list(lines)
    handles = [line.handle_cents for line in every if line.handle_cents is not None]
    theoreticals = [line.theoretical_cents for line in every if line.theoretical_cents is not None]
    return Figures(
        house="", table="", game="All",
        days=sum(line.days for line in every),
        signed_days=sum(line.signed_days for line in every),
        rounds=sum(line.rounds for line in every),
        win_cents=sum(line.win_cents for line in every),
        drop_cents=sum(line.drop_cents for line in every),
        handle_cents=sum(handles) if handles else None,
        theoretical_cents=sum(theoreticals) if theoreticals else None,
    )  # fmt: skip


def days_of(currency: str, first: date, last: date, code: str = "") -> list[tuple[date, int, int]]:
    """Win and drop of each day in a currency, in cents."""
    parameters = {"currency": currency, "first": first, "last": last, "code": code}
    return [(day, win_cents, drop_cents) for day, win_cents, drop_cents in fetch_rows(_DAYS, parameters)]


def by_day(house: House, days: Sequence[date]) -> dict[date, tuple[int, int]]:
    """Win and drop of each of a site's days, in cents."""
    if not days:
        return {}
    sums = days_of(house.currency, min(days), max(days), house.code)
    return {day: (win_cents, drop_cents) for day, win_cents, drop_cents in sums}


def missing(first: date, last: date, code: str = "") -> dict[str, list[date]]:
    """The days in a span that are not here, by the name of the site."""
    days: dict[str, list[date]] = {}
    for name, day in fetch_rows(_MISSING, {"first": first, "last": last, "code": code}):
        days.setdefault(name, []).append(day)
    return days


def newest() -> date | None:
    """The newest accepted day of any site; None before the first."""
    day: date | None = Day.objects.aggregate(day=Max("day"))["day"]
    return day
