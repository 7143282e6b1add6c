"""Addresses of the pages of operators, which are in Django's admin site and behind its sign-in."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from dealer_ui.operator.limits import grid, history

_guarded = admin.site.admin_view

urlpatterns = [
    path("tables/table/grid/", _guarded(grid.grid), name="limit-grid"),
    path("tables/table/grid.csv", _guarded(grid.grid_csv), name="limit-grid-csv"),
    path("tables/table/grid/import/", _guarded(grid.take_in), name="limit-grid-import"),
    path("tables/table/limits/history/", _guarded(history.history), name="limit-history"),
    path("tables/table/limits/history.csv", _guarded(history.history_csv), name="limit-history-csv"),
]
