"""``manage.py shoe_reader``: a real client over HTTP, whose messages count once whatever happens on the way."""

import random
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from ledger.models import LogEntry
from tables.log.catalog import read_as
from tables.log.entries.rounds import Played
from tables.management.commands import shoe_reader
from tables.management.commands.shoe_reader import MessageQueue, Reader, RefusedMessage, SimulatedShoe
from tables.roles import Role
from tests import floor
from tests.floor import Hand
from tests.patience import eventually
from tests.processes import Web
from tests.tables.floor.test_card_readers import Device, betting, proved

FIRST_CARDS = 7
"""Six seats and the dealer."""


@pytest.fixture
def dealer(db: None) -> Hand:
    return floor.dealt(options={"decks": 2})[0]


def token_at(dealer: Hand) -> str:
    return Device(dealer.table, floor.staff(Role.OPERATOR, "olga")).token


@dataclass(slots=True)
class Lossy(MessageQueue):
    """A connection to this process that loses every other response."""

    calls: int = 0

    def _once(self, body: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is None:
            answer = Client().get(self.url, headers=headers)
        else:
            answer = Client().post(self.url, body, "application/json", headers=headers)
        if answer.status_code != 200:
            raise RefusedMessage(answer.status_code, answer.json())
        self.calls += 1
        if self.calls % 2:
            raise ConnectionError("the answer was lost")
        return answer.json()


def a_reader(line: MessageQueue, faults: tuple[int, int, int] = (0, 0, 0)) -> Reader:
    return Reader(line, SimulatedShoe(random.Random(7)), faults, tell=lambda text: None)


def logged_cards(dealer: Hand) -> list[tuple[int | None, Any]]:
    """What the log has of the reader: the number of each message, and its card."""
    rows = LogEntry.objects.filter(book=dealer.table.book, by="program Reader 1", subject="round").order_by("seq")
    events = [read_as(Played, body) for body in rows.values_list("body", flat=True)]
    return [(event.read, event.content()["actions"][-1]["rank"]) for event in events]


def test_a_web_process_that_is_killed_loses_no_card_and_doubles_none(web: Web, dealer: Hand) -> None:
    """Harm: the site restarts in mid-round, and a card is dealt twice or to the wrong seat; or a revoked reader sends
    requests forever."""
    address = f"{web.url}{reverse('api:reader', args=[dealer.table.pk])}"
    betting(dealer, seats=6)
    line = MessageQueue(address, token_at(dealer), sleep=threading.Event().wait)
    reader, in_mid_round, is_killed = a_reader(line), threading.Event(), threading.Event()

    def wait_in_mid_round(text: str) -> None:
        if len(reader.named) == 2:
            in_mid_round.set()
            is_killed.wait(60)

    reader.tell = wait_in_mid_round
    work = threading.Thread(target=reader.work, args=(FIRST_CARDS,), daemon=True)
    work.start()
    assert in_mid_round.wait(60)
    web.kill()
    is_killed.set()
    eventually(lambda: line.retries, seconds=20)
    web.start()
    work.join(timeout=60)
    assert not work.is_alive()
    assert logged_cards(dealer) == list(enumerate(reader.named, 1))
    proved(dealer)
    with pytest.raises(RefusedMessage, match="letter is missing"):
        MessageQueue(address, "casino_no").ask()


@pytest.mark.slow("sets up a house")
def test_lost_answers_repeated_messages_and_gaps_change_no_card(dealer: Hand) -> None:
    """Harm: a card that was recorded but not acknowledged is sent as another card; or the faults of a real device occur
    for the first time on the floor."""
    betting(dealer, seats=6)
    line = Lossy(reverse("api:reader", args=[dealer.table.pk]), token_at(dealer), sleep=lambda seconds: None)
    reader = a_reader(line, faults=(0, 2, 3))
    reader.work(FIRST_CARDS)
    assert line.retries > FIRST_CARDS
    assert logged_cards(dealer) == list(enumerate(reader.named, 1))
    proved(dealer)


def test_its_token_is_never_on_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: everybody on the machine reads it in the list of processes."""
    monkeypatch.delenv(shoe_reader.TOKEN, raising=False)
    with pytest.raises(CommandError, match="CASINO_READER_TOKEN"):
        call_command("shoe_reader", simulate=True, url="http://127.0.0.1:9", table=1)
    with pytest.raises(CommandError) as refused:
        call_command("shoe_reader", "--simulate", "--url", "http://127.0.0.1:9", "--table", "1", "--token", "casino_x")
    assert "casino_x" not in str(refused.value)
