"""The page that makes a pay table: its lines, the value of each wager, and the button that saves what was shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold import widgets

from dealer_ui.guards import viewer_of
from dealer_ui.operator.pages import ButtonField, OperatorFormPage
from tables.admin.forms import BooleanField, CommentField, EffectiveField, refusals_as_errors
from tables.admin.pages import number, to_proposal
from tables.admin.pay_tables import previews
from tables.approvals import proposals
from tables.games.catalog import GAMES
from tables.games.odds import PayTable
from tables.games.pays import PaidWager, Spelled
from tables.log import dual_control
from tables.models import PayTable as Row
from tables.models import Staff
from tables.setup import pay_tables, policies
from tables.setup.dual_control import ProposalDraft


class PayTableForm(forms.Form):
    """The name and the lines of a pay table. ``for_game`` makes the form of one game."""

    GAME: ClassVar[str]

    name = forms.CharField(
        max_length=40,
        widget=widgets.UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text="A name that there is already gets its next version.",
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    """The digest of the lines whose values were shown last. Other lines are not saved."""
    comment = CommentField()
    effective = EffectiveField()
    save = ButtonField()
    confirmed = BooleanField(
        required=False,
        label="The house loses on a wager of this table, and it is meant so",
    )

    @classmethod
    def for_game(cls, game: str) -> type[PayTableForm]:
        """A subclass with a field for each line of a game's form."""
        wagers = GAMES[game].pay_form.wagers
        fields = {
            _field(wager, line.name): _line_field(wager, place)
            for wager in wagers
            for place, line in enumerate(wager.lines)
        }
        form: type[PayTableForm] = type(cls.__name__, (cls,), {"GAME": game, "__module__": __name__, **fields})
        return form

    @classmethod
    def initial_of(cls, row: Row) -> dict[str, str]:
        """The lines of a pay table, for its next version."""
        odds = {f"{wager}.{line}": odds for wager, lines in row.wagers.items() for line, odds in lines.items()}
        return {"name": row.name, **odds}

    @property
    def wagers(self) -> Iterable[tuple[PaidWager, Sequence[forms.BoundField]]]:
        """The wagers with their fields."""
        for wager in GAMES[self.GAME].pay_form.wagers:
            yield wager, [self[_field(wager, line.name)] for line in wager.lines]

    def lines(self) -> Spelled:
        """The lines of those wagers of which a line was typed."""
        form = GAMES[self.GAME].pay_form
        typed = {
            wager.name: {line.name: self.cleaned_data.get(_field(wager, line.name), "") for line in wager.lines}
            for wager in form.wagers
        }
        return {wager: lines for wager, lines in typed.items() if any(lines.values())}

    def clean(self) -> dict[str, Any]:
        """Judge by the function that judges the write, each fault at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for place, sentence in pay_tables.faults(self.GAME, cleaned.get("name", ""), self.lines()).items():
            field = place.removeprefix("wagers.")
            if field not in self.errors:  # a missing name has its error already
                self.add_error(field if field in self.fields else None, ValidationError(sentence, code=field))
        return cleaned

    def table(self) -> PayTable:
        """The pay table of the lines, with its digest."""
        return GAMES[self.GAME].pay_form.table_of(self.cleaned_data["name"], 1, self.lines())

    def may_be_saved(self, table: PayTable, *, is_lost: bool) -> bool:
        """True if the lines were shown, and confirmed if the casino loses on a wager. Otherwise adds the error."""
        if self.cleaned_data["seen"] != table.sha256:
            says = "These lines were not shown yet: look at what they are worth, then save."
            self.add_error(None, ValidationError(says, code="not_shown"))
        elif is_lost and not self.cleaned_data["confirmed"]:
            says = "The house loses on a wager: say that it is meant so, or change its lines."
            self.add_error("confirmed", ValidationError(says, code="not_confirmed"))
        return not self.errors

    def draft(self) -> ProposalDraft | None:
        """The proposal of the pay table; None where one person may make it."""
        drafted = pay_tables.draft(self.GAME, self.cleaned_data["name"], self.lines())
        return replace(drafted, effective=self.cleaned_data["effective"]) if drafted else None

    def make(self, by: Staff) -> Row:
        """Save the pay table. Raises Refused."""
        return pay_tables.make(self.GAME, self.cleaned_data["name"], self.lines(), by=by)


class _OddsField(forms.CharField):
    """Odds such as 9:1 or 9 to 1."""

    widget = widgets.UnfoldAdminTextInputWidget

    def clean(self, value: Any) -> str:
        return ":".join(part.strip() for part in str(super().clean(value)).replace(" to ", ":").split(":"))


def _field(wager: PaidWager, line: str) -> str:
    return f"{wager.name}.{line}"


def _line_field(wager: PaidWager, place: int) -> forms.Field:
    line = wager.lines[place]
    ships = " or ".join(dict.fromkeys(odds[place].spelled for odds in wager.shipped.values()))
    help_text = f"{line.bounds}. Ships as {ships}."
    return _OddsField(label=line.label.capitalize(), required=False, max_length=20, help_text=help_text)


class PayTablePage(OperatorFormPage):
    """The choice of a game; then the lines, the value of each wager, and the button that saves them."""

    permission_required = ("tables.add_paytable",)
    template_name = "dealer_ui/operator/pay_table.html"

    @property
    def game(self) -> str:
        """The game that the address names."""
        return self.request.GET.get("game", "")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if self.game not in pay_tables.games():
            return self.page(form=None, title="A pay table", games=[GAMES[name] for name in pay_tables.games()])
        return super().get(request, *args, **kwargs)

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        return super().post(request, *args, **kwargs) if self.game in pay_tables.games() else self.get(request)

    def get_form_class(self) -> type[PayTableForm]:
        return PayTableForm.for_game(self.game)

    def get_initial(self) -> dict[str, str]:
        """The lines of the pay table of which a new version is made."""
        row = Row.objects.filter(pk=number(self.request.GET.get("from", "")), game=self.game).first()
        return PayTableForm.initial_of(row) if row else {}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        shared = {
            "title": f"A pay table of {GAMES[self.game].title}" if self.game in GAMES else "",
            "takes_two": dual_control.needed("pay_table", policies.as_entered(timezone.now())),
        }
        return super().get_context_data(**(shared | context))

    def form_valid(self, form: PayTableForm) -> HttpResponse:
        """Save the lines if their values were shown. Otherwise show the values."""
        table = form.table()
        worths = previews(form.GAME, table)
        is_lost = any(preview.is_lost for preview in worths)
        if form.cleaned_data["save"] and form.may_be_saved(table, is_lost=is_lost):
            with refusals_as_errors(form):
                return self.save(form)
        return self.page(form=form, previews=worths, is_lost=is_lost, digest=table.sha256)

    def save(self, form: PayTableForm) -> HttpResponse:
        by = viewer_of(self.request)
        if draft := form.draft():
            return to_proposal(self.request, proposals.propose(draft, form.cleaned_data["comment"], by=by))
        row = form.make(by)
        sentence = f"{row} of {GAMES[row.game].title} is made. Tables pay by it once they are set so."
        messages.success(self.request, sentence, extra_tags="pay_table_made")
        return redirect("admin:tables_paytable_change", row.pk)
