"""The cards of the floor, drawn once for all who watch: the pit's screens get them as small messages.

People of one role see the same, so a card is drawn once a role, not once a screen. Tables that move while a drawing is
on its way, or shortly after one, share the next. One thread draws, so no older card ever comes after a newer one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from functools import partial
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.db import Error as DatabaseError
from django.db import close_old_connections
from django.template.loader import render_to_string
from django.utils import timezone

from dealer_ui.floor import Seen, open_alerts_for, read, seen_by, strip_of
from dealer_ui.live import Cards
from dealer_ui.open_screens import Screen
from ledger.alerts import open_alerts
from tables import house_clock
from tables.models import Staff, Table

log = logging.getLogger(__name__)

SHARED: Final = 0.2
"""Seconds between two drawings: what happens on the floor in between is drawn together."""
BREATH: Final = 0.002
"""Seconds between two tables of a drawing: a dealer's input comes back to the interpreter after each of its
statements, and must not find it taken for all tables in a row."""
PAUSE: Final = 1.0
"""Seconds until a drawing is tried again that the database let down."""
STRIP: Final = "strip"
ALERTS: Final = "alerts"

Messages = dict[int | str, bytes]
"""What screens are to be told: of a table by its book's number, of the floor's line, of the open alerts."""


class Painter:
    """Draws, in a thread of its own, and remembers every table for the line that adds them up."""

    def __init__(self) -> None:
        self._day: date | None = None
        self._seen: dict[str, dict[int, Seen]] = {}

    def draw(self, roles: Collection[str], books: Collection[int], *, alerts: bool, anew: bool) -> dict[str, Messages]:
        """For each role the cards of tables by their books, the line above them, and the open alerts if they changed.
        ``anew``: what is remembered may be out of date."""
        with timezone.override(ZoneInfo(house_clock.zone())):
            self._look(roles, books, anew=anew)
            count = open_alerts().count()
            return {role: self._messages(role, books, count, alerts=alerts) for role in roles}

    def _look(self, roles: Collection[str], books: Collection[int], *, anew: bool) -> None:
        """Read the tables that moved; all of them on a new day, whose rounds are counted from one."""
        today = timezone.localdate()
        if anew or today != self._day:
            self._day, self._seen = today, {role: {} for role in roles}
            facts = read(Table.objects.all(), breath=BREATH)
        else:
            facts = read(Table.objects.filter(book__in=books), breath=BREATH)
        for role in roles:
            self._seen[role] |= {seen.table.book_id: seen for seen in seen_by(_one_of(role), facts)}

    def _messages(self, role: str, books: Collection[int], count: int, *, alerts: bool) -> Messages:
        tables = self._seen[role]
        messages: Messages = {}
        for book in books:
            if book in tables:
                messages[book] = card(tables[book])
                time.sleep(BREATH)
        messages[STRIP] = part(STRIP, "_strip", {"strip": strip_of(list(tables.values()), count)})
        if alerts:
            messages[ALERTS] = part(ALERTS, "_alerts", open_alerts_for(_one_of(role)))
        return messages


def _one_of(role: str) -> Staff:
    """Anybody of a role: what they may see is all that counts."""
    return Staff(role=role)


def card(seen: Seen) -> bytes:
    """How a table looks now."""
    html = render_to_string("dealer_ui/pit/_card.html", {"seen": seen})
    return event("table", {"table": seen.table.pk, "seq": seen.board.seq, "card": html})


def part(name: str, template: str, context: Mapping[str, Any]) -> bytes:
    """A part of the floor's page that belongs to no table."""
    return event(name, {"html": render_to_string(f"dealer_ui/pit/{template}.html", dict(context))})


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """An event as a browser reads it: JSON, because a line's end would end the data."""
    return f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _unexpected(failure: Exception) -> Exception | None:
    """What is logged with its traceback: not that the database is away."""
    return None if isinstance(failure, DatabaseError) else failure


def _apart(draw: Callable[[], dict[str, Messages]]) -> dict[str, Messages]:
    """In the wall's own thread, which keeps no connection between two drawings."""
    try:
        return draw()
    finally:
        close_old_connections()


class Watcher(Screen):
    """A screen of the pit."""

    __slots__ = ("watch",)

    def __init__(self, watch: Cards) -> None:
        super().__init__()
        self.watch = watch

    def hint(self, book: int, seq: int) -> None:
        """Where a table stands; a screen whose card is older fetches its page once."""
        if book in self.watch.tables:
            self.put(book, event("table", {"table": self.watch.tables[book], "seq": seq}))
            self.wake()

    def show(self, messages: Messages) -> None:
        """What of it this screen shows."""
        for about, message in messages.items():
            if about in self.watch.tables or (self.watch.whole and isinstance(about, str)):
                self.put(about, message)
                self.wake()


class Wall:
    """The pit's open screens, and what is to be drawn for them next."""

    def __init__(self) -> None:
        self._screens: dict[str, set[Watcher]] = {}
        self._parts: dict[str, Messages] = {}
        self._moved: set[int] = set()
        self._alerted = self._anew = False
        self._task: asyncio.Task[None] | None = None
        self._painter = Painter()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="wall")

    @contextmanager
    def screen(self, watch: Cards, heads: Mapping[int, int]) -> Iterator[Screen]:
        """An open screen. It is told where each table stands, and then how it looks."""
        screen, role = Watcher(watch), watch.role
        for book, seq in heads.items():
            screen.hint(book, seq)
        if role not in self._screens:
            self._screens[role] = set()
            self._anew = self._alerted = True
            self._draw()
        self._screens[role].add(screen)
        screen.show(self._parts.get(role, {}))
        try:
            yield screen
        finally:
            self._screens[role].discard(screen)
            if not self._screens[role]:
                del self._screens[role]
                self._parts.pop(role, None)

    def heard(self, book: int, seq: int) -> None:
        """Where a table stands, as the database says when listening begins."""
        for screen in self._everyone():
            screen.hint(book, seq)

    def moved(self, book: int) -> None:
        """A table is to be drawn anew, if anybody watches it."""
        if any(book in screen.watch.tables for screen in self._everyone()):
            self._moved.add(book)
            self._draw()

    def alerted(self, book: int | None) -> None:
        """An alert was opened or acknowledged: about a table, or about the house."""
        self._alerted = True
        if book is not None:
            self._moved.add(book)
        self._draw()

    def look_again(self) -> None:
        """Nobody knows what was missed: everything is drawn anew."""
        self._moved |= {book for screen in self._everyone() for book in screen.watch.tables}
        self._alerted = self._anew = True
        self._draw()

    def _everyone(self) -> Iterator[Watcher]:
        for screens in self._screens.values():
            yield from screens

    def _draw(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._screens and (self._moved or self._alerted or self._anew):
            roles, books, alerts, anew = tuple(self._screens), self._moved, self._alerted, self._anew
            self._moved, self._alerted, self._anew = set(), False, False
            draw = partial(self._painter.draw, roles, books, alerts=alerts, anew=anew)
            try:
                drawn = await asyncio.get_running_loop().run_in_executor(self._thread, _apart, draw)
            except Exception as failure:
                # Whatever it is, the wall must not stand still: what the screens show would be taken for the floor.
                log.warning("the floor could not be drawn, and will be", exc_info=_unexpected(failure))
                self._moved |= books
                self._alerted = self._anew = True
                await asyncio.sleep(PAUSE)
                continue
            self._show(drawn)
            await asyncio.sleep(SHARED)

    def _show(self, drawn: Mapping[str, Messages]) -> None:
        """Send what was drawn, but for parts that look as they did."""
        for role, messages in drawn.items():
            if role not in self._screens:
                continue
            shown = self._parts.setdefault(role, {})
            news = {about: message for about, message in messages.items() if shown.get(about) != message}
            shown |= {about: message for about, message in news.items() if isinstance(about, str)}
            for screen in self._screens.get(role, ()):
                screen.show(news)
