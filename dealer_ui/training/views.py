"""Practice on screen: a layout on which the trainee answers each step before it is shown, the result, and certificates.

Everything here is marked PRACTICE. No page refers to a table of the casino.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dealer_ui import signatures
from dealer_ui.cage.slips import on_paper
from dealer_ui.entry_forms import SignatureForm, render_form
from dealer_ui.guards import dealers
from dealer_ui.training import felt, options
from dealer_ui.training.options import PracticeForm
from ledger.proof import chips as proof
from ledger.proof.chips import money
from tables.form_fields import MoneyField, WholeNumberField
from tables.games.catalog import GAMES
from tables.models import Certificate, Denomination, Practice, Staff, Table
from tables.refusals import Refused
from tables.reports.report import DAY, NUMBER, Column, Report, single_page
from tables.training import certificates as training
from tables.training import questions
from tables.training.certificates import Session
from tables.training.providers import PROVIDERS
from tables.training.questions import CourseSpec, Question

SHOWN: Final = 10
_UNIT_CENTS: Final = 100


@dataclass(frozen=True, slots=True)
class AnswerLine:
    """An answer that was given, with what was right."""

    number: int
    question: Question
    answer: str
    right: str
    is_right: bool

    @property
    def place(self) -> int | None:
        """The seat or hand on the layout that the answer belongs to; for a question of turn, the seat whose turn it is.

        None where the answer is no seat.
        """
        question = self.question
        if question.kind == "turn" and question.right.isdecimal():
            return int(question.right)
        if question.kind == "turn" or question.place is not None:
            return question.place
        return question.seat


# --- Practice --------------------------------------------------------------------------------------------------


@dealers
@require_http_methods(["GET", "POST"])
def begin(request: HttpRequest, viewer: Staff) -> HttpResponse:
    """A dealer's own practices and certificates; a new practice."""
    form, refused = PracticeForm(request.GET), None
    if request.method == "POST":
        form = PracticeForm(request.POST)
        game, unit_cents = form.cleaned_data["game"], form.cleaned_data.get("unit_cents") or _UNIT_CENTS
        try:
            set_to = form.chosen() | _pays_of(game, form.cleaned_data.get("pays_of"))
            return redirect("practice:session", training.start(viewer, game, set_to, unit_cents).pk)
        except Refused as refusal:
            refused = refusal
    rows = Practice.objects.filter(dealer=viewer).select_related("dealer")[:SHOWN]
    context = {
        "sessions": [session for row in rows if (session := _readable(row))],
        "certificates": Certificate.objects.filter(dealer=viewer).select_related("practice"),
        **_offer(form, refused),
    }
    return render_form(request, "dealer_ui/training/begin.html", context, refused)


def _offer(form: PracticeForm, refused: Refused | None) -> dict[str, Any]:
    """The games, and the options of the one that is looked at: its own, or those of a table."""
    values = form.cleaned_data
    game = values["game"] if values["game"] in PROVIDERS else options.FIRST
    tables = list(Table.objects.filter(game=game).order_by("name"))
    like = next((table for table in tables if table.pk == values.get("table")), None)
    set_to = form.chosen() if refused else like.options if like else {}
    return {
        "game": GAMES[game],
        "games": [practised.game for practised in PROVIDERS.values()],
        "options": options.options_of(game, set_to),
        "tables": tables if PROVIDERS[game].options else [],
        "like": like,
        "unit_cents": like.unit_cents if like else _UNIT_CENTS,
    }


def _pays_of(game: str, pk: int | None) -> dict[str, Any]:
    """The pay table of the table that a practice is to be like, if an operator made one for it."""
    table = Table.objects.filter(game=game, pk=pk or 0).first()
    return {"pays": table.options["pays"]} if table and "pays" in table.options else {}


def _readable(row: Practice) -> Session | None:
    try:
        return training.session(row)
    except Refused:
        return None


@on_paper
@require_GET
def session(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """The question that is due; or what the practice came to. Who watches the floor replays one that is over."""
    return _draw(request, viewer, _row(viewer, pk))


class AnswerForm(forms.Form):
    """The answer to a question: that of a button, or an amount taken, paid or given back."""

    number = WholeNumberField(required=False)
    answer = forms.CharField(required=False)
    way = forms.CharField(required=False)
    amount = MoneyField(required=False)

    def spelled(self) -> str:
        """The answer as the practice records it. Raises Refused."""
        way, amount = self.cleaned_data["way"], self.cleaned_data.get("amount")
        if not way:
            return str(self.cleaned_data["answer"])
        if way == "back":
            return "0"
        if amount is None:
            raise Refused("bad_amount", "Type the amount in plain digits, such as 12, then Take or Pay.", 422)
        return str(amount if way == "pay" else -amount)


@dealers
@require_POST
def answer(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """Record the trainee's answer to a question."""
    row, form = get_object_or_404(Practice.objects.select_related("dealer"), pk=pk), AnswerForm(request.POST)
    form.full_clean()
    try:
        training.answer(row, form.cleaned_data.get("number") or 0, form.spelled(), by=viewer)
    except Refused as refused:
        return _draw(request, viewer, _row(viewer, pk), refused)
    return redirect("practice:session", pk)


@on_paper
@sensitive_post_parameters("pin")
@require_POST
def certify(request: HttpRequest, viewer: Staff, pk: int) -> HttpResponse:
    """A supervisor signs the certificate, on any device that shows the result."""
    row = _row(viewer, pk)
    try:
        by, signed_certificate = signatures.sign(request, lambda by: training.certify(row, by=by))
    except Refused as refused:
        return _draw(request, viewer, row, refused)
    messages.success(request, f"Certificate {signed_certificate.number} is signed by {by.name}.")
    return redirect("practice:certificate", signed_certificate.number)


def _row(viewer: Staff, pk: int) -> Practice:
    """A practice, for the trainee and for those who watch the floor."""
    if not (viewer.has_perm("tables.deal") or viewer.has_perm("tables.watch_floor")):
        raise PermissionDenied
    row = get_object_or_404(Practice.objects.select_related("dealer"), pk=pk)
    if row.dealer_id != viewer.pk and not viewer.has_perm("tables.watch_floor"):
        raise PermissionDenied
    return row


def _draw(request: HttpRequest, viewer: Staff, row: Practice, refused: Refused | None = None) -> HttpResponse:
    try:
        session = training.session(row)
    except Refused as refusal:
        messages.error(request, refusal.sentence)
        return redirect("/")
    lines = _lines(session)
    context: dict[str, Any] = {"session": session, "lines": lines, "row": row}
    if session.over or row.dealer_id != viewer.pk:
        context["certificate"] = Certificate.objects.filter(practice=row).first()
        context["typed"] = SignatureForm(request.POST).data
        return render_form(request, "dealer_ui/training/result.html", context, refused)
    due = session.due
    assert due is not None  # noqa: S101 -- it is not over
    chips = tuple(Denomination.objects.all())
    screen = felt.screen(session.course, due, [proof.Denomination(chip.value_cents, chip.colour) for chip in chips])
    last = lines[-1] if lines else None
    context |= {
        "due": due,
        "number": len(session.answers) + 1,
        "last": last,
        "verdict": last if last and last.question.round == due.round else None,
        "terms": _terms(session.course),
        "screen": screen,
        "board": screen.board,
        "chips": chips,
    }
    return render_form(request, "dealer_ui/training/session.html", context, refused)


def _terms(course: CourseSpec) -> list[tuple[str, str]]:
    """The rules of a practice, as rows of name and value."""
    terms = options.in_words(course.options or {})
    return [*terms, ("Chips", f"whole ones of {money(course.unit_cents)}")] if terms else []


def _lines(session: Session) -> list[AnswerLine]:
    words = questions.in_words
    pairs = enumerate(zip(session.questions, session.answers, strict=False), start=1)
    return [
        AnswerLine(number, question, words(question, answer), words(question, question.right), answer == question.right)
        for number, (question, answer) in pairs
    ]


# --- Certificates ----------------------------------------------------------------------------------------------


@on_paper
@require_GET
def certificate(request: HttpRequest, viewer: Staff, number: int) -> HttpResponse:
    """One certificate, as it is printed: for its holder and for those who watch the floor."""
    row = get_object_or_404(_certificates(), number=number)
    if row.dealer_id != viewer.pk and not viewer.has_perm("tables.watch_floor"):
        raise PermissionDenied
    context = {"certificate": row, "terms": _options(row), "faults": training.faults(row)}
    return render(request, "dealer_ui/training/certificate.html", context)


@require_GET
def certificates(request: HttpRequest) -> HttpResponse:
    """Every certificate, the newest first."""
    rows = _certificates()
    context = {"table": CERTIFICATES.table(rows[:100]), "all": rows.count()}
    return render(request, "dealer_ui/training/certificates.html", context)


CERTIFICATES: Final = Report[Staff, Any](
    name="certificates",
    columns=(
        Column("certificate", "number", "Certificate"),
        Column("dealer", "dealer.name", "Dealer"),
        Column("badge", "dealer.badge"),
        Column("game", heading="Game", page_value="title"),
        Column("rules_version"),
        Column("answers_right", "", "Right", NUMBER, lambda row: f"{row.answers_right} of {row.answers_asked}"),
        Column("answers_asked"),
        Column("on_day", "", "On", DAY),
        Column("valid_through", "", "Valid through", DAY),
        Column("signed_by", "signed_as", "Signed by"),
        Column("entry", "seq"),
        Column("practice", "practice_id"),
        Column("options", lambda row: "; ".join(f"{name}: {value}" for name, value in _options(row))),
    ),
    pages=lambda _: single_page(_certificates()),
    title="Certificates",
    page_columns=("certificate", "dealer", "game", "answers_right", "signed_by", "on_day", "valid_through"),
    link=lambda row: reverse("practice:certificate", args=[row.number]),
)


def _options(row: Any) -> list[tuple[str, str]]:
    return options.in_words(row.practice.course.get("options", {}))


def _certificates() -> Any:
    return Certificate.objects.select_related("dealer", "signed_by", "practice__dealer")
