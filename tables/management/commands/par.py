"""``manage.py par``: the exact PAR sheet of a game, and the tables of docs/maths.md."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from tables.games.cards import Composition

PAGE: Final = Path(__file__).parents[3] / "docs" / "maths.md"


class Command(BaseCommand):
    """Prints the sheet; refuses what cannot be in one sentence."""

    help = "Print the exact PAR sheet of Rocket: edge, standard deviation, chart, outcomes, risk of ruin."
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("game", nargs="?", default="rocket", help="the game (only rocket has an exact value)")
        parser.add_argument("--decks", type=int, default=6, metavar="N", help="decks in the shoe (default: 6)")
        parser.add_argument("--burn", type=int, default=5, metavar="N", help="cards burned (default: 5)")
        parser.add_argument(
            "--composition", metavar="C1,...,C10", help="unseen cards of each rank, burned ones too (default: all)"
        )
        parser.add_argument(
            "--strategy", default="optimal", metavar="NAME", help="optimal, never_fold, or fold_at:N (default: optimal)"
        )
        parser.add_argument(
            "--bankroll", type=float, metavar="BETS", help="say how likely the house loses so many bets"
        )
        parser.add_argument(
            "--seats", type=int, metavar="N", help="add the deviation of N equal bets (takes half a minute)"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, at full precision")
        parser.add_argument(
            "--html", action="store_true", help="print a page for a file or a printer, with the chart drawn"
        )
        parser.add_argument(
            "--player", metavar="CARDS", help="with --dealer: only the decision of a seat with these cards"
        )
        parser.add_argument(
            "--dealer", metavar="CARDS", help="the dealer's cards; --composition is then what is unseen now"
        )
        parser.add_argument("--docs", action="store_true", help="write the tables of docs/maths.md instead")
        parser.add_argument("--check", action="store_true", help="with --docs: write nothing; fail when out of date")

    def handle(self, *args: Any, game: str, docs: bool, check: bool, **options: Any) -> None:
        """Print the sheet; or, with --docs, write the page, or look whether it is out of date."""
        from tables.maths.situation import Unknowable

        if docs:
            return _write_page(check)
        if check:
            raise CommandError("--check looks at the page, so it goes with --docs.")
        if game != "rocket":
            raise CommandError(f"There is no exact value of {game!r}: only rocket has one.")
        try:
            self.stdout.write(_answer(**options))
        except Unknowable as refusal:
            raise CommandError(f"{str(refusal)[:1].upper()}{str(refusal)[1:]}.") from None
        return None


def _answer(
    *,
    decks: int,
    burn: int,
    composition: str | None,
    strategy: str,
    bankroll: float | None,
    as_json: bool,
    html: bool,
    player: str | None,
    dealer: str | None,
    seats: int | None,
    **options: Any,
) -> str:
    from tables.maths import par, printed, situation

    unseen = None if composition is None else _numbers(composition, "composition: it is ten counts")
    if player is not None or dealer is not None:
        hands = (_numbers(cards or "", "hand: it is one rank for each card") for cards in (player, dealer))
        return _decision(decks, burn, unseen, *hands)
    sheet = par.sheet(decks, unseen, situation.strategy(strategy), burn)
    if bankroll is not None:
        sheet.ruin(bankroll)  # refuses it before anything is printed
    if html:
        return printed.page(sheet, bankroll)
    return (
        json.dumps(sheet.facts(bankroll, seats), indent=2) if as_json else "\n".join(par.lines(sheet, bankroll, seats))
    )


def _decision(
    decks: int, burn: int, unseen: Composition | None, player: tuple[int, ...], dealer: tuple[int, ...]
) -> str:
    """What each way is worth, in tenths of the bet."""
    from tables.maths.situation import Situation, fresh
    from tables.maths.value import decide, solve

    if unseen is None:
        choice = solve(fresh(decks, burn)).choice(player, dealer)
    else:
        choice = decide(Situation(decks, unseen, burn), player, dealer)
    return (
        f"{choice.best.capitalize()}. To hit is worth {choice.hit:+.6f} tenths of the bet, to fold {choice.fold:+.6f};"
        f" the other way costs {choice.mistake:.6f}."
    )


def _numbers(text: str, kind: str) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise CommandError(f"{text!r} is no {kind}, whole numbers with commas between.") from None


def _write_page(check: bool) -> None:
    from tables.maths import page

    old = PAGE.read_text()
    new = page.rewritten(old)
    if check and new != old:
        raise CommandError("out of date, run ./run manage par --docs: maths.md")
    if new != old:
        PAGE.write_text(new)
