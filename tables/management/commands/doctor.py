"""``manage.py doctor``: check this host and installation, one line for each component, with the remedy."""

from __future__ import annotations

import json
import logging
import os
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any, Final

from django.core.management.base import BaseCommand

from tables.audit import doctor
from tables.audit.condition import ConditionPart, Urgency

SPELLED: Final = {Urgency.WELL: "well ", Urgency.WATCH: "watch", Urgency.WRONG: "WRONG"}
CONNECT_SECONDS: Final = "5"


class Command(BaseCommand):
    """Exits 1 where something is wrong; what should be looked at some time is none of that."""

    help = "Check this host and installation: one line for each component, with the remedy. Exits 1 on any failure."
    requires_system_checks: list[str] = []  # it has to run where they fail

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one line of JSON for each part")

    def handle(self, *args: Any, json: bool, **options: Any) -> None:
        os.environ.setdefault("PGCONNECT_TIMEOUT", CONNECT_SECONDS)
        logging.disable(logging.CRITICAL)  # a traceback may quote what a line must not
        wrong = 0
        try:
            for part in doctor.parts():
                self.stdout.write(_json(part) if json else _line(part))
                wrong += part.state == Urgency.WRONG
        finally:
            logging.disable(logging.NOTSET)
        if wrong:
            sys.exit(1)


def _line(part: ConditionPart) -> str:
    return f"{SPELLED[part.state]}  {part.name}: {part.says}" + (f" → {part.do}" if part.do else "")


def _json(part: ConditionPart) -> str:
    return json.dumps(asdict(part))
