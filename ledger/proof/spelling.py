"""The encoding of entries: the stored bytes, the hashed bytes, and how both are parsed.

An entry names its format. In format 1 a body is an object that repeats every column. In format 2 nothing is stored
twice: the columns are the heading, and the body has only the rest. docs/the-log.md describes both for readers without
this program. Stored entries never change, so a format never changes either: any other encoding needs a new format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

FORMAT: Final = 2
"""The format of new entries."""


class Misspelled(ValueError):
    """A body that is in no known format."""


class Body(NamedTuple):
    """A parsed body, with all member names written out."""

    format: int
    content: Any
    moves: Any
    columns: Mapping[str, Any] | None
    """The columns that a body of format 1 repeats; None in format 2."""


def canonical(document: Any) -> bytes:
    """The canonical JSON of a document: sorted keys, no spaces, UTF-8."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def timestamp(moment: datetime) -> str:
    """A time in the format of entries: UTC, microseconds, Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@dataclass(frozen=True, slots=True)
class Heading:
    """The columns that identify an entry."""

    book: str
    seq: int
    at: datetime
    subject: str
    kind: str
    round: int | None
    by: str
    key: UUID | None

    def columns(self) -> dict[str, Any]:
        """The columns as JSON data, by name."""
        return {
            "book": self.book,
            "seq": self.seq,
            "at": timestamp(self.at),
            "subject": self.subject,
            "kind": self.kind,
            "round": self.round,
            "by": self.by,
            "key": str(self.key) if self.key else None,
        }

    def spelled(self) -> bytes:
        """The bytes that are hashed. The database computes equal bytes (``ledger_logentry_follows``)."""
        return canonical(list(self.columns().values()))


def line(heading: Heading, body: bytes) -> bytes:
    """The bytes of an entry that are hashed after the hash of the entry before it; also a line of a bundle."""
    return body if body.startswith(b"{") else heading.spelled() + b" " + body


def split(text: bytes) -> tuple[list[Any] | None, bytes]:
    """The heading's values, None in format 1, and the body of a line. Raises Misspelled."""
    if text.startswith(b"{"):
        return None, text
    try:
        decoded = text.decode()
        heading, end = json.JSONDecoder().raw_decode(decoded)
    except (ValueError, RecursionError) as wrong:
        raise Misspelled(f"its heading is not JSON: {wrong}") from None
    body = decoded[end:].encode()
    # The line must be canonical: otherwise two lines could give one entry with two hashes.
    if not isinstance(heading, list) or not body.startswith(b" [") or text != canonical(heading) + body:
        raise Misspelled("its line is not a heading and a body")
    return heading, body[1:]


def spell(subject: str, content: Mapping[str, Any], moves: Sequence[Any]) -> bytes:
    """The body of a new entry, in the newest format."""
    parts = [FORMAT, _short(content) if subject == SHORTENED else content]
    return canonical([*parts, [_short_move(move) for move in moves]] if moves else parts)


def read(subject: str, body: bytes) -> Body:
    """The parsed body of an entry with this subject. Raises Misspelled."""
    try:
        # NaN and Infinity are no JSON: another implementation could not verify an entry with them.
        match json.loads(body, parse_constant=_refuse):
            case dict() as document:
                columns = {name: document[name] for name in document.keys() - {"content", "moves"}}
                return Body(1, document["content"], document["moves"], columns)
            case [2, content, [_, *_] as moves]:
                return Body(2, _content(subject, content), [_long_move(move) for move in moves], None)
            case [2, content]:
                return Body(2, _content(subject, content), [], None)
    except Misspelled:
        raise
    except (ValueError, RecursionError):
        raise Misspelled("its body is not JSON") from None
    except KeyError:
        pass
    raise Misspelled("its body has not the parts of an entry")


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no number of JSON")


def is_canonical(subject: str, body: bytes, parts: Body) -> bool:
    """Whether a body is in the canonical encoding of its format."""
    if parts.columns is not None:
        return canonical({**parts.columns, "content": parts.content, "moves": parts.moves}) == body
    return spell(subject, parts.content, parts.moves) == body


def _content(subject: str, content: Any) -> Any:
    return _long(content) if subject == SHORTENED else content


# --- Objects whose members are known ----------------------------------------------------------------------------

SHORTENED: Final = "round"
"""Entries of this subject are the vast majority, so known objects in them are shortened to arrays; other contents are
stored in full."""

_MARK: Final = "~"
_DO: Final = "do"


@dataclass(frozen=True, slots=True)
class Shape:
    """An object with exactly these members, encoded as an array of its tag and their values."""

    tag: str
    names: tuple[str, ...]
    do: str | None = None
    """The value of its member ``do``, which the tag implies; None if the object has no such member."""

    @property
    def members(self) -> frozenset[str]:
        """The names of all its members."""
        return frozenset(self.names) | ({_DO} if self.do is not None else frozenset())

    def piece(self, *values: Any) -> bytes:
        """The bytes that occur in each body with such an object whose first members have these values and that has
        further members."""
        return canonical([self.tag, *values])[:-1] + b","


BET: Final = Shape("~b", ("seat", "amount_cents"), do="bet")
PAYOUT: Final = Shape("~o", ("outcome", "seat", "staked_cents", "returned_cents", "card", "why"))
PAYOUT_WITH_SCORE: Final = Shape("~q", (*PAYOUT.names, "score"))
SHAPES: Final = (
    BET,
    PAYOUT,
    PAYOUT_WITH_SCORE,
    Shape("~g", ("game", "version", "rules", "opening", "shoe")),
    Shape("~i", ("actions", "request")),
    Shape("~f", ("opening", "actions", "request")),
    Shape("~d", ("actions", "decided", "request")),
    Shape("~e", ("actions", "decided", "end", "request")),
    Shape("~p", ("seat", "request")),
    Shape("~c", ("to", "rank"), do="card"),
    Shape("~h", ("seat", "choice"), do="choose"),
    Shape("~x", (), do="close_bets"),
    Shape("~l", ("min_cents", "max_cents", "cap_cents")),
    Shape("~s", ("seats", "dealt", "limits", "blind", "button", "first", "pot", "rake", "stacks")),
)
"""The shapes of format 2. They are part of the format: none may change, and an additional one requires format 3."""

_BY_MEMBERS: Final = MappingProxyType({(shape.members, shape.do): shape for shape in SHAPES})
_BY_TAG: Final = MappingProxyType({shape.tag: shape for shape in SHAPES})


def _short(value: Any) -> Any:
    if isinstance(value, Mapping):
        do = value.get(_DO)
        shape = _BY_MEMBERS.get((frozenset(value), do if isinstance(do, str) else None))
        if shape is not None:
            return [shape.tag, *(_short(value[name]) for name in shape.names)]
        return {name: _short(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        items = [_short(item) for item in value]
        # An ordinary array that begins like a shape gets a mark, so that it is not read as one.
        return [_MARK, *items] if _begins_as_shape(value) else items
    return value


def _long(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _long(member) for name, member in value.items()}
    if not isinstance(value, list):
        return value
    if not _begins_as_shape(value):
        return [_long(item) for item in value]
    tag, *items = value
    if tag == _MARK:
        return [_long(item) for item in items]
    shape = _BY_TAG.get(tag)
    # An unknown shape belongs to a newer format, which this program must not guess.
    if shape is None or len(items) != len(shape.names):
        raise Misspelled(f"its body has an array {tag!r} of {len(items)} values, which is no shape of format 2")
    members = dict(zip(shape.names, map(_long, items), strict=True))
    return members if shape.do is None else {_DO: shape.do} | members


def _begins_as_shape(items: Sequence[Any]) -> bool:
    return bool(items) and isinstance(items[0], str) and items[0].startswith(_MARK)


# --- Movements of chips -----------------------------------------------------------------------------------------

ROUTES: Final = MappingProxyType(
    {
        "stake": ("players", "layout"),
        "loss": ("layout", "rack"),
        "win": ("rack", "players"),
        "return": ("layout", "players"),
        "pay_pot": ("seat", "pot"),
        "pay_seat": ("seat", "seat"),
        "win_pot": ("pot", "seat"),
        "rake": ("pot", "rack"),
    }
)
"""The transfer kinds that format 2 encodes without places, because each has only one pair. Part of the format."""

_ACCOUNT: Final = re.compile(r"([a-z_]+)#(0|[1-9][0-9]{0,18})")


def _short_move(move: Any) -> Any:
    """``[kind, source, target, cents]`` with the ids of the accounts; any other movement unchanged."""
    match move:
        case [str(kind), str(source), str(target), cents, None] if kind in ROUTES:
            accounts = _ACCOUNT.fullmatch(source), _ACCOUNT.fullmatch(target)
            # Only the usual places are implied: any other pair is stored in full, so that no information is lost.
            if accounts[0] and accounts[1] and (accounts[0][1], accounts[1][1]) == ROUTES[kind]:
                return [kind, int(accounts[0][2]), int(accounts[1][2]), cents]
    return move


def _long_move(move: Any) -> Any:
    match move:
        case [str(kind), int(source), int(target), cents] if kind in ROUTES:
            start, end = ROUTES[kind]
            return [kind, f"{start}#{source}", f"{end}#{target}", cents, None]
    return move
