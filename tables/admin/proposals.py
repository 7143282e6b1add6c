"""The list of proposals in the admin. The pages of operators show one and end it."""

from __future__ import annotations

from django.contrib import admin

from tables.admin.pages import NeverAdded
from tables.approvals import proposals
from tables.models import Proposal


@admin.register(Proposal)
class ProposalAdmin(NeverAdded):
    """Proposals with their state."""

    list_display = ("number", "title", "by", "at", "status")
    list_select_related = ("end",)
    list_filter = ("matter",)

    @admin.display(description="what")
    def title(self, proposal: Proposal) -> str:
        return proposals.title_of_proposal(proposal)

    @admin.display(description="what became of it")
    def status(self, proposal: Proposal) -> str:
        return proposals.status(proposal)
