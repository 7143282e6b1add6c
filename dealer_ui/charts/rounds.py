"""What the house won at a table, round by round and added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from dealer_ui.charts import plot
from dealer_ui.charts.axis import MONEY, signed_amount
from dealer_ui.charts.plot import Plot, PlotStep
from tables.audit.round_list import RoundLine


@dataclass(frozen=True, slots=True)
class Wins:
    """The rounds shown, the oldest at the left, and what they come to."""

    plot: Plot
    total_cents: int
    best_cents: int
    worst_cents: int
    first_number: int
    last_number: int


def wins(newest_first: Sequence[RoundLine]) -> Wins | None:
    """The rounds of a page, as far as they are over; None when none of them is."""
    over = [line for line in reversed(newest_first) if line.house_net_cents is not None]
    if not over:
        return None
    numbers, nets = [line.number for line in over], [line.house_net_cents or 0 for line in over]
    sums = list(accumulate(nets))
    added_up = plot.running("Added up", sums, unit=MONEY, top=plot.TOP + plot.NAMED, height=110)
    kinds = [_kind(net) for net in nets]
    each = plot.bars("Each round", nets, kinds, unit=MONEY, top=plot.below(added_up), height=110)
    labels = plot.sparse([f"{number:,}" for number in numbers])
    steps = [
        PlotStep(f"Round {number}: {signed_amount(net)}, added up {signed_amount(total)}", label)
        for number, net, total, label in zip(numbers, nets, sums, labels, strict=True)
    ]
    drawn = plot.plot([added_up, each], steps)
    return Wins(drawn, sums[-1], max(nets), min(nets), numbers[0], numbers[-1])


def _kind(net_cents: int) -> str:
    return "up" if net_cents > 0 else "down" if net_cents < 0 else "even"
