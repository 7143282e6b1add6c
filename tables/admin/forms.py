"""The base of the admin's forms, and the shared fields in the look of the admin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold import widgets

from tables import form_fields
from tables.approvals import proposals
from tables.models import Staff, Table
from tables.refusals import Faults, Refused
from tables.setup import pits
from tables.setup.dual_control import ProposalDraft


def as_error(refused: Refused) -> ValidationError:
    """A refusal as an error of a form: its sentence with its code."""
    return ValidationError(refused.sentence, code=refused.code)


@contextmanager
def refusals_as_errors(form: forms.BaseForm) -> Iterator[None]:
    """Add a refusal to the errors of a form; the statements after the block show it."""
    try:
        yield
    except Refused as refused:
        form.add_error(None, as_error(refused))


def table_choices(further: Iterable[str] = ()) -> list[tuple[str, str]]:
    """The names of the tables in use and of further ones, for fields that name tables."""
    names = {*Table.objects.in_use().values_list("name", flat=True), *further}
    return [(name, name) for name in sorted(names, key=pits.natural)]


# --- Fields in the look of the admin ---------------------------------------------------------------------------

BooleanField: Final = partial(forms.BooleanField, widget=widgets.UnfoldBooleanSwitchWidget)
CharField: Final = partial(forms.CharField, widget=widgets.UnfoldAdminTextInputWidget)
ChoiceField: Final = partial(forms.ChoiceField, widget=widgets.UnfoldAdminSelectWidget)
IntegerField: Final = partial(forms.IntegerField, widget=widgets.UnfoldAdminIntegerFieldWidget)
ModelChoiceField: Final = partial(forms.ModelChoiceField, widget=widgets.UnfoldAdminSelectWidget)
ModelMultipleChoiceField: Final = partial(
    forms.ModelMultipleChoiceField, widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget
)
MultipleChoiceField: Final = partial(forms.MultipleChoiceField, widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget)
TimeField: Final = partial(forms.TimeField, widget=widgets.UnfoldAdminTextInputWidget)
TypedChoiceField: Final = partial(forms.TypedChoiceField, widget=widgets.UnfoldAdminSelectWidget)
TypedMultipleChoiceField: Final = partial(
    forms.TypedMultipleChoiceField, widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget
)
MoneyField: Final = partial(form_fields.MoneyField, widget=widgets.UnfoldAdminTextInputWidget)
MomentField: Final = partial(form_fields.MomentField, widget=widgets.UnfoldAdminTextInputWidget)


class EffectiveField(form_fields.MomentField):
    """The time at which a change takes effect; empty for immediately."""

    widget = widgets.UnfoldAdminTextInputWidget({"placeholder": "at once", "autocomplete": "off"})

    def __init__(self) -> None:
        help_text = (
            "As 2026-03-02 06:00, by the house's clock. Empty: at once; or, where it takes two people, from when it is"
            " approved."
        )
        super().__init__(label="Holds from", required=False, help_text=help_text)

    def clean(self, value: Any) -> Any:
        """A later time, within a year."""
        moment = super().clean(value)
        if moment and (sentence := proposals.effective_fault(moment, timezone.now())):
            raise ValidationError(sentence)
        return moment


class CommentField(forms.CharField):
    """The reason of a change, for the person who approves it under dual control."""

    widget = widgets.UnfoldAdminTextInputWidget

    def __init__(
        self, label: str = "Why", help_text: str = "For the second person, where it takes two. The log keeps it."
    ) -> None:
        super().__init__(label=label, required=False, max_length=500, help_text=help_text)


class DomainForm(forms.ModelForm):
    """A form whose input the domain's functions judge (``faults``) and save (``write``), or that becomes a proposal."""

    comment = CommentField()
    effective = EffectiveField()

    FIELDS: ClassVar[Mapping[str, str]] = {}
    """The field that shows the fault of a setting, if their names differ. Other faults are above the form."""

    def faults(self) -> Faults:
        """The faults of the input as sentences, by setting."""
        return {}

    def draft(self) -> ProposalDraft | None:
        """The proposal of the change; None where one person may make it."""
        return None

    def write(self, by: Staff) -> Any:
        """Save through the domain's function, and return the row. Raises Refused."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Judge the input once each field is valid by itself."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            for setting, sentence in self.faults().items():
                field = self.FIELDS.get(setting, setting)
                self.add_error(field if field in self.fields else None, ValidationError(sentence, code=setting))
        return cleaned

    @property
    def changed(self) -> dict[str, Any]:
        """The changed values by field. Unchanged fields are not written, so two operators may change different ones."""
        return {name: self.cleaned_data[name] for name in self.changed_data}


class RetireForm(forms.Form):
    """The reason for a retirement or revocation."""

    why = CharField(label="Why", max_length=200)
