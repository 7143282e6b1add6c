"""Sessions are written now and then, and end all the same when somebody stops using the house."""

from collections.abc import Iterator
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from casino.web import sessions
from casino.web.sessions import RENEWED_SECONDS
from tables.models import Staff
from tables.roles import Role
from tests import floor

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

IDLE = 900
PAGE = "/password/"
ASKED_BY_ITSELF = {"X-Requested-With": "fetch"}


class Clock:
    """What the house takes for the time."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self.moment


@pytest.fixture
def boss(db: None) -> Staff:
    """Taken on before the time is a test's own: nothing is written in the house's book under a clock that is wrong."""
    return floor.staff(Role.PIT_BOSS, "bella")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    found = Clock()
    monkeypatch.setattr(sessions, "time", SimpleNamespace(time=found))
    monkeypatch.setattr(timezone, "now", lambda: datetime.fromtimestamp(found.moment, tz=UTC))
    yield found
    monkeypatch.undo()


@pytest.fixture
def bella(boss: Staff, clock: Clock) -> Client:
    client = Client()
    client.force_login(boss, backend="django.contrib.auth.backends.ModelBackend")
    return client


def is_in(client: Client, **headers: str) -> bool:
    return client.get(PAGE, headers=headers).status_code == 200


def writes(client: Client) -> int:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert is_in(client)
    return sum("UPDATE" in one["sql"] and "django_session" in one["sql"] for one in asked.captured_queries)


def test_one_write_a_minute_however_many_requests(bella: Client, clock: Clock) -> None:
    """Harm: each action of a dealer is a second transaction, and its answer waits for it."""
    assert writes(bella) == 1
    assert [writes(bella) for _ in range(5)] == [0] * 5
    clock.moment += RENEWED_SECONDS - 1
    assert writes(bella) == 0
    clock.moment += 1
    assert writes(bella) == 1


@pytest.mark.parametrize("pause", [RENEWED_SECONDS + 1, IDLE - RENEWED_SECONDS - 1])
def test_whoever_works_stays_signed_in(bella: Client, clock: Clock, pause: int) -> None:
    """Harm: a pit boss is signed out in the middle of their work, because the request before did not count."""
    assert is_in(bella)
    for _ in range(2 * IDLE // pause + 1):
        clock.moment += pause
        assert is_in(bella)


@pytest.mark.parametrize("before", [0, RENEWED_SECONDS - 1])
def test_whoever_stops_is_signed_out_in_time(bella: Client, clock: Clock, before: int) -> None:
    """Harm: a screen that somebody left stays open for whoever comes by."""
    assert is_in(bella)
    clock.moment += before
    assert is_in(bella)
    clock.moment += IDLE
    assert not is_in(bella)


def test_a_screen_that_only_follows_keeps_nobody_signed_in(bella: Client, clock: Clock) -> None:
    """Harm: a screen that was left stays open for ever, since the pit's page asks every second."""
    assert is_in(bella)
    for _ in range(IDLE // 50 - 1):
        clock.moment += 50
        assert is_in(bella, **ASKED_BY_ITSELF)
    clock.moment += 100
    assert not is_in(bella, **ASKED_BY_ITSELF)


@pytest.mark.parametrize("idle", [2, 100])
def test_short_sessions_are_renewed_in_time_too(bella: Client, clock: Clock, settings: object, idle: int) -> None:
    settings.SESSION_COOKIE_AGE = idle  # type: ignore[attr-defined]
    assert is_in(bella)
    for _ in range(5):
        clock.moment += idle * 0.9
        assert is_in(bella)
    clock.moment += idle + 0.1
    assert not is_in(bella)


def test_a_clock_that_was_set_back_does_not_stop_the_renewals(bella: Client, clock: Clock) -> None:
    """Harm: the clock ran a day ahead for a moment, and for a day nobody's session is renewed."""
    assert is_in(bella)
    clock.moment -= 86_400
    assert writes(bella) == 1


def test_a_session_that_is_gone_is_not_made_again(bella: Client) -> None:
    """Harm: somebody who was signed out goes on with a session that nobody began; or strangers fill the table."""
    assert is_in(bella)
    Session.objects.all().delete()
    assert not is_in(bella)
    assert Client().get("/sign-in/").status_code == 200
    assert not Session.objects.exists()
