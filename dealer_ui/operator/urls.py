"""Addresses of the pages of operators, which are in Django's admin site and behind its sign-in."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from dealer_ui.operator import floor_plans, pit_assignments
from dealer_ui.operator.limits import grid, history

_guarded = admin.site.admin_view

urlpatterns = [
    path("tables/pitsection/plan/", _guarded(floor_plans.FloorPlanPage.as_view()), name="floor-plan"),
    path("tables/post/grid/", _guarded(pit_assignments.PitAssignmentPage.as_view()), name="posts"),
    path("tables/table/grid/", _guarded(grid.GridPage.as_view()), name="limit-grid"),
    path("tables/table/grid.csv", _guarded(grid.GridFile.as_view()), name="limit-grid-csv"),
    path("tables/table/grid/import/", _guarded(grid.LimitImport.as_view()), name="limit-grid-import"),
    path("tables/table/limits/history/", _guarded(history.LimitHistory.as_view()), name="limit-history"),
    path("tables/table/limits/history.csv", _guarded(history.LimitHistoryFile.as_view()), name="limit-history-csv"),
]
