"""The head office's URLs."""

from django.urls import path

from casino.office import line, pages

app_name = "office"
urlpatterns = [
    path("", pages.houses, name="houses"),
    path("figures/", pages.figures, name="figures"),
    path("figures.csv", pages.figures_csv, name="figures-csv"),
    path("houses/<slug:code>/", pages.house, name="house"),
    path("houses/<slug:code>.csv", pages.days_csv, name="days-csv"),
    path("arrivals/<slug:code>/", line.arrivals, name="arrivals"),
]
