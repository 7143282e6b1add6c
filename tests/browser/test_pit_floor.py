"""The pit in a real browser: the floor follows every commit, by itself and without losing anybody's place."""

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
from tests.codes import answers
from tests.fixtures.browser import LAPTOP, PHONE, Looking, limited_response
from tests.floor import Hand, dealt

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"width": 320, "height": 800}


QUIET = 3
"""How many cards in a row come without a fetch, once they come by the stream."""
TAKE_BACK = "#sheet [href$='/do/take-back/']"


def card(hand: Hand) -> str:
    return f'[data-card][data-live="{hand.table.pk}"]'


def shows(page: Any, hand: Hand) -> None:
    """Wait until the card shows the newest state of its table."""
    page.wait_for_selector(f'{card(hand)}[data-seq="{hand.now.seq}"]')


# --- Following the floor --------------------------------------------------------------------------------------


def test_a_round_is_followed_card_by_card_without_a_reload(looking: Looking) -> None:
    """Harm: the pit reads an outdated state of the table, its figures or its rounds."""
    dealer, boss = dealt(options={"decks": 6})
    page = looking(boss.by, f"/pit/tables/{dealer.table.pk}/")
    page.evaluate("window.untouched = true")
    assert page.locator("#rounds tbody tr").count() == 0
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10)
    shows(page, dealer)
    assert page.is_visible(f"{card(dealer)} .state--{dealer.board.due}")
    seats = page.locator(f"{card(dealer)} .spot")
    assert seats.nth(0).locator(".stack").get_attribute("aria-label").endswith(" 8")
    assert "is-marked" in str(seats.nth(0).get_attribute("class"))
    dealer.cards(8, 7, 10)
    dealer.pay()
    shows(page, dealer)
    assert "−34" in page.inner_text(f"{card(dealer)} [data-part=state]")
    assert "−34" in page.inner_text(f"{card(dealer)} [data-part=meters]")
    page.wait_for_selector("#rounds tbody tr")
    assert page.evaluate("window.untouched")


@pytest.mark.trial(
    "what a screen does not do; that it follows has its path before",
    covered_by="tests/dealer_ui/live/test_wall.py::test_a_burst_of_commits_is_drawn_once_for_all_who_watch",
)
def test_a_card_comes_by_the_stream_and_nothing_is_fetched(looking: Looking) -> None:
    """Harm: each screen asks for each table that moved, at each commit; four screens halve what the tables can deal."""
    dealer, boss = dealt(options={"decks": 6})
    Hand(floor.table("Rocket 2"), boss.by)
    page = looking(boss.by, "/pit/")
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    quiet = 0
    for at in range(60):  # until the painter is there, screens fetch
        fetched.clear()
        dealer("bet", seat=1, amount_cents=1_000 + at % 2 * 1_000)
        shows(page, dealer)
        quiet = 0 if fetched else quiet + 1
        if quiet == QUIET:
            break
    assert quiet == QUIET


def hears(page: Any, **news: Any) -> None:
    """The page is told by its stream that a table has moved."""
    script = "document.querySelector('script[src*=\"pit/live\"]').src"
    page.evaluate(f"async (news) => (await import({script})).moved(news)", news)


def test_a_floor_that_is_asked_to_wait_goes_on_by_itself(looking: Looking) -> None:
    """Harm: a limit refuses the one look that was asked for, and a pit boss reads an old card for as long as that table
    rests; or the floor becomes a bare sentence; or a card that comes late is laid over a newer one."""
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    older = page.evaluate("document.querySelector('.tile').outerHTML")
    dealer("bet", seat=1, amount_cents=1_000)
    shows(page, dealer)
    hears(page, table=dealer.table.pk, seq=1, card=older)
    assert page.get_attribute(card(dealer), "data-seq") == str(dealer.now.seq)
    page.evaluate("(selector) => { document.querySelector(selector).dataset.seq = 1 }", card(dealer))
    page.route("**/pit/**", limited_response)
    hears(page, table=dealer.table.pk, seq=dealer.now.seq)
    page.wait_for_selector("#live[data-state=slow]")
    assert serious(page) == []
    page.unroute_all()
    shows(page, dealer)
    page.wait_for_selector("#live[data-state=live]")


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
    assert page.evaluate("document.activeElement.name") == "usual"
    page.keyboard.press("Tab")
    page.keyboard.type("counted again: all there")
    page.keyboard.press("Enter")
    answers(page, "acknowledged")
    assert Acknowledgement.objects.get().note == "counted again: all there"
    assert page.query_selector("#strip-alerts") is None


@pytest.mark.trial(
    "a second alert while one is acknowledged",
    covered_by="tests/browser/test_pit_floor.py::test_a_new_alert_appears_and_is_acknowledged_from_the_keyboard",
)
def test_a_note_that_is_being_typed_survives_another_alert(looking: Looking) -> None:
    """Harm: the next alert wipes what somebody types, or is acknowledged with the one before, unread."""
    dealer, boss = dealt()
    alerts.raise_alert(dealer.table.book, "negative", "The first")
    page = looking(boss.by, "/pit/")
    page.click(".alert summary")
    page.type(".alert input[name=note]", "half a sen")
    alerts.raise_alert(dealer.table.book, "negative", "The second")
    page.wait_for_selector("text=The second >> nth=0")
    page.keyboard.type("tence")
    assert page.input_value(".alert input[name=note]") == "half a sentence"
    assert page.is_visible("#alerts [data-alike='2']")
    page.keyboard.press("Enter")
    answers(page, "acknowledged")
    assert Acknowledgement.objects.count() == 1, "what came while it was typed was not in sight of it"


@pytest.mark.trial(
    "two pages of the pit in depth, beside their path",
    covered_by="tests/browser/test_pit_floor.py::test_no_button_moves_while_a_table_goes_on",
)
def test_a_table_card_that_changes_keeps_the_focus_and_open_lists(looking: Looking) -> None:
    """Harm: each card moves the keyboard focus; a list closes under a finger; or rows of buttons push the state of the
    table off the screen."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=1_000)
    page = looking(boss.by, "/pit/")
    page.focus(f"{card(dealer)} h3 a")
    dealer.cards(8)
    shows(page, dealer)
    assert page.evaluate("document.activeElement.id") == f"to-table-{dealer.table.pk}"
    page.click(f"#more-{dealer.table.pk}")
    page.focus(TAKE_BACK)
    dealer.cards(4)
    page.wait_for_selector(f'#sheet [data-seq="{dealer.now.seq}"]')
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.id") == f"more-{dealer.table.pk}"

    page.goto(f"/pit/tables/{dealer.table.pk}/")
    page.wait_for_selector("#live[data-state=live]")
    ways = page.locator(".table-page__ways > :is(a, details)")
    assert len({round(box["y"]) for box in (way.bounding_box() for way in ways.all())}) == 1, "several rows of links"
    page.click(f"#acts-{dealer.table.pk} > summary")
    acts = page.locator(".table-card__acts .more__grid > *").all_inner_texts()
    dealer.cards(9)
    shows(page, dealer)
    assert page.locator(".table-card__acts details[open]").count() == 1
    assert page.locator(".table-card__acts .more__grid > *").all_inner_texts() == acts, "an act has moved"
    assert serious(page) == []


def places(page: Any) -> list[Any]:
    """Where the buttons of a table are, each with its words."""
    script = "(all) => all.map((button) => [button.textContent, button.getBoundingClientRect().toJSON()])"
    boxes: list[Any] = page.eval_on_selector_all("#sheet .more__grid .button", script)
    return boxes


def test_no_button_moves_while_a_table_goes_on(looking: Looking) -> None:
    """Harm: a pit boss is about to press "Fill", the round ends, and "Void round" is under the finger; or a pit boss
    takes back a card that was dealt while the page was open."""
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
    more.click()
    page.click(TAKE_BACK)
    page_seq = page.input_value(".act__form [name=seq]")
    dealer.cards(4)
    page.click(".act__form .button--primary")
    answers(page, "stale_sequence")
    assert page.input_value(".act__form [name=seq]") != page_seq
    page.click(".act__form .button--primary")
    answers(page, "take-back")
    shows(page, dealer)
    assert page.is_visible(f"{card(dealer)} .state--{dealer.board.due}")


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
    """Harm: of forty tables nobody finds theirs, or has to choose them again each time that the page is opened; or a
    limit puts its sentence in the place of the whole floor."""
    page = looking(pits.by, "/pit/")
    assert names(page) == ["Rocket 2", "Rocket 10", "Rocket 1", "Rocket 3"]
    page.evaluate("window.untouched = true")
    page.route("**/pit/**", limited_response)
    page.fill("#choose-q", "pit 1")
    page.wait_for_selector("#live[data-state=slow]")
    page.unroute_all()
    page.wait_for_selector(".tile h3:has-text('Rocket 3')", state="detached")
    assert "q=pit+1" in page.url
    assert page.evaluate("window.untouched")
    page.goto("/pit/")
    assert names(page) == ["Rocket 2", "Rocket 10"]
    page.click("#choose-all")
    page.wait_for_selector(".tile >> nth=3")
    page.click(".pit-group >> nth=0 >> summary")
    page.wait_for_url("**folded=*")
    page.reload()
    assert page.locator(".pit-group[open]").count() == 1


@pytest.mark.trial(
    "a second order of the tiles, beside their path",
    covered_by="tests/browser/test_pit_floor.py::test_tables_stand_by_pit_and_are_found_by_typing_and_kept_for_the_person",
)
def test_tables_by_need_hold_still_until_somebody_sorts_them(pits: Hand, looking: Looking) -> None:
    """Harm: a tile goes away under the finger because another table needs something."""
    page = looking(pits.by, "/pit/?order=need")
    before = names(page)
    alerts.raise_alert(Table.objects.get(name="Rocket 3").book, "negative", "The rack holds less than nothing")
    page.wait_for_selector("#moved button")
    assert names(page) == before
    page.click("#moved button")
    page.wait_for_selector(".tile:first-child.is-needing h3:has-text('Rocket 3')")
    assert serious(page, *EVERY_RULE) == []


@pytest.mark.usefixtures("own_processes")
def test_a_lost_connection_is_said_and_what_was_missed_is_caught_up(looking: Looking, web: processes.Web) -> None:
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    web.kill()
    page.wait_for_selector("#live[data-state=lost]")
    dealer("bet", seat=1, amount_cents=1_000)
    web.start()
    page.wait_for_selector("#live[data-state=live]")
    shows(page, dealer)


@pytest.mark.usefixtures("own_processes")
def test_an_outage_does_not_leave_an_error_on_the_wall(looking: Looking, web: processes.Web) -> None:
    """A stream that was refused, and a page that cannot be drawn: the screen waits, and comes back by itself."""
    dealer, boss = dealt()
    page = looking(boss.by, "/pit/")
    page.evaluate("window.untouched = true")
    for path in ("/live/", "/pit/"):
        page.route(f"{web.url}{path}", lambda route: route.fulfill(status=503, body="The database does not answer."))
    with page.expect_response(f"{web.url}/pit/"):
        web.restart()
        page.wait_for_selector("#live[data-state=lost]")
    assert page.evaluate("window.untouched"), "an error page took the floor's place"
    page.unroute_all()
    page.wait_for_selector("#live[data-state=live]")
    shows(page, dealer)


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
    dealer.reopens()
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


def test_every_page_is_readable_by_everybody_and_fits_a_narrow_screen(
    busy: tuple[Hand, Hand], looking: Looking
) -> None:
    """Harm: a page that a screen reader, a keyboard or a phone cannot use."""
    dealer, boss = busy
    page = looking(boss.by, PATHS["floor"])
    faults = {}
    for name, path in PATHS.items():
        page.goto(path.format(pk=dealer.table.pk))
        if name == "floor":
            page.click(".alert summary")
        found = serious(page, *EVERY_RULE)
        page.set_viewport_size(NARROW)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append("scrolls sideways")
        page.set_viewport_size(LAPTOP)
        if found:
            faults[name] = found
    assert faults == {}


def test_any_screen_is_reached_by_the_finder_and_by_the_menu_on_a_phone(
    busy: tuple[Hand, Hand], looking: Looking
) -> None:
    """Harm: a pit boss with the phone at the ear clicks through five pages to reach a round; or the menu takes two
    lines of every page, or leaves a screen out on a phone."""
    dealer, boss = busy
    page = looking(boss.by, "/slips/", PHONE)
    page.keyboard.press("Control+k")
    page.keyboard.type("rocket 1 1")
    page.wait_for_selector("#find-list [aria-selected=true][data-href$='/rounds/1/']")
    assert serious(page, *EVERY_RULE) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/pit/tables/{dealer.table.pk}/rounds/1/")
    assert page.locator(".bar").bounding_box()["height"] < 120
    page.click(".bar__menu")
    page.click(".screens__part:has([href$='/pit/disputes/']) > summary")
    assert serious(page, *EVERY_RULE) == []
    page.click(".screens__list [href$='/pit/disputes/']")
    page.wait_for_url("**/pit/disputes/")
