"""Addresses of practice and certificates, all of them under ``/practice/``."""

from __future__ import annotations

from django.urls import path

from dealer_ui import training

app_name = "practice"

urlpatterns = [
    path("", training.begin, name="begin"),
    path("certificates/", training.certificates, name="certificates"),
    path("certificates.csv", training.certificates_csv, name="certificates-csv"),
    path("certificates/<int:number>/", training.certificate, name="certificate"),
    path("<int:pk>/", training.session, name="session"),
    path("<int:pk>/answer", training.answer, name="answer"),
    path("<int:pk>/certify", training.certify, name="certify"),
]
