"""Disputes, corrections and the mispay finder on the pit's screens: lists of the floor, one of each, and their forms.

Reading needs ``watch_floor``, writing ``run_floor``; a dealer at the table may open one. The second signature on
a correction is a badge and a PIN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from dealer_ui import signatures
from dealer_ui.entry_forms import KeyForm, render_form
from dealer_ui.guards import dealers, runs, viewer_of, watches
from dealer_ui.numbers import cents, number
from ledger.log import read_head
from ledger.proof.chips import money
from ledger.proof.slip_name import SlipName
from tables.disputes import cases, claims, correction_records, corrections, disputed_moment, payout_errors, register
from tables.disputes.cases import Case
from tables.disputes.correction_records import CorrectionRecord
from tables.floor import recorder
from tables.floor.inputs import (
    CloseDispute,
    CorrectionInput,
    DeclineCorrection,
    DisputeInput,
    NoteDispute,
    OpenDispute,
    ProposeCorrection,
    RuleDispute,
    SignCorrection,
)
from tables.form_fields import InputForm, MoneyField, WholeNumberField
from tables.games.catalog import GAMES
from tables.games.protocol import Payout
from tables.log.attestation import Attestation
from tables.log.entries.disputes import RULED, RULINGS, Dispute
from tables.log.game_kinds import kind_of
from tables.log.state import UNREADABLE
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports.report import Column, Report, single_page
from tables.staff import terminals
from tables.state import round_history, table_state
from tables.state.round_history import RoundAsOf

if TYPE_CHECKING:
    from tables.edge.rulings import WhatIf

SHOWN: Final = 100
"""How many disputes and corrections a page lists; the CSV has all."""


DONE: Final = {
    "note": "It is written down.",
    "rule": "The ruling is written down.",
    "close": "The dispute is closed.",
}
"""What a form on a dispute's page did."""


# --- The forms -------------------------------------------------------------------------------------------------


_BAD_AMOUNT: Final = dict.fromkeys(
    ("required", "invalid"), "Write an amount in plain digits: 20, 2.50, or −16 for what a player lost."
)


class SeatForm(InputForm):
    """The seat that a dispute or a correction is about; 0 for the whole round."""

    codes = dict.fromkeys(("claim_cents", "handed_cents", "due_cents"), "bad_amount")
    seat = WholeNumberField(required=False, error_messages={"invalid": "Choose the seat from the list."})

    def clean_seat(self) -> int:
        return self.cleaned_data["seat"] or 0


class ClaimForm(SeatForm):
    """The claim that opens a dispute."""

    round = WholeNumberField(required=False)
    claim_cents = MoneyField(is_signed=True, required=False, error_messages=_BAD_AMOUNT)
    claim = forms.CharField(required=False)
    claimant = forms.CharField(required=False)
    happened = forms.CharField(required=False)

    def clean_claim_cents(self) -> int:
        return self.cleaned_data["claim_cents"] or 0

    def entered(self, number: int) -> OpenDispute:
        """The input about a round. Raises Refused."""
        return OpenDispute(**self.values() | {"round": number})


class DisputeForm(InputForm):
    """A note on a dispute, its ruling or its end."""

    status = 400
    message = "This form was incomplete: look at the dispute, then write again."
    do = forms.ChoiceField(choices=list(DONE.items()))
    heard = forms.CharField(required=False)
    text = forms.CharField(required=False)
    ruling = forms.CharField(required=False)
    reason = forms.CharField(required=False)

    def entered(self, number: int) -> DisputeInput:
        """The input about a dispute. Raises Refused."""
        values = self.values()
        if values["do"] == "note":
            return NoteDispute(number, values["heard"], values["text"])
        if values["do"] == "rule":
            return RuleDispute(number, values["ruling"], values["reason"])
        return CloseDispute(number, values["text"])


class CorrectionForm(SeatForm):
    """A correction of the payout of a seat. With ``counted_in`` the amount paid out includes the latest correction."""

    handed_cents = MoneyField(is_signed=True, error_messages=_BAD_AMOUNT)
    due_cents = MoneyField(is_signed=True, required=False, error_messages=_BAD_AMOUNT)
    reason = forms.CharField(required=False)
    dispute = WholeNumberField(required=False)
    counted_in = forms.BooleanField(required=False)

    def entered(self, table: Table, round_: int) -> ProposeCorrection:
        """The input about a round. Raises Refused."""
        values = self.values()
        last = corrections.signed_last(table.book_id, round_, values["seat"], read_head(table.book_id).seq)
        earlier = last.slip if values.pop("counted_in") and last else None
        return ProposeCorrection(**values, round=round_, earlier=earlier)


class DecisionForm(InputForm):
    """The second signature on a correction, or the reason why it is declined."""

    do = forms.CharField(required=False)
    reason = forms.CharField(required=False)

    def entered(self, slip: str) -> CorrectionInput:
        """The input about a slip. Raises Refused."""
        values = self.values()
        return DeclineCorrection(slip, values["reason"]) if values["do"] == "decline" else SignCorrection(slip)


# --- The lists -------------------------------------------------------------------------------------------------


@require_GET
def floor(request: HttpRequest) -> HttpResponse:
    """The disputes of the floor, those that are open first, and the corrections."""
    lines, all_cases = cases.listed(SHOWN)
    slips, all_slips = correction_records.listed(SHOWN)
    context = {
        "cases": lines,
        "made": slips,
        "all_cases": all_cases,
        "all_made": all_slips,
    }
    return render(request, "dealer_ui/pit/disputes.html", context)


DISPUTES: Final = Report[Staff, Case](
    name="disputes",
    columns=(
        Column("table"), Column("dispute", "dispute.number"), Column("round", "dispute.round"),
        Column("seat", lambda case: case.dispute.seat or ""), Column("opened", "opened_at"),
        Column("opened_by", "dispute.opened_by"), Column("claimant", "dispute.claimant"),
        Column("claim", "dispute.claim"), Column("claim_cents", "dispute.claim_cents"),
        Column("reportable", lambda case: "yes" if case.dispute.reportable else "no"),
        Column("state", "dispute.state"), Column("ruling", "dispute.ruling"), Column("reason", "dispute.reason"),
        Column("ruled_by", "dispute.ruled_by"), Column("corrections", lambda case: " ".join(case.corrections)),
        Column("closed", "closed_at"), Column("record_hash", "dispute.record_hash"),
        Column("last_entry", "dispute.last_seq"), Column("last_hash", "dispute.last_hash"),
    ),
    pages=lambda _: single_page(cases.cases()),
)  # fmt: skip
CORRECTIONS: Final = Report[Staff, CorrectionRecord](
    name="corrections",
    columns=(
        Column("table"), Column("slip", "correction.slip"), Column("state"), Column("round", "correction.round"),
        Column("seat", "correction.seat"), Column("recorded_cents", "correction.recorded_cents"),
        Column("due_cents", "correction.due_cents"), Column("handed_cents", "correction.handed_cents"),
        Column("difference_cents", "correction.difference_cents"), Column("booked_as_over_cents", "off_cents"),
        Column("reason", "correction.reason"), Column("dispute", "correction.dispute"),
        Column("earlier", "correction.earlier"), Column("proposed", "proposed_at"),
        Column("proposed_by", "correction.proposed_as"), Column("ended", "decided_at"), Column("ended_by", "by"),
        Column("text"),
    ),
    pages=lambda _: single_page(correction_records.of()),
)  # fmt: skip


# --- A dispute -------------------------------------------------------------------------------------------------


@runs
@require_http_methods(["GET", "POST"])
def open_dispute(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """A player disputes a round: what is claimed, by whom, and how much is at stake. At a table without rounds the
    number is 0, and the form asks when it was."""
    table, round_ = _disputed(pk, number)
    form, refused = ClaimForm(request.POST), None
    if request.method == "POST":
        try:
            _record(request, table, form.entered(number), viewer_of(request))
            opened = register.as_of(table.book_id, read_head(table.book_id).seq).last
            messages.success(
                request, f"Dispute {opened} is open. Hear the player, then the dealer.", extra_tags="dispute_opened"
            )
            return redirect("pit:dispute", pk, opened)
        except Refused as refusal:
            refused = refusal
    back = reverse("pit:round", args=[pk, number]) if round_ else reverse("pit:table", args=[pk])
    context = _context(table, form) | _claimed(table, round_, number, back)
    return render_form(request, "dealer_ui/pit/open_dispute.html", context, refused)


@dealers
@require_http_methods(["GET", "POST"])
def at_the_table(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """A dispute that the dealer opens at the table, in the presence of the player."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    table_standing = table_state.of(table)
    if not table_standing.is_dealt_by(viewer.username):
        raise PermissionDenied
    form, refused = ClaimForm(request.POST), None
    form.full_clean()
    latest = form.cleaned_data.get("round") or (table_standing.round.number if table_standing.round else 0)
    if request.method == "POST":
        try:
            terminals.for_dealing(request, table)
            _record(request, table, form.entered(latest), viewer)
            messages.success(request, "The dispute is open: the pit hears of it.", extra_tags="dispute_opened")
            return redirect("dealer:screen", pk)
        except Refused as refusal:
            refused = refusal
    round_ = round_history.as_of(table.book_id, latest, table_standing.seq)
    context = _context(table, form) | _claimed(table, round_, latest, reverse("dealer:screen", args=[pk]))
    return render_form(request, "dealer_ui/dealer/dispute.html", context, refused)


def _claimed(table: Table, round_: RoundAsOf | None, number: int, back: str) -> dict[str, Any]:
    """What the form that opens a dispute shows."""
    is_by_count = kind_of(GAMES[table.game]).is_by_count
    seats: Sequence[int] = range(1, table.seats + 1) if is_by_count else round_.round.opening.seats if round_ else ()
    happened = f"{timezone.localtime():%Y-%m-%dT%H:%M}"
    return {
        "round": round_,
        "number": number,
        "seats": seats,
        "back": back,
        "is_by_count": is_by_count,
        "happened": happened,
    }


def _disputed(pk: int, number: int) -> tuple[Table, RoundAsOf | None]:
    """The round that is disputed; none at a table without rounds."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    return (table, None) if not number and kind_of(GAMES[table.game]).is_by_count else _round(pk, number)


@watches
@require_http_methods(["GET", "POST"])
def dispute(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """One dispute: the claim, the evidence, what was heard, the ruling, and what comes next."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    form, may_run, refused = DisputeForm(request.POST), viewer_of(request).has_perm("tables.run_floor"), None
    if request.method == "POST":
        if not may_run:
            raise PermissionDenied
        try:
            _record(request, table, form.entered(number), viewer_of(request))
            messages.success(request, DONE[form.cleaned_data["do"]], extra_tags=form.cleaned_data["do"])
            return redirect("pit:dispute", pk, number)
        except Refused as refusal:
            refused = refusal
    case = cases.case(table.book_id, number)
    if case is None:
        raise Http404("There is no such dispute.")
    carried_out = [paper for paper in correction_records.of(table.book_id) if paper.correction.dispute == number]
    context = _context(table, form) | {
        "case": case,
        "dispute": case.dispute,
        "holds": _holds(table, case.dispute),
        "rulings": {name: says for name, says in RULINGS.items() if case.dispute.round or name != claims.VOID},
        "made": carried_out,
        "about_money": case.dispute.ruling in claims.MONEY,
        "may_run": may_run,
        "what_if": _what_if(request, table, case.dispute),
    }
    return render_form(request, "dealer_ui/pit/dispute.html", context, refused)


def _what_if(request: HttpRequest, table: Table, dispute: Dispute) -> WhatIf | None:
    """The worth of each ruling for a permitted viewer, of the round as it was when the dispute was opened."""
    if not settings.ADVANTAGE_ANALYSIS:
        return None
    from tables.edge import rulings as ruling_worth

    if not ruling_worth.may_see(viewer_of(request)):
        return None
    try:
        then = round_history.as_of(table.book_id, dispute.round, dispute.last_seq)
    except UNREADABLE:
        return None
    return ruling_worth.what_if(then, dispute, number(request.GET.get("before"))) if then else None


def _holds(table: Table, dispute: Dispute) -> bool:
    """Whether the round is, up to the entry that was its last then, what it was when the dispute was opened."""
    if not dispute.round:
        return disputed_moment.holds(table.book_id, dispute)
    try:
        then = round_history.as_of(table.book_id, dispute.round, dispute.last_seq)
    except UNREADABLE:
        return False
    return then is not None and then.last_hash == dispute.last_hash and then.record_hash == dispute.record_hash


# --- A correction ----------------------------------------------------------------------------------------------


@runs
@require_http_methods(["GET", "POST"])
def correct(request: HttpRequest, pk: int, number: int) -> HttpResponse:
    """Correct a payout error of a round: enter the amount paid out and compare it with the payout by the rules."""
    table, round_ = _round(pk, number)
    form, refused = CorrectionForm(request.POST), None
    if request.method == "POST":
        try:
            seq = _record(request, table, form.entered(table, number), viewer_of(request))
            name = SlipName.parse(corrections.waiting(table.book_id, seq)[-1].slip)
            messages.success(
                request,
                "Proposed. A second pit boss or an operator signs with badge and PIN.",
                extra_tags="correction_proposed",
            )
            return redirect("pit:correction", pk, name.year, name.number)
        except Refused as refusal:
            refused = refusal
    signed = [paper for paper in correction_records.of(table.book_id, number) if paper.state == "signed"]
    rulings = [case.dispute for case in cases.cases(table.book_id, number) if _is_for_money(case.dispute)]
    carried_out = {paper.correction.dispute for paper in signed}
    draft = _draft(request, round_, [ruling for ruling in rulings if ruling.number not in carried_out])
    context = _context(table, form) | {
        "round": round_,
        "number": number,
        "payouts": round_.round.house_payouts if round_.over else (),
        "made": signed,
        "rulings": rulings,
        "draft": draft,
    }
    if request.method == "GET":
        context["typed"] = draft.fields() if draft else {}
    return render_form(request, "dealer_ui/pit/correct.html", context, refused)


def _is_for_money(dispute: Dispute) -> bool:
    """Whether a correction is to follow from it."""
    return dispute.ruling in claims.MONEY and dispute.state == RULED


@dataclass(frozen=True, slots=True)
class CorrectionDraft:
    """A correction as a ruling would have it, before anybody wrote anything."""

    dispute: Dispute
    payout: Payout | None
    """Of the seat that is disputed; None where it is the whole round."""
    as_decided: bool
    """Whether the seat got what the engine decided, and the ruling gives or takes more; else it got something else."""

    def fields(self) -> dict[str, str]:
        """What the form holds."""
        payout, due_cents = self.payout, self.due_cents
        fields = {"dispute": str(self.dispute.number), "seat": str(payout.seat) if payout else ""}
        if payout is None or due_cents is None:
            return fields
        if self.as_decided:
            return fields | {"handed_cents": _typed(payout.net_cents), "due_cents": _typed(due_cents)}
        return fields | {"handed_cents": _typed(payout.net_cents - (due_cents - payout.net_cents))}

    @property
    def due_cents(self) -> int | None:
        return corrections.due_by(self.dispute, self.payout) if self.payout else None

    @property
    def has_two_ways(self) -> bool:
        """Whether the chips that change hands may come of what was entered or of what was handed over."""
        return self.due_cents is not None and self.dispute.ruling != claims.VOID


def _draft(request: HttpRequest, round_: RoundAsOf, rulings: Sequence[Dispute]) -> CorrectionDraft | None:
    """By the ruling that the address names, else by the latest one."""
    chosen = number(request.GET.get("dispute"))
    dispute = next((ruling for ruling in rulings if ruling.number == chosen), None) or next(iter(rulings), None)
    if dispute is None:
        return None
    payout = round_.payout(dispute.seat) if round_.over and dispute.seat else None
    return CorrectionDraft(dispute, payout, request.GET.get("handed") != "otherwise")


def _typed(amount_cents: int) -> str:
    """An amount in the form that a user types."""
    return money(amount_cents).replace("-", "−")


@watches
@sensitive_post_parameters("pin")
@require_http_methods(["GET", "POST"])
def correction(request: HttpRequest, pk: int, year: int, number: int) -> HttpResponse:
    """One correction on its slip; the second signature is a badge and a PIN."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    name, form, refused = SlipName(corrections.SERIES, year, number), DecisionForm(request.POST), None
    if request.method == "POST":
        try:
            entered = form.entered(str(name))
            attested = signatures.attested(request)
            by, _ = signatures.sign(request, lambda by: _record(request, table, entered, by, attested))
            did = "declined" if isinstance(entered, DeclineCorrection) else "signed"
            messages.success(request, f"Correction {number} is {did} by {by.name}.", extra_tags=did)
            return redirect("pit:correction", pk, year, number)
        except Refused as refusal:
            refused = refusal
    paper = correction_records.of_slip(table.book_id, name)
    if paper is None:
        raise Http404("There is no such correction.")
    context = _context(table, form) | {"shown": paper, "one": paper.correction}
    terms, book = paper.correction.terms, {"book": table.book.name}
    context |= {"sign_terms": terms("signed") | book, "decline_terms": terms("declined") | book | {"reason": None}}
    return render_form(request, "dealer_ui/pit/correction.html", context, refused)


# --- The finder ------------------------------------------------------------------------------------------------


@watches
@require_GET
def finder(request: HttpRequest, pk: int) -> HttpResponse:
    """Which rounds' single mistakes explain a rack that is so much off."""
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    head = read_head(table.book_id).seq
    through = min(number(request.GET.get("through")) or head, head)
    since = number(request.GET.get("since"))
    start = round_history.last_count(table.book_id, max(through - 1, 0)) if since is None else since
    typed = request.GET.get("variance", "")
    variance = cents(typed)
    sees = isinstance(request.user, Staff) and request.user.has_perm("tables.watch_bookmarks")
    mistakes = (
        payout_errors.find(table, variance, start, through, with_bookmarks=sees) if variance is not None else None
    )
    context = {
        "table": table,
        "found": mistakes,
        "most": mistakes.suspects[0].weight if mistakes and mistakes.suspects else 1,
        "typed": typed,
        "wrong": bool(typed) and variance is None,
        "since": start,
        "through": through,
        "is_by_count": kind_of(GAMES[table.game]).is_by_count,
    }
    return render(request, "dealer_ui/pit/mispays.html", context)


# --- What the pages share --------------------------------------------------------------------------------------


def _round(pk: int, number: int) -> tuple[Table, RoundAsOf]:
    table = get_object_or_404(Table.objects.select_related("book"), pk=pk)
    try:
        round_ = round_history.as_of(table.book_id, number, read_head(table.book_id).seq)
    except UNREADABLE:
        raise Http404("This round cannot be played again from the log.") from None
    if round_ is None:
        raise Http404("This round was not dealt.")
    return table, round_


def _context(table: Table, form: InputForm) -> dict[str, Any]:
    """The context of each page with a form: the values typed, and the key of the next entry."""
    return {"table": table, "typed": form.data, "key": uuid4()}


def _record(
    request: HttpRequest,
    table: Table,
    entered: DisputeInput | CorrectionInput,
    by: Staff,
    attested: Attestation | None = None,
) -> int:
    """Record an input; returns the table's sequence number after it. Raises Refused, also for a form without a key."""
    key = KeyForm(request.POST).values()["key"]
    return recorder.record(table, entered, by=by, key=key, expected_seq=None, attested=attested).seq
