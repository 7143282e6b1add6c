"""Addresses of slips, all of them under ``/slips/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.cage import back_entry, chips, slips

app_name = "slips"

urlpatterns = [
    path("", slips.book, name="book"),
    path("slips.csv", slips.book_csv, name="book-csv"),
    path("chips/", chips.chips, name="chips"),
    path("chips.csv", chips.chips_csv, name="chips-csv"),
    path("counterfeit.csv", chips.counterfeit_csv, name="counterfeit-csv"),
    path("papers/", back_entry.papers, name="papers"),
    path("keys/", slips.keys, name="custody"),
    path("keys.csv", slips.keys_csv, name="custody-csv"),
    path("passkey/", slips.passkey, name="passkey"),
    path("<int:pk>/new/<slug:series>/", slips.begin, name="begin"),
    path("<int:pk>/<slug:series>/<int:year>/<int:number>/", slips.slip, name="slip"),
]
