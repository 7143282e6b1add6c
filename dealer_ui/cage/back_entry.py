"""Back-entry screens: the logs in back-entry, the papers to be compared, and the forms that begin and end it.

The signed-in user begins or ends back-entry; the second person signs on the same form by badge and PIN, as does the
person who compares entries with their paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui import dates, signatures
from dealer_ui.cage.slips import on_paper
from tables.cage import back_entry
from tables.cage.back_entry import BackEntryBook
from tables.floor import recorder
from tables.floor.back_entry import refuse_beginner, refused
from tables.floor.inputs import BackEntryInput, BeginBackEntry, ComparePaper, EndBackEntry
from tables.log.back_entry import BEGIN, REASONS, refuse_pair
from tables.log.slip_workflow import Wrong
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role

LAST_HOUR: Final = timedelta(hours=1)


@on_paper
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def papers(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """The books in back-entry, and what waits there to be compared."""
    if viewer.role == Role.DEALER:
        raise PermissionDenied
    refusal = None
    if request.method == "POST":
        try:
            _enter(request, viewer)
            return redirect("slips:papers")
        except Refused as caught:
            refusal = caught
    places, moment, chosen = back_entry.places(), timezone.localtime(), set(request.POST.getlist("where"))
    context = {
        "standing": [(place, f"compare-{place.number}-") for place in places if place.mode],
        "others": [(place, not chosen or str(place.number) in chosen) for place in places if not place.mode],
        "may_begin": viewer.role in BEGIN,
        "reasons": REASONS,
        "typed": request.POST,
        "since": (moment - LAST_HOUR).strftime("%Y-%m-%dT%H:%M"),
        "until": moment.strftime("%Y-%m-%dT%H:%M"),
        "key": uuid4(),
        "refused": refusal,
    }
    return render(request, "dealer_ui/cage/papers.html", context, status=refusal.status if refusal else 200)


def _enter(request: HttpRequest, viewer: Staff) -> None:
    """What a form of the page sends. Raises Refused."""
    deed = _DEEDS.get(request.POST.get("do", ""))
    try:
        key = UUID(request.POST.get("key", ""))
    except ValueError:
        deed = None
    if deed is None:
        raise Refused("bad_form", "This form was incomplete: look at the page again, then sign once more.", 400)
    deed(request, viewer, key)


def _begin(request: HttpRequest, viewer: Staff, key: UUID) -> None:
    since, until = _moment(request, "since"), _moment(request, "until")
    reason, note = request.POST.get("reason", ""), request.POST.get("note", "")
    places = _chosen(request)
    second = _by_two(request, viewer, key, places, lambda by: BeginBackEntry(reason, since, until, note, by.username))
    names = ", ".join(place.name for place in places)
    messages.success(
        request,
        f"Back-entry has begun, signed by {viewer.name} and {second.name}: {names}.",
        extra_tags="back_entry_begun",
    )


def _end(request: HttpRequest, viewer: Staff, key: UUID) -> None:
    places = _chosen(request)
    second = _by_two(request, viewer, key, places, lambda by: EndBackEntry(by.username))
    names = ", ".join(place.name for place in places)
    messages.success(
        request,
        f"Back-entry has ended, signed by {viewer.name} and {second.name}: {names}.",
        extra_tags="back_entry_ended",
    )


def _by_two(
    request: HttpRequest,
    viewer: Staff,
    key: UUID,
    places: list[BackEntryBook],
    entered: Callable[[Staff], BackEntryInput],
) -> Staff:
    """Enter it in each of the books, one after the other: what was entered before stands, and the same form goes on
    where it was interrupted. The second person, whose badge and PIN the form has. Raises Refused."""

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
    """Enter it in the book that it is about. Raises Refused with the place."""
    try:
        if place.table is not None:
            recorder.record(place.table, entered, by=by, key=key, expected_seq=None)
        elif isinstance(entered, BeginBackEntry | EndBackEntry | ComparePaper):
            back_entry.enter(entered, by=by, key=key)
    except Refused as caught:
        raise Refused(caught.code, f"{place.name}: {caught.sentence}", caught.status, **caught.facts) from None


def _compare(request: HttpRequest, viewer: Staff, key: UUID) -> None:
    number = request.POST.get("number", "")
    [place] = _chosen(request)
    by, _ = signatures.sign(request, lambda by: _into(place, ComparePaper(number), by, key))
    messages.success(
        request, f"{place.name}: paper no. {number} is compared by {by.name}.", extra_tags="paper_compared"
    )


_DEEDS: Final[Mapping[str, Callable[[HttpRequest, Staff, UUID], None]]] = {
    "begin": _begin,
    "end": _end,
    "compare": _compare,
}


def _chosen(request: HttpRequest) -> list[BackEntryBook]:
    """The books that were ticked. Raises Refused."""
    ticked = set(request.POST.getlist("where"))
    places = [place for place in back_entry.places() if str(place.number) in ticked]
    if not places or len(places) != len(ticked):
        raise Refused("no_place", "Say which tables it is about, or the cage.", 422)
    return places


def _moment(request: HttpRequest, name: str) -> datetime:
    moment = dates.moment(request.POST.get(name))
    if moment is None:
        raise Refused("bad_moment", "Write the times as 2026-01-31T21:30, by the house's clock.", 422)
    return moment
