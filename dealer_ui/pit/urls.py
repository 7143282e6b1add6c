"""Addresses of the pit's floor, tables, alerts and records, under ``/pit/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.exports import addresses
from dealer_ui.guards import viewer_of
from dealer_ui.pit.alerts import inbox, reconciliation, rules
from dealer_ui.pit.floor import assignments, floor_plan, search
from dealer_ui.pit.records import disputes, log_search, round_search, surveillance
from dealer_ui.pit.rotation import views as rotation
from dealer_ui.pit.tables import display, table_limits, views
from tables.audit.downloads import LOG, ROUND_STEPS, ROUNDS

urlpatterns = [
    path("", views.floor, name="floor"),
    path("plan/", floor_plan.plan, name="plan"),
    path("posts/", assignments.page, name="posts"),
    path("posts/cover", assignments.cover, name="cover"),
    path("posts/give-back", assignments.give_back, name="give-back"),
    path("rotation/", rotation.page, name="rotation"),
    path("rotation/push", rotation.push, name="push"),
    path("rotation/take-back", rotation.take_back, name="take-back"),
    path("rotation/move", rotation.move, name="move"),
    path("rotation/end", rotation.end, name="rotation-end"),
    path("rotation/new/", rotation.set_up, name="rotation-new"),
    path("rotation/strings/<path:string>/", rotation.set_up, name="rotation-set"),
    path("find/", search.find, name="find"),
    path("rounds/", round_search.round_search_page, name="round-search"),
    path("alerts/acknowledge", inbox.acknowledge, name="acknowledge"),
    *addresses("alerts", "alerts", inbox.ALERTS, inbox.read_filter, inbox.alerts),
    path("alerts/rules/", rules.rules_page, name="alert-rules"),
    path("alerts/rules/<slug:about>/", rules.rule_page, name="alert-rule"),
    path("alerts/delivery/", rules.channels_page, name="alert-channels"),
    path("alerts/delivery/<int:channel>/test", rules.send_test, name="test-channel"),
    path("alerts/delivery/<int:channel>/again", rules.send_all_again, name="send-all-again"),
    path("alerts/delivery/letters/<int:letter>/again", rules.send_again, name="send-again"),
    path("bookmarks/new", surveillance.mark_anywhere, name="bookmark-anywhere"),
    *addresses("bookmarks", "bookmarks", surveillance.BOOKMARKS, viewer_of, surveillance.bookmarks_page),
    path("tables/<int:pk>/bookmark", surveillance.mark, name="bookmark"),
    path("tables/<int:pk>/moment/", views.nearest_entry, name="moment"),
    *addresses("log", "search", log_search.FOUND_ENTRIES, log_search.read_search, log_search.log_search),
    *addresses(
        "discrepancies", "discrepancies", reconciliation.DISCREPANCIES, viewer_of, reconciliation.discrepancies_page
    ),
    path("discrepancies/<int:pk>/take", reconciliation.take, name="take-discrepancy"),
    path("discrepancies/<int:pk>/close", reconciliation.close, name="close-discrepancy"),
    *addresses("runs", "runs", reconciliation.RUNS, viewer_of, reconciliation.runs_page),
    *addresses("disputes", "disputes", disputes.DISPUTES, viewer_of, disputes.floor),
    *addresses("corrections", "corrections", disputes.CORRECTIONS, viewer_of),
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
    *addresses("tables/<int:pk>/rounds", "rounds", ROUNDS, views.rounds_query),
    path("tables/<int:pk>/rounds/<int:number>/", views.round_detail, name="round"),
    path("tables/<int:pk>/rounds/<int:number>/record.json", views.record, name="record"),
    *addresses("tables/<int:pk>/rounds/<int:number>/steps", "steps", ROUND_STEPS, views.steps_query),
    *addresses("tables/<int:pk>/log", "log", LOG, views.log_query, views.log),
    path("tables/<int:pk>/do/<slug:name>/", views.act, name="act"),
]
