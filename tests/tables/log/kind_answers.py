"""What the code answers for every kind of log entry, and the file in which it is recorded.

A kind is named as it is stored: its log (of a table or of the house), subject and kind. The examples are entries of a
saved site (`tests/carried/houses`), and made ones for what that site has not. For each kind `kind_answers.json` has the
declared answers, examples with the answers that depend on their content, and a digest of the answers for all entries of
the saved site. Names of classes, functions and modules are no part of it.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, get_origin

import msgspec
from django.db import connection, transaction

from ledger.proof import spelling
from ledger.proof.chain import Entry
from ledger.proof.spelling import canonical
from tables.alerts import facts
from tables.alerts.models import ShiftWin
from tables.audit import log_rules
from tables.floor import handlers
from tables.floor.command_context import CommandContext
from tables.games.cards import PAIRS, Pack, pack_of
from tables.games.catalog import GAMES
from tables.games.protocol import Bet
from tables.log import catalog, exceptions
from tables.log.entries.rounds import Played
from tables.log.event import Author, Event
from tables.log.message import text_of
from tables.log.publication import Past, event_of, needs_past
from tables.log.published.form import NotPublished
from tables.log.state import Dealer, Lock, TableState
from tables.models import Staff, Table
from tables.refusals import Refused
from tables.reports import entry_list
from tables.roles import Role
from tests.carried import kept

assert log_rules  # importing it registers what is enacted

SITE: Final = "0.9.0"
"""The saved site of the examples: a later one has other entries."""
FILE: Final = Path(__file__).with_suffix(".json")
LOADED: Final = frozenset({"ledger_book", "ledger_account", "ledger_logentry", "ledger_transfer"})
"""The database tables that alert facts are read from."""
OF_EVERY_ENTRY: Final = frozenset({"request", "attested"})
"""Fields that say nothing of a kind."""

PLAIN: Final[Mapping[Any, Any]] = {str: "x", int: 1, bool: True, tuple: [], list: [], dict: {}}
"""A value of each type of field, for kinds without another example."""

Name = tuple[bool, str, str]
"""Whether it is written in the log of the house, subject, kind."""
Answers = dict[str, Any]


@dataclass(frozen=True)
class Example:
    """An entry, with the earlier entries of its round and itself."""

    label: str
    entry: Entry
    event: Event
    past: Past = ()

    @property
    def name(self) -> Name:
        return self.entry.book == catalog.HOUSE, self.entry.subject, self.entry.kind

    @property
    def pack(self) -> Pack:
        """The cards with which its round was dealt."""
        first = catalog.event_of(self.past[0]) if self.past else None
        opening = first.opening if isinstance(first, Played) else None
        return pack_of(opening.opening.dealt) if opening else PAIRS


# --- Entries of the saved site -----------------------------------------------------------------------------------


@cache
def site() -> kept.Kept:
    """The saved site."""
    return kept.read(kept.HOUSES / f"{SITE}.jsonl.gz")


@cache
def entries() -> tuple[Example, ...]:
    """All its entries."""
    books = {row["id"]: str(row["name"]) for row in site().rows("ledger_book")}
    rounds: dict[tuple[int, int | None], list[Entry]] = defaultdict(list)
    examples = []
    for row in site().rows("ledger_logentry"):
        entry = _entry(row, books[row["book_id"]])
        is_of_round = entry.subject == Played.subject
        if is_of_round:
            rounds[entry.book_id, entry.round].append(entry)
        past = tuple(rounds[entry.book_id, entry.round]) if is_of_round else ()
        examples.append(Example(f"{SITE}: {entry.book} {entry.seq}", entry, catalog.event_of(entry), past))
    return tuple(examples)


def _entry(row: Mapping[str, kept.Value], book: str) -> Entry:
    return Entry(
        book_id=int(str(row["book_id"])),
        book=book,
        seq=int(str(row["seq"])),
        at=datetime.fromisoformat(str(row["at"])),
        subject=str(row["subject"]),
        kind=str(row["kind"]),
        round=int(str(row["round"])) if row["round"] else None,
        by=str(row["by"]),
        key=None,
        legs=int(str(row["legs"])),
        body=kept.as_bytes(row["body"]),
        hash=b"",
    )


def _shape(example: Example) -> tuple[Any, ...]:
    """What tells two branches of an answer apart: which fields it has, which of them are empty, what is published."""
    content = example.event.content()
    fields = tuple((name, bool(value)) for name, value in sorted(content.items()) if name not in OF_EVERY_ENTRY)
    story = event_of(example.entry, example.event, example.past)
    return *example.name, fields, story.type if story else "", _of_the_round(example)


def _of_the_round(example: Example) -> tuple[bool, ...]:
    """What tells inputs of a round apart: whether the house banks the game, bets are made, and seats win or lose."""
    event, nets = example.event, _nets(example)
    if not isinstance(event, Played):
        return ()
    has_bets = any(isinstance(action, Bet) for action in event.actions)
    moves = example.entry.legs > 0
    return _is_banked(example), moves, has_bets, any(net > 0 for net in nets), any(net < 0 for net in nets)


def _nets(example: Example) -> list[int]:
    """The results that an input of a round decides, a seat each, in cents."""
    return [payout.net_cents for payout in example.event.decided] if isinstance(example.event, Played) else []


def _is_banked(example: Example) -> bool:
    """Whether the house banks the game of a round."""
    first = catalog.event_of(example.past[0])
    return isinstance(first, Played) and first.opening is not None and GAMES[first.opening.game].dealer_plays


@cache
def examples() -> Mapping[Name, Sequence[Example]]:
    """For each kind the shortest entry of each shape, and the made ones; for a kind that has neither, one with plain
    values in its required fields."""
    shortest: dict[tuple[Any, ...], Example] = {}
    for example in entries():
        shape = _shape(example)
        if shape not in shortest or len(example.entry.body) < len(shortest[shape].entry.body):
            shortest[shape] = example
    by_kind: dict[Name, list[Example]] = defaultdict(list)
    for example in (*shortest.values(), *_made()):
        by_kind[example.name].append(example)
    for name in kinds().keys() - by_kind.keys():
        by_kind[name] = [*_with_plain_values(name)]
    return by_kind


# --- Made entries ------------------------------------------------------------------------------------------------


def _made() -> Iterator[Example]:
    """Entries that the saved site has not: kinds that are newer than it, and branches that depend on a value."""
    yield _changed("rows taken over", (True, "rows", "noted"), kind="taken_over", content={"rows": "staff", "kept": {}})
    yield _changed("a password is reset", (True, "staff", "secret_reset"), secret="password")
    before, after = {"role": "dealer"}, {"role": "pit_boss"}
    yield _changed("a role is changed", (True, "staff", "changed"), before=before, after=after)
    yield _changed("a variance at a table", (True, "discrepancy", "opened"), book="Rocket 1")
    yield from _line_ups()
    yield _void_after_a_result()
    for name in sorted(_voids()):
        for stage in ("void_asked", "voided"):
            yield _void(name, stage)


def _line_ups() -> Iterator[Example]:
    """A line-up that was set, pushed, taken back and ended, by the author of a temporary pit assignment."""
    name: Name = (True, "post", "cover_set")
    author = {field: _like(name).entry.content[field] for field in ("username", "name", "badge", "role")}
    places = {"tables": ["Rocket 1"], "dealers": ["dora", ""], "names": ["Dora", ""], "turn_minutes": 20}
    moments = {"push_at": "2026-03-02T18:20:00Z", "ends": "2026-03-03T02:00:00Z"}
    for label, content in (
        ("a line-up is set", places | moments),
        ("a line-up is pushed", places | moments | {"pushed": True}),
        ("a push is taken back", places | moments | {"takes_back": 4}),
        ("a line-up ends", {"tables": []}),
    ):
        like = replace(_like(name).entry, subject="rotation")
        yield _respelled(label, like, "line_up_set", author | {"string": "A"} | content)


def _with_plain_values(name: Name) -> Iterator[Example]:
    """An entry of a kind whose required fields are texts, numbers and lists; none of another kind."""
    required = [field for field in msgspec.structs.fields(kinds()[name]) if field.required]
    if all((get_origin(field.type) or field.type) in PLAIN for field in required):
        content = {field.name: PLAIN[get_origin(field.type) or field.type] for field in required}
        like = next(each.entry for each in entries() if each.name[0] == name[0] and not each.entry.round)
        yield _respelled(f"a plain {title(name)}", replace(like, subject=name[1]), name[2], content)


def _void_after_a_result() -> Example:
    """A round is void after seats have won in it: their results no longer count."""
    won = next(each for each in entries() if isinstance(each.event, Played) and any(_nets(each)) and _is_banked(each))
    void = _like((False, "round", "voided"))
    at = won.entry
    entry = replace(void.entry, book=at.book, book_id=at.book_id, round=at.round, seq=at.seq + 1)
    return replace(void, label="made: a void after a result", entry=entry, past=())


def _like(name: Name) -> Example:
    return next(example for example in entries() if example.name == name)


def _changed(label: str, name: Name, *, kind: str = "", content: Answers | None = None, **changes: Any) -> Example:
    """The first entry of a kind, with other values, or as another kind with another content."""
    like = _like(name)
    whole = like.entry.content | changes if content is None else content
    return _respelled(label, like.entry, kind or like.entry.kind, whole)


def _respelled(label: str, like: Entry, kind: str, content: Answers) -> Example:
    body = spelling.spell(like.subject, content, ())
    entry = replace(like, kind=kind, body=body, legs=0)
    event = catalog.event_of(entry)
    assert event.kind == kind
    return Example(f"made: {label}", entry, event)


def _voids() -> set[str]:
    """The slip types whose voids the saved site has not."""
    recorded = {example.name for example in entries()}
    voids = {name for name in catalog.IN_THE_HOUSE if name[0] == "slip" and name[1].endswith("_voided")}
    return {kind.removesuffix("_voided") for subject, kind in voids if (True, subject, kind) not in recorded}


def _void(series: str, stage: str) -> Example:
    """The last signature of a slip, followed by the request for a void, and by its confirmation."""
    like = [each for each in entries() if each.name[1] == "slip" and each.entry.content["now"]["series"] == series][-1]
    content = like.entry.content
    signed: list[list[Any]] = [
        ["void_asked", "carla", "Carla", "cage_manager", 9_001],
        ["voided", "cosima", "Cosima", "cashier", 9_002],
    ]
    count = 1 if stage == "void_asked" else 2
    now = content["now"] | {"signed": [*content["now"]["signed"], *signed[:count]], "reason": "keyed wrongly"}
    author = dict(zip(("username", "name", "role"), signed[count - 1][1:4], strict=True))
    whole = content | author | {"now": now, "stage": stage, "reason": "keyed wrongly"}
    return _respelled(f"{series} {stage}", like.entry, f"{series}_{stage}", whole)


# --- Answers that a kind declares --------------------------------------------------------------------------------


def kinds() -> dict[Name, type[Event]]:
    """Every kind of entry, and the struct that reads it."""
    at_tables = {(False, *name): event for name, event in catalog.AT_TABLES.items()}
    return at_tables | {(True, *name): event for name, event in catalog.IN_THE_HOUSE.items()}


def declared(name: Name, event: type[Event]) -> Answers:
    """What the code says of all entries of a kind."""
    heading = exceptions.KINDS.get(name)
    return {
        "fields": {field.encode_name: field.required for field in _fields(event)},
        "moves": sorted(event.moves_of_kinds()[name[2]]),
        "names its author": issubclass(event, Author),
        "is checked": event in handlers.CHECKS,
        "is enacted by": _enacted_by(event),
        "exception": [heading.name, heading.title, heading.is_of_the_floor] if heading else None,
        "published": [
            {"type": form.type, "version": form.version, "needs past": form.needs_past, "fields": _names(form)}
            for form in event.record.forms
        ],
        "not published because": feed.reason if isinstance(feed := event.record.feed, NotPublished) else None,
    }


def _fields(event: type[Event]) -> Sequence[Any]:
    """The fields of a kind, without those that every entry has."""
    fields: Sequence[Any] = msgspec.inspect.type_info(event).fields  # type: ignore[attr-defined]
    return [field for field in fields if field.name not in Event.__struct_fields__]


def _names(form: type[msgspec.Struct]) -> list[str]:
    return list(form.__struct_fields__)


def _enacted_by(event: type[Event]) -> Answers | str | None:
    """For each state of a table the roles that may write the entry; whether its function decides that itself; None
    where no function enacts it."""
    enactment = handlers.ENACTMENTS.get(event)
    if enactment is None:
        return None
    if enactment.permit is None:
        return "its function decides"
    return {state: _permitted(enactment.permit, standing) for state, standing in STATES.items()}


_AT_WORK: Final = Dealer("somebody", "Somebody", 1, "101 Somebody")
_OTHER: Final = Dealer("dora", "Dora", 1, "102 Dora")
STATES: Final = {
    "deals there": TableState(is_open=True, dealer=_AT_WORK),
    "another deals": TableState(is_open=True, dealer=_OTHER),
    "no dealer": TableState(is_open=True),
    "rack locked": TableState(is_open=True, dealer=_AT_WORK, lock=Lock(1, False)),
    "closed": TableState(dealer=_AT_WORK),
}


def _permitted(permit: handlers.Permit, standing: TableState) -> list[str]:
    roles = []
    for role in Role:
        by = Staff(username="somebody", name="Somebody", role=role, badge="101")
        unset: Any = None
        scene = CommandContext(Table(name="Rocket 1"), GAMES["rocket"], unset, unset, standing, by)
        try:
            permit(scene, by)
        except Refused:
            continue
        roles.append(str(role))
    return roles


# --- Answers that depend on the content --------------------------------------------------------------------------


def pure(example: Example) -> Answers:
    """What follows from an entry and its round alone."""
    entry, event = example.entry, example.event
    story = event_of(entry, event, example.past)
    heading = exceptions.KINDS.get(example.name)
    return {
        "text": text_of(catalog.described(event), example.pack),
        "may move": sorted(event.may_make()),
        "signed": _plain(event.signed_terms()),
        "formerly signed": _plain(event.formerly_signed_terms()),
        "commits": event.commits,
        "opens": _plain(event.opens),
        "exception": {heading.name: entry_list.words_of(entry, example.pack)} if heading else None,
        "published": {story.type: _plain(story)} if story else None,
        "is about": story.about if story else None,
        "needs past": needs_past(event),
    }


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


def digest(name: Name) -> Answers:
    """How many entries of a kind the saved site has, and the SHA-256 of the answers for all of them."""
    answers = [pure(example) for example in _by_kind()[name]]
    return {"count": len(answers), "sha256": sha256(canonical(answers)).hexdigest()}


@cache
def _by_kind() -> Mapping[Name, Sequence[Example]]:
    by_kind: dict[Name, list[Example]] = {name: [] for name in kinds()}
    for example in entries():
        by_kind[example.name].append(example)
    return by_kind


def alert_facts(example: Example) -> Answers:
    """The facts that alert rules get from an entry, and what it adds to the seats' results of the shift."""
    table = None if example.name[0] else Table.objects.get(book_id=example.entry.book_id)
    with transaction.atomic():
        heard = [asdict(fact) for fact in facts.of_entry(example.entry, example.event, table)]
        results = dict(ShiftWin.objects.exclude(cents=0).order_by("seat").values_list("seat", "cents"))
        transaction.set_rollback(True)
    return {"facts": heard, "shift results by seat": results}


def load_site() -> None:
    """Copy the logs and transfers of the saved site into the database, and add its tables."""
    tables = {name: rows for name, rows in site().tables.items() if name in LOADED}
    connection.ensure_connection()
    kept.copy_rows(connection.connection, kept.Kept(site().header, tables))
    for row in site().rows("tables_table"):
        numbers = {name: int(str(row[name])) for name in ("id", "book_id", "seats", "unit_cents", "min_cents")}
        texts = {name: str(row[name]) for name in ("name", "game", "source")}
        Table.objects.create(max_cents=int(str(row["max_cents"])), **numbers, **texts)


# --- The file ----------------------------------------------------------------------------------------------------


def title(name: Name) -> str:
    """A kind as the file names it."""
    house, subject, kind = name
    return f"{'house' if house else 'table'}: {subject} {kind}"


def answers() -> dict[str, Answers]:
    """What the code answers now. The database has the logs of the saved site (`load_site`)."""
    return {
        title(name): {
            "declared": _plain(declared(name, event)),
            "entries": digest(name),
            "examples": {each.label: _shortened(pure(each) | alert_facts(each)) for each in examples()[name]},
        }
        for name, event in sorted(kinds().items())
    }


def _shortened(answer: Answers) -> Answers:
    """An answer without what is empty."""
    return {name: value for name, value in answer.items() if value not in (None, [], {}, False)}


def spelled(every: Mapping[str, Answers]) -> str:
    """The text of the file: each answer in a line of its own."""
    return _indented(every, "", deep=4) + "\n"


def _indented(value: Any, margin: str, deep: int) -> str:
    if not deep or not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    inner = f"{margin} "
    lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_indented(value[key], inner, deep - 1)}" for key in value]
    return "{\n" + ",\n".join(lines) + f"\n{margin}}}"
