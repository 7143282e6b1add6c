"""Addresses of every screen."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from dealer_ui import cage, dealer, live, seats

urlpatterns: list[URLPattern | URLResolver] = [
    path("", dealer.home, name="home"),
    path("tables/", include("dealer_ui.dealer_urls")),
    path("pit/", include("dealer_ui.pit_urls")),
    path("practice/", include("dealer_ui.practice_urls")),
    path("slips/", include("dealer_ui.slips_urls")),
    path("cage/", cage.cage, name="cage"),
    path("seat/<str:token>/", seats.seat, name="seat"),
    path("seat/<str:token>/board", seats.fragment, name="seat-board"),
    path("seat/<str:token>/choose", seats.choose, name="seat-choose"),
    path("seat/<str:token>/live", seats.news, name="seat-live"),
    path("live/", live.live, name="live"),
]
