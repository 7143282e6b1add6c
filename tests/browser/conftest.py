"""A dealer at a table in a real browser."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from ledger.models import LogEntry
from tables.models import Staff, Table
from tests import floor, processes
from tests.fixtures.browser import LAPTOP, complaints_of
from tests.floor import Hand
from tests.layout import fits_width

PORTRAIT = {"width": 800, "height": 1280}
LIVE = ".has-script #lamp[data-state=live]"
PATIENCE_MS = 60_000
"""How long a page may take, on however busy a machine."""
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
        """The screen of the table, live, with a clock that ``pause`` puts forward."""
        self.page.clock.install()
        self.page.goto(f"/tables/{self.table.pk}/")
        self.page.wait_for_selector(LIVE, state="attached")
        return self

    # --- What the screen shows, by code ---

    @property
    def seq(self) -> int:
        return int(self.page.get_attribute("#board", "data-seq"))

    @property
    def due(self) -> str:
        return str(self.page.get_attribute("#board", "data-due"))

    @property
    def asks(self) -> tuple[str, str]:
        """What is due, and who acts: ``("choose", "seat 1")``."""
        return self.due, str(self.page.get_attribute("#board", "data-acting"))

    @property
    def to_pay(self) -> tuple[int, int]:
        """The seat that is to be paid now, and the amount in cents."""
        seat = self.page.get_attribute(".seat--now", "data-seat")
        return int(seat), int(self.page.get_attribute("#prompt", "data-cents"))

    @property
    def settling(self) -> tuple[int, int] | None:
        """The seat that was decided in mid-round, and what it won, in cents; None once its chips are moved."""
        due = self.page.locator(".settling .is-due")
        if not due.count():
            return None
        return int(due.get_attribute("data-seat")), int(due.locator(".prompt__do").get_attribute("data-cents"))

    @property
    def refused(self) -> str:
        """The code of the refusal on the board."""
        return str(self.page.get_attribute("#refused", "data-code"))

    @property
    def said(self) -> dict[str, str]:
        """The code and facts of the message above the keys; empty where there is none."""
        facts: dict[str, str] = self.page.evaluate("({...document.getElementById('typed').dataset})")
        assert self.page.is_visible("#typed") == bool(facts)
        return facts

    @property
    def warned(self) -> bool:
        """Whether a screen reader is told at once. The page empties its place first and fills it in the next frame."""
        frame = "new Promise((said) => requestAnimationFrame(() => said(document.getElementById('warned').innerText)))"
        return bool(self.page.evaluate(frame))

    @property
    def chosen(self) -> str:
        """The seat that chips go to."""
        return str(self.page.input_value("input[name=seat]:checked"))

    def cards(self, place: str) -> list[str]:
        """The cards that lie in a place, from its first to its last."""
        drawn = f"{place} .card use"
        return list(self.page.eval_on_selector_all(drawn, "all => all.map((use) => use.href.baseVal.slice(6))"))

    @property
    def fits(self) -> bool:
        """Whether nothing lies beside the screen."""
        return fits_width(self.page)

    @property
    def key(self) -> str:
        """The key of this rendering."""
        return str(self.page.evaluate("document.querySelector('#entry input[name=key]')?.value"))

    # --- What a dealer does ---

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
        """Put the screen's clock forward by as long as makes the same key another press."""
        self.page.clock.fast_forward(BOUNCE_MS)

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


AtTable = Callable[..., Screen]


@pytest.fixture
def at_table(browser: Any, web: processes.Web) -> Iterator[AtTable]:
    """``at_table(hand)``: a browser of its own, signed in as that dealer, at that table."""
    contexts, screens = [], []

    def come(hand: Hand, viewport: dict[str, int] = LAPTOP, **options: Any) -> Screen:
        context = browser.new_context(base_url=web.url, viewport=viewport, has_touch=True, **options)
        context.set_default_timeout(PATIENCE_MS)
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


def sign_in(page: Any, staff: Staff) -> None:
    """Give the browser of a terminal the session of a member of staff."""
    client = Client()
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    name = settings.SESSION_COOKIE_NAME
    origin = page.evaluate("location.origin")
    page.context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": origin}])


@pytest.fixture
def rocket(transactional_db: None) -> Hand:
    """The dealer's hand at a one-deck table that is ready for bets."""
    return floor.dealt()[0]


def entries(hand: Hand, since: int = 0) -> list[tuple[str, str]]:
    """The table's log after an entry: subjects and kinds."""
    found = LogEntry.objects.filter(book_id=hand.table.book_id, seq__gt=since).order_by("seq")
    return list(found.values_list("subject", "kind"))


def bets_of(hand: Hand) -> dict[int, int]:
    """What each seat bets, in cents."""
    return {box.seat: box.bet_cents for box in hand.board.seats if box.bet_cents}


def stacks_of(hand: Hand) -> dict[int, tuple[int, ...]]:
    """The cards of each seat."""
    return {box.seat: box.stack for box in hand.board.seats if box.stack}


def hear_all(page: Any) -> None:
    """Wait until the test's routes have all that the page has asked for so far: the browser tells in order."""
    page.evaluate("undefined")


@contextmanager
def heard(page: Any, address: str) -> Iterator[None]:
    """Wait until the page has asked for an address, and the test's route has it."""
    with page.expect_request(address):
        yield
    hear_all(page)
