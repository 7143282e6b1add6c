"""The changes of policies as rows in the admin. The pages of operators show all policies and change them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.utils.html import format_html_join
from django.utils.safestring import SafeString

from tables.admin.pages import NeverChanged
from tables.log import policies as catalogue
from tables.log.message import text_of
from tables.log.policies import title_of
from tables.models import HouseTerms
from tables.setup import policies


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
