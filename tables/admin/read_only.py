"""Lists of rows that the pages of operators write: limit plans, changes of policies, proposals, pit assignments."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from tables.admin.pages import NeverAdded, NeverChanged
from tables.approvals import proposals
from tables.log import policies as catalogue
from tables.log.message import text_of
from tables.log.policies import title_of
from tables.models import HouseTerms, LimitPlan, PitCover, Post, Proposal
from tables.setup import policies

admin.site.register(LimitPlan, NeverChanged)


def changes(row: HouseTerms) -> list[tuple[str, str, str]]:
    """The changed policies of a change: title, old and new value."""
    before = catalogue.in_force(policies.changes(row.seq), row.effective)
    return [(title_of(name), _said(name, before.get(name)), _said(name, value)) for name, value in row.values.items()]


def _said(name: str, value: Any) -> str:
    return text_of(catalogue.described(name, value))


@admin.register(HouseTerms)
class HouseTermsAdmin(NeverChanged):
    """The changes of policies."""

    fields = ("effective", "in_words")

    @admin.display(description="change")
    def in_words(self, row: HouseTerms) -> SafeString:
        """Each changed policy with its old and new value."""
        return format_html_join("", "<p>{}: {} → {}</p>", changes(row))


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


@admin.register(Post)
class PostAdmin(NeverAdded):
    """All pit assignments; the grid of operators writes them."""

    list_display = ("username", "which", "effective", "by", "at")
    fields = ("username", "pits", "whole_floor", "effective")

    @admin.display(description="runs")
    def which(self, row: Post) -> str:
        return "the whole floor" if row.whole_floor else ", ".join(row.pits) or "ended"


@admin.register(PitCover)
class PitCoverAdmin(NeverAdded):
    """All temporary assignments; pit boss pages write them."""

    list_display = ("username", "pit", "until", "reason", "at")
    fields = ("username", "pit", "until", "reason")
