"""The house says in words what is wrong with it, and what to do."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.db import DatabaseError

from ledger import clock, runs
from ledger.proof import seals
from tables.audit import condition, watch
from tables.audit.condition import CHECKS, ConditionPart, Urgency
from tables.roles import Role
from tests import floor
from tests.database import locked_by_another_worker

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("broker")]


def part(name: str) -> ConditionPart:
    return next(part for part in condition.parts() if part.name == name)


def test_a_house_that_is_well_says_so_of_every_part(settings: Any, tmp_path: Path) -> None:
    """Harm: a page that cries wolf is read by nobody."""
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    seals.make_key(tmp_path / "audit.pem")
    every = condition.parts()
    assert {part.name for part in every} == set(CHECKS)
    wrong = [part for part in every if part.state == Urgency.WRONG]
    assert wrong == []
    assert all(part.says.endswith(".") for part in every)


def test_each_thing_that_goes_wrong_is_named_with_what_to_do(
    settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Harm: an operator at night sees that something is wrong, and not what."""
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    settings.AUDIT_KEY_FILE = str(tmp_path / "no.pem")
    settings.STATIC_ROOT = str(tmp_path)
    monkeypatch.setattr(clock, "read", lambda: _off(timedelta(minutes=2)))
    monkeypatch.setattr("tables.audit.condition.LEAST_FREE_BYTES", 10**18)
    monkeypatch.setattr("tables.alerts.log_followers.behind", lambda: 501)
    for name, state, sentence in (
        ("Broker", Urgency.WRONG, "does not answer"),
        ("Keys", Urgency.WRONG, "no.pem"),
        ("Static files", Urgency.WRONG, "were not collected"),
        ("Clock", Urgency.WRONG, "off the database's"),
        ("Alerts", Urgency.WRONG, "501 entries wait"),
        ("Disk", Urgency.WATCH, "MB are free"),
    ):
        assert (part(name).state, sentence in part(name).says, bool(part(name).do)) == (state, True, True), name


def _off(drift: timedelta) -> Any:
    return SimpleNamespace(drift=drift)


def test_what_cannot_be_looked_at_keeps_nothing_else_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: the page that says what is wrong fails for the very reason that it should name."""

    def fails() -> ConditionPart:
        raise DatabaseError("away")

    monkeypatch.setitem(CHECKS, "Watch", fails)
    assert part("Watch").state == Urgency.WRONG
    assert part("Disk").says


def test_a_watch_that_is_behind_is_told_from_one_that_has_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a house that has just opened, or proves its whole log, calls for help while its worker does what is due."""
    plan = watch.PLANS[0]
    monkeypatch.setattr(runs, "late", lambda plans: [plan])
    assert part("Watch") == ConditionPart(
        "Watch", Urgency.WRONG, f"{plan.says} has stopped.", "Start the worker and casino-beat."
    )
    with locked_by_another_worker(f"run {watch.PLANS[3].task}"):
        assert part("Watch").says == "A worker is at it, and one piece of the watch is behind."


def test_a_house_that_has_just_been_started_is_given_time_and_a_command_is_not(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """Harm: whoever opens the house in the morning reads in red that nobody watches; or, minutes later, does not."""
    monkeypatch.setattr(runs, "late", lambda plans: list(watch.PLANS))
    assert part("Watch").state == Urgency.WRONG, "the doctor's process is always new"
    settings.WEB_PROCESS = True
    monkeypatch.setattr(watch, "_STARTED", time.monotonic())
    assert part("Watch").state == Urgency.WATCH
    monkeypatch.setattr(watch, "_STARTED", time.monotonic() - 200)
    assert part("Watch").state == Urgency.WRONG


def test_only_who_runs_the_servers_is_told_what_is_wrong() -> None:
    """Harm: whoever watches the floor reads versions, roles and folders."""
    boss, operator = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.staff(Role.OPERATOR, "olga")
    details, plain = (floor.client(somebody).get("/pit/health.json").json() for somebody in (operator, boss))
    assert {"name", "state", "says", "do"} == set(details["parts"][0])
    assert {"name", "state"} == set(plain["parts"][0])
    page = floor.client(boss).get("/pit/health/").content.decode()
    assert "casino_app" not in page
    assert "casino_app" in floor.client(operator).get("/pit/health/").content.decode()
    assert floor.client(floor.staff(Role.DEALER, "dan", "110")).get("/pit/health/").status_code == 403


@pytest.mark.parametrize(
    ("is_encrypted", "address", "sslmode", "state"),
    [
        (False, "10.0.0.5", "", Urgency.WATCH),
        (False, "10.0.0.5", "prefer", Urgency.WATCH),
        (False, "10.0.0.5", "disable", Urgency.WELL),
        (True, "10.0.0.5", "", Urgency.WELL),
        (False, "127.0.0.1", "", Urgency.WELL),
        (False, "::1", "", Urgency.WELL),
        (False, None, "", Urgency.WELL),
    ],
)
def test_a_line_that_others_could_read_is_named(
    is_encrypted: bool, address: str | None, sslmode: str, state: Urgency
) -> None:
    """Harm: chips and names cross a network of others in plain text, and nobody in the house knows."""
    assert condition.line(is_encrypted, address, sslmode).state == state
