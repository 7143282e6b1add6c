"""The line from a house to its head office carries signed pieces until each day has arrived, and only that house's."""

import time
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from shutil import copy2, copyfile
from typing import Any, Final

import pytest
from django.test import Client

from casino.office import houses, receiving
from casino.office.houses import Registration
from casino.office.models import Arrival, Day, House, Refusal, TableDay
from casino.web import body_limits
from ledger.models import Alert
from ledger.proof import seals
from tables.alerts import channels, delivery, outbox, streams, webhook_signatures
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import AlertChannel, ChannelContent, FeedPosition
from tables.alerts.outbound import NotSent, OutboundResponse
from tables.audit import day_delivery, keys
from tables.models import Staff
from tables.reports import gaming_hours
from tests.clock import travelling
from tests.tables.bundles import TWO, Evidence, kept_for_a_module, shared_two_days
from tests.tiers import Tier, belongs_to

pytestmark = [pytest.mark.django_db, pytest.mark.urls("casino.office.site_urls")]

SECRET = "0123456789abcdef0123456789abcdef"  # pragma: allowlist secret
NAME = "Head office"
SHIPPED_PIECE: Final = day_delivery.PIECE_BYTES


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
        if content_type == "application/octet-stream":
            self.pieces.append(key)
        reply = post(self.client, key, body, content_type=content_type)
        return OutboundResponse(reply.status_code, reply.content)


def post(
    client: Client, key: str, body: bytes, secret: str = SECRET, code: str = "north",
    content_type: str = "application/octet-stream",
) -> Any:  # fmt: skip
    headers = webhook_signatures.headers([secret], int(time.time()), key, body)
    return client.post(f"/office/arrivals/{code}/", body, content_type, headers=headers, secure=True)


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


def keys_of(bundle: Path, piece: int) -> list[tuple[str, bytes]]:
    """A bundle's pieces, each with the key that names it."""
    content = bundle.read_bytes()
    digest = sha256(content).hexdigest()
    return [(f"{digest}/{at}/{len(content)}", content[at : at + piece]) for at in range(0, len(content), piece)]


def take_otherwise(house: House, bundle: Path, tmp_path: Path) -> None:
    """A day that arrived by replication, which earlier releases had, and was verified."""
    copyfile(bundle, tmp_path / "replicated.zip")
    receiving.take(house, tmp_path / "replicated.zip", by="replication")
    receiving.verify_waiting(house)


@pytest.mark.parametrize("present", [0, 1, 2])
def test_a_site_that_reported_by_replication_sends_the_missing_days_and_none_twice(
    house: House, line: Line, evidence: Evidence, tmp_path: Path, present: int
) -> None:
    """Harm: a site changes from replication to HTTPS, and a day is missing at the head office, or counted twice."""
    for bundle in (evidence.first, evidence.second)[:present]:
        take_otherwise(house, bundle, tmp_path)
    figures = list(TableDay.objects.order_by("pk").values())
    streams.send_turn(NAME)
    assert list(Day.objects.order_by("pk").values_list("number", flat=True)) == [1, 2]
    assert place() == 2
    assert streams.states(ChannelContent.DAYS)[0].behind == 0
    came_by = list(Arrival.objects.order_by("pk").values_list("by", flat=True))
    assert came_by == ["replication"] * present + ["its line"] * (2 - present)
    assert list(TableDay.objects.order_by("pk").values())[: len(figures)] == figures
    assert len({key.partition("/")[0] for key in line.pieces}) == 2 - present, "only the missing days are sent"
    assert not Alert.objects.exists()


def test_a_new_channel_of_a_site_with_a_newer_key_raises_no_alarm(
    house: House, line: Line, evidence: Evidence, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a site changes from replication to HTTPS after it rotated its key, and the head office reports its first
    day as forged, because an outdated key signed it."""
    take_otherwise(house, evidence.first, tmp_path)
    take_otherwise(house, evidence.second, tmp_path)
    for file in evidence.key_file.parent.glob(f"{evidence.key_file.name}*"):
        copy2(file, tmp_path)
    settings.AUDIT_KEY_FILE = str(tmp_path / evidence.key_file.name)
    with travelling() as clock:
        clock.stand(gaming_hours.span(TWO)[1] + timedelta(hours=1))
        public = keys.rotate()
    monkeypatch.setattr(houses, "trusted_key", lambda house: public)
    streams.send_turn(NAME)
    assert place() == 2
    assert not Refusal.objects.exists()
    assert not Alert.objects.exists()


def test_pieces_out_of_order_and_repeated_pieces_make_the_same_bundle(
    house: House, client: Client, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a piece that overtakes another, or is sent again after a lost answer, damages the day."""
    monkeypatch.setattr(receiving, "queue_verification", receiving.verify_waiting)
    first, *middle, last = keys_of(evidence.first, 5_000)
    assert post(client, *last).json() == {"have": 0}, "a gap comes before it"
    assert post(client, *first).json() == {"have": 5_000}
    assert post(client, *last).json() == {"have": 5_000}
    for piece in (first, *middle, middle[0]):
        answer = post(client, *piece)
    assert answer.json() == {"have": 5_000 * (1 + len(middle))}
    assert post(client, *last).json()["state"] == "taken"
    assert post(client, *last).json() == {"have": 0}, "a repeated last piece begins nothing"
    assert list(Day.objects.values_list("number", flat=True)) == [1]


def test_a_forged_piece_costs_an_attempt_and_blocks_no_real_day(
    house: House, line: Line, client: Client, evidence: Evidence
) -> None:
    """Harm: bytes that were sent under the name of a real bundle keep that bundle out for good."""
    digest, size = sha256(evidence.first.read_bytes()).hexdigest(), evidence.first.stat().st_size
    assert post(client, f"{digest}/0/{size}", b"\0" * 5_000).json() == {"have": 5_000}
    assert streams.send_turn(NAME) == 0
    assert "send it again" in streams.states(ChannelContent.DAYS)[0].says
    assert not Arrival.objects.exists()
    due_again()
    assert streams.send_turn(NAME) == 2
    assert Day.objects.count() == 2


def test_after_an_operator_pins_the_right_key_a_refused_day_is_taken(
    house: House, line: Line, evidence: Evidence, tmp_path: Path
) -> None:
    """Harm: the site does not send a refused day again, and no later day is accepted without it."""
    olga = Staff.objects.get(username="olga")
    stranger = seals.public_of(seals.load_key(other_key(tmp_path)))
    houses.pin(house, by=olga, reason="a mistake", key=stranger)
    assert streams.send_turn(NAME) == 0
    assert Refusal.objects.count() == 1
    houses.pin(house, by=olga, reason="told by phone", key=evidence.public)
    due_again()
    assert streams.send_turn(NAME) == 2
    assert Day.objects.filter(house=house).count() == 2


def other_key(folder: Path) -> Path:
    """The file of a key that signed nothing."""
    seals.make_key(folder / "other.pem")
    return folder / "other.pem"


def test_a_web_process_that_dies_between_file_and_row_loses_no_day(
    house: House, line: Line, evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a bundle whose file was moved but not recorded is never verified."""
    with monkeypatch.context() as patch:
        patch.setattr(Arrival.objects, "bulk_create", die)
        with pytest.raises(KeyboardInterrupt):
            streams.send_turn(NAME)
    assert [path.suffix for path in receiving.folder(house).iterdir()] == [".zip"]
    assert not Arrival.objects.exists()
    assert streams.send_turn(NAME) == 2
    assert Day.objects.filter(house=house).count() == 2


def die(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_site_sends_no_larger_pieces_than_a_head_office_takes() -> None:
    """Harm: pieces become larger in a release, and no day arrives any more."""
    assert SHIPPED_PIECE <= body_limits.MOST_BYTES
