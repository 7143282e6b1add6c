"""The form of a table: its settings, and the options of its game."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from django import forms
from unfold import widgets

from tables.admin import forms as admin_forms
from tables.admin.forms import DomainForm, MoneyField
from tables.admin.game_fields import LIMITS, OPTION, STATED, limit_fields, option_fields
from tables.games.catalog import GAMES
from tables.log.entries.settings import PAYS
from tables.log.state import KEYED, TableState
from tables.log.terms import Settings
from tables.models import Denomination, Staff, Table
from tables.models.tables import MOST_RAKE_PERMILLE
from tables.refusals import Faults
from tables.setup import table_settings
from tables.setup.dual_control import ProposalDraft
from tables.state import table_state


class TableForm(DomainForm):
    """The settings of a table. ``for_game`` adds the fields of one game's options."""

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

    game = admin_forms.ChoiceField(
        choices=[(name, game.title) for name, game in GAMES.items()],
        initial="rocket",
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
    marks_commission = admin_forms.BooleanField(
        label="Commission is marked and collected later",
        required=False,
        help_text="At the end of the shoe, or when the player leaves. Else it is taken at once.",
    )
    cameras = forms.CharField(
        required=False,
        max_length=80,
        widget=widgets.UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text="As the surveillance calls those that look at it: C-12, PTZ 3.",
    )
    denominations = admin_forms.ModelMultipleChoiceField(
        Denomination.objects.filter(retired_at=None),
        label="Chips",
    )
    takes = admin_forms.ChoiceField(
        label="Holds from the next",
        choices=(("round", "Round"), ("shoe", "Shoe")),
        required=False,
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
        """The rake in per mille of a pot."""
        return int((self.cleaned_data["rake"] or 0) * 10)

    def clean_time_charge(self) -> int:
        """The time charge in minor units."""
        return self.cleaned_data["time_charge"] or 0

    def options(self) -> dict[str, Any]:
        """The options as typed; none for a table that changes its game, which starts with the defaults."""
        if self.cleaned_data["game"] != self.GAME:
            return {}
        names = [name for name in self.fields if name.startswith(OPTION)]
        options = {name.removeprefix(OPTION): self.cleaned_data[name] for name in names}
        if self._stated:
            options["wagers"] = [row["wager"] for row in self._stated]
        return {name: value for name, value in options.items() if name != PAYS or value is not None}

    @property
    def _stated(self) -> list[dict[str, Any]]:
        """The wagers of a non-tracked table with their limits."""
        return self.cleaned_data.get(STATED) or []

    def wager_limits(self) -> dict[str, tuple[int, int]]:
        """The limits of single wagers; none for a table that changes its game."""
        if self.cleaned_data["game"] != self.GAME:
            return {}
        if self._stated:
            return {row["wager"]["name"]: row["limits"] for row in self._stated if row["limits"]}
        names = [name for name in self.fields if name.startswith(LIMITS) and self.cleaned_data[name]]
        return {name.removeprefix(LIMITS): self.cleaned_data[name] for name in names}

    def changes(self) -> dict[str, Any]:
        """The changed values by the names of the table's settings."""
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
        """The faults of a new table, or of a change in the present state of the table."""
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
        table = Table.objects.get(pk=self.instance.pk)  # the form's own instance has the typed values
        typed = self.cleaned_data
        takes, effective = typed.get("takes", "round"), typed.get("effective")
        return table_settings.draft_of(table, self.changes(), takes=takes, effective=effective)

    def write(self, by: Staff) -> Table:
        if self.instance.pk is None:
            return table_settings.create_table(self.cleaned_data["name"], self.settings(), by=by)
        return table_settings.change_table(self.instance, self.changes(), by=by)
