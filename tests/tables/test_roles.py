"""Which role may open and send what: every address of the site.

The guards of reports, of operators' pages and of the API follow from the permissions that each of them names. GUARDED
declares all others, and those that answer differently. An address without a declaration fails.
"""

import logging
import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import time, timedelta
from typing import Any

import msgspec
import pytest
from django.contrib.admin import site as admin_site
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.core.cache import cache
from django.db import transaction
from django.db.models import Model
from django.http import HttpResponseBase
from django.template import Template
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from ledger import alerts, discrepancies
from ledger.models import Account, Book, Finding, Recount, Run, Slip, SlipSignature, Transfer
from ledger.recount import recount
from tables.alerts import channels
from tables.api.operations import DECLARED as OPERATIONS_BY_METHOD
from tables.api.operations import Operation
from tables.approvals import proposals
from tables.audit import downloads
from tables.cage import chip_series, key_register
from tables.floor import recorder
from tables.floor.handlers import HANDLINGS
from tables.floor.inputs import OpenDispute
from tables.limits import plans
from tables.log import slip_types as slip_series
from tables.log.entries.custody import HouseKeySet
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.limit_plans import Always
from tables.models import Denomination, PitCover, Post, Staff, Table
from tables.refusals import Refused
from tables.reports.gaming_hours import DAY, day_of, default, set_hours
from tables.roles import PERMISSIONS, Role
from tables.setup import pay_tables, pit_assignments, pits, policies, service_accounts
from tables.setup.dual_control import ProposalDraft
from tables.setup.pit_assignments import AssignmentChange
from tables.setup.service_accounts import Access
from tables.staff import service_tokens, terminals
from tests import floor
from tests.tables.bundles import kept_for_a_module
from tests.tiers import sampled

IN = "to sign-in"
Row = tuple[int | str, ...]
VIEWERS = ("nobody", "a dealer elsewhere", "the dealer there", "a pit boss", "an operator", "an auditor")
PIT_BOSS, AUDITOR = VIEWERS.index("a pit boss"), VIEWERS.index("an auditor")
ROLES = (Role.DEALER, Role.DEALER, Role.PIT_BOSS, Role.OPERATOR, Role.AUDITOR)
"""The roles of the viewers who are signed in."""


@dataclass(frozen=True)
class Guard:
    """What each of the viewers gets: for looking (GET), and for sending an empty form (POST)."""

    get: Row
    post: Row


def everybody(status: int | str) -> Row:
    return (status,) * len(VIEWERS)


V1 = {
    "slips/<slug:series>/<int:year>/<int:number>/": "slips/<slip_id:slip>/",
    "tables/<int:pk>/disputes/<int:number>/": "disputes/<dispute_id:dispute>/",
}
"""The beginnings of the addresses of the API that v1 spells otherwise."""


def routes(text: str) -> set[str]:
    """The routes in a text. Each route of the API has one of v1 beside it, which admits the same roles."""
    named = set(text.split())
    return named | {of_v1(route) for route in named if route.startswith("api/")}


def of_v1(route: str) -> str:
    """The address of an operation of the API in v1."""
    path = route.removeprefix("api/")
    start = next((start for start in V1 if path.startswith(start)), "")
    return f"api/v1/{V1.get(start, '')}{path.removeprefix(start)}"


def admin(operator: int, auditor: int, operator_sends: int, auditor_sends: int) -> Guard:
    """Guard for pages of the admin, which two roles may open."""
    return Guard((IN, IN, IN, IN, operator, auditor), (IN, IN, IN, IN, operator_sends, auditor_sends))


SIGNING_IN = Guard(everybody(200), everybody(422))
SIGNING_OUT = Guard(everybody(302), everybody(IN))
ACCOUNT = Guard((IN, 200, 200, 200, 200, 200), (IN, 405, 405, 405, 405, 405))
OWN_SECRET = Guard((IN, 302, 302, 302, 302, 302), (IN, 422, 422, 422, 422, 422))
UNKNOWN_KEY = Guard((IN, 302, 302, 302, 302, 302), (IN, 404, 404, 404, 404, 404))
AT_THE_TABLE = Guard((IN, 403, 200, 403, 403, 403), (401, 405, 405, 403, 403, 403))
FORM_AT_THE_TABLE = Guard((IN, 403, 200, 403, 403, 403), (401, 403, 400, 403, 403, 403))
UNKNOWN_PAGE = Guard(everybody(404), everybody(405))
UNKNOWN_SEAT = Guard(everybody(404), everybody(404))
WATCH = Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 405, 405, 405))
SLIPS_LISTED = Guard((IN, 403, 403, 200, 200, 200), (IN, 405, 405, 405, 405, 405))
ACKNOWLEDGE = Guard((IN, 403, 403, 302, 302, 403), (IN, 403, 403, 302, 302, 403))
FORBIDDEN = Guard((IN, 403, 403, 403, 403, 403), (IN, 403, 403, 403, 403, 403))
UNKNOWN_MOMENT = Guard((IN, 403, 403, 404, 404, 404), (IN, 403, 403, 405, 405, 405))
RUN = Guard((IN, 403, 403, 200, 403, 403), (IN, 403, 403, 400, 403, 403))
SET_UP_TABLES = Guard((IN, 403, 403, 403, 200, 200), (IN, 403, 403, 403, 405, 405))
UNKNOWN_SHOE = Guard((IN, 403, 403, 403, 403, 404), (IN, 403, 403, 403, 403, 405))
UNKNOWN_PRACTICE = Guard((IN, 404, 404, 404, 404, 404), (IN, 405, 405, 405, 405, 405))
API_TABLE = Guard((401, 403, 200, 200, 200, 200), (401, 405, 405, 405, 405, 405))
API_SIGN_A_SLIP = Guard((401, 405, 405, 405, 405, 405), (401, 415, 415, 415, 415, 415))
API_SCHEMA = Guard((401, 403, 403, 200, 200, 200), (401, 403, 403, 405, 405, 405))
SHOWN = admin(200, 200, 405, 405)
READ = admin(200, 200, 200, 200)
UNKNOWN_IN_THE_ADMIN = admin(404, 404, 404, 404)
ASK_THEN_DO = admin(200, 403, 302, 403)
ADD = admin(200, 403, 200, 403)
KEYS = admin(302, 403, 302, 403)
BIND = admin(200, 200, 302, 403)
SET = admin(200, 200, 200, 403)
NEVER = admin(403, 403, 403, 403)
READ_ONLY = admin(200, 200, 403, 403)
MOVED = admin(302, 302, 302, 302)

GUARDED: dict[Guard, str] = {
    Guard(everybody(200), everybody(200)): "healthz",
    SIGNING_IN: "sign-in/ password/code/ emergency/",
    SIGNING_OUT: "sign-out/ admin/logout/",
    Guard(everybody(IN), everybody(200)): "sign-in/passkey/options/",
    Guard(everybody(IN), everybody(409)): "sign-in/passkey/",
    Guard(everybody(200), (403, 422, 422, 422, 422, 422)): "pin/",
    Guard((IN, 200, 200, 200, 200, 200), (IN, 422, 422, 422, 422, 422)): "password/",
    ACCOUNT: "account/ start/",
    OWN_SECRET: "account/pin/ account/passkeys/options/",
    Guard((IN, 302, 302, 302, 302, 302), (IN, 409, 409, 409, 409, 409)): "account/passkeys/",
    UNKNOWN_KEY: "account/passkeys/<int:pk>/withdraw/ account/passkeys/<int:pk>/vouch/ practice/<int:pk>/certify",
    Guard((IN, 403, 403, 200, 200, 403), (IN, 403, 403, 404, 404, 403)): "codes/",
    Guard((IN, 302, 302, 302, 302, 302), (IN, 302, 302, 302, 302, 302)): "start/read",
    Guard((IN, 200, 200, 200, 200, 200), (IN, 403, 403, 403, 403, 403)): "work-as/",
    Guard((IN, 403, 403, 403, 200, 403), (IN, 403, 403, 403, 422, 403)): "emergency/code/",
    Guard(everybody(200), (403, 400, 400, 400, 400, 400)): "terminal/",
    Guard(everybody(410), everybody(410)): "enrol/<str:code>/",
    Guard((IN, 200, 200, 403, 403, 403), (401, 405, 405, 403, 403, 403)): "tables/",
    AT_THE_TABLE: "tables/<int:pk>/ tables/<int:pk>/board tables/<int:pk>/mishaps/",
    Guard((IN, 404, 404, 403, 403, 403), (401, 405, 405, 403, 403, 403)): "tables/<int:pk>/reader",
    Guard((IN, 404, 200, 403, 403, 403), (401, 405, 405, 403, 403, 403)): "tables/<int:pk>/next-push",
    Guard((IN, 302, 302, 403, 403, 403), (401, 403, 400, 403, 403, 403)): "tables/<int:pk>/input",
    Guard((IN, 302, 302, 403, 403, 403), (401, 302, 302, 403, 403, 403)): "tables/<int:pk>/call",
    Guard((IN, 302, 302, 403, 403, 403), (401, 200, 302, 403, 403, 403)): "tables/<int:pk>/take",
    Guard((IN, 302, 302, 403, 403, 403), (401, 403, 302, 403, 403, 403)): "tables/<int:pk>/leave",
    FORM_AT_THE_TABLE: """
        tables/<int:pk>/cash/ tables/<int:pk>/dispute/ tables/<int:pk>/papers/ tables/<int:pk>/reopen/
        tables/<int:pk>/mishaps/<slug:mishap>/
    """,
    Guard((IN, 403, 200, 403, 403, 403), (401, 403, 422, 403, 403, 403)): "tables/<int:pk>/relief/",
    Guard((IN, 403, 200, 200, 403, 403), (IN, 403, 400, 400, 403, 403)): "tables/<int:pk>/seats/",
    UNKNOWN_PAGE: "placard/<str:token>/ placard/pit/<str:token>/ metrics",
    UNKNOWN_SEAT: "seat/<str:token>/ seat/<str:token>/board seat/<str:token>/choose seat/<str:token>/live",
    WATCH: """
        pit/ pit/plan/ pit/posts/ pit/alerts/rules/ pit/alerts/delivery/ pit/tables/<int:pk>/mispays/
        pit/tables/<int:pk>/ pit/tables/<int:pk>/more/ pit/tables/<int:pk>/rounds
        pit/tables/<int:pk>/rounds/<int:number>/ pit/tables/<int:pk>/rounds/<int:number>/record.json pit/health/
        pit/health.json pit/rounds/ pit/rotation/
    """,
    Guard((IN, 403, 403, 302, 403, 403), (IN, 403, 403, 400, 403, 403)): "pit/restored/<int:pk>/confirm",
    Guard((IN, 403, 403, 302, 403, 403), (IN, 403, 403, 422, 403, 403)): """
        pit/posts/cover pit/rotation/push pit/rotation/take-back pit/rotation/move pit/rotation/end
    """,
    Guard((IN, 403, 403, 302, 403, 403), (IN, 403, 403, 409, 403, 403)): "pit/posts/give-back",
    SLIPS_LISTED: "pit/find/ slips/slips.csv slips/keys/ slips/keys.csv",
    ACKNOWLEDGE: """
        pit/alerts/acknowledge pit/alerts/delivery/<int:channel>/again pit/alerts/delivery/letters/<int:letter>/again
        pit/discrepancies/<int:pk>/take pit/discrepancies/<int:pk>/close
    """,
    Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 422, 403, 403)): "pit/alerts/rules/<slug:about>/",
    Guard((IN, 403, 403, 403, 302, 403), (IN, 403, 403, 403, 302, 403)): "pit/alerts/delivery/<int:channel>/test",
    FORBIDDEN: "pit/bookmarks/new pit/tables/<int:pk>/bookmark admin/login/",
    UNKNOWN_MOMENT: "pit/tables/<int:pk>/moment/ pit/tables/<int:pk>/display/",
    Guard((IN, 302, 302, 302, 302, 302), (IN, 400, 400, 400, 400, 400)): "clock/",
    Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 400, 403, 403)): "pit/tables/<int:pk>/disputes/<int:number>/",
    Guard((IN, 403, 403, 404, 404, 404), (IN, 403, 403, 404, 404, 404)): """
        pit/tables/<int:pk>/corrections/<int:year>/<int:number>/
    """,
    RUN: "pit/tables/<int:pk>/rounds/<int:number>/dispute/ pit/tables/<int:pk>/do/<slug:name>/",
    Guard((IN, 403, 403, 200, 403, 403), (IN, 403, 403, 422, 403, 403)): """
        pit/tables/<int:pk>/rounds/<int:number>/correct/ pit/rotation/new/ pit/rotation/strings/<path:string>/
    """,
    Guard((IN, 403, 403, 302, 302, 302), (IN, 403, 403, 302, 302, 302)): "pit/reports/<day:day>/close",
    Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 400, 400, 403)): "pit/tables/<int:pk>/limits/",
    Guard((IN, 403, 403, 403, 200, 200), (IN, 403, 403, 403, 422, 422)): "pit/access/",
    SET_UP_TABLES: "pit/audit/",
    Guard((IN, 403, 403, 403, 302, 302), (IN, 403, 403, 403, 404, 404)): "pit/audit/ask",
    Guard((IN, 403, 403, 403, 302, 302), (IN, 403, 403, 403, 405, 405)): "pit/audit/bundles/<day:day>.zip",
    UNKNOWN_SHOE: "pit/tables/<int:pk>/shoes/<int:seq>/ pit/tables/<int:pk>/shoes/<int:seq>.csv",
    Guard((IN, 200, 200, 403, 403, 403), (401, 302, 302, 403, 403, 403)): "practice/",
    UNKNOWN_PRACTICE: "practice/certificates/<int:number>/ practice/<int:pk>/",
    Guard((IN, 302, 302, 403, 403, 403), (401, 404, 404, 403, 403, 403)): "practice/<int:pk>/answer",
    Guard((IN, 403, 403, 403, 403, 200), (IN, 403, 403, 403, 403, 400)): "cage/",
    Guard((IN, 403, 200, 200, 200, 200), (IN, 405, 405, 405, 405, 405)): "slips/",
    Guard((IN, 403, 403, 200, 200, 200), (IN, 403, 403, 400, 400, 400)): "slips/papers/",
    Guard((IN, 302, 302, 302, 302, 302), (IN, 200, 200, 200, 200, 200)): "slips/passkey/",
    Guard((IN, 403, 200, 200, 200, 200), (IN, 403, 400, 400, 400, 400)): "slips/<int:pk>/new/<slug:series>/",
    Guard((IN, 403, 404, 404, 404, 404), (IN, 403, 404, 404, 404, 404)): """
        slips/<int:pk>/<slug:series>/<int:year>/<int:number>/
    """,
    Guard((401, 403, 403, 200, 200, 200), (401, 403, 403, 200, 200, 200)): "live/",
    Guard((401, 200, 200, 200, 200, 200), (401, 405, 405, 405, 405, 405)): "api/tables/",
    API_TABLE: """
        api/tables/<int:pk>/ api/tables/<int:pk>/rounds/<int:number>/ api/tables/<int:pk>/rounds/
        api/tables/<int:pk>/limits/
    """,
    Guard((401, 405, 405, 405, 405, 405), (401, 415, 415, 415, 403, 403)): """
        api/tables/<int:pk>/inputs/ api/tables/<int:pk>/disputes/
    """,
    Guard((401, 403, 403, 403, 403, 403), (401, 403, 403, 403, 403, 403)): "api/tables/<int:pk>/reader/",
    Guard((401, 403, 200, 200, 200, 200), (401, 403, 403, 403, 415, 403)): "api/tables/<int:pk>/settings/",
    Guard((401, 403, 403, 404, 404, 404), (401, 405, 405, 405, 405, 405)): """
        api/tables/<int:pk>/corrections/<int:year>/<int:number>/
    """,
    Guard((401, 200, 200, 200, 200, 200), (401, 415, 415, 415, 415, 415)): "api/slips/",
    Guard((401, 404, 404, 404, 404, 404), (401, 405, 405, 405, 405, 405)): """
        api/slips/<slug:series>/<int:year>/<int:number>/
    """,
    API_SIGN_A_SLIP: """
        api/slips/<slug:series>/<int:year>/<int:number>/signatures/
        api/slips/<slug:series>/<int:year>/<int:number>/void/
    """,
    Guard((401, 403, 403, 404, 200, 200), (401, 405, 405, 405, 405, 405)): "api/proposals/<int:number>/",
    Guard((401, 403, 403, 403, 422, 422), (401, 405, 405, 405, 405, 405)): "api/days/<gaming_day:day>/bundle/",
    Guard((401, 403, 403, 403, 404, 404), (401, 405, 405, 405, 405, 405)): "api/exports/<int:number>/",
    Guard(everybody(200), everybody(405)): "api/problems/<slug:code>/",
    API_SCHEMA: "api/schema/ api/reference/",
    Guard((401, 404, 404, 404, 404, 404), (401, 404, 404, 404, 404, 404)): "api/",
    Guard(everybody(302), everybody(302)): "admin/password_change/",
    SHOWN: "admin/password_change/done/ admin/jsi18n/",
    READ: "admin/ admin/search/ admin/^(?P<app_label>ledger|tables)/$",
    admin(403, 403, 405, 405): "admin/autocomplete/",
    UNKNOWN_IN_THE_ADMIN: """
        admin/r/<path:content_type_id>/<path:object_id>/ admin/(?P<url>.*)$
        admin/tables/houseterms/profiles/<slug:name>/
    """,
    ASK_THEN_DO: """
        admin/tables/staff/<path:object_id>/lift-lock-out/ admin/tables/staff/<path:object_id>/pin-code/
        admin/tables/staff/<path:object_id>/withdraw-passkeys/ admin/tables/terminal/<path:object_id>/revoke/
        admin/tables/terminal/<path:object_id>/lift-lock-out/
    """,
    ADD: """
        admin/tables/staff/<path:object_id>/password-code/ admin/tables/table/<path:object_id>/retire/
        admin/tables/denomination/<path:object_id>/retire/ admin/tables/serviceaccount/<path:object_id>/token/
        admin/tables/serviceaccount/<path:object_id>/revoke-token/ admin/tables/serviceaccount/<path:object_id>/revoke/
        admin/tables/terminal/enrol-here/ admin/tables/terminal/enrol-elsewhere/
        admin/tables/terminal/<path:object_id>/link/
    """,
    KEYS: "admin/tables/paytable/<path:object_id>/new-version/ admin/tables/terminal/keys/",
    BIND: "admin/tables/pitsection/plan/",
    admin(200, 200, 422, 403): "admin/tables/post/grid/",
    SET: "admin/tables/table/grid/ admin/tables/houseterms/roles/",
    admin(200, 403, 422, 403): "admin/tables/table/grid/import/",
}
"""The addresses of each guard."""
EXPLICIT = {route: guard for guard, text in GUARDED.items() for route in routes(text)}
EXPLICIT[""] = Guard((IN, 302, 302, 302, 302, 302), everybody(405))


def pages(adds: Guard, changes: Guard) -> dict[str, Guard]:
    """The pages of a model in the admin: list, add form, and those of a row."""
    row = "<path:object_id>/"
    row_pages = {row: MOVED, f"{row}change/": changes, f"{row}history/": READ, f"{row}delete/": NEVER}
    return {"": READ, "add/": adds} | row_pages


MODELS: dict[tuple[Guard, Guard], str] = {
    (NEVER, READ_ONLY): """
        ledger/book ledger/logentry ledger/transfer ledger/account ledger/recount ledger/alert ledger/slip
        ledger/slipsignature ledger/discrepancy ledger/finding ledger/run tables/post tables/pitcover
    """,
    (NEVER, READ): "tables/proposal",
    (NEVER, BIND): "tables/terminal",
    (ADD, READ): "tables/limitplan",
    (ADD, READ_ONLY): """
        tables/househours tables/houseterms tables/paytable tables/chipseries tables/alertchannel tables/housekey
        tables/dropschedule tables/pitsection
    """,
    (ADD, SET): "tables/table tables/denomination tables/staff tables/serviceaccount",
}
"""The models of the admin, by the roles that add a row and those that change one."""
OF_MODELS = {
    f"admin/{model}/{page}": guard
    for (adds, changes), models in MODELS.items()
    for model in routes(models)
    for page, guard in pages(adds, changes).items()
}


def addresses(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, Any]]:
    """Every address of the project, as the resolver spells it, with its view."""
    for pattern in patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from addresses(pattern.url_patterns, route)
        else:
            yield route, pattern.callback


VIEWS = dict(reversed([*addresses(get_resolver().url_patterns)]))
"""The view of each address: the first one, if the resolver has several."""
ADDRESSES = sorted(VIEWS)


def guard_of(view: Any) -> Guard | None:
    """The guard that follows from the permissions of a report, of an operators' page, or of the operations of a view of
    the API. None where they name none."""
    page = getattr(view, "view_class", None)
    if page and getattr(page, "get_permission_required", None) is PermissionRequiredMixin.get_permission_required:
        sends = 200 if hasattr(page, "post") else 405
        looked, sent = rows_of(page.permission_required, 200), rows_of(page.permission_required, sends)
        return admin(*looked[-2:], *sent[-2:])
    if report := getattr(view, "report", None):
        looked, sent = rows_of(report.permission, 200), rows_of(report.permission, 405)
        return Guard((IN, *looked), (IN, *sent)) if report.permission else None
    operations = operations_of(view)
    if not operations or not all(operation.may for operation in operations.values()):
        return None
    return Guard(answers_of(operations.get("get"), 200), answers_of(operations.get("post"), 415))


def rows_of(permissions: Sequence[str], success: int) -> list[int]:
    """What each role gets where all of these permissions are required."""
    return [success if PERMISSIONS[role] >= set(permissions) else 403 for role in ROLES]


def operations_of(view: Any) -> dict[str, Operation]:
    """The operations of a view of the API, by method."""
    viewset = getattr(view, "cls", None)
    names = getattr(view, "actions", None) or {"get": "get", "post": "post"}
    methods = {method: OPERATIONS_BY_METHOD.get(getattr(viewset, name, None)) for method, name in names.items()}
    return {method: operation for method, operation in methods.items() if operation}


def answers_of(operation: Operation | None, success: int) -> Row:
    """What each viewer gets from an operation, or from an address that has none for the method."""
    if operation is None:
        return (401, *[405] * len(ROLES))
    return (401, *(success if PERMISSIONS[role] & set(operation.may) else 403 for role in ROLES))


def admits_dealers(guard: Guard) -> bool:
    """Whether a dealer gets further than a refusal."""
    return not {*guard.get[:3], *guard.post[:3]} <= {IN, 401, 403, 405}


DERIVED = {route: guard for route, view in VIEWS.items() if (guard := guard_of(view)) and not admits_dealers(guard)}
"""What dealers may use is declared, even where it follows from a permission: a wrong one would show them the floor."""
DECLARED = OF_MODELS | DERIVED | EXPLICIT


def test_every_address_is_declared_and_every_declaration_is_an_address(request: pytest.FixtureRequest) -> None:
    """Harm: a new page is open to a role without a decision."""
    if undeclared := sorted(set(ADDRESSES) - set(DECLARED)):
        house = request.getfixturevalue("house")
        guards = "\n".join(f"{observed(house, route)}: {route}" for route in undeclared)
        pytest.fail(f"Decide who may use these, and add them to GUARDED. They answer so far:\n{guards}")
    assert set(DECLARED) - set(ADDRESSES) == set(), "these no longer exist: remove them from GUARDED"


def observed(house: "House", route: str) -> str:
    """What an address answers each viewer, as GUARDED spells it: a guard, or the name of one."""
    get, post = (
        tuple(status_of(house.page(viewer, method, house.path(route))) for viewer in VIEWERS)
        for method in ("get", "post")
    )
    names = {guard: name for name, guard in globals().items() if isinstance(guard, Guard)}
    return names.get(Guard(get, post), f"Guard({get}, {post})".replace(f"'{IN}'", "IN"))


# --- The walk -------------------------------------------------------------------------------------------------

EXAMPLES = {
    "<day:day>": "2026-01-02",
    "<gaming_day:day>": "2026-01-02",
    "<slug:name>": "retire-shoe",
    "<slug:mishap>": "exposed_card",
    "<slug:series>": "fill",
    "<slug:about>": "large_bet",
    "<slip_id:slip>": "fill-2026-99",
    "<slug:code>": "key_reused",
    "^(?P<app_label>ledger|tables)/$": "tables/",
    "(?P<url>.*)$": "nowhere",
}
"""An example for each part of an address; any other part is 1."""


@dataclass
class House:
    """A site with a row of every model and a user of every role."""

    cookies: dict[str, str]
    keys: dict[str, int | str]

    def path(self, route: str) -> str:
        """The address of a route, with the rows of this site."""
        model = re.match(r"admin/(?:ledger|tables)/(\w+)/", route)
        key = self.keys[model[1] if model else "discrepancy" if "discrepancies" in route else "table"]
        rows = {"<path:object_id>": key, "<int:pk>": key, "<int:channel>": self.keys["alertchannel"]}
        rows["<dispute_id:dispute>"] = f"{key}-1"
        for part, example in (EXAMPLES | rows).items():
            route = route.replace(part, str(example))
        return "/" + re.sub(r"<[^>]+>", "1", route)

    def sign_in(self, role: Role) -> None:
        """Sign in a viewer of this role, on a device that is not a terminal."""
        client = Client()
        user = Staff.objects.get(username=f"a.{role}")
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        self.cookies[role] = cookies_of(client)

    def page(self, viewer: str, method: str, path: str) -> HttpResponseBase:
        """The response to a viewer. Writes of the request are rolled back."""
        client = Client(raise_request_exception=False)
        client.cookies.load(self.cookies[viewer])
        mark = transaction.savepoint()
        response: HttpResponseBase = getattr(client, method)(path)
        downloads.under_way.clear()  # a file that nobody reads here is under way for nobody else
        transaction.savepoint_rollback(mark)
        return response

    def answers(self, viewer: str, method: str) -> dict[str, int | str]:
        """The status of every address that does not reject a viewer."""
        answers = {route: status_of(self.page(viewer, method, self.path(route))) for route in ADDRESSES}
        return {route: status for route, status in answers.items() if status not in (IN, 401, 403, 404, 405, 410)}


def status_of(page: HttpResponseBase) -> int | str:
    """Its status code, or that it leads to the sign-in."""
    to_sign_in = page.status_code == 302 and re.match(r"/(admin/login|sign-in)/", page["Location"])
    return IN if to_sign_in else page.status_code


def cookies_of(client: Client) -> str:
    return client.cookies.output(attrs=[], header="", sep=";")


def _posted(boss: Staff, *, by: Staff) -> Post:
    row = pit_assignments.set_post(AssignmentChange(boss.username, ("Pit 1",)), by=by)
    assert row is not None
    return row


def _rows_of(dealer: floor.Hand, boss: floor.Hand, by: Staff) -> dict[str, int | str]:
    """The key of one row of each model, and of a log entry."""
    table, now = dealer.table, timezone.now()
    recount(table.book_id, "a test")
    Run.objects.create(task="a test", slot=now, begun_at=now)
    explained = discrepancies.open_(table.book, "variance", 200, "The rack is over by 2", key="another")
    Finding.objects.create(discrepancy=explained, username="olga", by="olga", at=now, text="A chip lay below")
    firsts: tuple[Any, ...] = (
        Denomination, Book, Transfer, Account, Recount, Slip, SlipSignature, Finding, Run,
    )  # fmt: skip
    terms = policies.change({"pin_digits_min": 7}, by=by)
    assert terms is not None
    lounge = Access(purpose="Shows the boards", scopes=("read:board",), expires=now + timedelta(days=30))
    account = service_accounts.set_account("Lounge", lounge, by=by)
    service_tokens.make(account, by=by)
    draft = ProposalDraft("terms", "", {"pin_digits_min": 7}, {"pin_digits_min": 8})
    key_set = HouseKeySet(name="B1", lock="box_release", dual=False, in_use=True)
    nightly = key_register.Schedule("Nightly", day_of(now), (), (0,), time(5), "Security")
    plan = LimitPlanSet(
        name="Floor", version=0, scope="house", schedule=Always(), values={"max_cents": 20_000}, effective=""
    )
    mail = channels.ChannelDraft("Night desk", "mail", "night.desk@example.com")
    rows: dict[str, Model] = {
        "table": table,
        "staff": boss.by,
        "househours": set_hours(replace(default(), from_day=day_of(now) + DAY), by=by),
        "chipseries": chip_series.add("Alpha", "Chips & Co", 2026, [100], by=by),
        "houseterms": terms,
        "proposal": proposals.propose(draft, "", by=by),
        "housekey": key_register.set_key(key_set, by=by),
        "dropschedule": key_register.set_schedule(nightly, by=by, today=day_of(now)),
        "pitsection": pits.set_section(PitSectionSet(pit="Pit 1", tables=(table.name,)), by=by),
        "post": _posted(boss.by, by=by),
        "pitcover": PitCover.objects.create(seq=0, username="bella", pit="Pit 1", until=now, by="a test", at=now),
        "limitplan": plans.set_plan(plan, expected_version=0, by=by),
        "paytable": pay_tables.make("casino_war", "Tie", {"tie": {"tie": "11:1"}}, by=by),
        "alertchannel": channels.set_channel(mail, by=by),
        "serviceaccount": account,
        "terminal": terminals.add("Tablet", None, by=by),
        "discrepancy": discrepancies.open_(table.book, "variance", 100, "The rack is over by 1", key="a test"),
        "alert": alerts.raise_alert(table.book, "test", "Something to look at"),
    } | {model._meta.model_name: model.objects.all()[0] for model in firsts}
    return {name: row.pk for name, row in rows.items()} | {"logentry": f"{table.book_id}-1"}


@pytest.fixture(scope="module")
def site(django_db_setup: None, django_db_blocker: Any) -> Iterator[House]:
    """A table with a round behind it, which a dealer deals. The tests of this module share it and write nothing."""
    with kept_for_a_module(django_db_blocker):
        dealer, boss = floor.dealt()
        dealer.bets(seat1=1_000)
        dealer.cards(5, 3)
        dealer.pay()
        disputed = OpenDispute(1, "Not paid", "Seat 1", seat=1)
        recorder.record(dealer.table, disputed, by=boss.by, key=uuid.uuid4(), expected_seq=None)
        staff = {role: Staff.objects.create_staff(f"a.{role}", name=role.label, role=role) for role in Role}
        site = House({}, _rows_of(dealer, boss, by=staff[Role.OPERATOR]))
        people = (None, staff[Role.DEALER], dealer.by, staff[Role.PIT_BOSS], staff[Role.OPERATOR], staff[Role.AUDITOR])
        for viewer, user in zip(VIEWERS, people, strict=True):
            site.cookies[viewer] = cookies_of(floor.client(user) if user else Client())
        yield site


@pytest.fixture
def house(site: House, db: None) -> Iterator[House]:
    cache.clear()  # rate limits of earlier tests
    logging.disable(logging.WARNING)
    yield site
    logging.disable(logging.NOTSET)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Views respond without rendering their templates; permissions are checked before that."""
    monkeypatch.setattr(Template, "render", lambda template, context: "")
    monkeypatch.setattr(admin_site, "each_context", lambda request: {})


def wrong_answers(house: House, method: str) -> tuple[list[str], list[str]]:
    """Responses that differ from the declared ones, and pages that a browser or a proxy may cache."""
    wrong, cached = [], []
    for route, guard in DECLARED.items():
        for viewer, status in zip(VIEWERS, getattr(guard, method), strict=True):
            page = house.page(viewer, method, house.path(route))
            if (answer := status_of(page)) != status:
                wrong.append(f"{method.upper()} /{route}: {viewer} gets {answer}, declared is {status}")
            if method == "get" and "no-store" not in page.headers.get("Cache-Control", ""):
                cached.append(f"/{route}: {viewer}")
    return wrong, cached


@pytest.mark.slow("opens every address as every role")
@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("method", ["get", "post"])
def test_every_address_answers_each_role_as_declared(house: House, method: str) -> None:
    """A dealer reaches only their own table, an auditor changes nothing, a stranger reaches nothing.

    Harm: a browser or a proxy caches a page, and the next person at a screen goes back to it and reads the cage.
    """
    wrong, cached = wrong_answers(house, method)
    assert not wrong, "\n".join(["", *wrong])
    assert cached == []


@pytest.mark.slow("draws every page")
def test_every_page_can_be_drawn(house: House) -> None:
    """Harm: a page fails while its template is rendered."""
    pages = {route: VIEWERS[guard.get.index(200)] for route, guard in DECLARED.items() if 200 in guard.get}
    statuses = {route: status_of(house.page(viewer, "get", house.path(route))) for route, viewer in pages.items()}
    assert len(statuses) > 100
    assert {route: status for route, status in statuses.items() if status != 200} == {}


@pytest.mark.trial(
    "draws every page for every role",
    covered_by="tests/tables/test_roles.py::test_every_page_can_be_drawn",
)
def test_every_page_can_be_drawn_for_each_role(house: House) -> None:
    """Harm: a page fails for a role that may open it."""
    assert wrong_answers(house, "get") == ([], [])


@pytest.mark.slow("opens every address that leads to another")
@pytest.mark.usefixtures("undrawn")
def test_the_address_of_a_form_leads_to_its_page(house: House) -> None:
    """Harm: Enter in the address bar after a refused form shows the browser's own error, and the screen is gone."""
    lost = []
    for route, guard in DECLARED.items():
        if 302 not in guard.get or re.match(r"admin/|api/", route):
            continue
        viewer = VIEWERS[guard.get.index(302)]
        page = house.page(viewer, "get", house.path(route))
        for _ in range(5):
            page = house.page(viewer, "get", page["Location"]) if page.status_code == 302 else page
        if page.status_code == 405:
            lost.append(f"/{route}: {viewer}")
    assert lost == []


OFF_THE_FLOOR = {Role.CASHIER, Role.CAGE_MANAGER, Role.SECURITY, Role.COUNTER}
OPEN_OFF_THE_FLOOR = {""} | routes("""
    account/ account/passkeys/ account/passkeys/options/ account/pin/ api/house/holdings/ api/problems/<slug:code>/
    api/slips/ api/slips/<slug:series>/<int:year>/<int:number>/signatures/
    api/slips/<slug:series>/<int:year>/<int:number>/void/ api/tables/ cage/ clock/ emergency/ healthz password/
    password/code/ pin/ pit/find/ sign-in/ sign-in/passkey/ sign-in/passkey/options/ slips/
    slips/<int:pk>/<slug:series>/<int:year>/<int:number>/ slips/<int:pk>/new/<slug:series>/ slips/keys.csv slips/keys/
    slips/papers/ slips/slips.csv start/ start/read work-as/
""")
"""The addresses that the cage, security and the count room may open; the count room sees no fills."""
OPEN_TO_THE_CAGE_MANAGER = {"slips/chips/", "slips/chips.csv", "slips/counterfeit.csv"}


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("role", sampled(sorted(OFF_THE_FLOOR), "opens every address as several roles"))
def test_roles_off_the_floor_reach_only_slips(house: House, role: Role) -> None:
    """Harm: a cashier reads the log, or a carrier sees the dealer's cards."""
    house.sign_in(role)
    may_open = OPEN_OFF_THE_FLOOR | (OPEN_TO_THE_CAGE_MANAGER if role == Role.CAGE_MANAGER else set())
    may_open |= {"sign-out/", "admin/logout/", "enrol/<str:code>/", "terminal/"}
    for method in ("get", "post"):
        answers = house.answers(role, method)
        further = {route for route in answers.keys() - may_open if answers[route] != 302}
        assert further == set(), "they open these too: OPEN_OFF_THE_FLOOR?"


# --- Surveillance ----------------------------------------------------------------------------------------------

SENT_BY_SURVEILLANCE = {
    "pit/alerts/acknowledge",
    "pit/tables/<int:pk>/bookmark",
} | routes("api/alerts/acknowledgements/")
SIGNED_BY_PIN = routes("""
    slips/<int:pk>/new/<slug:series>/ slips/papers/ cage/ pit/reports/<day:day>/close api/slips/
    api/slips/<slug:series>/<int:year>/<int:number>/signatures/ api/slips/<slug:series>/<int:year>/<int:number>/void/
    api/days/<gaming_day:day>/signatures/ api/tables/<int:pk>/corrections/<int:year>/<int:number>/signatures/
    api/tables/<int:pk>/corrections/<int:year>/<int:number>/refusals/
""")
"""The forms whose signatory enters badge and PIN: the browser's own user is not refused."""
FOR_ANYBODY = {""} | routes("""
    account/ account/passkeys/ account/passkeys/options/ account/pin/ admin/logout/ admin/password_change/
    api/problems/<slug:code>/ clock/ emergency/ enrol/<str:code>/ healthz live/ password/ password/code/ pin/ sign-in/
    sign-in/passkey/ sign-in/passkey/options/ sign-out/ start/ start/read terminal/ work-as/
""")
HIDDEN_FROM_SURVEILLANCE = routes("api/proposals/")
OPEN_TO_SURVEILLANCE = routes("api/house/holdings/ cage/ pit/bookmarks/ pit/bookmarks.csv")
SEEN_BY_SURVEILLANCE = OPEN_TO_SURVEILLANCE | {
    route
    for route, guard in DECLARED.items()
    if guard.get[PIT_BOSS] == guard.get[AUDITOR] == 200 and route not in FOR_ANYBODY | HIDDEN_FROM_SURVEILLANCE
}
"""The pages that surveillance opens: those that both pit bosses and auditors open, with these exceptions. The page that
begins a slip is open to every role that may see one; its signatory enters badge and PIN: see
`test_the_surveillance_signs_no_step_of_any_slip`."""


@pytest.mark.slow("opens every address as surveillance")
@pytest.mark.usefixtures("undrawn")
def test_surveillance_sees_every_table_round_log_slip_and_alert_and_writes_only_its_own_notes(house: House) -> None:
    """Harm: surveillance has to ask the floor for access to what it watches, or moves chips that it watches."""
    house.sign_in(Role.SURVEILLANCE)
    opened = {route for route, answer in house.answers(Role.SURVEILLANCE, "get").items() if answer == 200}
    assert SEEN_BY_SURVEILLANCE - opened == set(), "pit bosses and auditors open these: HIDDEN_FROM_SURVEILLANCE?"
    assert opened - SEEN_BY_SURVEILLANCE - FOR_ANYBODY == set(), "surveillance opens these: OPEN_TO_SURVEILLANCE?"
    posted_routes = house.answers(Role.SURVEILLANCE, "post").keys()
    assert posted_routes - FOR_ANYBODY - SIGNED_BY_PIN == SENT_BY_SURVEILLANCE


INPUTS: dict[str, dict[str, Any]] = {
    "Bet": {"seat": 1, "amount_cents": 1_000},
    "BeginSlip": {"series": "fill", "chips": ((10_000, 1),)},
}


def entered_blank(kind: Any) -> Any:
    """An input of a kind with something in each field that has no default."""
    blanks = {"str": "1", "int": 1, "bool": False, "str | None": None, "int | None": None}
    facts = {
        field.name: blanks.get(str(field.type), blanks.get(getattr(field.type, "__name__", ""), ()))
        for field in msgspec.structs.fields(kind)
        if field.required
    }
    return kind(**facts | INPUTS.get(kind.__name__, {}))


def test_no_input_is_taken_from_the_surveillance(house: House) -> None:
    """Harm: an input that asks for no permission, and so is taken from anybody with a session."""
    watcher = Staff.objects.get(username=f"a.{Role.SURVEILLANCE}")
    table = Table.objects.get(pk=house.keys["table"])
    acceptances = []
    for kind in HANDLINGS:
        refusal = refusal_of(table, entered_blank(kind), watcher)
        # Who may sign which step is asked of the slip, and there is none: that no step is theirs the next test says.
        if refusal is None or (refusal.status != 403 and refusal.code != "unknown_slip"):
            acceptances.append((kind, refusal))
    assert acceptances == []


def refusal_of(table: Table, entered: Any, by: Staff) -> Refused | None:
    try:
        with transaction.atomic():
            recorder.record(table, entered, by=by, key=uuid.uuid4(), expected_seq=None)
    except Refused as refused:
        return refused
    return None


def test_the_surveillance_signs_no_step_of_any_slip() -> None:
    """Harm: a fill that is carried by who is to watch it."""
    stages = [
        (name, stage)
        for name, series in slip_series.SLIP_TYPES.items()
        for stage in (*series.stages, *slip_series.VOID)
    ]
    assert len(stages) > 20
    assert [(name, stage.name) for name, stage in stages if Role.SURVEILLANCE in stage.roles] == []
    assert all(Role.SURVEILLANCE in series.seen_by for series in slip_series.SLIPS.values())


# --- Roles ----------------------------------------------------------------------------------------------------


def test_nobody_may_delete_and_an_auditor_may_only_look() -> None:
    """What the log speaks of has to be found; who checks must not be able to make it fit."""
    assert not [
        permission for permissions in PERMISSIONS.values() for permission in permissions if ".delete_" in permission
    ]
    assert {permission.split(".")[1].split("_")[0] for permission in PERMISSIONS[Role.AUDITOR]} == {
        "view",
        "watch",
        "review",
        "export",
    }


def test_who_sets_up_does_not_deal_and_who_deals_does_not_set_up() -> None:
    """One person who takes staff on, sets limits and deals could hide anything."""
    changes = {"add", "change", "enrol"}
    for role, permissions in PERMISSIONS.items():
        verbs = {permission.split(".")[1].split("_")[0] for permission in permissions}
        assert not (verbs & changes and verbs & {"deal", "run"}), role


def test_somebody_who_left_may_do_nothing() -> None:
    """Whatever their role was."""
    for role in Role:
        leaver = Staff(username="gone", role=role, is_active=False)
        assert not any(leaver.has_perm(permission) for permission in PERMISSIONS[role])
        assert not leaver.is_staff
