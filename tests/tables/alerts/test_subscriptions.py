"""Events leave the site in order until each is received: the receiver fails or is slow, or the worker dies."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from ledger import cage
from ledger.models import HOUSE, Alert, Book
from tables.alerts import channels, delivery, outbox, streams, webhook_signatures
from tables.alerts.alert_rows import ALERT_CHANNELS
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import ChannelContent, Delivery, FeedPosition
from tables.audit import proofs, row_comparison
from tables.feed import feed_records, order
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, dealt
from tests.tables.alerts.conftest import Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.slow("each test has a receiver")]

SECRET = "fedcba9876543210fedcba9876543210"  # pragma: allowlist secret
LATER = timedelta(hours=2)


@pytest.fixture(autouse=True)
def _no_worker(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.WEBHOOKS_TO_LOOPBACK = True
    monkeypatch.setattr(outbox, "queue", lambda task, key: None)


@pytest.fixture
def olga() -> Staff:
    cage.open_house()
    return floor.staff(Role.OPERATOR, "olga")


@pytest.fixture
def hand() -> Hand:
    return dealt(options={"decks": 6})[0]


def subscribe(receiver: Receiver, olga: Staff, **facts: Any) -> ChannelDraft:
    order.extend()
    channel = replace(ChannelDraft("tracking", "webhook", receiver.url, SECRET, tells=ChannelContent.EVENTS), **facts)
    channels.set_channel(channel, by=olga)
    return channel


def rounds(hand: Hand, count: int) -> None:
    for _ in range(count):
        hand.bets(seat1=1_000)
        hand.cards(8, 9)
        hand("choose", seat=1, choice="fold")
        hand.pay()


def received(receiver: Receiver) -> list[dict[str, Any]]:
    """The events that came, in the order in which they did, after their signatures were checked."""
    events: list[dict[str, Any]] = []
    for headers, body, _ in receiver.got:
        assert webhook_signatures.is_ours(SECRET, headers, body, time.time())
        message = json.loads(body)
        assert message["id"] == headers[webhook_signatures.DELIVERY]
        events += message["events"]
    return events


def ids(events: list[dict[str, Any]]) -> list[str]:
    return [event["id"] for event in events]


def event_ids(place: int, **filters: Any) -> list[str]:
    return [
        event.id for event in feed_records.read(place, limit=500, filters=feed_records.EventFilter(**filters)).events
    ]


def position() -> FeedPosition:
    return FeedPosition.objects.get(name="tracking")


def test_what_happens_is_told_in_order_and_nothing_of_before(hand: Hand, olga: Staff, receiver: Receiver) -> None:
    """Harm: a receiver is told of last year when it begins, of something twice, or in another order than the feed."""
    rounds(hand, 1)
    subscribe(receiver, olga)
    place = position().place
    rounds(hand, 3)
    streams.send_turn("tracking")
    assert ids(received(receiver)) == event_ids(place)
    assert position().place == order.end()
    before = len(receiver.got)
    streams.send_turn("tracking")
    assert len(receiver.got) == before
    [state] = streams.states(ChannelContent.EVENTS)
    assert (state.behind, state.failures) == (0, 0)


def test_only_what_was_asked_for(hand: Hand, olga: Staff, receiver: Receiver) -> None:
    """Harm: a receiver is sent what nobody meant for it."""
    subscribe(receiver, olga, types=("round.settled",), tables=(hand.table.name,))
    rounds(hand, 2)
    streams.send_turn("tracking")
    assert [event["type"] for event in received(receiver)] == ["round.settled"] * 2
    assert {event["table"]["id"] for event in received(receiver)} == {hand.table.pk}


def test_a_receiver_that_fails_gets_the_same_message_later(
    hand: Hand, olga: Staff, receiver: Receiver, clock: Clock
) -> None:
    """Harm: an event that was refused once is never told; or what came meanwhile is told before it."""
    subscribe(receiver, olga)
    place = position().place
    rounds(hand, 1)
    receiver.answers = [503, 500]
    streams.send_turn("tracking")
    rounds(hand, 1)
    streams.send_turn("tracking")
    assert len(receiver.got) == 1, "it is not due yet"
    [state] = streams.states(ChannelContent.EVENTS)
    assert (state.failures, state.says) == (1, "the receiver answered 503: it did not take it")
    assert state.behind > 0
    for _ in range(2):
        clock.stand(timezone.now() + LATER)
        streams.send_turn("tracking")
    assert receiver.got[0][1] == receiver.got[1][1] == receiver.got[2][1]
    receiver.got = receiver.got[2:]
    assert ids([event for _, body, _ in receiver.got for event in json.loads(body)["events"]]) == event_ids(place)
    assert not Delivery.objects.exists()


def test_what_is_never_taken_is_a_dead_letter_and_the_rest_follows(hand: Hand, olga: Staff, receiver: Receiver) -> None:
    """Harm: one message that a receiver cannot read stops everything after it for ever; or it is lost quietly."""
    subscribe(receiver, olga, types=("round.settled",))
    place = position().place
    rounds(hand, 1)
    receiver.answers = [410]
    streams.send_turn("tracking")
    rounds(hand, 1)
    streams.send_turn("tracking")
    [letter] = delivery.dead()
    assert Alert.objects.filter(kind="not_delivered").count() == 1
    settled_id, next_id = event_ids(place, types=frozenset({"round.settled"}))
    assert ids(json.loads(receiver.got[1][1])["events"]) == [next_id]
    delivery.send_again([letter], by=olga)
    delivery.deliver(letter.pk)
    assert not delivery.dead().exists()
    assert receiver.got[2][1] == receiver.got[0][1], "the same message by the same key"
    assert ids(json.loads(receiver.got[2][1])["events"]) == [settled_id]


def test_a_dead_letter_of_twelve_attempts_is_sent_again(hand: Hand, olga: Staff, receiver: Receiver) -> None:
    """Harm: events that a receiver was away for stay dead letters however often a pit boss sends them again: the one
    attempt of the letter has the number of its failures."""
    subscribe(receiver, olga, types=("round.settled",))
    rounds(hand, 1)
    FeedPosition.objects.update(failures=outbox.MOST_ATTEMPTS - 1)
    receiver.answers = [500]
    streams.send_turn("tracking")
    [letter] = delivery.dead()
    assert delivery.send_again([letter], by=olga) == 1
    assert delivery.deliver(letter.pk) == "sent"
    assert not delivery.dead().exists()
    assert receiver.got[0][1] == receiver.got[1][1]


def test_a_worker_that_dies_after_sending_sends_the_same_again(
    hand: Hand, olga: Staff, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: events in transit when a worker died never arrive, or arrive changed or under another key."""
    subscribe(receiver, olga)
    rounds(hand, 1)
    place = position().place

    def dies(*_: Any) -> None:
        raise SystemExit("kill -9")

    with monkeypatch.context() as killed:
        killed.setattr(streams, "move_on", dies)
        with pytest.raises(SystemExit):
            streams.send_turn("tracking")
    assert position().place == place
    rounds(hand, 1)
    streams.send_turn("tracking")
    assert receiver.got[0][1] == receiver.got[1][1]
    assert list(dict.fromkeys(ids(received(receiver)))) == event_ids(place)


@pytest.mark.django_db(transaction=True)
def test_a_slow_receiver_keeps_no_other_waiting(hand: Hand, olga: Staff, receiver: Receiver) -> None:
    """Harm: one receiver that does not answer holds up every other, or a dealer."""
    quick = Receiver()
    subscribe(receiver, olga)
    subscribe(quick, olga, name="quick")
    rounds(hand, 1)
    receiver.holds.clear()

    def slow() -> None:
        streams.send_turn("tracking")
        connection.close()

    thread = threading.Thread(target=slow)
    thread.start()
    try:
        while not receiver.got:
            pass
        assert streams.send_turn("tracking") == 0, "another worker is at it, and does not wait"
        assert streams.send_turn("quick") > 0
        rounds(hand, 1)
        assert streams.send_turn("quick") > 0
    finally:
        receiver.holds.set()
        thread.join(30)
        quick.shutdown()
        quick.server_close()


def test_a_channel_that_is_off_waits_and_misses_nothing(hand: Hand, olga: Staff, receiver: Receiver) -> None:
    """Harm: what happens while a receiver is mended is lost."""
    channel = subscribe(receiver, olga)
    place = position().place
    channels.set_channel(replace(channel, is_on=False, secret=""), by=olga)
    rounds(hand, 1)
    assert streams.queue_due() == 0
    assert streams.send_turn("tracking") == 0
    channels.set_channel(replace(channel, secret=""), by=olga)
    assert streams.queue_due() == 1
    assert streams.queue_due() == 0, "a worker was asked for already"
    streams.send_turn("tracking")
    assert ids(received(receiver)) == event_ids(place)


@pytest.mark.parametrize(
    ("facts", "field"),
    [
        ({"means": "mail", "address": "somebody@example.com", "secret": ""}, "means"),
        ({"types": ("nothing.happened",)}, "types"),
        ({"tables": ("Nowhere 1",)}, "tables"),
        ({"tells": "everything"}, "tells"),
        ({"tells": "alerts", "types": ("round.settled",)}, "types"),
    ],
)
def test_what_is_wrong_with_a_subscription_is_said(
    olga: Staff, receiver: Receiver, facts: dict[str, Any], field: str
) -> None:
    """Harm: a filter with a typing error tells nothing, or everything, and nobody notices."""
    with pytest.raises(Refused) as refused:
        subscribe(receiver, olga, **facts)
    assert field in refused.value.facts["fields"]
    assert not FeedPosition.objects.exists()


def test_no_channel_goes_over_from_alerts_to_events(olga: Staff, receiver: Receiver) -> None:
    """Harm: dead letters of one kind are sent again as the other."""
    channel = subscribe(receiver, olga)
    with pytest.raises(Refused, match="a name of its own"):
        channels.set_channel(replace(channel, tells=ChannelContent.ALERTS), by=olga)


def test_the_log_proves_subscriptions(olga: Staff, receiver: Receiver) -> None:
    """Harm: somebody sends the house's events elsewhere, and no proof shows it."""
    subscribe(receiver, olga, types=("round.settled",))
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    assert row_comparison.compare().faults == []
    row = channels.newest("tracking")
    row.types = []
    assert ALERT_CHANNELS.event_of(row) != ALERT_CHANNELS.event_of(channels.newest("tracking"))
