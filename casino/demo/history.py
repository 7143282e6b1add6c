"""The history of the demo, day by day: tables open, deal and close; drop boxes are counted, days closed and sealed.

Every step calls the function of the floor, the cage or the scheduled checks; only the clock is set. The irregularities
of each day are in ``incidents.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

from casino.demo import incidents, roulette
from casino.demo.clock import Clock
from casino.demo.dealer import CardCounter, Guest, Player, SimulatedDealer
from casino.demo.demo_site import DemoSite
from casino.demo.people import People, balance, pieces
from tables.alerts import log_followers
from tables.audit import day_seals
from tables.cage import cage_desk
from tables.floor import recorder
from tables.floor.inputs import SellChips
from tables.games.catalog import GAMES
from tables.log.game_kinds import kind_of
from tables.management.commands.seed_demo import STAFF
from tables.maths.advantage import penetration
from tables.models import Table
from tables.reports import day_close, gaming_hours
from tables.roles import Role
from tables.setup import table_settings

OPENS: Final = timedelta(hours=11)
"""After the gaming day has begun."""
COUNTS: Final = timedelta(hours=16)
NEXT_MORNING: Final = timedelta(hours=1)
AWAKE: Final = timedelta(hours=11)
ROUNDS: Final = 4
COUNTED_ROUNDS: Final = 38
"""Rounds of the card counter's evening: a whole shoe, and the shuffle after it."""
DEALERS: Final = [login.username for login in STAFF if login.role == Role.DEALER]
TABLES_A_DAY: Final = 3


def live_through(house: DemoSite, days: Sequence[date], say: Callable[[str], None]) -> None:
    """Every day, the first one first. All but the last are closed and sealed; that one is over and counted."""
    incidents.of_the_first_morning(house)
    for ago, day in zip(reversed(range(len(days))), days, strict=True):
        rounds = _day(house, day, ago, is_first=day == days[0])
        say(f"  {day:%a %d %b}: {rounds} rounds")


def pass_until(clock: Clock, people: People, present: datetime) -> None:
    """Let time pass up to a moment, with a sale every few hours: a half day without entries would raise an alert."""
    while clock.moment + AWAKE < present:
        clock.stand(clock.moment + AWAKE)
        cage_desk.sell(50_000, by=people["cara"], key=people.key())


def _day(house: DemoSite, day: date, ago: int, *, is_first: bool) -> int:
    """Record one day, ``ago`` days before the last; returns the number of rounds dealt."""
    span = gaming_hours.span(day)
    if not is_first:
        house.clock.stand(span.start + NEXT_MORNING)
        day_seals.seal_finished()
        _close(house, day - timedelta(days=1))
        incidents.of_the_morning(house, ago)
    house.clock.stand(span.start + OPENS)
    dealers = _open(house, ago)
    rounds = _evening(house, dealers, ago)
    here = {dealer.by.username for dealer in dealers}
    roulette.evening(house, house.chance.choice([name for name in DEALERS if name not in here]))
    incidents.of_the_night(house, dealers, ago)
    _shut(house, dealers, ago)
    house.clock.stand(span.start + COUNTS)
    _count(house)
    log_followers.follow()
    return rounds


# --- an evening ------------------------------------------------------------------------------------------------


def _open(house: DemoSite, ago: int) -> list[SimulatedDealer]:
    """Some tables open: each is counted, has a dealer, and players who come with chips or cash."""
    kinds = {name: kind_of(GAMES[table.game]) for name, table in house.tables.items()}
    names = [name for name, kind in kinds.items() if kind.sells_chips and not kind.is_by_count]
    names.remove(incidents.COUNTERS_TABLE)
    chosen = [incidents.COUNTERS_TABLE, *house.chance.sample(sorted(names), TABLES_A_DAY - 1)]
    on_duty = house.chance.sample(DEALERS, len(chosen))
    return [_take(house, house.tables[name], username, ago) for name, username in zip(chosen, on_duty, strict=True)]


def _take(house: DemoSite, table: Table, username: str, ago: int) -> SimulatedDealer:
    house.clock.passes(90)
    values = tuple(table_settings.settings_of(table).denominations)
    house.opened_with.setdefault(table.name, balance("rack", table))
    house.people.counts(table, "opener", username, pieces(balance("rack", table), values))
    recorder.sign_in(table, house.people[username])
    seats = house.chance.sample(range(1, table.seats + 1), 2 if incidents.counts_cards(table, ago) else 3)
    players: dict[int, Player] = {seat: Guest() for seat in seats}
    if incidents.counts_cards(table, ago):
        players[seats[0]] = CardCounter(penetration.results("rocket").count.tags, table.options["decks"])
    return SimulatedDealer(table, house.people[username], house.chance, players, house.clock.passes)


def _evening(house: DemoSite, dealers: Sequence[SimulatedDealer], ago: int) -> int:
    """A round at each table in turn; cash is bought in between."""
    rounds = 0
    for turn in range(COUNTED_ROUNDS):
        for dealer in dealers:
            if turn < ROUNDS or incidents.counts_cards(dealer.table, ago):
                dealer.round()
                rounds += 1
                _between_rounds(house, dealer)
    return rounds


def _between_rounds(house: DemoSite, dealer: SimulatedDealer) -> None:
    if house.chance.random() < 0.25:
        dealer.latest = None
        cents = 10_000 * house.chance.randint(1, 5)
        if balance("rack", dealer.table) > 3 * cents:
            house.people.enters(dealer.table, dealer.by.username, SellChips(cents, as_shown=True))
        dealer.latest = None


def _shut(house: DemoSite, dealers: Sequence[SimulatedDealer], ago: int) -> None:
    """Racks are brought back to what they opened with, tables are counted and closed, boxes are taken away."""
    for dealer in dealers:
        table, username = dealer.table, dealer.by.username
        values = tuple(table_settings.settings_of(table).denominations)
        house.clock.passes(60)
        _level(house, table, username, values)
        dealer.latest = None
        dealer.enter("retire_shoe")
        counted = balance("rack", table) + incidents.off_cents(dealer, ago)
        house.people.counts(table, "closer", username, pieces(counted, values))
        house.boxes.append(house.people.removes_box(table, f"{table.pk}-{ago + 1}"))


def _level(house: DemoSite, table: Table, username: str, values: tuple[int, ...]) -> None:
    opened, rack = house.opened_with[table.name], balance("rack", table)
    over = (rack - opened) // values[0] * values[0]
    if abs(over) * 10 > opened:
        house.people.carries(table, "credit" if over > 0 else "fill", username, pieces(abs(over), values))


def _count(house: DemoSite) -> None:
    """Boxes are counted, chips change hands at the cage, and so is its cash."""
    for box in house.boxes:
        house.clock.passes(240)
        house.people.counts_box(box)
    house.boxes.clear()
    cage_desk.sell(house.chance.randint(2, 9) * 50_000, by=house.people["cara"], key=house.people.key())
    cage_desk.redeem(house.chance.randint(1, 6) * 50_000, by=house.people["cara"], key=house.people.key())
    house.clock.passes(600)
    house.people.counts_cash("cagecash", "bank")
    house.people.counts_cash("vaultcash", "vault_cash")


def _close(house: DemoSite, day: date) -> None:
    """Two people sign a day's figures."""
    if matters_open := day_close.open_matters(day):
        raise RuntimeError(f"{day} cannot be closed: {' '.join(matters_open)}")
    proposed = day_close.propose(day, by=house.people["bella"])
    day_close.close(day, by=house.people["omar"], digest=proposed.digest)


def gaming_days(count: int, present: datetime) -> list[date]:
    """The last ``count`` gaming days before the current one."""
    today = gaming_hours.day_of(present.astimezone(UTC))
    return [today - timedelta(days=ago) for ago in range(count, 0, -1)]
