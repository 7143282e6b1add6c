"""Every address of a head office: those of a house, and its own, which begin with its front page."""

from django.urls import include, path

from casino import urls
from casino.urls import handler400, handler500  # noqa: F401 -- Django looks for them here
from office.pages import front

urlpatterns = [path("", front), path("office/", include("office.urls")), *urls.urlpatterns]
