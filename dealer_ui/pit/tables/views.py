"""The pit: the whole floor live, the rounds and the log of one table, and one round step by step.

Reading needs ``watch_floor``; opening, closing and taking back need ``run_floor``. An auditor sees everything here and
changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from urllib.parse import urlencode
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from dealer_ui import acknowledgement, dates, signatures
from dealer_ui.charts.rounds import wins
from dealer_ui.entry_forms import render_form
from dealer_ui.guards import runs, viewer_of, watches
from dealer_ui.numbers import number
from dealer_ui.pieces import in_rack
from dealer_ui.pit.alerts.inbox import count_for, open_now, panel
from dealer_ui.pit.floor import arrangement, assignments
from dealer_ui.pit.floor.actions import ACTS, Act, ActForm, consequences
from dealer_ui.pit.floor.arrangement import Arrangement
from dealer_ui.pit.floor.cards import Seen, head_of, latest_of, seen, strip_of
from dealer_ui.pit.tables.limits_in_force import limits_in_force
from dealer_ui.pit.tables.table_limits import next_changes
from dealer_ui.replica_pages import reads_replica
from tables.alerts import bookmarks
from tables.audit import day_seals, round_list, round_steps, watch
from tables.audit.downloads import TableQuery
from tables.audit.round_list import RoundFilter
from tables.board import pays
from tables.board.shoe_hands import HAS_ROADS
from tables.cage import site_back_entry
from tables.disputes import cases, correction_records
from tables.floor import recorder
from tables.games.catalog import GAMES
from tables.limits import placard_address
from tables.log.terms import usual_hold_of
from tables.models import Table, Verification
from tables.refusals import Refused
from tables.reports import cash_shifts, entry_list
from tables.setup import pit_assignments as held_posts
from tables.state import table_state

SUBJECTS: Final = ("round", "seats", "shoe", "dealer", "table", "chips", "commission", "correction", "dispute", "alert")
OUTCOMES: Final = frozenset(outcome for game in GAMES.values() for outcome in game.outcomes)


# --- The floor -------------------------------------------------------------------------------------------------


KEPT: Final = "floor"
"""Where a session keeps what its person chose to see of the floor."""


def _floor(request: HttpRequest) -> dict[str, Any]:
    viewer, alerts, chosen = viewer_of(request), open_now(), _arrangement(request)
    tables = seen(viewer)
    floor = {
        "tables": tables,
        "strip": strip_of(tables, count_for(viewer, alerts)),
        "chosen": chosen,
        "groups": arrangement.arranged(tables, chosen),
        "orders": arrangement.ORDERS,
        "states": arrangement.STATES,
        "places": [*([held_posts.YOURS] if chosen.own else []), *arrangement.places(tables)],
        "games": arrangement.games(tables),
    }
    beside = {"root": day_seals.newest_root(), "owed": cash_shifts.owed(timezone.now())}
    return floor | beside | panel(viewer, alerts)


def _arrangement(request: HttpRequest) -> Arrangement:
    """The arrangement from the address; without one the user's latest, and at first their own pits."""
    own = held_posts.bounds(viewer_of(request))
    if not request.GET:
        return Arrangement.read(request.session.get(KEPT, {"place": held_posts.YOURS} if own else {}), own)
    chosen = Arrangement.read(request.GET.dict(), own)
    if chosen.kept != request.session.get(KEPT, {}):
        request.session[KEPT] = chosen.kept
    return chosen


@watches
@require_GET
def floor(request: HttpRequest) -> HttpResponse:
    """Every table, live."""
    watch.is_kept()  # an alert, if not, before the alerts are read
    return render(request, "dealer_ui/pit/floor.html", _floor(request))


def _one(request: HttpRequest, pk: int) -> Seen:
    tables = seen(viewer_of(request), pk)
    if not tables:
        raise Http404("There is no such table.")
    return tables[0]


@watches
@require_GET
def table_drawer(request: HttpRequest, pk: int) -> HttpResponse:
    """The tasks of a table, and all actions there."""
    card = _one(request, pk)
    context = {"seen": card, "elsewhere": assignments.elsewhere(viewer_of(request), card)}
    return render(request, "dealer_ui/pit/more.html", context)


# --- One table -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """Which rounds a page shows: those up to a number or a day, and only the wanted ones."""

    through: int
    wanted: RoundFilter
    day: date | None
    latest: int

    @property
    def newest(self) -> bool:
        """Whether the page begins with the latest round, so that it has to follow the table."""
        return self.through == self.latest


def _filter(query: QueryDict, book_id: int, latest: int) -> Filter:
    """The filter from a query string; invalid values are ignored."""
    outcome = query.get("outcome") if query.get("outcome") in OUTCOMES else None
    filters = RoundFilter(outcome, _number(query, "seat"), query.get("corrected") == "on")
    through, day = _number(query, "through"), dates.day(query.get("day"))
    if through is None and day is not None:
        through = round_list.first_since({book_id: latest}, _end_of(day))[book_id] - 1
    return Filter(min(latest if through is None else through, latest), filters, day, latest)


def _end_of(day: date) -> datetime:
    """The midnight after a day, in the site's time zone."""
    return timezone.make_aware(datetime.combine(day + timedelta(days=1), time.min))


def _number(query: QueryDict, name: str) -> int | None:
    return number(query.get(name))


def _rounds(request: HttpRequest, table: Table, latest: int) -> dict[str, Any]:
    shown = _filter(request.GET, table.book_id, latest)
    if shown.wanted:
        page = round_list.search(table, shown.wanted, through=shown.through)
    else:
        page = round_list.rounds(table.book_id, through=shown.through)
    query = request.GET.copy()
    for name in ("through", "day"):
        query.pop(name, None)
    return {
        "table": table,
        "seq": table.book.head_seq,
        "page": page,
        "filter": shown,
        "chart": wins(page.lines),
        "asked": query.urlencode(),
        "outcomes": GAMES[table.game].outcomes,
        "seats": range(1, table.seats + 1),
    }


@watches
@require_GET
def table(request: HttpRequest, pk: int) -> HttpResponse:
    """One table: as it is now, and its rounds."""
    acknowledgement.heed(request, get_object_or_404(Table.objects.select_related("book"), pk=pk), viewer_of(request))
    card = _one(request, pk)
    response = render(
        request,
        "dealer_ui/pit/table.html",
        {
            "seen": card,
            "elsewhere": assignments.elsewhere(viewer_of(request), card),
            "proof": _proof(card.table),
            "placard": placard_address.of_table(card.table),
            "pit_placard": placard_address.of_pit(card.place.pit) if card.place.pit else "",
            "has_roads": card.table.game in HAS_ROADS,
            "pays": pays.pays_at(card.table),
            "hold_permille": round(card.win_cents * 1000 / card.drop_cents)
            if card.win_cents and card.drop_cents
            else None,
            "usual_hold": usual_hold_of(card.table),
            "next": next_changes(card.table, viewer_of(request)),
            "in_force": limits_in_force(card.table, viewer_of(request), card.standing),
            "pieces": None if card.win_cents is None else in_rack(card.table, is_live=card.rack_cents is not None),
        }
        | _rounds(request, card.table, latest_of(card.standing)),
    )
    acknowledgement.keep(request, response, card.table, card.standing)
    return response


@watches
@require_GET
def rounds(request: HttpRequest, pk: int) -> HttpResponse:
    """The list of a table's rounds alone, for a page that has the rest already."""
    table, latest = _table(pk)
    return render(request, "dealer_ui/pit/_rounds.html", _rounds(request, table, latest))


def rounds_query(request: HttpRequest, pk: int) -> TableQuery:
    """The rounds of a table as CSV, from the newest of the filter to the first."""
    table, latest = _table(pk)
    shown = _filter(request.GET, table.book_id, latest)
    return TableQuery(table, _slug(table), shown.through, shown.wanted)


@reads_replica
@require_GET
def log(request: HttpRequest, pk: int) -> HttpResponse:
    """Its log, the newest entry first."""
    table, _ = _table(pk)
    subject = _subject(request)
    page = entry_list.entries(table.book_id, before=_number(request.GET, "before"), subject=subject)
    context = {
        "table": table,
        "entries": list(zip(page, entry_list.in_words(table.book_id, page), strict=True)),
        "older": page[-1].seq if len(page) == entry_list.PAGE and page[-1].seq > 1 else None,
        "paged": "before" in request.GET,
        "subject": subject,
        "subjects": SUBJECTS,
        "proof": _proof(table),
    }
    return render(request, "dealer_ui/pit/log.html", context)


def log_query(request: HttpRequest, pk: int) -> TableQuery:
    """The entries that the file lists."""
    table, _ = _table(pk)
    return TableQuery(table, _slug(table), subject=_subject(request))


def _subject(request: HttpRequest) -> str:
    subject = request.GET.get("subject", "")
    return subject if subject in SUBJECTS else ""


def _table(pk: int) -> tuple[Table, int]:
    """A table, and the number of its latest round."""
    table = get_object_or_404(Table.objects.select_related("book").prefetch_related("denominations"), pk=pk)
    return table, latest_of(table_state.at(head_of(table)))


def _proof(table: Table) -> Verification | None:
    """The latest verification of the table's log; None before the first."""
    return Verification.objects.filter(book=table.book_id).order_by("-through_seq").first()


def _slug(table: Table) -> str:
    """A table's name for a file."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in table.name.lower())


# --- One round -------------------------------------------------------------------------------------------------


def round_or_404(pk: int, number: int) -> tuple[Table, int, round_steps.Story]:
    table, latest = _table(pk)
    story = round_steps.story(table, number) if number <= latest else None
    if story is None:
        raise Http404("This round was not dealt.")
    return table, latest, story


def _step_at(story: round_steps.Story, moment: datetime | None) -> int | None:
    """The step of a round that is nearest to a moment, counted from 1."""
    if moment is None:
        return None
    apart = [abs((step.entry.at or moment) - moment) for step in story.steps]
    return apart.index(min(apart)) + 1


@watches
@require_GET
def nearest_entry(request: HttpRequest, pk: int) -> HttpResponse:
    """The round and the entry that are nearest to a moment: an address that a camera's time leads to."""
    table, _ = _table(pk)
    moment = dates.moment(request.GET.get("t"))
    if moment is None:
        raise Http404("Ask for a moment as 2026-01-31T21:30:05Z, in t.")
    nearest = bookmarks.nearest(table.book_id, moment)
    if nearest is None:
        raise Http404("Nothing was entered at this table yet.")
    if nearest.round is None:
        return redirect(f"{reverse('pit:log', args=[pk])}?before={nearest.seq + 1}#entry-{nearest.seq}")
    query = urlencode({"t": dates.spelled(moment)})
    return redirect(f"{reverse('pit:round', args=[pk, nearest.round])}?{query}#entry-{nearest.seq}")


@watches
@require_GET
def round_detail(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One round: every input, the layout after it, and what it came to."""
    table, latest, story = round_or_404(pk, number)
    query = _number(request.GET, "step") or _step_at(story, dates.moment(request.GET.get("t")))
    place = min(max((query or len(story.steps)) - 1, 0), len(story.steps) - 1)
    context = {
        "may_bookmark": viewer_of(request).has_perm("tables.bookmark"),
        "table": table,
        "told": story,
        "line": story.line,
        "step": story.steps[place],
        "at": place + 1,
        "before": place or None,
        "after": place + 2 if place + 1 < len(story.steps) else None,
        "last": len(story.steps),
    }
    if "playback" in request.GET:
        return render(request, "dealer_ui/pit/_playback.html", context)
    context |= {
        "report": round_steps.prove(table, story),
        "older": number - 1 or None,
        "newer": number + 1 if number < latest else None,
        "moved": [(step, moved) for step in story.steps for moved in step.moved],
        "file": f"{_slug(table)}-round-{number}.json",
        "paper": site_back_entry.of_round(table.book_id, number),
        "cases": cases.cases(table.book_id, number),
        "made": correction_records.of(table.book_id, number),
        "may_run": viewer_of(request).has_perm("tables.run_floor"),
    }
    return render(request, "dealer_ui/pit/round.html", context)


@watches
@reads_replica
@require_GET
def record(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """A round as a round record, for anyone to replay."""
    table, _, story = round_or_404(pk, number)
    if story.sealed:
        raise Http404("Players hold facedown cards: the record of this game opens when it is over.")
    if story.record is None:
        raise Http404("This round cannot be played again from the log.")
    document = site_back_entry.in_record(story.record, site_back_entry.of_round(table.book_id, number))
    answer = JsonResponse(document, json_dumps_params={"indent": 1})
    answer["Content-Disposition"] = f'attachment; filename="{_slug(table)}-round-{number}.json"'
    return answer


def steps_query(request: HttpRequest, pk: int, number: int) -> tuple[str, round_steps.Story]:
    """The name of the file of a round's inputs and transfers, and the round."""
    table, _, story = round_or_404(pk, number)
    return f"{_slug(table)}-round-{number}", story


# --- Running the floor -----------------------------------------------------------------------------------------


@runs
@require_http_methods(["GET", "POST"])
def act(request: HttpRequest, pk: int, name: str) -> HttpResponse:
    """An action of the pit at a table: first a page with its consequences, then its execution."""
    chosen = ACTS.get(name)
    if chosen is None:
        raise Http404("There is no such thing to do.")
    form, refused = ActForm(request.POST), None
    if request.method == "POST":
        try:
            _enter(request, get_object_or_404(Table, pk=pk), chosen, form)
            return redirect("pit:floor")
        except Refused as refusal:
            refused = refusal
    card = _one(request, pk)
    context = {
        "seen": card,
        "act": chosen,
        "says": consequences(card.standing, chosen),
        "key": uuid4(),
        "elsewhere": assignments.elsewhere(viewer_of(request), card),
        "possible": chosen in card.acts,
        "typed": form.data,
    }
    return render_form(request, "dealer_ui/pit/act.html", context, refused)


def _enter(request: HttpRequest, table: Table, chosen: Act, form: ActForm) -> None:
    """Record the action. Raises Refused, also for an incomplete form."""
    values = form.values() | {"second": signatures.second(request, chosen.seconds)}
    since = None if chosen.at_once else values["seq"]
    recorder.record(table, chosen.entered(values), by=viewer_of(request), key=values["key"], expected_seq=since)
    messages.success(
        request, f"{table.name}{'' if chosen.done.startswith(':') else ' '}{chosen.done}.", extra_tags=chosen.name
    )
