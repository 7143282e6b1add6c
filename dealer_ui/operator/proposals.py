"""The page of one proposal: its changes and their effect, and the buttons that end it or comment on it."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from dealer_ui.guards import viewer_of
from dealer_ui.operator.limits.files import download
from dealer_ui.operator.pages import ButtonField, OperatorFormPage
from dealer_ui.pit.tables.table_limits import proposal_card
from tables.admin.forms import CharField
from tables.admin.pages import number
from tables.approvals import proposals
from tables.edge import limit_effect
from tables.models import Proposal
from tables.refusals import Refused
from tables.reports.spreadsheets import csv_file

_SIDE: Final = ("handle_cents", "theoretical_cents", "exposure_cents", "edges")
"""The columns of the file of effects, before and after the change."""


class ProposalActionForm(forms.Form):
    """The pressed button, and the reason or comment."""

    reason = CharField(
        label="Why, or a comment", required=False, max_length=500,
        help_text="In a few words, where you decline or withdraw it, or comment on it. The log keeps it.",
    )  # fmt: skip
    approve = ButtonField()
    call_off = ButtonField()
    comment = ButtonField()
    decline = ButtonField()
    withdraw = ButtonField()

    @property
    def button(self) -> str:
        """The name of the pressed button; empty for none."""
        names = ("approve", "call_off", "comment", "decline", "withdraw")
        return next((name for name in names if self.cleaned_data[name]), "")


class ProposalPage(OperatorFormPage):
    """One proposal, with the buttons that its viewer may press."""

    permission_required = ("tables.view_proposal",)
    template_name = "dealer_ui/operator/proposal.html"
    form_class = ProposalActionForm

    def setup(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        """Read the proposal that the address names. Raises Http404."""
        super().setup(request, *args, **kwargs)
        self.proposal = get_object_or_404(Proposal, pk=number(kwargs["object_id"]))

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return self.effect_file() if "effect" in request.GET else super().get(request, *args, **kwargs)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        proposal, viewer = self.proposal, viewer_of(self.request)
        waiting = not hasattr(proposal, "end")
        card = proposal_card(proposal, viewer)
        return super().get_context_data(
            title=f"{proposal}: {card.title}", proposal=proposal, card=card,
            may_approve=waiting and proposal in proposals.waiting_for(viewer),
            may_call_off=proposal in proposals.to_come() and proposals.may_propose("call_off", viewer),
            may_comment=waiting,
            stale=proposals.stale(proposal) if waiting else "",
            effects=limit_effect.of_proposal(proposal) if waiting else [], **context,
        )  # fmt: skip

    def save(self, form: ProposalActionForm) -> HttpResponse:
        """Do what the pressed button says. Raises Refused."""
        proposal, reason, by = self.proposal, form.cleaned_data["reason"], viewer_of(self.request)
        match form.button:
            case "approve":
                end = proposals.approve(proposal, by=by)
                is_later = proposals.is_to_come(proposal, end.at)
                later = f"waits: it holds {proposals.holds_from(proposal)}" if is_later else "done"
                return self.ended(f"{proposal} is approved, and {later}.", "approved")
            case "call_off" if hasattr(proposal, "end") and proposal.end.outcome == "decided":
                proposals.call_off(proposal, reason, by=by)
                return self.ended(f"{proposal} is called off.", "called_off")
            case "call_off":
                proposed = proposals.propose(proposals.draft_of_calling_off(proposal), reason, by=by)
                return self.ended(f"{proposed} waits for a second operator: it calls off {proposal}.", "proposed")
            case "comment":
                proposals.comment(proposal, reason, by=by)
                return redirect("admin:tables_proposal_change", proposal.pk)
            case "decline":
                proposals.decline(proposal, reason, by=by)
                return self.ended(f"{proposal} is declined.", "declined")
            case "withdraw":
                proposals.withdraw(proposal, reason, by=by)
                return self.ended(f"{proposal} is withdrawn.", "withdrawn")
        raise Refused("no_button", "Say whether you approve, decline, withdraw or call it off.", 422)

    def ended(self, sentence: str, code: str) -> HttpResponse:
        """The list of proposals, with a message."""
        messages.success(self.request, sentence, extra_tags=code)
        return redirect("admin:tables_proposal_changelist")

    def effect_file(self) -> HttpResponse:
        """The effect of the proposal at each table, as CSV."""
        if not self.request.user.has_perm("tables.export_lists"):
            raise PermissionDenied
        columns = (f"{name}_{side}" for side in ("before", "after") for name in _SIDE)
        lines = (
            (effect.table, effect.rounds, effect.an_hour, *(getattr(side, name) for side in sides for name in _SIDE))
            for effect in limit_effect.of_proposal(self.proposal)
            for sides in [(effect.before, effect.after)]
        )
        content = csv_file(("table", "rounds", "rounds_an_hour", *columns), lines)
        return download(f"proposal-{self.proposal.number}-effect.csv", content)
