"""The limits of a table on the floor: those in force, the next change, and proposals for an operator to approve."""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods

from dealer_ui.entry_forms import render_form
from dealer_ui.guards import viewer_of, watches
from dealer_ui.pit.tables.limit_forms import EmergencyForm, LimitActionForm, LimitProposalForm, ProposalNoteForm
from dealer_ui.pit.tables.limits_in_force import limits_in_force
from ledger.models import LogEntry
from tables.approvals import proposals
from tables.limits import emergency
from tables.models import Proposal, Staff, Table
from tables.refusals import Refused
from tables.setup import table_settings
from tables.setup.dual_control import HANDLERS
from tables.state import table_state


@dataclass(frozen=True, slots=True)
class ProposalCard:
    """A proposal for a page: its changes, its state, and what the viewer may do about it."""

    proposal: Proposal
    title: str
    changes: list[tuple[str, str, str]]
    status: str
    may_withdraw: bool
    may_approve: bool
    may_comment: bool
    comments: list[LogEntry]


def next_changes(table: Table, viewer: Staff) -> list[ProposalCard]:
    """The next changes of a table, approved or waiting for approval."""
    return [proposal_card(proposal, viewer) for proposal in proposals.next_changes(table.name)]


def proposal_card(proposal: Proposal, viewer: Staff) -> ProposalCard:
    """A proposal for a viewer."""
    waits = not hasattr(proposal, "end")
    return ProposalCard(
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
    """The limits in force, the next changes, and the forms for users who may propose or tighten limits."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    viewer, refused = viewer_of(request), None
    if request.method == "POST":
        try:
            _entered(request.POST, table, viewer, request)
            return redirect("pit:limits", pk)
        except Refused as refusal:
            refused = refusal
    button = LimitActionForm(request.POST).chosen()
    context = {
        "table": table,
        "proposal": LimitProposalForm(table, request.POST if button == "propose" else None),
        "emergency": EmergencyForm(table, request.POST if button == "emergency" else None),
        "next": next_changes(table, viewer),
        "in_force": limits_in_force(table, viewer, table_state.of(table)),
        "may_propose": proposals.may_propose("limits", viewer),
        "may_tighten": viewer.has_perm(emergency.PERMISSION) and viewer.has_perm("tables.run_floor"),
    }
    return render_form(request, "dealer_ui/pit/limits.html", context, refused)


def _entered(data: QueryDict, table: Table, viewer: Staff, request: HttpRequest) -> None:
    """Carry out the action of the pressed button. Raises Refused."""
    if not proposals.may_propose("limits", viewer):
        raise Refused("not_permitted", "In this house you do not propose what a table is set to.", 403)
    match LimitActionForm(data).values()["do"]:
        case "propose":
            form = LimitProposalForm(table, data)
            draft = table_settings.draft_for_later(table, form.changes())
            draft = replace(draft, effective=form.cleaned_data["effective"])
            proposal = proposals.propose(draft, form.cleaned_data["comment"], by=viewer)
            messages.success(request, f"{proposal} waits for an operator.", extra_tags="proposed")
        case "emergency":
            tighter = EmergencyForm(table, data)
            row = emergency.tighten(table, tighter.tightened(), tighter.cleaned_data["comment"], by=viewer)
            messages.success(request, f"{row} is set, and the operators are told.", extra_tags="limits_set")
        case "comment":
            proposals.comment(*_note(table, data), by=viewer)
        case "withdraw":
            proposal, reason = _note(table, data)
            proposals.withdraw(proposal, reason, by=viewer)
            messages.success(request, f"{proposal} is withdrawn.", extra_tags="withdrawn")


def _note(table: Table, data: QueryDict) -> tuple[Proposal, str]:
    """A proposal of this table, and the note on it. Raises Refused."""
    typed = ProposalNoteForm(data).values()
    for proposal in proposals.next_changes(table.name):
        if str(proposal.number) == typed["proposal"]:
            return proposal, typed["reason"]
    raise Refused("unknown_proposal", f"No such proposal waits at {table.name} any more.", 404)
