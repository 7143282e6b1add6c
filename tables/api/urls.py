"""The addresses of the API. Those of slips and disputes differ between the versions."""

from __future__ import annotations

from datetime import date
from typing import Any, Final

from django.urls import URLPattern, path, re_path, register_converter

from tables.api import (
    alerts,
    disputes,
    events,
    figures,
    files,
    floor,
    pit_assignments,
    readers,
    records,
    rotation,
    settings,
    slips,
    views,
)
from tables.log.moments import is_possible


class GamingDay:
    """A gaming day in an address, such as 2026-01-31."""

    regex = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

    def to_python(self, value: str) -> date:
        """The day. Raises ValueError for one outside the supported years, so that the address is not found."""
        day = date.fromisoformat(value)
        if not is_possible(day):
            raise ValueError(value)
        return day

    def to_url(self, value: date) -> str:
        return value.isoformat()


class SlipId:
    """The id of a slip in v1, such as `fill-2026-3`, which is read as the parameters of the views."""

    regex = "[a-z]{1,16}-[1-9][0-9]{3}-[1-9][0-9]{0,8}"

    def to_python(self, value: str) -> dict[str, str | int]:
        series, year, number = value.split("-")
        return {"series": series, "year": int(year), "number": int(number)}

    def to_url(self, value: str) -> str:
        return value


class DisputeId:
    """The id of a dispute in v1: that of its table and its number there, such as `1-12`."""

    regex = "[0-9]+-[0-9]+"

    def to_python(self, value: str) -> dict[str, int]:
        pk, number = value.split("-")
        return {"pk": int(pk), "number": int(number)}

    def to_url(self, value: str) -> str:
        return value


register_converter(GamingDay, "gaming_day")
register_converter(SlipId, "slip_id")
register_converter(DisputeId, "dispute_id")
LIST: Final[dict[str, Any]] = {"get": "list"}
RETRIEVE: Final[dict[str, Any]] = {"get": "retrieve"}
SIGN: Final[dict[str, Any]] = {"post": "sign"}
_CORRECTION = "tables/<int:pk>/corrections/<int:year>/<int:number>/"
_PROPOSAL = "proposals/<int:number>/"


def _routes(*, slip: str, dispute: str) -> list[URLPattern]:
    return [
        path("tables/", views.Tables.as_view(LIST), name="tables"),
        path("tables/<int:pk>/", views.Tables.as_view(RETRIEVE), name="table"),
        path("tables/<int:pk>/inputs/", views.Tables.as_view({"post": "enter"}), name="inputs"),
        path(
            "tables/<int:pk>/reader/", readers.Reader.as_view({"get": "retrieve", "post": "name_card"}), name="reader"
        ),
        path("tables/<int:pk>/rounds/", floor.Rounds.as_view(LIST), name="rounds"),
        path("tables/<int:pk>/rounds/<int:number>/", views.OneRound.as_view(RETRIEVE), name="round"),
        path("tables/<int:pk>/rounds/file/", files.Files.as_view({"get": "rounds"}), name="rounds-file"),
        path("tables/<int:pk>/log/file/", files.Files.as_view({"get": "log"}), name="log-file"),
        path("events/", events.Events.as_view(LIST), name="events"),
        path(
            "tables/<int:pk>/settings/",
            settings.TableSettings.as_view({"get": "retrieve", "post": "change"}),
            name="settings",
        ),
        path("tables/<int:pk>/limits/", settings.TableLimitsNow.as_view(RETRIEVE), name="limits"),
        path("tables/<int:pk>/proposals/", settings.TableSettings.as_view({"post": "propose"}), name="table-proposals"),
        path("tables/<int:pk>/disputes/", disputes.Disputes.as_view({"post": "open"}), name="table-disputes"),
        path(dispute, disputes.Disputes.as_view(RETRIEVE), name="dispute"),
        path(f"{dispute}notes/", disputes.Disputes.as_view({"post": "note"}), name="dispute-notes"),
        path(f"{dispute}ruling/", disputes.Disputes.as_view({"post": "rule"}), name="dispute-ruling"),
        path(f"{dispute}closing/", disputes.Disputes.as_view({"post": "close"}), name="dispute-closing"),
        path(
            "tables/<int:pk>/corrections/", disputes.Corrections.as_view({"post": "propose"}), name="table-corrections"
        ),
        path(_CORRECTION, disputes.Corrections.as_view(RETRIEVE), name="correction"),
        path(f"{_CORRECTION}signatures/", disputes.Corrections.as_view(SIGN), name="correction-signatures"),
        path(f"{_CORRECTION}refusals/", disputes.Corrections.as_view({"post": "decline"}), name="correction-refusals"),
        path("disputes/", disputes.Disputes.as_view(LIST), name="disputes"),
        path("corrections/", disputes.Corrections.as_view(LIST), name="corrections"),
        path("slips/", slips.Slips.as_view({"get": "list", "post": "begin"}), name="slips"),
        path(slip, slips.Slips.as_view(RETRIEVE), name="slip"),
        path(f"{slip}signatures/", slips.Slips.as_view(SIGN), name="slip-signatures"),
        path(f"{slip}void/", slips.Slips.as_view({"post": "void"}), name="slip-void"),
        path("limit-plans/", settings.LimitPlans.as_view({"get": "list", "post": "set_plan"}), name="limit-plans"),
        path("limit-plans/proposals/", settings.LimitPlans.as_view({"post": "propose"}), name="limit-plan-proposals"),
        path("posts/", pit_assignments.Posts.as_view({"get": "list", "post": "set_post"}), name="posts"),
        path("covers/", pit_assignments.Covers.as_view({"post": "take_over"}), name="covers"),
        path("covers/ends/", pit_assignments.Covers.as_view({"post": "give_back"}), name="cover-ends"),
        path("rotation/", rotation.LineUps.as_view(LIST), name="rotation"),
        path("rotation/pushes/", rotation.LineUps.as_view({"post": "push"}), name="rotation-pushes"),
        path("rotation/pushes/take-back/", rotation.LineUps.as_view({"post": "take_back"}), name="rotation-take-back"),
        path("proposals/", settings.Proposals.as_view(LIST), name="proposals"),
        path(_PROPOSAL, settings.Proposals.as_view(RETRIEVE), name="proposal"),
        path(f"{_PROPOSAL}approval/", settings.Proposals.as_view({"post": "approve"}), name="proposal-approval"),
        path(f"{_PROPOSAL}refusal/", settings.Proposals.as_view({"post": "decline"}), name="proposal-refusal"),
        path(f"{_PROPOSAL}withdrawal/", settings.Proposals.as_view({"post": "withdraw"}), name="proposal-withdrawal"),
        path("alerts/", alerts.Alerts.as_view(LIST), name="alerts"),
        path("alerts/acknowledgements/", alerts.Alerts.as_view({"post": "acknowledge"}), name="acknowledgements"),
        path("figures/", figures.FiguresOfSpan.as_view(RETRIEVE), name="figures"),
        path("days/", figures.Days.as_view(LIST), name="days"),
        path("days/<gaming_day:day>/", figures.Days.as_view(RETRIEVE), name="day"),
        path("days/<gaming_day:day>/signatures/", figures.Days.as_view(SIGN), name="day-signatures"),
        path("days/<gaming_day:day>/bundle/", files.Files.as_view({"get": "bundle"}), name="day-bundle"),
        path("staff/on-duty/", floor.StaffOnDuty.as_view(LIST), name="staff-on-duty"),
        path("house/holdings/", floor.Holdings.as_view(RETRIEVE), name="holdings"),
        path("log/", records.Log.as_view(LIST), name="log"),
        path("exports/", records.Exports.as_view({"get": "list", "post": "start"}), name="exports"),
        path("exports/<int:number>/", records.Exports.as_view(RETRIEVE), name="export"),
        path("problems/<slug:code>/", views.OneProblem.as_view(), name="problem"),
        path("reference/", views.Reference.as_view(), name="reference"),
        path("schema/", views.Schema.as_view(), name="schema"),
        re_path(r"", views.Nowhere.as_view(), name="nowhere"),
    ]


app_name = "api"
urlpatterns = _routes(
    slip="slips/<slug:series>/<int:year>/<int:number>/", dispute="tables/<int:pk>/disputes/<int:number>/"
)
V1_PATTERNS = _routes(slip="slips/<slip_id:slip>/", dispute="disputes/<dispute_id:dispute>/")
"""The routes of v1, in which each slip and each dispute has one id."""
