"""``manage.py penetration``: what the depth of the cut card costs, and what a counter wins at it."""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

_LIST: Final = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


class Command(BaseCommand):
    """Prints what was measured; refuses what was not in one sentence."""

    help = "Print rounds, time lost to shuffling and what counters win, by decks, cut card and seats of Rocket."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        from tables.maths.penetration import Pace

        parser.add_argument("--decks", default="1-8", metavar="LIST", help="such as 6, 1,2 or 1-8 (default: 1-8)")
        parser.add_argument("--seats", default="6", metavar="LIST", help="seats that bet, 1 to 6 (default: 6)")
        parser.add_argument(
            "--cut", default="0.2", metavar="LIST", help="part of the shoe behind the cut card (default: 0.2), or all"
        )
        parser.add_argument("--spread", type=int, default=10, metavar="N", help="bets are 1 to N (default: 10)")
        for event, seconds in (("round", Pace.round_seconds), ("shuffle", Pace.shuffle_seconds)):
            parser.add_argument(
                f"--{event}-seconds",
                type=float,
                default=seconds,
                metavar="S",
                help=f"how long a {event} takes (default: {seconds:g})",
            )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, with all errors")
        parser.add_argument("--write", action="store_true", help="measure all of it anew (a quarter of an hour)")
        parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="with --write; default: all")

    def handle(self, *args: Any, write: bool, cores: int, as_json: bool, **options: Any) -> None:
        """Print the list; or, with --write, measure all of it and write the file of results."""
        from tables.maths.situation import Unknowable

        if write:
            return _write(cores)
        try:
            self.stdout.write(_answer(as_json, **options))
        except Unknowable as refusal:
            raise CommandError(f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.") from None
        return None


def _answer(
    as_json: bool,
    *,
    decks: str,
    seats: str,
    cut: str,
    spread: int,
    round_seconds: float,
    shuffle_seconds: float,
    **options: Any,
) -> str:
    from tables.maths import penetration

    results, pace = penetration.results(), penetration.Pace(round_seconds, shuffle_seconds)
    cells = [
        results.cell(shoe, places, depth)
        for shoe in _whole_numbers(decks)
        for places in _whole_numbers(seats)
        for depth in (penetration.CUTS if cut == "all" else _parts(cut))
    ]
    if not as_json:
        return "\n".join(penetration.lines(cells, results.count, spread, pace))
    return json.dumps(
        {
            "burn": results.burn,
            "seed": results.seed,
            "rounds_measured": results.rounds,
            "solved_exactly": results.solved,
            "round_seconds": pace.round_seconds,
            "shuffle_seconds": pace.shuffle_seconds,
            "count_tags": results.count.tags,
            "count_thresholds_by_decks": results.count.thresholds,
            "cells": [cell.facts(spread, pace) for cell in cells],
        },
        indent=2,
    )


def _whole_numbers(text: str) -> Iterable[int]:
    """``1,3-5`` is 1, 3, 4 and 5."""
    if not _LIST.fullmatch(text):
        raise CommandError(f"{text!r} is no list of whole numbers such as 6, 1,2 or 1-8.")
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def _parts(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise CommandError(f"{text!r} is no list of parts of a shoe such as 0.2 or 0.1,0.25.") from None


def _write(cores: int) -> None:
    from tables.maths import counting, penetration
    from tables.maths.situation import DECKS

    tags = counting.typical_tags()
    parts = []
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        for part in pool.map(partial(counting.measured_decks, tags=tags[-1].tags), DECKS):
            parts.append(part)
            if sys.stderr.isatty():
                print(f"\r{len(parts)} of {len(DECKS)} shoes", end="", file=sys.stderr, flush=True)
    penetration.RESULTS.write_text(counting.gathered(tags, parts).text())
    penetration.results.cache_clear()
