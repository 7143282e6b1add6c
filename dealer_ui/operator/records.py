"""The page of records: links to the lists that no user edits."""

from __future__ import annotations

from typing import Any

from dealer_ui.guards import viewer_of
from dealer_ui.operator.pages import OperatorPage
from tables.admin import navigation


class RecordsPage(OperatorPage):
    """The links to all lists of records that the viewer may open."""

    permission_required = ("ledger.view_logentry",)
    template_name = "dealer_ui/operator/records.html"
    title = "Records"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        groups = navigation.groups_of(viewer_of(self.request), navigation.RECORDS)
        return super().get_context_data(groups=groups, **context)
