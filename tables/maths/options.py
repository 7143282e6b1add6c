"""Parsing of a game's options and a shoe's cards from a command line: `decks=6`, `A=32,2=31`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

import msgspec
from msgspec import UNSET, inspect

from tables.games.cards import Composition
from tables.games.yes_no import flag
from tables.maths.situation import Unknowable
from tables.maths.standard import composition_of


def rules_of(rules_type: type[Any], settings: Iterable[str]) -> Any:
    """The rules with these options set, the others as they are by default. Raises Unknowable, saying what would do."""
    fields = msgspec.structs.fields(rules_type)
    types = {field.name: field.type for field in fields if field.default is not UNSET}  # no line holds a pay table
    values: dict[str, Any] = {}
    for setting in settings:
        name, sign, text = setting.partition("=")
        if not sign:
            raise Unknowable(f"{setting!r} sets nothing: an option is set as name=value")
        if name not in types:
            raise Unknowable(f"there is no option {name!r}: the options are {', '.join(types)}")
        if name in values:
            raise Unknowable(f"option {name} is set twice")
        values[name] = _value(name, types[name], text)
    try:
        return rules_type(**values)
    except ValueError as refusal:  # options that do not go together, where the rules themselves refuse them
        raise Unknowable(str(refusal)) from None


def _value(name: str, kind: Any, text: str) -> Any:
    """The value of a text for an option of this type. Raises Unknowable."""
    for reading in _readings(text):
        with suppress(msgspec.ValidationError):
            value = msgspec.convert(reading, kind)
            if not isinstance(value, tuple) or len(set(value)) == len(value):
                return value
    raise Unknowable(f"option {name} is {_right(inspect.type_info(kind))}, not {text!r}")


def _readings(text: str) -> Iterator[Any]:
    """Possible readings of a text; an option's type admits one of them at most."""
    if (value := flag(text)) is not None:
        yield value
    for number in (int, float):
        with suppress(ValueError):
            yield number(text)
    yield text
    yield text.split(",") if text else []


def _right(kind: inspect.Type) -> str:
    """Description of the valid values."""
    if isinstance(kind, inspect.Metadata):
        return _right(kind.type)
    if isinstance(kind, inspect.BoolType):
        return "yes or no"
    if isinstance(kind, inspect.LiteralType):
        *choices, last = map(str, kind.values)
        return f"{', '.join(choices)} or {last}"
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        whole = "a whole number" if isinstance(kind, inspect.IntType) else "a number"
        return f"{whole} from {kind.ge:,} to {kind.le:,}"
    if isinstance(kind, inspect.VarTupleType) and isinstance(kind.item_type, inspect.LiteralType):
        return f"a list, with commas between and each once, of {', '.join(map(str, kind.item_type.values))}"
    return "something else"


def cards_of(text: str) -> Composition:
    """Parse a composition written as counts by card: all by rank, or all with suits. Raises Unknowable.

    Omitted cards are gone, so that a forgotten count is not taken for a full one.
    """
    counts: dict[str, int] = {}
    for part in text.split(","):
        card, sign, count = part.strip().partition("=")
        if not sign or not count.isdecimal():
            raise Unknowable(f"{part.strip()!r} counts nothing: a composition is written as A=32,2=31 and so on")
        if card in counts:
            raise Unknowable(f"{card} is counted twice")
        counts[card] = int(count)
    return composition_of(counts)
