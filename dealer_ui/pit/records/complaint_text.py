"""Reads a patron's complaint, typed into Find as a sentence, into the fields of the search of rounds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from dealer_ui import dates
from dealer_ui.pit.records.round_search import FIELD_FORMAT, MOST_AMOUNTS, at, span_in_words
from tables.reports import gaming_hours

AROUND: Final = timedelta(minutes=30)
"""The span before and after a time in the sentence."""
_SEAT: Final = re.compile(r"\bseat (\d{1,2})\b")
_DAY: Final = re.compile(r"\b(today|tonight|yesterday|last night|\d{4}-\d\d-\d\d)\b")
_TIME: Final = re.compile(r"\b(\d{1,2})(?:[:.](\d\d))? ?([ap])\.?m\b\.?|\b(\d{1,2}):(\d\d)\b")
_AMOUNT: Final = re.compile(r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d{1,2})?(?![\w.,]*\w)")
_FILLERS: Final = re.compile("about|around|at|bet|due|for|got|in|instead|lost|not|of|on|only|paid|won")
"""Words of a complaint that are no criteria."""


def fields_of(text: str, tables: Iterable[tuple[int, str]], now: datetime) -> dict[str, str]:
    """The fields of the form that a sentence names, such as "yesterday 10 pm, Rocket 1, seat 3, paid 40 instead of 60".
    Empty if it contains other words, or no time, seat or amount."""
    rest, fields = " ".join(text.casefold().split()), dict[str, str]()
    for pk, name in sorted(tables, key=lambda table: -len(table[1])):
        if (match := re.search(rf"\b{re.escape(name.casefold())}\b", rest)) is not None:
            rest, fields["place"] = _without(rest, match), str(pk)
            break
    if match := _SEAT.search(rest):
        rest, fields["seat"] = _without(rest, match), match[1]
    rest, span = _span(rest, now)
    if span:
        fields |= dict(zip(("since", "until"), (f"{moment:{FIELD_FORMAT}}" for moment in span), strict=True))
    amounts = _AMOUNT.findall(rest)[:MOST_AMOUNTS]
    words = re.findall(r"[^\W\d]+", _AMOUNT.sub(" ", rest))
    is_named = amounts or span or "seat" in fields
    if not is_named or not all(map(_FILLERS.fullmatch, words)):
        return {}
    return fields | ({"amount": " ".join(amounts)} if amounts else {})


def _without(text: str, match: re.Match[str]) -> str:
    return f"{text[: match.start()]} {text[match.end() :]}"


def _span(text: str, now: datetime) -> tuple[str, tuple[datetime, datetime] | None]:
    """A text without its day and time, and the span that they name."""
    day, moment = _DAY.search(text), None
    if day:
        text = _without(text, day)
    if (match := _TIME.search(text)) and (wall_time := _wall_time(match)):
        text, moment = _without(text, match), wall_time
    named = _named_day(day[1], now) if day else None
    if moment is None:
        return text, None if named is None else _whole_day(named, now)
    middle = at(named or now.date(), moment)
    if named is None and middle > now:
        middle = at(now.date() - timedelta(days=1), moment)
    return text, (timezone.localtime(middle - AROUND), timezone.localtime(middle + AROUND))


def _whole_day(day: date, now: datetime) -> tuple[datetime, datetime]:
    span = gaming_hours.span(day)
    return timezone.localtime(span.start), timezone.localtime(min(span.end, now) if span.start < now else span.end)


def _named_day(word: str, now: datetime) -> date | None:
    if word in ("today", "tonight"):
        return now.date()
    return now.date() - timedelta(days=1) if word in ("yesterday", "last night") else dates.day(word)


def _wall_time(match: re.Match[str]) -> time | None:
    hour, minute = int(match[1] or match[4]), int(match[2] or match[5] or 0)
    if match[3]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if match[3] == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def in_words(fields: Mapping[str, str], tables: Mapping[str, str]) -> str:
    """The fields in words, as the title of the match in Find."""
    since, until = dates.moment(fields.get("since")), dates.moment(fields.get("until"))
    parts = [
        span_in_words(since, until) if since and until else "",
        tables.get(fields.get("place", ""), ""),
        f"seat {fields['seat']}" if "seat" in fields else "",
        f"amount {' or '.join(fields['amount'].split())}" if "amount" in fields else "",
    ]
    return f"Rounds: {', '.join(filter(None, parts))}"


def address(fields: Mapping[str, str]) -> str:
    """The address of the form with these fields."""
    return f"{reverse('pit:round-search')}?{urlencode(fields)}"
