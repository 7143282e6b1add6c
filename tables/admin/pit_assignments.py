"""The lists of pit assignments and temporary assignments in the admin."""

from __future__ import annotations

from django.contrib import admin

from tables.admin.pages import NeverAdded
from tables.models import PitCover, Post


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
