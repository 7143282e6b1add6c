"""Making a pay table: its form by the game's, and what it makes the wagers worth, seen before it is saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from msgspec import structs
from unfold import widgets

from tables.admin.forms import EffectiveField
from tables.games.catalog import GAMES
from tables.games.odds import HouseRules, PayTable
from tables.games.pays import PaidWager, Spelled
from tables.maths import providers
from tables.maths.worth import Worth
from tables.models import PayTable as Row
from tables.models import Staff
from tables.setup import pay_tables
from tables.setup.dual_control import ProposalDraft

MOST_DECKS: Final = 8


# --- The form --------------------------------------------------------------------------------------------------


class PayTableForm(forms.Form):
    """A name, and the lines of the wagers of one game; made by ``for_game``."""

    GAME: ClassVar[str]

    name = forms.CharField(
        max_length=40,
        widget=widgets.UnfoldAdminTextInputWidget({"autocomplete": "off"}),
        help_text="A name that there is already gets its next version.",
    )
    seen = forms.CharField(required=False, widget=forms.HiddenInput)
    """The digest of the lines whose worth was shown last: nothing else is saved."""
    comment = forms.CharField(
        label="Why",
        required=False,
        max_length=500,
        widget=widgets.UnfoldAdminTextInputWidget,
        help_text="For the second person, where it takes two. The log keeps it.",
    )
    effective = EffectiveField()
    confirmed = forms.BooleanField(
        required=False,
        label="The house loses on a wager of this table, and it is meant so",
        widget=widgets.UnfoldBooleanSwitchWidget,
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
        """What another version of a pay table begins with."""
        odds = {f"{wager}.{line}": odds for wager, lines in row.wagers.items() for line, odds in lines.items()}
        return {"name": row.name, **odds}

    @property
    def wagers(self) -> Iterable[tuple[PaidWager, Sequence[forms.BoundField]]]:
        """Each wager with its fields, for the page."""
        for wager in GAMES[self.GAME].pay_form.wagers:
            yield wager, [self[_field(wager, line.name)] for line in wager.lines]

    def lines(self) -> Spelled:
        """The lines of the wagers of which any was typed."""
        form = GAMES[self.GAME].pay_form
        typed = {
            wager.name: {line.name: self.cleaned_data.get(_field(wager, line.name), "") for line in wager.lines}
            for wager in form.wagers
        }
        return {wager: lines for wager, lines in typed.items() if any(lines.values())}

    def clean(self) -> dict[str, Any]:
        """Judged as the write that follows judges; each sentence at its field."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for place, sentence in pay_tables.faults(self.GAME, cleaned.get("name", ""), self.lines()).items():
            field = place.removeprefix("wagers.")
            if field not in self.errors:  # a name that is missing was told by its field
                self.add_error(field if field in self.fields else None, ValidationError(sentence, code=field))
        return cleaned

    def table(self) -> PayTable:
        """The lines with their digest."""
        return GAMES[self.GAME].pay_form.table_of(self.cleaned_data["name"], 1, self.lines())

    def may_be_saved(self, table: PayTable, *, is_lost: bool) -> bool:
        """Whether these lines were shown, and are meant where the house loses by them; else the form says why not."""
        if self.cleaned_data["seen"] != table.sha256:
            says = "These lines were not shown yet: look at what they are worth, then save."
            self.add_error(None, ValidationError(says, code="not_shown"))
        elif is_lost and not self.cleaned_data["confirmed"]:
            says = "The house loses on a wager: say that it is meant so, or change its lines."
            self.add_error("confirmed", ValidationError(says, code="not_confirmed"))
        return not self.errors

    def draft(self) -> ProposalDraft | None:
        """What is to be proposed, where it takes two people."""
        drafted = pay_tables.draft(self.GAME, self.cleaned_data["name"], self.lines())
        return replace(drafted, effective=self.cleaned_data["effective"]) if drafted else None

    def make(self, by: Staff) -> Row:
        """Raises Refused when the floor has moved on."""
        return pay_tables.make(self.GAME, self.cleaned_data["name"], self.lines(), by=by)


class _OddsField(forms.CharField):
    """Odds as they are said, 9:1 or 9 to 1."""

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


# --- What it makes the wagers worth ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Valued:
    """A wager dealt from so many decks: by the new table, and by each that ships."""

    decks: int
    own: Worth
    shipped: Sequence[Worth]

    @property
    def is_lost(self) -> bool:
        """Whether the house loses on it."""
        return self.own.house_edge < 0


@dataclass(frozen=True, slots=True)
class WagerWorth:
    """What a wager is worth by one table, as the page says it."""

    table: str
    edge: str
    deviation: str
    hits: str
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """A wager that a table changes."""

    title: str
    of: str
    """What is valued, where it is not the wager itself."""
    shipped: Sequence[str]
    """The tables that ship, by their lines."""
    rows: Sequence[Valued]

    @property
    def is_lost(self) -> bool:
        """Whether the house loses on it from any number of decks."""
        return any(row.is_lost for row in self.rows)

    @property
    def by_decks(self) -> Sequence[tuple[int, Sequence[WagerWorth]]]:
        """By the number of decks: by this table, and by each that ships."""
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


def previews(game: str, table: PayTable) -> list[Preview]:
    """Every wager that a pay table changes, exactly, from each number of decks that the game is dealt from."""
    return [_preview(game, wager, table) for wager in GAMES[game].pay_form.wagers if wager.name in table.wagers]


def _preview(game: str, wager: PaidWager, table: PayTable) -> Preview:
    chosen = [{wager.option: value} if wager.option else {} for value in wager.shipped]
    rows = [
        Valued(decks, _worth(game, wager, rules, table), [_worth(game, wager, rules, None, **by) for by in chosen])
        for decks, rules in _rules(game, wager)
    ]
    ships = [", ".join(odds.spelled for odds in lines) for lines in wager.shipped.values()]
    return Preview(wager.title, f"{wager.on} with all that follows" if wager.on else "", ships, rows)


def _rules(game: str, wager: PaidWager) -> Iterable[tuple[int, HouseRules]]:
    """Rules under which the wager is spread, by the number of decks."""
    spread: dict[str, Any] = {} if wager.on else {"spread": (wager.name,)}
    rules: HouseRules = GAMES[game].rules_type(**wager.needs, **spread)
    if "decks" not in rules.__struct_fields__:
        return [(GAMES[game].decks(rules), rules)]
    return [(decks, structs.replace(rules, decks=decks)) for decks in range(1, MOST_DECKS + 1)]


def _worth(game: str, wager: PaidWager, rules: HouseRules, table: PayTable | None, **by: Any) -> Worth:
    chosen = {option: type(getattr(rules, option))(value) for option, value in by.items()}
    valued = structs.replace(rules, **chosen, **({"pays": table} if table else {}))
    return providers.quick(game, valued)[wager.on or wager.name]
