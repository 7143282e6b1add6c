"""Whatever somebody does who is slow, many, or in the way: every other table goes on dealing.

Each of these once stopped the whole floor for want of a database connection. The web process here may hold twelve, so
that each attack needs few; what the dealers' steps take then is measured by `./run bench attacks`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import ExitStack

import psycopg
import pytest

from ledger import site_log
from ledger.connection_pools import BOOK_HELD
from ledger.models import HOUSE, LogEntry, Notice
from tables.audit import proofs
from tables.models import Staff
from tables.roles import Role
from tests import floor, load, processes
from tests.load import Dealer
from tests.patience import eventually
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)

NARROW = {"DATABASE_CONNECTIONS": "12", "SIGN_INS_AT_ONCE": "6", "SIGN_INS_A_MINUTE": "1", "ARGON2_MEMORY_MIB": "32"}


@pytest.fixture(scope="module")
@belongs_to(Tier.TRIALS)
def _narrow(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[processes.Web]:
    web = processes.web_process(process_environment | NARROW, tmp_path_factory.mktemp("narrow") / "log")
    yield web
    web.stop()


@pytest.fixture
def url(_narrow: processes.Web, transactional_db: None) -> str:
    """A web process with few connections."""
    if not _narrow.alive:
        _narrow.start()
    return _narrow.url


@pytest.fixture
def dealers(url: str) -> tuple[Dealer, Dealer, Staff]:
    return load.two_tables(url)


def test_slow_readers_of_the_log_hold_nothing(url: str, dealers: tuple[Dealer, Dealer, Staff]) -> None:
    """Twenty downloads on a bad line took every connection for as long as they lasted."""
    dora, dan, boss = dealers
    dora.seq = load.write_much(dora.table, megabytes=8)
    bosses = [boss, *(floor.staff(Role.PIT_BOSS, f"boss{number}") for number in range(4))]
    browsers = [load.signed_in(url, one) for one in bosses]
    with ExitStack() as lines:
        path = f"/pit/tables/{dora.table.pk}/log.csv"
        slow = [lines.enter_context(browsers[number % 5].slow(path)) for number in range(20)]
        heads = [line.recv(12).decode() for line in slow]
        assert heads.count("HTTP/1.1 200") >= 2, heads
        assert set(heads) == {"HTTP/1.1 200", "HTTP/1.1 429"}, "two a person, eight in all"
        assert [dealer.input().status for dealer in (dora, dan) * 5] == [200] * 10
        assert browsers[0].send("GET", "/pit/").status == 200
        assert browsers[0].send("GET", f"/pit/tables/{dora.table.pk}/rounds.csv").status == 429


def test_a_download_that_was_given_up_makes_room_for_another(url: str, dealers: tuple[Dealer, Dealer, Staff]) -> None:
    dora, _, boss = dealers
    dora.seq = load.write_much(dora.table, megabytes=8)
    browser = load.signed_in(url, boss)
    with ExitStack() as lines:
        for _ in range(2):
            lines.enter_context(browser.slow(f"/pit/tables/{dora.table.pk}/log.csv")).recv(12)
        assert browser.send("GET", "/pit/alerts.csv").status == 429
    eventually(lambda: browser.send("GET", "/pit/alerts.csv").status == 200)


def test_a_crowd_at_the_door_keeps_no_dealer_out(url: str, dealers: tuple[Dealer, Dealer, Staff]) -> None:
    """Forty strangers made a dealer's step last 14 seconds: each hashed with a connection in its hand."""
    dora, dan, _ = dealers
    tablet = load.enrolled(url, floor.staff(Role.OPERATOR, "omar"))
    floor.staff(Role.DEALER, "dina", "103")
    stranger = load.Browser(url)
    steps: list[int] = []

    def floor_goes_on() -> None:
        steps.extend(dealer.input().status for dealer in (dora, dan) * 5)
        steps.append(tablet.form("/sign-in/", badge="103", pin=floor.PIN).status)

    knocks = load.at_once(
        40, lambda number: stranger.form("/sign-in/", username=f"nobody{number}", password="x"), floor_goes_on
    )
    assert steps == [200] * 10 + [302]
    statuses = [answer.status for answer in knocks]
    assert statuses.count(429) == 34, "six tries, then one a minute"
    assert set(statuses) <= {403, 429, 503}
    assert "wait a few seconds" in next(answer.text for answer in knocks if answer.status == 429)


def test_a_book_that_is_held_stops_its_own_table_alone(
    dealers: tuple[Dealer, Dealer, Staff], superuser_connection: psycopg.Connection
) -> None:
    """A dealer's screen that sent its input again and again took one connection more each time."""
    dora, dan, _ = dealers
    load.hold(dora.table.book.name, superuser_connection)
    key, steps = uuid.uuid4(), []
    waiting = load.at_once(
        20, lambda _: dora.sends(key, 1_000), lambda: steps.extend(dan.input().status for _ in range(10))
    )
    assert steps == [200] * 10
    assert {answer.status for answer in waiting} == {503}
    assert {json.loads(answer.text)["detail"] for answer in waiting} == {BOOK_HELD}
    assert all("retry-after" in answer.headers for answer in waiting)
    assert max(answer.seconds for answer in waiting) < 8, "the screen gives up after eight seconds"
    superuser_connection.execute("ROLLBACK")
    before = dora.seq
    assert dora.sends(key, 1_000).status == 200
    assert json.loads(dora.sends(key, 1_000).text)["again"]
    assert LogEntry.objects.filter(book=dora.table.book, seq__gt=before).count() == 1


def test_the_houses_book_that_is_held_keeps_no_dealer_out(
    url: str, dealers: tuple[Dealer, Dealer, Staff], superuser_connection: psycopg.Connection
) -> None:
    """A change of shift with somebody in the house's book stopped every table."""
    dora, dan, _ = dealers
    tablet = load.enrolled(url, floor.staff(Role.OPERATOR, "omar"))
    badges = [f"2{number:02}" for number in range(6)]
    for badge in badges:
        floor.staff(Role.DEALER, f"dealer{badge}", badge)
    load.hold(HOUSE, superuser_connection)
    steps: list[int] = []
    came = load.at_once(
        len(badges),
        lambda number: tablet.form("/sign-in/", badge=badges[number], pin=floor.PIN),
        lambda: steps.extend(dealer.input().status for dealer in (dora, dan) * 5),
    )
    assert [answer.status for answer in came] == [302] * len(badges)
    assert steps == [200] * 10
    assert Notice.objects.filter(seq=None).count() == len(badges)
    superuser_connection.execute("ROLLBACK")
    assert site_log.flush_queue() == len(badges)
    written = LogEntry.objects.filter(book__name=HOUSE, subject="staff", kind="signed_in").order_by("seq")
    left = list(Notice.objects.order_by("pk").values_list("key", "content__username"))
    contents = [entry.content for entry in written]
    assert [(entry.key, content["username"]) for entry, content in zip(written, contents, strict=True)] == left
    assert proofs.verify(dora.table.book).fault is None
