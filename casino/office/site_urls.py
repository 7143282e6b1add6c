"""All URLs of a head office: those of a site, and its own, starting with its front page."""

from django.urls import include, path

from casino import urls
from casino.office.views import front
from casino.urls import handler400, handler500  # noqa: F401 -- Django looks for them here

urlpatterns = [path("", front), path("office/", include("casino.office.urls")), *urls.urlpatterns]
