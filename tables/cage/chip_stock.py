"""The chips of each series by pieces, as the house's slips tell: received, destroyed, lapsed, and what is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ledger.models import HOUSE, LogEntry
from ledger.proof.chips import ISSUE
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned
from tables.log.slip_types import SLIPS, Chips, SlipType
from tables.log.slip_workflow import Slip


@dataclass(slots=True)
class Stock:
    """Of one series, by what a chip is worth: how many."""

    received: Counter[int] = field(default_factory=Counter)
    destroyed: Counter[int] = field(default_factory=Counter)
    lapsed: Counter[int] = field(default_factory=Counter)

    @property
    def left(self) -> Chips:
        """What there is of it, in the house or out."""
        remainder = self.received.copy()
        remainder.subtract(self.destroyed)
        remainder.subtract(self.lapsed)
        return tuple(sorted(((value, count) for value, count in remainder.items() if count > 0), reverse=True))


def of_all(before_seq: int | None = None) -> dict[str, Stock]:
    """Every series' chips by its name; those of no series under the empty name."""
    stocks: dict[str, Stock] = {}
    for slip in finished(*_CHANGING, before_seq=before_seq):
        stock = stocks.setdefault(slip.facts.get("series", ""), Stock())
        if slip.series.count is None:
            stock.destroyed.update(dict(slip.chips))
        elif slip.series.begins_with_note:
            stock.received.update(dict(slip.agreed or ()))
        else:
            difference = Counter(dict(slip.noted))
            difference.subtract(dict(slip.agreed or ()))
            stock.lapsed.update(difference)
    return stocks


def of(series: str, before_seq: int | None = None) -> Stock:
    """One series' chips."""
    return of_all(before_seq).get(series, Stock())


def finished(*series: str, before_seq: int | None = None) -> Iterator[Slip]:
    """The house's slips of some series that are complete and came to something, in the order in which they were."""
    kinds = [f"{name}_{SLIPS[name].stages[-1].name}" for name in series]
    entries = LogEntry.objects.filter(book__name=HOUSE, subject="slip", kind__in=kinds)
    if before_seq is not None:
        entries = entries.filter(seq__lt=before_seq)
    for body in entries.order_by("seq").values_list("body", flat=True):
        slip = read_as(HouseSlipSigned, body).after
        if slip.due is None and not slip.came_to_nothing:
            yield slip


def _changes(series: SlipType) -> bool:
    """Whether its slips bring chips into being, or end them."""
    flows = [stage.moves for stage in series.stages if stage.moves] + list(series.count.flows if series.count else ())
    return series.in_house and any(ISSUE in (flow.source, flow.target) for flow in flows)


_CHANGING = tuple(name for name, series in SLIPS.items() if _changes(series))
