"""The pages of policies: their values, their history, and the form that enters a change of several policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from unfold import widgets

from dealer_ui.guards import viewer_of
from dealer_ui.operator.pages import OperatorFormPage, OperatorPage
from tables.admin.forms import ChoiceField, CommentField, EffectiveField
from tables.admin.pages import to_proposal
from tables.admin.read_only import changes
from tables.approvals import proposals
from tables.log import dual_control
from tables.log import policies as catalogue
from tables.log.policies import ROLES, Term, Values, said, typed
from tables.models import HouseTerms
from tables.setup import policies
from tables.setup.dual_control import ProposalDraft


@dataclass(frozen=True, slots=True)
class TermLine:
    """A policy on its page: its value in force, the change that set it, and its later values."""

    term: Term
    value: str
    default: str
    changed: HouseTerms | None
    next: Sequence[tuple[datetime, str]]

    @property
    def is_default(self) -> bool:
        return self.value == self.default


def lines_by_group() -> list[tuple[str, list[TermLine]]]:
    """All policies by their groups."""
    moment, rows = timezone.now(), list(HouseTerms.objects.order_by("effective", "seq"))
    values = policies.as_entered(moment)
    return [
        (group, [_term_line(term, values[term.name], rows, moment) for term in terms])
        for group, terms in catalogue.groups().items()
    ]


def _term_line(term: Term, value: Any, rows: Sequence[HouseTerms], moment: datetime) -> TermLine:
    own = [row for row in rows if term.name in row.values]
    past = [row for row in own if row.effective <= moment]
    to_come = [(row.effective, said(term, row.values[term.name])) for row in own if row.effective > moment]
    return TermLine(term, said(term, value), said(term, term.default), past[-1] if past else None, to_come)


def groups() -> Mapping[str, Sequence[Term]]:
    """The policies of the form by their groups. The choices for roles have a page of their own."""
    return {group: terms for group, terms in catalogue.groups().items() if group != ROLES}


class _TermField(forms.CharField):
    """A policy that is typed as text."""

    widget = widgets.UnfoldAdminTextInputWidget

    def __init__(self, term: Term, **options: Any) -> None:
        self.term = term
        super().__init__(label=term.title, help_text=_help(term), required=False, **options)

    def clean(self, value: Any) -> Any:
        """The value, within the bounds of the policy."""
        try:
            return catalogue.parsed(self.term, str(value or ""))
        except ValueError as wrong:
            raise ValidationError(str(wrong)) from None


class _FlagField(forms.BooleanField):
    widget = widgets.UnfoldBooleanSwitchWidget


class _WordsField(forms.MultipleChoiceField):
    """A policy of several words. The cleaned value has the order of the policy's choices."""

    widget = widgets.UnfoldAdminCheckboxSelectMultipleWidget

    def __init__(self, term: Term, **options: Any) -> None:
        self._words = term.choices
        super().__init__(label=term.title, help_text=term.help, required=False, **options)

    def clean(self, value: Any) -> tuple[str, ...]:
        chosen = super().clean(value)
        return tuple(word for word in self._words if word in chosen)


def _help(term: Term) -> str:
    if term.kind == "levels":
        return f"{term.help} {term.length} amounts, apart: {typed(term, term.default)}."
    if term.kind in ("cents", "text"):
        return term.help
    return f"{term.help} {said(term, term.least)} to {said(term, term.most)}."


def _field(term: Term) -> forms.Field:
    if term.kind == "flag":
        return _FlagField(label=term.title, help_text=term.help, required=False)
    if term.kind in ("choice", "choices"):
        titles = catalogue.MATTERS
        choices = [(word, titles.get(word, word.replace("_", " ").capitalize())) for word in term.choices]
        if term.kind == "choices":
            return _WordsField(term, choices=choices)
        return ChoiceField(label=term.title, help_text=term.help, choices=choices)
    return _TermField(term)


class PolicyForm(forms.Form):
    """When a change of policies takes effect, and its reason for the second person."""

    profile: str | None = None
    """The profile that the change adopts."""

    effective = EffectiveField()
    comment = CommentField(help_text="For whoever approves it, where it takes two people. The log keeps it.")

    def values(self) -> Values:
        """The changed policies with their new values."""
        raise NotImplementedError

    def draft(self) -> ProposalDraft | None:
        """The proposal of the change; None where one person may make it."""
        return policies.draft(self.values(), self.cleaned_data["effective"], profile=self.profile)


class TermsForm(PolicyForm):
    """A field for each policy, filled with its value in force."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        in_force = policies.as_entered(timezone.now())
        self.terms = {term.name: term for terms in groups().values() for term in terms}
        for name, term in self.terms.items():
            self.fields[name] = _field(term)
            value = in_force[name]
            self.initial[name] = value if term.kind in ("flag", "choice", "choices") else typed(term, value)

    @property
    def groups(self) -> Iterator[tuple[str, list[forms.BoundField]]]:
        """The fields by the groups of their policies."""
        for group, terms in groups().items():
            yield group, [self[term.name] for term in terms]

    def clean(self) -> dict[str, Any]:
        """Judge by the function that judges the write, each fault at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        moment = timezone.now()
        for name, sentence in policies.faults(self.values(), cleaned["effective"] or moment, moment).items():
            self.add_error(name if name in self.fields else None, sentence)
        return cleaned

    def values(self) -> Values:
        """The values that differ from those in force at the effective time."""
        moment = self.cleaned_data["effective"] or timezone.now()
        before = policies.as_entered(moment)
        return catalogue.differing(before, {name: self.cleaned_data[name] for name in self.terms})


class PolicyFormPage(OperatorFormPage):
    """A page that changes policies, or proposes the change where it is under dual control."""

    matter = "terms"
    """The matter of dual control."""
    success_url = reverse_lazy("admin:tables_houseterms_changelist")

    def get_permission_required(self) -> tuple[str, ...]:
        return ("tables.add_houseterms" if self.request.method == "POST" else "tables.view_houseterms",)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        needed = dual_control.needed(self.matter, policies.as_entered(timezone.now()))
        may_change = self.request.user.has_perm("tables.add_houseterms")
        button = "Propose the change" if needed else "Enter the change"
        return super().get_context_data(**{"may_change": may_change, "button": button, **context})

    def save(self, form: PolicyForm) -> HttpResponse:
        by, effective = viewer_of(self.request), form.cleaned_data["effective"]
        if draft := form.draft():
            return to_proposal(self.request, proposals.propose(draft, form.cleaned_data["comment"], by=by))
        row = policies.change(form.values(), effective, by=by, profile=form.profile)
        sentence, code = ("The change is entered.", "entered") if row else ("Nothing was to be changed.", "unchanged")
        messages.success(self.request, sentence, extra_tags=code)
        return redirect(self.get_success_url())


class PolicyPage(OperatorPage):
    """All policies by group, and the history of their changes."""

    permission_required = ("tables.view_houseterms",)
    template_name = "dealer_ui/operator/policies.html"
    title = "House terms"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        history = [(row, changes(row)) for row in HouseTerms.objects.order_by("-seq")]
        may_change = self.request.user.has_perm("tables.add_houseterms")
        return super().get_context_data(
            groups=lines_by_group(), history=history, in_vain=settings.SET_IN_VAIN, may_change=may_change,
            change_url=reverse("admin:tables_houseterms_add"), profiles_url=reverse("house-profiles"),
            roles_url=reverse("house-roles"), **context,
        )  # fmt: skip


class PolicyChangePage(PolicyFormPage):
    """The form of all policies."""

    template_name = "dealer_ui/operator/policy_change.html"
    title = "Change terms"
    form_class = TermsForm

    def get_permission_required(self) -> tuple[str, ...]:
        return ("tables.add_houseterms",)
