"""Forms of a table's limits on the floor: a proposal, an emergency limit, and a note on a proposal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from django import forms
from django.forms import BoundField
from django.http import QueryDict

from tables.form_fields import InputForm, MomentField, MoneyField
from tables.games.catalog import GAMES
from tables.log.limit_plans import AMOUNTS, WAGER, Value, called
from tables.log.terms import Settings
from tables.models import Table
from tables.setup import table_settings

_NO_AMOUNT: Final = "Write each amount in plain digits: 20 or 2.50."
_NO_MOMENT: Final = "Say from when it holds as 2026-03-02 06:00, or leave it empty: at once."
_NO_REASON: Final = "Give the reason in a few words, for the person who approves it."
_INCOMPLETE: Final = "This form was incomplete: look at the page, then enter it again."


def _text(**attributes: Any) -> forms.TextInput:
    return forms.TextInput({"class": "input", "autocomplete": "off", **attributes})


def _amount(label: str, *, required: bool) -> MoneyField:
    messages = {"invalid": _NO_AMOUNT, "required": _NO_AMOUNT}
    return MoneyField(label=label, required=required, error_messages=messages, widget=_text())


class LimitActionForm(InputForm):
    """The button of a form."""

    status = 400
    do = forms.ChoiceField(
        choices=[(name, name) for name in ("propose", "emergency", "comment", "withdraw")],
        error_messages={"required": _INCOMPLETE, "invalid_choice": _INCOMPLETE},
    )

    def chosen(self) -> str:
        """The name of the button; empty for a page without a sent form."""
        return str(self.cleaned_data["do"]) if self.is_valid() else ""


class LimitProposalForm(InputForm):
    """Other limits for an operator to approve, beginning with those in force."""

    code = "bad_amount"
    codes = {"effective": "bad_moment", "comment": "no_reason"}
    comment = forms.CharField(
        label="Why", error_messages={"required": _NO_REASON}, widget=_text(maxlength=500)
    )  # the first field: its error is the first to be shown
    effective = MomentField(
        label="Holds from (empty: when it is approved)", required=False, error_messages={"invalid": _NO_MOMENT},
        widget=_text(placeholder="2026-03-02 06:00"),
    )  # fmt: skip

    def __init__(self, table: Table, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id="%s")
        self.settings: Settings = table_settings.settings_of(table)
        for name, label in (("min_cents", "Minimum"), ("max_cents", "Maximum")):
            self.fields[name] = _amount(label, required=True)
        self.fields["cap_cents"] = _amount("Cap on all bets together (empty: none)", required=False)
        self.amounts = ["min_cents", "max_cents", "cap_cents"]
        self.initial = {name: getattr(self.settings, name) for name in self.amounts}
        for wager, (least, most) in self.settings.wager_limits.items():
            for name, word, limit in ((f"least_{wager}", "Least", least), (f"most_{wager}", "Most", most)):
                self.fields[name] = _amount(f"{word} on {called(wager)}", required=True)
                self.initial[name] = limit
        self.order_fields(["comment", *self.fields])

    def limits(self) -> Iterator[BoundField]:
        """The fields of limits, for the page."""
        return (field for field in self if field.name not in ("comment", "effective"))

    def changes(self) -> dict[str, Any]:
        """The settings that differ from those in force. Raises Refused."""
        typed = self.values()
        changes = {name: typed[name] for name in self.amounts}
        changes["wager_limits"] = {
            wager: (typed[f"least_{wager}"], typed[f"most_{wager}"]) for wager in self.settings.wager_limits
        }
        return {name: value for name, value in changes.items() if getattr(self.settings, name) != value}


class EmergencyForm(InputForm):
    """Tighter limits at once. An empty field leaves the limit in force."""

    code = "bad_amount"
    LABELS = {name: title.capitalize() for name, title in AMOUNTS.items()} | {"min_cents": "Minimum (empty: as it is)"}

    def __init__(self, table: Table, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id="now-%s")
        self.table = table
        self.limited_wagers = GAMES[table.game].limited_wagers(table.options)
        self.fields = {name: _amount(label, required=False) for name, label in self.LABELS.items()}
        for wager in self.limited_wagers:
            self.fields[f"least_{wager}"] = _amount(f"Least on {called(wager)}", required=False)
            self.fields[f"most_{wager}"] = _amount(f"Most on {called(wager)}", required=False)
        self.fields["comment"] = forms.CharField(
            label="Why", required=False, widget=_text(maxlength=200, required=True)
        )

    def limits(self) -> list[BoundField]:
        """The fields of the table's amounts, for the page."""
        return [self[name] for name in AMOUNTS]

    def wagers(self) -> Iterator[tuple[str, BoundField, BoundField]]:
        """The title of each wager, with the fields of its limits."""
        return ((called(wager), self[f"least_{wager}"], self[f"most_{wager}"]) for wager in self.limited_wagers)

    def tightened(self) -> dict[str, Value]:
        """The limits that differ from those in force. Raises Refused."""
        typed, table = self.values(), self.table
        tightened: dict[str, Value] = {
            name: typed[name] for name in AMOUNTS if typed[name] is not None and typed[name] != getattr(table, name)
        }
        for wager in self.limited_wagers:
            present = tuple(table.wager_limits.get(wager, (table.min_cents, table.max_cents)))
            least, most = typed[f"least_{wager}"], typed[f"most_{wager}"]
            limits = (present[0] if least is None else least, present[1] if most is None else most)
            if limits != present:
                tightened[f"{WAGER}{wager}"] = limits
        return tightened


class ProposalNoteForm(InputForm):
    """A comment on a proposal, or the reason of its withdrawal."""

    proposal = forms.CharField(required=False)
    reason = forms.CharField(required=False)
