"""Search over screens, tables, rounds, slips and people, best match first, limited to what the viewer may open.

Each kind is one indexed query, independent of the number of rounds dealt.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from dealer_ui import navigation
from dealer_ui.pit.records import complaint_text
from ledger.models import Slip
from ledger.raw_rows import fetch_rows
from tables.cage import slip_records
from tables.log.slip_types import SLIPS, SlipType
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup.pits import natural

LONGEST: Final = 100
MOST: Final = 12
NUMBER: Final = re.compile(r"(\d{1,9})$")
MOST_ROUND: Final = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Find:
    """Something to open."""

    title: str
    what: str
    address: str
    fit: int
    """Rank of the match; a lower one is better."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The text of a search: its words, and the number at its end, if there is one."""

    text: str
    words: tuple[str, ...]
    number: int | None

    @classmethod
    def read(cls, text: str) -> Typed:
        folded = " ".join(text[:LONGEST].casefold().split())
        ending = NUMBER.search(folded)
        number = int(ending.group(1)) if ending else None
        words = folded[: ending.start()].split() if ending else folded.split()
        return cls(folded, tuple(words), number if number is None or number <= MOST_ROUND else None)

    def fit(self, name: str, about: str = "") -> int | None:
        """The rank of a name as a match of the typed text, 0 being the best; None for no match."""
        name = name.casefold()
        if name == self.text:
            return 0
        if name.startswith(self.text):
            return 1
        parts = f"{name} {about.casefold()}".split()
        if all(any(part.startswith(word) for part in parts) for word in self.text.split()):
            return 2
        return 3 if self.text in name else None


@login_required
@require_GET
def find(request: HttpRequest) -> HttpResponse:
    """A page with what fits; the palette takes its list."""
    viewer = request.user
    if not isinstance(viewer, Staff) or not viewer.is_active or viewer.role == Role.DEALER:
        raise PermissionDenied
    text = request.GET.get("q", "")
    finds = matches(viewer, Typed.read(text)) if text.strip() else _all_screens(viewer)
    return render(request, "dealer_ui/pit/find.html", {"finds": finds, "typed": text[:LONGEST]})


def matches(viewer: Staff, typed: Typed) -> list[Find]:
    """The matches, the best first."""
    finds, offers = [*_screens(viewer, typed), *_slips(viewer, typed)], list[Find]()
    if viewer.has_perm(navigation.FLOOR):
        tables = Table.objects.in_use().values_list("pk", "name", "game", "book_id")
        names = [_Table(*row) for row in tables]
        finds += [*_tables(typed, names), *_rounds(typed, names), *_people(typed)]
        offers = list(_complaint(typed, names))
    likeliest = sorted(finds, key=_order)[: MOST - len(offers)]
    return sorted([*likeliest, *offers], key=_order)


def _order(find: Find) -> tuple[Any, ...]:
    return find.fit, natural(find.title)


@dataclass(frozen=True, slots=True)
class _Table:
    pk: int
    name: str
    game: str
    book: int


def _screen(link: navigation.ScreenLink, fit: int) -> Find:
    return Find(link.title, "Screen", reverse(link.view), fit)


def _all_screens(viewer: Staff) -> list[Find]:
    return [_screen(link, 0) for link in navigation.screens_of(viewer)]


def _screens(viewer: Staff, typed: Typed) -> Iterator[Find]:
    for link in navigation.screens_of(viewer):
        fit = typed.fit(link.title, link.about)
        if fit is not None:
            yield _screen(link, fit)


def _tables(typed: Typed, tables: Iterable[_Table]) -> Iterator[Find]:
    for table in tables:
        fit = typed.fit(table.name, table.game.replace("_", " "))
        if fit is not None:
            yield Find(table.name, "Table", reverse("pit:table", args=[table.pk]), fit)


_WITH_ROUND: Final = """
    SELECT book FROM unnest(%s::bigint[]) AS b (book)
    WHERE EXISTS (SELECT 1 FROM ledger_logentry WHERE book_id = b.book AND round = %s)
"""


def _rounds(typed: Typed, tables: Iterable[_Table]) -> Iterator[Find]:
    """Rounds with the typed number, at tables whose names have the other words: "rocket 3 12", "round 12"."""
    if typed.number is None:
        return
    words = [word for word in typed.words if word not in ("round", "r")]
    named = {table.book: table for table in tables if _names(table.name, words)}
    books = [book for (book,) in fetch_rows(_WITH_ROUND, [list(named), typed.number])]
    fit = 1 if len(words) < len(typed.words) or any(word.isdecimal() for word in words) else 4
    for book in books:
        table = named[book]
        address = reverse("pit:round", args=[table.pk, typed.number])
        yield Find(f"{table.name}, round {typed.number}", "Round", address, fit)


def _complaint(typed: Typed, tables: Iterable[_Table]) -> Iterator[Find]:
    """The search of rounds, with the typed day, time, table, seat and amounts as its criteria."""
    names = {str(table.pk): table.name for table in tables}
    fields = complaint_text.fields_of(typed.text, ((int(pk), name) for pk, name in names.items()), timezone.localtime())
    if fields:
        fit = 5 if fields.keys() <= {"amount", "place"} else 1
        yield Find(complaint_text.in_words(fields, names), "Search rounds", complaint_text.address(fields), fit)


def _names(name: str, words: Iterable[str]) -> bool:
    parts = name.casefold().split()
    return all(any(part.startswith(word) for part in parts) for word in words)


def _slips(viewer: Staff, typed: Typed) -> Iterator[Find]:
    """Slips of that number, of this year and the last: "fill 3", "slip 3"."""
    if typed.number is None or not typed.words:
        return
    series = _series(viewer, typed.words)
    year = timezone.localdate().year
    rows = Slip.objects.filter(series__in=list(series), year__in=(year, year - 1), number=typed.number)
    for slip in rows.select_related("book__table").order_by("-year"):
        table = getattr(slip.book, "table", None)
        address = reverse("slips:slip", args=[table.pk if table else 0, slip.series, slip.year, slip.number])
        title = f"{series[slip.series].title} {slip.number} of {slip.year}"
        yield Find(title, table.name if table else "House", address, 1)


def _series(viewer: Staff, words: Iterable[str]) -> Mapping[str, SlipType]:
    seen = slip_records.seen_by(viewer.role)
    terms = [word for word in words if word != "slip"]
    return {
        name: series
        for name, series in SLIPS.items()
        if name in seen and all(_names(f"{series.title} {series.label} {name}", [word]) for word in terms)
    }


def _people(typed: Typed) -> Iterator[Find]:
    """People by their names: what they did, in the log."""
    people = Staff.objects.filter(Q(name__icontains=typed.text) | Q(username__istartswith=typed.text), is_active=True)
    for name, username, role in people.order_by("name").values_list("name", "username", "role")[:MOST]:
        fit = typed.fit(name, username)
        address = f"{reverse('pit:search')}?{urlencode({'person': username})}"
        yield Find(name, Role(role).label, address, 3 if fit is None else fit)
