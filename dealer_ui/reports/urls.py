"""Addresses of reports, under ``/pit/``."""

from __future__ import annotations

from django.conf import settings
from django.urls import path

from dealer_ui import dates  # registers the converter "day"
from dealer_ui.exports import addresses
from dealer_ui.reports import exceptions, inventories, results
from dealer_ui.reports.dealer_hours import DEALER_HOURS

urlpatterns = [
    *addresses("reports", "reports", results.FIGURES, results.read_figures, results.reports),
    *addresses("cash", "cash", results.CASH, results.read_cash),
    path("reports/<day:day>/close", results.close_day, name="close-day"),
    *addresses("reports/exceptions", "exceptions", exceptions.EXCEPTIONS, exceptions.read_day, exceptions.exceptions),
    *addresses("reports/exceptions/dealers", "exceptions-dealers", exceptions.DEALERS, exceptions.read_day),
    *addresses("rotation/hours", "dealer-hours", DEALER_HOURS, dates.gaming_day),
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
