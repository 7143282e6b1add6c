"""Two players with pages of their own, and the dealer's screen: a whole game at a house shoe, in real browsers."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect

from tables.audit import proofs
from tests import floor, processes
from tests.accessibility import violations
from tests.browser.conftest import PATIENCE_MS, AtTable
from tests.fixtures.browser import complaints_of, limited_response
from tests.floor import Hand, Player, for_pot
from tests.layout import fits_width, small

pytestmark = pytest.mark.django_db(transaction=True)

expect.set_options(timeout=PATIENCE_MS)
PHONE = {"width": 360, "height": 740}
TABLET = {"width": 800, "height": 1280}
TURNS_BY_TOUCH = 3
"""Turns of a game that the players take on their pages."""


@pytest.fixture
def phones(browser: Any, web: processes.Web) -> Iterator[Callable[..., Any]]:
    """``phones(player)``: the player's own device, with the page of the seat on it."""
    contexts, complaints = [], []

    def come(one: Player, viewport: dict[str, int] = PHONE, **options: Any) -> Any:
        context = browser.new_context(base_url=web.url, viewport=viewport, has_touch=True, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        complaints_of(page, complaints)
        page.goto(f"/seat/{one.token}/")
        if options.get("java_script_enabled", True):
            page.wait_for_selector("#lamp[data-state=live]", state="attached")
        return page

    yield come
    for context in contexts:
        context.close()
    assert complaints == []


def seated(game: str, seats: int) -> tuple[Hand, dict[int, Player]]:
    dealer, _ = for_pot(game, seats=dict.fromkeys(range(1, seats + 1), 5_000), source="house")
    return dealer, {seat: floor.player(dealer, seat) for seat in range(1, seats + 1)}


def shows(page: Any, code: str) -> None:
    """Wait until the page says so of its seat."""
    expect(page.locator("#board")).to_have_attribute("data-code", code)


def held(dealer: Hand, seat: int) -> tuple[int, ...]:
    now = dealer.now.round
    return next(one.hand for one in now.game.view(now.state, seat).seats if one.seat == seat)


def turn(dealer: Hand, pages: dict[int, Any]) -> None:
    """Whoever is asked taps the first thing that keeps them in; they and the other one then see how it stands."""
    seat = next(iter(dealer.now.round.asked))
    page = pages[seat]
    shows(page, "your_turn")
    page.locator(".way .cardtap, .way .button").first.tap()
    expect(page.locator("#board")).not_to_have_attribute("aria-busy", "true")
    for one in pages.values():
        expect(one.locator("#board")).to_have_attribute("data-seq", str(dealer.now.seq))


def choose(dealer: Hand, players: dict[int, Player]) -> None:
    """Record a choice for the seat whose turn it is, without its Player page."""
    player = players[next(iter(dealer.now.round.asked))]
    player.chooses(player.choices[0])


def test_a_whole_game_of_hawthorn(phones: Callable[..., Any], at_table: AtTable) -> None:
    """Harm: a game that the tests of its parts pass, and that two people at a table cannot play."""
    dealer, players = seated("hawthorn", 2)
    screen = at_table(dealer).open()
    pages = {seat: phones(one) for seat, one in players.items()}
    shows(pages[1], "next_game")
    dealer("start_game", seats=[1, 2])
    for seat, page in pages.items():
        shows(page, "your_turn")
        drawn = page.eval_on_selector_all(".hand use", "all => all.map((use) => Number(use.href.baseVal.slice(6)))")
        assert tuple(drawn) == held(dealer, seat)
    assert violations(pages[1]) == []
    expect(screen.page.locator(".seat--now")).to_have_count(2)
    # Seat 1 chooses; nobody sees what, and what seat 2 has before it stays as it is.
    pages[1].locator(".cardtap").first.tap()
    shows(pages[1], "chosen")
    expect(pages[2].locator("#board")).to_have_attribute("data-seq", str(dealer.now.seq))
    assert pages[2].locator(".fan .card").count() == 0
    pages[2].locator(".cardtap").first.tap()
    expect(pages[1].locator(".mine .fan .card").first).to_be_visible()
    turns = 0
    while not dealer.now.round.over:
        turn(dealer, pages) if turns < TURNS_BY_TOUCH else choose(dealer, players)
        turns += 1
    for page in pages.values():
        shows(page, "round_over")
    assert [payout.outcome for payout in dealer.now.round.settled].count("win") == 1
    assert proofs.verify(dealer.table.book).fault is None


def test_a_choice_that_is_asked_to_wait_is_sent_again_and_counts_once(phones: Callable[..., Any]) -> None:
    """Harm: a rate limit loses or doubles a player's choice, or leaves a page that shows only the limit; or an
    accidental second tap answers the next question."""
    dealer, players = seated("hawthorn", 2)
    dealer("start_game", seats=[1, 2])
    page, twin = phones(players[1]), phones(players[1], java_script_enabled=False)
    shows(page, "your_turn")
    choices: list[str | None] = []

    def limited(route: Any) -> None:
        choices.append(route.request.post_data)
        limited_response(route) if len(choices) == 1 else route.continue_()

    page.route("**/seat/*/*", lambda route: limited(route) if route.request.method == "POST" else route.continue_())
    before = dealer.now.seq
    page.locator(".cardtap").first.dblclick()
    expect(page.locator("#lamp")).to_have_attribute("data-code", "sending_again")
    shows(page, "chosen")
    expect(page.locator("#lamp")).to_have_attribute("data-code", "live")
    assert choices == [choices[0]] * 2, "the same key"
    twin.locator(".cardtap").last.click()
    expect(twin.locator("#refused")).to_have_attribute("data-code", "not_asked")
    assert dealer.now.seq == before + 1


@pytest.mark.trial(
    "a further path of a limit",
    covered_by="tests/browser/test_seat_pages.py::test_a_choice_that_is_asked_to_wait_is_sent_again_and_counts_once",
)
def test_a_rate_limited_page_follows_its_table_and_keeps_its_choice(phones: Callable[..., Any]) -> None:
    """Harm: a rate limit withholds the newest state of the table from a Player page, which then stops; or the page
    becomes a bare sentence in mid-game, and the player has no way back."""
    dealer, players = seated("hawthorn", 2)
    page = phones(players[1])
    boards: list[str] = []

    def limit_first(route: Any) -> None:
        boards.append(route.request.url)
        limited_response(route) if len(boards) == 1 else route.continue_()

    page.route("**/board", limit_first)
    dealer("start_game", seats=[1, 2])
    shows(page, "your_turn")
    assert len(boards) == 2
    page.route("**/seat/*/*", limited_response)
    before = dealer.now.seq
    page.locator(".cardtap").first.tap()
    expect(page.locator("#lamp")).to_have_attribute("data-code", "not_sent")
    shows(page, "your_turn")
    assert dealer.now.seq == before
    page.unroute_all()
    page.locator(".cardtap").first.tap()
    shows(page, "chosen")
    assert dealer.now.seq == before + 1


def test_five_cards_are_tapped_top_first(phones: Callable[..., Any]) -> None:
    """Harm: the order that a player taps is not the order that is kept; or is lost when another player is quicker."""
    dealer, players = seated("troll_guts", 3)
    dealer("start_game", seats=[1, 2, 3])
    page = phones(players[1])
    cards = page.locator(".place .cardtap")
    confirm = page.locator("[data-confirm]")
    expect(confirm).to_be_disabled()
    for at in (4, 2):
        cards.nth(at).tap()
    players[2].chooses(players[2].choices[0])
    expect(page.locator("#board")).to_have_attribute("data-seq", str(dealer.now.seq))
    expect(page.locator(".place__number")).to_have_count(2)
    for at in (0, 1, 3):
        cards.nth(at).tap()
    ranks = sorted(held(dealer, 1))
    confirm.tap()
    shows(page, "chosen")
    players[3].chooses(players[3].choices[-1])
    assert held(dealer, 1) == tuple(ranks[at] for at in (4, 2, 0, 1, 3))


@pytest.mark.trial(
    "further states of the same page", covered_by="tests/browser/test_seat_pages.py::test_a_whole_game_of_hawthorn"
)
@pytest.mark.parametrize("game", ["hawthorn", "troll_guts", "monster"])
def test_it_can_be_seen_reached_and_read_by_everyone(phones: Callable[..., Any], game: str) -> None:
    """Harm: keys too small for a thumb, a page wider than the phone, a page that says nothing to whoever hears it."""
    dealer, players = seated(game, 5)
    dealer("start_game", seats=[1, 2, 3, 4, 5])
    seat = next(iter(dealer.now.round.asked))
    page = phones(players[seat])
    for viewport in (PHONE, TABLET):
        page.set_viewport_size(viewport)
        assert fits_width(page)
        assert small(page, "main button, main select, main .cardpick") == []
        assert violations(page) == []


def test_the_dealer_hands_a_page_over(phones: Callable[..., Any], at_table: AtTable, browser: Any) -> None:
    """Harm: a code that no device can read; an address that is shown to the wrong eyes again."""
    dealer, _ = for_pot("hawthorn", seats={1: 5_000, 2: 5_000}, source="house")
    screen = at_table(dealer).open()
    page = screen.page
    page.locator(".menu summary").click()
    page.locator("#seat-pages").click()
    page.locator("[name=seat][value='2'][data-has-page=no]").click()
    address = page.locator("#address").inner_text()
    assert page.locator(".handover__code svg").bounding_box()["width"] > 200
    page.locator("#handed").click()
    expect(page.locator("[name=seat][value='2'][data-has-page=yes]")).to_be_visible()
    assert address not in page.content()
    player = Player(dealer.table, None, address.rstrip("/").rsplit("/", 1)[1])  # type: ignore[arg-type]
    expect(phones(player).locator(".seat-bar__who")).to_contain_text("2")
