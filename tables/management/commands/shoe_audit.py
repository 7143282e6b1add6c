"""``manage.py shoe_audit``: how often the test for bets that follow the edge flags who counts, and who does not."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from django.core.management.base import BaseCommand, CommandError

if TYPE_CHECKING:
    from tables.edge.bettors import Rate

PAGE: Final = Path(__file__).parents[3] / "docs" / "shoe-audit.md"
STUDIES: Final = ((6, 2, 600), (6, 6, 200), (2, 2, 600))
"""Decks, seats and shoes of the page's tables."""
SIDE_STUDIES: Final = (
    (
        "baccarat",
        ("commission=ez", "spread=tie,dragon_7,panda_8,player_pair,dragon_bonus_player,dragon_bonus_banker"),
        200,
    ),
    ("dragon_tiger", (), 200),
)
"""Games without decisions, with their options and shoes, for the page's tables about single wagers."""
PERMUTATIONS: Final = 499
"""Of the check; the audit itself makes more, which only makes its numbers finer."""
_PART: Final = re.compile(r"(<!-- computed: \./run manage shoe_audit --docs -->\n).*?(\n<!-- end -->)", re.DOTALL)


class Command(BaseCommand):
    """Deals shoes to players of known habits, and tests them."""

    help = "Measure how often the test for bets that follow the edge flags who counts, and who does not."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="deal shoes by chance, and print the rates")
        parser.add_argument("--decks", type=int, default=6, metavar="N", help="decks in the shoe (default: 6)")
        parser.add_argument("--seats", type=int, default=2, metavar="N", help="seats that play (default: 2)")
        parser.add_argument("--shoes", type=int, default=300, metavar="N", help="shoes to deal (default: 300)")
        parser.add_argument(
            "--game", help="study the wagers of a game without decisions, with its usual options (see --set)"
        )
        parser.add_argument("--set", nargs="*", default=[], metavar="OPTION=VALUE", help="options of that game")
        parser.add_argument("--docs", action="store_true", help="write the tables of docs/shoe-audit.md instead")

    def handle(self, *args: Any, check: bool, decks: int, seats: int, shoes: int, docs: bool, **options: Any) -> None:
        """Print the rates of one study; or, with --docs, write those of all studies into the page."""
        if docs:
            text = PAGE.read_text()
            lines = [line for study in STUDIES for line in _study(*study)]
            lines += [line for study in SIDE_STUDIES for line in _side_study(*study)]
            tables = "\n".join(lines)
            PAGE.write_text(_PART.sub(lambda marks: f"{marks[1]}\n{tables}{marks[2]}", text))
        elif not check:
            raise CommandError("Say --check: shoes are audited by the watch, not by hand.")
        elif not (1 <= decks <= 8 and 1 <= seats <= 6 and shoes > 0):
            raise CommandError("A shoe has 1 to 8 decks, a table 1 to 6 seats, and at least one shoe is dealt.")
        else:
            game, settings = options["game"], options["set"]
            for line in _side_study(game, settings, shoes) if game else _study(decks, seats, shoes):
                self.stdout.write(line)


def _study(decks: int, seats: int, shoes: int) -> Iterator[str]:
    from tables.edge import bettors

    sample = [bettors.deal(decks, seats, seed) for seed in range(shoes)]
    edges = [edge for shoe in sample for edge in shoe.course.edges]
    players_share = sum(edge < 0 for edge in edges) / len(edges)
    yield f"### {decks} decks, {seats} seats: {shoes} shoes of {len(edges) / shoes:.1f} rounds on average"
    yield ""
    yield f"The edge was the player's before {players_share:.1%} of the rounds. {PERMUTATIONS} permutations each."
    yield ""
    yield f"| player | seats and shoes tested | flagged | {bettors.SHOES_A_DAY} shoes together tested | flagged |"
    yield "|---|---|---|---|---|"
    for rate in bettors.check(sample, decks, permutations=PERMUTATIONS):
        yield _row(rate)
    yield ""


def _side_study(game: str, settings: Sequence[str], shoes: int) -> Iterator[str]:
    """Every wager but the sides that one bets on first: those are bet the same each round here."""
    from tables.edge import bettors
    from tables.maths.options import rules_of
    from tables.maths.providers import rules_type
    from tables.maths.situation import Unknowable

    try:
        rules = rules_of(rules_type(game), settings)
        sample = [bettors.deal_wagers(game, rules, seed) for seed in range(shoes)]
    except (ImportError, KeyError, Unknowable, ValueError) as wrong:
        raise CommandError(f"{game} is not studied so: {wrong}") from None
    rounds = sum(len(next(iter(shoe.nets.values()))) for shoe in sample) / shoes
    yield f"### {game} ({', '.join(settings) or 'usual options'}): {shoes} shoes of {rounds:.1f} rounds on average"
    yield ""
    for wager in rules.spread:
        edges = [edge for shoe in sample for edge in shoe.courses[wager].edges]
        share = sum(edge < 0 for edge in edges) / len(edges)
        yield f"**{wager}**: the edge was the player's before {share:.1%} of the rounds."
        yield ""
        yield f"| player | shoes tested | flagged | {bettors.SHOES_A_DAY} shoes together tested | flagged |"
        yield "|---|---|---|---|---|"
        for rate in bettors.check_wager(sample, wager, permutations=PERMUTATIONS):
            yield _row(rate)
        yield ""


def _row(rate: Rate) -> str:
    by_shoe, by_day = _share(rate.flagged, rate.seats), _share(rate.days_flagged, rate.days)
    return f"| {rate.bettor} | {rate.seats:,} | {by_shoe} | {rate.days:,} | {by_day} |"


def _share(count: int, total: int) -> str:
    return f"{count:,} ({count / total:.1%})" if total else "—"
