"""``manage.py replay``: judge round records without touching a database."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand

from tables.games.record import judge
from tables.games.record_document import RecordError


class Command(BaseCommand):
    """Prints the answer to a record as JSON; exits 2 with one line when it is no legal round."""

    help = "Judge a round record (FILE, or - for standard input)."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a file with one record; - reads standard input")
        parser.add_argument("--lines", action="store_true", help="one record a line, one answer a line")

    def handle(self, *args: Any, file: str, lines: bool, **options: Any) -> None:
        """Judge the record, or each line's; an interrupt from the keyboard exits as a shell expects it (130)."""
        try:
            with open(0 if file == "-" else file, "rb", closefd=file != "-") as source:
                if lines:
                    _judge_lines(source)
                else:
                    _print(judge(source.read()))
        except OSError as error:
            _refuse(f"{file}: {error.strerror}")
        except RecordError as error:
            _refuse(str(error))
        except KeyboardInterrupt:
            sys.exit(130)


def _judge_lines(source: BinaryIO) -> None:
    for line in source:
        if not line.strip():
            continue
        try:
            answer = judge(line)
        except RecordError as error:
            answer = {"error": str(error)}
        _print(answer)


def _print(answer: dict[str, Any]) -> None:
    """Print an answer at once, so that a caller who sends records one by one gets each before the next."""
    try:
        print(json.dumps(answer), flush=True)
    except OSError as error:
        # What is still in the buffer would fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(1)  # a reader such as `head` has seen enough
        _refuse(f"standard output: {error.strerror}")


def _refuse(sentence: str) -> None:
    print(" ".join(sentence.split()), file=sys.stderr)
    sys.exit(2)
