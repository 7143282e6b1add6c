"""Addresses of slips, all of them under ``/slips/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui import slips

app_name = "slips"

urlpatterns = [
    path("", slips.book, name="book"),
    path("slips.csv", slips.book_csv, name="book-csv"),
    path("<int:pk>/new/<slug:series>/", slips.begin, name="begin"),
    path("<int:pk>/<slug:series>/<int:year>/<int:number>/", slips.slip, name="slip"),
]
