"""Reads and checks the fields of a slip as it is signed: texts, times, dates, chip series and other slips."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from typing import Final

from django.utils import timezone

from ledger.proof.chips import money
from tables.cage import chip_series, chip_stock
from tables.games.yes_no import flag
from tables.log import moments
from tables.log.slip_types import (
    CHIP_SERIES,
    DAY,
    KEPT_APART,
    MOMENT,
    SLIP,
    SLIPS,
    TEXT,
    YES,
    Chips,
    SlipField,
    SlipType,
    Stage,
    total,
)
from tables.log.slip_workflow import Slip
from tables.refusals import Refused

FARTHEST_YEARS: Final = 30


def read(stage: Stage, typed: Mapping[str, str], among: Callable[[str], Collection[str]]) -> dict[str, str]:
    """The fields of a step in the form that the log stores. Raises Refused for invalid text.

    ``among`` lists the items in custody of a kind (``slip_types.KEPT_APART``).
    """
    facts = {}
    for field in stage.fields:
        text = typed.get(field.name, "").strip()
        if text and field.kind in KEPT_APART:
            facts[field.name] = _one_of(field, text, among(field.kind))
        elif spelled := _READ[field.kind](field, text) if text else "":
            facts[field.name] = spelled
        elif not field.is_optional:
            raise Refused("bad_fact", f"Fill in “{field.label}”.", 422)
    return facts


def _one_of(field: SlipField, text: str, names: Collection[str]) -> str:
    if text not in names:
        there_are = ", ".join(sorted(names)) or "none"
        sentence = f"“{text[: field.max_length]}” is none of the {field.kind} that there are now: {there_are}."
        raise Refused("unknown_fact", sentence, 422)
    return text


def _text(field: SlipField, text: str) -> str:
    if len(text) > field.max_length or not text.isprintable():
        raise Refused("bad_fact", f"“{field.label}” has at most {field.max_length} plain characters.", 422)
    return text


def _yes(field: SlipField, text: str) -> str:
    """``YES``, or empty for no."""
    if (value := flag(text)) is None:
        raise Refused("bad_fact", f"“{field.label}” is yes or no.", 422)
    return YES if value else ""


def _day(field: SlipField, text: str) -> str:
    """A date from today on, as ISO text. Raises Refused."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise Refused("bad_fact", f"“{field.label}” is a day, as 2027-03-31.", 422) from None
    today = timezone.localdate()
    if not today <= day or day.year > today.year + FARTHEST_YEARS:
        raise Refused("bad_fact", f"“{field.label}” is today or later, within {FARTHEST_YEARS} years.", 422)
    return day.isoformat()


def _moment(field: SlipField, text: str) -> str:
    """A time in the past, as ISO text to the minute in the site's time zone. Raises Refused."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise Refused("bad_fact", f"“{field.label}” is a day and a time, as 2026-11-22T21:40.", 422) from None
    if says := moments.fault(moment):
        raise Refused("bad_fact", f"“{field.label}”: {says}.", 422)
    moment = moment if moment.tzinfo else timezone.make_aware(moment)
    if moment > timezone.now():
        raise Refused("bad_fact", f"“{field.label}” has not come yet.", 422)
    return timezone.localtime(moment).isoformat(timespec="minutes")


def _chip_series(field: SlipField, text: str) -> str:
    return chip_series.named(text).name


_READ: Final[Mapping[str, Callable[[SlipField, str], str]]] = {
    TEXT: _text,
    YES: _yes,
    DAY: _day,
    MOMENT: _moment,
    CHIP_SERIES: _chip_series,
    SLIP: _text,
}


# --- What they have to do with each other ----------------------------------------------------------------------


def refuse(slip: Slip, chips: Chips) -> None:
    """Raises Refused if the fields of a slip contradict its chips, its series or an earlier slip.

    ``chips``: the chips that this step counts or moves. Checked at each step: a series may be retired in between.
    """
    series = slip.series
    if series.about:
        _refuse_more_than_it_took(slip, series)
    if name := slip.facts.get("series", ""):
        row = chip_series.named(name)
        chip_series.refuse_unless(row, series.chip_series, timezone.localdate())
        _refuse_other_kinds(name, frozenset(row.values), chips)
        _refuse_other_kinds(name, frozenset(row.values), slip.noted)
        if not series.begins_with_note:
            _refuse_more_than_there_is(slip, name, chips)
    if series.begins_with_note and not slip.noted:
        raise Refused("bad_note", "Type how many chips of each kind the delivery note says.", 422)


def refuse_again(slip: Slip) -> None:
    """Raises Refused if the series has lapsed already, or its delivery note was received before."""
    for earlier in chip_stock.finished(slip.series.name):
        if earlier.facts.get("series") != slip.facts.get("series"):
            continue
        if not slip.series.begins_with_note:
            raise Refused("lapsed_already", f"{earlier.label} was about this series: it has lapsed.", 409)
        if earlier.facts.get("note_number") == slip.facts.get("note_number"):
            sentence = (
                f"The delivery note {slip.facts['note_number']} was taken in with {earlier.label.lower()} already."
            )
            raise Refused("note_again", sentence, 409)


def _refuse_other_kinds(name: str, values: frozenset[int], chips: Chips) -> None:
    for value, _ in chips:
        if value not in values:
            kinds = ", ".join(money(kind) for kind in sorted(values))
            sentence = f"The series {name} has chips of {kinds}: none is worth {money(value)}."
            raise Refused("unknown_chip", sentence, 422)


def _refuse_more_than_there_is(slip: Slip, name: str, chips: Chips) -> None:
    """Raises Refused for more pieces of a series than were received and not destroyed."""
    pieces = dict(chip_stock.of(name).left)
    for value, count in chips:
        if count > pieces.get(value, 0):
            sentence = (
                f"Of {money(value)} there are {pieces.get(value, 0):,} chips of the series {name}, and not {count:,}."
            )
            raise Refused("bad_count", sentence, 422)


def _refuse_more_than_it_took(slip: Slip, series: SlipType) -> None:
    """Raises Refused if more is returned than the earlier slip took in."""
    about = slip.facts.get("slip", "")
    original = next((earlier for earlier in chip_stock.finished(series.about) if earlier.name == about), None)
    if original is None:
        title = SLIPS[series.about].title.lower()
        raise Refused("unknown_slip", f"There is no slip {about} of {title} that is complete.", 422)
    remainder = Counter(dict(original.chips))
    for earlier in chip_stock.finished(series.name):
        if earlier.facts.get("slip") == about:
            remainder.subtract(dict(earlier.chips))
    for value, count in slip.chips:
        if count > remainder[value]:
            sentence = (
                f"{original.label}: {remainder[value]:,} chips of {money(value)} are left of it, and not {count:,}."
            )
            raise Refused("bad_count", sentence, 422)


def left_of(series: SlipType) -> list[tuple[Slip, int]]:
    """The earlier slips that a new slip of this series may refer to, each with its remainder in cents."""
    given_cents: Counter[str] = Counter()
    for slip in chip_stock.finished(series.name):
        given_cents[slip.facts.get("slip", "")] += slip.total_cents
    earlier = [(slip, total(slip.chips) - given_cents[slip.name]) for slip in chip_stock.finished(series.about)]
    return [(slip, cents) for slip, cents in earlier if cents > 0]
