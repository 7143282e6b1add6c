"""Addresses of every screen."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from dealer_ui import clocks
from dealer_ui.audit import urls as audit
from dealer_ui.cage import cage
from dealer_ui.dealer import relief
from dealer_ui.live import admission
from dealer_ui.pit import urls as pit
from dealer_ui.players import placards
from dealer_ui.reports import urls as reports

urlpatterns: list[URLPattern | URLResolver] = [
    path("", relief.home, name="home"),
    path("tables/", include("dealer_ui.dealer.urls")),
    path("pit/", include(([*pit.urlpatterns, *reports.urlpatterns, *audit.urlpatterns], "pit"))),
    path("practice/", include("dealer_ui.training.urls")),
    path("slips/", include("dealer_ui.cage.urls")),
    path("cage/", cage.cage, name="cage"),
    path("seat/<str:token>/", include("dealer_ui.players.urls")),
    path("placard/pit/<str:token>/", placards.pit, name="placard-pit"),
    path("placard/<str:token>/", placards.placard, name="placard"),
    path("clock/", clocks.browser_clock, name="clock"),
    path("live/", admission.live, name="live"),
]
