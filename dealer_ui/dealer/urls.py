"""Addresses of the dealer's screens."""

from __future__ import annotations

from django.urls import path

from dealer_ui.dealer import cash, irregularities, relief, round_back_entry, round_reopening, views
from dealer_ui.pit.records import disputes
from dealer_ui.players import seats

app_name = "dealer"

urlpatterns = [
    path("", relief.tables, name="tables"),
    path("<int:pk>/", views.dealer_screen, name="screen"),
    path("<int:pk>/board", views.fragment, name="board"),
    path("<int:pk>/reader", views.reader, name="reader"),
    path("<int:pk>/next-push", views.rotation, name="next-push"),
    path("<int:pk>/input", views.enter, name="input"),
    path("<int:pk>/call", views.call, name="call"),
    path("<int:pk>/take", relief.take, name="take"),
    path("<int:pk>/seats/", seats.hand_over, name="seats"),
    path("<int:pk>/dispute/", disputes.at_the_table, name="dispute"),
    path("<int:pk>/mishaps/", irregularities.listed, name="mishaps"),
    path("<int:pk>/mishaps/<slug:mishap>/", irregularities.sheet, name="mishap"),
    path("<int:pk>/reopen/", round_reopening.reopen, name="reopen"),
    path("<int:pk>/papers/", round_back_entry.rounds_from_paper, name="papers"),
    path("<int:pk>/cash/", cash.cash, name="cash"),
    path("<int:pk>/relief/", relief.hand_over, name="relief"),
    path("<int:pk>/leave", relief.leave, name="leave"),
]
