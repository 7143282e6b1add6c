"""The text of the grid's cells: amounts, limits of wagers, the dealt part of a shoe, a game's options.

Text that cannot be parsed is refused with an example of valid text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final

import msgspec

from ledger.proof.chips import money
from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.yes_no import flag
from tables.log.entries.settings import PAYS
from tables.log.game_kinds import kind_of

CUT_PART: Final = "reshuffle_at"
"""The option for the part of a shoe behind the cut card, in games that have it."""
_ELSEWHERE: Final = frozenset({"unit", PAYS, CUT_PART})
"""Options outside the cell: the table's chip unit, its pay table, and the dealt part, which has its own cell."""


class CellError(ValueError):
    """The text of a cell is no valid setting; the message has an example of a valid one."""


# --- Amounts -----------------------------------------------------------------------------------------------------

_PLAIN: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,2})?")
_COMMA: Final = re.compile(r"[0-9]{1,12},[0-9]{1,2}")
_WAGER: Final = re.compile(r"(?P<wager>\S.*?)\s+(?P<least>\S+)\s*(?:to|-)\s*(?P<most>\S+)")


def amount_text(cents: int | None) -> str:
    """Plain digits; empty where there is none."""
    return "" if cents is None else money(cents).replace(",", "")


def limit_text(value: Any) -> str:
    """An amount, or the two amounts of a wager: 5 to 100."""
    return " to ".join(map(amount_text, value)) if isinstance(value, tuple) else amount_text(value)


def parse_amount(text: str) -> int:
    """An amount in minor units, from 25, 2.50, 2,50, 1000 or 1,000. Raises CellError."""
    text = text.strip().replace("\u00a0", "").replace(" ", "")
    if not text:
        raise CellError("Write an amount, such as 25 or 2.50: it cannot be empty.")
    if _PLAIN.fullmatch(text) and not re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", text):
        plain = text
    elif _THOUSANDS.fullmatch(text):
        plain = text.replace(",", "")
    elif _COMMA.fullmatch(text):
        plain = text.replace(",", ".")
    elif re.fullmatch(r"[0-9]{1,3}(\.[0-9]{3})+(,[0-9]{1,2})?", text):
        whole = text.partition(",")[0].replace(".", "")
        raise CellError(f"{text} may be read in two ways: write {whole}, or {whole}.00.")
    else:
        raise CellError(f"{text[:40]!r} is no amount: write it as 25, 2.50 or 1,000.")
    whole, _, part = plain.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)


def wagers_text(wager_limits: Mapping[str, Any]) -> str:
    """Limits of single wagers: tie 5 to 100; player_pair 5 to 50."""
    return "; ".join(f"{wager} {limit_text(tuple(bounds))}" for wager, bounds in sorted(wager_limits.items()))


def parse_wagers(text: str) -> dict[str, tuple[int, int]]:
    """The limits of single wagers from such a text. Raises CellError."""
    limits: dict[str, tuple[int, int]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _WAGER.fullmatch(part)
        if match is None:
            raise CellError(f"{part[:40]!r} is no wager with its limits: write tie 5 to 100; player_pair 5 to 50.")
        if match["wager"] in limits:
            raise CellError(f"{match['wager']} stands there twice: name a wager once.")
        limits[match["wager"]] = parse_amount(match["least"]), parse_amount(match["most"])
    return limits


# --- How much of a shoe is dealt ---------------------------------------------------------------------------------


def dealt_text(behind: float) -> str:
    """The dealt part of a shoe in per cent, by the part behind the cut card."""
    return f"{float(round(100 - 100 * Decimal(str(behind)), 2)):g}"


def dealt_of(game: Game[Any, Any], rules: Any) -> str:
    """The dealt part of a shoe in per cent; empty where there is no cut card."""
    if hasattr(rules, CUT_PART):
        return dealt_text(getattr(rules, CUT_PART))
    kind = kind_of(game)
    if not (behind := kind.at_cut(rules)):
        return ""
    cards = kind.pack(rules).size * game.decks(rules)
    return f"{round(100 * (cards - behind) / cards)}"


def parse_dealt(game: Game[Any, Any], rules: Any, text: str) -> dict[str, float]:
    """The option for the dealt part of a shoe; empty if the part does not change. Raises CellError."""
    present, typed = dealt_of(game, rules), text.strip().removesuffix("%").strip().replace(",", ".")
    if typed == present:
        return {}
    if not hasattr(rules, CUT_PART):
        right = f"{present} % by its rules" if present else "no cut card in it"
        raise CellError(f"{game.title} has {right}, and nothing to choose: leave {present or 'it empty'}.")
    try:
        part = Decimal(typed)
    except InvalidOperation:
        part = Decimal(0)
    if not (part.is_finite() and 0 < part < 100):
        raise CellError(f"{text.strip()[:20]!r} is no part of a shoe: write how much of it is dealt, in per cent: 80.")
    return {CUT_PART: float(1 - part / 100)}


# --- Options -----------------------------------------------------------------------------------------------------


def options_text(game: str, options: Mapping[str, Any]) -> str:
    """A game's plain options: decks: 8; spread: tie, player pair."""
    parts = (f"{_name(name)}: {_option_text(options[name])}" for name in _readers(game) if name in options)
    return "; ".join(parts)


def parse_options(game: str, present: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The options in a text that differ from the present ones. Raises CellError."""
    readers, read = _readers(game), dict[str, Any]()
    for part in filter(None, (part.strip() for part in text.split(";"))):
        title, colon, value = part.partition(":")
        name = title.strip().lower().replace(" ", "_")
        if not colon or name not in readers:
            names = ", ".join(map(_name, readers)) or "none"
            example = options_text(game, present) or "nothing"
            raise CellError(
                f"{part[:40]!r} is no option of {GAMES[game].title}. There is {names}; write them as {example}."
            )
        if name in read:
            raise CellError(f"{_name(name)} stands there twice: name an option once.")
        try:
            read[name] = readers[name](value.strip())
        except ValueError as wrong:
            raise CellError(f"{_name(name)}: {value.strip()[:40]!r} is none of it. {wrong}") from None
    return {name: value for name, value in read.items() if value != present.get(name)}


def _name(option: str) -> str:
    return option.replace("_", " ")


def _option_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_name, value)) or "none"
    return "none" if value is None else _name(str(value))


Reader = Callable[[str], Any]
"""Parses the text of an option. Raises ValueError with an example of valid text."""


def _readers(game: str) -> dict[str, Reader]:
    described = msgspec.inspect.type_info(GAMES[game].rules_type)
    assert isinstance(described, msgspec.inspect.StructType)  # noqa: S101 -- rules are structs
    readers = {option.name: _reader(option.type) for option in described.fields if option.name not in _ELSEWHERE}
    return {name: reader for name, reader in readers.items() if reader is not None}


def _reader(kind: msgspec.inspect.Type) -> Reader | None:
    """The parser of an option's type; None for a type that does not fit in a cell."""
    match kind:
        case msgspec.inspect.Metadata(type=inner):
            return _reader(inner)
        case msgspec.inspect.BoolType():
            return _flag
        case msgspec.inspect.IntType(ge=least, le=most):
            return lambda text: _whole(text, least or 0, most)
        case msgspec.inspect.LiteralType(values=values):
            return lambda text: _choice(text, {_name(str(value)): value for value in values})
        case msgspec.inspect.VarTupleType(item_type=msgspec.inspect.LiteralType(values=values)):
            words = {_name(str(value)): value for value in values}
            return lambda text: [_choice(word, words) for word in text.split(",")] if text.lower() != "none" else []
    return None


def _flag(text: str) -> bool:
    if (value := flag(text)) is None:
        raise ValueError("Write yes or no.")
    return value


def _whole(text: str, least: int, most: int | None) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", text) or not least <= int(text) <= (most or int(text)):
        raise ValueError(f"Write a whole number from {least} {f'to {most}' if most else 'up'}.")
    return int(text)


def _choice(text: str, words: Mapping[str, Any]) -> Any:
    typed = " ".join(text.replace("_", " ").lower().split())
    if typed not in words:
        raise ValueError(f"Write {' or '.join(words)}.")
    return words[typed]
