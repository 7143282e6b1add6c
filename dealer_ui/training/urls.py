"""Addresses of practice and certificates, all of them under ``/practice/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui.training import pages

app_name = "practice"

urlpatterns = [
    path("", pages.begin, name="begin"),
    path("certificates/", pages.certificates, name="certificates"),
    path("certificates.csv", pages.certificates_csv, name="certificates-csv"),
    path("certificates/<int:number>/", pages.certificate, name="certificate"),
    path("<int:pk>/", pages.session, name="session"),
    path("<int:pk>/answer", pages.answer, name="answer"),
    path("<int:pk>/certify", pages.certify, name="certify"),
]
