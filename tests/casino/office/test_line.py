"""The line from a house to its head office carries signed pieces until each day has arrived, and only that house's."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from casino.office import houses, receiving
from casino.office.houses import Registration
from casino.office.models import Arrival, Day, House
from ledger.models import Alert
from tables.alerts import channels, delivery, outbox, streams, webhook_signatures
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition
from tables.alerts.outbound import NotSent, OutboundResponse
from tables.audit import day_delivery
from tables.models import Staff
from tests.tables.bundles import Evidence, kept_for_a_module, shared_two_days
from tests.tiers import Tier, belongs_to

pytestmark = [pytest.mark.django_db, pytest.mark.urls("casino.office.site_urls")]

SECRET = "0123456789abcdef0123456789abcdef"  # pragma: allowlist secret
NAME = "Head office"


@pytest.fixture(scope="module")
@belongs_to(Tier.TEST)
def evidence(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Evidence]:
    """A house with two sealed days and a channel to a head office, which shares the tests' database with it."""
    with kept_for_a_module(django_db_blocker):
        evidence = shared_two_days(tmp_path_factory.mktemp("evidence"))
        row = AlertChannel(
            seq=10**9, name=NAME, version=1, means="webhook", address="https://office.example/office/arrivals/north/",
            secret=channels._sealed(ChannelDraft(NAME, "webhook", "", SECRET), None), least_level=1, by="x",
            tells=ChannelContent.DAYS, at="2026-01-01T00:00:00Z",
        )  # fmt: skip
        row.save()
        FeedPosition.objects.create(name=NAME, place=0)
        yield evidence


@pytest.fixture
def house(evidence: Evidence, settings: Any, tmp_path: Path) -> House:
    settings.OFFICE_FOLDER = str(tmp_path / "office")
    olga = Staff.objects.get(username="olga")
    return houses.register(Registration("north", "North", "EUR", evidence.public, SECRET), by=olga)


class Line:
    """A line that may be down, or break after a number of pieces."""

    def __init__(self, client: Client) -> None:
        self.client, self.pieces, self.breaks_after = client, list[str](), 10**9

    def post(self, channel: AlertChannel, key: str, body: bytes, content_type: str) -> OutboundResponse:
        if len(self.pieces) >= self.breaks_after:
            raise NotSent("the receiver could not be reached: ConnectionRefusedError")
        self.pieces.append(key)
        reply = post(self.client, key, body)
        return OutboundResponse(reply.status_code, reply.content)


def post(client: Client, key: str, body: bytes, secret: str = SECRET, code: str = "north") -> Any:
    headers = webhook_signatures.headers([secret], int(time.time()), key, body)
    return client.post(f"/office/arrivals/{code}/", body, "application/octet-stream", headers=headers, secure=True)


@pytest.fixture
def line(house: House, client: Client, monkeypatch: pytest.MonkeyPatch) -> Line:
    line = Line(client)
    monkeypatch.setattr(delivery, "post_bytes", line.post)
    monkeypatch.setattr(receiving, "queue_verification", receiving.verify_waiting)
    monkeypatch.setattr(day_delivery, "PIECE_BYTES", 5_000)
    return line


def place() -> int:
    return FeedPosition.objects.get(name=NAME).place


def due_again() -> None:
    FeedPosition.objects.filter(name=NAME).update(due_at=None)


def test_a_line_that_breaks_costs_a_piece_and_no_day(house: House, line: Line) -> None:
    """Harm: a house that was cut off leaves a gap, or can never send a large day over a poor line."""
    line.breaks_after = 2
    assert streams.send_turn(NAME) == 0
    [state] = streams.states(ChannelContent.DAYS)
    assert (place(), state.failures, state.behind) == (0, 1, 2)
    sent, line.breaks_after = line.pieces[-1], 10**9
    due_again()
    assert streams.send_turn(NAME) == 2
    assert Day.objects.filter(house=house).count() == 2
    resumed = [int(key.split("/")[1]) for key in line.pieces if key.split("/")[0] == sent.split("/")[0]][2:]
    assert resumed[:2] == [0, 10_000], "the first piece learns how much has arrived; that is not sent again"
    assert streams.states(ChannelContent.DAYS)[0].behind == 0


def test_a_sweep_queues_the_sealed_days_that_are_due_once(evidence: Evidence, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: no task sends the sealed days, or each sweep queues another one while the first is under way."""
    tasks: list[tuple[str, str]] = []
    monkeypatch.setattr(outbox, "queue", lambda task, name: tasks.append((task, name)))
    assert [streams.queue_due(), streams.queue_due()] == [1, 0]
    assert tasks == [("tables.tasks.hand_over_days", NAME)]
    FeedPosition.objects.filter(name=NAME).update(place=2, asked_at=None)
    assert streams.queue_due() == 0, "the head office has both days"


def test_unfinished_bundles_do_not_fill_the_disk(house: House, client: Client) -> None:
    """Harm: a house begins a bundle of four gigabytes a thousand times, each under another name."""
    for digit in "0123456789abcdef":
        assert post(client, f"{digit * 64}/0/4000000000", bytes(1_000)).json() == {"have": 1_000}
    assert [part.name for part in receiving.folder(house).iterdir()] == [f"{'f' * 64}.part"]
    assert post(client, f"{'f' * 64}/1000/4000000000", bytes(500)).json() == {"have": 1_500}


def test_the_house_goes_back_to_the_day_that_the_head_office_waits_for(house: House, line: Line) -> None:
    """Harm: a day that was rejected after it was taken is missing for good, and so are all that follow it."""
    FeedPosition.objects.filter(name=NAME).update(place=1)
    assert streams.send_turn(NAME) == 3, "the head office asked for day 1: one step back, then two days"
    assert Day.objects.filter(house=house).count() == 2
    assert place() == 2


def test_a_refused_day_is_tried_again_later_and_raises_an_alert(
    house: House, line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a house that signs with an unknown key seems to report."""
    monkeypatch.setattr(houses, "trusted_key", lambda house: "0" * 64)
    FeedPosition.objects.filter(name=NAME).update(failures=outbox.MOST_ATTEMPTS - 1)
    assert streams.send_turn(NAME) == 0
    assert place() == 0, "no day is skipped"
    [state] = streams.states(ChannelContent.DAYS)
    assert "is not among those that the house signed with" in state.says
    assert Alert.objects.filter(kind="not_delivered").exists()


def test_strangers_cannot_send_anything(house: House, client: Client, evidence: Evidence) -> None:
    """Harm: anybody who finds the address can fill the disk, or find out which houses report."""
    content = evidence.first.read_bytes()[:1_000]
    key = f"{'0' * 64}/0/2000"
    strangers = [
        post(client, key, content, secret="f" * 32),
        post(client, key, content, code="south"),
        client.post("/office/arrivals/north/", content, "application/octet-stream", secure=True),
    ]
    assert {reply.status_code for reply in strangers} == {403}
    assert len({reply.content for reply in strangers}) == 1
    signed = webhook_signatures.headers([SECRET], 10**9, key, content)
    late = client.post("/office/arrivals/north/", content, "application/octet-stream", headers=signed, secure=True)
    assert late.status_code == 403, "its signature is too old"
    assert not list(receiving.folder(house).iterdir())
    assert post(client, f"{'0' * 64}/0/{5 * 10**9}", content).status_code == 413
    assert post(client, f"{'0' * 64}/1500/2000", content).status_code == 400
    assert post(client, "../../../etc/passwd", content).status_code == 400
    damaged = post(client, f"{'0' * 64}/0/1000", content)
    assert damaged.status_code == 400
    assert not list(receiving.folder(house).iterdir())
    assert not Arrival.objects.exists()
