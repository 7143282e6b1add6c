"""A server whose clock is wrong: every screen and the API say so, nothing is written, and the pit is told once."""

import json
import uuid
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from ledger.models import Alert, LogEntry
from tables.roles import Role
from tables.state import table_state
from tests import floor
from tests.clock import Clock
from tests.dealer_ui.dealer.test_views import bet, dora, enter, hand, signed_in, text
from tests.floor import Hand

__all__ = ["dora", "hand"]

pytestmark = pytest.mark.django_db

SAYS = "The clocks of this server and of the database differ by 3 days."


@pytest.fixture
def fast(hand: Hand, dora: Client, clock: Clock) -> Clock:
    """This server is three days ahead."""
    clock.host_is_off(timedelta(days=3, seconds=30))
    return clock


def api(client: Client, hand: Hand) -> HttpResponse:
    body = {
        "key": str(uuid.uuid4()),
        "expected_seq": table_state.of(hand.table).seq,
        "input": {"do": "bet", "seat": 1, "amount_cents": 1_000},
    }
    found: HttpResponse = client.post(  # type: ignore[assignment]
        f"/api/tables/{hand.table.pk}/inputs/", json.dumps(body), content_type="application/json"
    )
    return found


def test_an_input_is_refused_with_the_reason(fast: Clock, hand: Hand, dora: Client) -> None:
    """Harm: one tap on a server that is three days ahead pins the table's book to then; nobody hears of it."""
    entries, client = LogEntry.objects.count(), Client()
    client.cookies["terminal"] = dora.cookies["terminal"].value  # enrolled while the clock was right
    client.force_login(hand.by, backend="django.contrib.auth.backends.ModelBackend")
    for _ in range(2):
        answer = enter(client, hand, bet(hand))
        assert answer.status_code == 503
        assert text(answer).startswith(SAYS)
    answer = api(client, hand)
    assert answer.status_code == 503
    assert json.loads(answer.content)["code"] == "clocks_differ"
    assert json.loads(answer.content)["detail"].startswith(SAYS)
    assert LogEntry.objects.count() == entries
    assert Alert.objects.filter(kind="clocks_differ").count() == 1
    fast.right()
    assert enter(signed_in(hand.by), hand, bet(hand)).status_code == 200


def test_the_page_of_runs_shows_both_clocks(fast: Clock, hand: Hand) -> None:
    """Harm: somebody is told of a clock that is wrong, and can see neither."""
    fast.right()
    bettina, boss = floor.staff(Role.PIT_BOSS, "bettina"), Client()
    fast.host_is_off(timedelta(days=3, seconds=30))
    boss.force_login(bettina, backend="django.contrib.auth.backends.ModelBackend")
    page = text(boss.get("/pit/runs/"))
    assert "differ by 3 days" in page
    fast.right()
    page = text(signed_in(floor.staff(Role.PIT_BOSS, "boris")).get("/pit/runs/"))
    assert "The clocks of this server and of the database agree." in page


def test_a_book_that_is_ahead_is_refused_with_the_reason(hand: Hand, clock: Clock) -> None:
    """Harm: a dealer who is told that the database is away, and a pit that reboots it."""
    clock.stand(timezone.now() + timedelta(days=3))
    hand("bet", seat=1, amount_cents=1_000)
    clock.right()
    answer = enter(signed_in(hand.by), hand, bet(hand))
    assert answer.status_code == 503
    assert "The last entry of Rocket 1 is dated 2 days ahead" in text(answer)
    assert "clock mend 'Rocket 1'" in Alert.objects.get(kind="book_ahead").message
