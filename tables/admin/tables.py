"""Tables in the admin."""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ledger.proof.chips import money
from tables.admin.game_fields import limit_fields, option_fields
from tables.admin.pages import Fieldsets, Retiring
from tables.admin.table_form import TableForm
from tables.board import pays
from tables.cage import retirement
from tables.games.catalog import GAMES
from tables.limits import placard_address
from tables.log.entries.settings import PAYS
from tables.log.game_kinds import kind_of
from tables.log.state import TableState
from tables.log.terms import game_title
from tables.models import Table
from tables.setup import table_settings
from tables.state import table_state

_TAKES: Final = (
    "What the house takes",
    {
        "fields": ("rake", "most_rake", "time_charge", "marks_commission"),
        "description": "A rake or a time charge of games for a pot, from the next game on; and a commission on winnings"
        " against the house.",
    },
)


_WITH_THE_SHOE: Final = (
    "From which shoe",
    {
        "fields": ("takes",),
        "description": "A shoe that is dealt from ends by the options and the cut card that it began with.",
    },
)


def _amount(title: str, column: str, none: str = "none") -> Any:
    """A column of the list, or a field for auditors, with an amount of the table as money."""

    @admin.display(description=title, ordering=column)
    def amount(pages: TableAdmin, table: Table) -> str:
        cents = getattr(table, column)
        return none if cents is None else money(cents)

    return amount


@admin.register(Table)
class TableAdmin(Retiring):
    """Tables. The methods named like fields of the form show the values to auditors, who have no form."""

    takes_two = ("limits", "take", "pays")
    list_display = ("name", "game_title", "seats", "source", "bets", "cap", "unit", "retired")
    list_filter = ("source",)
    actions_detail = ("retire",)
    change_form_outer_before_template = "tables/admin/on_the_floor.html"
    retire_by = staticmethod(retirement.retire_table)
    retire_help = (
        "The table has to be closed, and its rack and its box empty. It is on the floor no more; its log stays."
    )
    fixed_fields = ("name",)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """The form with the options of the table's game."""
        kwargs["form"] = TableForm.for_game(self._game(request, obj))
        return super().get_form(request, obj, change, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Fieldsets:
        """The settings in groups, limits first because they change most."""
        game = self._game(request, obj)
        is_dealt = not kind_of(GAMES[game]).is_by_count
        editable = self.has_change_permission(request, obj) if obj else True
        options = tuple(option_fields(game)) if editable else ("chosen_options",)
        limits = tuple(limit_fields(game)) if editable else ()
        return [
            (None, {"fields": ("name", "game")}),
            (
                "Limits",
                {
                    "fields": ("minimum", "maximum", *(("bet_step", "cap") if is_dealt else ()), *limits),
                    "description": "They may change at any time; an open round keeps those that it was opened under.",
                },
            ),
            (
                "Felt",
                {
                    "fields": ("seats", *(("source",) if is_dealt else ()), "unit", "denominations", "cameras"),
                    "description": self._timing(obj),
                },
            ),
            *((_TAKES,) if is_dealt else ()),
            *((_WITH_THE_SHOE,) if is_dealt and editable and obj else ()),
            (f"Options of {GAMES[game].title}", {"fields": (*options, *self._pays(obj))}),
            *self.for_the_second(request, obj),
        ]

    def for_the_second(self, request: HttpRequest, obj: Any) -> Fieldsets:
        """The effective time, also of a change that one person may make."""
        fieldsets = super().for_the_second(request, obj)
        if fieldsets or obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return [("Holds from", {"fields": ("effective", "comment")})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), *self._pays(obj))

    def _pays(self, table: Table | None) -> tuple[str, ...]:
        return ("pays_by",) if table and GAMES[table.game].pay_form.wagers else ()

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """The page with a link to the placard."""
        table = kwargs.get("obj")
        context["placard"] = placard_address.of_table(table) if table else ""
        return super().render_change_form(request, context, *args, **kwargs)

    @admin.display(description="pays now")
    def pays_by(self, table: Table) -> SafeString:
        """The pay table and its lines."""
        paid = pays.pays_at(table)
        lines = [(f"{wager}{'' if wager.is_own or not paid.name else ' (as shipped)'}",) for wager in paid.wagers]
        by = format_html("<p><strong>{}</strong></p>", paid.name) if paid.name else ""
        return format_html("{}{}", by, format_html_join("", "<p>{}</p>", lines))

    def _timing(self, table: Table | None) -> str:
        """The time at which the settings of a round may change."""
        state = table_state.of(table) if table else TableState()
        if table and state.round_open:
            return table_settings.round_is_open(table, state, "this, and the options, can change")
        return "This, and the options, may change between rounds only."

    def _game(self, request: HttpRequest, table: Table | None) -> str:
        """The game of the table, or of a new table the game that the address names."""
        name = request.GET.get("game", "")
        return table.game if table else name if name in GAMES else TableForm.GAME

    @admin.display(description="game")
    def game_title(self, table: Table) -> str:
        return game_title(table)

    @admin.display(description="bets", ordering="min_cents")
    def bets(self, table: Table) -> str:
        """The limits, as on the placard."""
        return f"{money(table.min_cents)} to {money(table.max_cents)}"

    minimum = _amount("minimum bet", "min_cents")
    maximum = _amount("maximum bet", "max_cents")
    most_rake = _amount("most rake of one pot", "rake_cap_cents", "no cap")
    time_charge = _amount("time charge", "time_charge_cents")
    cap = _amount("cap", "cap_cents")
    bet_step = _amount("bet step", "bet_step_cents")
    unit = _amount("smallest chip", "unit_cents")

    @admin.display(description="rake")
    def rake(self, table: Table) -> str:
        """The percentage of a pot."""
        return f"{table.rake_permille / 10:g} %"

    @admin.display(description="options")
    def chosen_options(self, table: Table) -> str:
        options = table_settings.settings_of(table).options
        return ", ".join(f"{name}: {value}".replace("_", " ") for name, value in options.items() if name != PAYS)
