"""``manage.py replay``: judge round records without touching a database."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

from django.core.management.base import BaseCommand

from tables.games.record import RecordError, judge


class Command(BaseCommand):
    """Prints the answer to a record as JSON; exits 2 with one line when it is no legal round."""

    help = "Judge a round record (FILE, or - for standard input)."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """FILE and --lines."""
        parser.add_argument("file", metavar="FILE", help="a file with one record; - reads standard input")
        parser.add_argument("--lines", action="store_true", help="one record a line, one answer a line")

    def handle(self, *args: Any, file: str, lines: bool, **options: Any) -> None:
        """Judge, and print."""
        try:
            with _open(file) as source:
                if lines:
                    _judge_lines(source)
                else:
                    print(json.dumps(judge(source.read())))
        except OSError as error:
            _refuse(f"{file}: {error.strerror}")
        except RecordError as error:
            _refuse(str(error))


def _open(file: str) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb")


def _judge_lines(source: BinaryIO) -> None:
    for line in source:
        if not line.strip():
            continue
        try:
            answer = judge(line)
        except RecordError as error:
            answer = {"error": str(error)}
        sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _refuse(sentence: str) -> None:
    print(" ".join(sentence.split()), file=sys.stderr)
    sys.exit(2)
