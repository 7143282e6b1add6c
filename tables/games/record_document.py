"""A round record as a document: its keys and their types, read from JSON; and how one is refused."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from tables.games.protocol import Rake, Struct

FORMAT: Final = "round-record/1"
_SEAT = Annotated[int, Meta(ge=1, le=99)]
_COUNT = Annotated[int, Meta(ge=0)]
_LONGEST: Final = 300


class RecordError(Exception):
    """A record that is no round: one line that names the place in the document, and the rule."""

    def __init__(self, place: str, rule: str) -> None:
        line = f"{place}: {rule}"
        if len(line) > _LONGEST:
            line = line[: _LONGEST - 1] + "…"
        super().__init__("".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in line))


class RecordSeat(Struct, frozen=True):
    """One seat: its bet in house-banked games (minor units) or its bets by name; in player-pool games its coins on the
    table."""

    seat: _SEAT
    bet: int | UnsetType = UNSET
    bets: dict[str, int] | UnsetType = UNSET
    coins: _COUNT | UnsetType = UNSET


class RecordAction(Struct, frozen=True, rename={"from_": "from"}):
    """One decision, and what it names."""

    seat: int
    """0 for declarations of the dealer, in games that have them."""
    do: str
    card: int | UnsetType = UNSET
    cards: tuple[int, ...] | UnsetType = UNSET
    target: int | UnsetType = UNSET
    count: int | UnsetType = UNSET
    from_: int | UnsetType = UNSET
    column: int | UnsetType = UNSET

    def named(self) -> dict[str, Any]:
        """What the decision names, by the record's keys."""
        values = {key: getattr(self, attribute) for key, attribute in _NAMED.items()}
        return {key: value for key, value in values.items() if value is not UNSET}


class RecordAside(Struct, frozen=True):
    """A card that left the shoe unplayed, and how many of the record's cards were dealt before it."""

    after: _COUNT
    card: int | str | None = None
    """As the record writes cards; null if it was not seen."""


class RecordPaper(Struct, frozen=True):
    """The numbered form on which a round was written during an outage: it is not validated."""

    number: str
    happened: str
    entered: str = ""


_NAMED: Final = {name: name for name in ("card", "cards", "target", "count", "column")} | {"from": "from_"}


class Record(Struct, frozen=True):
    """A round record, as ``round-record/1`` spells it: docs/round-record.md."""

    format: Literal["round-record/1"]
    game: str
    seats: tuple[RecordSeat, ...]
    cards: msgspec.Raw
    """The cards as the game's form writes them, as ``dealt`` does."""
    actions: tuple[RecordAction, ...] | UnsetType = UNSET
    options: msgspec.Raw = msgspec.Raw(b"{}")
    version: Annotated[int, Meta(ge=1)] | UnsetType = UNSET
    """Version of the game's rules; the present one if omitted."""
    dealt: msgspec.Raw | UnsetType = UNSET
    button: _SEAT | UnsetType = UNSET
    pot: _COUNT | UnsetType = UNSET
    first: _SEAT | UnsetType = UNSET
    rake: Rake | UnsetType = UNSET
    blind: bool | UnsetType = UNSET
    commission_is_marked: bool | UnsetType = UNSET
    aside: tuple[RecordAside, ...] | UnsetType = UNSET
    voided: str | UnsetType = UNSET
    paper: RecordPaper | UnsetType = UNSET


# --- reading ---------------------------------------------------------------------------------------------------


def parse(document: bytes | str) -> Record:
    """The record of a document. Raises RecordError."""
    try:
        record = _decoder.decode(document)
        # Of a key that is given twice, JSON readers take the last: that would be a guess.
        _keys.decode(document if isinstance(document, str) else document.decode())
    except msgspec.ValidationError as error:
        raise invalid(error) from None
    except UnicodeError:
        raise RecordError("record", "not JSON: not in UTF-8") from None
    except (msgspec.DecodeError, json.JSONDecodeError) as error:
        raise RecordError("record", f"not JSON: {str(error).removeprefix('JSON is malformed: ')}") from None
    except RecursionError:
        raise RecordError("record", "nested too deeply") from None
    return record


def invalid(error: msgspec.ValidationError, within: str = "") -> RecordError:
    """The RecordError for a msgspec error, with the place from its ``... - at `$.seats[0].bet`` first."""
    text, _, path = str(error).rpartition(" - at `$")
    if not text:
        text, path = path, ""
    place = f"{within}{path.rstrip('`')}".removeprefix(".")
    return RecordError(place or "record", text[:1].lower() + text[1:])


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    keys = set()
    for key, _ in pairs:
        if key in keys:
            raise RecordError(key or '""', "this key is given twice in one object")
        keys.add(key)


_decoder = msgspec.json.Decoder(Record)
_keys = json.JSONDecoder(object_pairs_hook=_each_once, parse_int=str)
"""Checks the keys only, so digits are not converted to numbers."""
