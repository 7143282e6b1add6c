"""Addresses of the page of a seat: by its token, without a sign-in."""

from __future__ import annotations

from django.urls import path

from dealer_ui.seats import pages

urlpatterns = [
    path("", pages.seat, name="seat"),
    path("board", pages.fragment, name="seat-board"),
    path("choose", pages.choose, name="seat-choose"),
    path("live", pages.news, name="seat-live"),
]
