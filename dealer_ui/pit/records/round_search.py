"""The search of rounds by what a patron's complaint names: time, table or game, seat, dealer and amount."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import dates
from dealer_ui.entry_forms import TypedMomentField
from dealer_ui.guards import watches
from dealer_ui.numbers import cents
from dealer_ui.replica_pages import reads_replica
from ledger.proof.chips import money
from tables.audit import round_search
from tables.audit.round_search import ResultPage, Sought
from tables.games.catalog import GAMES
from tables.log.game_kinds import kind_of
from tables.log.moments import YEARS
from tables.models import Table
from tables.reports import gaming_hours
from tables.setup.pits import natural

SPAN: Final = timedelta(hours=24)
"""The length of the span if the form does not name both ends."""
MOST_AMOUNTS: Final = 4
FIELD_FORMAT: Final = "%Y-%m-%dT%H:%M"
"""As browsers write the value of a field for date and time."""


# --- The form --------------------------------------------------------------------------------------------------


def _moment(label: str) -> TypedMomentField:
    """Date and time by the casino's clock."""
    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "class": "input"}, format=FIELD_FORMAT)
    messages = {"invalid": f"Not a date and time {YEARS}. Write it as 2026-11-22 14:30."}
    return TypedMomentField(label=label, required=False, widget=widget, error_messages=messages)


class AmountsField(forms.CharField):
    """Amounts of money, separated by spaces, in cents."""

    def clean(self, value: str | None) -> tuple[int, ...]:
        """Raises ValidationError for text that is not an amount, and for too many amounts."""
        parts = super().clean(value).split()
        amounts = [cents(part) for part in parts]
        if len(parts) > MOST_AMOUNTS or any(amount is None for amount in amounts):
            raise forms.ValidationError(f"Write up to {MOST_AMOUNTS} amounts in digits, such as 20, 2.50 or 1,000.")
        return tuple(abs(amount) for amount in amounts if amount is not None)


def _text(**attrs: Any) -> forms.TextInput:
    return forms.TextInput(attrs={"class": "input", "autocomplete": "off", **attrs})


class RoundSearchForm(forms.Form):
    """The criteria of a search."""

    use_required_attribute = False
    since = _moment("From")
    until = _moment("To")
    place = forms.ChoiceField(label="Table or game", required=False, widget=forms.Select(attrs={"class": "input"}))
    seat = forms.IntegerField(required=False, min_value=1, widget=_text(inputmode="numeric"))
    dealer = forms.CharField(required=False, max_length=100, widget=_text(placeholder="badge or name"))
    amount = AmountsField(
        label="Amount bet, due or paid", required=False, max_length=80, widget=_text(inputmode="decimal")
    )

    def __init__(self, data: Mapping[str, str], tables: Sequence[Table]) -> None:
        super().__init__(data, label_suffix="")
        self._tables = tables
        self._most_seats = max((table.seats for table in tables), default=1)
        games = sorted({table.game for table in tables})
        self.fields["place"].choices = [  # type: ignore[attr-defined]  # it is a ChoiceField
            ("", "all tables"),
            ("Games", [(game, GAMES[game].title) for game in games]),
            ("Tables", [(str(table.pk), table.name) for table in tables]),
        ]

    def clean_seat(self) -> int | None:
        """Raises ValidationError for a seat that no table has."""
        seat: int | None = self.cleaned_data["seat"]
        if seat is not None and seat > self._most_seats:
            raise forms.ValidationError(f"The largest table has {self._most_seats} seats.")
        return seat

    def clean(self) -> None:
        """Complete the span: a missing end follows from the other end, or from the clock."""
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        until = until or (since + SPAN if since else timezone.now())
        since = since or until - SPAN
        if since >= until:
            self.add_error("until", "“To” has to be later than “From”.")
        self.cleaned_data |= {"since": since, "until": until}

    def sought(self) -> Sought:
        """The criteria of a valid form."""
        given, place = self.cleaned_data, self.cleaned_data["place"]
        tables = tuple(table for table in self._tables if place in ("", table.game, str(table.pk)))
        return Sought(given["since"], given["until"], tables, given["seat"], given["dealer"], given["amount"])


# --- The page --------------------------------------------------------------------------------------------------


@watches
@reads_replica
@require_GET
def round_search_page(request: HttpRequest) -> HttpResponse:
    """The form, and the results once a search was sent."""
    tables = _dealt_tables()
    form = RoundSearchForm(request.GET, tables)
    query = request.GET.copy()
    before = dates.moment(query.get("before"))
    for name in ("before", "since", "until"):
        query.pop(name, None)
    context: dict[str, Any] = {"form": form, "quick": _quick(query.urlencode(), timezone.localtime())}
    if request.GET and form.is_valid():
        context |= _results(form.sought(), before, query.urlencode())
    is_wrong = bool(request.GET) and not form.is_valid()
    return render(request, "dealer_ui/pit/round_search.html", context, status=422 if is_wrong else 200)


def _dealt_tables() -> list[Table]:
    """Every table that rounds are entered at, retired ones too, in the order of their names."""
    tables = [table for table in Table.objects.all() if not kind_of(GAMES[table.game]).is_by_count]
    return sorted(tables, key=lambda table: natural(table.name))


def _results(sought: Sought, before: datetime | None, query: str) -> dict[str, Any]:
    page = round_search.search(sought, before)
    span = _spelled(sought.since, sought.until)
    older = f"{query}&{span}&{urlencode({'before': dates.spelled(page.older)})}" if page.older else ""
    return {
        "page": page,
        "sought": sought,
        "says": describe(sought),
        "older": older.removeprefix("&"),
        "is_seat_missing": page.looked_at and sought.seat is not None and sought.seat not in page.seats,
        "around": _around(sought, page),
    }


def _around(sought: Sought, page: ResultPage) -> list[tuple[Table, Any]]:
    """The nearest rounds outside the span, if none in it matches and the search names one table."""
    if len(sought.tables) != 1 or page.hits or page.near or page.older:
        return []
    table = sought.tables[0]
    return [(table, line) for line in round_search.around(sought, table)]


def describe(sought: Sought) -> str:
    """The criteria, in words."""
    parts = [span_in_words(sought.since, sought.until)]
    if len(sought.tables) == 1:
        parts.append(sought.tables[0].name)
    elif len({table.game for table in sought.tables}) == 1:
        parts.append(str(GAMES[sought.tables[0].game].title))
    if sought.seat is not None:
        parts.append(f"seat {sought.seat}")
    if sought.dealer:
        parts.append(f"dealer “{sought.dealer}”")
    if sought.amounts:
        parts.append(f"amount {' or '.join(map(money, sought.amounts))}")
    return ", ".join(parts)


def span_in_words(since: datetime, until: datetime) -> str:
    """A span of time in words, by the casino's clock."""
    start, end = timezone.localtime(since), timezone.localtime(until)
    day = "%H:%M" if start.date() == end.date() else "%-d %b %H:%M"
    return f"{start:%-d %b %Y %H:%M} to {end:{day}}"


def _spelled(since: datetime, until: datetime) -> str:
    """A span as query parameters for the fields of the form."""
    ends = {"since": timezone.localtime(since), "until": timezone.localtime(until)}
    return urlencode({name: moment.strftime(FIELD_FORMAT) for name, moment in ends.items()})


def _quick(query: str, now: datetime) -> list[tuple[str, str]]:
    """The links of the quick spans, with the other criteria of the search."""
    today, end = gaming_hours.day_of(now), now + timedelta(minutes=1)  # the fields have no seconds
    yesterday = today - timedelta(days=1)
    spans = {
        "Last hour": (now - timedelta(hours=1), end),
        "Today": (gaming_hours.span(today).start, end),
        "Yesterday": (gaming_hours.span(yesterday).start, gaming_hours.span(yesterday).end),
        "Yesterday evening": (at(yesterday, time(18)), at(today, time(0))),
    }
    return [(title, f"{query}&{_spelled(*span)}".removeprefix("&")) for title, span in spans.items()]


def at(day: date, wall_time: time) -> datetime:
    """A moment by the casino's clock."""
    return timezone.make_aware(datetime.combine(day, wall_time))
