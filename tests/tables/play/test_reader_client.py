"""``manage.py shoe_reader``: a real client over HTTP, whose messages count once whatever happens on the way."""

import random
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from ledger.models import LogEntry
from tables.log.catalog import read_as
from tables.log.entries.rounds import Played
from tables.management.commands import shoe_reader
from tables.management.commands.shoe_reader import Line, Reader, Refusal, Shoe
from tables.roles import Role
from tests import floor
from tests.floor import Hand
from tests.processes import Web
from tests.tables.play.test_readers import Device, betting, proved

FIRST_CARDS = 7
"""Six seats and the dealer."""


@pytest.fixture
def dealer(web: Web) -> Hand:
    return floor.dealt(options={"decks": 2})[0]


@pytest.fixture
def line(dealer: Hand, web: Web) -> Line:
    device = Device(dealer.table, floor.staff(Role.OPERATOR, "olga"))
    return Line(f"{web.url}/api/tables/{dealer.table.pk}/reader/", device.token, sleep=threading.Event().wait)


def a_reader(line: Line, faults: tuple[int, int, int] = (0, 0, 0)) -> Reader:
    return Reader(line, Shoe(random.Random(7)), faults, tell=lambda text: None)


def named(dealer: Hand) -> list[tuple[int | None, Any]]:
    """What the log has of the reader: the number of each message, and its card."""
    rows = LogEntry.objects.filter(book=dealer.table.book, by="program Reader 1", subject="round").order_by("seq")
    events = [read_as(Played, body) for body in rows.values_list("body", flat=True)]
    return [(event.read, event.content()["actions"][-1]["rank"]) for event in events]


def test_a_web_process_that_is_killed_loses_no_card_and_doubles_none(dealer: Hand, line: Line, web: Web) -> None:
    """Harm: the house restarts in mid-round, and a card is dealt twice, or to the wrong seat."""
    betting(dealer, seats=6)
    reader = a_reader(line)
    work = threading.Thread(target=reader.work, args=(FIRST_CARDS,), daemon=True)
    work.start()
    for _ in range(2):
        web.kill()
        web.start()
    work.join(timeout=60)
    assert not work.is_alive()
    assert named(dealer) == list(enumerate(reader.named, 1))
    proved(dealer)


def test_an_answer_that_is_lost_is_asked_for_again(dealer: Hand, line: Line) -> None:
    """Harm: what was recorded, but not acknowledged, is sent as another card."""

    @dataclass(slots=True)
    class Lossy(Line):
        calls: int = 0

        def _once(self, body: Any = None) -> Any:
            state = Line._once(self, body)
            self.calls += 1
            if self.calls % 2:
                raise ConnectionError("the answer was lost")
            return state

    betting(dealer, seats=6)
    lossy = Lossy(line.url, line.token, sleep=lambda seconds: None)
    reader = a_reader(lossy)
    reader.work(FIRST_CARDS)
    assert lossy.retries > FIRST_CARDS
    assert named(dealer) == list(enumerate(reader.named, 1))


def test_it_sends_twice_and_leaves_out_numbers_without_harm(dealer: Hand, line: Line) -> None:
    """Harm: the faults that a real device has are tried for the first time on the floor."""
    betting(dealer, seats=6)
    reader = a_reader(line, faults=(0, 2, 3))
    reader.work(FIRST_CARDS)
    assert named(dealer) == list(enumerate(reader.named, 1))
    proved(dealer)


def test_a_token_that_is_no_good_ends_it_with_the_reason(line: Line) -> None:
    """Harm: a revoked reader asks for ever."""
    with pytest.raises(Refusal, match="letter is missing"):
        Line(line.url, "casino_no").ask()


def test_its_token_is_never_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: everybody on the machine reads it in the list of processes."""
    monkeypatch.delenv(shoe_reader.TOKEN, raising=False)
    with pytest.raises(CommandError, match="CASINO_READER_TOKEN"):
        call_command("shoe_reader", simulate=True, url="http://127.0.0.1:9", table=1)
    with pytest.raises(CommandError) as refused:
        call_command("shoe_reader", "--simulate", "--url", "http://127.0.0.1:9", "--table", "1", "--token", "casino_x")
    assert "casino_x" not in str(refused.value)
