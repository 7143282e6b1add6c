"""The lists of pit assignments and temporary assignments in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from tables.admin.custody import NeverChanged
from tables.models import PitCover, Post


class NeverAdded(NeverChanged):
    """Rows that other pages write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


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
