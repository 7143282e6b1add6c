"""Addresses of the auditors' pages, under ``/pit/``."""

from __future__ import annotations

from django.urls import path

import dealer_ui.dates  # noqa: F401 -- registers the converter "day"
from dealer_ui.audit import access_reviews, health, home, restored_tables
from dealer_ui.exports import addresses
from dealer_ui.guards import viewer_of
from tables.reports.access_review import ACCESS

urlpatterns = [
    *addresses("restored", "restored", restored_tables.RESTORED, viewer_of, restored_tables.page),
    path("restored/<int:pk>/confirm", restored_tables.confirm, name="confirm-restored"),
    path("health/", health.health, name="health"),
    path("health.json", health.health_json, name="health-json"),
    *addresses("access", "access", ACCESS, viewer_of, access_reviews.access),
    path("audit/", home.home, name="audit"),
    path("audit/ask", home.ask, name="audit-ask"),
    path("audit/bundles/<day:day>.zip", home.bundle, name="audit-bundle"),
]
