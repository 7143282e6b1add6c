"""Slips over the API: those that wait, those of before, one, and its signatures."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta
from rest_framework.response import Response

from ledger import models
from ledger.proof.slip_name import SlipName
from tables.api import signing
from tables.api.access import role_of
from tables.api.operations import Address, Call, operation
from tables.api.pagination import Page, SignedCursorPagination, SpanQuery
from tables.api.signing import Signed
from tables.api.views import FloorViewSet, table_of
from tables.cage import cage_desk, slip_records, table_desk
from tables.cage.slip_records import SlipRecord
from tables.floor import recorder, table_opening
from tables.floor.back_entry import FromPaper
from tables.floor.inputs import BeginSlip, SignSlip, SlipInput, VoidSlip
from tables.log.moments import Moment
from tables.log.slip_types import SLIPS, SlipType
from tables.log.slip_workflow import Slip, as_typed
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import role_choices

Caller = Staff | ServiceAccount
Count = Annotated[int, Meta(ge=0, le=10_000_000)]
Value = Annotated[int, Meta(ge=1, description="What one is worth, in cents.")]
Pieces = Annotated[list[tuple[Value, Count]], Meta(max_length=60, description="(value in cents, how many)")]
Facts = dict[Annotated[str, Meta(max_length=40)], Annotated[str, Meta(max_length=300)]]


class Paper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The paper of an outage that something is entered from."""

    number: Annotated[str, Meta(max_length=40)]
    happened: Moment


class NoteApart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A note that a count takes for worth nothing."""

    kind: Annotated[str, Meta(max_length=40)]
    claimed_cents: Annotated[int, Meta(ge=0, le=10**12)]
    envelope: Annotated[str, Meta(max_length=40)]


class Counted(Signed, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A signature, and the count and facts that may come with it."""

    chips: Pieces = []
    facts: Facts = {}
    apart: Annotated[list[NoteApart], Meta(max_length=20)] = []
    paper: Paper | None = None


class SlipBegun(Counted, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A new slip with its first signature."""

    table: int | None
    """The table's number; null for a slip of the house."""
    series: Annotated[str, Meta(max_length=40)]
    box: Annotated[str, Meta(max_length=40)] = ""
    noted: Pieces = []


class StepSigned(Counted, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The signature of the step that is due; with what was counted, where it counts."""

    stage: Annotated[str, Meta(max_length=40)]


class SlipVoided(Signed, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The first of two signatures that make a slip void."""

    reason: Annotated[str, Meta(max_length=300)]
    paper: Paper | None = None


class SlipStep(msgspec.Struct, frozen=True):
    """A step of a slip."""

    stage: str
    says: str
    roles: list[str]
    """Whose signature it takes."""
    counts: bool
    """True if the signer enters a count."""
    asks: list[str]
    """The facts that it asks for, by name."""
    signed_by: str | None
    role: str | None
    at: datetime | None
    hash: str | None


class SlipForm(msgspec.Struct, frozen=True):
    """A slip. What is being counted unseen is in none of it."""

    name: str
    series: str
    title: str
    table: int | None
    where: str
    state: str
    due: str | None
    """The step that is to be signed next."""
    chips: list[tuple[int, int]]
    """What is to be moved, or what two people counted alike."""
    total_cents: int
    expected_cents: int | None
    """The amount that a count is compared with, once two people counted alike."""
    variance_cents: int | None
    box: str
    reason: str
    facts: dict[str, str]
    steps: list[SlipStep]

    @property
    def id(self) -> str:
        """The slip in addresses of v1."""
        return self.name.replace("/", "-")


class SlipsQuery(SpanQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Query parameters of the list of slips."""

    state: Literal["waiting", "all"] = "all"
    """Those that wait for a signature, those waiting longest first; or all, the newest first."""
    series: Annotated[str, Meta(max_length=40)] = ""


class Slips(FloorViewSet):
    """Slips, as far as the caller's role sees them."""

    @operation("list_slips", "Slips.", tag="Slips", query=SlipsQuery, answers=Page[SlipForm], scope="read:slips")
    def list(self, call: Call[SlipsQuery, Any]) -> Response:
        """A dealer sees those that wait at their own table. Of other roles each sees the series that concern it."""
        list_page = _waiting_page if call.query.state == "waiting" else _page_of_all
        return self.get_paginated_response([slip_form(sheet) for sheet in list_page(call, self.paginator)])

    @operation(
        "begin_slip",
        "Begin a slip.",
        tag="Slips",
        body=SlipBegun,
        answers=SlipForm,
        creates=lambda slip: Address("slip", {"slip": slip.id}),
        refuses=(404,),
    )
    def begin(self, call: Call[Any, SlipBegun]) -> SlipForm:
        """The first signature on a new slip: a fill or credit is asked for, a rack, box or cage is counted. It gives
        the slip its number."""
        body = call.body
        table = None if body.table is None else table_of(call.by, body.table)
        _series(call.by, body.series, table)
        chips, noted = as_typed(body.chips, "chips"), as_typed(body.noted, "noted")
        return _sign(call, table, BeginSlip(body.series, chips, body.box, body.facts, noted, _apart(body.apart)))

    @operation("read_slip", "One slip.", tag="Slips", answers=SlipForm, scope="read:slips")
    def retrieve(self, call: Call[Any, Any], series: str, year: int, number: int) -> SlipForm:
        """With every step, its signature and the hash of its entry."""
        table, name = _slip(call.caller, series, year, number)
        return slip_form(_sheet(table, name))

    @operation("sign_slip", "Sign a slip.", tag="Slips", body=StepSigned, answers=SlipForm)
    def sign(self, call: Call[Any, StepSigned], series: str, year: int, number: int) -> SlipForm:
        """The step that is due, by badge and PIN. A person signs once; the one who requested a fill may confirm it."""
        table, name = _slip(call.by, series, year, number)
        body = call.body
        chips = as_typed(body.chips, "chips")
        return _sign(call, table, SignSlip(str(name), body.stage, chips, body.facts, _apart(body.apart)))

    @operation("void_slip", "Ask for a slip to be void.", tag="Slips", body=SlipVoided, answers=SlipForm)
    def void(self, call: Call[Any, SlipVoided], series: str, year: int, number: int) -> SlipForm:
        """The first of two signatures; the second one is the slip's next step."""
        table, name = _slip(call.by, series, year, number)
        return _sign(call, table, VoidSlip(str(name), call.body.reason))


def _waiting_page(call: Call[SlipsQuery, Any], paginator: SignedCursorPagination) -> list[SlipRecord]:
    series = call.query.series
    since, until = call.query.since, call.query.until
    sheets = [
        sheet
        for sheet in slip_records.in_progress(role_of(call.caller), _here(call.caller))
        if (not series or sheet.slip.series.name == series)
        and (not since or sheet.began >= since)
        and (not until or sheet.began < until)
    ]
    rows = sorted(sheets, key=_age)
    after = paginator.place
    later = [sheet for sheet in rows if after is None or _age(sheet) > tuple(after)]
    return paginator.paginate(later[: call.query.limit + 1], _age)


def _age(sheet: SlipRecord) -> tuple[str, str]:
    return sheet.since.isoformat() if sheet.since else "", sheet.slip.name


def _page_of_all(call: Call[SlipsQuery, Any], paginator: SignedCursorPagination) -> list[SlipRecord]:
    role = role_of(call.caller)
    theirs = () if role == Role.DEALER else slip_records.seen_by(role)
    names = [name for name in theirs if call.query.series in ("", name)]
    since, until = (moment or None for moment in (call.query.since, call.query.until))
    rows = slip_records.recent(names, paginator.place, call.query.limit + 1, since=since, until=until)
    return [sheet for _, sheet in paginator.paginate(rows, lambda row: row[0])]


def _here(by: Caller) -> Table | None:
    return table_opening.table_of(by) if isinstance(by, Staff) and by.role == Role.DEALER else None


def _series(by: Caller, name: str, table: Table | None) -> SlipType:
    series = SLIPS.get(name)
    if series is None:
        raise Refused("unknown_slip", f"There are slips of the series {', '.join(sorted(SLIPS))}.", 404)
    if not slip_records.may_see(role_of(by), series, table, _here(by)):
        raise Refused("not_permitted", f"{series.title}: such slips are none of your role's here.", 403)
    return series


def _slip(by: Caller, series: str, year: int, number: int) -> tuple[Table | None, SlipName]:
    """The table and the name of a slip that the caller may see. Raises Refused."""
    rows = models.Slip.objects.filter(series=series, year=year, number=number).values_list("book_id", flat=True)
    book = rows.first()
    table = Table.objects.select_related("book").filter(book_id=book).first() if book is not None else None
    record = SLIPS.get(series)
    if record is None or book is None:
        raise Refused("unknown_slip", "There is no such slip.", 404)
    _series(by, series, table)
    return table, SlipName(series, year, number)


def _apart(notes: list[NoteApart]) -> tuple[tuple[str, int, str], ...]:
    return tuple((note.kind, note.claimed_cents, note.envelope) for note in notes)


def _sign(call: Call[Any, Any], table: Table | None, entered: SlipInput) -> SlipForm:
    """Record a signature as the slips' own page does. Raises Refused."""
    paper = call.body.paper
    options: dict[str, Any] = {
        "key": call.key,
        "attested": signing.attested(call),
        "paper": FromPaper(paper.number, paper.happened) if paper else None,
    }

    def act(by: Staff) -> str:
        if table is None:
            return cage_desk.sign(entered, by=by, **options)
        answer = recorder.record(table, entered, by=by, expected_seq=None, **options)
        return table_desk.name_at(table.book_id, answer.entry)

    _, name = signing.sign(call, act)
    return slip_form(_sheet(table, SlipName.parse(name)))


def _sheet(table: Table | None, name: SlipName) -> SlipRecord:
    sheet = slip_records.sheet_of(table, name)
    if sheet is None:
        raise Refused("unknown_slip", "There is no such slip.", 404)
    return sheet


def slip_form(sheet: SlipRecord) -> SlipForm:
    """A slip as its paper shows it: nothing of a count before two people counted alike."""
    slip = sheet.slip
    is_told = sheet.variance_cents is not None and sheet.is_held_against
    return SlipForm(
        name=slip.name,
        series=slip.series.name,
        title=slip.series.title,
        table=sheet.table.pk if sheet.table else None,
        where=sheet.where,
        state=sheet.state,
        due=slip.due.name if slip.due else None,
        chips=list(slip.chips or slip.agreed or ()),
        total_cents=slip.total_cents,
        expected_cents=slip.due_cents if is_told else None,
        variance_cents=sheet.variance_cents if is_told else None,
        box=slip.box,
        reason=slip.reason,
        facts=_facts(slip),
        steps=[
            SlipStep(
                stage=line.stage.name,
                says=line.stage.title,
                roles=sorted(role_choices.signers(slip.series, line.stage)),
                counts=line.stage.is_count,
                asks=[fact.name for fact in line.stage.fields],
                signed_by=line.by.name if line.by else None,
                role=line.by.role if line.by else None,
                at=line.moment,
                hash=line.hash or None,
            )
            for line in sheet.lines
        ],
    )


def _facts(slip: Slip) -> dict[str, str]:
    facts: Mapping[str, str] = slip.facts
    return dict(facts)
