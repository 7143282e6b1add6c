"""Addresses of the dealer's screens."""

from __future__ import annotations

from django.urls import path

from dealer_ui.dealer import cash, doors, mishaps, pages, papers, reopening
from dealer_ui.pit.records import disputes
from dealer_ui.players import seats

app_name = "dealer"

urlpatterns = [
    path("", doors.tables, name="tables"),
    path("<int:pk>/", pages.dealer_screen, name="screen"),
    path("<int:pk>/board", pages.fragment, name="board"),
    path("<int:pk>/reader", pages.reader, name="reader"),
    path("<int:pk>/input", pages.enter, name="input"),
    path("<int:pk>/call", pages.call, name="call"),
    path("<int:pk>/take", doors.take, name="take"),
    path("<int:pk>/seats/", seats.hand_over, name="seats"),
    path("<int:pk>/dispute/", disputes.at_the_table, name="dispute"),
    path("<int:pk>/mishaps/", mishaps.listed, name="mishaps"),
    path("<int:pk>/mishaps/<slug:mishap>/", mishaps.sheet, name="mishap"),
    path("<int:pk>/reopen/", reopening.reopen, name="reopen"),
    path("<int:pk>/papers/", papers.papers, name="papers"),
    path("<int:pk>/cash/", cash.cash, name="cash"),
    path("<int:pk>/relief/", doors.hand_over, name="relief"),
    path("<int:pk>/leave", doors.leave, name="leave"),
]
