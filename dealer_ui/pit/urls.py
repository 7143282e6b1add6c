"""Addresses of the pit, all of them under ``/pit/``."""

from __future__ import annotations

from django.urls import path, register_converter

from dealer_ui.dates import Day
from dealer_ui.pit import (
    access_reviews,
    alert_rules,
    display,
    disputes,
    inventories,
    pages,
    penetration,
    reconciling,
    reports,
    shoe_audits,
    surveillance,
)

app_name = "pit"
register_converter(Day, "day")

urlpatterns = [
    path("", pages.floor, name="floor"),
    path("alerts/", pages.alerts, name="alerts"),
    path("alerts/<int:pk>/acknowledge", pages.acknowledge, name="acknowledge"),
    path("alerts.csv", pages.alerts_csv, name="alerts-csv"),
    path("alerts/rules/", alert_rules.rules_page, name="alert-rules"),
    path("alerts/rules/<slug:about>/", alert_rules.rule_page, name="alert-rule"),
    path("alerts/delivery/", alert_rules.channels_page, name="alert-channels"),
    path("alerts/delivery/<int:channel>/test", alert_rules.send_test, name="test-channel"),
    path("bookmarks/", surveillance.bookmarks_page, name="bookmarks"),
    path("bookmarks/new", surveillance.mark_anywhere, name="bookmark-anywhere"),
    path("bookmarks.csv", surveillance.bookmarks_csv, name="bookmarks-csv"),
    path("tables/<int:pk>/bookmark", surveillance.mark, name="bookmark"),
    path("tables/<int:pk>/moment/", pages.moment_, name="moment"),
    path("reports/", reports.reports, name="reports"),
    path("reports.csv", reports.reports_csv, name="reports-csv"),
    path("cash.csv", reports.cash_csv, name="cash-csv"),
    path("reports/<day:day>/close", reports.close_day, name="close-day"),
    path("chips/", inventories.inventories, name="inventory"),
    path("chips.csv", inventories.inventories_csv, name="inventory-csv"),
    path("access/", access_reviews.access, name="access"),
    path("access.csv", access_reviews.access_csv, name="access-csv"),
    path("penetration/", penetration.penetration, name="penetration"),
    path("penetration.csv", penetration.penetration_csv, name="penetration-csv"),
    path("discrepancies/", reconciling.discrepancies_page, name="discrepancies"),
    path("discrepancies.csv", reconciling.discrepancies_csv, name="discrepancies-csv"),
    path("discrepancies/<int:pk>/take", reconciling.take, name="take-discrepancy"),
    path("discrepancies/<int:pk>/close", reconciling.close, name="close-discrepancy"),
    path("runs/", reconciling.runs_page, name="runs"),
    path("runs.csv", reconciling.runs_csv, name="runs-csv"),
    path("disputes/", disputes.floor, name="disputes"),
    path("disputes.csv", disputes.disputes_csv, name="disputes-csv"),
    path("corrections.csv", disputes.corrections_csv, name="corrections-csv"),
    path("tables/<int:pk>/disputes/<int:number>/", disputes.dispute, name="dispute"),
    path("tables/<int:pk>/corrections/<int:year>/<int:number>/", disputes.correction, name="correction"),
    path("tables/<int:pk>/mispays/", disputes.finder, name="mispays"),
    path("tables/<int:pk>/rounds/<int:number>/dispute/", disputes.open_dispute, name="open-dispute"),
    path("tables/<int:pk>/rounds/<int:number>/correct/", disputes.correct, name="correct"),
    path("shoes/", shoe_audits.shoes, name="shoes"),
    path("shoes.csv", shoe_audits.shoes_csv, name="shoes-csv"),
    path("tables/<int:pk>/shoes/<int:seq>/", shoe_audits.shoe, name="shoe"),
    path("tables/<int:pk>/shoes/<int:seq>.csv", shoe_audits.shoe_csv, name="shoe-csv"),
    path("tables/<int:pk>/", pages.table, name="table"),
    path("tables/<int:pk>/float/", inventories.rack_float, name="float"),
    path("tables/<int:pk>/float.csv", inventories.rack_float_csv, name="float-csv"),
    path("tables/<int:pk>/display/", display.display, name="display"),
    path("tables/<int:pk>/rounds", pages.rounds, name="rounds"),
    path("tables/<int:pk>/rounds.csv", pages.rounds_csv, name="rounds-csv"),
    path("tables/<int:pk>/rounds/<int:number>/", pages.round_, name="round"),
    path("tables/<int:pk>/rounds/<int:number>/record.json", pages.record, name="record"),
    path("tables/<int:pk>/rounds/<int:number>/steps.csv", pages.steps_csv, name="steps-csv"),
    path("tables/<int:pk>/log/", pages.log, name="log"),
    path("tables/<int:pk>/log.csv", pages.log_csv, name="log-csv"),
    path("tables/<int:pk>/do/<slug:name>/", pages.act, name="act"),
]
