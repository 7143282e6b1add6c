"""The options of a game as a start page asks for them, and as a certificate names them: from the game's own rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from django import forms
from django.http import QueryDict

from dealer_ui.entry_forms import ListField
from tables.form_fields import WholeNumberField
from tables.games.catalog import GAMES
from tables.training.providers import PROVIDERS, provider

FIRST: Final = "rocket"
"""The game that the start page shows first."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option: a list of values of which one is chosen, or several."""

    name: str
    label: str
    says: str
    values: tuple[tuple[str, str, Any], ...]
    """(value as sent, text, value as the rules have it) of each choice."""
    several: bool
    chosen: tuple[Any, ...]

    @property
    def rows(self) -> list[tuple[str, str, bool]]:
        """Each value as it is sent, in words, and whether it is chosen."""
        return [(sent, words, value in self.chosen) for sent, words, value in self.values]


def options_of(game: str, set_to: Mapping[str, Any]) -> list[Option]:
    """The options that a trainee may choose, set to some values; others as the game has them."""
    described = msgspec.inspect.type_info(GAMES[game].rules_type)
    assert isinstance(described, msgspec.inspect.StructType)  # noqa: S101 -- rules are structs
    fields = {option.name: option for option in described.fields}
    return [_option(fields[name], set_to, GAMES[game].spots) for name in provider(game).options]


def _option(described: msgspec.inspect.Field, set_to: Mapping[str, Any], spots: tuple[str, ...]) -> Option:
    kind, description = described.type, ""
    if isinstance(kind, msgspec.inspect.Metadata):
        description = (kind.extra_json_schema or {}).get("description", "")
        kind = kind.type
    several = isinstance(kind, msgspec.inspect.VarTupleType)
    if isinstance(kind, msgspec.inspect.VarTupleType):
        kind = kind.item_type
    value = set_to.get(described.name, described.default)
    return Option(
        described.name,
        described.name.replace("_", " ").capitalize(),
        description,
        tuple((str(each), _words(each), each) for each in _values(kind, spots)),
        several,
        tuple(value) if several else (value,),
    )


def _values(kind: Any, spots: tuple[str, ...]) -> tuple[Any, ...]:
    """All values of an option; wagers in the order of the game."""
    if isinstance(kind, msgspec.inspect.LiteralType):
        return tuple(sorted(kind.values, key=lambda value: spots.index(value) if value in spots else -1))
    if isinstance(kind, msgspec.inspect.IntType):
        return tuple(range(kind.ge or 0, (kind.le or 0) + 1))
    if isinstance(kind, msgspec.inspect.BoolType):
        return (True, False)
    raise TypeError(f"a start page has no list for {kind}")


class PracticeForm(forms.Form):
    """The game of a practice with its options. A value that is no choice of its field counts as not sent."""

    game = forms.CharField(required=False)
    unit_cents = WholeNumberField(required=False)
    table = WholeNumberField(required=False)
    pays_of = WholeNumberField(required=False)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        game = data.get("game") or FIRST
        self.options = options_of(game, {}) if game in PROVIDERS else []
        for option in self.options:
            self.fields |= {option.name: ListField(), f"{option.name}_asked": forms.BooleanField(required=False)}
        self.full_clean()

    def clean_game(self) -> str:
        return self.cleaned_data["game"] or FIRST

    def chosen(self) -> dict[str, Any]:
        """The options that were chosen; others are as the game has them."""
        options = {}
        for option in self.options:
            picked = [value for text, _, value in option.values if text in self.cleaned_data[option.name]]
            if option.several and self.cleaned_data[f"{option.name}_asked"]:
                options[option.name] = picked
            elif picked and not option.several:
                options[option.name] = picked[0]
        return options


def in_words(options: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Options with their values, as people read them."""
    return [(name.replace("_", " ").capitalize(), _words(value)) for name, value in options.items()]


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):  # a pay table
        return f"{value['name']} version {value['version']}"
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value)) or "none"
    return str(value).replace("_", " ")
