"""Back-entry screens: the logs in back-entry, the papers to be compared, and the forms that begin and end it.

The signed-in user begins or ends back-entry; the second person signs on the same form by badge and PIN, as does the
person who compares entries with their paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Final
from uuid import UUID, uuid4, uuid5

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui import signatures
from dealer_ui.cage.slips import on_paper
from dealer_ui.entry_forms import KeyForm, TypedMomentField, render_form
from tables.cage import site_back_entry
from tables.cage.site_back_entry import BackEntryBook
from tables.floor import recorder
from tables.floor.back_entry import refuse_beginner, refused
from tables.floor.inputs import BackEntryInput, BeginBackEntry, ComparePaper, EndBackEntry
from tables.form_fields import InputForm
from tables.log.back_entry import BEGIN, REASONS, refuse_pair
from tables.log.slip_workflow import Wrong
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role

LAST_HOUR: Final = timedelta(hours=1)


class BackEntryForm(KeyForm):
    """The fields of each form of the page."""

    message = "This form was incomplete: look at the page again, then sign once more."
    do = forms.ChoiceField(choices=[(name, name) for name in ("begin", "end", "compare")])
    number = forms.CharField(required=False)
    """Of the paper that was compared."""


class LogsForm(InputForm):
    """The logs that a form is about."""

    code = "no_place"
    message = "Say which tables it is about, or the cage."

    def __init__(self, data: QueryDict, places: Sequence[BackEntryBook]) -> None:
        super().__init__(data)
        self.places = places
        self.fields["where"] = forms.MultipleChoiceField(choices=[(place.number, place.name) for place in places])

    def ticked(self) -> list[BackEntryBook]:
        """The logs that were ticked, the cage first. Raises Refused."""
        numbers = self.values()["where"]
        return [place for place in self.places if str(place.number) in numbers]


class OutageForm(InputForm):
    """An outage: what failed, and when."""

    code = "bad_moment"
    message = "Write the times as 2026-01-31T21:30, by the house's clock."
    reason = forms.CharField(required=False)
    since = TypedMomentField()
    until = TypedMomentField()
    note = forms.CharField(required=False)


@on_paper
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def logs_in_back_entry(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """The logs in back-entry, and the papers that wait to be compared."""
    if viewer.role == Role.DEALER:
        raise PermissionDenied
    refusal = None
    if request.method == "POST":
        try:
            _enter(request, viewer)
            return redirect("slips:papers")
        except Refused as caught:
            refusal = caught
    places, moment = site_back_entry.places(), timezone.localtime()
    ticked = LogsForm(request.POST, places)["where"].value()
    context = {
        "standing": [(place, f"compare-{place.number}-") for place in places if place.mode],
        "others": [(place, not ticked or str(place.number) in ticked) for place in places if not place.mode],
        "may_begin": viewer.role in BEGIN,
        "reasons": REASONS,
        "outage": OutageForm(request.POST),
        "number": BackEntryForm(request.POST)["number"].value(),
        "badge": signatures.typed_badge(request),
        "since": (moment - LAST_HOUR).strftime("%Y-%m-%dT%H:%M"),
        "until": moment.strftime("%Y-%m-%dT%H:%M"),
        "key": uuid4(),
    }
    return render_form(request, "dealer_ui/cage/back_entry.html", context, refusal)


def _enter(request: HttpRequest, viewer: Staff) -> None:
    """Begin, end or compare, by the form that was sent. Raises Refused."""
    values = BackEntryForm(request.POST).values()
    places = LogsForm(request.POST, site_back_entry.places()).ticked()
    _ACTIONS[values["do"]](request, viewer, values["key"], places)


def _begin(request: HttpRequest, viewer: Staff, key: UUID, places: list[BackEntryBook]) -> None:
    outage = OutageForm(request.POST).values()
    second = _by_two(request, viewer, key, places, lambda by: BeginBackEntry(**outage, second=by.username))
    message = f"Back-entry has begun, signed by {viewer.name} and {second.name}: {_names(places)}."
    messages.success(request, message, extra_tags="back_entry_begun")


def _end(request: HttpRequest, viewer: Staff, key: UUID, places: list[BackEntryBook]) -> None:
    second = _by_two(request, viewer, key, places, lambda by: EndBackEntry(by.username))
    message = f"Back-entry has ended, signed by {viewer.name} and {second.name}: {_names(places)}."
    messages.success(request, message, extra_tags="back_entry_ended")


def _names(places: Iterable[BackEntryBook]) -> str:
    return ", ".join(place.name for place in places)


def _by_two(
    request: HttpRequest,
    viewer: Staff,
    key: UUID,
    places: list[BackEntryBook],
    entered: Callable[[Staff], BackEntryInput],
) -> Staff:
    """Enter it in each of the logs, one after the other. Returns the second person, who signs by badge and PIN.

    After an interruption the form is sent again, and its keys keep it from being entered twice. Raises Refused.
    """

    def rehearse(second: Staff) -> None:
        try:
            refuse_pair(viewer.signatory, second.signatory)
        except Wrong as wrong:
            raise refused(wrong) from None

    def act(second: Staff) -> None:
        for place in places:
            _into(place, entered(second), viewer, uuid5(key, place.book.name))

    refuse_beginner(viewer)
    second, _ = signatures.sign(request, act, rehearse)
    return second


def _into(place: BackEntryBook, entered: BackEntryInput, by: Staff, key: UUID) -> None:
    """Enter it in one log. Raises Refused with the place."""
    try:
        if place.table is not None:
            recorder.record(place.table, entered, by=by, key=key, expected_seq=None)
        elif isinstance(entered, BeginBackEntry | EndBackEntry | ComparePaper):
            site_back_entry.enter(entered, by=by, key=key)
    except Refused as caught:
        raise Refused(caught.code, f"{place.name}: {caught.sentence}", caught.status, **caught.facts) from None


def _compare(request: HttpRequest, viewer: Staff, key: UUID, places: list[BackEntryBook]) -> None:
    number, (place, *_) = BackEntryForm(request.POST).values()["number"], places
    by, _ = signatures.sign(request, lambda by: _into(place, ComparePaper(number), by, key))
    message = f"{place.name}: paper no. {number} is compared by {by.name}."
    messages.success(request, message, extra_tags="paper_compared")


_ACTIONS: Final[Mapping[str, Callable[[HttpRequest, Staff, UUID, list[BackEntryBook]], None]]] = {
    "begin": _begin,
    "end": _end,
    "compare": _compare,
}
