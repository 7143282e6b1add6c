"""The floor drawn for all who watch: once a role, each as its role may see it, and not once a commit."""

import asyncio
import json
from collections.abc import Collection
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dealer_ui.live import wall
from dealer_ui.live.admission import Cards
from dealer_ui.live.painter import CannotDraw, Drawing, Order, PainterProcess, on_page
from dealer_ui.live.wall import Wall
from dealer_ui.pit.floor.card_drawing import ALERTS, STRIP, Painter
from dealer_ui.templatetags.pit import signed
from ledger import alerts, cage
from ledger.models import Account
from ledger.proof.chips import money
from tables.floor.inputs import BeginSlip, SignSlip
from tables.reports import figures, gaming_hours
from tables.roles import Role
from tables.setup import policies
from tables.state import table_state
from tests import floor
from tests.floor import Hand, dealt, signs

BOSS, AUDITOR = Role.PIT_BOSS.value, Role.AUDITOR.value


def draw(painter: Painter, roles: Collection[str], *hands: Hand, anew: bool = False) -> Drawing:
    books = frozenset(hand.table.book_id for hand in hands)
    return painter.draw(Order(tuple(roles), books, pages=books, alerts=True, anew=anew))


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
    assert "/slips/" in shown(drawn[BOSS][on_page(book)])["card"]
    assert "/slips/" not in shown(drawn[AUDITOR][on_page(book)])["card"]
    assert "/acknowledge" in shown(drawn[BOSS][ALERTS])["html"]
    assert "/acknowledge" not in shown(drawn[AUDITOR][ALERTS])["html"]
    assert "csrfmiddlewaretoken" not in drawn[BOSS][ALERTS].decode(), "one person's token for all"


@pytest.mark.django_db
def test_the_expected_chips_of_a_rack_are_not_sent_to_the_roles_that_count_it() -> None:
    """Harm: a pit boss who counts a rack reads the expected chips from the floor's screen, before or during the count,
    and enters those."""
    dealer, _ = dealt()
    dealer("sell_chips", amount_cents=12_300)
    due = money(cage.balance(Account.objects.get(book=dealer.table.book, place="rack")))

    def is_sent_to(*roles: str) -> list[bool]:
        messages = draw(Painter(), roles, dealer, anew=True)
        return [any(due in message.decode() for message in messages[role].values()) for role in roles]

    assert is_sent_to(BOSS, AUDITOR) == [False, True]
    policies.change({"expected_shown_to": ("pit_boss",)}, by=floor.staff(Role.OPERATOR, "olga", "301"))
    policies.forget()
    assert is_sent_to(BOSS) == [True], "the policy for pit bosses has no effect"
    signs(dealer.table, dealer.by, BeginSlip("rack", ((500, 1),)))
    assert is_sent_to(BOSS) == [False], "the expected chips are sent during the count"


def fill(dealer: Hand) -> None:
    """50 come from the cage, counted in by the dealer who stands there."""
    signs(dealer.table, floor.crew("requested"), BeginSlip("fill", ((500, 10),)))
    slip = dealer.now.slips[-1].name
    for stage in ("issued", "carried", "received", "confirmed"):
        signs(dealer.table, dealer.by if stage == "received" else floor.crew(stage), SignSlip(slip, stage))


@pytest.mark.django_db
def test_the_win_is_that_of_the_figures_whatever_was_filled_and_sold() -> None:
    """Harm: a fill counts as gain and a buy-in as loss; a card says +3,054 where the table lost 346."""
    dealer, _ = dealt(options={"decks": 6})
    painter = Painter()
    draw(painter, [BOSS], dealer, anew=True)
    for _ in range(2):  # what is kept of the first time is added to
        dealer("sell_chips", amount_cents=12_300)
        fill(dealer)
        dealer.bets(seat1=1_000)
        dealer.cards(8, 3)
        dealer.pay()
        drawn = draw(painter, [BOSS], dealer)[BOSS][dealer.table.book_id].decode()
        [line] = figures.day(gaming_hours.day_of(timezone.now())).lines
        assert line.win_cents != 0
        assert signed(line.win_cents) in drawn


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
    assert drawn.keys() == {dealer.table.book_id, on_page(dealer.table.book_id), STRIP, ALERTS}
    assert "−3" in shown(drawn[STRIP])["html"]


@pytest.mark.django_db
def test_drawing_many_tables_for_many_roles_costs_the_queries_of_one() -> None:
    dealer, boss = dealt()
    painter = Painter()

    def cost(roles: Collection[str], *hands: Hand) -> int:
        draw(painter, roles, anew=True)
        table_state.cache.clear()
        with CaptureQueriesContext(connection) as captured:
            draw(painter, roles, *hands)
        return len(captured)

    alerts.raise_alert(None, "unbalanced", "The chips do not add up")
    one = cost([BOSS], dealer)
    more = [Hand(floor.table(f"Rocket {number}"), boss.by) for number in (2, 3)]
    for hand in more:
        hand("open_table")
    each = cost([BOSS], dealer, *more)
    assert each == one
    assert cost([BOSS, AUDITOR, "operator"], dealer, *more) == one, "the alerts are read once, whoever hears of them"


# --- How often ------------------------------------------------------------------------------------------------


class Counting:
    """A painter that counts what is ordered, and draws a line of it."""

    def __init__(self, failures: int = 0) -> None:
        self.orders: list[Order] = []
        self.failures = failures
        self.ready = True

    async def draw(self, order: Order) -> Drawing:
        self.orders.append(order)
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise CannotDraw("no paint")
        line = f"drawing {len(self.orders)}"
        return {role: {book: f"{role} {book} {line}\n".encode() for book in order.books} for role in order.roles}


@pytest.fixture
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wall, "SHARED", 0.05)
    monkeypatch.setattr(wall, "PAUSE", 0.01)


async def drawn(here: Wall) -> None:
    """Wait until nothing is left to be drawn."""
    assert here._task is not None
    await here._task


def watching(painter: Counting, roles: Collection[str], moves: int) -> list[bytes]:
    """What screens get while a table moves so often; each screen reads at the end."""

    async def work() -> list[bytes]:
        here = Wall(painter)
        contexts = [here.screen(Cards(role, {1: 10, 2: 20}, whole=True), {1: 5}) for role in roles]
        screens = [context.__enter__() for context in contexts]
        await drawn(here)
        for _ in range(moves):
            here.moved(1, 6)
            await asyncio.sleep(0)
        here.moved(99, 6)
        await drawn(here)
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
    drawings = [order.books for order in painter.orders if order.books]
    assert all(books == {1} for books in drawings), "a table that nobody watches was drawn"
    assert 1 <= len(drawings) <= 4
    assert sent[0].decode() == f"pit_boss 1 drawing {len(painter.orders)}\n", "an older card is sent"


@pytest.mark.usefixtures("quickly")
def test_what_could_not_be_drawn_is_drawn_soon() -> None:
    """Harm: the wall shows a floor of minutes ago, and nothing says so."""
    assert b"pit_boss 1 drawing" in watching(Counting(failures=2), [BOSS], moves=1)[0]


def test_screens_fetch_their_pages_until_a_painter_is_ready() -> None:
    """Harm: the first two seconds of a screen, or those after the painter's death, show no card that is turned."""
    painter = Counting()
    painter.ready = False

    async def work() -> bytes:
        here = Wall(painter)
        with here.screen(Cards(BOSS, {1: 10}, whole=True), {}) as screen:
            here.moved(1, 6)
            return await anext(screen.messages())

    assert shown(asyncio.run(work())) == {"table": 10, "seq": 6}


def test_an_alert_waits_for_no_painter() -> None:
    """Harm: on a busy machine a painter begins for a quarter of a minute, and so long nobody hears of a large bet."""
    painter = Counting()
    painter.ready = False

    async def work(*, whole: bool) -> bytes:
        here = Wall(painter)
        with here.screen(Cards(BOSS, {1: 10}, whole=whole), {}) as screen:
            here.alerted(1)
            screen.put("another", b"else\n\n")
            screen.wake()
            return await anext(screen.messages())

    assert asyncio.run(work(whole=True)) == b"event: alerts\ndata: {}\n\nelse\n\n"
    assert asyncio.run(work(whole=False)) == b"else\n\n", "a page without alerts has nothing to fetch"


# --- The painter's process ------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_whatever_goes_wrong_in_a_drawing_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a table that is made in the middle of a drawing ends it, and the screens stand still."""
    dealer, _ = dealt()
    order = Order((BOSS,), frozenset({dealer.table.book_id}), frozenset(), alerts=True, anew=True)
    painter = Painter()
    for failure in (KeyError("a table that is new"), DatabaseError("away")):
        with monkeypatch.context() as patch:
            patch.setattr("dealer_ui.pit.floor.card_drawing.read", lambda tables, failure=failure: raised(failure))
            assert painter.drawn(order) is None
    drawing = painter.drawn(order)
    assert drawing is not None
    assert drawing[BOSS].keys() == {dealer.table.book_id, STRIP, ALERTS}


def raised(failure: Exception) -> None:
    raise failure


@pytest.mark.django_db(transaction=True)
def test_a_painter_that_is_killed_is_replaced_and_none_outlives_its_web_process(
    process_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the screens stand still for good; or each deployment leaves a process behind."""
    dealer, _ = dealt()
    order = Order((BOSS,), frozenset({dealer.table.book_id}), frozenset(), alerts=True, anew=True)
    for name, value in process_environment.items():
        monkeypatch.setenv(name, value)

    async def work() -> None:
        painter = PainterProcess()
        assert f'data-live=\\"{dealer.table.pk}\\"' in (await painter.draw(order))[BOSS][dealer.table.book_id].decode()
        first = painter._process
        assert first is not None
        first.kill()
        await first.wait()
        with pytest.raises(CannotDraw):
            await painter.draw(order)
        assert (await painter.draw(order))[BOSS].keys() == {dealer.table.book_id, STRIP, ALERTS}
        second = painter._process
        assert second is not None
        assert second.stdin is not None
        second.stdin.close()
        assert await asyncio.wait_for(second.wait(), 10) == 0

    asyncio.run(work())
