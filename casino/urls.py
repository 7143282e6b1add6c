"""Every address of the house: administration, the API, health, and the screens."""

from django.contrib import admin
from django.urls import include, path

from casino.health import healthz

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("admin/", admin.site.urls),
    path("api/", include("tables.api.urls")),
    path("", include("dealer_ui.urls")),
]
