"""The third witness: both clocks are wrong by a week, which log entries and task runs show."""

import re
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from ledger.models import HOUSE, Alert, Book, DayRoot, LogEntry
from ledger.proof import seals
from tables.audit import day_seals, proofs, watch
from tables.roles import Role
from tables.staff import signers
from tests import floor
from tests.clock import Clock
from tests.ledger.conftest import Felt
from tests.ledger.proof.test_seals import TODAY, key_file, later, seal_until

__all__ = ["key_file"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
def week_ahead(felt: Felt, key_file: object, clock: Clock) -> Felt:
    """A site on one machine whose clock leaps a week ahead after a sealed day."""
    seal_until(clock, 1)
    clock.stand(later(8))
    return felt


def test_a_leap_of_all_clocks_seals_nothing(week_ahead: Felt, clock: Clock) -> None:
    """Harm: future days are signed as empty, and the real ones are in no bundle; or one round and one run under the
    wrong clock make the leap count as elapsed time."""
    for _ in range(2):
        watch.watch()
    assert DayRoot.objects.count() == 1
    alert = Alert.objects.get(kind="clock_leapt")
    assert "No day is sealed until the clocks are set right" in alert.message
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    week_ahead.round()
    clock.pass_until(later(9))
    assert day_seals.seal_days() == 1
    assert DayRoot.objects.count() == 1


def test_a_clock_that_was_set_right_seals_on(week_ahead: Felt, clock: Clock) -> None:
    """Harm prevented: an hour under a wrong clock, and a house that cannot seal for a month."""
    watch.watch()
    clock.stand(later(1))
    clock.pass_until(later(2))
    assert [row.day for row in day_seals.seal_finished()] == [TODAY + timedelta(days=1)]


def test_a_book_with_entries_to_come_holds_up_the_seal(week_ahead: Felt, clock: Clock) -> None:
    """Harm prevented: a day is sealed without the rounds that a wrong clock dated a month ahead."""
    week_ahead.round()
    clock.stand(later(1))
    clock.pass_until(later(2))
    assert day_seals.seal_days() == 1
    assert Alert.objects.get(kind="book_ahead").evidence["book"] == "Table 1"
    assert DayRoot.objects.count() == 1


@pytest.mark.slow("opens a site and lets a day pass")
def test_somebody_confirms_that_the_house_stood_still(
    week_ahead: Felt, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm prevented: a house that was closed for a month and can never seal again; or nobody knows who said so."""
    assert day_seals.seal_days() == 1
    with pytest.raises(SystemExit):
        call_command("clock", "status")
    assert "LEAP" in capsys.readouterr().out
    floor.staff(Role.OPERATOR, "olga", "301")
    monkeypatch.setattr(signers, "getpass", lambda _: floor.PIN)
    call_command("clock", "confirm", "--by", "olga", "--reason", "closed for the winter")
    content = LogEntry.objects.get(subject="clock", kind="confirmed").content
    document = content["document"]
    assert document["reason"] == "closed for the winter"
    assert seals.is_signed(document["key"], bytes.fromhex(content["signature"]), document)
    assert day_seals.seal_days() == 0
    assert DayRoot.objects.count() == 8
    call_command("clock", "confirm", "--by", "olga", "--reason", "again")
    assert "nothing to confirm" in capsys.readouterr().out
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_a_worker_that_was_away_is_no_leap_while_tables_deal(felt: Felt, key_file: object, clock: Clock) -> None:
    """Harm prevented: a worker that was down over a busy weekend, and somebody called in to confirm the clock."""
    seal_until(clock, 1)
    for hours in range(6, 54, 6):
        clock.stand(later(1) + timedelta(hours=hours))
        felt.round()
    clock.stand(later(3))
    assert len(day_seals.seal_finished()) == 2


def test_a_day_that_goes_on_is_never_sealed(felt: Felt, key_file: object) -> None:
    """Harm prevented: a seal that somebody asks for before the day is over."""
    with pytest.raises(Exception, match="goes on until"):
        day_seals.seal(TODAY)
    assert not DayRoot.objects.exists()


def test_both_clocks_are_shown(felt: Felt, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    """Harm prevented: somebody at a shell in the night who cannot tell which clock is wrong."""
    call_command("clock", "status")
    clock.host_is_off(timedelta(minutes=3))
    with pytest.raises(SystemExit):
        call_command("clock", "status")
    assert re.search(r"apart +\+(179\.9|180\.0)", capsys.readouterr().out)
    with pytest.raises(CommandError, match="nobody who may"):
        call_command("clock", "confirm", "--by", "x", "--reason", "y")
