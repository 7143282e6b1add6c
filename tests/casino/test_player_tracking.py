"""The example that keeps a player-tracking system's table: killed, told twice, told late, it has what the house has."""

from __future__ import annotations

import socket
import sqlite3
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from casino.embedded.servers import BASE_DIR
from tables.alerts import channels, outbox, streams
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import ChannelContent
from tables.floor import recorder
from tables.floor.inputs import VoidRound
from tables.models import Staff
from tables.roles import Role
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens
from tests import floor, processes
from tests.patience import eventually
from tests.processes import Served, Web
from tests.tiers import Tier, belongs_to

pytestmark = pytest.mark.django_db(transaction=True)

EXAMPLE = BASE_DIR / "deploy" / "examples" / "player_tracking.py"
SECRET = "fedcba9876543210fedcba9876543210"  # pragma: allowlist secret
Play = dict[tuple[str, int, int], tuple[int, int]]


class House:
    """A table that is dealt at by chance, and what became of every seat by its own standing."""

    def __init__(self) -> None:
        self.chance = Random("players")
        self.dealer, self.boss = floor.dealt(options={"decks": 6})
        self.play: Play = {}

    def deal(self) -> None:
        """A round: settled, taken back and settled otherwise, or void."""
        seats = self.chance.sample(range(1, 7), self.chance.randint(1, 3))
        self.dealer.bets(**{f"seat{seat}": self.chance.choice((1_000, 2_000, 5_000)) for seat in seats})
        end = self.chance.choice(("settled", "settled", "taken back", "void"))
        if end == "void":
            self._void()
            return
        self._play_out()
        if end == "taken back":
            self.boss("take_back", reopens=True)
            self._play_out()
        self._note()
        self.dealer.pay()

    def _play_out(self) -> None:
        while self.dealer.now.round_open:
            if self.dealer.board.due == "choose":
                self.dealer("choose", seat=self.dealer.board.prompts[0].seat, choice="fold")  # type: ignore[union-attr]
            else:
                self.dealer.cards(self.chance.randint(4, 9))

    def _void(self) -> None:
        seq, entered = self.dealer.now.seq, VoidRound("misdeal", "The shoe fell")
        recorder.record(self.dealer.table, entered, by=self.boss.by, key=uuid4(), expected_seq=seq)

    def _note(self) -> None:
        current = self.dealer.now.round
        assert current is not None
        for payout in current.settled:
            key = (self.dealer.table.name, current.number, payout.seat)
            self.play[key] = (payout.staked_cents, payout.returned_cents)


def kept(database: Path) -> Play:
    with closing(sqlite3.connect(database, timeout=30)) as rows:
        return {
            (table, number, seat): (staked, returned)
            for table, number, seat, staked, returned in rows.execute(
                "SELECT table_name, round, seat, staked_cents, returned_cents FROM play"
            )
        }


@pytest.fixture
def olga() -> Staff:
    return floor.staff(Role.OPERATOR, "olga")


@pytest.fixture
@belongs_to(Tier.TRIALS)
def follower(web: Web, olga: Staff, tmp_path: Path) -> Iterator[Served]:
    access = Access(purpose="Tracks", scopes=("read:events",), expires=timezone.now() + timedelta(days=9))
    account = service_accounts.set_account("Players", access, by=olga)
    (tmp_path / "token").write_text(service_tokens.make(account, by=olga))
    command = [sys.executable, str(EXAMPLE), "follow", "--house", web.url, "--token-file", str(tmp_path / "token")]
    served = Served([*command, "--database", str(tmp_path / "play.db")], {}, tmp_path / "log", lambda process: True)
    served.start()
    yield served
    served.kill()


def test_by_cursor_killed_and_started_again_it_has_what_the_house_has(follower: Served, tmp_path: Path) -> None:
    """Harm: a round that a guest played is missing in their account, or stands there twice, after a restart."""
    house = House()
    for number in range(12):
        house.deal()
        if number % 3 == 0:
            follower.kill()
            follower.start()
    assert house.play
    eventually(lambda: (tmp_path / "play.db").exists() and kept(tmp_path / "play.db") == house.play)


@pytest.fixture
@belongs_to(Tier.TRIALS)
def receiver(tmp_path: Path) -> Iterator[tuple[Served, int]]:
    port = processes.free_port()
    (tmp_path / "secret").write_text(SECRET)
    command = [sys.executable, str(EXAMPLE), "receive", "--port", str(port), "--secret-file", str(tmp_path / "secret")]

    def is_up(_: Served) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    served = Served([*command, "--database", str(tmp_path / "play.db")], {}, tmp_path / "log", is_up)
    served.start()
    yield served, port
    served.kill()


def test_by_webhook_told_twice_and_while_it_was_away_it_has_what_the_house_has(
    receiver: tuple[Served, int], olga: Staff, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: what is sent again is counted again; what was sent while the receiver was away is missing; or anybody may
    write into a guest's account."""
    settings.WEBHOOKS_TO_LOOPBACK = True
    monkeypatch.setattr(outbox, "queue", lambda task, key: None)
    monkeypatch.setattr(outbox, "wait_after", lambda failures: timedelta(0))
    served, port = receiver
    url = f"http://127.0.0.1:{port}/hook"
    channels.set_channel(ChannelDraft("players", "webhook", url, SECRET, tells=ChannelContent.EVENTS), by=olga)
    house, move_on = House(), streams.move_on
    for number in range(9):
        house.deal()
        if number == 3:
            served.kill()
        if number == 5:
            served.start()
        if number == 7:  # taken, and never noted: the same is sent again
            monkeypatch.setattr(streams, "move_on", lambda *_: (_ for _ in ()).throw(SystemExit))
            with pytest.raises(SystemExit):
                streams.send_turn("players")
            monkeypatch.setattr(streams, "move_on", move_on)
        streams.send_turn("players")
    assert house.play
    assert kept(tmp_path / "play.db") == house.play
    request = urllib.request.Request(url, b'{"events": []}', {"Casino-Signature": "v1=00", "Casino-Timestamp": "1"})
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request, timeout=10)
