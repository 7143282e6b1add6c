"""The API's addresses."""

from django.urls import path, re_path

from tables.api import events, views

app_name = "api"
urlpatterns = [
    path("tables/", views.Tables.as_view(), name="tables"),
    path("tables/<int:pk>/", views.OneTable.as_view(), name="table"),
    path("tables/<int:pk>/inputs/", views.Inputs.as_view(), name="inputs"),
    path("tables/<int:pk>/rounds/<int:number>/", views.OneRound.as_view(), name="round"),
    path("events/", events.Events.as_view(), name="events"),
    path("problems/<slug:code>/", views.OneProblem.as_view(), name="problem"),
    path("schema/", views.Schema.as_view(), name="schema"),
    re_path(r"", views.Nowhere.as_view(), name="nowhere"),
]
