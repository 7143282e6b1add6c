"""The pit in a real browser: the floor follows every commit, by itself and without losing anybody's place."""

import statistics
import time
from typing import Any

import pytest

from ledger import alerts
from ledger.models import Acknowledgement
from tables.log.entries.pits import PitSectionSet
from tables.models import Table
from tables.roles import Role
from tables.setup.pits import set_section
from tests import floor, processes
from tests.accessibility import EVERY_RULE, serious
from tests.fixtures.browser import Looking, limited_response
from tests.floor import Hand, dealt

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

TABLET = {"width": 1280, "height": 800}
GENEROUS = 2_000  # milliseconds: what is measured is printed, not asserted


def card(hand: Hand) -> str:
    return f'[data-card][data-live="{hand.table.pk}"]'


def shows(page: Any, hand: Hand) -> None:
    """Wait until the card shows the newest state of its table."""
    page.wait_for_selector(f'{card(hand)}[data-seq="{hand.now.seq}"]', timeout=GENEROUS)


# --- Following the floor --------------------------------------------------------------------------------------


def test_a_round_is_followed_card_by_card_without_a_reload(looking: Looking) -> None:
    dealer, boss = dealt(options={"decks": 6})
    page = looking(boss.by, f"/pit/tables/{dealer.table.pk}/")
    page.evaluate("window.untouched = true")
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10)
    shows(page, dealer)
    assert page.inner_text(f"{card(dealer)} .state") == "Seat 1 decides"
    seats = page.locator(f"{card(dealer)} .spot")
    assert seats.nth(0).locator(".stack").get_attribute("aria-label") == "Cards: 8"
    assert "is-marked" in str(seats.nth(0).get_attribute("class"))
    dealer.cards(8, 7, 10)
    dealer.pay()
    shows(page, dealer)
    assert "−34" in page.inner_text(f"{card(dealer)} [data-part=state]")
    assert "−34" in page.inner_text(f"{card(dealer)} [data-part=meters]")
    assert page.evaluate("window.untouched")


def test_a_card_comes_by_the_stream_and_nothing_is_fetched(looking: Looking) -> None:
    """Harm: each screen asks for each table that moved, at each commit; four screens halve what the tables can deal."""
    dealer, boss = dealt(options={"decks": 6})
    Hand(floor.table("Rocket 2"), boss.by)
    page = looking(boss.by, "/pit/")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    for amount_cents in range(1_000, 31_000, 1_000):  # until the painter is there, screens fetch
        fetched.clear()
        dealer("bet", seat=1, amount_cents=amount_cents)
        shows(page, dealer)
        if not fetched:
            break
    page.wait_for_timeout(1_500)  # what was to be fetched for the last of them
    fetched.clear()
    dealer("close_bets")
    dealer.cards(8)
    shows(page, dealer)
    assert not fetched


def hears(page: Any, **news: Any) -> None:
    """The page is told by its stream that a table has moved."""
    script = "document.querySelector('script[src*=\"pit/live\"]').src"
    page.evaluate(f"async (news) => (await import({script})).moved(news)", news)


def test_an_older_card_never_replaces_a_newer_one(looking: Looking) -> None:
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    older = page.evaluate("document.querySelector('.tile').outerHTML")
    dealer("bet", seat=1, amount_cents=1_000)
    shows(page, dealer)
    hears(page, table=0, seq=1, card=older)
    assert page.get_attribute(card(dealer), "data-seq") == str(dealer.now.seq)


def test_a_card_that_is_older_than_the_stream_says_is_caught_up(looking: Looking, web: processes.Web) -> None:
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    page.evaluate("(selector) => { document.querySelector(selector).dataset.seq = 1 }", card(dealer))
    hears(page, table=dealer.table.pk, seq=dealer.now.seq)
    shows(page, dealer)


def test_a_floor_that_is_asked_to_wait_goes_on_by_itself(looking: Looking) -> None:
    """Harm: a limit refuses the one look that was asked for, and a pit boss reads an old card for as long as that table
    rests; or the floor becomes a bare sentence."""
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    page.evaluate("(selector) => { document.querySelector(selector).dataset.seq = 1 }", card(dealer))
    page.route("**/pit/**", limited_response)
    hears(page, table=dealer.table.pk, seq=dealer.now.seq)
    page.wait_for_selector("#live[data-state=slow]:has-text('asks too often, going on in a moment')")
    assert serious(page) == []
    page.unroute_all()
    shows(page, dealer)
    page.wait_for_selector("#live[data-state=live]")


def test_tiles_that_are_chosen_too_often_are_shown_a_moment_later(looking: Looking) -> None:
    """Harm: a limit puts its sentence in the place of the whole floor."""
    dealer, boss = dealt()
    Hand(floor.table("Rocket 2"), boss.by)
    page = looking(boss.by, "/pit/")
    page.evaluate("window.untouched = true")
    page.route("**/pit/**", limited_response)
    page.fill("[name=q]", "Rocket 2")
    page.wait_for_selector("#live[data-state=slow]")
    page.unroute_all()
    page.wait_for_selector(card(dealer), state="detached")
    assert page.evaluate("window.untouched")


def test_a_commit_is_on_screen_soon(looking: Looking, capsys: pytest.CaptureFixture[str]) -> None:
    """From the commit in this process to the card in the browser. The aim is 200 ms."""
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    page.evaluate(
        """(selector) => {
            window.seen = {};
            const card = document.querySelector(selector);
            new MutationObserver(() => { window.seen[card.dataset.seq] ??= Date.now(); })
                .observe(card, { attributes: true });
        }""",
        card(dealer),
    )
    committed = {}
    for at in range(20):
        answer = dealer("bet", seat=at % 6 + 1, amount_cents=1_000 + at // 6 % 2 * 1_000)
        committed[str(answer.seq)] = time.time() * 1000
        shows(page, dealer)
    seen = page.evaluate("window.seen")
    took = sorted(seen[seq] - at for seq, at in committed.items())
    with capsys.disabled():
        print(f"\ncommit to screen: p50 {statistics.median(took):.0f} ms, p95 {took[18]:.0f} ms")
    assert took[-1] < GENEROUS


def test_a_new_alert_appears_and_is_acknowledged_from_the_keyboard(looking: Looking) -> None:
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    alerts.raise_alert(dealer.table.book, "negative", "The rack holds less than nothing")
    page.wait_for_selector("text=The rack holds less than nothing >> nth=0")
    assert "less than nothing" in page.inner_text("#announcer")
    assert page.inner_text("#strip-alerts") == "1"
    page.focus(".alert summary")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert "nothing is moved until it is settled" in page.evaluate("document.activeElement.innerText")
    page.keyboard.press("Tab")
    page.keyboard.type("counted again: all there")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Acknowledged: The rack holds less than nothing")
    assert Acknowledgement.objects.get().note == "counted again: all there"
    assert page.query_selector("#strip-alerts") is None


def test_a_note_that_is_being_typed_survives_another_alert(looking: Looking) -> None:
    dealer, boss = dealt()
    alerts.raise_alert(dealer.table.book, "negative", "The first")
    page = looking(boss.by, "/pit/")
    page.click(".alert summary")
    page.type(".alert input[name=note]", "half a sen")
    alerts.raise_alert(dealer.table.book, "negative", "The second")
    page.wait_for_selector("text=The second >> nth=0")
    page.keyboard.type("tence")
    assert page.input_value(".alert input[name=note]") == "half a sentence"
    assert "2 alike" in page.inner_text("#alerts")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=Acknowledged: The first")
    assert Acknowledgement.objects.count() == 1, "what came while it was typed was not in sight of it"


def test_focus_stays_where_it_was_when_a_card_changes(looking: Looking) -> None:
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000)
    page = looking(boss.by, "/pit/")
    page.focus(f"{card(dealer)} h3 a")
    dealer.cards(8)
    shows(page, dealer)
    assert page.evaluate("document.activeElement.id") == f"to-table-{dealer.table.pk}"
    page.click(f"#more-{dealer.table.pk}")
    page.focus("#sheet a:has-text('Take back')")
    dealer.cards(4)
    page.wait_for_selector(f'#sheet [data-seq="{dealer.now.seq}"]')
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == f"more-{dealer.table.pk}"


def places(page: Any) -> dict[str, Any]:
    """Where the floor's buttons are, by their words."""
    script = "(all) => Object.fromEntries(all.map((b) => [b.textContent, b.getBoundingClientRect().toJSON()]))"
    boxes: dict[str, Any] = page.eval_on_selector_all("#sheet .more__grid .button", script)
    return boxes


def test_no_button_moves_while_a_table_goes_on(looking: Looking) -> None:
    """Harm: somebody is about to press "Fill", the round ends, and "Void round" lies under the finger."""
    dealer, boss = dealt(options={"decks": 6})
    page = looking(boss.by, "/pit/")
    more = page.locator(f"#more-{dealer.table.pk}")
    tile = more.bounding_box()
    more.click()
    page.wait_for_selector("#sheet .more__grid")
    before = places(page)
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    page.wait_for_selector(f'#sheet [data-seq="{dealer.now.seq}"]')
    assert places(page) == before
    assert serious(page, *EVERY_RULE) == []
    page.keyboard.press("Escape")
    assert more.bounding_box() == tile


@pytest.fixture
def pits(db: None) -> Hand:
    """Two pits of four tables, of which one is dealt."""
    dealer, boss = dealt(options={"decks": 6})
    olga = floor.staff(Role.OPERATOR, "olga", "301")
    for number in (2, 3, 10):
        floor.table(f"Rocket {number}")
    for pit, section, names in (("Pit 1", "A", ("Rocket 10", "Rocket 2")), ("Pit 2", "", ("Rocket 1", "Rocket 3"))):
        set_section(PitSectionSet(pit=pit, section=section, tables=names), by=olga)
    return Hand(dealer.table, boss.by)


def names(page: Any) -> list[str]:
    shown: list[str] = page.eval_on_selector_all(".tile h3", "(all) => all.map((h) => h.textContent)")
    return shown


def test_tables_stand_by_pit_and_are_found_by_typing_and_kept_for_the_person(pits: Hand, looking: Looking) -> None:
    """Harm: of forty tables nobody finds theirs; or has to choose them again each time that the page is opened."""
    page = looking(pits.by, "/pit/")
    assert names(page) == ["Rocket 2", "Rocket 10", "Rocket 1", "Rocket 3"]
    page.fill("#choose-q", "pit 1")
    page.wait_for_selector(".tile h3:has-text('Rocket 3')", state="detached")
    assert "q=pit+1" in page.url
    page.goto("/pit/")
    assert names(page) == ["Rocket 2", "Rocket 10"]
    page.click("#choose-all")
    page.wait_for_selector(".tile >> nth=3")
    page.click(".pit-group >> nth=0 >> summary")
    page.wait_for_url("**folded=*")
    page.reload()
    assert page.locator(".pit-group[open]").count() == 1


def test_tables_by_need_hold_still_until_somebody_sorts_them(pits: Hand, looking: Looking) -> None:
    """Harm: a tile goes away under the finger because another table needs something."""
    page = looking(pits.by, "/pit/?order=need")
    before = names(page)
    alerts.raise_alert(Table.objects.get(name="Rocket 3").book, "negative", "The rack holds less than nothing")
    page.wait_for_selector("#moved button")
    assert names(page) == before
    page.click("#moved button")
    page.wait_for_selector(".tile:first-child h3:has-text('Rocket 3')")
    assert "Alert:" in page.inner_text(".tile >> nth=0")
    assert serious(page, *EVERY_RULE) == []


def test_a_lost_connection_is_said_and_what_was_missed_is_caught_up(looking: Looking, web: processes.Web) -> None:
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    web.kill()
    page.wait_for_selector("#live[data-state=lost]")
    assert page.inner_text("#live") == "Connection lost, trying again"
    dealer("bet", seat=1, amount_cents=1_000)
    web.start()
    page.wait_for_selector("#live[data-state=live]")
    shows(page, dealer)


def test_an_outage_does_not_leave_an_error_on_the_wall(looking: Looking, web: processes.Web) -> None:
    """A stream that was refused, and a page that cannot be drawn: the screen waits, and comes back by itself."""
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    page.evaluate("window.untouched = true")
    tried: list[str] = []

    def away(route: Any) -> None:
        tried.append(route.request.url)
        route.fulfill(status=503, body="The database does not answer.")

    for path in ("/live/", "/pit/"):
        page.route(f"{web.url}{path}", away)
    web.restart()
    page.wait_for_selector("#live[data-state=lost]")
    while not any(url.endswith("/pit/") for url in tried):
        page.wait_for_timeout(50)
    assert page.evaluate("window.untouched"), "an error page took the floor's place"
    page.unroute_all()
    page.wait_for_selector("#live[data-state=live]")
    shows(page, dealer)


def test_the_rounds_of_a_table_follow_it_while_the_newest_are_shown(looking: Looking) -> None:
    dealer, boss = dealt(options={"decks": 6})
    page = looking(boss.by, f"/pit/tables/{dealer.table.pk}/")
    assert "No round was dealt yet" in page.inner_text("#rounds")
    for _ in range(2):
        dealer.bets(seat1=1_000)
        dealer.cards(8, 3)
        dealer.pay()
    page.wait_for_selector("#rounds tbody tr:nth-child(2)", timeout=2 * GENEROUS)
    page.wait_for_selector(".chart__title :text('−6')")
    assert page.locator(".plot__mark").count() == 2


# --- Doing ----------------------------------------------------------------------------------------------------


def test_taking_back_is_refused_when_the_table_has_moved_on(looking: Looking) -> None:
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000)
    dealer.cards(8)
    page = looking(boss.by, "/pit/")
    page.click(f"#more-{dealer.table.pk}")
    page.click("text=Take back")
    assert "“Seat 1: 8”" in page.inner_text(".act")
    dealer.cards(4)
    page.click("button:has-text('Take back')")
    page.wait_for_selector("text=The table has moved on since this screen was drawn")
    assert "“Dealer: 4”" in page.inner_text(".act")
    page.click("button:has-text('Take back')")
    page.wait_for_selector("text=the latest input is taken back")
    shows(page, dealer)
    assert page.inner_text(f"{card(dealer)} .state") == "Card for dealer"


# --- For everybody --------------------------------------------------------------------------------------------


@pytest.fixture
def busy() -> tuple[Hand, Hand]:
    """A floor with something of everything: a round going on, a correction, alerts, a closed table."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    dealer.bets(seat2=1_000)
    dealer.cards(9, 3)
    dealer("take_back")
    dealer.cards(8)
    floor.table("Rocket 2")
    alerts.raise_alert(dealer.table.book, "negative", "The rack holds less than nothing")
    done = alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    alerts.acknowledge(done, boss.by.signature, "they do")
    return dealer, boss


PATHS = {
    "floor": "/pit/",
    "alerts": "/pit/alerts/",
    "table": "/pit/tables/{pk}/",
    "found": "/pit/tables/{pk}/?outcome=pair",
    "log": "/pit/tables/{pk}/log/",
    "round": "/pit/tables/{pk}/rounds/2/?step=4",
    "act": "/pit/tables/{pk}/do/take-back/",
    "more": "/pit/tables/{pk}/more/",
}


RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


@pytest.mark.parametrize("name", PATHS)
def test_axe_finds_no_serious_violation(name: str, busy: tuple[Hand, Hand], looking: Looking) -> None:
    dealer, boss = busy
    page = looking(boss.by, PATHS[name].format(pk=dealer.table.pk))
    if name == "floor":
        page.click(".alert summary")
    assert serious(page, *EVERY_RULE) == []


@pytest.mark.parametrize("viewport", [TABLET, {"width": 1440, "height": 900}, {"width": 320, "height": 800}], ids=str)
@pytest.mark.parametrize("name", PATHS)
def test_no_page_scrolls_sideways(
    name: str, viewport: dict[str, int], busy: tuple[Hand, Hand], looking: Looking
) -> None:
    dealer, boss = busy
    page = looking(boss.by, PATHS[name].format(pk=dealer.table.pk), viewport)
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("name", PATHS)
def test_every_page_works_without_scripts(name: str, busy: tuple[Hand, Hand], browser: Any, web: processes.Web) -> None:
    dealer, boss = busy
    context = browser.new_context(base_url=web.url, java_script_enabled=False)
    context.add_cookies(floor.cookies_of(boss.by, web.url))
    page = context.new_page()
    assert page.goto(PATHS[name].format(pk=dealer.table.pk)).status == 200
    if name == "round":
        page.click("text=Next")
        assert page.inner_text(".playback__at").startswith("5")
    context.close()


def test_anything_is_found_from_the_keyboard(busy: tuple[Hand, Hand], looking: Looking) -> None:
    """Harm: a pit boss with the phone at the ear clicks through five pages to reach a round."""
    dealer, boss = busy
    page = looking(boss.by, "/slips/")
    page.keyboard.press("Control+k")
    page.keyboard.type("rocket 1 1")
    page.wait_for_selector("#find-list [aria-selected=true]:has-text('round 1')")
    assert serious(page, *EVERY_RULE) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/pit/tables/{dealer.table.pk}/rounds/1/")


@pytest.mark.parametrize("width", [1280, 1024, 390])
def test_the_menu_is_one_line_and_reaches_every_screen(width: int, looking: Looking) -> None:
    """Harm: the menu takes two lines of every page, or a screen cannot be reached on a phone."""
    page = looking(floor.staff(Role.AUDITOR, "ada"), "/pit/reports/exceptions/", {"width": width, "height": 844})
    assert page.locator(".bar").bounding_box()["height"] < 120
    if width < 1180:
        page.click(".bar__menu")
    page.click(".screens summary:has-text('Records')")
    assert page.get_attribute(".screens__list a:has-text('Exceptions')", "aria-current") == "page"
    assert serious(page, *EVERY_RULE) == []
    page.click(".screens__list a:has-text('Disputes')")
    page.wait_for_url("**/pit/disputes/")


def test_what_is_done_seldom_is_folded_and_stays_unfolded_while_the_table_moves(looking: Looking) -> None:
    """Harm: rows of buttons push what goes on at the table off the screen; or the list closes under a finger because a
    card was dealt."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000)
    page = looking(boss.by, f"/pit/tables/{dealer.table.pk}/")
    ways = page.locator(".table-page__ways > :is(a, details)")
    assert len({round(box["y"]) for box in (way.bounding_box() for way in ways.all())}) == 1, "one row"
    page.click("summary:has-text('Slips and acts')")
    names = page.locator(".table-card__acts .more__grid > *").all_inner_texts()
    dealer.cards(8)
    shows(page, dealer)
    assert page.locator(".table-card__acts details[open]").count() == 1
    assert page.locator(".table-card__acts .more__grid > *").all_inner_texts() == names, "each has its place"
    assert serious(page) == []
