"""Addresses of the pit's floor, tables, alerts and records, under ``/pit/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.pit.alerts import inbox, reconciliation, rules
from dealer_ui.pit.floor import assignments, floor_plan, search
from dealer_ui.pit.records import disputes, log_search, round_search, surveillance
from dealer_ui.pit.tables import display, table_limits, views

urlpatterns = [
    path("", views.floor, name="floor"),
    path("plan/", floor_plan.plan, name="plan"),
    path("posts/", assignments.page, name="posts"),
    path("posts/cover", assignments.cover, name="cover"),
    path("posts/give-back", assignments.give_back, name="give-back"),
    path("find/", search.find, name="find"),
    path("rounds/", round_search.round_search_page, name="round-search"),
    path("alerts/", inbox.alerts, name="alerts"),
    path("alerts/acknowledge", inbox.acknowledge, name="acknowledge"),
    path("alerts.csv", inbox.alerts_csv, name="alerts-csv"),
    path("alerts/rules/", rules.rules_page, name="alert-rules"),
    path("alerts/rules/<slug:about>/", rules.rule_page, name="alert-rule"),
    path("alerts/delivery/", rules.channels_page, name="alert-channels"),
    path("alerts/delivery/<int:channel>/test", rules.send_test, name="test-channel"),
    path("alerts/delivery/<int:channel>/again", rules.send_all_again, name="send-all-again"),
    path("alerts/delivery/letters/<int:letter>/again", rules.send_again, name="send-again"),
    path("bookmarks/", surveillance.bookmarks_page, name="bookmarks"),
    path("bookmarks/new", surveillance.mark_anywhere, name="bookmark-anywhere"),
    path("bookmarks.csv", surveillance.bookmarks_csv, name="bookmarks-csv"),
    path("tables/<int:pk>/bookmark", surveillance.mark, name="bookmark"),
    path("tables/<int:pk>/moment/", views.nearest_entry, name="moment"),
    path("log/", log_search.log_search, name="search"),
    path("log.csv", log_search.log_search_csv, name="search-csv"),
    path("discrepancies/", reconciliation.discrepancies_page, name="discrepancies"),
    path("discrepancies.csv", reconciliation.discrepancies_csv, name="discrepancies-csv"),
    path("discrepancies/<int:pk>/take", reconciliation.take, name="take-discrepancy"),
    path("discrepancies/<int:pk>/close", reconciliation.close, name="close-discrepancy"),
    path("runs/", reconciliation.runs_page, name="runs"),
    path("runs.csv", reconciliation.runs_csv, name="runs-csv"),
    path("disputes/", disputes.floor, name="disputes"),
    path("disputes.csv", disputes.disputes_csv, name="disputes-csv"),
    path("corrections.csv", disputes.corrections_csv, name="corrections-csv"),
    path("tables/<int:pk>/disputes/<int:number>/", disputes.dispute, name="dispute"),
    path("tables/<int:pk>/corrections/<int:year>/<int:number>/", disputes.correction, name="correction"),
    path("tables/<int:pk>/mispays/", disputes.finder, name="mispays"),
    path("tables/<int:pk>/rounds/<int:number>/dispute/", disputes.open_dispute, name="open-dispute"),
    path("tables/<int:pk>/rounds/<int:number>/correct/", disputes.correct, name="correct"),
    path("tables/<int:pk>/", views.table, name="table"),
    path("tables/<int:pk>/more/", views.table_drawer, name="more"),
    path("tables/<int:pk>/limits/", table_limits.limits, name="limits"),
    path("tables/<int:pk>/display/", display.display, name="display"),
    path("tables/<int:pk>/rounds", views.rounds, name="rounds"),
    path("tables/<int:pk>/rounds.csv", views.rounds_csv, name="rounds-csv"),
    path("tables/<int:pk>/rounds/<int:number>/", views.round_detail, name="round"),
    path("tables/<int:pk>/rounds/<int:number>/record.json", views.record, name="record"),
    path("tables/<int:pk>/rounds/<int:number>/steps.csv", views.steps_csv, name="steps-csv"),
    path("tables/<int:pk>/log/", views.log, name="log"),
    path("tables/<int:pk>/log.csv", views.log_csv, name="log-csv"),
    path("tables/<int:pk>/do/<slug:name>/", views.act, name="act"),
]
