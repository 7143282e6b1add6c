"""The floor as the pit sees it: every table with its rack, shoe and alerts, and what the pit may do there.

All tables are read in the same few queries, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet
from django.utils import timezone

from dealer_ui.charts import meters
from dealer_ui.pit.alerts import ShownAlert, open_now
from ledger import cage
from ledger.models import Account, Alert
from ledger.proof.chips import RACK
from tables.audit import round_list
from tables.board import secrecy
from tables.board.picture import Board, board
from tables.games.cards import pack_of
from tables.games.catalog import GAMES
from tables.games.felt import Shuffle, View
from tables.inputs import (
    AbandonTable,
    ForgiveCommission,
    Input,
    LockRack,
    RetireShoe,
    TakeBack,
    UnlockRack,
    VoidRound,
)
from tables.log import paper
from tables.log.entries.rounds import spelled, whom, words_of
from tables.log.fold import Standing
from tables.log.mishaps import REASONS
from tables.log.series import Series, offered
from tables.models import ShoeSource, Staff, Table
from tables.play import seat_pages
from tables.setup import house_terms
from tables.standing import at_all, head_of
from tables.voiding import void_since


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the pit may do at a table; confirmed on a page of its own."""

    name: str
    label: str
    done: str
    entered: Callable[[Mapping[str, str]], Input]
    """What is entered, from the form that confirms it."""
    owes: bool = False
    """Whether the form asks at which seat that owes commission, and why."""
    reasons: str = ""
    """The term of the house with the reasons that the form asks for, with a note."""
    noted: bool = False
    """Whether the form asks for a note alone."""
    second: str = ""
    """The term of the house with the roles of whoever else signs."""
    at_once: bool = False
    """Whether it is done whatever has happened at the table since the page was drawn."""

    @property
    def asks(self) -> list[tuple[str, str]]:
        """Its reasons, in words."""
        return [(name, REASONS[name]) for name in house_terms.words(self.reasons)] if self.reasons else []

    @property
    def seconds(self) -> tuple[str, ...]:
        """The roles of whoever else signs; none where one signature is enough."""
        return house_terms.words(self.second) if self.second else ()

    @property
    def second_says(self) -> str:
        return paper.either(self.seconds)


def _forgiven(form: Mapping[str, str]) -> Input:
    seat = form.get("owes", "")
    return ForgiveCommission(int(seat) if seat.isascii() and seat.isdecimal() else 0, form.get("reason", ""))


def _voided(form: Mapping[str, str]) -> Input:
    note, second = form.get("note", ""), form.get("second", "")
    return VoidRound(form.get("reason", ""), note, unknown="unknown" in form, second=second)


def _abandoned(form: Mapping[str, str]) -> Input:
    return AbandonTable(form.get("reason", ""), form.get("note", ""))


def _locked(form: Mapping[str, str]) -> Input:
    return LockRack(form.get("note", ""))


def _unlocked(form: Mapping[str, str]) -> Input:
    return UnlockRack(form.get("note", ""), form.get("second", ""))


ACTS: Final[Mapping[str, Act]] = {
    act.name: act
    for act in (
        Act("take-back", "Take back", ": the latest input is taken back", lambda form: TakeBack(reopens=True)),
        Act("retire-shoe", "Retire shoe", ": the shoe is retired", lambda form: RetireShoe()),
        Act("forgive-commission", "Forgive commission", ": the commission is forgiven", _forgiven, owes=True),
        Act("void-round", "Void round", ": the round is void", _voided, reasons="void_reasons",
            second="void_second_roles"),
        Act("abandon", "Abandon table", ": the table is abandoned", _abandoned, reasons="abandon_reasons",
            at_once=True),
        Act("lock-rack", "Lock rack", ": the rack is locked", _locked, noted=True, at_once=True),
        Act("unlock-rack", "Unlock rack", ": the rack is unlocked", _unlocked, noted=True,
            second="unlock_second_roles"),
    )
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """One table on the floor."""

    board: Board
    standing: Standing
    rack_cents: int | None
    """What the ledger says is in the rack; None on the screens of whoever may count it, while it is counted unseen."""
    rounds_today: int
    alerts: int
    alert: Alert | None
    acts: tuple[Act, ...]
    may_run: bool

    @property
    def table(self) -> Table:
        return self.board.table

    @property
    def title(self) -> str:
        """How its game is called."""
        return GAMES[self.table.game].title

    @property
    def paper(self) -> list[Series]:
        """The slips that the pit may begin here."""
        stands = {"is_open": self.standing.is_open, "round_open": self.standing.round_open}
        here = [series for series in offered("floor") if self.may_run and series.begins_at(**stands)]
        return here if self.standing.lock is None else [series for series in here if not series.opens_rack]

    @property
    def has_seat_pages(self) -> bool:
        """Whether the pit may hand the pages of seats over here."""
        return bool(self.acts) and self.standing.is_open and seat_pages.possible(self.table)

    @property
    def state(self) -> str:
        """What is going on, in a few words."""
        return _state(self.board)

    @property
    def marked(self) -> tuple[int, ...]:
        """Whose turn it is, or who is being paid, if anybody."""
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
    def change_cents(self) -> int | None:
        """The rack against the opening."""
        return None if self.rack_cents is None else self.rack_cents - self.standing.opening_rack_cents

    @property
    def rack_bar(self) -> meters.RackBar | None:
        """The same as a picture."""
        return None if self.rack_cents is None else meters.rack_bar(self.standing.opening_rack_cents, self.rack_cents)

    @property
    def shoe_bar(self) -> meters.ShoeBar | None:
        """How deep the shoe is dealt, as a picture."""
        shoe = self.board.shoe
        return meters.shoe_bar(shoe.size, shoe.cards_left, shoe.cut_at) if shoe else None

    @property
    def last_net_cents(self) -> int | None:
        """What the house won in the round that is over, or raked."""
        last = self.standing.round
        return last.house_net_cents if last and last.over else None


_STATES: Final = {
    "closed": "Closed",
    "count": "Rack is counted",
    "locked": "Rack is locked",
    "dealer": "Needs a dealer",
    "load": "Shoe to be loaded",
    "check": "Decks to be checked",
    "shuffle": "Shoe to be shuffled",
    "cut": "Cut card to be placed",
    "burn": "Cards to be burned",
    "relief": "Card to be burned at the relief",
    "retire": "Shoe to be retired",
    "bets": "Bets are open",
    "seats": "Between games",
    "reshuffle": "Discards to be shuffled",
}


def _state(drawn: Board) -> str:
    if drawn.due == "pay" and drawn.pay:
        return f"Paying seat {drawn.pay.seat}"
    if drawn.due in ("card", "deal", "choose"):
        acting = whom(_acting(drawn) or 0)
        return f"{acting.capitalize()} decides" if drawn.due == "choose" else f"Card for {acting}"
    return _STATES[drawn.due]


def _acting(drawn: Board) -> int | None:
    """Whose turn it is: a seat, the dealer (0), or nobody."""
    return 0 if drawn.dealer_acting else next((seat.seat for seat in drawn.seats if seat.acting), None)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is read of tables, whoever then looks at them."""

    boards: Sequence[Board]
    standings: Mapping[int, Standing]
    racks: Mapping[int, int]
    alerts: Mapping[int | None, Sequence[ShownAlert]]
    rounds_today: Mapping[int, int]


def read(tables: QuerySet[Table]) -> Facts:
    """What there is to see of tables; the number of queries does not depend on how many."""
    chosen = list(tables.select_related("book").prefetch_related("denominations"))
    standings = at_all([head_of(table) for table in chosen])
    stranger = Staff()  # nobody who watches the floor deals there
    boards = [board(table, stranger, standings[table.book_id]) for table in chosen]
    return Facts(boards, standings, _racks(list(standings)), _open_alerts(), _rounds_today(standings))


def seen(viewer: Staff, only: int | None = None) -> list[Seen]:
    """All tables that are on the floor, or one, as somebody may see them."""
    return seen_by(
        viewer, read(Table.objects.filter(retired_at=None) if only is None else Table.objects.filter(pk=only))
    )


def seen_by(viewer: Staff, facts: Facts) -> list[Seen]:
    """The same facts, as people of the viewer's role may see them."""
    return [_seen(viewer, drawn, facts) for drawn in facts.boards]


def _seen(viewer: Staff, drawn: Board, facts: Facts) -> Seen:
    book = drawn.table.book_id
    standing = facts.standings[book]
    own_alerts = [alert for alert in facts.alerts.get(book, ()) if alert.is_for(viewer.role)]
    may_run = viewer.has_perm("tables.run_floor")
    return Seen(
        board=drawn,
        standing=standing,
        rack_cents=None if counts(viewer, standing) else facts.racks.get(book, 0),
        rounds_today=facts.rounds_today[book],
        alerts=len(own_alerts),
        alert=own_alerts[0].alert if own_alerts else None,
        acts=_acts(standing) if may_run else (),
        may_run=may_run,
    )


def counts(viewer: Staff, standing: Standing) -> bool:
    """Whether a rack is being counted by people like the viewer: nobody who may take part is to know what is due."""
    counting = [slip.due for slip in standing.slips if slip.series.counts(RACK)]
    return any(stage is not None and viewer.role in stage.by for stage in counting)


def latest_of(standing: Standing) -> int:
    """The number of the latest round."""
    return standing.round.number if standing.round else 0


def _rounds_today(standings: Mapping[int, Standing]) -> dict[int, int]:
    """For each book, its rounds of this day; those that are void are none."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    latest = {book: latest_of(standing) for book, standing in standings.items()}
    firsts = round_list.first_since(latest, midnight)
    void = void_since(firsts, latest, {book: standings[book].seq for book in firsts})
    return {book: latest[book] - first + 1 - void[book] for book, first in firsts.items()}


def _racks(books: Sequence[int]) -> dict[int, int]:
    net = cage.net_effect(books)
    racks = Account.objects.filter(book__in=books, place=RACK).values_list("book_id", "pk")
    return {book: net.get(account, 0) for book, account in racks}


def _open_alerts() -> dict[int | None, list[ShownAlert]]:
    """For each book its open alerts, the newest first."""
    by_book: dict[int | None, list[ShownAlert]] = {}
    for shown_alert in open_now():
        by_book.setdefault(shown_alert.alert.book_id, []).append(shown_alert)
    return by_book


def _acts(standing: Standing) -> tuple[Act, ...]:
    """What the pit can do at a table as it stands. Whether it may is decided when it is entered."""
    if not standing.is_open:
        return ()
    is_locked = standing.lock is not None
    can = [ACTS["take-back"]] if _can_take_back(standing) and not is_locked else []
    if standing.round_open:
        can.append(ACTS["void-round"])
    else:
        can += [ACTS["retire-shoe"]] if standing.shoe else []
        can += [ACTS["forgive-commission"]] if standing.marks else []
    can.append(ACTS["unlock-rack" if is_locked else "lock-rack"])
    return (*can, ACTS["abandon"]) if standing.lock is None or not standing.lock.abandoned else tuple(can)


def _can_take_back(standing: Standing) -> bool:
    current, shoe = standing.round, standing.shoe
    if not (current and current.plays and shoe) or current.voided or current.first_seq < shoe.ready_seq:
        return False
    last = current.plays[-1]
    dealt_by_house = last.has_card and shoe.source == ShoeSource.HOUSE
    return not (dealt_by_house or any(isinstance(action, Shuffle) for action in last.actions))


@dataclass(frozen=True, slots=True)
class Strip:
    """The floor in one line."""

    open: int
    tables: int
    rounds_today: int
    racks_cents: int
    """What the racks of the open tables hold more than when they opened, but for those that are counted unseen."""
    alerts: int


def strip_of(tables: Sequence[Seen], alerts: int) -> Strip:
    """The floor's line from its tables."""
    return Strip(
        open=sum(card.standing.is_open for card in tables),
        tables=len(tables),
        rounds_today=sum(card.rounds_today for card in tables),
        racks_cents=sum(card.change_cents or 0 for card in tables if card.standing.is_open),
        alerts=alerts,
    )


def consequences(card: Seen, chosen: Act) -> list[str]:
    """What confirming will do, in sentences."""
    standing = card.standing
    if chosen.name == "retire-shoe":
        opened = standing.shoe is not None and standing.shoe.commitment is not None
        return [
            "The shoe leaves the table; a new one is loaded before the next round.",
            *(["The order that it was dealt from is opened in the log."] if opened else []),
        ]
    if chosen.reasons:
        return _ends(standing, chosen)
    if chosen.noted:
        return _locks(chosen)
    if chosen.owes:
        return [
            "The player will not pay what is marked: it stays out of the rack.",
            "Your name and the reason stay in the log, and an alert is raised.",
        ]
    if not (standing.round and standing.round.plays):
        return []
    last = standing.round.plays[-1]
    pack = pack_of(standing.round.opening.dealt)
    words = words_of(spelled(secrecy.latest(standing.round), pack))
    reversed_ = ["The round was settled by it: its transfers are reversed."] if standing.round.over else []
    return [f"Round {standing.round.number}, entry {last.seq} is taken back: “{words}”.", *reversed_,
            "The entry stays in the log; a correcting one that names you follows it."]  # fmt: skip


def _locks(chosen: Act) -> list[str]:
    """What a locked rack comes to, and an unlocked one."""
    if chosen.second:
        return ["The table goes on from where it was locked.", "Your name and the reason stay in the log."]
    return [
        "Nothing is dealt, paid, bought, filled or carried away until the rack is unlocked or the table is closed.",
        "A round that is open can be made void. Your name and the reason stay in the log; an alert is raised.",
    ]


def _ends(standing: Standing, chosen: Act) -> list[str]:
    """What a void round and an abandoned table come to."""
    number = standing.round.number if standing.round and standing.round_open else None
    void = [
        f"Round {number} ends without a result: every bet goes back, and what was paid in it is reversed."
    ] if number else []  # fmt: skip
    if not chosen.at_once:
        return [*void, "Its cards are out of the shoe. Your name and the reason stay in the log; an alert is raised."]
    return [
        *void,
        "The rack is locked, the shoe retired, the dealer signed out; chips stay where they are.",
        "Afterwards the table is closed by its closer; or the rack is unlocked, and a dealer loads a new shoe.",
    ]
