"""Slips on screen: those to be signed, a new one, one on its paper. Every signature is a badge and a PIN."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial, wraps
from typing import Any, Concatenate, Final, NamedTuple, ParamSpec
from uuid import UUID, uuid4

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui import signatures
from dealer_ui.cage.paper_form import PaperForm
from dealer_ui.cage.slip_forms import FactsForm, PasskeyForm, StepForm, questioned_note_forms, questioned_notes
from dealer_ui.denomination_form import CountForm
from dealer_ui.entry_forms import render_form
from dealer_ui.guards import viewer_of
from dealer_ui.numbers import number
from ledger.proof.slip_name import SlipName, series_in
from tables.cage import cage_desk, site_back_entry, slip_records, table_desk
from tables.cage.slip_records import SlipRecord, SlipStep
from tables.floor import recorder, table_opening
from tables.floor.back_entry import FromPaper
from tables.floor.inputs import BeginSlip, SignSlip, SlipInput, VoidSlip
from tables.floor.signature_checks import HOW_TO_GET_ONE
from tables.log import attestation, slip_workflow
from tables.log.attestation import Attestation
from tables.log.slip_types import SLIPS, VOID_ASKED, SlipType, Stage, offered
from tables.models import Denomination, Staff, Table
from tables.refusals import Refused
from tables.reports import gaming_hours, keys_and_drops
from tables.reports.report import Column, Report, single_page
from tables.roles import Role
from tables.setup import role_choices
from tables.staff import passkeys, terminals
from tables.state import table_state

Rest = ParamSpec("Rest")

SEES_KEYS: Final = frozenset(role for series in offered("keys") for role in series.seen_by)
"""The roles that take keys, hand them out, or look after who has them."""


def on_paper(
    view: Callable[Concatenate[HttpRequest, Staff, Rest], HttpResponseBase],
) -> Callable[..., HttpResponseBase]:
    """For those who have to do with slips."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponseBase:
        viewer = request.user
        if not isinstance(viewer, Staff) or not viewer.is_active:
            return redirect_to_login(request.get_full_path())
        return view(request, viewer, *args, **kwargs)

    return guarded


def _here(viewer: Staff) -> Table | None:
    return table_opening.table_of(viewer) if viewer.role == Role.DEALER else None


def _series(viewer: Staff, name: str, table: Table | None) -> SlipType:
    """The series of that name, for those who may see it at this table."""
    series = SLIPS.get(name)
    if series is None:
        raise Http404("There is no such slip.")
    if not slip_records.may_see(viewer.role, series, table, _here(viewer)):
        raise PermissionDenied
    return series


# --- The list --------------------------------------------------------------------------------------------------


@on_paper
@require_GET
def book(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """The slips to be signed, and the latest ones."""
    here = _here(viewer)
    if viewer.role == Role.DEALER and here is None:
        raise PermissionDenied
    before = number(request.GET.get("before"))
    page = [] if here else slip_records.recent(slip_records.seen_by(viewer.role), before)
    context = {
        "waiting": slip_records.in_progress(viewer.role, here),
        "page": [sheet for _, sheet in page],
        "older": page[-1][0] if len(page) == slip_records.PAGE else None,
        "paged": before is not None,
        "begins": [series for series in offered("slips") if _begins(viewer, series)],
        "tables": Table.objects.in_use(),
        "here": here,
        "drops": [] if here else keys_and_drops.next_drops(timezone.now()),
        "keys": not here and viewer.role in SEES_KEYS,
    }
    return render(request, "dealer_ui/cage/book.html", context)


def _begins(viewer: Staff, series: SlipType) -> bool:
    """Whether the viewer's role signs the first step here."""
    return viewer.role in role_choices.signers(series, series.first)


def readable_slips(request: HttpRequest) -> Collection[str]:
    """The series of slips whose every signature the file lists."""
    viewer = viewer_of(request)
    if viewer.role == Role.DEALER:
        raise PermissionDenied
    return slip_records.seen_by(viewer.role)


class SlipLine(NamedTuple):
    """A signature on a slip."""

    sheet: SlipRecord
    line: SlipStep


SIGNED_SLIPS: Final = Report[Collection[str], SlipLine](
    name="slips",
    permission=(),
    columns=(
        Column("slip", "sheet.slip.name"), Column("table", "sheet.where"),
        Column("amount_cents", "sheet.slip.total_cents"),
        Column("state", "sheet.state"), Column("step", "line.stage.name"), Column("signed_by", "line.by.name"),
        Column("role", "line.by.role"), Column("at", "line.moment"), Column("hash", "line.hash"),
    ),
    pages=lambda series: (
        [SlipLine(sheet, line) for sheet in page for line in sheet.lines if line.by]
        for page in slip_records.pages(series)
    ),
)  # fmt: skip


# --- Keys and drops --------------------------------------------------------------------------------------------


@on_paper
@require_GET
def keys(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """The register of keys: which hang in the cabinet, who has the others, and which drops are due."""
    if viewer.role not in SEES_KEYS:
        raise PermissionDenied
    moment = timezone.now()
    context = {
        "keys": keys_and_drops.register(moment),
        "drops": keys_and_drops.next_drops(moment),
        "ways": [series for series in offered("keys") if _begins(viewer, series)],
    }
    return render(request, "dealer_ui/cage/keys.html", context)


def read_register(request: HttpRequest) -> datetime:
    """The moment for which the file has the register, for a viewer who may see it."""
    if viewer_of(request).role not in SEES_KEYS:
        raise PermissionDenied
    return timezone.now()


KEYS: Final = Report[datetime, keys_and_drops.Key](
    name="keys",
    permission=(),
    columns=(
        Column("key", "name"), Column("opens"), Column("held_by_two", "dual"), Column("out", "is_out"),
        Column("holders", lambda key: " and ".join(key.holders)), Column("since"), Column("due_back"),
        Column("late", "is_late"), Column("lost", lambda key: bool(key.lost)),
    ),
    pages=lambda moment: single_page(keys_and_drops.register(moment)),
)  # fmt: skip


# --- Passkeys --------------------------------------------------------------------------------------------------


@on_paper
@require_POST
def passkey(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """Which passkeys may sign for a badge, before a page asks the browser for one. On terminals alone."""
    if terminals.here(request) is None:
        raise PermissionDenied
    values = PasskeyForm(request.POST).values()
    asked = passkeys.asked_of(values["badge"][:8], series_in(values["slip"][:40]))
    sentence = f"This takes a passkey beside badge and PIN, and you have none that signs slips: {HOW_TO_GET_ONE}."
    lacks = asked.is_wanted and not asked.credentials
    answer = {"credentials": asked.credentials, "sentence": sentence if lacks else ""}
    return JsonResponse(answer | ({"code": "no_passkey"} if lacks else {}))


# --- A slip ----------------------------------------------------------------------------------------------------


NOTE: Final = "d"
"""Prefix of the fields of a delivery note."""


def _table(pk: int) -> Table | None:
    """The table of an address; None for 0, the site."""
    return get_object_or_404(Table.objects.select_related("book"), pk=pk) if pk else None


@on_paper
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest, viewer: Staff, pk: int, series: str) -> HttpResponse:
    """A new slip with its first signature."""
    table = _table(pk)
    record, refused = _series(viewer, series, table), None
    step, facts = StepForm(request.POST), FactsForm(request.POST, record, record.first)
    counted = _count_form(request, table, record)
    noted = _count_form(request, table, record, NOTE) if record.begins_with_note else None
    apart = questioned_note_forms(request.POST)
    if request.method == "POST":
        try:
            chips, note = counted.chips(), noted.chips() if noted else ()
            begun = BeginSlip(series, chips, step.values()["box"], facts.facts(), note, questioned_notes(apart))
            return redirect(_enter(request, table, begun))
        except Refused as refusal:
            refused = refusal
    context = {
        "table": table,
        "series": record,
        "asked": [*counted] if record.begins_with_chips else (),
        "noted": [*noted] if noted else (),
        "facts": facts,
        "apart": apart if record.first.is_count and record.cash else (),
        "reasons": slip_workflow.APART,
        "mode": site_back_entry.mode_at(table),
        "paper": PaperForm(request.POST),
        "where": table.name if table else "House",
        "kinds": _denominations(table),
        "step": step,
        "badge": signatures.typed_badge(request),
        "key": uuid4(),
        "terms": _terms(table, series, record.first.name, asks=record.begins_with_chips)
        | ({"box": None} if record.is_boxed else {})
        | ({"noted": None} if record.begins_with_note else {})
        | _puts_apart(record, record.first)
        | ({"facts": None} if record.first.fields else {}),
    }
    return render_form(request, "dealer_ui/cage/begin.html", context, refused)


@on_paper
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def slip(request: HttpRequest, viewer: Staff, pk: int, series: str, year: int, number: int) -> HttpResponse:
    """A slip on its paper, with the step that is to be signed next."""
    table = _table(pk)
    record, refused = _series(viewer, series, table), None
    name, step = SlipName(series, year, number), StepForm(request.POST)
    if request.method == "POST":
        try:
            return redirect(_enter(request, table, _entered(request, table, record, name)))
        except Refused as refusal:
            refused = refusal
    sheet = slip_records.sheet_of(table, name)
    if sheet is None:
        raise Http404("There is no such slip.")
    due = sheet.slip.due
    context = {
        "sheet": sheet,
        "table": table,
        "slip": sheet.slip,
        "begun": _begun(sheet),
        "kinds": _denominations(table),
        "due": due,
        "dealer": _dealer(table),
        "here": _here(viewer),
        "asked": [*_count_form(request, table, record)] if due and due.is_count else (),
        "facts": FactsForm(request.POST, record, due) if due else (),
        "apart": questioned_note_forms(request.POST) if due and due.is_count and record.cash else (),
        "reasons": slip_workflow.APART,
        "mode": site_back_entry.mode_at(table),
        "paper": PaperForm(request.POST),
        "from_paper": {
            line.of: line for line in site_back_entry.about(sheet.book_id, str(name), is_house=table is None)
        },
        "voidable": sheet.is_voidable,
        "voiding": refused is not None and step["void"].value() == "on",
        "badge": signatures.typed_badge(request),
        "step": step,
        "terms": _terms_of_step(table, str(name), record, due) if due else None,
        "void_terms": _terms(table, str(name), VOID_ASKED) | {"reason": None},
        "key": uuid4(),
    }
    return render_form(request, "dealer_ui/cage/slip.html", context, refused)


def _dealer(table: Table | None) -> str:
    """The name of the dealer at a table; empty if there is no dealer."""
    dealer = table_state.of(table).dealer if table else None
    return dealer.name if dealer else ""


def _terms(table: Table | None, slip: str, stage: str, *, asks: bool = False) -> dict[str, Any]:
    """The terms of a slip that the terminal signs, as far as the page knows them; None for fields still to be typed."""
    chips = None if asks else ()
    book = table.book.name if table else cage_desk.BOOK
    terms = {"format": attestation.SLIP, "slip": slip, "stage": stage, "chips": chips, "box": "", "reason": ""}
    return terms | {"book": book}


def _terms_of_step(table: Table | None, slip: str, series: SlipType, stage: Stage) -> dict[str, Any]:
    """The terms of the step that is due, for the terminal to sign."""
    terms = _terms(table, slip, stage.name, asks=stage.is_count)
    return terms | ({"facts": None} if stage.fields else {}) | _puts_apart(series, stage)


def _puts_apart(series: SlipType, stage: Stage) -> dict[str, Any]:
    """Additional terms of a cash count: the notes in question that it sets aside."""
    return {"format": attestation.CASH_COUNT, "apart": None} if stage.is_count and series.cash else {}


@dataclass(frozen=True, slots=True)
class Begun:
    """When a slip was begun, by the house's own calendar."""

    day: date
    shift: str


def _begun(sheet: SlipRecord) -> Begun | None:
    moment = sheet.lines[0].moment
    if moment is None:
        return None
    calendar = gaming_hours.calendar()
    return Begun(calendar.day_of(moment), calendar.shift_of(moment).name)


def _entered(request: HttpRequest, table: Table | None, series: SlipType, name: SlipName) -> SlipInput:
    """The signature that a form sends: a void, or the step that was due when it was drawn."""
    values = StepForm(request.POST).values()
    if values["void"] == "on":
        return VoidSlip(str(name), values["reason"])
    stage = series.stage(values["stage"])
    if stage is None:
        return SignSlip(str(name), values["stage"])
    chips = _count_form(request, table, series).chips() if stage.is_count else ()
    facts = FactsForm(request.POST, series, stage).facts()
    return SignSlip(str(name), stage.name, chips, facts, questioned_notes(questioned_note_forms(request.POST)))


def _enter(request: HttpRequest, table: Table | None, entered: SlipInput) -> str:
    """Record a signature. Returns the address of the slip. Raises Refused."""
    key = StepForm(request.POST).values()["key"]
    attested, paper = signatures.attested(request), PaperForm(request.POST).from_paper()
    by, written = signatures.sign(request, partial(_recorded, table, entered, key, attested, paper))
    name = SlipName.parse(written)
    messages.success(request, f"{SLIPS[name.series].title} {name.number} is signed by {by.name}.", extra_tags="signed")
    return reverse("slips:slip", args=[table.pk if table else 0, name.series, name.year, name.number])


def _recorded(
    table: Table | None,
    entered: SlipInput,
    key: UUID,
    attested: Attestation | None,
    paper: FromPaper | None,
    by: Staff,
) -> str:
    """Record the signature in the table's log, or in the site's without a table. Returns the slip's name."""
    if table is None:
        return cage_desk.sign(entered, by=by, key=key, attested=attested, paper=paper)
    answer = recorder.record(table, entered, by=by, key=key, expected_seq=None, attested=attested, paper=paper)
    return table_desk.name_at(table.book_id, answer.entry)


def _denominations(table: Table | None) -> Iterable[Denomination]:
    return table.denominations.all() if table else Denomination.objects.all()


def _count_form(request: HttpRequest, table: Table | None, series: SlipType, prefix: str = "n") -> CountForm:
    """Every chip of the table, or the notes and coins of a box."""
    return CountForm(request.POST, _denominations(table), series.cash, prefix)
