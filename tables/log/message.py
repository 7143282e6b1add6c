"""Messages: templates with named parameters, which become a text when they are displayed. Pure.

A template is a literal in the code, so that ``xgettext`` extracts it (``KEYWORDS``). No code reads a text back: the
fields of an entry are its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial, reduce
from gettext import NullTranslations
from string import Formatter
from typing import Any, Final, Protocol

from ledger.proof.chips import money
from tables.games.cards import PAIRS, Pack

KEYWORDS: Final = ("Message", "counted:1,2", "from_fields")
"""The calls whose literals are templates, in the form of the option ``--keyword`` of ``xgettext``."""


class Translations(Protocol):
    """A catalog of translated templates, such as ``gettext.NullTranslations`` or ``django.utils.translation``."""

    def gettext(self, message: str, /) -> str: ...

    def ngettext(self, singular: str, plural: str, number: int, /) -> str: ...


ENGLISH: Final[Translations] = NullTranslations()


@dataclass(frozen=True, slots=True)
class Money:
    """An amount in minor units."""

    cents: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A date and time, with its format in English."""

    at: datetime
    form: str = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class Label:
    """A title of a closed list in the code, such as a role or reason. It is translated, unlike text that was typed."""

    text: str
    is_lower: bool = False
    """Whether the list has the title with a capital, and the sentence has it without."""


@dataclass(frozen=True, slots=True)
class CardFace:
    """A card. Without a pack of its own it is written as the pack of the round writes it."""

    number: int
    pack: Pack | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A list of parameters."""

    items: tuple[Parameter, ...]
    separator: str = ", "
    is_sentence: bool = False
    """Whether the text begins with a capital."""


@dataclass(frozen=True, slots=True, init=False)
class Message:
    """A template with the values of its placeholders."""

    template: str
    plural: str
    """The template for another number than one; empty where the template depends on no number."""
    parameters: Mapping[str, Parameter]

    def __init__(self, template: str, plural: str = "", /, **parameters: Parameter) -> None:
        names = placeholders(template) | placeholders(plural)
        if names != parameters.keys():
            raise TypeError(f"The placeholders of {template!r} are {sorted(names)}, not {sorted(parameters)}.")
        for name, value in (("template", template), ("plural", plural), ("parameters", parameters)):
            object.__setattr__(self, name, value)


Parameter = str | int | Money | Timestamp | Label | CardFace | Joined | Message


def counted(singular: str, plural: str, /, *, count: int, **parameters: Parameter) -> Message:
    """A message whose template depends on the parameter ``count``."""
    return Message(singular, plural, count=count, **parameters)


def code(name: str) -> Label:
    """The title of a code, such as "pit boss" of ``pit_boss``."""
    return Label(name.replace("_", " "))


def codes(names: Iterable[str]) -> Joined:
    """The titles of codes."""
    return joined(map(code, names))


def joined(items: Iterable[Parameter], separator: str = ", ", *, is_sentence: bool = False) -> Joined:
    """A list of parameters."""
    return Joined(tuple(items), separator, is_sentence)


def both(names: Iterable[Parameter]) -> Parameter:
    """People who act together: "A and B"."""
    return reduce(lambda first, second: Message("{first} and {second}", first=first, second=second), names)


def timestamp(text: str) -> Timestamp | str:
    """A moment that an entry stores in ISO 8601; a text that is none is displayed as it is stored."""
    with suppress(ValueError):
        return Timestamp(datetime.fromisoformat(text))
    return text


# --- Descriptions of entries --------------------------------------------------------------------------------------

Description = Message | Joined
"""What an entry says for people."""


def from_fields(
    template: str, *, otherwise: Callable[[Any], Message] | None = None, **converters: Callable[[Any], Parameter]
) -> Callable[[Any], Message]:
    """A method ``description`` with fields and properties of the entry as parameters, by name; ``{shoe.number}`` is one
    of a field. A name that ends in ``_cents`` is an amount. ``converters``: the functions that make parameters of other
    fields. ``otherwise``: the description of an entry in which a field is empty that the last template does not have.
    """
    names = placeholders(template)
    last: frozenset[str] = getattr(otherwise, "last", names)

    def description(event: Any) -> Message:
        if otherwise and any(_value(event, name) in (None, "", ()) for name in names - last):
            return otherwise(event)
        values = {name: _value(event, name) for name in names}
        return Message(template, **{name: converter_of(name)(value) for name, value in values.items()})

    def converter_of(name: str) -> Callable[[Any], Parameter]:
        return converters.get(name.rpartition(".")[2]) or (Money if name.endswith("_cents") else _parameter)

    vars(description).update(names=names, last=last)
    return description


def _value(event: Any, name: str) -> Any:
    """The value of a field, or of a field of a field; None where that is not set."""
    for part in name.split("."):
        event = None if event is None else getattr(event, part)
    return event


def _parameter(value: Any) -> Parameter:
    if isinstance(value, tuple | dict):
        return joined(value if isinstance(value, tuple) else sorted(value))
    return value if isinstance(value, Parameter) else str(value)


# --- Values -------------------------------------------------------------------------------------------------------


def values_of(parameter: Parameter, name: str = "") -> Iterator[tuple[str, Parameter]]:
    """The values in a message or parameter, each with the name of its placeholder."""
    match parameter:
        case Message():
            for placeholder, value in parameter.parameters.items():
                yield from values_of(value, placeholder)
        case Joined(items):
            for item in items:
                yield from values_of(item, name)
        case _:
            yield name, parameter


# --- Rendering ----------------------------------------------------------------------------------------------------


def text_of(parameter: Parameter, pack: Pack = PAIRS, translations: Translations = ENGLISH) -> str:
    """The text of a message or parameter. ``pack``: the cards of the round; ``translations``: the language."""
    shown = partial(text_of, pack=pack, translations=translations)
    match parameter:
        case Message():
            template = _translated(parameter, translations)
            return "".join(
                text + (shown(parameter.parameters[name]) if name else "") for text, name in _parts(template)
            )
        case Joined(items, separator, is_sentence):
            text = separator.join(map(shown, items))
            return text[:1].upper() + text[1:] if is_sentence else text
        case Label(text, is_lower):
            text = text and translations.gettext(text)
            return text.lower() if is_lower else text
        case CardFace(number, own):
            used = own or pack
            return str(number if used is PAIRS or not number else used.spell(number))
        case Money(cents):
            return money(cents)
        case Timestamp(at, form):
            return at.strftime(form)
    return str(parameter)


def _translated(message: Message, translations: Translations) -> str:
    count = message.parameters.get("count")
    if message.plural and isinstance(count, int):
        return translations.ngettext(message.template, message.plural, count)
    return translations.gettext(message.template)


@cache
def placeholders(template: str) -> frozenset[str]:
    """The names of a template's placeholders."""
    return frozenset(name for _, name in _parts(template) if name)


@cache
def _parts(template: str) -> tuple[tuple[str, str | None], ...]:
    """A template as literal texts, each with the placeholder after it."""
    return tuple((text, name) for text, name, _, _ in Formatter().parse(template))
