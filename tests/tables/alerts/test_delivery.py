"""How alerts leave the house: by a real mail server, to a real receiver that fails, and by a worker that is killed."""

import io
import json
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models import F
from django.utils import timezone

from ledger import alerts, cage
from ledger.models import HOUSE, Alert, Book, LogEntry
from tables import pepper, tasks
from tables.alerts import (
    channels,
    delivery,
    log_followers,
    notifications,
    outbound,
    outbox,
    rules_in_force,
    streams,
    webhook_signatures,
)
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import AlertChannel, Delivery, DeliveryAttempt, Resending
from tables.alerts.outbound import NotSent, ip_fault
from tables.audit import proofs, row_comparison
from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tests import floor, processes
from tests.clock import Clock
from tests.floor import dealt
from tests.patience import eventually
from tests.tables.alerts.conftest import MailServer, Receiver

pytestmark = [pytest.mark.django_db, pytest.mark.slow("each test has a receiver or a mail server")]
commits = pytest.mark.django_db(transaction=True)

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The tasks that were queued, where no worker runs."""
    tasks: list[tuple[str, int]] = []
    monkeypatch.setattr(outbox, "queue", lambda task, key: tasks.append((task, key)))
    return tasks


@pytest.fixture
def olga(settings: Any) -> Staff:
    settings.WEBHOOKS_TO_LOOPBACK = True
    cage.open_house()
    return floor.staff(Role.OPERATOR, "olga", "301")


def webhook(receiver: Receiver, by: Staff, **changes: Any) -> AlertChannel:
    return channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, SECRET, **changes), by=by)


def alert(message: str = "entry 5 is missing", **evidence: Any) -> Alert:
    raised = alerts.raise_alert(None, "log_broken", message, evidence)
    delivery.put_out(rules_in_force.in_force())
    return raised


@commits
def test_a_receiver_that_fails_twice_gets_it_at_the_third_attempt(
    olga: Staff, receiver: Receiver, clock: Clock, calls: list[tuple[str, int]]
) -> None:
    """Harm: one second without a network, and the night desk never hears of it."""
    receiver.answers = [500, 503]
    webhook(receiver, olga)
    raised = alert()
    waiting = Delivery.objects.get()
    waits = []
    for wait in (10, 20, 0):
        delivery.deliver(waiting.pk)
        delivery.deliver(waiting.pk)  # nothing is due
        waiting.refresh_from_db()
        attempted = DeliveryAttempt.objects.latest("number").at
        waits.append(waiting.due_at and round((waiting.due_at - attempted).total_seconds()))
        clock.pass_until(waiting.at + timedelta(seconds=60) + timedelta(seconds=wait + 60 * len(receiver.got)))
    assert [attempt.outcome for attempt in DeliveryAttempt.objects.order_by("number")] == ["failed", "failed", "sent"]
    assert waits == [10, 20, None]
    assert calls == [("tables.tasks.deliver", waiting.pk)], "at once; a sweep queues what is due later"
    keys = {headers[webhook_signatures.DELIVERY] for headers, _, _ in receiver.got}
    assert keys == {str(waiting.key)}, "by it the receiver knows what it had before"
    headers, body, _ = receiver.got[-1]
    assert webhook_signatures.is_ours(SECRET, headers, body, time.time())
    assert json.loads(body) == {
        "id": str(waiting.key), "event": "alert.raised",
        "alert": {
            "number": raised.pk, "kind": "log_broken", "title": "Broken log", "level": "supervisor",
            "message": "entry 5 is missing", "table": None, "raised_at": raised.at.isoformat(), "escalation": 0,
        },
    }  # fmt: skip


def test_a_redirect_is_not_followed(olga: Staff, receiver: Receiver, calls: list[tuple[str, int]]) -> None:
    """Harm: a receiver that was taken over sends our server to the cloud's own credentials."""
    receiver.answers = [302]
    webhook(receiver, olga)
    alert()
    assert delivery.deliver(Delivery.objects.get().pk) == "dead"
    assert [path for _, _, path in receiver.got] == ["/hook"]


BAD_ADDRESSES = (
    "http://example.com/", "ftp://example.com/", "https://user:pw@example.com/", "https://", "https://x y/", "hook",
    "https://example.com:0/", "https://example.com/#x", "http://10.0.0.1/", "https://example.com:99999/",
)  # fmt: skip


def test_an_address_that_is_not_encrypted_or_not_whole_is_refused(olga: Staff) -> None:
    """Harm: alerts, and the signature that proves them ours, are read on the way."""
    for address in BAD_ADDRESSES:
        with pytest.raises(Refused) as refusal:
            channels.set_channel(ChannelDraft("Desk", "webhook", address, SECRET), by=olga)
        assert list(refusal.value.facts["fields"]) == ["address"], address


def test_this_host_and_a_clouds_credentials_are_no_receivers() -> None:
    """Harm: an address of a name that leads to this host's own services."""
    for ip in ("127.0.0.1", "::1", "169.254.169.254", "::ffff:127.0.0.1", "fe80::1%eth0", "0.0.0.0", "224.0.0.1"):  # noqa: S104
        assert ip_fault(ip, to_own_host=False), ip
    most_sites_have = "10.1.2.3"
    assert not ip_fault(most_sites_have, to_own_host=False)


EMBEDDED = "::{} ::ffff:{} ::ffff:0:{} 64:ff9b::{} fd12:3456::5efe:{} 2606:4700::200:5efe:{}"
METADATA = """0.0.0.1 168.63.129.16 192.0.0.192 100.100.100.200 169.254.170.23 240.0.0.1 fd00:ec2::254 fd00:ec2::23
    fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42 fe80::a9fe:a9fe ff0e::1 2002:a9fe:a9fe:: 2002:7f00:1::1
    2001:0:a9fe:a9fe:: 2001:0:808:808::5601:5601 64:ff9b:1:a9fe:a9:fe00:: 2001:db8::1"""


def test_no_spelling_of_an_address_leads_to_a_clouds_credentials() -> None:
    """Harm: a name in an operator's webhook leads, by an IPv6 spelling of an IPv4 address, to the credentials of the
    site's own cloud host, or to its own services."""
    spelled = [form.format(ip) for form in EMBEDDED.split() for ip in ("169.254.169.254", "127.0.0.1", "168.63.129.16")]
    assert [ip for ip in [*METADATA.split(), *spelled] if not ip_fault(ip, to_own_host=False)] == []
    receivers = [form.format(ip) for form in EMBEDDED.split() for ip in ("8.8.8.8", "192.168.7.9")]
    receivers += ["8.8.8.8", "172.16.3.4", "100.64.0.9", "fd12:3456::1", "2606:4700::1111", "2002:808:808::1"]
    assert [ip for ip in receivers if ip_fault(ip, to_own_host=False)] == []
    assert not ip_fault("::ffff:127.0.0.1", to_own_host=True)
    assert ip_fault("::ffff:169.254.169.254", to_own_host=True)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What hook.example leads to, from one look-up to the next; each is gone once it was asked."""
    answers: list[list[str]] = []
    numeric = socket.getaddrinfo

    def looked_up(host: str, port: int, *options: Any, **named: Any) -> Any:
        if host != "hook.example":
            return numeric(host, port, *options, **named)
        return [entry for ip in answers.pop(0) for entry in numeric(ip, port, *options, **named)]

    monkeypatch.setattr(socket, "getaddrinfo", looked_up)
    return answers


def sent(receiver: Receiver) -> int:
    """The status of a request to hook.example."""
    address = receiver.url.replace("127.0.0.1", "hook.example")
    return outbound.post(address, b"{}", {}, to_own_host=True, seconds=5, most=10).status


def test_a_name_that_leads_elsewhere_the_next_moment_gains_nothing(receiver: Receiver, names: list[list[str]]) -> None:
    """Harm: a name is judged by one address and connected to at another: DNS rebinding takes the worker to the
    credentials of the site's own cloud host."""
    names += [["127.0.0.1"], ["169.254.169.254"]]
    assert sent(receiver) == 200
    assert len(names) == 1, "looked up once"
    for mixed in (["169.254.169.254", "127.0.0.1"], ["127.0.0.1", "169.254.169.254"]):
        names[:] = [mixed]
        with pytest.raises(NotSent, match=r"169\.254\.169\.254 is not an address that this site sends to"):
            sent(receiver)
    assert len(receiver.got) == 1


def test_webhooks_of_a_site_do_not_reach_its_own_host(
    olga: Staff, receiver: Receiver, settings: Any, calls: list[tuple[str, int]]
) -> None:
    """Harm: an operator's webhook to a name of this host reaches services that listen on it alone."""
    settings.WEBHOOKS_TO_LOOPBACK = False
    address = receiver.url.replace("http://127.0.0.1", "https://localhost")
    channels.set_channel(ChannelDraft("Desk", "webhook", address, SECRET), by=olga)
    alert()
    assert delivery.deliver(Delivery.objects.get().pk) == "dead"
    assert "is this host itself" in DeliveryAttempt.objects.get().says
    assert not receiver.got


def test_a_secret_goes_in_sealed_and_never_comes_out(olga: Staff, receiver: Receiver) -> None:
    """Harm: whoever reads the database, the log or a page signs alerts as ours."""
    channel = webhook(receiver, olga)
    assert SECRET not in str(AlertChannel.objects.values().get())
    assert pepper.is_sealed(channel.secret)
    assert channels.secret_of(channel) == SECRET
    second = channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, least_level=2), by=olga)
    assert (second.version, channels.secret_of(second)) == (2, SECRET)
    client = floor.client(olga)
    for path in (
        "/pit/alerts/delivery/",
        f"/admin/tables/alertchannel/{channel.pk}/change/",
        "/admin/ledger/logentry/",
    ):
        assert SECRET not in client.get(path).content.decode()
    with pytest.raises(Refused, match="24 to 120 characters"):
        channels.set_channel(ChannelDraft("Other", "webhook", receiver.url, "short"), by=olga)


def test_a_channel_gets_what_it_wants_and_nothing_from_before(
    olga: Staff, receiver: Receiver, calls: list[tuple[str, int]]
) -> None:
    """Harm: last week's alerts at three in the morning; or a channel for grave ones that tells of everything."""
    alert("before there was a channel")
    webhook(receiver, olga, least_level=2)
    lesser = alert("entry 6 is missing")
    assert not Delivery.objects.exists()
    alerts.escalate(lesser, 1, 2, ["pit_boss", "surveillance"])
    for _ in range(3):
        delivery.put_out(rules_in_force.in_force())
    [row] = Delivery.objects.all()
    assert (row.alert, row.step, row.body["event"]) == (lesser, 1, "alert.escalated")
    channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, about=("large_bet",)), by=olga)
    alert("entry 7 is missing", level=3)
    assert Delivery.objects.count() == 1


def test_an_alert_comes_by_mail(olga: Staff, mail_server: MailServer, calls: list[tuple[str, int]]) -> None:
    """Harm: a message that no mail server takes, or without a word of what happened."""
    channels.set_channel(ChannelDraft("Night desk", "mail", "night.desk@example.com"), by=olga)
    channels.set_channel(ChannelDraft("Gone", "mail", "nobody@example.com"), by=olga)
    raised = alert()
    outcomes = {row.name: delivery.deliver(row.pk) for row in Delivery.objects.all()}
    assert outcomes == {"Night desk": "sent", "Gone": "dead"}
    [text] = mail_server.got
    assert "Subject: [supervisor] Broken log" in text
    assert "To: night.desk@example.com" in text
    assert "entry 5 is missing" in text
    assert f"Alert {raised.pk} of" in text


def test_an_operator_sends_a_test(olga: Staff, mail_server: MailServer, calls: list[tuple[str, int]]) -> None:
    """Harm: whether a channel works shows on the night when it has to."""
    row = channels.set_channel(ChannelDraft("Night desk", "mail", "night.desk@example.com"), by=olga)
    assert floor.client(olga).post(f"/pit/alerts/delivery/{row.pk}/test").status_code == 302
    delivery.deliver(Delivery.objects.get().pk)
    assert "A test of Night desk" in mail_server.got[0]
    assert not Alert.objects.exists()


# --- Dead letters ----------------------------------------------------------------------------------------------


@commits
def test_a_dead_letter_is_sent_again_by_name_and_the_receiver_knows_it(
    olga: Staff, receiver: Receiver, clock: Clock, calls: list[tuple[str, int]]
) -> None:
    """Harm: an alert is given up and no screen shows it; or the night desk's server is repaired, and missed alerts
    never arrive, or arrive as new ones."""
    receiver.answers = [410]
    webhook(receiver, olga)
    alert()
    waiting = Delivery.objects.get()
    assert delivery.deliver(waiting.pk) == "dead"
    boss = floor.staff(Role.PIT_BOSS, "bettina", "209")
    client = floor.client(boss)
    assert Alert.objects.get(kind="not_delivered").message.startswith("An alert could not leave the house by Desk")
    page = client.get("/pit/alerts/delivery/").content.decode()
    assert "/hook" not in page, "what follows the host may be a secret"
    for words in (
        "Failed for good",
        "Desk",
        "the receiver answered 410: it did not take it",
        "less than a minute ago",
        "Send all 1 of Desk again",
        "entry 5 is missing",
    ):
        assert words in page
    calls.clear()
    text = client.post(f"/pit/alerts/delivery/letters/{waiting.pk}/again", follow=True).content.decode()
    assert "1 dead letter is on the way again" in text
    assert "again by 209 Bettina" in text
    assert calls == [("tables.tasks.deliver", waiting.pk)]
    assert not delivery.dead().exists()
    assert delivery.deliver(waiting.pk) == "sent"
    assert {headers[webhook_signatures.DELIVERY] for headers, _, _ in receiver.got} == {str(waiting.key)}
    [row] = Resending.objects.all()
    entry = LogEntry.objects.get(book__name=HOUSE, seq=row.seq)
    assert (entry.subject, entry.kind, entry.by, row.after) == ("channel", "resent", boss.signature, 1)
    assert row_comparison.compare().faults == []
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    again = client.post(f"/pit/alerts/delivery/letters/{waiting.pk}/again", follow=True).content.decode()
    assert "Nothing failed for good here any more" in again, "a second press sends nothing twice"


def test_an_alert_that_is_sent_again_has_all_its_attempts_again(
    olga: Staff, receiver: Receiver, clock: Clock, calls: list[tuple[str, int]]
) -> None:
    """Harm: an alert is retried forever; or one that is sent again is given up at the next failure, or is ignored by
    the sweep."""
    receiver.answers = [500] * 99
    webhook(receiver, olga)
    alert()
    waiting = Delivery.objects.get()
    hours = 0
    for _ in range(2):
        for _ in range(outbox.MOST_ATTEMPTS):
            delivery.deliver(waiting.pk)
            clock.pass_until(waiting.at + timedelta(hours=2 * (hours := hours + 1)))
        assert list(delivery.dead()) == [waiting]
        assert streams.queue_due() == 0
        assert delivery.send_again([waiting], by=olga) == 1
        assert streams.queue_due() == 0, "its task was queued"
        clock.pass_until(timezone.now() + outbox.ASKED_AGAIN)
        assert streams.queue_due() == 1, "that worker was killed"
    assert DeliveryAttempt.objects.count() == 2 * outbox.MOST_ATTEMPTS
    assert Resending.objects.count() == 2
    assert Alert.objects.filter(kind="not_delivered").count() == 1, "nobody took note of it yet"


def test_all_of_a_channel_are_sent_again_and_none_of_another(
    olga: Staff, receiver: Receiver, calls: list[tuple[str, int]]
) -> None:
    """Harm: forty presses of a button in the morning; or the regulator's channel is sent what is the desk's."""
    receiver.answers = [410] * 3
    desk = webhook(receiver, olga)
    for number in range(3):
        alert(f"entry {number} is missing")
    for row in Delivery.objects.all():
        delivery.deliver(row.pk)
    channels.set_channel(ChannelDraft("Gone", "mail", "nobody@example.com"), by=olga)
    delivery.send_test(channels.newest("Gone"), by=olga)
    letter = Delivery.objects.get(name="Gone")
    assert delivery.deliver(letter.pk) == "dead", "there is no mail server"
    with pytest.raises(Refused, match="one channel at a time"):
        delivery.send_again(list(delivery.dead()), by=olga)
    page = floor.client(olga).post(f"/pit/alerts/delivery/{desk.pk}/again", follow=True).content.decode()
    assert "3 dead letters are on the way again" in page
    assert list(delivery.dead()) == [letter]
    assert len({row.seq for row in Resending.objects.all()}) == 1, "one entry names all three"


def test_what_would_only_fail_again_is_refused_with_what_is_to_be_done(
    olga: Staff, receiver: Receiver, calls: list[tuple[str, int]], settings: Any, tmp_path: Path
) -> None:
    """Harm: it is pressed, it fails, it is pressed; and nobody says that the channel is off."""
    receiver.answers = [410]
    webhook(receiver, olga)
    alert()
    letter = Delivery.objects.get()
    delivery.deliver(letter.pk)
    with pytest.raises(Refused, match="A pit boss or an operator sends"):
        delivery.send_again([letter], by=floor.staff(Role.SURVEILLANCE, "vera", "801"))
    channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, is_on=False), by=olga)
    with pytest.raises(Refused, match=r"Desk is switched off\. An operator switches it on first"):
        delivery.send_again([letter], by=olga)
    channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url), by=olga)
    settings.PEPPER_FILE = str(tmp_path / "pepper")
    pepper.add_key()
    with pytest.raises(Refused, match="sets the secret of Desk anew first"):
        delivery.send_again([letter], by=olga)
    settings.EMAIL_HOST = ""
    channels.set_channel(ChannelDraft("Gone", "mail", "nobody@example.com"), by=olga)
    delivery.send_test(channels.newest("Gone"), by=olga)
    dead_letter = Delivery.objects.get(name="Gone")
    delivery.deliver(dead_letter.pk)
    with pytest.raises(Refused, match="whoever runs the servers sets EMAIL_HOST first"):
        delivery.send_again([dead_letter], by=olga)
    assert not Resending.objects.exists()


# --- A secret is changed ---------------------------------------------------------------------------------------

ANOTHER = "fedcba9876543210fedcba9876543210"


def test_while_a_secret_is_changed_a_receiver_with_either_takes_every_message(
    olga: Staff, receiver: Receiver, clock: Clock, calls: list[tuple[str, int]]
) -> None:
    """Harm: after the site changes a secret and until the receiver does, every alert and event is refused as forged."""
    webhook(receiver, olga)
    row = channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, ANOTHER), by=olga)

    def taken_by() -> set[str]:
        alert(f"entry {len(receiver.got)} is missing")
        delivery.deliver(Delivery.objects.latest("pk").pk)
        headers, body, _ = receiver.got[-1]
        return {
            secret for secret in (SECRET, ANOTHER) if webhook_signatures.is_ours(secret, headers, body, time.time())
        }

    assert taken_by() == {SECRET, ANOTHER}
    assert not webhook_signatures.is_ours("another" * 5, *receiver.got[-1][:2], time.time())
    channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, least_level=0), by=olga)
    assert taken_by() == {SECRET, ANOTHER}, "another level has nothing to do with it"
    assert row.former_until is not None
    clock.pass_until(row.former_until)
    assert taken_by() == {ANOTHER}
    assert row_comparison.compare().faults == []


def test_a_secret_that_leaked_signs_nothing_from_now_on(
    olga: Staff, receiver: Receiver, calls: list[tuple[str, int]]
) -> None:
    """Harm: whoever has the leaked secret is believed for another day."""
    webhook(receiver, olga)
    row = channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, ANOTHER, both_hours=0), by=olga)
    assert (row.former_secret, row.former_until) == ("", None)
    moment = timezone.now()
    assert channels.secrets_of(row, moment) == [ANOTHER]
    row = channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, SECRET, both_hours=48), by=olga)
    assert channels.secrets_of(row, moment) == [SECRET, ANOTHER]
    row = channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, both_hours=0), by=olga)
    assert channels.secrets_of(row, moment) == [SECRET]
    with pytest.raises(Refused, match="to 720"):
        channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, both_hours=721), by=olga)


def test_an_operator_says_how_long_both_secrets_sign(olga: Staff, receiver: Receiver) -> None:
    """Harm: the span can be set by a function, and by nobody who works here."""
    webhook(receiver, olga)
    client = floor.client(olga)
    typed = {
        "name": "Desk",
        "tells": "alerts",
        "means": "webhook",
        "address": receiver.url,
        "is_on": "on",
        "level": "1",
    }
    refused = client.post("/admin/tables/alertchannel/add/", typed | {"signed_with": ANOTHER, "both_hours": "800"})
    assert "720" in refused.content.decode()
    posted = client.post("/admin/tables/alertchannel/add/", typed | {"signed_with": ANOTHER, "both_hours": "2"})
    assert posted.status_code == 302
    row = channels.newest("Desk")
    assert row.former_until is not None
    assert row.former_until - row.at <= timedelta(hours=2)
    assert channels.secrets_of(row, row.at) == [ANOTHER, SECRET]
    page = client.get("/pit/alerts/delivery/").content.decode()
    assert "the former secret signs as well until" in page


def test_another_pepper_keeps_the_secrets_of_channels(
    olga: Staff, receiver: Receiver, calls: list[tuple[str, int]], settings: Any, tmp_path: Path
) -> None:
    """Harm: the old key is taken out as the guide says, and no alert leaves the house any more."""
    settings.PEPPER_FILE = str(tmp_path / "pepper")
    pepper.add_key()
    olga.set_pin(floor.PIN)
    olga.set_password(floor.PASSWORD)
    olga.save()
    webhook(receiver, olga)
    channels.set_channel(ChannelDraft("Desk", "webhook", receiver.url, ANOTHER), by=olga)
    Path(settings.PEPPER_FILE).rename(tmp_path / "away")
    with pytest.raises(CommandError, match="PEPPER_FILE is not there"):
        call_command("pepper", "--rotate", stdout=io.StringIO())
    (tmp_path / "away").rename(settings.PEPPER_FILE)
    pepper.add_key()
    with pytest.raises(CommandError, match="the secret of the channel Desk"):
        call_command("pepper", "--check", stdout=io.StringIO())
    call_command("pepper", "--rotate", stdout=io.StringIO())
    keys = Path(settings.PEPPER_FILE).read_text().splitlines()
    Path(settings.PEPPER_FILE).write_text(f"{keys[0]}\n")
    pepper._known.clear()
    row = channels.newest("Desk")
    assert (row.version, row.by) == (3, "the command line")
    assert channels.secrets_of(row, timezone.now()) == [ANOTHER, SECRET]
    alert()
    assert delivery.deliver(Delivery.objects.get().pk) == "sent"
    for secret in (SECRET, ANOTHER):
        assert webhook_signatures.is_ours(secret, *receiver.got[-1][:2], time.time())
    call_command("pepper", "--check", stdout=io.StringIO())
    assert channels.carry_over("nobody") == 0
    assert [fault for fault in row_comparison.compare().faults if "channel" in fault] == []


# --- With a real worker ----------------------------------------------------------------------------------------


@pytest.fixture
def worker(lone_worker: Callable[..., processes.Served]) -> processes.Served:
    """The worker of the queue that must not wait."""
    return lone_worker("--queues", "alerts")


@commits
def test_a_worker_that_is_killed_in_an_attempt_is_followed_by_one_that_sends(
    olga: Staff, receiver: Receiver, worker: processes.Served, superuser_connection: psycopg.Connection
) -> None:
    """Harm: the alert that was on its way when the worker died is on its way for ever."""
    webhook(receiver, olga)
    receiver.holds.clear()
    alert()
    eventually(lambda: len(receiver.got) == 1)
    worker.kill()
    assert not DeliveryAttempt.objects.exists()
    receiver.holds.set()
    worker.start()
    Delivery.objects.update(asked_at=F("asked_at") - outbox.ASKED_AGAIN)  # half a minute passes
    tasks.look_after_alerts.delay()
    eventually(lambda: DeliveryAttempt.objects.filter(outcome="sent").exists())
    assert len({headers[webhook_signatures.DELIVERY] for headers, _, _ in receiver.got}) == 1


@commits
def test_an_entry_is_an_alert_within_five_seconds_and_nobody_has_to_ask(
    worker: processes.Served, superuser_connection: psycopg.Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: the supervisor comes when the chips are gone. No beat runs here: the worker of the alerts hears commits,
    also after the database ended its connection."""
    dealer, _ = dealt()
    boss = floor.staff(Role.PIT_BOSS, "bettina", "209")
    rules_in_force.set_rule(replace(rules_in_force.in_force()["large_bet"], threshold=10_000), by=boss)
    eventually(lambda: not log_followers.behind())
    took = []
    for seat in (1, 2, 3):
        dealer("bet", seat=seat, amount_cents=10_000)
        committed = time.monotonic()
        eventually(lambda seat=seat: Alert.objects.filter(evidence__cause=f"seat {seat}").exists())
        took.append(time.monotonic() - committed)
    assert max(took) < 5
    ended = superuser_connection.execute(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = %s",
        [notifications.NAME],
    ).fetchone()
    assert ended == (1,), "one connection listens"
    dealer("bet", seat=4, amount_cents=10_000)
    eventually(lambda: Alert.objects.filter(evidence__cause="seat 4").exists())
    with capsys.disabled():
        print(f"\nentry to alert: {', '.join(f'{seconds:.2f} s' for seconds in took)}")


def test_only_a_worker_of_the_alerts_alone_hears_commits() -> None:
    """Harm: a worker that is at a proof for minutes follows the books as well, on the proof's processor."""
    hearing = [notifications.serves(queues) for queues in (["alerts"], ["alerts", "celery"], ["celery"])]
    assert hearing == [True, False, False]


def test_the_outbox_is_not_read_from_its_beginning(
    olga: Staff, receiver: Receiver, calls: list[tuple[str, int]], clock: Clock
) -> None:
    """Harm: the sweep of due messages, or the list of dead letters, reads every message that ever left the site; or a
    waiting message is passed over and never sent."""
    webhook(receiver, olga)
    receiver.answers = [200, 410]
    for number in range(3):
        alert(f"entry {number} is missing")
    delivered, failed, waits = Delivery.objects.order_by("pk")
    delivery.deliver(delivered.pk)
    delivery.deliver(failed.pk)
    clock.stand(timezone.now() + timedelta(days=2))
    calls.clear()
    assert streams.queue_due() == 1
    assert calls == [("tables.tasks.deliver", waits.pk)]
    assert list(delivery.waiting()) == [waits]
    assert list(delivery.dead()) == [failed]
    delivery.send_again([failed], by=olga)
    assert list(delivery.waiting()) == [failed, waits]
    delivery.deliver(waits.pk)
    assert list(delivery.waiting()) == [failed]
    delivery.deliver(failed.pk)
    assert not delivery.waiting().exists()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
    assert "tables_delivery_waiting" in delivery.waiting().order_by().explain()
