"""``manage.py game_docs``: write the tables of the games' pages from the games themselves."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from django.core.management.base import BaseCommand, CommandError

from tables.games.cards import BY_RANK, PAIRS, STANDARD
from tables.games.catalog import DEALT
from tables.games.game import Game, Wager
from tables.games.pays import PaidWager
from tables.log.game_kinds import kind_of

PAGES: Final = Path(__file__).parents[3] / "docs" / "games"
START: Final = "<!-- from the game: ./run manage game_docs -->"
END: Final = "<!-- end -->"
_PACKS: Final = {
    PAIRS: "the family's own",
    BY_RANK: "standard cards, keyed by rank; by rank and suit where a side bet looks at suits",
    STANDARD: "standard cards, keyed by rank and suit",
}


class Command(BaseCommand):
    """Rewrite the marked part of each page; with --check, only list the pages that are out of date."""

    help = "Write seats, options, choices and layouts of the games into docs/games."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is out of date")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Rewrite the pages; with --check, fail with the names of those that are out of date."""
        old = [path for path, text in pages() if path.read_text() != text]
        if check and old:
            raise CommandError(f"out of date, run ./run manage game_docs: {', '.join(path.name for path in old)}")
        for path, text in pages():
            path.write_text(text)


def pages() -> Iterator[tuple[Path, str]]:
    """The path of each page, and its text as it should be."""
    for game in DEALT.values():
        path = PAGES / f"{game.name}.md"
        yield path, rewritten(path.read_text(), "\n".join(facts(game)))


def rewritten(page: str, part: str, start: str = START) -> str:
    """A page with another text between its two marks."""
    head, _, tail = page.partition(start)
    return f"{head}{start}\n\n{part}\n\n{END}{tail.partition(END)[2]}"


def facts(game: Game[Any, Any]) -> Iterator[str]:
    """The generated lines about a game."""
    low, high = game.seat_counts[0], game.seat_counts[-1]
    rules = game.rules_type()
    yield f"- Players: {low if low == high else f'{low} to {high}'}"
    yield f"- Decks: {game.decks(rules)}; burned after a shuffle: {_burn(game, rules)}"
    if game.spots:
        yield from _of_standard_cards(game, rules)
    yield f"- On the layout: {', '.join(game.parts.values())}"
    yield f"- What may become of a seat: {', '.join(outcome.replace('_', ' ') for outcome in game.outcomes)}"
    no_options = ("unit", "pays")  # the table's chip unit, and a pay table that an operator made
    options = [option for option in _options(game) if option.encode_name not in no_options]
    yield from ("", "| option | default | may be | meaning |", "|---|---|---|---|") if options else ("- Options: none",)
    for option in options:
        kind, meaning = _kind_and_meaning(option.type)
        default = _OF_TABLES.get(option.encode_name) or _spelling(option.default)
        yield f"| `{option.encode_name}` | {default} | {_range(kind)} | {meaning} |"
    if game.spots:
        yield from ("", "| wager | in records | spread by default | goes with | not beside |", "|---|---|---|---|---|")
        yield from (_row_of(wager, kind_of(game).wagers(rules)) for wager in every_wager(game))
    if game.pay_form.wagers:
        yield from ("", "| by a pay table | line | ships as | may pay |", "|---|---|---|---|")
        yield from (_row_of_line(wager, place) for wager in game.pay_form.wagers for place in range(len(wager.lines)))
    if not game.words:
        yield from ("", "Nobody decides anything.")
        return
    yield from ("", "| choice | the dealer | the rule |", "|---|---|---|")
    yield from (f"| {words.label} | {words.does} | {words.rule} |" for words in game.words.values())


_OF_TABLES: Final = {"rounding": "exact at tables, down in records"}
"""Options whose default at a new table differs from that of records."""


def _burn(game: Game[Any, Any], rules: Any) -> str:
    if kind_of(game).turns_burn(rules):
        return "the first card is turned, and as many as it counts"
    return str(game.burned(rules))


def _of_standard_cards(game: Game[Any, Any], rules: Any) -> Iterator[str]:
    yield f"- Cards: {_PACKS[kind_of(game).pack(rules)]}"
    if game.is_fresh_each_round(rules):
        yield "- Shuffled before every round"
        return
    after = f", and {game.rounds_after_cut} more round after the one in which it comes out"
    at_cut = kind_of(game).at_cut(rules)
    yield f"- The cut card lies {at_cut} cards from the end{after if game.rounds_after_cut else ''}"
    yield "- A single deck is shuffled before every round"


def every_wager(game: Game[Any, Any]) -> tuple[Wager, ...]:
    """The wagers of a game with all its side bets, spread at a table or not."""
    spread = next(option for option in _options(game) if option.encode_name == "spread")
    sides = _kind_and_meaning(spread.type)[0].item_type.values
    rules = msgspec.structs.replace(game.rules_type(), spread=_in_order(game.rules_type().spread, sides))
    return kind_of(game).wagers(rules)


def _in_order(first: tuple[str, ...], names: Iterable[str]) -> tuple[str, ...]:
    """All the names, those that are spread by default first."""
    return (*first, *(name for name in names if name not in first))


def _row_of(wager: Wager, spread: tuple[Wager, ...]) -> str:
    by_default = "yes" if wager in spread else "no"
    return f"| {wager.title} | `{wager.name}` | {by_default} | {_coded(wager.needs)} | {_coded(wager.opposite)} |"


def _row_of_line(wager: PaidWager, place: int) -> str:
    line = wager.lines[place]
    ships = " or ".join(dict.fromkeys(odds[place].spelled for odds in wager.shipped.values()))
    return f"| `{wager.name}` | `{line.name}`: {line.label} | {ships} | {line.bounds} |"


def _coded(name: str) -> str:
    return f"`{name}`" if name else ""


def _options(game: Game[Any, Any]) -> tuple[Any, ...]:
    fields: tuple[Any, ...] = msgspec.inspect.type_info(game.rules_type).fields  # type: ignore[attr-defined]
    return fields


def _kind_and_meaning(kind: Any) -> tuple[Any, str]:
    """The type of an option, and its description."""
    if isinstance(kind, msgspec.inspect.Metadata):
        return kind.type, (kind.extra_json_schema or {}).get("description", "")
    return kind, ""


def _spelling(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(f"`{name}`" for name in value) or "none"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _range(kind: Any) -> str:
    if isinstance(kind, msgspec.inspect.LiteralType):
        return ", ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, msgspec.inspect.VarTupleType):
        return f"any of {_range(kind.item_type)}"
    if isinstance(kind, msgspec.inspect.IntType | msgspec.inspect.FloatType):
        return f"{kind.ge} to {kind.le}"
    return "yes or no"
