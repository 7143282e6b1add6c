"""The front page of the admin: open tables, the viewer's tasks, scheduled changes and what needs attention.

Each line links to the page where the task is done. The number of queries does not depend on the number of tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any, Final
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone

from ledger import discrepancies, runs
from ledger.models import Alert
from ledger.proof.chips import money
from tables.admin import navigation
from tables.admin.navigation import NavGroup
from tables.alerts import delivery, inbox
from tables.alerts.alert_types import sort_of
from tables.alerts.inbox import OPEN, AlertFilter
from tables.approvals import proposals
from tables.audit import protections, watch
from tables.cage import cage_desk
from tables.edge import favour
from tables.limits import resolver
from tables.log.entries.staff import CALLED
from tables.log.policies import title_of
from tables.log.slip_workflow import Slip
from tables.log.state import TableState
from tables.log.terms import game_title, rounding_words
from tables.models import HouseHours, HouseTerms, OneTimeCode, Proposal, Staff, Table
from tables.reports import access_review, day_close, gaming_hours
from tables.setup import payouts, pits
from tables.setup.pits import NOWHERE, TablePlace
from tables.state import table_state

MOST_LINES: Final = 8
"""The lines of one sort. The others are a number that links to all of them."""
REVIEW: Final = timedelta(days=92)
NO_PIT: Final = "No pit"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task or a fact, with the address of its page."""

    text: str
    address: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class OpenTable:
    """A table in its pit."""

    name: str
    game: str
    limits: str
    state: str
    is_open: bool
    address: str


@dataclass(frozen=True, slots=True)
class Pit:
    """A pit with its tables in their order."""

    name: str
    tables: Sequence[OpenTable]

    @property
    def open(self) -> int:
        return sum(table.is_open for table in self.tables)


@dataclass(frozen=True, slots=True)
class FrontPage:
    """The front page of one viewer."""

    is_shown: bool = False
    """True if the viewer may watch the floor."""
    pits: Sequence[Pit] = ()
    waits: Sequence[TaskRow] = ()
    coming: Sequence[TaskRow] = ()
    wrong: Sequence[TaskRow] = ()
    groups: Sequence[NavGroup] = ()

    @property
    def open(self) -> int:
        return sum(pit.open for pit in self.pits)

    @property
    def tables(self) -> int:
        return sum(len(pit.tables) for pit in self.pits)


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Extend the context of the front page. Unfold calls it."""
    assert isinstance(request.user, Staff)  # noqa: S101 -- the admin is behind sign-in
    return context | {"desk": desk_of(request.user)}


def desk_of(viewer: Staff) -> FrontPage:
    """The front page of a viewer."""
    groups = navigation.groups_of(viewer)
    if not viewer.has_perm("tables.watch_floor"):
        return FrontPage(groups=groups)
    tables = list(Table.objects.in_use().select_related("book"))
    standings = table_state.at_all([table_state.head_of(table) for table in tables])
    return FrontPage(
        is_shown=True,
        pits=_pits(tables, standings),
        waits=list(_waits(viewer, tables, standings)),
        coming=[*_plans(viewer, tables), *_coming(viewer)],
        wrong=list(_wrong(viewer, tables)),
        groups=groups,
    )


# --- Open tables -----------------------------------------------------------------------------------------------


def _pits(tables: Sequence[Table], standings: Mapping[int, TableState]) -> list[Pit]:
    places = pits.places()

    def place(table: Table) -> TablePlace:
        return places.get(table.name, NOWHERE)

    ordered = sorted(tables, key=lambda table: place(table).order(table.name))
    return [
        Pit(name, [_open_table(table, standings[table.book_id]) for table in group])
        for name, group in groupby(ordered, key=lambda table: place(table).pit or NO_PIT)
    ]


def _open_table(table: Table, state: TableState) -> OpenTable:
    return OpenTable(
        name=table.name,
        game=game_title(table),
        limits=f"{money(table.min_cents)} to {money(table.max_cents)}",
        state="Rack locked" if state.lock else "Open" if state.is_open else "Closed",
        is_open=state.is_open,
        address=reverse("pit:table", args=[table.pk]),
    )


# --- The viewer's tasks ------------------------------------------------------------------------------------------


def _waits(viewer: Staff, tables: Sequence[Table], standings: Mapping[int, TableState]) -> Iterator[TaskRow]:
    for proposal in proposals.waiting_for(viewer):
        yield _of_proposal(proposal, f"by {proposal.by}, until {_clock(proposal.expires)}")
    yield from _days(viewer)
    yield from _slips(viewer, tables, standings)
    if viewer.has_perm("tables.confirm_code"):
        codes = OneTimeCode.objects.filter(confirmed_by=None).exclude(asked_by=viewer).exclude(staff=viewer)
        for code in codes.select_related("staff", "asked_by"):
            text = f"Confirm a code for a {CALLED[code.secret]} of {code.staff}"
            yield TaskRow(text, reverse("codes"), f"asked by {code.asked_by}")
    if viewer.has_perm("tables.review_access"):
        review = access_review.last_review()
        if review is None or review[0] < timezone.now() - REVIEW:
            review_text = f"last signed {_clock(review[0])}" if review else "never signed yet"
            yield TaskRow("Review who may do what", reverse("pit:access"), review_text)
    for discrepancy in discrepancies.open_ones():
        owner = discrepancies.owner_of(discrepancy)
        if owner and owner.owner == viewer.username:
            yield TaskRow("Look into a discrepancy", _discrepancy(discrepancy.pk), discrepancy.message)


def _of_proposal(proposal: Proposal, detail: str) -> TaskRow:
    address = reverse("admin:tables_proposal_change", args=[proposal.pk])
    return TaskRow(f"{proposal}: {proposals.title_of_proposal(proposal)}", address, detail)


def _days(viewer: Staff) -> Iterator[TaskRow]:
    """The days that another person signed first."""
    for proposal in day_close.half_signed() if day_close.SECOND.may(viewer) else ():
        if day_close.SECOND.is_open_to(viewer, proposal.signer):
            address = f"{reverse('pit:reports')}?{urlencode({'day': proposal.day})}"
            yield TaskRow(f"Sign the figures of {proposal.day}", address, f"signed first by {proposal.signer.name}")


def _slips(viewer: Staff, tables: Sequence[Table], standings: Mapping[int, TableState]) -> Iterator[TaskRow]:
    """The slips whose next signature is one of the viewer's role."""
    papers: list[tuple[Table | None, Slip]] = [
        (table, slip) for table in tables for slip in standings[table.book_id].slips
    ]
    papers += [(None, slip) for slip in cage_desk.in_progress()]
    due = [(table, slip) for table, slip in papers if slip.due is not None and viewer.role in slip.due.roles]
    for table, slip in due[:MOST_LINES]:
        name = slip.series, slip.year, slip.number
        address = reverse("slips:slip", args=[table.pk if table else 0, name[0].name, *name[1:]])
        yield TaskRow(f"Sign {slip.label}", address, f"at {table.name}" if table else "at the cage")
    if len(due) > MOST_LINES:
        yield TaskRow(f"{len(due) - MOST_LINES} more papers", reverse("slips:book"))


# --- Scheduled changes -----------------------------------------------------------------------------------------


def _plans(viewer: Staff, tables: Sequence[Table]) -> Iterator[TaskRow]:
    """The next limits of limit plans: a line for each moment with its tables."""
    if not viewer.has_perm("tables.view_limitplan"):
        return
    by_moment: dict[datetime, list[str]] = {}
    for name, limits in resolver.at_tables(tables, timezone.now()).items():
        if limits.outcome.next:
            by_moment.setdefault(limits.outcome.next.moment, []).append(name)
    for moment in sorted(by_moment)[:MOST_LINES]:
        names = sorted(by_moment[moment], key=pits.natural)
        suffix = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        text = f"Limits of {', '.join(names[:_NAMED])}{suffix}"
        yield TaskRow(text, reverse("admin:tables_limitplan_changelist"), f"from {_clock(moment)}, by plan")


_NAMED: Final = 3
"""The tables that a line names."""


def _coming(viewer: Staff) -> Iterator[TaskRow]:
    if viewer.has_perm("tables.view_proposal"):
        own = {proposal.number for proposal in proposals.waiting_for(viewer)}
        for proposal in proposals.to_come():
            yield _of_proposal(proposal, f"{proposals.holds_from(proposal)}, approved by {proposal.end.by}")
        for proposal in proposals.waiting():
            if proposal.number not in own:
                yield _of_proposal(proposal, f"waits for a second person, by {proposal.by}")
    if viewer.has_perm("tables.view_houseterms"):
        address = reverse("admin:tables_houseterms_changelist")
        for row in HouseTerms.objects.filter(effective__gt=timezone.now()).order_by("effective")[:MOST_LINES]:
            names = ", ".join(title_of(name) for name in row.values)
            yield TaskRow(f"House terms: {names}", address, f"from {_clock(row.effective)}, by {row.by}")
    if viewer.has_perm("tables.view_househours"):
        for dated in HouseHours.objects.filter(from_day__gt=gaming_hours.day_of(timezone.now())).order_by("from_day"):
            address = reverse("admin:tables_househours_change", args=[dated.pk])
            yield TaskRow("Gaming day and shifts", address, f"from {dated.from_day}, by {dated.by}")


# --- Needs attention -------------------------------------------------------------------------------------------


def _paid_otherwise(tables: Sequence[Table]) -> Iterator[TaskRow]:
    """Tables that pay less than the posted odds, or favour the player without an approval."""
    for table in payouts.underpaying(tables)[:MOST_LINES]:
        says = "some bets win less than the posted odds: set its rounding to exact"
        yield TaskRow(f"{table.name}: {rounding_words(table)}", _settings_of(table), says)
    for table, edges in favour.unapproved(tables).items():
        wagers = ", ".join(f"{wager} by {edge}" for wager, edge in edges.items())
        yield TaskRow(
            f"{table.name} favours the player: {wagers}", _settings_of(table), "not approved under dual control"
        )


def _settings_of(table: Table) -> str:
    return reverse("admin:tables_table_change", args=[table.pk])


def _wrong(viewer: Staff, tables: Sequence[Table]) -> Iterator[TaskRow]:
    late = runs.late(watch.PLANS)
    if late and not watch.reason_to_wait():
        suffix = f", and {len(late) - 1} more" if len(late) > 1 else ""
        text = f"The watch stands still: {late[0].says.lower()}{suffix}"
        yield TaskRow(text, reverse("pit:runs"), "Are the worker and beat running?")
    if viewer.has_perm("tables.view_houseterms") and (missing := protections.off()):
        yield TaskRow("Protections are off", reverse("pit:health"), protections.sentence(missing))
    yield from _alerts(viewer)
    if viewer.has_perm("tables.change_table"):
        yield from _paid_otherwise(tables)
    for discrepancy in discrepancies.open_ones()[:MOST_LINES]:
        place = discrepancy.book.name if discrepancy.book else "the house"
        yield TaskRow(discrepancy.message, _discrepancy(discrepancy.pk), f"discrepancy at {place}")
    if letters := delivery.dead().count():
        text = f"{letters} alert{'s' if letters > 1 else ''} could not leave the house"
        yield TaskRow(text, reverse("pit:alert-channels"), "nobody sent them again yet")


def _alerts(viewer: Staff) -> Iterator[TaskRow]:
    """The newest open alerts for the viewer's role, with a line for each type and place."""
    hearer = "" if viewer.role in inbox.OVERSEERS else str(viewer.role)
    heard = inbox.chosen(AlertFilter(state=OPEN, hearer=hearer)).order_by("-pk")
    groups: dict[tuple[str, str], list[Alert]] = {}
    for alert in heard[:_ALERTS_READ]:
        groups.setdefault((alert.kind, alert.book.name if alert.book else ""), []).append(alert)
    gravest = sorted(groups.values(), key=lambda alerts: sort_of(alerts[0].kind).severity, reverse=True)
    for alerts in gravest[:MOST_LINES]:
        newest, query = alerts[0], {"state": OPEN, "kind": alerts[0].kind}
        table = getattr(newest.book, "table", None)
        address = f"{reverse('pit:alerts')}?{urlencode(query | ({'table': table.pk} if table else {}))}"
        prefix = f"{len(alerts)} of them, the newest " if len(alerts) > 1 else ""
        yield TaskRow(newest.message, address, f"{sort_of(newest.kind).title}, {prefix}{_clock(newest.at)}")
    if len(gravest) > MOST_LINES:
        yield TaskRow(f"{len(gravest) - MOST_LINES} more alerts", reverse("pit:alerts"))


_ALERTS_READ: Final = 200


def _discrepancy(pk: int) -> str:
    return f"{reverse('pit:discrepancies')}#case-{pk}"


def _clock(moment: Any) -> str:
    return f"{timezone.localtime(moment):%Y-%m-%d %H:%M}"
