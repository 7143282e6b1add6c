"""``manage.py log_docs``: writes the vocabulary of the log into its page."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
from django.core.management.base import BaseCommand, CommandError

from tables.log.catalog import EVENTS
from tables.log.event import Event
from tables.log.kind_record import ByStage, KindRecord
from tables.management.commands.game_docs import rewritten

PAGE: Final = Path(__file__).parents[3] / "docs" / "the-log.md"
START: Final = "<!-- from the catalog: ./run manage log_docs -->"
OF_EVERY_ENTRY: Final = frozenset({"request", "refused", "happened_at", "attested"})
"""Fields that any entry may have; the page tells them once."""
BY_STEP: Final = "by step"
COLUMNS: Final = "| entry | file | what it says | content | written by | moves | exception | feed | alerts |"


class Command(BaseCommand):
    """Rewrite the marked part of the page; with --check, only report whether it is out of date."""

    help = "Write every kind of entry into docs/the-log.md."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is out of date")

    def handle(self, *args: Any, check: bool, **options: Any) -> None:
        """Rewrite the page; with --check, fail if it is out of date."""
        if check and page() != PAGE.read_text():
            raise CommandError(f"{PAGE.name} is out of date, run ./run manage log_docs")
        PAGE.write_text(page())


def page() -> str:
    return rewritten(PAGE.read_text(), "\n".join(facts()), START)


def facts() -> Iterator[str]:
    """Every kind of entry, one line each, by log."""
    for title, of_the_house in (("At a table", False), ("In the house's book", True)):
        yield from (f"### {title}", "", COLUMNS, "|---" * COLUMNS.count(" | ") + "|---|")
        yield from (_line(event) for event in EVENTS if event.of_the_house is of_the_house)
        yield ""


def _line(event: type[Event]) -> str:
    kinds = ", ".join(kind.replace("_", " ") for kind in event.kinds)
    sentence = (event.__doc__ or "").partition("\n")[0]
    fields: Any = msgspec.inspect.type_info(event).fields  # type: ignore[attr-defined]
    content = ", ".join(_field(field) for field in fields if field.encode_name not in OF_EVERY_ENTRY)
    file = f"`{event.__module__.rpartition('.')[2]}.py`"
    cells = (f"{event.subject} {kinds}", file, sentence, content, event.record.writer.says, _moves(event))
    return f"| {' | '.join([*cells, *_answers(event.record)])} |"


def _answers(record: KindRecord) -> Iterator[str]:
    """Where entries of a kind are reported, published and alerted; empty for *no*."""
    exception = record.exception
    yield BY_STEP if isinstance(exception, ByStage) else exception.title if exception else ""
    yield ", ".join(f"`{form.type}`" for form in record.forms)
    yield BY_STEP if isinstance(record.alert, ByStage) else ", ".join(f"`{name}`" for name in record.alert)


def _moves(event: type[Event]) -> str:
    return ", ".join(sorted(frozenset().union(*event.moves_of_kinds().values())))


def _field(field: Any) -> str:
    return f"`{field.encode_name}`{'' if field.required else '?'}"
