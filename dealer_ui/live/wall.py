"""The cards of the floor, drawn once for all who watch: the pit's screens get them as small messages.

People of one role see the same, so a card is drawn once a role, not once a screen. Tables that move while a drawing is
on its way, or shortly after one, share the next. One painter draws, so no older card ever comes after a newer one.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import Final, Protocol

from dealer_ui.live.admission import Cards
from dealer_ui.live.open_screens import OpenStream, event
from dealer_ui.live.painter import CannotDraw, Drawing, Messages, Order, PainterProcess, on_page

log = logging.getLogger(__name__)

SHARED: Final = 0.4
"""Seconds between two drawings: what happens on the floor in between is drawn together. The first move after a pause
waits for nothing."""
REST: Final = 2
"""The pause as a multiple of the time that the last drawing took.

On a busy floor each table is drawn less often, and a core remains free for dealers.
"""
LONGEST: Final = 1.5
"""Maximum pause in seconds, also while a painter starts or the machine is busy."""
ALERTS: Final = "alerts"
"""Subject of messages about the open alerts: a drawing replaces an earlier hint to fetch them."""
STRIP: Final = "strip"
"""Subject of messages about the strip above the tables."""
PAUSE: Final = 1.0
"""Seconds until a drawing is tried again that failed."""


class Painter(Protocol):
    """The process that draws cards; it may be busy or gone: ``dealer_ui/live/painter.py``."""

    @property
    def ready(self) -> bool:
        """Whether a drawing is made at once."""

    async def draw(self, order: Order) -> Drawing:
        """Have it drawn. Raises CannotDraw."""


class Watcher(OpenStream):
    """A screen of the pit."""

    __slots__ = ("watch",)

    def __init__(self, watch: Cards) -> None:
        super().__init__()
        self.watch = watch

    def hint(self, book: int, seq: int) -> None:
        """Send the sequence number of a table; a screen with an older card fetches its page once."""
        if book in self.watch.tables:
            self.put(book, event("table", {"table": self.watch.tables[book], "seq": seq}))
            self.wake()

    def fetch_alerts(self) -> None:
        """A screen that shows alerts fetches its page once."""
        if self.watch.whole:
            self.put(ALERTS, event("alerts", {}))
            self.wake()

    def begin(self, parts: Messages) -> None:
        """Send the latest drawings of the strip and the alerts to a screen of the whole floor."""
        for about, message in parts.items() if self.watch.whole else ():
            self.put(about, message)
            self.wake()


class Audience:
    """The open screens of one role, indexed by subject, because there may be thousands."""

    def __init__(self) -> None:
        self.whole: set[Watcher] = set()
        """Screens of the whole floor, which get tiles, the strip and alerts."""
        self.alone: dict[str, set[Watcher]] = {}
        """Those of one table, by the name of its card."""

    def __bool__(self) -> bool:
        return bool(self.whole or self.alone)

    def __iter__(self) -> Iterator[Watcher]:
        yield from self.whole
        for screens in self.alone.values():
            yield from screens

    def add(self, screen: Watcher) -> None:
        if screen.watch.whole:
            self.whole.add(screen)
            return
        for book in screen.watch.tables:
            self.alone.setdefault(on_page(book), set()).add(screen)

    def remove(self, screen: Watcher) -> None:
        self.whole.discard(screen)
        for book in () if screen.watch.whole else screen.watch.tables:
            self.alone[on_page(book)].discard(screen)
            if not self.alone[on_page(book)]:
                del self.alone[on_page(book)]

    def has_tile(self, book: int) -> bool:
        """Whether a table is on any screen of the floor."""
        return any(book in screen.watch.tables for screen in self.whole)

    def has_page(self, book: int) -> bool:
        """Whether a table is on any screen of its own."""
        return on_page(book) in self.alone

    def watching(self, book: int) -> Iterator[Watcher]:
        """The screens that show a table."""
        yield from (screen for screen in self.whole if book in screen.watch.tables)
        yield from self.alone.get(on_page(book), ())

    def show(self, messages: Messages) -> None:
        """To each screen what it shows of it."""
        for about, message in messages.items():
            for screen in self._shown_on(about):
                screen.put(about, message)
                screen.wake()

    def _shown_on(self, about: int | str) -> Collection[Watcher]:
        if about in (STRIP, ALERTS):
            return self.whole
        if isinstance(about, str):
            return self.alone.get(about, ())
        return [screen for screen in self.whole if about in screen.watch.tables]


class Wall:
    """The open screens of the pit, and the drawings due for them."""

    def __init__(self, painter: Painter | None = None) -> None:
        self._painter = painter or PainterProcess()
        self._screens: dict[str, Audience] = {}
        self._parts: dict[str, Messages] = {}
        self._moved: set[int] = set()
        self._alerted = self._anew = False
        self._task: asyncio.Task[None] | None = None

    @contextmanager
    def screen(self, watch: Cards, heads: Mapping[int, int]) -> Iterator[OpenStream]:
        """An open screen. It gets the sequence number of each table first, then the drawings."""
        screen, role = Watcher(watch), watch.role
        for book, seq in heads.items():
            screen.hint(book, seq)
        if role not in self._screens:
            self._screens[role] = Audience()
            self._anew = self._alerted = True
            self._ask()
        self._screens[role].add(screen)
        screen.begin(self._parts.get(role, {}))
        try:
            yield screen
        finally:
            self._screens[role].remove(screen)
            if not self._screens[role]:
                del self._screens[role]
                self._parts.pop(role, None)

    def heard(self, book: int, seq: int) -> None:
        """Send the sequence number of a table, as read from the database when listening began."""
        for audience in self._screens.values():
            for screen in audience.watching(book):
                screen.hint(book, seq)

    def moved(self, book: int, seq: int) -> None:
        """A table is to be drawn anew, if anybody watches it. While no painter is ready, they fetch their pages."""
        if any(audience.has_tile(book) or audience.has_page(book) for audience in self._screens.values()):
            self._moved.add(book)
            self._ask()
            if not self._painter.ready:
                self.heard(book, seq)

    def alerted(self, book: int | None) -> None:
        """An alert was raised or acknowledged, about a table or the whole site.

        It does not wait for the painter, which may take 15 seconds to start on a busy machine.
        """
        self._alerted = True
        if book is not None:
            self._moved.add(book)
        self._ask()
        if not self._painter.ready:
            for screen in self._everyone():
                screen.fetch_alerts()

    def look_again(self) -> None:
        """Draw everything again, because notifications may have been missed."""
        self._moved |= {book for screen in self._everyone() for book in screen.watch.tables}
        self._alerted = self._anew = True
        self._ask()

    def _everyone(self) -> Iterator[Watcher]:
        for audience in self._screens.values():
            yield from audience

    def _ask(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._work())

    async def _work(self) -> None:
        while self._screens and (self._moved or self._alerted or self._anew):
            audiences, books = list(self._screens.values()), self._moved
            tiles = frozenset(book for book in books if any(audience.has_tile(book) for audience in audiences))
            pages = frozenset(book for book in books if any(audience.has_page(book) for audience in audiences))
            order = Order(tuple(self._screens), tiles, pages, self._alerted, self._anew)
            self._moved, self._alerted, self._anew = set(), False, False
            began = monotonic()
            try:
                drawing = await self._painter.draw(order)
            except CannotDraw as failure:
                log.warning("the pit's screens wait: %s", failure)
                self._moved |= order.books
                self._alerted = self._anew = True
                await asyncio.sleep(PAUSE)
                continue
            self._show(drawing)
            await asyncio.sleep(min(max(SHARED, REST * (monotonic() - began)), LONGEST))

    def _show(self, drawing: Mapping[str, Messages]) -> None:
        """Send the drawings, except parts that have not changed."""
        for role, messages in drawing.items():
            if role not in self._screens:
                continue
            shown = self._parts.setdefault(role, {})
            news = {about: message for about, message in messages.items() if shown.get(about) != message}
            shown |= {about: message for about, message in news.items() if about in (STRIP, ALERTS)}
            self._screens[role].show(news)
