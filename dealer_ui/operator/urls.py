"""Addresses of the pages of operators, which are in Django's admin site and behind its sign-in."""

from __future__ import annotations

from django.contrib import admin
from django.urls import path

from dealer_ui.operator import (
    floor_plans,
    house_profiles,
    pay_tables,
    pit_assignments,
    policies,
    proposals,
    records,
    roles,
)
from dealer_ui.operator.limits import grid, history, plans

admin.site.index_template = "dealer_ui/operator/front_page.html"
_guarded = admin.site.admin_view

urlpatterns = [
    path("records/", _guarded(records.RecordsPage.as_view()), name="records"),
    path("tables/houseterms/", _guarded(policies.PolicyPage.as_view())),
    path("tables/houseterms/add/", _guarded(policies.PolicyChangePage.as_view())),
    path("tables/houseterms/roles/", _guarded(roles.RolesPage.as_view()), name="house-roles"),
    path("tables/houseterms/profiles/", _guarded(house_profiles.ProfilesPage.as_view()), name="house-profiles"),
    path(
        "tables/houseterms/profiles/<slug:name>/", _guarded(house_profiles.ProfilePage.as_view()), name="house-profile"
    ),
    path("tables/limitplan/", _guarded(plans.PlansPage.as_view())),
    path("tables/limitplan/add/", _guarded(plans.PlanPage.as_view())),
    path("tables/limitplan/<path:object_id>/change/", _guarded(plans.PlanPage.as_view())),
    path("tables/paytable/add/", _guarded(pay_tables.PayTablePage.as_view())),
    path("tables/proposal/<path:object_id>/change/", _guarded(proposals.ProposalPage.as_view())),
    path("tables/pitsection/plan/", _guarded(floor_plans.FloorPlanPage.as_view()), name="floor-plan"),
    path("tables/post/grid/", _guarded(pit_assignments.PitAssignmentPage.as_view()), name="posts"),
    path("tables/table/grid/", _guarded(grid.GridPage.as_view()), name="limit-grid"),
    path("tables/table/grid.csv", _guarded(grid.GridFile.as_view()), name="limit-grid-csv"),
    path("tables/table/grid/import/", _guarded(grid.LimitImport.as_view()), name="limit-grid-import"),
    path("tables/table/limits/history/", _guarded(history.LimitHistory.as_view()), name="limit-history"),
    path("tables/table/limits/history.csv", _guarded(history.LimitHistoryFile.as_view()), name="limit-history-csv"),
]
"""A page without a name of its own takes the place of a model admin's page, and has its address and name."""
