"""The forms of the house's terms: each typed as what it is, all of one page entered as one change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold import widgets

from tables.admin.forms import EffectiveField
from tables.log import policies as catalogue
from tables.log.message import text_of
from tables.log.policies import ROLES, Term, Values, said, title_of, typed
from tables.models import HouseTerms
from tables.setup import policies
from tables.setup.dual_control import ProposalDraft


@dataclass(frozen=True, slots=True)
class TermLine:
    """A term as its page shows it: what holds now, since whose change, and what comes next."""

    term: Term
    value: str
    default: str
    changed: HouseTerms | None
    next: Sequence[tuple[datetime, str]]

    @property
    def is_default(self) -> bool:
        return self.value == self.default


def lines_by_group() -> list[tuple[str, list[TermLine]]]:
    """Every term by its group."""
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


def changes(row: HouseTerms) -> list[tuple[str, str, str]]:
    """What a change changed: each term's title, its value before and after."""
    before = catalogue.in_force(policies.changes(row.seq), row.effective)
    return [(title_of(name), _said(name, before.get(name)), _said(name, value)) for name, value in row.values.items()]


def _said(name: str, value: Any) -> str:
    return text_of(catalogue.described(name, value))


def groups() -> Mapping[str, Sequence[Term]]:
    """The terms by their groups; what was chosen for the roles has a page of its own."""
    return {group: terms for group, terms in catalogue.groups().items() if group != ROLES}


class _TermField(forms.CharField):
    """A term as somebody types it."""

    widget = widgets.UnfoldAdminTextInputWidget

    def __init__(self, term: Term, **options: Any) -> None:
        self.term = term
        super().__init__(label=term.title, help_text=_help(term), required=False, **options)

    def clean(self, value: Any) -> Any:
        """Its value, in its bounds."""
        try:
            return catalogue.parsed(self.term, str(value or ""))
        except ValueError as wrong:
            raise ValidationError(str(wrong)) from None


class _FlagField(forms.BooleanField):
    widget = widgets.UnfoldBooleanSwitchWidget


class _WordsField(forms.MultipleChoiceField):
    """Several words; what comes out is in the order of the term's."""

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
        return forms.ChoiceField(
            label=term.title, help_text=term.help, choices=choices, widget=widgets.UnfoldAdminSelectWidget
        )
    return _TermField(term)


class FromThenOn(forms.Form):
    """When a change is to hold, and what is said of it to the second person."""

    effective = EffectiveField()
    comment = forms.CharField(
        label="Why", required=False, max_length=500, widget=widgets.UnfoldAdminTextInputWidget,
        help_text="For whoever approves it, where it takes two people. The log keeps it.",
    )  # fmt: skip

    def values(self) -> Values:
        """The values that the change asks for."""
        raise NotImplementedError


class TermsForm(FromThenOn):
    """All terms, with what holds now typed in already."""

    TITLES: ClassVar[Sequence[str]] = tuple(groups())

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.in_force = policies.as_entered(timezone.now())
        self.terms = {term.name: term for terms in groups().values() for term in terms}
        for name, term in self.terms.items():
            self.fields[name] = _field(term)
            value = self.in_force[name]
            self.initial[name] = value if term.kind in ("flag", "choice", "choices") else typed(term, value)

    @property
    def groups(self) -> Iterator[tuple[str, list[forms.BoundField]]]:
        """The fields by the groups of their terms."""
        for group, terms in groups().items():
            yield group, [self[term.name] for term in terms]

    def clean(self) -> dict[str, Any]:
        """Judged as the write that follows judges; each sentence at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        moment = timezone.now()
        for name, sentence in policies.faults(self.values(), cleaned["effective"] or moment, moment).items():
            self.add_error(name if name in self.fields else None, sentence)
        return cleaned

    def values(self) -> Values:
        """What differs from what would hold then."""
        moment = self.cleaned_data["effective"] or timezone.now()
        before = policies.as_entered(moment)
        return catalogue.differing(before, {name: self.cleaned_data[name] for name in self.terms})

    def draft(self) -> ProposalDraft | None:
        """What is to be proposed, where it takes two people."""
        return policies.draft(self.values(), self.cleaned_data["effective"])


class ReasonForm(forms.Form):
    """Why a proposal is declined or withdrawn; or what somebody says to it."""

    reason = forms.CharField(
        label="Why, or a comment", required=False, max_length=500, widget=widgets.UnfoldAdminTextInputWidget,
        help_text="In a few words, where you decline or withdraw it, or comment on it. The log keeps it.",
    )  # fmt: skip
