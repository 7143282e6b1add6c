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

from tables.refusals import sentence

_LIST: Final = re.compile(r"\d+(-\d+)?(,\d+(-\d+)?)*")


class Command(BaseCommand):
    """Prints what was measured; refuses what was not in one sentence."""

    help = "Print rounds, time lost to shuffling and the win of card counters, by decks, cut card and seats."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        from tables.maths.advantage.penetration import Pace

        parser.add_argument("game", nargs="?", default="rocket", help="rocket (the default), blackjack, baccarat")
        parser.add_argument("--wager", help="where several were measured; default: the first")
        parser.add_argument("--decks", metavar="LIST", help="such as 6, 1,2 or 1-8 (default: all that were measured)")
        parser.add_argument("--seats", metavar="LIST", help="seats that bet (default: the most)")
        parser.add_argument(
            "--cut", metavar="LIST", help="part of the shoe behind the cut card (default: the game's), or all"
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
        parser.add_argument("--write", action="store_true", help="measure the game anew (a quarter of an hour)")
        parser.add_argument("--cores", type=int, default=os.cpu_count() or 1, help="with --write; default: all")

    def handle(self, *args: Any, write: bool, cores: int, as_json: bool, **options: Any) -> None:
        """Print the list; or, with --write, measure all of it and write the file of results."""
        from tables.maths.situation import Unknowable

        try:
            if write:
                return _write(options["game"], options["wager"], cores)
            self.stdout.write(_answer(as_json, **options))
        except Unknowable as refusal:
            raise CommandError(sentence(str(refusal))) from None
        return None


def _answer(
    as_json: bool,
    *,
    game: str,
    wager: str | None,
    decks: str | None,
    seats: str | None,
    cut: str | None,
    spread: int,
    round_seconds: float,
    shuffle_seconds: float,
    **options: Any,
) -> str:
    from tables.maths.advantage import penetration

    results, pace = penetration.results(game, wager), penetration.Pace(round_seconds, shuffle_seconds)
    measured = results.subject
    cuts = measured.cuts if cut == "all" else _parts(cut) if cut else (measured.usual,)
    cells = [
        results.cell(shoe, places, depth)
        for shoe in (_whole_numbers(decks) if decks else measured.decks)
        for places in (_whole_numbers(seats) if seats else measured.seats[-1:])
        for depth in cuts
    ]
    if not as_json:
        return "\n".join(penetration.lines(cells, results, spread, pace))
    return json.dumps(
        {
            "game": measured.game,
            "wager": measured.wager,
            "options": dict(measured.options),
            "burn": results.burn,
            "seed": results.seed,
            "rounds_measured": results.rounds,
            "solved_exactly": results.solved,
            "round_seconds": pace.round_seconds,
            "shuffle_seconds": pace.shuffle_seconds,
            "count_tags": results.count.tags,
            "count_thresholds_by_decks": results.count.thresholds,
            "cells": [cell.facts(spread, pace, measured.deck_size) for cell in cells],
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


def _write(game: str, wager: str | None, cores: int) -> None:
    """Of a wager, or of all that were measured of a game."""
    from tables.maths.advantage import penetration, studies

    chosen = penetration.subject(game, wager)
    subjects = [chosen] if wager else [subject for subject in penetration.SUBJECTS if subject.game == game]
    for subject in subjects:
        tags, parts = studies.tags_of(subject), []
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
            for part in pool.map(partial(studies.measured, subject, tags[-1].tags), subject.decks):
                parts.append(part)
                if sys.stderr.isatty():
                    print(f"\r{len(parts)} of {len(subject.decks)} shoes", end="", file=sys.stderr, flush=True)
        subject.file.write_text(studies.gathered(subject, tags, parts).text())
    penetration.results.cache_clear()
