"""Chip series: those in use, those retired, and the denominations no longer brought into play."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from django.db import transaction
from django.db.models import QuerySet

from ledger import site_log
from ledger.models import LogEntry
from ledger.proof.chips import money
from tables.log.entries.chips import ChipSeriesAdded, ChipsIssued
from tables.models import ChipSeries, Denomination, Staff
from tables.projections import site_rows
from tables.refusals import Faults, Refused

FIRST_YEAR: Final = 1900


def all_of_them() -> QuerySet[ChipSeries]:
    """All series with their retirements, by name."""
    return ChipSeries.objects.select_related("retirement").order_by("name")


def add(name: str, manufacturer: str, year: int, values: Sequence[int], *, by: Staff) -> ChipSeries:
    """Add a manufacturer's chip series. ``values`` are in cents. Raises Refused."""
    by.require("tables.add_chipseries", "Only an operator sets up series of chips.")
    with transaction.atomic():
        head = site_log.lock()
        if sentences := faults(name, manufacturer, year, values):
            raise Refused("bad_chip_series", " ".join(sentences.values()), 422, fields=sentences)
        kinds = tuple(sorted(set(values), reverse=True))
        event = ChipSeriesAdded(name=name, manufacturer=manufacturer, year=year, values=kinds)
        return site_rows.CHIP_SERIES.append(head, event, by.signature)


def faults(name: str, manufacturer: str, year: int, values: Sequence[int]) -> Faults:
    """The faults of a new series, by field."""
    sentences: Faults = {}
    for field, text in (("name", name), ("manufacturer", manufacturer)):
        most = getattr(ChipSeries._meta.get_field(field), "max_length", 0)
        if not text.strip() or text != text.strip() or not text.isprintable() or len(text) > most:
            sentences[field] = f"The {field} has 1 to {most} characters, and no space before or after it."
    if "name" not in sentences and ChipSeries.objects.filter(name__iexact=name).exists():
        sentences["name"] = f"There is a series {name} already."
    if not FIRST_YEAR <= year <= 9999:
        sentences["year"] = f"The year is one from {FIRST_YEAR} on, of four digits."
    kinds = set(Denomination.objects.in_use().values_list("value_cents", flat=True))
    if not values:
        sentences["values"] = "A series has one kind of chip at least."
    elif missing := sorted(set(values) - kinds):
        sentences["values"] = f"There is no chip worth {', '.join(map(money, missing))}: add the kind first."
    return sentences


def named(name: str) -> ChipSeries:
    """The series of this name. Raises Refused if there is none."""
    series = all_of_them().filter(name=name).first()
    if series is None:
        raise Refused("unknown_chip_series", f"There is no series of chips called {name}.", 422)
    return series


def last_day_of(series: ChipSeries) -> date | None:
    """The last day of a retired series' redemption period; None while it is in use."""
    retirement = getattr(series, "retirement", None)
    return retirement.last_day if retirement else None


def refuse_unless(series: ChipSeries, state: str, today: date) -> None:
    """Raises Refused unless a series is in the state "in use" or "expired" (redemption period over)."""
    last_day = last_day_of(series)
    if state == "in use" and last_day is not None:
        sentence = (
            f"The series {series} is retired: its chips are redeemed up to {last_day:%-d %B %Y}, and not given out."
        )
        raise Refused("series_retired", sentence, 409)
    if state == "expired" and last_day is None:
        raise Refused("series_in_use", f"The series {series} is in use: retire it first.", 409)
    if state == "expired" and last_day is not None and today <= last_day:
        sentence = f"Chips of the series {series} are redeemed up to {last_day:%-d %B %Y}: wait until that day is over."
        raise Refused("series_in_use", sentence, 409)


def refuse_expired(name: str, today: date) -> None:
    """Raises Refused if the redemption period of a series is over."""
    series = named(name)
    last_day = last_day_of(series)
    if last_day is not None and today > last_day:
        sentence = f"Chips of the series {series} were redeemed up to {last_day:%-d %B %Y}: they are not any more."
        then = "Hand them back, and show the announcement; a claim is for the cage manager."
        raise Refused("series_expired", f"{sentence} {then}", 409)


NO_SERIES: Final = "none"
"""The answer for chips that are older than the site's first series."""


def has_older_chips() -> bool:
    """Whether chips came into circulation without a series, and therefore without its mark."""
    return LogEntry.objects.of_site().filter(subject=ChipsIssued.subject, kind__in=ChipsIssued.kinds).exists()


@dataclass(frozen=True, slots=True)
class Candidates:
    """The series that a chip of one denomination may belong to."""

    live: tuple[str, ...] = ()
    retired: tuple[str, ...] = ()

    @property
    def only(self) -> str:
        """The only possible series, known without looking at the chip; empty if several are possible."""
        return self.live[0] if len(self.live) == 1 and not self.retired else ""

    @property
    def given_out(self) -> str:
        """The only series in use, for chips that are given out; empty if several are in use or none is."""
        return self.live[0] if len(self.live) == 1 else ""

    @property
    def are_asked_for(self) -> bool:
        """Whether the cashier has to read the series off the chip."""
        return bool(self.live or self.retired) and not self.only

    @property
    def names(self) -> tuple[str, ...]:
        return self.live + self.retired


def candidates() -> dict[int, Candidates]:
    """The possible series of each denomination that has one, by value in cents."""
    by_value: dict[int, Candidates] = {}
    for series in all_of_them():
        is_live = last_day_of(series) is None
        for value in series.values:
            before = by_value.get(value, Candidates())
            named_so = (series.name,)
            by_value[value] = (
                Candidates(before.live + named_so, before.retired)
                if is_live
                else Candidates(before.live, before.retired + named_so)
            )
    return by_value


def at_the_counter(
    values: Sequence[int], looked_at: Mapping[int, str], today: date, *, is_sale: bool
) -> tuple[tuple[int, str], ...]:
    """The series of each chip value that is sold or redeemed: as the cashier read it, or else the only possible one.

    Raises Refused if the cashier has to look, or if the series is not given out or its redemption period is over.
    """
    kinds = candidates()
    pairs = []
    for value in sorted(values, reverse=True):
        kind = kinds.get(value, Candidates())
        name = looked_at.get(value, "") or (kind.given_out if is_sale else kind.only)
        if name == NO_SERIES and has_older_chips():
            continue
        if name and name not in kind.names:
            names = " or ".join(kind.names) or "no series"
            raise Refused("unknown_chip_series", f"Chips of {money(value)} are of {names}, not of {name[:60]}.", 422)
        if not name and (len(kind.live) > 1 if is_sale else kind.are_asked_for):
            names = " or ".join(kind.live if is_sale else kind.names)
            sentence = f"Chips of {money(value)} are of the series {names}: look at them, and say which."
            raise Refused("series_needed", f"{sentence} Those of two series pass the counter one after the other.", 422)
        if name:
            pairs.append((value, name))
    for name in dict.fromkeys(name for _, name in pairs):
        if is_sale:
            refuse_unless(named(name), "in use", today)
        else:
            refuse_expired(name, today)
    return tuple(pairs)


def retired_values() -> dict[int, str]:
    """The denominations no longer brought into play, by value in cents, each with the reason as a sentence.

    Either the denomination is retired, or each series that has it.
    """
    reasons = {
        chip.value_cents: f"Chips of {money(chip.value_cents)} are retired: they are taken in, and not given out."
        for chip in Denomination.objects.exclude(retired_at=None)
    }
    in_use: set[int] = set()
    retired: dict[int, str] = {}
    for series in all_of_them():
        if last_day_of(series) is None:
            in_use.update(series.values)
        else:
            retired |= dict.fromkeys(series.values, series.name)
    for value in retired.keys() - in_use - reasons.keys():
        reasons[value] = (
            f"Chips of {money(value)} are of the retired series {retired[value]}: they are taken in, and not given out."
        )
    return reasons
