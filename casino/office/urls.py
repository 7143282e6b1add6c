"""The head office's URLs."""

from django.urls import path

from casino.office import line, views
from dealer_ui.exports import addresses

app_name = "office"
urlpatterns = [
    path("", views.houses, name="houses"),
    *addresses("figures", "figures", views.FIGURES, views.span_and_house, views.figures),
    path("houses/<slug:code>/", views.house, name="house"),
    *addresses("houses/<slug:code>", "days", views.DAYS, views.house_of),
    path("arrivals/<slug:code>/", line.arrivals, name="arrivals"),
]
