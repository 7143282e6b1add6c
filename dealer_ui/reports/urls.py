"""Addresses of reports, under ``/pit/``."""

from __future__ import annotations

from django.urls import path

import dealer_ui.dates  # noqa: F401 -- registers the converter "day"
from dealer_ui.reports import exceptions, inventories, penetration, results, shoe_audits

urlpatterns = [
    path("reports/", results.reports, name="reports"),
    path("reports.csv", results.reports_csv, name="reports-csv"),
    path("cash.csv", results.cash_csv, name="cash-csv"),
    path("reports/<day:day>/close", results.close_day, name="close-day"),
    path("reports/exceptions/", exceptions.exceptions, name="exceptions"),
    path("reports/exceptions.csv", exceptions.exceptions_csv, name="exceptions-csv"),
    path("reports/exceptions/dealers.csv", exceptions.dealers_csv, name="exceptions-dealers-csv"),
    path("chips/", inventories.inventories, name="inventory"),
    path("chips.csv", inventories.inventories_csv, name="inventory-csv"),
    path("penetration/", penetration.penetration, name="penetration"),
    path("penetration.csv", penetration.penetration_csv, name="penetration-csv"),
    path("shoes/", shoe_audits.shoes, name="shoes"),
    path("shoes.csv", shoe_audits.shoes_csv, name="shoes-csv"),
    path("tables/<int:pk>/shoes/<int:seq>/", shoe_audits.shoe, name="shoe"),
    path("tables/<int:pk>/shoes/<int:seq>.csv", shoe_audits.shoe_csv, name="shoe-csv"),
    path("tables/<int:pk>/float/", inventories.rack_float, name="float"),
    path("tables/<int:pk>/float.csv", inventories.rack_float_csv, name="float-csv"),
]
