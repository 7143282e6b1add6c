"""``manage.py game_docs``: writes into the pages of the games what the games say of themselves."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from django.core.management.base import BaseCommand, CommandError

from tables.games.catalog import GAMES
from tables.games.game import Game

PAGES: Final = Path(__file__).parents[3] / "docs" / "games"
START: Final = "<!-- from the game: ./run manage game_docs -->"
END: Final = "<!-- end -->"


class Command(BaseCommand):
    """Rewrites the marked part of each page; with --check, only says which pages are out of date."""

    help = "Write seats, options, choices and layouts of the games into docs/games."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """--check."""
        parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is out of date")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Write, or look."""
        old = [path for path, text in pages() if path.read_text() != text]
        if check and old:
            raise CommandError(f"out of date, run ./run manage game_docs: {', '.join(path.name for path in old)}")
        for path, text in pages():
            path.write_text(text)


def pages() -> Iterator[tuple[Path, str]]:
    """Every page as it should be."""
    for game in GAMES.values():
        path = PAGES / f"{game.name}.md"
        yield path, rewritten(path.read_text(), "\n".join(facts(game)))


def rewritten(page: str, marked: str, start: str = START) -> str:
    """A page with another marked part."""
    before, _, rest = page.partition(start)
    return f"{before}{start}\n\n{marked}\n\n{END}{rest.partition(END)[2]}"


def facts(game: Game[Any, Any]) -> Iterator[str]:
    """What a game says of itself."""
    low, high = game.seat_counts[0], game.seat_counts[-1]
    rules = game.rules_type()
    yield f"- Players: {low if low == high else f'{low} to {high}'}"
    yield f"- Decks: {game.decks(rules)}; burned after a shuffle: {game.burned(rules)}"
    yield f"- On the layout: {', '.join(game.parts.values())}"
    yield f"- What may become of a seat: {', '.join(outcome.replace('_', ' ') for outcome in game.outcomes)}"
    options = [one for one in _options(game) if one.encode_name != "unit"]  # the table's chip unit is no option
    yield from ("", "| option | default | may be | meaning |", "|---|---|---|---|") if options else ("- Options: none",)
    for one in options:
        kind, meaning = _unwrapped(one.type)
        yield f"| `{one.encode_name}` | {_spelled(one.default)} | {_range(kind)} | {meaning} |"
    yield from ("", "| choice | the dealer | the rule |", "|---|---|---|")
    yield from (f"| {words.label} | {words.does} | {words.rule} |" for words in game.words.values())


def _options(game: Game[Any, Any]) -> tuple[Any, ...]:
    fields: tuple[Any, ...] = msgspec.inspect.type_info(game.rules_type).fields  # type: ignore[attr-defined]
    return fields


def _unwrapped(kind: Any) -> tuple[Any, str]:
    """What an option may be, and what it means."""
    if isinstance(kind, msgspec.inspect.Metadata):
        return kind.type, (kind.extra_json_schema or {}).get("description", "")
    return kind, ""


def _spelled(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _range(kind: Any) -> str:
    if isinstance(kind, msgspec.inspect.LiteralType):
        return ", ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, msgspec.inspect.IntType | msgspec.inspect.FloatType):
        return f"{kind.ge} to {kind.le}"
    return "yes or no"
