"""The form fields of a game: its options, its pay table, and the limits of its wagers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from unfold import widgets

from ledger.proof.chips import money
from tables.admin import forms as admin_forms
from tables.admin.forms import MoneyField, as_error
from tables.games.catalog import GAMES
from tables.log.entries.settings import PAYS
from tables.models import PayTable
from tables.refusals import Refused
from tables.setup import pay_tables

OPTION: Final = "option_"
"""The prefix of the fields of a game's options."""
LIMITS: Final = "limits_"
"""The prefix of the fields of a wager's limits."""
STATED: Final = OPTION + "wagers"
"""The field of a non-tracked table's wagers with their limits."""


class LimitsField(forms.Field):
    """The limits of a wager, such as "5 to 100", in minor units; empty for those of the table."""

    widget = widgets.UnfoldAdminTextInputWidget

    def to_python(self, value: Any) -> tuple[int, int] | None:
        if value in self.empty_values:
            return None
        low, between, high = str(value).partition(" to ")
        if not between:
            raise ValidationError("Write the limits as 5 to 100.")
        amount = MoneyField()
        return amount.to_python(low) or 0, amount.to_python(high) or 0

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, tuple | list):
            return " to ".join(money(cents).replace(",", "") for cents in value)
        return value


def limit_fields(game: str) -> dict[str, forms.Field]:
    """A field for the limits of each wager that a seat may place before the cards."""
    return {
        LIMITS + wager: LimitsField(
            label=f"Limits of {wager.replace('_', ' ')}", required=False, help_text="As 5 to 100. Empty: the table's."
        )
        for wager in GAMES[game].limited_wagers({})
    }


class PayTableField(forms.ModelChoiceField):
    """A pay table of a game. The cleaned value is the option with all lines, because rounds store them."""

    def __init__(self, game: str) -> None:
        self._game = game
        super().__init__(
            PayTable.objects.filter(game=game),
            required=False,
            label="Pay table",
            empty_label="None: as the options say",
            widget=widgets.UnfoldAdminSelectWidget,
            help_text="Made under Pay tables. It holds for the wagers that it has, whatever the options say of these.",
        )

    def clean(self, value: Any) -> dict[str, Any] | None:
        row = super().clean(value)
        try:
            return pay_tables.option_of(row) if row else None
        except Refused as refused:
            raise as_error(refused) from None

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return super().prepare_value(value)
        rows = PayTable.objects.filter(game=self._game, name=value["name"], version=value["version"])
        return rows.values_list("pk", flat=True).first()


class PartField(forms.DecimalField):
    """A percentage. The cleaned value is per mille, or None."""

    widget = widgets.UnfoldAdminDecimalFieldWidget

    def __init__(self, **words: Any) -> None:
        super().__init__(required=False, min_value=-100, max_value=100, decimal_places=1, **words)

    def clean(self, value: Any) -> int | None:
        part = super().clean(value)
        return None if part is None else int(part * 10)

    def prepare_value(self, value: Any) -> Any:
        return f"{Decimal(value) / 10:.1f}" if isinstance(value, int) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(super().has_changed(self.prepare_value(initial), data))


class WagersField(forms.CharField):
    """The wagers of a non-tracked table, one a line. The cleaned value has the texts and the limits of each."""

    def __init__(self, **words: Any) -> None:
        help_text = (
            "One a line: the wager; what it pays; the edge; its limits, where they are not the table's."
            " As: Straight up; 35 to 1; 2.70 %; 5 to 100. Only the name is needed. They are words for signs and"
            " screens: nothing is paid by them."
        )
        super().__init__(required=False, widget=widgets.UnfoldAdminTextareaWidget, **{**words, "help_text": help_text})

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """The wagers. Raises ValidationError with the number of the line in error."""
        lines = [line for line in str(super().clean(value)).splitlines() if line.strip()]
        return [self._wager(number, line) for number, line in enumerate(lines, 1)]

    @staticmethod
    def _wager(number: int, line: str) -> dict[str, Any]:
        name, pays, edge, limits, *further = [*(part.strip() for part in line.split(";")), "", "", ""]
        if not name or any(further):
            raise ValidationError(f"Line {number}: write it as Straight up; 35 to 1; 2.70 %; 5 to 100.")
        for word, text, most in (("name", name, 40), ("pay", pays, 40), ("edge", edge, 20)):
            if len(text) > most:
                raise ValidationError(f"Line {number}: its {word} has at most {most} characters.")
        try:
            own = LimitsField().clean(limits) if limits else None
        except ValidationError as wrong:
            raise ValidationError(f"Line {number}: {wrong.messages[0]}") from None
        words = {"name": name, "pays": pays, "edge": edge}
        return {"wager": {key: text for key, text in words.items() if text}, "limits": own}

    def prepare_value(self, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        return "\n".join(map(self._line, value))

    @staticmethod
    def _line(row: Any) -> str:
        wager, limits = (row["wager"], row["limits"]) if "wager" in row else (row, None)
        parts = [wager["name"], wager.get("pays", ""), wager.get("edge", ""), LimitsField().prepare_value(limits) or ""]
        return "; ".join(parts).rstrip("; ")

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(str(self.prepare_value(initial) or "").split() != str(data or "").split())


def option_fields(game: str) -> dict[str, forms.Field]:
    """A field for each option of a game's rules, except the unit, which is a setting of the table."""
    described = msgspec.inspect.type_info(GAMES[game].rules_type)
    assert isinstance(described, msgspec.inspect.StructType)  # noqa: S101 -- rules are structs
    fields = {
        OPTION + option.name: _option_field(option) for option in described.fields if option.name not in ("unit", PAYS)
    }
    return fields | ({OPTION + PAYS: PayTableField(game)} if GAMES[game].pay_form.wagers else {})


def _option_field(described: msgspec.inspect.Field) -> forms.Field:
    kind, label = described.type, described.name.replace("_", " ").capitalize()
    words: dict[str, Any] = {"label": label, "initial": described.default}
    if isinstance(kind, msgspec.inspect.Metadata):
        words["help_text"] = (kind.extra_json_schema or {}).get("description", "")
        kind = kind.type
    if isinstance(kind, msgspec.inspect.IntType):
        return admin_forms.IntegerField(min_value=kind.ge, max_value=kind.le, **words)
    if isinstance(kind, msgspec.inspect.FloatType):
        number = widgets.UnfoldAdminDecimalFieldWidget({"step": "any"})
        return forms.FloatField(min_value=kind.ge, max_value=kind.le, widget=number, **words)
    if isinstance(kind, msgspec.inspect.StrType):
        return admin_forms.CharField(max_length=kind.max_length, **words)
    if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(kind.item_type, msgspec.inspect.StructType):
        return WagersField(label=label)
    if isinstance(kind, msgspec.inspect.UnionType) and kind.includes_none:
        return PartField(**words | {"label": label.replace(" permille", " (%)")})
    if isinstance(kind, msgspec.inspect.BoolType):
        return admin_forms.BooleanField(required=False, **words)
    if isinstance(kind, msgspec.inspect.LiteralType):
        choices = [(value, str(value).replace("_", " ")) for value in kind.values]
        number = all(isinstance(value, int) for value in kind.values)
        return admin_forms.TypedChoiceField(choices=choices, coerce=int if number else str, **words)
    if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(kind.item_type, msgspec.inspect.LiteralType):
        choices = [(value, str(value).replace("_", " ")) for value in kind.item_type.values]
        several = widgets.UnfoldAdminCheckboxSelectMultipleWidget
        return forms.MultipleChoiceField(choices=choices, required=False, widget=several, **words)
    raise TypeError(f"the admin has no field for an option such as {described.name}: {kind}")
