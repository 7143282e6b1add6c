"""Addresses of every screen."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from dealer_ui import dealer, live

urlpatterns: list[URLPattern | URLResolver] = [
    path("", dealer.home, name="home"),
    path("tables/", include("dealer_ui.dealer_urls")),
    path("pit/", include("dealer_ui.pit_urls")),
    path("live/", live.live, name="live"),
]
