"""How the cells of the grid are written and read: amounts, limits of wagers, how much of a shoe is dealt, a game's
options. Whatever was typed is read, or refused with what would be right."""

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
"""The option that says which part of a shoe lies behind the cut card, in games that have it."""
_ELSEWHERE: Final = frozenset({"unit", PAYS, CUT_PART})
"""Options that are no part of the cell: the table's chip unit, its pay table, and what has a cell of its own."""


class Spelling(ValueError):
    """What was typed is no such setting; the message says what would be."""


# --- Amounts -----------------------------------------------------------------------------------------------------

_PLAIN: Final = re.compile(r"[0-9]{1,12}(\.[0-9]{1,2})?")
_THOUSANDS: Final = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]{1,2})?")
_COMMA: Final = re.compile(r"[0-9]{1,12},[0-9]{1,2}")
_WAGER: Final = re.compile(r"(?P<wager>\S.*?)\s+(?P<least>\S+)\s*(?:to|-)\s*(?P<most>\S+)")


def amount(cents: int | None) -> str:
    """Plain digits; empty where there is none."""
    return "" if cents is None else money(cents).replace(",", "")


def limit(value: Any) -> str:
    """An amount, or the two amounts of a wager: 5 to 100."""
    return " to ".join(map(amount, value)) if isinstance(value, tuple) else amount(value)


def cents(text: str) -> int:
    """An amount in minor units, from 25, 2.50, 2,50, 1000 or 1,000. Raises Spelling."""
    text = text.strip().replace("\u00a0", "").replace(" ", "")
    if not text:
        raise Spelling("Write an amount, such as 25 or 2.50: it cannot be empty.")
    if _PLAIN.fullmatch(text) and not re.fullmatch(r"[0-9]{1,3}\.[0-9]{3}", text):
        plain = text
    elif _THOUSANDS.fullmatch(text):
        plain = text.replace(",", "")
    elif _COMMA.fullmatch(text):
        plain = text.replace(",", ".")
    elif re.fullmatch(r"[0-9]{1,3}(\.[0-9]{3})+(,[0-9]{1,2})?", text):
        whole = text.partition(",")[0].replace(".", "")
        raise Spelling(f"{text} may be read in two ways: write {whole}, or {whole}.00.")
    else:
        raise Spelling(f"{text[:40]!r} is no amount: write it as 25, 2.50 or 1,000.")
    whole, _, part = plain.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)


def in_words(wager_limits: Mapping[str, Any]) -> str:
    """Limits of single wagers: tie 5 to 100; player_pair 5 to 50."""
    return "; ".join(f"{wager} {amount(low)} to {amount(high)}" for wager, (low, high) in sorted(wager_limits.items()))


def wagers(text: str) -> dict[str, tuple[int, int]]:
    """The same, read. Raises Spelling."""
    limits: dict[str, tuple[int, int]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        match = _WAGER.fullmatch(part)
        if match is None:
            raise Spelling(f"{part[:40]!r} is no wager with its limits: write tie 5 to 100; player_pair 5 to 50.")
        if match["wager"] in limits:
            raise Spelling(f"{match['wager']} stands there twice: name a wager once.")
        limits[match["wager"]] = cents(match["least"]), cents(match["most"])
    return limits


# --- How much of a shoe is dealt ---------------------------------------------------------------------------------


def dealt(behind: float) -> str:
    """The dealt part of a shoe in per cent, by the part behind the cut card."""
    return f"{float(round(100 - 100 * Decimal(str(behind)), 2)):g}"


def dealt_part(game: Game[Any, Any], rules: Any) -> str:
    """The dealt part of a shoe in per cent; empty where there is no cut card."""
    if hasattr(rules, CUT_PART):
        return dealt(getattr(rules, CUT_PART))
    kind = kind_of(game)
    if not (behind := kind.at_cut(rules)):
        return ""
    cards = kind.pack(rules).size * game.decks(rules)
    return f"{round(100 * (cards - behind) / cards)}"


def behind_cut(game: Game[Any, Any], rules: Any, text: str) -> dict[str, float]:
    """The option by which so much of a shoe is dealt; nothing where that is as it was. Raises Spelling."""
    present, typed = dealt_part(game, rules), text.strip().removesuffix("%").strip().replace(",", ".")
    if typed == present:
        return {}
    if not hasattr(rules, CUT_PART):
        right = f"{present} % by its rules" if present else "no cut card in it"
        raise Spelling(f"{game.title} has {right}, and nothing to choose: leave {present or 'it empty'}.")
    try:
        part = Decimal(typed)
    except InvalidOperation:
        part = Decimal(0)
    if not (part.is_finite() and 0 < part < 100):
        raise Spelling(f"{text.strip()[:20]!r} is no part of a shoe: write how much of it is dealt, in per cent: 80.")
    return {CUT_PART: float(1 - part / 100)}


# --- Options -----------------------------------------------------------------------------------------------------


def options_in_words(game: str, options: Mapping[str, Any]) -> str:
    """A game's plain options: decks: 8; spread: tie, player pair."""
    parts = (f"{_name(name)}: {_spelled(options[name])}" for name in _readers(game) if name in options)
    return "; ".join(parts)


def options(game: str, present: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Those that are named, read; the others stay as they are. Raises Spelling."""
    readers, read = _readers(game), dict[str, Any]()
    for part in filter(None, (part.strip() for part in text.split(";"))):
        title, colon, value = part.partition(":")
        name = title.strip().lower().replace(" ", "_")
        if not colon or name not in readers:
            names = ", ".join(map(_name, readers)) or "none"
            example = options_in_words(game, present) or "nothing"
            raise Spelling(
                f"{part[:40]!r} is no option of {GAMES[game].title}. There is {names}; write them as {example}."
            )
        if name in read:
            raise Spelling(f"{_name(name)} stands there twice: name an option once.")
        try:
            read[name] = readers[name](value.strip())
        except ValueError as wrong:
            raise Spelling(f"{_name(name)}: {value.strip()[:40]!r} is none of it. {wrong}") from None
    return {name: value for name, value in read.items() if value != present.get(name)}


def _name(option: str) -> str:
    return option.replace("_", " ")


def _spelled(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_name, value)) or "none"
    return "none" if value is None else _name(str(value))


Reader = Callable[[str], Any]
"""What somebody typed, read. Raises ValueError, with what would be right."""


def _readers(game: str) -> dict[str, Reader]:
    described = msgspec.inspect.type_info(GAMES[game].rules_type)
    assert isinstance(described, msgspec.inspect.StructType)  # noqa: S101 -- rules are structs
    readers = {option.name: _reader(option.type) for option in described.fields if option.name not in _ELSEWHERE}
    return {name: reader for name, reader in readers.items() if reader is not None}


def _reader(kind: msgspec.inspect.Type) -> Reader | None:
    """How an option of such a type is read; None for one that is more than a few words."""
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
