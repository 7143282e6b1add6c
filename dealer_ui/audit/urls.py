"""Addresses of the auditors' pages, under ``/pit/``."""

from __future__ import annotations

from django.urls import path

import dealer_ui.dates  # noqa: F401 -- registers the converter "day"
from dealer_ui.audit import access_reviews, health, home, restored_tables

urlpatterns = [
    path("restored/", restored_tables.page, name="restored"),
    path("restored.csv", restored_tables.restored_csv, name="restored-csv"),
    path("restored/<int:pk>/confirm", restored_tables.confirm, name="confirm-restored"),
    path("health/", health.health, name="health"),
    path("health.json", health.health_json, name="health-json"),
    path("access/", access_reviews.access, name="access"),
    path("access.csv", access_reviews.access_csv, name="access-csv"),
    path("audit/", home.home, name="audit"),
    path("audit/ask", home.ask, name="audit-ask"),
    path("audit/bundles/<day:day>.zip", home.bundle, name="audit-bundle"),
]
