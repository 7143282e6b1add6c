"""Addresses of the page of a seat: by its token, without a sign-in."""

from __future__ import annotations

from django.urls import path

from dealer_ui.players import seats

urlpatterns = [
    path("", seats.seat, name="seat"),
    path("board", seats.fragment, name="seat-board"),
    path("choose", seats.choose, name="seat-choose"),
    path("live", seats.news, name="seat-live"),
]
