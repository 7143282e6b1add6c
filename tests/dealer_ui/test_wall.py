"""The floor drawn for all who watch: once a role, each as its role may see it, and not once a commit."""

import asyncio
import json
from collections.abc import Collection
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dealer_ui import wall
from dealer_ui.live import Cards
from dealer_ui.wall import ALERTS, STRIP, Messages, Painter, Wall
from ledger import alerts, cage
from ledger.chips import money
from ledger.models import Account
from tables import standing
from tables.inputs import BeginSlip
from tables.roles import Role
from tests import floor
from tests.floor import Hand, dealt, signs

BOSS, AUDITOR = Role.PIT_BOSS.value, Role.AUDITOR.value


def draw(painter: Painter, roles: Collection[str], *hands: Hand, anew: bool = False) -> dict[str, Messages]:
    return painter.draw(roles, {hand.table.book_id for hand in hands}, alerts=True, anew=anew)


def shown(message: bytes) -> Any:
    """What an event brings."""
    name, data = message.decode().rstrip("\n").split("\n")
    assert name.startswith("event: ")
    return json.loads(data.removeprefix("data: "))


# --- What is drawn --------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_each_role_sees_what_it_may_do() -> None:
    dealer, _ = dealt()
    alerts.raise_alert(dealer.table.book, "negative", "Less than nothing")
    drawn = draw(Painter(), [BOSS, AUDITOR], dealer, anew=True)
    book = dealer.table.book_id
    assert "/slips/" in shown(drawn[BOSS][book])["card"]
    assert "/slips/" not in shown(drawn[AUDITOR][book])["card"]
    assert "/acknowledge" in shown(drawn[BOSS][ALERTS])["html"]
    assert "/acknowledge" not in shown(drawn[AUDITOR][ALERTS])["html"]
    assert "csrfmiddlewaretoken" not in drawn[BOSS][ALERTS].decode(), "one person's token for all"


@pytest.mark.django_db
def test_who_may_count_a_rack_is_not_sent_what_is_due_there() -> None:
    """Harm: the second counter looks up at the floor's screen, and counts what stands there."""
    dealer, _ = dealt()
    dealer("sell_chips", amount_cents=12_300)
    due = money(cage.balance(Account.objects.get(book=dealer.table.book, place="rack")))
    signs(dealer.table, dealer.by, BeginSlip("rack", ((500, 1),)))
    drawn = draw(Painter(), [BOSS, AUDITOR], dealer, anew=True)
    assert due in drawn[AUDITOR][dealer.table.book_id].decode()
    for message in drawn[BOSS].values():
        assert due not in message.decode()


@pytest.mark.django_db
def test_the_line_adds_up_all_tables_though_one_is_drawn() -> None:
    dealer, boss = dealt(options={"decks": 6})
    painter = Painter()
    draw(painter, [BOSS], anew=True)
    other = Hand(floor.table("Rocket 2"), boss.by)
    other("open_table")
    assert "<b>2</b> of 2" in shown(draw(painter, [BOSS], other)[BOSS][STRIP])["html"]
    dealer.bets(seat1=1_000)
    dealer.cards(8, 3)
    dealer.pay()
    drawn = draw(painter, [BOSS], dealer)[BOSS]
    assert drawn.keys() == {dealer.table.book_id, STRIP, ALERTS}
    assert "−3" in shown(drawn[STRIP])["html"]


@pytest.mark.django_db
def test_drawing_many_tables_for_many_roles_costs_the_queries_of_one() -> None:
    dealer, boss = dealt()
    painter = Painter()

    def cost(roles: Collection[str], *hands: Hand) -> int:
        draw(painter, roles, anew=True)
        standing.cache.clear()
        with CaptureQueriesContext(connection) as captured:
            draw(painter, roles, *hands)
        return len(captured)

    alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    one = cost([BOSS], dealer)
    more = [Hand(floor.table(f"Rocket {number}"), boss.by) for number in range(2, 7)]
    for hand in more:
        hand("open_table")
    each = cost([BOSS], dealer, *more)
    assert each == one
    assert cost([BOSS, AUDITOR, "operator"], dealer, *more) == one + 2, "the alerts are read for each role"


# --- How often ------------------------------------------------------------------------------------------------


class Counting(Painter):
    """Counts what it is asked to draw, and draws a line of it."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__()
        self.asked: list[tuple[tuple[str, ...], set[int]]] = []
        self.failures = list(failures)

    def draw(self, roles: Any, books: Any, *, alerts: bool, anew: bool) -> dict[str, Messages]:
        self.asked.append((tuple(roles), set(books)))
        if self.failures:
            raise self.failures.pop()
        return {role: {book: f"{role} {book} drawing {len(self.asked)}\n".encode() for book in books} for role in roles}


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wall, "SHARED", 0.05)
    monkeypatch.setattr(wall, "PAUSE", 0.01)


def watching(painter: Painter, roles: Collection[str], moves: int) -> list[bytes]:
    """What screens get while a table moves so often; each screen reads at the end."""

    async def work() -> list[bytes]:
        here = Wall()
        here._painter = painter
        contexts = [here.screen(Cards(role, {1: 10, 2: 20}, whole=True), {1: 5}) for role in roles]
        screens = [context.__enter__() for context in contexts]
        await asyncio.sleep(0.1)
        for _ in range(moves):
            here.moved(1)
            await asyncio.sleep(0.001)
        here.moved(99)
        await asyncio.sleep(0.2)
        sent = [await anext(screen.messages()) for screen in screens]
        for context in contexts:
            context.__exit__(None, None, None)
        return sent

    return asyncio.run(work())


@pytest.mark.usefixtures("quickly")
def test_a_burst_of_commits_is_drawn_once_for_all_who_watch() -> None:
    """Harm: four screens on the wall draw each commit four times, and the tables deal half as fast."""
    painter = Counting()
    sent = watching(painter, [BOSS] * 4, moves=20)
    assert len(set(sent)) == 1
    drawings = [books for _, books in painter.asked if books]
    assert all(books == {1} for books in drawings), "a table that nobody watches was drawn"
    assert 1 <= len(drawings) <= 4
    assert sent[0].decode() == f"pit_boss 1 drawing {len(painter.asked)}\n", "an older card is sent"


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("failure", [wall.DatabaseError("the database is away"), KeyError("a table that is new")])
def test_what_could_not_be_drawn_is_drawn_soon(failure: Exception) -> None:
    """Harm: the wall shows a floor of minutes ago, and nothing says so."""
    painter = Counting(failure, failure)
    assert b"pit_boss 1 drawing" in watching(painter, [BOSS], moves=1)[0]
