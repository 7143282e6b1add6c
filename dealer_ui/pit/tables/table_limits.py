"""The limits of a table on the floor: those in force, the next change, and proposals for an operator to approve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from dealer_ui import dates
from dealer_ui.guards import watches
from dealer_ui.numbers import cents
from ledger.proof.chips import money
from tables.approvals import proposals
from tables.approvals.proposals import Comment
from tables.games.catalog import GAMES
from tables.limits import emergency, resolver
from tables.limits.resolver import TableLimits
from tables.log.limit_plans import AMOUNTS, WAGER, Value, amount_of, called, limits_of
from tables.log.message import text_of
from tables.log.state import Announced, TableState
from tables.log.terms import Settings
from tables.models import Proposal, Staff, Table
from tables.refusals import Refused
from tables.setup import table_settings
from tables.setup.dual_control import HANDLERS
from tables.state import table_state

_AMOUNTS: Final = (
    ("min_cents", "Minimum"),
    ("max_cents", "Maximum"),
    ("cap_cents", "Cap on all bets together (empty: none)"),
)


@dataclass(frozen=True, slots=True)
class Field:
    """An amount of the form: its name, label and value."""

    name: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Next:
    """Something that is to change: what, how far it is, and what the viewer may do about it."""

    proposal: Proposal
    title: str
    changes: list[tuple[str, str, str]]
    status: str
    may_withdraw: bool
    may_approve: bool
    may_comment: bool
    comments: list[Comment]


def next_changes(table: Table, viewer: Staff) -> list[Next]:
    """The next changes of a table, approved or waiting for approval."""
    return [_next(proposal, viewer) for proposal in proposals.next_changes(table.name)]


@dataclass(frozen=True, slots=True)
class InForce:
    """One limit of a table: the value in force, the layer that sets it, and a value that waits."""

    title: str
    value: str
    why: str
    waits: str = ""
    """The value that the plans require, while another is still in force."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The limits of a table by the limit plans: each limit, the next change with its reason, and the announcement."""

    limits: list[InForce]
    next: str
    announced: str


def planned(table: Table, state: TableState) -> Planned:
    """The limits of a table in this state, by the limit plans."""
    known, announced = resolver.at_tables([table], timezone.now())[table.name], state.announced
    return Planned(
        [_in_force(known, name) for name in known.outcome.stack],
        known.next_words,
        _announced(announced) if announced else "",
    )


def _in_force(known: TableLimits, name: str) -> InForce:
    layer, present = known.outcome.layers.get(name), known.set_to.get(name)
    value = text_of(amount_of(present)) if present is not None else "none"
    if name not in known.differs:
        return InForce(called(name), value, layer.why if layer else "nobody sets it now")
    asked = f"{text_of(amount_of(layer.value))}, {layer.why}" if layer else "none: its plan is over"
    return InForce(called(name), value, "as it was set before", asked)


def _announced(announced: Announced) -> str:
    raised = text_of(limits_of(announced.least))
    return f"{_clock(announced.effective)}: {raised} ({announced.why})"


def _clock(moment: datetime) -> str:
    return f"{timezone.localtime(moment):%a %Y-%m-%d %H:%M}"


def _next(proposal: Proposal, viewer: Staff) -> Next:
    waits = not hasattr(proposal, "end")
    return Next(
        proposal=proposal,
        title=proposals.title_of_proposal(proposal),
        changes=proposals.changes(proposal),
        status=proposals.status(proposal),
        may_withdraw=waits and proposal.proposed_by == viewer.username,
        may_approve=waits and viewer.is_staff and viewer.has_perm(HANDLERS[proposal.matter].permission),
        may_comment=waits and proposals.may_propose(proposal.matter, viewer),
        comments=proposals.comments(proposal),
    )


@watches
@require_http_methods(["GET", "POST"])
def limits(request: HttpRequest, pk: int) -> HttpResponse:
    """The limits in force, the next changes, and the form for users who may propose one."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    viewer, refused = request.user, None
    assert isinstance(viewer, Staff)  # noqa: S101 -- the view is behind sign-in
    if request.method == "POST":
        try:
            _entered(request, table, viewer)
            return redirect("pit:limits", pk)
        except Refused as refusal:
            refused = refusal
    settings = table_settings.settings_of(table)
    context = {
        "table": table,
        "settings": settings,
        "fields": list(_fields(request, settings)),
        "next": next_changes(table, viewer),
        "planned": planned(table, table_state.of(table)),
        "may_propose": proposals.may_propose("limits", viewer),
        "may_tighten": viewer.has_perm(emergency.PERMISSION) and viewer.has_perm("tables.run_floor"),
        "wagers": [(wager, wager.replace("_", " ")) for wager in GAMES[table.game].limited_wagers(table.options)],
        "refused": refused,
        "typed": request.POST,
    }
    return render(request, "dealer_ui/pit/limits.html", context, status=refused.status if refused else 200)


def _fields(request: HttpRequest, settings: Settings) -> Iterator[Field]:
    for name, label in _AMOUNTS:
        held = getattr(settings, name)
        yield Field(name, label, request.POST.get(name, "" if held is None else _plain(held)))
    for wager in settings.wager_limits:
        least, most = settings.wager_limits[wager]
        title = wager.replace("_", " ")
        for part, word, held in (("least", "Least", least), ("most", "Most", most)):
            name = f"{part}_{wager}"
            yield Field(name, f"{word} on {title}", request.POST.get(name, _plain(held)))


def _plain(held: int) -> str:
    return money(held).replace(",", "")


# --- Entered ---------------------------------------------------------------------------------------------------


def _entered(request: HttpRequest, table: Table, viewer: Staff) -> None:
    """Carry out the button's action. Raises Refused."""
    if not proposals.may_propose("limits", viewer):
        raise Refused("not_permitted", "In this house you do not propose what a table is set to.", 403)
    match request.POST.get("do"):
        case "propose":
            proposal = _proposed(request, table, viewer)
            messages.success(request, f"{proposal} waits for an operator.", extra_tags="proposed")
        case "emergency":
            reason = request.POST.get("comment", "")
            row = emergency.tighten(table, _tightened(request, table), reason, by=viewer)
            messages.success(request, f"{row} is set, and the operators are told.", extra_tags="limits_set")
        case "comment":
            proposals.comment(_of_table(request, table), request.POST.get("reason", ""), by=viewer)
        case "withdraw":
            proposal = _of_table(request, table)
            proposals.withdraw(proposal, request.POST.get("reason", ""), by=viewer)
            messages.success(request, f"{proposal} is withdrawn.", extra_tags="withdrawn")
        case _:
            raise Refused("bad_form", "This form was incomplete: look at the page, then enter it again.", 400)


def _of_table(request: HttpRequest, table: Table) -> Proposal:
    number = request.POST.get("proposal", "")
    for proposal in proposals.next_changes(table.name):
        if str(proposal.number) == number:
            return proposal
    raise Refused("unknown_proposal", f"No such proposal waits at {table.name} any more.", 404)


def _proposed(request: HttpRequest, table: Table, viewer: Staff) -> Proposal:
    reason = request.POST.get("comment", "")
    if not reason.strip():
        raise Refused("no_reason", "Say why in a few words: whoever approves it was not there.", 422)
    draft = table_settings.draft_for_later(table, _changes(request, table))
    draft = replace(draft, effective=_effective(request))
    return proposals.propose(draft, reason, by=viewer)


def _changes(request: HttpRequest, table: Table) -> dict[str, Any]:
    settings = table_settings.settings_of(table)
    changes: dict[str, Any] = {name: _amount(request, name) for name, _ in _AMOUNTS}
    own = {
        wager: (_amount(request, f"least_{wager}"), _amount(request, f"most_{wager}"))
        for wager in settings.wager_limits
    }
    changes["wager_limits"] = own
    return {name: value for name, value in changes.items() if getattr(settings, name) != value}


def _tightened(request: HttpRequest, table: Table) -> dict[str, Value]:
    """The typed limits that differ from those in force."""
    typed = {name: _amount(request, name) for name in AMOUNTS if request.POST.get(name, "").strip()}
    tightened: dict[str, Value] = {
        name: cents for name, cents in typed.items() if cents is not None and getattr(table, name) != cents
    }
    for wager in GAMES[table.game].limited_wagers(table.options):
        held = tuple(table.wager_limits.get(wager, (table.min_cents, table.max_cents)))
        names = (f"least_{wager}", f"most_{wager}")
        bounds = [_amount(request, name) if request.POST.get(name, "").strip() else None for name in names]
        least, most = (held[side] if cents is None else cents for side, cents in enumerate(bounds))
        if (least, most) != held:
            tightened[f"{WAGER}{wager}"] = least, most
    return tightened


def _amount(request: HttpRequest, name: str) -> int | None:
    typed = request.POST.get(name, "").strip()
    if not typed and name == "cap_cents":
        return None
    amount = cents(typed)
    if amount is None:
        raise Refused("bad_amount", "Write each amount in plain digits: 20 or 2.50.", 422)
    return amount


def _effective(request: HttpRequest) -> datetime | None:
    typed = request.POST.get("effective", "").strip()
    if not typed:
        return None
    moment = dates.moment(typed)
    if moment is None:
        raise Refused("bad_moment", "Say from when it holds as 2026-03-02 06:00, or leave it empty: at once.", 422)
    return moment
