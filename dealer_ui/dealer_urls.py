"""Addresses of the dealer's screens."""

from __future__ import annotations

from django.urls import path

from dealer_ui import dealer, disputes, seats

app_name = "dealer"

urlpatterns = [
    path("", dealer.tables, name="tables"),
    path("<int:pk>/", dealer.dealer_screen, name="screen"),
    path("<int:pk>/board", dealer.fragment, name="board"),
    path("<int:pk>/input", dealer.enter, name="input"),
    path("<int:pk>/take", dealer.take, name="take"),
    path("<int:pk>/seats/", seats.hand_over, name="seats"),
    path("<int:pk>/dispute/", disputes.at_the_table, name="dispute"),
    path("<int:pk>/leave", dealer.leave, name="leave"),
]
