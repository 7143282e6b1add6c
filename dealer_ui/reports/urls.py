"""Addresses of reports, under ``/pit/``."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

import dealer_ui.dates  # noqa: F401 -- registers the converter "day"
from dealer_ui.exports import addresses
from dealer_ui.reports import dealer_hours, exceptions, inventories, results

urlpatterns = [
    *addresses("reports", "reports", results.FIGURES, results.read_figures, results.reports),
    *addresses("cash", "cash", results.CASH, results.read_cash),
    path("reports/<day:day>/close", results.close_day, name="close-day"),
    *addresses("reports/exceptions", "exceptions", exceptions.EXCEPTIONS, exceptions.read_day, exceptions.exceptions),
    *addresses("reports/exceptions/dealers", "exceptions-dealers", exceptions.DEALERS, exceptions.read_day),
    *addresses(
        "rotation/hours", "dealer-hours", dealer_hours.DEALER_HOURS, dealer_hours.read_day, dealer_hours.dealer_hours
    ),
    *addresses("chips", "inventory", inventories.INVENTORY, inventories.read_day, inventories.inventories),
    *addresses("tables/<int:pk>/float", "float", inventories.FLOAT, inventories.read_float, inventories.rack_float),
]
if settings.ADVANTAGE_ANALYSIS:
    from dealer_ui.reports import penetration, shoe_audits

    urlpatterns += [
        *addresses(
            "penetration", "penetration", penetration.SHOES_BY_DEPTH, penetration.read_query, penetration.penetration
        ),
        *addresses("shoes", "shoes", shoe_audits.SHOES, shoe_audits.read_shoes, shoe_audits.shoes),
        path("tables/<int:pk>/shoes/<int:seq>/", shoe_audits.shoe, name="shoe"),
        path("tables/<int:pk>/shoes/<int:seq>.csv", shoe_audits.shoe_csv, name="shoe-csv"),
    ]
