"""A dealer at a table in a real browser."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from ledger.models import LogEntry
from tables.models import Table
from tests import floor, processes
from tests.fixtures.browser import LAPTOP, complaints_of
from tests.floor import Hand

PORTRAIT = {"width": 800, "height": 1280}
BOUNCE_MS = 350
"""Longer than the moment within which the screen takes two presses of one key for one finger."""


@dataclass
class Screen:
    """A dealer's browser at a table. ``keys`` and ``tap`` wait for the board that answers each of them."""

    page: Any
    table: Table
    presses: int = 0
    pressed: str = ""
    """The key that was pressed last."""
    holds: bool = False
    held: list[Any] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    """What the browser complained of: errors of scripts, and what the content policy stopped."""

    def __post_init__(self) -> None:
        complaints_of(self.page, self.complaints)

    def open(self) -> "Screen":
        """The screen of the table, live."""
        self.page.goto(f"/tables/{self.table.pk}/")
        self.page.wait_for_selector(".has-script #lamp[data-state=live]", state="attached")
        return self

    @property
    def seq(self) -> int:
        return int(self.page.get_attribute("#board", "data-seq"))

    @property
    def due(self) -> str:
        return str(self.page.get_attribute("#board", "data-due"))

    @property
    def prompt(self) -> str:
        return str(self.page.inner_text("#prompt"))

    @property
    def settling(self) -> str:
        """What is to be done at the seat that was decided in mid-round; empty once it is done."""
        lines = self.page.locator(".settling .is-due .prompt__do")
        return str(lines.inner_text()) if lines.count() else ""

    @property
    def refused(self) -> str:
        return str(self.page.inner_text("#refused span"))

    @property
    def warned(self) -> str:
        """What a screen reader is told at once. The page empties its place first and fills it in the next frame."""
        frame = "new Promise((said) => requestAnimationFrame(() => said(document.getElementById('warned').innerText)))"
        return str(self.page.evaluate(frame))

    @property
    def key(self) -> str:
        """The key of this rendering."""
        return str(self.page.evaluate("document.querySelector('#entry input[name=key]')?.value"))

    def keys(self, *keys: str) -> None:
        """Press keys as somebody who looks at the screen does; the figures of a bet send nothing yet."""
        for key in keys:
            drawn = self.key
            self.page.keyboard.press(key)
            self.pressed = key
            self.presses += 1
            if self.page.get_attribute("#board", "aria-busy") or self.key != drawn:
                self.settle(drawn)

    def type(self, *keys: str) -> None:
        """Press keys as fast as the keyboard gives them, without waiting for anything."""
        for key in keys:
            self.page.keyboard.press(key)
        self.presses += len(keys)

    def tremble(self, key: str, times: int) -> None:
        """Press a key so many times within a few milliseconds, however busy this machine is."""
        pressing = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
        self.page.evaluate(f"([key, times]) => {{ for (let i = 0; i < times; i++) {pressing} }}", [key, times])
        self.presses += times

    def tap(self, selector: str) -> None:
        """Touch something that enters something."""
        drawn = self.key
        self.page.tap(selector)
        self.presses += 1
        self.settle(drawn)

    def count_columns(self, decks: int = 1) -> None:
        """Type how many cards each column of a deck check holds, up to the last column's Enter."""
        for rank in range(1, 11):
            self.type(*str(decks * rank), *(["Enter"] if rank < 10 else []))

    def pause(self) -> None:
        """Long enough for the same key to be another press."""
        self.page.wait_for_timeout(BOUNCE_MS)

    def hold(self) -> None:
        """From now on the table does not answer, until it is let go: whatever is typed meanwhile is ahead of it. The
        screen does not give it up meanwhile: to press three keys may take a busy machine longer than that."""
        self.holds = True
        self.page.evaluate("window.htmx.config.timeout = 60_000")
        self.page.route("**/input", lambda route: self.held.append(route) if self.holds else route.continue_())

    def let_go(self) -> None:
        """The table answers what it was sent, and what comes later at once."""
        self.holds = False
        while self.held:
            self.held.pop().continue_()

    def settle(self, drawn: str) -> None:
        """Wait until the board is another rendering and nothing is on its way."""
        fresh = f'#board:not([aria-busy]) input[name=key]:not([value="{drawn}"])'
        self.page.wait_for_selector(f"{fresh}, #board[data-gone]", state="attached")

    def at(self, seq: int) -> None:
        """Wait until the screen shows this entry."""
        self.page.wait_for_selector(f'#board[data-seq="{seq}"]:not([aria-busy])', state="attached")


@pytest.fixture
def at_table(browser: Any, web: processes.Web) -> Iterator[Callable[..., Screen]]:
    """``at_table(hand)``: a browser of its own, signed in as that dealer, at that table."""
    contexts, screens = [], []

    def come(hand: Hand, viewport: dict[str, int] = LAPTOP, **options: Any) -> Screen:
        context = browser.new_context(base_url=web.url, viewport=viewport, has_touch=True, **options)
        context.set_default_timeout(20_000)
        contexts.append(context)
        context.add_cookies(floor.cookies_of(hand.by, web.url))
        screens.append(Screen(context.new_page(), hand.table))
        return screens[-1]

    yield come
    for context in contexts:
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")  # a line that a test still holds up
        context.close()
    assert [said for screen in screens for said in screen.complaints] == []


@pytest.fixture
def rocket(transactional_db: None) -> Hand:
    """The dealer's hand at a one-deck table that is ready for bets."""
    return floor.dealt()[0]


def entries(hand: Hand, since: int = 0) -> list[tuple[str, str]]:
    """The table's log after an entry: subjects and kinds."""
    found = LogEntry.objects.filter(book_id=hand.table.book_id, seq__gt=since).order_by("seq")
    return list(found.values_list("subject", "kind"))
