"""Reloads, second screens, lost lines, dead servers, reliefs: the dealer is always back at the same prompt."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.utils import timezone

from casino.embedded.servers import SUPERUSER
from casino.web.throttle import CLIENT
from tables.api.errors import AWAY
from tests import floor, processes
from tests.accessibility import serious
from tests.browser.conftest import AtTable, entries, hear_all, heard, stacks_of
from tests.floor import Hand
from tests.patience import eventually
from tests.settings import HOUSE

FIRST, SECOND, DEALER = ("choose", "seat 1"), ("choose", "seat 2"), ("card", "dealer")
"""What is asked in turn: the decision of seat 1, that of seat 2, the dealer's card."""


@pytest.fixture
def decide(rocket: Hand) -> Hand:
    """Seat 1 is to decide."""
    rocket.bets(seat1=1_000, seat2=2_000)
    rocket.cards(8, 9, 10)
    return rocket


@pytest.mark.trial(
    "a second screen, which the server refuses like any form of an older board",
    covered_by="tests/dealer_ui/dealer/test_views.py::test_a_form_drawn_before_the_latest_entry_is_refused_with_the_board_as_it_is",
)
def test_two_screens_cannot_act_on_one_state(at_table: AtTable, decide: Hand) -> None:
    """Harm: both key the card that lies there, and the second becomes the next seat's."""
    left, right = at_table(decide).open(), at_table(decide)
    right.page.route("**/live/**", lambda route: route.abort())
    right.page.goto(f"/tables/{decide.table.pk}/")
    left.keys("5")
    right.page.wait_for_selector("#lamp[data-state=off]", state="attached")
    right.keys("5")
    assert right.refused == "stale_sequence"
    assert right.asks == left.asks == SECOND, "refused, and up to date"


def test_a_lost_line_keeps_the_card_and_enters_it_once(at_table: AtTable, decide: Hand) -> None:
    """Harm: a card is lost with the line, or entered twice; or the dealer cannot drop what was never confirmed."""
    screen = at_table(decide).open()
    start = screen.seq
    screen.page.context.set_offline(True)
    screen.page.keyboard.press("5")
    screen.page.wait_for_selector("#line[data-code=no_connection]")
    screen.page.keyboard.press("6")
    assert screen.asks == FIRST
    screen.page.context.set_offline(False)
    screen.at(start + 1)
    assert screen.page.is_hidden("#line")
    assert screen.asks == SECOND
    assert entries(decide, start) == [("round", "play")]
    screen.page.route("**/input", lambda route: route.abort())
    screen.pause()
    screen.page.keyboard.press("6")
    screen.page.wait_for_selector("#line-drop")
    screen.page.tap("#line-drop")
    screen.page.wait_for_selector("#line", state="hidden")
    screen.page.unroute("**/input")
    assert screen.seq == start + 1
    screen.keys("7")
    assert decide.board.seats[1].stack == (9, 7)


def test_a_lost_answer_is_not_entered_again(at_table: AtTable, decide: Hand) -> None:
    """Harm: the card was recorded, the answer was lost, and the card is recorded again for the next seat; or the next
    card, which was typed meanwhile, is lost."""
    screen = at_table(decide).open()
    start, sent = screen.seq, []
    screen.page.on("request", lambda request: request.method == "POST" and sent.append(request.post_data))
    screen.hold()
    with heard(screen.page, "**/input"):
        screen.type("5")
    screen.type("6")
    screen.holds = False
    first = screen.held.pop()
    assert first.fetch().status == 200
    first.abort()
    screen.at(start + 2)
    assert sent[0] == sent[1], "the screen did not send it again"
    assert entries(decide, start) == [("round", "play")] * 2
    assert stacks_of(decide) == {1: (8, 5), 2: (9, 6)}
    assert screen.asks == DEALER


def test_a_board_that_is_not_wanted_any_more_is_no_error(at_table: AtTable, decide: Hand) -> None:
    """Harm: a fault is noted on a screen that has none, because two refreshes were asked for at once and the dealer's
    key overtook the second."""
    screen = at_table(decide).open()
    start = screen.seq
    asked: list[Any] = []
    screen.page.evaluate("addEventListener('htmx:sseBeforeMessage', ({detail}) => (window.told = Number(detail.data)))")
    screen.page.route("**/board", lambda route: asked.append(route))
    with heard(screen.page, "**/board"):
        decide.cards(5)
    decide.cards(6)
    screen.page.wait_for_function("seq => window.told >= seq", arg=decide.now.seq)  # while the first is under way
    with heard(screen.page, "**/board"):
        asked.pop().continue_()
    screen.keys("7")
    hear_all(screen.page)
    assert screen.complaints == []
    assert entries(decide, start) == [("round", "play")] * 3


@pytest.mark.usefixtures("own_processes")
def test_the_web_process_dies_in_mid_round(at_table: AtTable, decide: Hand, web: processes.Web) -> None:
    screen = at_table(decide).open()
    start = screen.seq
    web.kill()
    screen.page.keyboard.press("5")
    screen.page.wait_for_selector("#line")
    web.start()
    screen.at(start + 1)
    assert entries(decide, start) == [("round", "play")]
    screen.page.wait_for_selector("#lamp[data-state=live]")
    screen.keys("6")
    assert screen.asks == DEALER


@pytest.fixture
def unreachable() -> Iterator[Callable[[bool], None]]:
    """``unreachable(True)``: the web process loses its connections to this test's database, and gets no other."""
    name = connection.settings_dict["NAME"]

    def switch(away: bool) -> None:
        with psycopg.connect(HOUSE.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
            admin.execute("UPDATE pg_database SET datallowconn = %s WHERE datname = %s", [not away, name])
            if away:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
                    " AND application_name <> 'tests'",
                    [name],
                )

    yield switch
    switch(False)


@pytest.mark.usefixtures("own_processes")
def test_the_database_is_away_in_mid_round(
    at_table: AtTable, decide: Hand, unreachable: Callable[[bool], None]
) -> None:
    screen = at_table(decide).open()
    start = screen.seq
    unreachable(True)
    screen.page.keyboard.press("5")
    screen.page.wait_for_selector("#line[data-code=put_off][data-status='503']")
    assert entries(decide, start) == []
    unreachable(False)
    screen.at(start + 1)
    assert entries(decide, start) == [("round", "play")]
    assert screen.asks == SECOND


def test_a_house_that_is_away_is_asked_ever_less_often_and_a_limit_is_waited_for(
    at_table: AtTable, decide: Hand
) -> None:
    """Harm: screens that ask at a steady pace take one of the house's connections more each time; or a limit refuses an
    input, and the screen drops the card, asks for a reload in mid-round, or hammers on."""
    screen = at_table(decide).open()
    start, sent = screen.seq, []

    def away(route: Any) -> None:
        sent.append(route.request.post_data)
        route.fulfill(status=AWAY.status, content_type="text/plain", body=AWAY.sentence)

    def limited(route: Any) -> None:
        sent.append(route.request.post_data)
        headers = {"Retry-After": "60", "Content-Type": "text/plain; charset=utf-8"}
        route.fulfill(status=CLIENT.status, headers=headers, body=CLIENT.sentence)

    screen.page.route("**/input", away)
    screen.page.clock.pause_at(timezone.now() + timedelta(minutes=1))
    screen.page.keyboard.press("5")
    screen.page.wait_for_selector("#line[data-code=put_off]")
    for count, (early, late) in enumerate([(370, 260), (740, 520), (740, 520)], 1):
        screen.page.clock.run_for(early)
        hear_all(screen.page)
        assert len(sent) == count
        with screen.page.expect_response("**/input"):
            screen.page.clock.run_for(late)
    screen.page.route("**/input", limited)
    screen.page.clock.run_for(1_260)
    screen.page.wait_for_selector("#line[data-status='429']")
    assert screen.page.is_hidden("#line-reload")
    screen.page.unroute_all()
    attempts = len(sent)
    screen.page.route("**/input", lambda route: sent.append(route.request.post_data) or route.continue_())
    screen.page.clock.run_for(40_000)
    hear_all(screen.page)
    assert len(sent) == attempts == 5, "it did not wait as long as it was asked to"
    screen.page.clock.run_for(30_000)
    screen.page.clock.resume()
    screen.at(start + 1)
    assert len(sent) == attempts + 1
    assert len(set(sent)) == 1, "the same key"
    assert screen.page.is_hidden("#line")
    assert entries(decide, start) == [("round", "play")]


@pytest.mark.usefixtures("own_processes")
def test_all_answers_while_the_database_is_away(
    decide: Hand, web: processes.Web, unreachable: Callable[[bool], None]
) -> None:
    cookies = floor.cookies_of(decide.by, web.url)
    headers = {"Cookie": "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)}
    addresses = ("/", "/tables/", f"/tables/{decide.table.pk}/", "/sign-in/", "/api/tables/")
    assert all(_get(web.url + address, headers)[0] == 200 for address in addresses)
    unreachable(True)
    with ThreadPoolExecutor() as many:
        waited = {address: many.submit(_get, web.url + address, headers) for address in addresses}
        board = many.submit(_get, f"{web.url}/tables/{decide.table.pk}/board", headers | {"HX-Request": "true"})
    answers = {address: one.result() for address, one in waited.items()}
    assert {status for status, _, _ in answers.values()} == {503}
    assert json.loads(answers["/api/tables/"][2])["code"] == "database_unavailable"
    for address in addresses[:-1]:
        assert AWAY.sentence in answers[address][2]
    assert board.result() == (503, "text/plain; charset=utf-8", AWAY.sentence)
    unreachable(False)
    eventually(lambda: _get(web.url + "/tables/", headers)[0] == 200, "the pool has not found its way back")


def _get(address: str, headers: dict[str, str]) -> tuple[int, str, str]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=60) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers["Content-Type"], refused.read().decode()


def test_a_dealer_who_is_signed_out_is_led_to_the_sign_in(at_table: AtTable, decide: Hand) -> None:
    """Harm: cards are entered for somebody who is signed out, or who is sent away cannot read why and where to."""
    screen = at_table(decide).open()
    start = screen.seq
    Session.objects.all().delete()
    screen.keys("5")
    assert screen.page.get_attribute("#board", "data-gone") == "signed_out"
    assert screen.page.get_attribute("#board a", "href") == "/sign-in/"
    assert serious(screen.page) == []
    assert entries(decide, start) == []


@pytest.mark.trial(
    "a form of the menu",
    covered_by="tests/tables/staff/test_sign_in.py::test_tapping_out_signs_out_of_the_terminal",
)
def test_tapping_out(at_table: AtTable, rocket: Hand) -> None:
    """Harm: a dealer cannot leave the table, or leaves it in mid-round."""
    rocket("bet", seat=1, amount_cents=2_000)
    screen = at_table(rocket).open()
    screen.page.click(".menu summary")
    screen.page.tap("#tap-out")
    screen.page.wait_for_selector("#refused")
    assert screen.refused == "round_open"
    rocket("take_back")
    screen.open()
    screen.page.click(".menu summary")
    screen.page.tap("#tap-out")
    screen.page.wait_for_selector(".picks")
    assert rocket.now.dealer is None
    screen.page.tap(".pick")
    screen.page.wait_for_selector("#board")
    assert screen.due == "bets"
