"""Addresses of slips, all of them under ``/slips/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.cage import back_entry, chips, slips
from dealer_ui.exports import addresses
from dealer_ui.guards import viewer_of

app_name = "slips"

urlpatterns = [
    path("", slips.book, name="book"),
    *addresses("slips", "book", slips.SIGNED_SLIPS, slips.readable_slips),
    *addresses("chips", "chips", chips.CHIPS, viewer_of, chips.chips),
    *addresses("counterfeit", "counterfeit", chips.COUNTERFEIT, viewer_of),
    path("papers/", back_entry.logs_in_back_entry, name="papers"),
    *addresses("keys", "custody", slips.KEYS, slips.read_register, slips.keys),
    path("passkey/", slips.passkey, name="passkey"),
    path("<int:pk>/new/<slug:series>/", slips.begin, name="begin"),
    path("<int:pk>/<slug:series>/<int:year>/<int:number>/", slips.slip, name="slip"),
]
