"""Addresses of slips, all of them under ``/slips/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.slips import chips, pages, papers

app_name = "slips"

urlpatterns = [
    path("", pages.book, name="book"),
    path("slips.csv", pages.book_csv, name="book-csv"),
    path("chips/", chips.chips, name="chips"),
    path("chips.csv", chips.chips_csv, name="chips-csv"),
    path("counterfeit.csv", chips.counterfeit_csv, name="counterfeit-csv"),
    path("papers/", papers.papers, name="papers"),
    path("keys/", pages.keys, name="custody"),
    path("keys.csv", pages.keys_csv, name="custody-csv"),
    path("passkey/", pages.passkey, name="passkey"),
    path("<int:pk>/new/<slug:series>/", pages.begin, name="begin"),
    path("<int:pk>/<slug:series>/<int:year>/<int:number>/", pages.slip, name="slip"),
]
