"""All URLs of a site: health, admin, API and screens."""

from django.contrib import admin
from django.urls import include, path

from casino.ops.health import healthz
from casino.ops.metrics import metrics
from dealer_ui.accounts.urls import admin_urlpatterns
from tables.api.urls import V1_PATTERNS

handler400 = "casino.web.failures.bad_request"
handler500 = "casino.web.failures.server_error"

urlpatterns = [
    path("healthz", healthz, name="healthz"),
    path("metrics", metrics, name="metrics"),
    path("admin/", include(admin_urlpatterns)),
    path("admin/", include("dealer_ui.operator.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", include((V1_PATTERNS, "api"), namespace="v1")),
    path("api/", include("tables.api.urls")),
    path("", include("dealer_ui.urls")),  # before the accounts: dealers' inputs resolve faster
    path("", include("dealer_ui.accounts.urls")),
]
