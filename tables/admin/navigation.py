"""The pages of the admin in groups: the side bar, the front page and the search.

Lists that no user edits (the log, transfers, places of chips, runs of the watch) are behind one line, *Records*.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from unfold.dataclasses import SearchResult

from tables.models import Staff, Table
from tables.setup import site_identity


@dataclass(frozen=True, slots=True)
class NavLink:
    """A link to a page."""

    title: str
    icon: str
    view: str
    permission: str = ""
    """The permission to open it; empty for all users of the admin."""
    about: str = ""
    """Its purpose in a few words, in which the search looks as well."""

    def is_for(self, viewer: Staff) -> bool:
        return not self.permission or viewer.has_perm(self.permission)

    @property
    def address(self) -> str:
        return reverse(self.view)


@dataclass(frozen=True, slots=True)
class NavGroup:
    """A group of links."""

    title: str
    links: tuple[NavLink, ...]


def _list(title: str, icon: str, model: str, about: str = "") -> NavLink:
    app, _, name = model.partition("_")
    return NavLink(title, icon, f"admin:{model}_changelist", f"{app}.view_{name}", about)


FLOOR: Final = "tables.watch_floor"
GROUPS: Final = (
    NavGroup("Floor", (
        NavLink("The pit, live", "visibility", "pit:floor", FLOOR, "every table, its dealer, its win"),
        NavLink("Figures", "bar_chart", "pit:reports", FLOOR, "win, drop, hold; closing the day"),
        NavLink("Slips", "receipt", "slips:book", FLOOR, "fills, credits, counts and who signs next"),
        NavLink("Alerts", "notifications_active", "pit:alerts", FLOOR, "what wants somebody's attention"),
    )),
    NavGroup("Tables and limits", (
        _list("Tables", "table_restaurant", "tables_table", "games, seats, shoes, options"),
        _list("Limit plans", "stacks", "tables_limitplan", "what may be bet where and when"),
        NavLink("Limits of all tables", "table_view", "limit-grid", "tables.view_table", "the grid; files of it"),
        NavLink("History of limits", "history", "limit-history", "tables.view_table", "who, when, from, to"),
        _list("Pits", "grid_view", "tables_pitsection", "which tables stand where"),
        NavLink("Floor plans", "map", "floor-plan", "tables.view_pitsection", "where tables stand, drawn"),
        _list("Pay tables", "request_quote", "tables_paytable", "what side bets and bonuses pay"),
        _list("Proposals", "how_to_reg", "tables_proposal", "what waits for a second person"),
    )),
    NavGroup("Chips and cash", (
        _list("Chips", "poker_chip", "tables_denomination", "kinds and colours"),
        _list("Series of chips", "layers", "tables_chipseries", "made, issued, retired"),
        _list("Keys", "key", "tables_housekey", "the register of keys"),
        _list("Drop schedule", "event_repeat", "tables_dropschedule", "when boxes are due"),
    )),
    NavGroup("People and devices", (
        _list("Staff", "badge", "tables_staff", "who works here, and as what"),
        NavLink(
            "Who runs which pit", "assignment_ind", "posts", "tables.view_post", "posts of pit bosses; cover"
        ),
        NavLink("Access", "manage_accounts", "pit:access", "tables.view_staff", "the review of who may do what"),
        NavLink("Roles", "groups", "house-roles", "tables.view_houseterms", "what each role may do and sign"),
        NavLink("Codes", "password", "codes", "tables.confirm_code", "help somebody to a PIN or a password"),
        _list("Terminals", "tablet", "tables_terminal", "enrol and revoke devices"),
        _list("Programs", "smart_toy", "tables_serviceaccount", "service accounts, their tokens, card readers"),
        NavLink("The API", "api", "api:reference", FLOOR, "what programs may ask, with examples"),
    )),
    NavGroup("House", (
        _list("House terms", "gavel", "tables_houseterms", "thresholds, rules, notice; and the profiles"),
        _list("Gaming day and shifts", "schedule", "tables_househours", "when a day begins and ends"),
        _list("Alert channels", "outgoing_mail", "tables_alertchannel", "how alerts leave the house"),
        NavLink("Health", "monitor_heart", "pit:health", FLOOR, "what works, what does not, and what to do"),
        NavLink("Records", "receipt_long", "records", "ledger.view_logentry", "the log, transfers, books, runs"),
    )),
    NavGroup("You", (
        NavLink("Your account", "account_circle", "account", "", "password, PIN, passkeys"),
        NavLink("Your emergency code", "emergency", "emergency-code", "tables.change_staff", "for when nobody gets in"),
    )),
)  # fmt: skip

RECORDS: Final = (
    NavGroup("What happened", (
        _list("Log", "receipt_long", "ledger_logentry", "every entry of every book, in its order"),
        _list("Books", "menu_book", "ledger_book", "the logs of the house and of each table, and their heads"),
        _list("Alerts", "notifications", "ledger_alert", "every alert that was ever raised, and who took note"),
    )),
    NavGroup("Chips", (
        _list("Transfers", "sync_alt", "ledger_transfer", "every movement of chips between two places"),
        _list("Places of chips", "account_balance", "ledger_account", "racks, boxes, seats, cage and vault"),
        _list("Recounts", "calculate", "ledger_recount", "what the watch added up, and through which entry"),
    )),
    NavGroup("Papers", (
        _list("Slips", "receipt", "ledger_slip", "fills, credits, counts, drops: each with its number"),
        _list("Signatures", "draw", "ledger_slipsignature", "who signed which step of a slip"),
        _list("Discrepancies", "balance", "ledger_discrepancy", "what was counted otherwise than expected"),
        _list("Findings", "fact_check", "ledger_finding", "what discrepancies came to"),
    )),
    NavGroup("The floor", (
        _list("Posts", "assignment_ind", "tables_post", "who was given which pits, and when"),
        _list("Cover", "swap_horiz", "tables_pitcover", "pits that were taken over for a while, and why"),
    )),
    NavGroup("The watch", (
        _list("Runs", "update", "ledger_run", "when each part of the watch ran, and what it found"),
    )),
)  # fmt: skip


def groups_of(viewer: Staff, groups: tuple[NavGroup, ...] = GROUPS) -> list[NavGroup]:
    """The groups with the links that a viewer may open."""
    own = [NavGroup(group.title, tuple(link for link in group.links if link.is_for(viewer))) for group in groups]
    return [group for group in own if group.links]


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """The side bar."""
    assert isinstance(request.user, Staff)  # noqa: S101 -- the admin is behind sign-in
    desk = {"title": "Desk", "icon": "desk", "link": reverse("admin:index")}
    groups = groups_of(request.user)
    above = [link.address for group in groups for link in group.links if request.path.startswith(link.address)]
    nearest = max(above, key=len, default="")  # the grid's address lies under that of the list of tables
    parts = [
        {"title": group.title, "separator": True, "items": [_line(link, nearest) for link in group.links]}
        for group in groups
    ]
    return [{"items": [desk]}, *parts]


def _line(link: NavLink, nearest: str) -> dict[str, Any]:
    return {"title": link.title, "icon": link.icon, "link": link.address, "active": link.address == nearest}


def house_name(request: HttpRequest) -> str:
    """The title of the side bar."""
    return site_identity.identity().house_name or "Casino tables"


MOST_RESULTS: Final = 12


def search(request: HttpRequest, typed: str) -> list[SearchResult]:
    """The pages, tables and staff that match a text, for the command palette."""
    assert isinstance(request.user, Staff)  # noqa: S101 -- the admin is behind sign-in
    return list(_results(request.user, typed.strip().casefold()[:80]))


def _results(viewer: Staff, typed: str) -> Iterator[SearchResult]:
    for group in (*groups_of(viewer), *groups_of(viewer, RECORDS)):
        for link in group.links:
            if typed in f"{link.title} {link.about} {group.title}".casefold():
                yield SearchResult(link.title, group.title, link.address, link.icon)
    if viewer.has_perm("tables.view_table"):
        for table in Table.objects.in_use().filter(name__icontains=typed).order_by("name")[:MOST_RESULTS]:
            address = reverse("admin:tables_table_change", args=[table.pk])
            yield SearchResult(table.name, "Table", address, "table_restaurant")
    if viewer.has_perm("tables.view_staff"):
        named = Q(name__icontains=typed) | Q(username__icontains=typed)
        for somebody in Staff.objects.filter(named).order_by("name")[:MOST_RESULTS]:
            address = reverse("admin:tables_staff_change", args=[somebody.pk])
            yield SearchResult(somebody.name, somebody.get_role_display(), address, "badge")
