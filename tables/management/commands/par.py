"""``manage.py par``: what the wagers of a game are worth, Rocket's PAR sheet, and the tables of docs/maths.md."""

from __future__ import annotations

import json
from argparse import ArgumentParser, _ArgumentGroup
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from tables.games.cards import Composition
from tables.refusals import sentence

PAGE: Final = Path(__file__).parents[3] / "docs" / "maths.md"
WHOLE_SHEET: Final = "rocket"
"""The game of which there is more to tell than what its wagers are worth."""
ONLY_ROCKET: Final = ("decks", "burn", "strategy", "bankroll", "seats", "html", "player", "dealer")


class Command(BaseCommand):
    """Prints the sheet; refuses what cannot be in one sentence."""

    help = (
        "Print what each wager of a game is worth to the house under its options; of Rocket the whole PAR sheet: edge,"
        " standard deviation, chart, outcomes, risk of ruin."
    )
    requires_system_checks: tuple[str, ...] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("game", nargs="?", default="rocket", help="the game (default: rocket)")
        parser.add_argument(
            "--set",
            nargs="+",
            action="extend",
            default=[],
            dest="chosen",
            metavar="OPTION=VALUE",
            help="an option of the game; others have their defaults",
        )
        parser.add_argument(
            "--composition",
            metavar="A=32,2=31,...",
            help="the remaining cards, by rank, or by card (As=8) where suits count; cards not listed are gone"
            " (default: all). For rocket ten counts, burned cards too: C1,...,C10",
        )
        parser.add_argument(
            "--table",
            metavar="NAME",
            help="the options of a table, and the cost of rounding at its bet step and limits",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON, at full precision")
        self._add_arguments_of_rocket(parser.add_argument_group("only for rocket"))

    def _add_arguments_of_rocket(self, parser: _ArgumentGroup) -> None:
        parser.add_argument("--decks", type=int, metavar="N", help="decks in the shoe (default: 6)")
        parser.add_argument("--burn", type=int, metavar="N", help="cards burned (default: 5)")
        parser.add_argument("--strategy", metavar="NAME", help="optimal, never_fold, or fold_at:N (default: optimal)")
        parser.add_argument(
            "--bankroll",
            type=float,
            metavar="BETS",
            help="print the probability that the casino loses this number of bets",
        )
        parser.add_argument(
            "--seats", type=int, metavar="N", help="add the deviation of N equal bets (takes half a minute)"
        )
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
        try:
            self.stdout.write(_sheet(game, **options))
        except Unknowable as refusal:
            raise CommandError(sentence(str(refusal))) from None
        return None


def _sheet(game: str, *, table: str | None, **options: Any) -> str:
    if table is not None:
        return _of_table(table, as_json=options["as_json"])
    return _rocket(**options) if game == WHOLE_SHEET else _any_game(game, **options)


def _of_table(name: str, *, as_json: bool) -> str:
    """The sheet of a table's game under its options, with the cost of rounding."""
    from ledger.proof.chips import money
    from tables.edge import cached_sheets, rounding
    from tables.log.terms import rounding_words, rules_of
    from tables.maths import providers, text_sheet
    from tables.models import Table

    table = Table.objects.filter(name=name).first()
    if table is None:
        names = ", ".join(Table.objects.values_list("name", flat=True))
        raise CommandError(f"There is no table {name!r}: there is {names}.")
    sheet = providers.full_shoe(table.game, rules_of(table))
    if sheet is None:
        raise CommandError(f"There is no exact value of {table.game!r}: only {', '.join(providers.valued())} have one.")
    chances = {wager: worth.chances for wager, worth in sheet.wagers.items()}
    costs = rounding.costs(table, cached_sheets.Worths(chances=chances))
    if as_json:
        return json.dumps(sheet.facts() | {"rounding": {bet: cost._asdict() for bet, cost in costs.items()}}, indent=2)
    return "\n".join([*text_sheet.lines(sheet), "", *text_sheet.rounding(rounding_words(table), costs, money)])


def _any_game(game: str, *, chosen: list[str], composition: str | None, as_json: bool, **only_rocket: Any) -> str:
    from tables.maths import options, providers, text_sheet

    provider = providers.provider(game)
    if provider is None:
        raise CommandError(f"There is no exact value of {game!r}: only {', '.join(providers.valued())} have one.")
    for name in ONLY_ROCKET:
        if not (only_rocket[name] is None or only_rocket[name] is False):
            raise CommandError(
                f"--{name} goes with rocket alone: the options of other games are set by --set NAME=VALUE."
            )
    rules = options.rules_of(providers.rules_type(game), chosen)
    sheet = provider.sheet(rules, None if composition is None else options.cards_of(composition))
    return json.dumps(sheet.facts(), indent=2) if as_json else "\n".join(text_sheet.lines(sheet))


def _rocket(
    *,
    chosen: list[str],
    decks: int | None,
    burn: int | None,
    composition: str | None,
    strategy: str | None,
    bankroll: float | None,
    as_json: bool,
    html: bool,
    player: str | None,
    dealer: str | None,
    seats: int | None,
    **options: Any,
) -> str:
    from tables.games.rocket import Rules
    from tables.maths import par, printed_sheet, situation
    from tables.maths.options import rules_of

    rules = rules_of(Rules, chosen)
    decks, burn = rules.decks if decks is None else decks, rules.burn if burn is None else burn
    unseen = None if composition is None else _numbers(composition, "composition: it is ten counts")
    if player is not None or dealer is not None:
        hands = (_numbers(cards or "", "hand: it is one rank for each card") for cards in (player, dealer))
        return _decision(decks, burn, unseen, *hands)
    sheet = par.sheet(decks, unseen, situation.strategy(strategy or situation.OPTIMAL.name), burn)
    if bankroll is not None:
        sheet.ruin(bankroll)  # refuses it before anything is printed
    if html:
        return printed_sheet.page(sheet, bankroll)
    return (
        json.dumps(sheet.facts(bankroll, seats), indent=2) if as_json else "\n".join(par.lines(sheet, bankroll, seats))
    )


def _decision(
    decks: int, burn: int, unseen: Composition | None, player: tuple[int, ...], dealer: tuple[int, ...]
) -> str:
    """The value of each choice, in tenths of the bet."""
    from tables.maths.rocket_value import decide, solve
    from tables.maths.situation import Situation, fresh

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
    from tables.maths.advantage import docs_page

    old = PAGE.read_text()
    new = docs_page.rewritten(old)
    if check and new != old:
        raise CommandError("out of date, run ./run manage par --docs: maths.md")
    if new != old:
        PAGE.write_text(new)
