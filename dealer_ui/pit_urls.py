"""Addresses of the pit, all of them under ``/pit/``."""

from __future__ import annotations

from django.urls import path, register_converter

from dealer_ui import disputes, penetration, pit, reconciling, reports, shoe_audits
from dealer_ui.dates import Day

app_name = "pit"
register_converter(Day, "day")

urlpatterns = [
    path("", pit.floor, name="floor"),
    path("alerts/", pit.alerts, name="alerts"),
    path("alerts/<int:pk>/acknowledge", pit.acknowledge, name="acknowledge"),
    path("alerts.csv", pit.alerts_csv, name="alerts-csv"),
    path("reports/", reports.reports, name="reports"),
    path("reports.csv", reports.reports_csv, name="reports-csv"),
    path("reports/<day:day>/close", reports.close_day, name="close-day"),
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
    path("tables/<int:pk>/", pit.table, name="table"),
    path("tables/<int:pk>/rounds", pit.rounds, name="rounds"),
    path("tables/<int:pk>/rounds.csv", pit.rounds_csv, name="rounds-csv"),
    path("tables/<int:pk>/rounds/<int:number>/", pit.round_, name="round"),
    path("tables/<int:pk>/rounds/<int:number>/record.json", pit.record, name="record"),
    path("tables/<int:pk>/rounds/<int:number>/steps.csv", pit.steps_csv, name="steps-csv"),
    path("tables/<int:pk>/log/", pit.log, name="log"),
    path("tables/<int:pk>/log.csv", pit.log_csv, name="log-csv"),
    path("tables/<int:pk>/do/<slug:name>/", pit.act, name="act"),
]
