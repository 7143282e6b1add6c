"""The list of pay tables in the admin, and the exact value of each wager under a pay table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from msgspec import structs
from unfold.decorators import action

from tables.admin.pages import NeverChanged
from tables.games.catalog import GAMES
from tables.games.odds import HouseRules
from tables.games.odds import PayTable as PayTableLines
from tables.games.pays import PaidWager
from tables.games.protocol import Illegal
from tables.maths import providers
from tables.maths.worth import Worth
from tables.models import PayTable
from tables.refusals import sentence
from tables.setup import pay_tables

MOST_DECKS: Final = 8


@dataclass(frozen=True, slots=True)
class WagerValues:
    """The value of a wager from a number of decks: under the new pay table, and under each standard one."""

    decks: int
    own: Worth
    shipped: Sequence[Worth]

    @property
    def is_lost(self) -> bool:
        """True if the casino loses on the wager."""
        return self.own.house_edge < 0


@dataclass(frozen=True, slots=True)
class WagerWorth:
    """The value of a wager under one pay table, as the page shows it."""

    table: str
    edge: str
    deviation: str
    hits: str
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class WagerPreview:
    """The values of a wager that a pay table changes."""

    title: str
    of: str
    """The wager that is valued, if it is another one."""
    shipped: Sequence[str]
    """The standard pay tables, by their lines."""
    rows: Sequence[WagerValues]

    @property
    def is_lost(self) -> bool:
        """True if the casino loses on the wager from any number of decks."""
        return any(row.is_lost for row in self.rows)

    @property
    def by_decks(self) -> Sequence[tuple[int, Sequence[WagerWorth]]]:
        """The values by the number of decks, under this pay table and under each standard one."""
        return [
            (
                row.decks,
                [
                    _line("This table", row.own, is_lost=row.is_lost),
                    *(_line(f"Ships: {lines}", worth) for lines, worth in zip(self.shipped, row.shipped, strict=True)),
                ],
            )
            for row in self.rows
        ]


def _line(table: str, worth: Worth, *, is_lost: bool = False) -> WagerWorth:
    edge, hits = f"{worth.house_edge:.4%}", f"{worth.hit_frequency:.4%}"
    return WagerWorth(table, edge, f"{worth.standard_deviation:.6f}", hits, is_lost)


def previews(game: str, table: PayTableLines) -> list[WagerPreview]:
    """The exact value of each wager that a pay table changes, from each number of decks of the game."""
    return [_preview(game, wager, table) for wager in GAMES[game].pay_form.wagers if wager.name in table.wagers]


def _preview(game: str, wager: PaidWager, table: PayTableLines) -> WagerPreview:
    chosen = [{wager.option: value} if wager.option else {} for value in wager.shipped]
    rows = [
        WagerValues(decks, _worth(game, wager, rules, table), [_worth(game, wager, rules, None, **by) for by in chosen])
        for decks, rules in _rules(game, wager)
    ]
    ships = [", ".join(odds.spelled for odds in lines) for lines in wager.shipped.values()]
    return WagerPreview(wager.title, f"{wager.on} with all that follows" if wager.on else "", ships, rows)


def _rules(game: str, wager: PaidWager) -> Iterable[tuple[int, HouseRules]]:
    """The rules under which the wager is offered, by the number of decks."""
    spread: dict[str, Any] = {} if wager.on else {"spread": (wager.name,)}
    rules: HouseRules = GAMES[game].rules_type(**wager.needs, **spread)
    if "decks" not in rules.__struct_fields__:
        return [(GAMES[game].decks(rules), rules)]
    return [(decks, structs.replace(rules, decks=decks)) for decks in range(1, MOST_DECKS + 1)]


def _worth(game: str, wager: PaidWager, rules: HouseRules, table: PayTableLines | None, **by: Any) -> Worth:
    chosen = {option: type(getattr(rules, option))(value) for option, value in by.items()}
    valued = structs.replace(rules, **chosen, **({"pays": table} if table else {}))
    return providers.quick(game, valued)[wager.on or wager.name]


@admin.register(PayTable)
class PayTableAdmin(NeverChanged):
    """Pay tables. The pages of operators make them and their next versions."""

    list_display = ("name", "version", "game_title", "by", "at")
    list_filter = ("game",)
    fields = ("name", "version", "game_title", "pays", "worth", "sha256")
    actions_detail = ("new_version",)

    def has_version_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The permission ``version`` of actions."""
        return self.has_add_permission(request)

    @action(description="New version", url_path="new-version", permissions=["version"])
    def new_version(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form of a new pay table with the lines of this one."""
        row = self.row(request, object_id)
        return redirect(f"{reverse('admin:tables_paytable_add')}?game={row.game}&from={row.pk}")

    @admin.display(description="game", ordering="game")
    def game_title(self, row: PayTable) -> str:
        return GAMES[row.game].title

    @admin.display(description="pays")
    def pays(self, row: PayTable) -> SafeString:
        """A line for each wager with its stored odds."""
        lines = [
            f"{wager}: " + ", ".join(f"{line} {odds}" for line, odds in pays.items())
            for wager, pays in row.wagers.items()
        ]
        return format_html_join("", "<p>{}</p>", [(line.replace("_", " ").capitalize(),) for line in lines])

    @admin.display(description="worth")
    def worth(self, row: PayTable) -> SafeString:
        """The values of its wagers and of the standard ones."""
        try:
            table = pay_tables.read(row)
        except Illegal as illegal:  # the row was changed outside of the product: ``verify`` reports it
            return format_html("<p>{}</p>", sentence(illegal.sentence))
        return render_to_string("tables/admin/_worth.html", {"previews": previews(row.game, table)})
