"""The pit: the whole floor live, one table's rounds and log, one round step by step. Reading needs ``watch_floor``,
opening, closing and taking back need ``run_floor``: an auditor sees everything here and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

import msgspec
from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.db.models import Count, Max
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui import charts, exports
from ledger import alerts as ledger_alerts
from ledger import cage
from ledger.chips import RACK, money
from ledger.models import Account, Alert
from ledger.surveillance import Head
from tables import dealing, history, standing
from tables.board import Board, board
from tables.games.felt import Shuffle
from tables.history import Wanted
from tables.inputs import CloseTable, Input, OpenTable, RetireShoe, TakeBack
from tables.models import ShoeSource, Staff, Table, Verification
from tables.refusals import Refused
from tables.standing import Standing
from tables.telling import tell, whom

View = Callable[..., HttpResponseBase]

SUBJECTS: Final = ("round", "shoe", "dealer", "table", "chips", "alert")
OUTCOMES: Final = ("pair", "fold", "dealer_pair", "death_card", "push")
ALERTS_SHOWN: Final = 20
ALERTS_PAGE: Final = 50


def watches(view: View) -> View:
    """For those who may watch the floor; others are refused, the unknown are asked to sign in."""
    return login_required(permission_required("tables.watch_floor", raise_exception=True)(view))


def runs(view: View) -> View:
    """For those who run the floor."""
    return login_required(permission_required("tables.run_floor", raise_exception=True)(view))


# --- Tables as the pit sees them -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the pit may do at a table; confirmed on a page of its own."""

    name: str
    label: str
    entered: Input
    done: str


ACTS: Final[Mapping[str, Act]] = {
    act.name: act
    for act in (
        Act("open", "Open table", OpenTable(), "is open"),
        Act("close", "Close table", CloseTable(), "is closed"),
        Act("take-back", "Take back", TakeBack(), ": the latest input is taken back"),
        Act("retire-shoe", "Retire shoe", RetireShoe(), ": the shoe is retired"),
    )
}


@dataclass(frozen=True, slots=True)
class Seen:
    """One table on the floor."""

    board: Board
    now: Standing
    rack_cents: int
    rounds_today: int
    alerts: int
    alert: Alert | None
    acts: tuple[Act, ...]

    @property
    def table(self) -> Table:
        """The table itself."""
        return self.board.table

    @property
    def title(self) -> str:
        """How its game is called."""
        return history.games()[self.table.game]

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
    def over(self) -> bool:
        """Whether the round on the layout is decided, though seats may still be paid."""
        return self.now.round is not None and self.now.round.over

    @property
    def change_cents(self) -> int:
        """The rack against the opening."""
        return self.rack_cents - self.now.opening_rack_cents

    @property
    def rack_bar(self) -> charts.RackBar:
        """The same as a picture."""
        return charts.rack_bar(self.now.opening_rack_cents, self.rack_cents)

    @property
    def shoe_bar(self) -> charts.ShoeBar | None:
        """How deep the shoe is dealt, as a picture."""
        shoe = self.board.shoe
        return charts.shoe_bar(shoe.size, shoe.cards_left, shoe.cut_at) if shoe else None

    @property
    def last_net_cents(self) -> int | None:
        """What the house won in the round that is over."""
        last = self.now.round
        return -sum(one.net_cents for one in last.game.settle(last.state)) if last and last.over else None


_STATES: Final = {
    "closed": "Closed",
    "dealer": "Needs a dealer",
    "load": "Shoe to be loaded",
    "check": "Decks to be checked",
    "shuffle": "Shoe to be shuffled",
    "cut": "Cut card to be placed",
    "burn": "Cards to be burned",
    "retire": "Shoe to be retired",
    "bets": "Bets are open",
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


def seen(viewer: Staff, only: int | None = None) -> list[Seen]:
    """All tables, or one; the number of queries does not depend on how many."""
    query = Table.objects.select_related("book").prefetch_related("denominations")
    tables = list(query if only is None else query.filter(pk=only))
    standings = standing.at_all([_head(one) for one in tables])
    racks, alerts = _racks(list(standings)), _open_alerts()
    first_today = _first_today(standings)
    found = []
    for table in tables:
        now = standings[table.book_id]
        count, latest = alerts.get(table.book_id, (0, None))
        today = _latest(now) - first_today[table.book_id] + 1
        acts = _acts(now) if viewer.has_perm("tables.run_floor") else ()
        found.append(Seen(board(table, viewer, now), now, racks.get(table.book_id, 0), today, count, latest, acts))
    return found


def _head(table: Table) -> Head:
    """Where a table's log ended when its row was read."""
    book = table.book
    return Head(book.pk, book.name, book.head_seq, bytes(book.head_hash) if book.head_hash else None)


def _latest(now: Standing) -> int:
    """The number of the latest round."""
    return now.round.number if now.round else 0


def _first_today(standings: Mapping[int, Standing]) -> dict[int, int]:
    """For each book, the first round of this day."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    return history.first_since({book: _latest(now) for book, now in standings.items()}, midnight)


def _racks(books: Sequence[int]) -> dict[int, int]:
    net = cage.net_effect(books)
    racks = Account.objects.filter(book__in=books, place=RACK).values_list("book_id", "pk")
    return {book: net.get(account, 0) for book, account in racks}


def _open_alerts() -> dict[int | None, tuple[int, Alert]]:
    """For each book: how many alerts are open, and the latest of them."""
    counted = list(
        Alert.objects.filter(acknowledgement=None).order_by().values_list("book_id").annotate(Count("pk"), Max("pk"))
    )
    latest = Alert.objects.in_bulk([pk for _, _, pk in counted])
    return {book: (count, latest[pk]) for book, count, pk in counted}


def _acts(now: Standing) -> tuple[Act, ...]:
    """What the pit can do at a table as it stands. Whether it may is decided when it is entered."""
    if not now.is_open:
        return (ACTS["open"],)
    can = [ACTS["take-back"]] if _can_take_back(now) else []
    if not now.round_open:
        can += [ACTS["retire-shoe"]] if now.shoe else []
        can.append(ACTS["close"])
    return tuple(can)


def _can_take_back(now: Standing) -> bool:
    current, shoe = now.round, now.shoe
    if not (current and current.plays and shoe) or current.first_seq < shoe.ready_seq:
        return False
    last = current.plays[-1]
    dealt_by_house = last.has_card and shoe.source == ShoeSource.HOUSE
    return not (dealt_by_house or any(isinstance(action, Shuffle) for action in last.actions))


# --- The floor -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Strip:
    """The floor in one line."""

    open: int
    tables: int
    rounds_today: int
    racks_cents: int
    """What the racks of the open tables hold more than when they opened."""
    alerts: int


def strip_of(tables: Sequence[Seen], alerts: int) -> Strip:
    """The floor's line from its tables."""
    return Strip(
        open=sum(one.now.is_open for one in tables),
        tables=len(tables),
        rounds_today=sum(one.rounds_today for one in tables),
        racks_cents=sum(one.change_cents for one in tables if one.now.is_open),
        alerts=alerts,
    )


def _floor(request: HttpRequest) -> dict[str, Any]:
    tables = seen(_viewer(request))
    return {"tables": tables, "strip": strip_of(tables, ledger_alerts.open_alerts().count())} | _open_alerts_of(request)


def _open_alerts_of(request: HttpRequest) -> dict[str, Any]:
    """What the panel of open alerts shows."""
    return {
        "alerts": ledger_alerts.open_alerts().select_related("acknowledgement")[:ALERTS_SHOWN],
        "most": ALERTS_SHOWN,
        "may_acknowledge": _viewer(request).has_perm("ledger.acknowledge_alert"),
    }


@watches
@require_GET
def floor(request: HttpRequest) -> HttpResponse:
    """Every table, live."""
    return render(request, "dealer_ui/pit/floor.html", _floor(request))


@watches
@require_GET
def strip(request: HttpRequest) -> HttpResponse:
    """The floor's line alone."""
    return render(request, "dealer_ui/pit/_strip.html", _floor(request))


@watches
@require_GET
def card(request: HttpRequest, pk: int) -> HttpResponse:
    """One table alone."""
    return render(request, "dealer_ui/pit/_card.html", {"seen": _one(request, pk)})


def _viewer(request: HttpRequest) -> Staff:
    assert isinstance(request.user, Staff)  # noqa: S101 -- the views are behind sign-in
    return request.user


def _one(request: HttpRequest, pk: int) -> Seen:
    found = seen(_viewer(request), pk)
    if not found:
        raise Http404("There is no such table.")
    return found[0]


# --- Alerts ----------------------------------------------------------------------------------------------------


@watches
@require_GET
def alerts(request: HttpRequest) -> HttpResponse:
    """Every alert there ever was, the newest first."""
    page = list(_alerts(_number(request.GET, "before"), ALERTS_PAGE + 1))
    shown = page[:ALERTS_PAGE]
    older = shown[-1].pk if len(page) > ALERTS_PAGE else None
    may = _viewer(request).has_perm("ledger.acknowledge_alert")
    return render(request, "dealer_ui/pit/alerts.html", {"alerts": shown, "older": older, "may_acknowledge": may})


def _alerts(before: int | None, count: int) -> Iterable[Alert]:
    found = Alert.objects.select_related("book", "acknowledgement").order_by("-pk")
    return found.filter(pk__lt=before)[:count] if before else found[:count]


@watches
@require_GET
def alert_panel(request: HttpRequest) -> HttpResponse:
    """The open alerts alone, as the floor shows them."""
    return render(request, "dealer_ui/pit/_alerts.html", _open_alerts_of(request))


@login_required
@permission_required("ledger.acknowledge_alert", raise_exception=True)
@require_POST
def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    """Take note of an alert, by name and with a word about it."""
    alert = get_object_or_404(Alert, pk=pk)
    note = request.POST.get("note", "").strip()
    if not note:
        messages.error(request, "Say in a few words what the alert came to, then acknowledge it.")
    else:
        try:
            ledger_alerts.acknowledge(alert, _viewer(request).signature, note)
            messages.success(request, f"Acknowledged: {alert.message}")
        except ledger_alerts.AlreadyAcknowledged:
            messages.error(request, "Somebody else acknowledged this alert before you.")
    return redirect("pit:alerts" if request.POST.get("back") == "alerts" else "pit:floor")


@watches
@require_GET
def alerts_csv(request: HttpRequest) -> HttpResponseBase:
    """Every alert as CSV."""
    return exports.answer("alerts", exports.ALERT_HEADER, exports.alert_pages(_alerts))


# --- One table -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rounds a page shows: those up to a number or a day, and only the wanted ones."""

    through: int
    wanted: Wanted
    day: date | None
    latest: int

    @property
    def newest(self) -> bool:
        """Whether the page begins with the latest round, so that it has to follow the table."""
        return self.through == self.latest


def _filter(query: QueryDict, book_id: int, latest: int) -> Filter:
    """What the query asks for; nonsense in it asks for nothing."""
    outcome = query.get("outcome") if query.get("outcome") in OUTCOMES else None
    wanted = Wanted(outcome, _number(query, "seat"), query.get("corrected") == "on")
    through, day = _number(query, "through"), _day(query.get("day", ""))
    if through is None and day is not None:
        through = history.first_since({book_id: latest}, _end_of(day))[book_id] - 1
    return Filter(min(latest if through is None else through, latest), wanted, day, latest)


def _day(text: str) -> date | None:
    """A day as a date field sends it; only days that a table can have seen."""
    try:
        day = parse_date(text)
    except ValueError:
        return None
    return day if day is not None and 2000 <= day.year <= 2999 else None


def _end_of(day: date) -> datetime:
    """The midnight after a day, as the house keeps its time."""
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))


def _number(query: QueryDict, name: str) -> int | None:
    text = query.get(name, "")
    return min(int(text), 2**31 - 1) if text.isdecimal() else None


def _rounds(request: HttpRequest, table: Table, latest: int) -> dict[str, Any]:
    shown = _filter(request.GET, table.book_id, latest)
    if shown.wanted:
        page = history.search(table.book_id, shown.wanted, through=shown.through)
    else:
        page = history.rounds(table.book_id, through=shown.through)
    asked = request.GET.copy()
    for name in ("through", "day"):
        asked.pop(name, None)
    return {
        "table": table,
        "seq": table.book.head_seq,
        "page": page,
        "filter": shown,
        "chart": charts.net_chart(page.lines),
        "asked": asked.urlencode(),
        "outcomes": OUTCOMES,
        "seats": range(1, table.seats + 1),
    }


@watches
@require_GET
def table(request: HttpRequest, pk: int) -> HttpResponse:
    """One table: as it is now, and its rounds."""
    found = _one(request, pk)
    return render(
        request,
        "dealer_ui/pit/table.html",
        {"seen": found, "proof": _proof(found.table)} | _rounds(request, found.table, _latest(found.now)),
    )


@watches
@require_GET
def rounds(request: HttpRequest, pk: int) -> HttpResponse:
    """Its rounds alone."""
    found, latest = _table(pk)
    return render(request, "dealer_ui/pit/_rounds.html", _rounds(request, found, latest))


@watches
@require_GET
def rounds_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Its rounds as CSV, from the newest asked for down to the first."""
    found, latest = _table(pk)
    shown = _filter(request.GET, found.book_id, latest)
    pages = exports.round_pages(found.book_id, shown.through, shown.wanted)
    return exports.answer(f"{_slug(found)}-rounds", exports.ROUND_HEADER, pages)


@watches
@require_GET
def log(request: HttpRequest, pk: int) -> HttpResponse:
    """Its log, the newest entry first."""
    found, _ = _table(pk)
    subject = request.GET.get("subject", "") if request.GET.get("subject") in SUBJECTS else ""
    page = history.log(found.book_id, before=_number(request.GET, "before"), subject=subject)
    context = {
        "table": found,
        "entries": [(entry, history.words_of(entry)) for entry in page],
        "older": page[-1].seq if len(page) == history.LOG_PAGE and page[-1].seq > 1 else None,
        "paged": "before" in request.GET,
        "subject": subject,
        "subjects": SUBJECTS,
        "proof": _proof(found),
    }
    return render(request, "dealer_ui/pit/log.html", context)


@watches
@require_GET
def log_csv(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Its log as CSV."""
    found, _ = _table(pk)
    subject = request.GET.get("subject", "") if request.GET.get("subject") in SUBJECTS else ""
    return exports.answer(f"{_slug(found)}-log", exports.LOG_HEADER, exports.log_pages(found.book_id, subject))


def _table(pk: int) -> tuple[Table, int]:
    """A table, and the number of its latest round."""
    found = get_object_or_404(Table.objects.select_related("book").prefetch_related("denominations"), pk=pk)
    return found, _latest(standing.at(_head(found)))


def _proof(table: Table) -> Verification | None:
    """How far the table's log was proved last."""
    return Verification.objects.filter(book=table.book_id).order_by("-through_seq").first()


def _slug(table: Table) -> str:
    """A table's name for a file."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in table.name.lower())


# --- One round -------------------------------------------------------------------------------------------------


def _story(pk: int, number: int) -> tuple[Table, int, history.Story]:
    found, latest = _table(pk)
    told = history.story(found, number) if number <= latest else None
    if told is None:
        raise Http404("This round was not dealt.")
    return found, latest, told


@watches
@require_GET
def round_(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One round: every input, the layout after it, and what it came to."""
    found, latest, told = _story(pk, number)
    asked = _number(request.GET, "step")
    at = min(max((asked or len(told.steps)) - 1, 0), len(told.steps) - 1)
    context = {
        "table": found,
        "told": told,
        "line": told.line,
        "step": told.steps[at],
        "at": at + 1,
        "before": at or None,
        "after": at + 2 if at + 1 < len(told.steps) else None,
        "last": len(told.steps),
    }
    if "playback" in request.GET:
        return render(request, "dealer_ui/pit/_playback.html", context)
    context |= {
        "report": history.prove(found, told),
        "older": number - 1 or None,
        "newer": number + 1 if number < latest else None,
        "moved": [(step, moved) for step in told.steps for moved in step.moved],
        "file": f"{_slug(found)}-round-{number}.json",
    }
    return render(request, "dealer_ui/pit/round.html", context)


@watches
@require_GET
def record(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """A round as a round record, for anyone to replay."""
    found, _, told = _story(pk, number)
    if told.record is None:
        raise Http404("This round cannot be played again from the log.")
    answer = JsonResponse(told.record, json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="{_slug(found)}-round-{number}.json"'
    return answer


@watches
@require_GET
def steps_csv(request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
    """A round's inputs and transfers as CSV."""
    found, _, told = _story(pk, number)
    return exports.answer(f"{_slug(found)}-round-{number}", exports.STEP_HEADER, exports.step_rows(told))


# --- Running the floor -----------------------------------------------------------------------------------------


@runs
@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """Something that the pit does at a table: first a page that says what will happen, then the deed."""
    chosen = ACTS.get(name)
    if chosen is None:
        raise Http404("There is no such thing to do.")
    refused = None
    if request.method == "POST":
        try:
            _enter(request, get_object_or_404(Table, pk=pk), chosen)
            return redirect("pit:floor")
        except Refused as refusal:
            refused = refusal
    found = _one(request, pk)
    context = {
        "seen": found,
        "act": chosen,
        "says": _consequences(found, chosen),
        "key": uuid4(),
        "refused": refused,
        "possible": chosen in found.acts,
    }
    return render(request, "dealer_ui/pit/act.html", context, status=refused.status if refused else 200)


def _enter(request: HttpRequest, table: Table, chosen: Act) -> None:
    """Record the deed; raises Refused, also for a form that is not ours."""
    try:
        key, seq = UUID(request.POST.get("key", "")), int(request.POST.get("seq", ""))
    except ValueError:
        raise Refused("bad_form", "This form was incomplete: look at the table, then confirm again.", 400) from None
    dealing.record(table, chosen.entered, by=_viewer(request), key=key, expected_seq=seq)
    messages.success(request, f"{table.name}{'' if chosen.done.startswith(':') else ' '}{chosen.done}.")


def _consequences(found: Seen, chosen: Act) -> list[str]:
    """What confirming will do, in sentences."""
    now, rack = found.now, money(found.rack_cents)
    if chosen.name == "open":
        return [f"The table opens with the {rack} that the ledger has in its rack.", "A dealer can sign in."]
    if chosen.name == "close":
        tapped = [f"{now.dealer.name} is tapped out."] if now.dealer else []
        return [f"The table closes with {rack} in its rack.", *tapped]
    if chosen.name == "retire-shoe":
        opened = now.shoe is not None and now.shoe.commitment is not None
        return [
            "The shoe leaves the table; a new one is loaded before the next round.",
            *(["The order that it was dealt from is opened in the log."] if opened else []),
        ]
    if not (now.round and now.round.plays):
        return []
    last = now.round.plays[-1]
    words = tell("round", "play", {"actions": msgspec.to_builtins(last.actions)})
    reversed_ = ["The round was settled by it: its transfers are reversed."] if now.round.over else []
    return [f"Round {now.round.number}, entry {last.seq} is taken back: “{words}”.", *reversed_,
            "The entry stays in the log; a correcting one that names you follows it."]  # fmt: skip
