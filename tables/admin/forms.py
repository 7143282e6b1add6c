"""The forms of the admin: money is typed as money, a game's options as the fields that its rules ask for.

A form judges by the same functions as the write that follows, so each sentence stands at the field that it is about.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from decimal import Decimal
from typing import Any, ClassVar, Final

import msgspec
from django import forms
from django.core.exceptions import ValidationError
from django.utils import timezone
from unfold import widgets

from ledger.proof.chips import money
from tables import form_fields
from tables.alerts import channels
from tables.alerts.alert_types import KINDS, LEVELS
from tables.alerts.models import AlertChannel
from tables.approvals import proposals
from tables.cage import chip_series, denominations
from tables.form_fields import DayField
from tables.games.catalog import GAMES
from tables.log.entries.settings import PAYS
from tables.log.publication import FORMS
from tables.log.state import KEYED, TableState
from tables.log.terms import Settings
from tables.models import ChipSeries, Denomination, HouseHours, PayTable, Staff, Table, Terminal
from tables.models.tables import MOST_RAKE_PERMILLE
from tables.refusals import Refused
from tables.reports import gaming_hours as shifts
from tables.reports.gaming_hours import Hours
from tables.roles import Role
from tables.setup import pay_tables, table_settings
from tables.setup.dual_control import ProposalDraft
from tables.setup.table_settings import Faults
from tables.staff import staffing, terminals
from tables.state import table_state

OPTION: Final = "option_"
"""What the fields of a game's options begin with."""
LIMITS: Final = "limits_"
"""What the fields of a wager's own limits begin with."""
STATED: Final = OPTION + "wagers"
"""The field of the wagers of a table without rounds, with their limits."""


def as_error(refused: Refused) -> ValidationError:
    """A refusal as an error of a form: its sentence with its code."""
    return ValidationError(refused.sentence, code=refused.code)


class MoneyField(form_fields.MoneyField):
    """An amount in the look of the administration."""

    widget = widgets.UnfoldAdminTextInputWidget


class LimitsField(forms.Field):
    """The least and the most of a wager, as "5 to 100", in minor units; empty where the table's own hold."""

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


class MomentField(form_fields.MomentField):
    """A moment in the look of the administration."""

    widget = widgets.UnfoldAdminTextInputWidget


class EffectiveField(MomentField):
    """From when something is to hold."""

    widget = widgets.UnfoldAdminTextInputWidget({"placeholder": "at once", "autocomplete": "off"})

    def __init__(self) -> None:
        help_text = (
            "As 2026-03-02 06:00, by the house's clock. Empty: at once; or, where it takes two people, from when it is"
            " approved."
        )
        super().__init__(label="Holds from", required=False, help_text=help_text)

    def clean(self, value: Any) -> Any:
        """A moment to come, within a year."""
        moment = super().clean(value)
        if moment and (sentence := proposals.effective_fault(moment, timezone.now())):
            raise ValidationError(sentence)
        return moment


def limit_fields(game: str) -> dict[str, forms.Field]:
    """A field for the own limits of each wager that a seat may place before the cards."""
    return {
        LIMITS + wager: LimitsField(
            label=f"Limits of {wager.replace('_', ' ')}", required=False, help_text="As 5 to 100. Empty: the table's."
        )
        for wager in GAMES[game].limited_wagers({})
    }


class PayTableField(forms.ModelChoiceField):
    """A pay table of a game, by name and version; what comes out is the option that has all of its lines."""

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
        """With its lines, for rounds pin them."""
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
    """A part in per cent, kept in thousandths; or nothing."""

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
    """The wagers of a table without rounds, one a line. What comes out is a row each: the words, and the limits."""

    def __init__(self, **words: Any) -> None:
        help_text = (
            "One a line: the wager; what it pays; the edge; its limits, where they are not the table's."
            " As: Straight up; 35 to 1; 2.70 %; 5 to 100. Only the name is needed. They are words for signs and"
            " screens: nothing is paid by them."
        )
        super().__init__(required=False, widget=widgets.UnfoldAdminTextareaWidget, **{**words, "help_text": help_text})

    def clean(self, value: Any) -> list[dict[str, Any]]:
        """Raises ValidationError with the line that is wrong."""
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
    """A field for each option that a game's rules have, but for the unit, which is the table's."""
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
        return forms.IntegerField(
            min_value=kind.ge, max_value=kind.le, widget=widgets.UnfoldAdminIntegerFieldWidget, **words
        )
    if isinstance(kind, msgspec.inspect.FloatType):
        number = widgets.UnfoldAdminDecimalFieldWidget({"step": "any"})
        return forms.FloatField(min_value=kind.ge, max_value=kind.le, widget=number, **words)
    if isinstance(kind, msgspec.inspect.StrType):
        return forms.CharField(max_length=kind.max_length, widget=widgets.UnfoldAdminTextInputWidget, **words)
    if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(kind.item_type, msgspec.inspect.StructType):
        return WagersField(label=label)
    if isinstance(kind, msgspec.inspect.UnionType) and kind.includes_none:
        return PartField(**words | {"label": label.replace(" permille", " (%)")})
    if isinstance(kind, msgspec.inspect.BoolType):
        return forms.BooleanField(required=False, widget=widgets.UnfoldBooleanSwitchWidget, **words)
    if isinstance(kind, msgspec.inspect.LiteralType):
        choices = [(value, str(value).replace("_", " ")) for value in kind.values]
        number = all(isinstance(value, int) for value in kind.values)
        return forms.TypedChoiceField(
            choices=choices, coerce=int if number else str, widget=widgets.UnfoldAdminSelectWidget, **words
        )
    if isinstance(kind, msgspec.inspect.VarTupleType) and isinstance(kind.item_type, msgspec.inspect.LiteralType):
        choices = [(value, str(value).replace("_", " ")) for value in kind.item_type.values]
        several = widgets.UnfoldAdminCheckboxSelectMultipleWidget
        return forms.MultipleChoiceField(choices=choices, required=False, widget=several, **words)
    raise TypeError(f"the admin has no field for an option such as {described.name}: {kind}")


class Judged(forms.ModelForm):
    """A form whose ``faults`` the floor's own functions find, and whose ``write`` they do."""

    comment = forms.CharField(
        label="Why",
        required=False,
        max_length=500,
        widget=widgets.UnfoldAdminTextInputWidget,
        help_text="For the second person, where it takes two. The log keeps it.",
    )

    effective = EffectiveField()

    FIELDS: ClassVar[Mapping[str, str]] = {}
    """Which field shows the fault of which setting, where the names differ; others stand above the form."""

    def faults(self) -> Faults:
        """What is wrong with what was typed."""
        raise NotImplementedError

    def draft(self) -> ProposalDraft | None:
        """What is to be proposed, where it takes two people; None where one does it."""
        return None

    def write(self, by: Staff) -> Any:
        """Do it; raises Refused when the floor has moved on since it was judged."""
        raise NotImplementedError

    def clean(self) -> dict[str, Any]:
        """Judge, once every field by itself could be read."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors:
            for setting, sentence in self.faults().items():
                field = self.FIELDS.get(setting, setting)
                self.add_error(field if field in self.fields else None, ValidationError(sentence, code=setting))
        return cleaned

    @property
    def changed(self) -> dict[str, Any]:
        """What the operator changed, by the field's name: two operators' changes to different things both stand."""
        return {name: self.cleaned_data[name] for name in self.changed_data}


class TableForm(Judged):
    """A table's settings. Subclasses made by ``for_game`` have the fields of one game's options."""

    AMOUNTS: ClassVar[Mapping[str, str]] = {
        "unit_cents": "unit",
        "min_cents": "minimum",
        "max_cents": "maximum",
        "bet_step_cents": "bet_step",
        "cap_cents": "cap",
        "rake_permille": "rake",
        "rake_cap_cents": "most_rake",
        "time_charge_cents": "time_charge",
        "marks_commission": "marks_commission",
        "cameras": "cameras",
    }
    FIELDS = {**AMOUNTS, PAYS: OPTION + PAYS}
    GAME: ClassVar[str] = "rocket"

    game = forms.ChoiceField(
        choices=[(name, game.title) for name, game in GAMES.items()],
        initial="rocket",
        widget=widgets.UnfoldAdminSelectWidget,
        help_text="Roulette, craps, or whatever else is not dealt here round by round: another game, by its counts.",
    )
    unit = MoneyField(
        label="Smallest chip",
        help_text="Everything is paid in multiples of it. In a game for a pot it is what one coin is worth.",
    )
    minimum = MoneyField(label="Minimum", help_text="Of a bet; or of what a player puts in play for a pot.")
    maximum = MoneyField(label="Maximum", help_text="Of a bet; or of what a player puts in play for a pot.")
    bet_step = MoneyField(
        label="Bet step",
        required=False,
        help_text="Bets are multiples of it: by 5, say, where 0.50 is the smallest chip. Empty: of ten smallest chips"
        " in Rocket, of one in other games.",
    )
    cap = MoneyField(
        label="Cap on all bets together", required=False, help_text="The house's exposure in one round. Empty: no cap."
    )
    rake = forms.DecimalField(
        label="Rake (% of each pot)",
        initial=0,
        required=False,
        min_value=0,
        max_value=MOST_RAKE_PERMILLE // 10,
        decimal_places=1,
        widget=widgets.UnfoldAdminDecimalFieldWidget({"step": "0.1"}),
        help_text="Rounded down to whole coins. Empty: none. Only where there is a pot.",
    )
    most_rake = MoneyField(label="Most rake of one pot", required=False, help_text="Empty: no cap.")
    time_charge = MoneyField(
        label="Time charge",
        initial=0,
        required=False,
        help_text="What each seat pays for half an hour, in place of a rake. Empty: none.",
    )
    marks_commission = forms.BooleanField(
        label="Commission is marked and collected later",
        required=False,
        widget=widgets.UnfoldBooleanSwitchWidget,
        help_text="At the end of the shoe, or when the player leaves. Else it is taken at once.",
    )
    cameras = forms.CharField(
        required=False,
        max_length=80,
        widget=widgets.UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text="As the surveillance calls those that look at it: C-12, PTZ 3.",
    )
    denominations = forms.ModelMultipleChoiceField(
        Denomination.objects.in_use(),
        label="Chips",
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
    )
    takes = forms.ChoiceField(
        label="Holds from the next",
        choices=(("round", "Round"), ("shoe", "Shoe")),
        required=False,
        widget=widgets.UnfoldAdminSelectWidget,
        help_text="Limits, options and the shoe may wait for the next shoe: they are set as soon as this one is over.",
    )

    class Meta:
        model = Table
        fields = ("name", "game", "seats", "source", "denominations")

    @classmethod
    def for_game(cls, game: str) -> type[TableForm]:
        """A subclass with a field for each option of one game's rules."""
        form: type[TableForm] = type(
            cls.__name__, (cls,), {"GAME": game, "__module__": __name__, **option_fields(game), **limit_fields(game)}
        )
        return form

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        table = self.instance
        if table.pk is None:
            self.initial.setdefault("game", self.GAME)
            self.initial.setdefault(f"{OPTION}rounding", "exact")
            return
        settings = table_settings.settings_of(table)
        self.initial.update({field: getattr(settings, setting) for setting, field in self.AMOUNTS.items()})
        self.initial["rake"] = Decimal(settings.rake_permille) / 10
        self.initial.update({OPTION + name: value for name, value in settings.options.items()})
        self.initial.update({LIMITS + name: value for name, value in settings.wager_limits.items()})
        if STATED in self.fields:
            limits = settings.wager_limits
            wagers = settings.options["wagers"]
            self.initial[STATED] = [{"wager": wager, "limits": limits.get(wager["name"])} for wager in wagers]

    def clean_rake(self) -> int:
        """Per mille of a pot."""
        return int((self.cleaned_data["rake"] or 0) * 10)

    def clean_time_charge(self) -> int:
        """Minor units."""
        return self.cleaned_data["time_charge"] or 0

    def options(self) -> dict[str, Any]:
        """The options typed; a table that gets another game starts with that game's own defaults."""
        if self.cleaned_data["game"] != self.GAME:
            return {}
        names = [name for name in self.fields if name.startswith(OPTION)]
        options = {name.removeprefix(OPTION): self.cleaned_data[name] for name in names}
        if self._stated:
            options["wagers"] = [row["wager"] for row in self._stated]
        return {name: value for name, value in options.items() if name != PAYS or value is not None}

    @property
    def _stated(self) -> list[dict[str, Any]]:
        """The wagers of a table without rounds, each with its limits, as they were typed."""
        return self.cleaned_data.get(STATED) or []

    def wager_limits(self) -> dict[str, tuple[int, int]]:
        """The limits typed of single wagers; none at a table that gets another game."""
        if self.cleaned_data["game"] != self.GAME:
            return {}
        if self._stated:
            return {row["wager"]["name"]: row["limits"] for row in self._stated if row["limits"]}
        names = [name for name in self.fields if name.startswith(LIMITS) and self.cleaned_data[name]]
        return {name.removeprefix(LIMITS): self.cleaned_data[name] for name in names}

    def changes(self) -> dict[str, Any]:
        """What the operator changed, by the names that the table's settings have."""
        changed = self.changed
        changes: dict[str, Any] = {name: changed[name] for name in ("game", "seats", "source") if name in changed}
        changes |= {setting: changed[field] for setting, field in self.AMOUNTS.items() if field in changed}
        if "denominations" in changed:
            changes["denominations"] = tuple(chip.value_cents for chip in changed["denominations"])
        if "game" in changed or any(name.startswith(OPTION) for name in changed):
            changes["options"] = self.options()
        if "game" in changed or any(name.startswith(LIMITS) or name == STATED for name in changed):
            changes["wager_limits"] = self.wager_limits()
        return changes

    def settings(self) -> Settings:
        typed = self.cleaned_data
        return Settings(
            **{name: typed[name] for name in ("game", "seats")},
            source=typed.get("source", KEYED),
            **{setting: typed[field] for setting, field in self.AMOUNTS.items()},
            options=self.options(),
            wager_limits=self.wager_limits(),
            denominations=tuple(chip.value_cents for chip in typed["denominations"]),
        )

    def faults(self) -> Faults:
        """Those of a new table, or of a change while the table stands as it does."""
        if self.instance.pk is None:
            return table_settings.name_faults(self.cleaned_data["name"]) | table_settings.faults(self.settings())
        is_later = self.waits_for_shoe or self.cleaned_data.get("effective")
        state = TableState() if is_later else table_state.of(self.instance)
        sentences = table_settings.shoe_faults(self.instance, self.changes()) if self.waits_for_shoe else {}
        return table_settings.change_faults(self.instance, self.changes(), state) | sentences

    @property
    def waits_for_shoe(self) -> bool:
        return self.cleaned_data.get("takes") == "shoe"

    def draft(self) -> ProposalDraft | None:
        if self.instance.pk is None:
            return table_settings.draft_of_new(self.cleaned_data["name"], self.settings())
        table = Table.objects.get(pk=self.instance.pk)  # the form's own instance has what was typed
        if self.waits_for_shoe:
            return table_settings.draft_for_the_shoe(table, self.changes())
        if self.cleaned_data.get("effective"):
            return table_settings.draft_for_later(table, self.changes())
        return table_settings.draft_of_change(table, self.changes())

    def write(self, by: Staff) -> Table:
        if self.instance.pk is None:
            return table_settings.create_table(self.cleaned_data["name"], self.settings(), by=by)
        return table_settings.change_table(self.instance, self.changes(), by=by)


class DenominationForm(Judged):
    """A kind of chip."""

    FIELDS = {"value_cents": "value"}

    value = MoneyField(label="Worth", help_text="It is printed on the chip, so it never changes.")

    class Meta:
        model = Denomination
        fields = ("colour", "face")
        widgets = {"face": widgets.UnfoldAdminColorInputWidget}

    def faults(self) -> Faults:
        """Those of the looks, and of a new chip's worth."""
        worth = denominations.value_faults(self.cleaned_data["value"]) if self.instance.pk is None else {}
        return worth | denominations.look_faults(self.instance, self._looks())

    def draft(self) -> ProposalDraft | None:
        chip = None if self.instance.pk is None else self.instance
        return denominations.draft(chip, self.cleaned_data.get("value", 0), self._looks())

    def write(self, by: Staff) -> Denomination:
        if self.instance.pk is None:
            return denominations.add_denomination(value_cents=self.cleaned_data["value"], **self._looks(), by=by)
        return denominations.change_denomination(self.instance, self._looks(), by=by)

    def _looks(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in ("colour", "face")}


class StaffForm(Judged):
    """Somebody who works here. What they sign in and sign with is theirs: a code lets them make it."""

    further = forms.MultipleChoiceField(
        label="May also work as",
        choices=Role.choices,
        required=False,
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="They choose as which when they come to work. What nobody is at once is refused.",
    )

    class Meta:
        model = Staff
        fields = ("username", "name", "role", "further", "badge", "is_active")
        help_texts = {
            "username": "For good: the log knows them by it.",
            "badge": "With a PIN of their own, it signs slips, and opens enrolled terminals for dealers.",
        }

    def changes(self) -> dict[str, Any]:
        """What changed."""
        return {name: value for name, value in self.changed.items() if name not in ("username", "comment", "effective")}

    def faults(self) -> Faults:
        if self.instance.pk is None:
            new = Staff(username=self.cleaned_data["username"])
            return staffing.username_faults(new.username) | staffing.change_faults(new, self._all_values())
        return staffing.change_faults(self.instance, self.changes())

    def draft(self) -> ProposalDraft | None:
        new = self.instance.pk is None
        typed = self._all_values() if new else self.changes()
        return staffing.draft(self.cleaned_data["username"] if new else self.instance.username, typed)

    def write(self, by: Staff) -> Staff:
        if self.instance.pk is None:
            values = self._all_values()
            return staffing.add_staff(
                username=self.cleaned_data["username"],
                name=values["name"],
                role=values["role"],
                badge=values["badge"],
                further=values["further"],
                by=by,
            )
        return staffing.change_staff(self.instance, self.changes(), by=by)

    def _all_values(self) -> dict[str, Any]:
        typed = {"role": Role.DEALER.value} | self.cleaned_data
        return {
            name: value
            for name, value in typed.items()
            if name not in ("username", "comment", "effective", "is_active")
        }


class TerminalForm(Judged):
    """Which table a terminal is for."""

    class Meta:
        model = Terminal
        fields = ("table",)

    def faults(self) -> Faults:
        """None: any table will do."""
        return {}

    def write(self, by: Staff) -> Terminal:
        terminals.bind(self.instance, self.cleaned_data["table"], by=by)
        return self.instance


class HouseHoursForm(Judged):
    """The gaming day and its shifts, from a day to come on. What is in force now is typed in already."""

    shifts = forms.CharField(
        widget=widgets.UnfoldAdminTextareaWidget({"rows": 4}),
        help_text="One a line, name and start: Day 06:00. The first one starts with the day.",
    )

    class Meta:
        model = HouseHours
        fields = ("from_day", "time_zone", "day_starts")
        field_classes = {"from_day": DayField}
        help_texts = {"time_zone": "As in the IANA database: Europe/Berlin, America/New_York, UTC."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        calendar = shifts.calendar()
        tomorrow = calendar.day_of(timezone.now()) + shifts.DAY
        hours = calendar.hours_of(tomorrow)
        typed = {"from_day": tomorrow, "time_zone": hours.time_zone, "day_starts": f"{hours.day_starts:%H:%M}"}
        self.initial = {**typed, "shifts": shifts.say_shifts(hours.shifts), **self.initial}

    def clean_shifts(self) -> list[list[str]]:
        """Name and start of each, as the row keeps them."""
        try:
            return [[name, f"{starts:%H:%M}"] for name, starts in shifts.read_shifts(self.cleaned_data["shifts"])]
        except ValueError as wrong:
            raise ValidationError(str(wrong)) from None

    def hours(self) -> Hours:
        typed = self.cleaned_data
        named = tuple((name, time.fromisoformat(starts)) for name, starts in typed["shifts"])
        return Hours(typed["from_day"], typed["time_zone"], typed["day_starts"], named)

    def faults(self) -> Faults:
        """By the calendar that is in force: hours are set for days to come alone."""
        return shifts.faults(self.hours(), shifts.calendar(), timezone.now())

    def write(self, by: Staff) -> HouseHours:
        return shifts.set_hours(self.hours(), by=by)


class ChipSeriesForm(Judged):
    """A series of chips: what a manufacturer made at once."""

    FIELDS = {"values": "kinds"}

    # Not ``values``: the row's column of that name holds what they are worth, and would judge what was ticked.
    kinds = forms.ModelMultipleChoiceField(
        Denomination.objects.in_use(),
        label="Kinds",
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="The kinds of chips that it has.",
    )

    class Meta:
        model = ChipSeries
        fields = ("name", "manufacturer", "year")
        help_texts = {"name": "As it is called on slips, for good.", "year": "In which it was made."}

    def faults(self) -> Faults:
        """All of it is judged at once: nothing is changed later."""
        return chip_series.faults(**self._entered())

    def write(self, by: Staff) -> ChipSeries:
        return chip_series.add(**self._entered(), by=by)

    def _entered(self) -> dict[str, Any]:
        values = {name: self.cleaned_data[name] for name in ("name", "manufacturer", "year")}
        return values | {"values": [chip.value_cents for chip in self.cleaned_data["kinds"]]}


class RetireForm(forms.Form):
    """Why something is used no more."""

    why = forms.CharField(label="Why", max_length=200, widget=widgets.UnfoldAdminTextInputWidget)


class AlertChannelForm(Judged):
    """A channel by which alerts leave the house; of a name that there is, its next version. A secret goes in and never
    comes out."""

    signed_with = forms.CharField(
        label="Secret",
        required=False,
        widget=widgets.UnfoldAdminPasswordWidget({"autocomplete": "new-password"}),
        help_text="A webhook's alone: what its messages are signed with. Empty: that of the version before stays.",
    )
    both_hours = forms.IntegerField(
        label="The former secret signs as well, for so many hours",
        required=False,
        min_value=0,
        max_value=channels.MOST_BOTH_HOURS,
        widget=widgets.UnfoldAdminIntegerFieldWidget,
        help_text=f"While the receiver is given the new one. Empty: {channels.BOTH_HOURS} where the secret is another,"
        " and else as it was. 0 where it leaked: that ends it now.",
    )
    level = forms.TypedChoiceField(
        label="From the level on",
        coerce=int,
        initial=1,
        choices=list(enumerate(LEVELS)),
        widget=widgets.UnfoldAdminSelectWidget,
    )
    kinds = forms.MultipleChoiceField(
        label="Only alerts of",
        required=False,
        choices=[(about, kind.title) for about, kind in KINDS.items()],
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="None chosen: all.",
    )
    events = forms.MultipleChoiceField(
        label="Only events of these types",
        required=False,
        choices=[(type_, type_) for type_ in sorted(FORMS)],
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Where it tells events. None chosen: all.",
    )
    at_tables = forms.ModelMultipleChoiceField(
        Table.objects.in_use(),
        label="Only events about these tables",
        required=False,
        widget=widgets.UnfoldAdminCheckboxSelectMultipleWidget,
        help_text="Where it tells events. None chosen: all, and what is about no table.",
    )
    FIELDS = {
        "least_level": "level", "about": "kinds", "secret": "signed_with",  # pragma: allowlist secret
        "types": "events", "tables": "at_tables",
    }  # fmt: skip

    class Meta:
        model = AlertChannel
        fields = ("name", "tells", "means", "address", "is_on")
        help_texts = {
            "name": "A name that there is already gets its next version.",
            "address": "One e-mail address, or an address that begins with https://.",
        }

    def channel(self) -> channels.ChannelDraft:
        typed = self.cleaned_data
        return channels.ChannelDraft(
            name=typed["name"],
            means=typed["means"],
            address=typed["address"],
            secret=typed["signed_with"],
            is_on=typed["is_on"],
            least_level=typed["level"],
            about=tuple(typed["kinds"]),
            tells=typed["tells"],
            types=tuple(typed["events"]),
            tables=tuple(table.name for table in typed["at_tables"]),
            both_hours=typed["both_hours"],
        )

    def faults(self) -> Faults:
        """By the version before, if there is one."""
        draft = self.channel()
        return channels.faults(draft, AlertChannel.objects.filter(name=draft.name).order_by("-version").first())

    def write(self, by: Staff) -> AlertChannel:
        return channels.set_channel(self.channel(), by=by)


class EnrolForm(forms.Form):
    """A new terminal."""

    name = forms.RegexField(
        r"^[\w .#-]+\Z", max_length=40, label="Name", help_text="As the log calls it: Rocket 1 tablet.",
        widget=widgets.UnfoldAdminTextInputWidget,
    )  # fmt: skip
    table = forms.ModelChoiceField(
        Table.objects.in_use(), required=False, empty_label="any table",
        widget=widgets.UnfoldAdminSelectWidget,
        help_text="The only table that may be dealt from it.",
    )  # fmt: skip
