"""``manage.py mispays --measure``: the accuracy of the payout-error search, on rounds with planted mistakes."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Sequence
from statistics import fmean
from time import process_time
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from tables.disputes import payout_error_trials
from tables.disputes.payout_error_trials import BANKED, PRIORS, SPANS, TrialRow, added, average, share

HEAD: Final = (
    "| {} | drawn | told | searches | first | first 3 | first 5 | named | of these wrongly | first, not named |"
)


class Command(BaseCommand):
    """Writes tables for docs/disputes.md."""

    help = "Measure how often the payout-error search names the right round."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--measure", action="store_true", help="plant mistakes in rounds dealt by chance")
        parser.add_argument("--games", nargs="*", choices=BANKED, default=list(BANKED))
        parser.add_argument("--searches", type=int, default=200, help="for each game, span and way of drawing")
        parser.add_argument("--pool", type=int, default=360, help="rounds that are dealt of each game")
        parser.add_argument("--rounds", type=int, nargs="*", choices=SPANS, default=list(SPANS), help="of a span")
        parser.add_argument("--seed", type=int, default=12)

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["measure"]:
            raise CommandError("Say what to do: --measure. The finder itself is on the pit's screens.")
        if options["pool"] < max(SPANS) or options["searches"] < 1:
            raise CommandError(f"A pool has at least {max(SPANS)} rounds, and there is at least one search.")
        began = process_time()
        lines = list(
            payout_error_trials.measure(
                options["games"], options["searches"], options["seed"], options["pool"], options["rounds"]
            )
        )
        for priors in PRIORS:
            blocks = [
                (str(rounds), priors, [line for line in lines if line.rounds == rounds]) for rounds in options["rounds"]
            ]
            self._table("rounds", blocks)
        self._table(
            "game, 60 rounds",
            [
                (game, PRIORS[0], [line for line in lines if line.game == game and line.rounds == 60])
                for game in options["games"]
            ],
        )
        self.stdout.write(f"\nSeed {options['seed']}, {process_time() - began:.0f} s of one processor.")

    def _table(self, what: str, blocks: Sequence[tuple[str, str, Sequence[TrialRow]]]) -> None:
        self.stdout.write("\n" + HEAD.format(what))
        self.stdout.write("|" + "---|" * 3 + "---:|" * 7)
        for name, priors, lines in blocks:
            for ranking in dict.fromkeys(line.ranking for line in lines):
                tally = added([line for line in lines if line.ranking == ranking and line.priors == priors])
                if not tally.searches:
                    continue  # a limit is reckoned where mistakes are drawn by the rates
                if tally.limits:
                    shares = [average(parts) for parts in zip(*tally.limits, strict=True)]
                else:
                    shares = [share(count, tally.searches) for count in (tally.first, tally.three, tally.five)]
                cells = [f"{part:.0f} ± {error:.1f}" for part, error in shares]
                if tally.limits:
                    cells += ["", "", f"{fmean(tally.bits):.1f} bits left"]
                elif ranking == "former ranking":
                    cells += ["", "", ""]
                else:
                    part, error = share(tally.named, tally.searches)
                    wrong, off = share(tally.named_wrongly, tally.named)
                    silent, error_of_silent = share(tally.silent_needlessly, tally.searches)
                    cells += [f"{part:.0f} ± {error:.1f}", f"{wrong:.0f} ± {off:.1f}"]
                    cells.append(f"{silent:.0f} ± {error_of_silent:.1f}")
                self.stdout.write(f"| {name} | {priors} | {ranking} | {tally.searches} | {' | '.join(cells)} |")
