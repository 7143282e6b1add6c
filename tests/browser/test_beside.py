"""Pages beside the felt in a real browser: cash, a relief in mid-round, a slip that is signed at the table."""

from collections.abc import Callable
from typing import Any

import pytest

from ledger.models import LogEntry
from tables.floor.inputs import BeginSlip
from tables.roles import Role
from tests import floor
from tests.accessibility import serious
from tests.browser.conftest import LIVE, PORTRAIT, AtTable, Screen
from tests.fixtures.browser import PHONE, limited_response
from tests.floor import PIN, Hand
from tests.layout import CONTROLS, fits_width, small
from tests.patience import eventually

SIGNERS = {
    "701": (Role.CASHIER, "carmen"),
    "702": (Role.SECURITY, "sid"),
    "101": (Role.DEALER, "dora"),
    "704": (Role.PIT_BOSS, "petra"),
}
"""Who signs a fill after the one who asked for it, by badge."""
WAITS = "#sheet-lost[data-code=form_put_off]"
WAIT_MS = 1_000
"""As long as a limit asks a screen to wait."""
PAUSE_MS = 2_000
"""How often a sheet that the house could not fill is asked for again."""
ON_THE_SHEET = f"#sheet :is({CONTROLS})"


def decision() -> Hand:
    """A round in which seat 1 is to decide."""
    hand = floor.dealt()[0]
    hand.bets(seat1=2_000)
    hand.cards(8, 9)
    return hand


def opened(screen: Screen, key: str) -> Any:
    """The sheet that a function key opens; nothing in it is too small, beside the screen or unreadable."""
    screen.page.keyboard.press(key)
    screen.page.wait_for_selector("#sheet-page h1")
    assert serious(screen.page) == []
    assert small(screen.page, ON_THE_SHEET) == []
    assert fits_width(screen.page)
    return screen.page.locator("#sheet")


def pad(screen: Screen, figures: str) -> None:
    for figure in figures:
        screen.page.tap(f"#sheet-pad [data-figure='{figure}']")


def latest(hand: Hand) -> LogEntry:
    return LogEntry.objects.filter(book_id=hand.table.book_id).latest("seq")


def test_a_relief_in_mid_round_by_pad_alone(at_table: AtTable) -> None:
    """Harm: the relief is not found, or the round, the prompt or the dealer who stays is lost with it."""
    hand = decision()
    floor.staff(Role.DEALER, "rosa", "102")
    screen = at_table(hand, PHONE).open()
    asks, seq = screen.asks, screen.seq
    sheet = opened(screen, "F8")
    pad(screen, "102")
    screen.page.tap("#sheet-next")
    pad(screen, "9999")
    screen.page.tap("#sheet-next")
    screen.page.wait_for_selector("#sheet-refused[data-code=wrong_credentials]")
    assert sheet.locator("#sheet-badge").input_value() == "102"
    assert hand.now.seq == seq
    screen.complaints.clear()  # of the answer's 403
    pad(screen, PIN)
    with screen.page.expect_navigation():
        screen.page.tap("#sheet-next")
    screen.page.wait_for_selector(LIVE, state="attached")
    assert "Rosa" in screen.page.inner_text(".menu summary")
    assert screen.asks == asks
    screen.keys("4")
    assert latest(hand).by == "102 Rosa"


@pytest.mark.trial(
    "a further sheet beside the felt",
    covered_by="tests/browser/test_beside.py::test_a_slip_is_signed_beside_the_felt",
)
def test_cash_is_confirmed_by_its_line_and_no_key_reaches_the_felt(at_table: AtTable) -> None:
    """Harm: a figure of an amount becomes a card, or Enter sells what nobody read; a lost line sells it twice; or a key
    for the felt undoes a sale, and no button does that a finger can press."""
    hand = decision()
    screen = at_table(hand, PORTRAIT).open()
    before = screen.seq
    sheet = opened(screen, "F2")
    screen.page.keyboard.type("50")
    fill = floor.signs(hand.table, floor.crew("requested"), BeginSlip("fill", ((100, 100),)))
    screen.at(fill.seq)
    assert sheet.locator("#sheet-amount").input_value() == "50", "the table moved, the sheet did not"
    screen.page.keyboard.press("Enter")
    screen.page.wait_for_selector("#sheet button[value=confirm]:focus")
    assert hand.now.seq == fill.seq == before + 1
    assert serious(screen.page) == []
    screen.page.route("**/cash/", lambda route: route.abort())
    screen.page.keyboard.press("Enter")
    screen.page.wait_for_selector("#sheet-lost[data-code=form_lost]")
    screen.complaints.clear()  # of the line that was cut
    screen.page.unroute_all()
    screen.page.keyboard.press("Enter")
    screen.page.wait_for_selector("#receipt:visible")
    assert latest(hand).content["amount_cents"] == 5_000
    assert LogEntry.objects.filter(book_id=hand.table.book_id, subject="chips").count() == 1
    assert not screen.page.evaluate("document.getElementById('sheet').open")
    assert serious(screen.page) == []
    screen.at(hand.now.seq)
    for key in ("Enter", "u"):
        screen.page.keyboard.press(key)
    sheet = opened(screen, "F2")
    assert latest(hand).kind == "buy_in"
    sheet.locator("[data-action=undo]").tap()
    screen.page.wait_for_selector("#receipt:visible")
    assert latest(hand).kind == "undone"
    assert serious(screen.page) == []
    eventually(lambda: screen.seq == hand.now.seq, "the felt shows the sale")
    screen.keys("4")
    assert latest(hand).subject == "round", "the keyboard is the felt's again"


def test_a_sheet_that_the_house_puts_off_comes_and_sells_by_itself_once(at_table: AtTable) -> None:
    """Harm: a limit or an outage leaves an empty sheet without a button, or a sale is typed again, or sold twice; or a
    sheet that the dealer closed comes over the felt and takes the keyboard."""
    hand = decision()
    screen = at_table(hand)
    page = screen.page
    posted: list[str | None] = []
    answers: list[Callable[[Any], None]] = []
    # One route for the whole test: a request that is sent while a route is set up or taken away may pass by it.
    page.route("**/cash/", lambda route: answers[-1](route))
    screen.open()
    answers.append(limited_response)
    page.keyboard.press("F2")
    page.wait_for_selector(WAITS)
    assert serious(page) == []
    page.keyboard.press("Escape")
    page.clock.fast_forward(WAIT_MS)
    page.wait_for_selector("#sheet-page:not([aria-busy])", state="attached")
    assert not page.evaluate("document.getElementById('sheet').open")
    held: list[Any] = []
    answers.append(held.append)
    with page.expect_request("**/cash/"):
        page.keyboard.press("F2")
    page.keyboard.press("Escape")
    eventually(lambda: page.evaluate("1") and held, "the request is held up")
    with page.expect_response("**/cash/"):
        held.pop().continue_()
    page.wait_for_selector("#sheet-page:not([aria-busy])", state="attached")
    assert not page.evaluate("document.getElementById('sheet').open"), "a page that comes late opens nothing"

    failures = [lambda route: route.fulfill(status=503, body="away"), limited_response]
    answers.append(lambda route: failures.pop()(route) if failures else route.continue_())
    page.keyboard.press("F2")
    page.wait_for_selector(WAITS)
    page.clock.fast_forward(WAIT_MS)
    page.wait_for_selector("#sheet-lost[data-code=page_lost]")
    assert serious(page) == []
    page.clock.fast_forward(PAUSE_MS)
    page.wait_for_selector("#sheet-page h1")
    assert page.is_hidden("#sheet-lost")
    assert failures == []
    page.keyboard.type("50")
    page.keyboard.press("Enter")
    page.wait_for_selector(".exchange__line")

    def limited_twice(route: Any) -> None:
        posted.append(route.request.post_data)
        limited_response(route) if len(posted) < 3 else route.continue_()

    answers.append(limited_twice)
    page.keyboard.press("Enter")
    page.wait_for_selector(WAITS)
    page.clock.fast_forward(WAIT_MS)
    assert hand.now.seq == screen.seq, "nothing is recorded that was refused"
    page.wait_for_selector("#receipt:visible")
    assert len(posted) == 3
    assert len({confirmed_by(body) for body in posted}) == 1, "the same key"
    assert LogEntry.objects.filter(book_id=hand.table.book_id, subject="chips").count() == 1
    assert latest(hand).content["amount_cents"] == 5_000
    eventually(lambda: screen.seq == hand.now.seq, "the felt shows the sale")
    screen.keys("4")
    assert latest(hand).subject == "round", "the keyboard is the felt's"
    screen.complaints.clear()  # of the answers' 429 and 503


def confirmed_by(body: str | None) -> str:
    """The key of a form that was sent, by which it is recorded once."""
    return (body or "").partition('name="key"')[2].split()[0]


def test_a_slip_is_signed_beside_the_felt(at_table: AtTable) -> None:
    """Harm: whoever signs leaves the game for it, and finds no way back; or a half-typed PIN is wiped out."""
    hand = decision()
    floor.signs(hand.table, floor.crew("requested"), BeginSlip("fill", ((100, 100),)))
    screen = at_table(hand, PORTRAIT).open()
    screen.page.tap(".button--waits")
    screen.page.wait_for_selector("#sheet-badge")
    screen.page.wait_for_selector("text=Next: any cage manager or cashier.")
    assert serious(screen.page) == []
    assert small(screen.page, ON_THE_SHEET) == []
    for place, (badge, (role, name)) in enumerate(SIGNERS.items()):
        if name != "dora":
            floor.staff(role, name, badge)
        screen.page.focus("#sheet-badge")
        pad(screen, badge)
        screen.page.tap("#sheet-next")
        pad(screen, PIN[:2])
        if place == 0:
            other = floor.signs(hand.table, floor.crew("requested"), BeginSlip("credit", ((100, 10),)))
            screen.at(other.seq)
        pad(screen, PIN[2:])
        screen.page.tap("#sheet-next")
        signed = f".paper__lines .is-signed >> nth={place + 1}"
        screen.page.wait_for_selector("#receipt:visible" if badge == "704" else signed)
    assert not [slip for slip in hand.now.slips if slip.series.name == "fill"]
    assert screen.asks == ("choose", "seat 1")
