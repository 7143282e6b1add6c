"""The table's page in back-entry.

The dealer types the paper of the next round, once for the whole round. A second person compares the entries with the
paper, and signs by badge and PIN.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from dealer_ui import signatures
from dealer_ui.dealer.forms import DealerEntryForm
from dealer_ui.entry_forms import TypedMomentField
from dealer_ui.guards import dealers
from tables.floor import recorder
from tables.floor.inputs import AnnounceRound, ComparePaper
from tables.form_fields import InputForm
from tables.log.back_entry import ROUNDS, Mode
from tables.log.state import HOUSE_SHOE, TableState
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.staff import terminals
from tables.state import table_state as standings


class RoundPaperForm(DealerEntryForm):
    """The number of a paper: of the next round, or of one that a second person compared."""

    do = forms.CharField(required=False)
    number = forms.CharField(required=False)


class RoundMomentForm(InputForm):
    """The time of the next round by its paper."""

    code = "bad_moment"
    message = "Type the time of the round that stands on the paper, as 2026-01-31T21:30."
    happened = TypedMomentField()


@dealers
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def rounds_from_paper(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The page for entering slips, sales and rounds from paper at this table. Raises PermissionDenied."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    if not standings.of(table).is_dealt_by(viewer.username):
        raise PermissionDenied
    refused = None
    if request.method == "POST":
        try:
            return _enter(request, viewer, table)
        except Refused as refusal:
            refused = refusal
    context = _drawn(table, standings.of(table)) | {"refused": refused}
    context |= {"form": RoundPaperForm(request.POST), "happened": RoundMomentForm(request.POST)["happened"].value()}
    return render(request, "dealer_ui/dealer/round_back_entry.html", context, status=refused.status if refused else 200)


def _drawn(table: Table, state: TableState) -> dict[str, Any]:
    mode = state.back_entry
    return {
        "table": table,
        "standing": state,
        "mode": mode,
        "number": state.next_number,
        "is_house_shoe": state.shoe is not None and state.shoe.source == HOUSE_SHOE,
        "latest": _latest(mode),
        "rounds": [paper for paper in mode.papers if paper.about == ROUNDS] if mode else [],
        "key": uuid4(),
    }


def _latest(mode: Mode | None) -> str:
    """When the round before happened: the next one is not long after it."""
    if mode is None:
        return ""
    return mode.due.happened if mode.due else mode.rounds_until or mode.since


def _enter(request: HttpRequest, viewer: Staff, table: Table) -> HttpResponse:
    """Raises Refused."""
    values = RoundPaperForm(request.POST).values()
    key, number = values["key"], values["number"]
    terminals.for_dealing(request, table)
    if values["do"] == "compare":
        entered = ComparePaper(number)
        by, _ = signatures.sign(request, lambda by: recorder.record(table, entered, by=by, key=key, expected_seq=None))
        messages.success(request, f"Paper no. {number} is compared by {by.name}.")
        return redirect("dealer:papers", table.pk)
    announced = AnnounceRound(number, RoundMomentForm(request.POST).values()["happened"])
    recorder.record(table, announced, by=viewer, key=key, expected_seq=values["seq"])
    return redirect("dealer:screen", table.pk)
