"""The head office's URLs."""

from django.urls import path

from casino.office import line, views

app_name = "office"
urlpatterns = [
    path("", views.houses, name="houses"),
    path("figures/", views.figures, name="figures"),
    path("figures.csv", views.figures_csv, name="figures-csv"),
    path("houses/<slug:code>/", views.house, name="house"),
    path("houses/<slug:code>.csv", views.days_csv, name="days-csv"),
    path("arrivals/<slug:code>/", line.arrivals, name="arrivals"),
]
