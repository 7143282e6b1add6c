"""The way to a table, and from it: which one to take, a relief, tapping out."""

from __future__ import annotations

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui import signatures
from dealer_ui.dealer.table_choice import choice
from dealer_ui.dealer.views import draw, why_gone
from dealer_ui.guards import dealers, gone
from tables.floor import recorder, table_opening
from tables.log.state import TableState
from tables.models import Staff, Table
from tables.models.staff import SECRETS
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import relief, required_actions, sign_in, terminals
from tables.staff.sign_in import TERMINAL
from tables.state import table_state as standings

# --- To a table ------------------------------------------------------------------------------------------------


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """The front page of each role."""
    viewer = request.user
    if not isinstance(viewer, Staff):
        return redirect_to_login(request.get_full_path())
    if viewer.role == Role.DEALER:
        here = table_opening.table_of(viewer)
        return redirect("dealer:screen", here.pk) if here else redirect("dealer:tables")
    fronts = {
        Role.OPERATOR: "admin:index",
        Role.CASHIER: "slips:book",
        Role.CAGE_MANAGER: "cage",
        Role.SECURITY: "slips:book",
        Role.COUNTER: "slips:book",
    }
    return redirect(fronts.get(Role(viewer.role), "pit:floor"))


@dealers
@require_GET
def tables(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """The tables that are open, those first where a dealer is needed. A terminal of one table asks for it at once."""
    terminal = terminals.here(request)
    if terminal is not None and terminal.table is not None and table_opening.table_of(viewer) is None:
        state = standings.of(terminal.table)
        if state.dealer is not None:
            return _ask(request, terminal.table, state)
    return _tables(request, viewer)


def _tables(request: HttpRequest, viewer: Staff, refused: Refused | None = None) -> HttpResponse:
    terminal = terminals.here(request)
    context = {
        "choice": choice(viewer, terminal),
        "terminal": terminal,
        "is_terminal": terminal is not None or settings.DEALING_WITHOUT_TERMINAL,
        "refused": refused,
    }
    return render(request, "dealer_ui/dealer/tables.html", context, status=refused.status if refused else 200)


class ReliefForm(forms.Form):
    """The user name of the dealer who agrees to the relief."""

    relieves = forms.CharField(required=False)


@dealers
@require_POST
def take(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """Tap in at a table. A dealer already there is relieved, after they or a pit boss agreed by badge and PIN."""
    table = get_object_or_404(Table, pk=pk)
    state = standings.of(table)
    if state.is_dealt_by(viewer.username):
        return redirect("dealer:screen", pk)
    try:
        terminal = terminals.for_dealing(request, table)
        name = terminal.name if terminal else None
        if state.dealer:
            return _take_over(request, viewer, table, state, name)
        recorder.sign_in(table, viewer, name)
    except Refused as refused:
        return _tables(request, viewer, refused)
    sign_in.stay(request)
    return redirect("dealer:screen", pk)


def _take_over(
    request: HttpRequest, viewer: Staff, table: Table, state: TableState, terminal: str | None
) -> HttpResponse:
    """Ask for consent to the relief; if another dealer has tapped in since, ask for that dealer's."""
    assert state.dealer is not None  # noqa: S101 -- the caller looked
    dealer, refused = state.dealer, None
    if ReliefForm(request.POST)["relieves"].value() == dealer.username:
        try:
            signatures.sign(
                request,
                lambda by: recorder.relieve(table, viewer, dealer.username, confirmed_by=by, terminal=terminal),
            )
            sign_in.stay(request)
            return redirect("dealer:screen", table.pk)
        except Refused as refusal:
            refused = refusal
    return _ask(request, table, state, refused)


def _ask(request: HttpRequest, table: Table, state: TableState, refused: Refused | None = None) -> HttpResponse:
    """The page on which the dealer at the table agrees to the relief."""
    assert state.dealer is not None  # noqa: S101 -- the callers looked
    own = Staff.objects.filter(username=state.dealer.username).values_list("badge", flat=True).first()
    badge = signatures.typed_badge(request) or own or ""
    context = {"table": table, "standing": state, "refused": refused, "badge": badge}
    return render(request, "dealer_ui/dealer/relieve.html", context, status=refused.status if refused else 200)


# --- From a table ----------------------------------------------------------------------------------------------


@dealers
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def hand_over(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The relief signs in over the dealer who leaves. An open round continues."""
    table = get_object_or_404(Table, pk=pk)
    state, refused = standings.of(table), None
    if not state.is_dealt_by(viewer.username):
        return gone(request, why_gone(table, state))
    if request.method == "POST":
        try:
            badge, pin = signatures.typed(request)
            dealer = relief.take_over(request, table, leaving=viewer, badge=badge, pin=pin)
            required_actions.warn(request, dealer, SECRETS)
            return redirect("dealer:screen", pk)
        except Refused as refusal:
            refused = refusal
    context = {"table": table, "standing": state, "refused": refused, "badge": signatures.typed_badge(request)}
    return render(request, "dealer_ui/dealer/relief.html", context, status=refused.status if refused else 200)


@dealers
@require_POST
def leave(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """Tap out; who came in by badge and PIN is signed out with it, for the terminal is the next dealer's."""
    table = get_object_or_404(Table, pk=pk)
    try:
        terminals.for_dealing(request, table)
        recorder.sign_out(table, viewer)
    except Refused as refused:
        return draw(request, viewer, pk, refused=refused)
    messages.success(request, f"You have tapped out of {table.name}.")
    if TERMINAL in request.session:
        sign_in.sign_out(request)
        return redirect("sign-in")
    return redirect("dealer:tables")
