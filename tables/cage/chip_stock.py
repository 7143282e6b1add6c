"""Chip stock of each series in pieces, from the site's completed slips: received, destroyed, lapsed, left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ledger.models import LogEntry
from ledger.proof.chips import ISSUE
from tables.log.catalog import read_as
from tables.log.entries.slips import HouseSlipSigned
from tables.log.slip_types import SLIPS, Chips, SlipType
from tables.log.slip_workflow import Slip


@dataclass(slots=True)
class Stock:
    """Pieces of one series, by chip value in cents."""

    received: Counter[int] = field(default_factory=Counter)
    destroyed: Counter[int] = field(default_factory=Counter)
    lapsed: Counter[int] = field(default_factory=Counter)

    @property
    def left(self) -> Chips:
        """The pieces that exist, at the site or with players: received less destroyed less lapsed."""
        remainder = self.received.copy()
        remainder.subtract(self.destroyed)
        remainder.subtract(self.lapsed)
        return tuple(sorted(((value, count) for value, count in remainder.items() if count > 0), reverse=True))


def of_all(before_seq: int | None = None) -> dict[str, Stock]:
    """The stock of each series, by its name; chips without a series under the empty name."""
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
    """The stock of one series."""
    return of_all(before_seq).get(series, Stock())


def finished(*series: str, before_seq: int | None = None) -> Iterator[Slip]:
    """Completed site slips of these series, in log order, without those that had no effect."""
    kinds = [f"{name}_{SLIPS[name].stages[-1].name}" for name in series]
    entries = LogEntry.objects.of_site().filter(subject="slip", kind__in=kinds)
    if before_seq is not None:
        entries = entries.filter(seq__lt=before_seq)
    for body in entries.order_by("seq").values_list("body", flat=True):
        slip = read_as(HouseSlipSigned, body).after
        if slip.due is None and not slip.came_to_nothing:
            yield slip


def _changes(series: SlipType) -> bool:
    """Whether slips of this type bring chips into existence or end them."""
    flows = [stage.moves for stage in series.stages if stage.moves] + list(series.count.flows if series.count else ())
    return series.in_house and any(ISSUE in (flow.source, flow.target) for flow in flows)


_CHANGING = tuple(name for name, series in SLIPS.items() if _changes(series))
