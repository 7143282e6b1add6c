"""Addresses of practice and certificates, all of them under ``/practice/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.exports import addresses
from dealer_ui.guards import viewer_of
from dealer_ui.training import views

app_name = "practice"

urlpatterns = [
    path("", views.begin, name="begin"),
    *addresses("certificates", "certificates", views.CERTIFICATES, viewer_of, views.certificates),
    path("certificates/<int:number>/", views.certificate, name="certificate"),
    path("<int:pk>/", views.session, name="session"),
    path("<int:pk>/answer", views.answer, name="answer"),
    path("<int:pk>/certify", views.certify, name="certify"),
]
