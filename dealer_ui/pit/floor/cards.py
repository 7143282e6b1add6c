"""The floor as the pit sees it: every table with its win, dealer, shoe and alerts, and what the pit may do there.

All tables are read in the same few queries, however many there are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from dealer_ui.charts import meters
from dealer_ui.pit.alerts.inbox import ShownAlert, count, open_now
from dealer_ui.pit.floor import actions
from dealer_ui.pit.floor.actions import ACTS, Act
from dealer_ui.pit.floor.needs import Need, Relief, TableNeeds, needs
from ledger import cage
from ledger.models import Account, Alert
from ledger.proof.chips import RACK
from tables.alerts import rules_in_force
from tables.alerts.alert_types import Rule
from tables.audit import round_list
from tables.board.table_view import Board, board
from tables.cage import blind_counts
from tables.disputes import cases
from tables.floor import player_pages
from tables.floor.voiding import void_since
from tables.games.catalog import GAMES
from tables.games.protocol import View
from tables.log.entries.rounds import place_of
from tables.log.game_kinds import kind_of
from tables.log.message import text_of
from tables.log.slip_types import SlipType, offered
from tables.log.state import TableState
from tables.log.terms import game_title
from tables.models import Staff, Table
from tables.reports import blind_figures, figure_records, figures, gaming_hours, piece_records
from tables.reports.figures import Figures
from tables.setup import pits
from tables.setup.pits import NOWHERE, TablePlace
from tables.state.table_state import at_all, head_of


@dataclass(frozen=True, slots=True)
class Seen:
    """One table on the floor."""

    board: Board
    standing: TableState
    rack_cents: int | None
    """The rack by the ledger, in cents. None for a viewer who may count it."""
    win_cents: int | None
    """The win on this gaming day in cents, as in Figures. None for a viewer who may be counting its rack."""
    drop_cents: int
    """The drop of this gaming day, in cents."""
    is_dealt: bool
    """Whether rounds are entered there; or its win is known by its counts."""
    counted_at: datetime | None
    """When the rack of an open table without rounds was counted last."""
    rounds_today: int
    pace: int | None
    """Rounds in an hour, by the last one or as much of it as the table was open; None of a table that is closed."""
    relief: Relief | None
    """When its dealer is due to be relieved, if it has one."""
    needs: tuple[Need, ...]
    """The tasks that it has for the viewer, most urgent first."""
    place: TablePlace
    alerts: int
    alert: Alert | None
    acts: tuple[Act, ...]
    may_run: bool

    @property
    def table(self) -> Table:
        return self.board.table

    @property
    def title(self) -> str:
        """The title of its game."""
        return game_title(self.table)

    @property
    def paper(self) -> list[SlipType]:
        """The slips that the pit may begin here."""
        stands = {"is_open": self.standing.is_open, "round_open": self.standing.round_open}
        here = [series for series in offered("floor") if self.may_run and series.begins_at(**stands)]
        return here if self.standing.lock is None else [series for series in here if not series.opens_rack]

    @property
    def act_places(self) -> list[tuple[Act, bool]]:
        """Every act in its place, and whether it can be done now; a table is locked or unlocked in the same place."""
        locks = "unlock-rack" if self.standing.lock else "lock-rack"
        left_out = {"lock-rack", "unlock-rack", *actions.READERS} - {locks}
        return [(act, act in self.acts) for act in ACTS.values() if act.name not in left_out] if self.may_run else []

    @property
    def paper_places(self) -> list[tuple[SlipType, bool]]:
        """Every slip that the pit begins, and whether it can be begun now."""
        return [(series, series in self.paper) for series in offered("floor")] if self.may_run else []

    @property
    def pressing(self) -> list[Act]:
        """The actions that the pit has to take before the table can continue."""
        return [act for act in self.acts if act.name in actions.READERS]

    @property
    def has_seat_pages(self) -> bool:
        """Whether the pit may hand the pages of seats over here."""
        return bool(self.acts) and self.standing.is_open and player_pages.possible(self.table)

    @property
    def need(self) -> Need | None:
        """Its most urgent task; None without any."""
        return self.needs[0] if self.needs else None

    @property
    def rank(self) -> int:
        """The urgency of its first task; 0 without any."""
        return self.needs[0].rank if self.needs else 0

    @property
    def state(self) -> str:
        """The state of the table in a few words."""
        return _state(self.board)

    @property
    def marked(self) -> tuple[int, ...]:
        """The seat with the turn, or the seat being paid; empty for none."""
        acting = self.board.pay.seat if self.board.pay else _acting(self.board)
        return () if acting is None else (acting,)

    @property
    def middle(self) -> View | None:
        """The round on the layout as everybody at the table sees it."""
        return self.standing.round.view(None) if self.standing.round and self.standing.round_open else None

    @property
    def over(self) -> bool:
        """Whether the round on the layout is decided, though seats may still be paid."""
        return self.standing.round is not None and self.standing.round.over

    @property
    def win_bar(self) -> meters.RackBar | None:
        """The win next to the opening rack, as a picture; None where the win is hidden."""
        opening_cents = self.standing.opening_rack_cents
        return None if self.win_cents is None else meters.rack_bar(opening_cents, opening_cents + self.win_cents)

    @property
    def shoe_bar(self) -> meters.ShoeBar | None:
        """The penetration of the shoe, as a picture."""
        shoe = self.board.shoe
        return meters.shoe_bar(shoe.size, shoe.cards_left, shoe.cut_at) if shoe else None

    @property
    def last_net_cents(self) -> int | None:
        """The casino's win in the last round, or its rake, in cents; None during a round."""
        last = self.standing.round
        return last.house_net_cents if last and last.over else None


STATES: Final = {
    "restored": "To be confirmed after a restore",
    "closed": "Closed",
    "count": "Rack is counted",
    "locked": "Rack is locked",
    "dealer": "Needs a dealer",
    "reader": "Reader and dealer disagree",
    "load": "Shoe to be loaded",
    "check": "Decks to be checked",
    "shuffle": "Shoe to be shuffled",
    "cut": "Cut card to be placed",
    "burn": "Cards to be burned",
    "relief": "Card to be burned at the relief",
    "retire": "Shoe to be retired",
    "commission": "Commission to be collected",
    "counted": "In play",
    "bets": "Bets are open",
    "seats": "Between games",
    "reshuffle": "Discards to be shuffled",
}


def _state(drawn: Board) -> str:
    if drawn.due == "pay" and drawn.pay:
        return f"Paying seat {drawn.pay.seat}"
    if drawn.due in ("card", "deal", "choose"):
        acting = text_of(place_of(_acting(drawn) or 0))
        return f"{acting.capitalize()} decides" if drawn.due == "choose" else f"Card for {acting}"
    return STATES[drawn.due]


def _acting(drawn: Board) -> int | None:
    """The seat whose turn it is, 0 for the dealer, None for neither."""
    return 0 if drawn.dealer_acting else next((seat.seat for seat in drawn.seats if seat.acting), None)


@dataclass(frozen=True, slots=True)
class Facts:
    """The data of tables as read once, for all viewers."""

    boards: Sequence[Board]
    standings: Mapping[int, TableState]
    racks: Mapping[int, int]
    alerts: Mapping[int | None, Sequence[ShownAlert]]
    rounds_today: Mapping[int, int]
    money: Mapping[int, Figures]
    counts: Mapping[int, datetime]
    disputes: Mapping[int, int]
    moments: Mapping[int, Moments]
    paces: Mapping[int, int]
    places: Mapping[str, TablePlace]
    relief_rule: Rule


@dataclass(frozen=True, slots=True)
class Moments:
    """When a table was opened, and when its dealer tapped in."""

    opened: datetime | None
    dealer: datetime | None


def read(tables: QuerySet[Table], alerts: Sequence[ShownAlert] | None = None) -> Facts:
    """The data of tables, with the open alerts (default: read them). The number of queries is constant."""
    chosen = list(tables.select_related("book").prefetch_related("denominations"))
    heads = [head_of(table) for table in chosen]
    standings = at_all(heads)
    stranger = Staff()  # a viewer of the floor is no dealer of its tables
    moments = _moments(standings)
    dealt = [table.book_id for table in chosen if not kind_of(GAMES[table.game]).is_by_count]
    return Facts(
        boards=[board(table, stranger, standings[table.book_id]) for table in chosen],
        standings=standings,
        racks=_racks(list(standings)),
        alerts=_by_book(open_now() if alerts is None else alerts),
        rounds_today=_rounds_today(standings),
        money=figures.money_of(gaming_hours.day_of(timezone.now()), heads),
        counts=_counts([table for table in chosen if standings[table.book_id].is_open], standings),
        disputes=cases.open_by_book(),
        moments=moments,
        paces=_paces(standings, moments, dealt),
        places=pits.places(),
        relief_rule=rules_in_force.in_force()["relief_due"],
    )


def seen(viewer: Staff, only: int | None = None) -> list[Seen]:
    """All tables that are not retired, or one, as this user may see them."""
    return seen_by(viewer, read(Table.objects.in_use() if only is None else Table.objects.filter(pk=only)))


def seen_by(viewer: Staff, facts: Facts) -> list[Seen]:
    """The tables of these data, as users of the viewer's role may see them."""
    return [_seen(viewer, drawn, facts) for drawn in facts.boards]


def _seen(viewer: Staff, drawn: Board, facts: Facts) -> Seen:
    book = drawn.table.book_id
    state = facts.standings[book]
    own_alerts = [alert for alert in facts.alerts.get(book, ()) if alert.is_for(viewer.role)]
    may_run = viewer.has_perm("tables.run_floor")
    money = facts.money.get(book, Figures(""))
    is_counting, dealer_since = blind_figures.counts(viewer.role, state), facts.moments[book].dealer
    gravest = max(own_alerts, key=lambda alert: alert.heard.level, default=None)
    matters = TableNeeds(
        alert_level=gravest.heard.level if gravest else None,
        alert_title=gravest.sort.title if gravest else "",
        disputes=facts.disputes.get(book, 0),
    )
    relief = Relief.of(dealer_since, drawn.table, facts.relief_rule) if dealer_since else None
    return Seen(
        board=drawn,
        standing=state,
        rack_cents=None if is_counting or RACK in blind_counts.unseen_by(viewer.role) else facts.racks.get(book, 0),
        win_cents=None if is_counting else money.win_cents,
        drop_cents=money.drop_cents,
        is_dealt=not kind_of(GAMES[drawn.table.game]).is_by_count,
        counted_at=facts.counts.get(book),
        rounds_today=facts.rounds_today[book],
        pace=facts.paces.get(book),
        relief=relief,
        needs=needs(viewer.role, drawn, state, matters, relief),
        place=facts.places.get(drawn.table.name, NOWHERE),
        alerts=count(own_alerts),
        alert=own_alerts[0].alert if own_alerts else None,
        acts=actions.possible(state) if may_run else (),
        may_run=may_run,
    )


def latest_of(standing: TableState) -> int:
    """The number of the latest round."""
    return standing.round.number if standing.round else 0


def _rounds_today(standings: Mapping[int, TableState]) -> dict[int, int]:
    """The number of rounds of each log since midnight, without void ones."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    latest = {book: latest_of(state) for book, state in standings.items()}
    firsts = round_list.first_since(latest, midnight)
    void = void_since(firsts, latest, {book: standings[book].seq for book in firsts})
    return {book: latest[book] - first + 1 - void[book] for book, first in firsts.items()}


def _counts(tables: Sequence[Table], standings: Mapping[int, TableState]) -> dict[int, datetime]:
    """When the racks of tables without rounds were counted last, by their books."""
    by_count = [table.book_id for table in tables if kind_of(GAMES[table.game]).is_by_count]
    seqs = piece_records.last_counts({book: standings[book].seq for book in by_count})
    moments = figure_records.moments([*seqs.items()])
    return {book: moments[book, seq] for book, seq in seqs.items() if (book, seq) in moments}


def _moments(standings: Mapping[int, TableState]) -> dict[int, Moments]:
    """When each table was opened, and when its dealer came."""
    opened = {book: state.opened_seq for book, state in standings.items() if state.is_open}
    dealers = {book: state.dealer.since_seq for book, state in standings.items() if state.dealer}
    moments = figure_records.moments([*opened.items(), *dealers.items()])
    return {
        book: Moments(moments.get((book, opened.get(book, 0))), moments.get((book, dealers.get(book, 0))))
        for book in standings
    }


HOUR: Final = timedelta(hours=1)
SHORTEST: Final = timedelta(minutes=10)
"""A pace is reckoned by so much at least: two rounds of the first minute are not 120 an hour."""


def _paces(
    standings: Mapping[int, TableState], moments: Mapping[int, Moments], dealt: Collection[int]
) -> dict[int, int]:
    """For each open table of these its rounds in an hour, by the last hour."""
    moment = timezone.now()
    latest = {book: latest_of(state) for book, state in standings.items()}
    firsts = round_list.first_since(latest, moment - HOUR)
    return {
        book: round((latest[book] - firsts[book] + 1) * (HOUR / max(min(HOUR, moment - table.opened), SHORTEST)))
        for book, table in moments.items()
        if table.opened is not None and book in dealt
    }


def _racks(books: Sequence[int]) -> dict[int, int]:
    net = cage.net_effect(books)
    racks = Account.objects.filter(book__in=books, place=RACK).values_list("book_id", "pk")
    return {book: net.get(account, 0) for book, account in racks}


def _by_book(alerts: Sequence[ShownAlert]) -> dict[int | None, list[ShownAlert]]:
    """The open alerts of each log, the newest first."""
    by_book: dict[int | None, list[ShownAlert]] = {}
    for shown_alert in alerts:
        by_book.setdefault(shown_alert.alert.book_id, []).append(shown_alert)
    return by_book


@dataclass(frozen=True, slots=True)
class Strip:
    """The floor in one line."""

    open: int
    tables: int
    rounds_today: int
    win_cents: int
    """The win of all tables on this gaming day in cents, without tables in a blind count."""
    alerts: int
    unseen: int = 0
    """Number of tables in a blind count, which the win leaves out."""


def strip_of(tables: Sequence[Seen], alerts: int) -> Strip:
    """The floor's line from its tables."""
    return Strip(
        open=sum(card.standing.is_open for card in tables),
        tables=len(tables),
        rounds_today=sum(card.rounds_today for card in tables),
        win_cents=sum(card.win_cents or 0 for card in tables),
        alerts=alerts,
        unseen=sum(card.win_cents is None for card in tables),
    )
