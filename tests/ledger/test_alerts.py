"""Alerts: opened once, announced, open until somebody takes note by name."""

from datetime import timedelta

import psycopg
import pytest
from django.db import transaction
from django.utils import timezone

from ledger.alerts import AlreadyAcknowledged, acknowledge, open_alerts, raise_alert, raise_event, raise_lasting
from ledger.models import Acknowledgement, Alert, AlertRepeat
from tests.clock import Clock
from tests.ledger.conftest import Felt
from tests.ledger.test_cage import at_once


def test_the_same_fault_opens_one_alert(felt: Felt) -> None:
    """Harm prevented: three hundred alerts overnight for one fault, among which another one drowns."""
    alert = raise_alert(felt.book, "log_broken", "entry 5 is missing", {"seq": 5})
    assert raise_alert(felt.book, "log_broken", "entry 5 is missing", {"seq": 5}) == alert
    assert raise_alert(None, "log_broken", "entry 5 is missing") != alert
    assert raise_alert(felt.book, "negative", "entry 5 is missing") != alert
    assert raise_alert(felt.book, "log_broken", "entry 6 is missing") != alert
    assert open_alerts().count() == 4
    assert alert.evidence == {"seq": 5}


def test_two_workers_that_find_the_same_open_one_alert(open_felt: Felt) -> None:
    """Harm prevented: the same, by workers that look at the same moment."""
    assert at_once(*[lambda: raise_alert(open_felt.book, "negative", "rack")] * 6) == []
    assert Alert.objects.count() == 1


def test_what_happens_again_is_put_with_the_open_alert_of_its_cause(felt: Felt) -> None:
    """Harm prevented: one key that is pressed ninety times raises ninety urgent alerts, among which another one drowns;
    or a repeat after the acknowledgement goes unseen."""
    alert = raise_event(felt.book, "deck_check_failed", "59 tens", {"cause": "shoe 1", "seq": 5})
    for seq, says in ((6, "59 tens"), (7, "58 tens")):
        assert raise_event(felt.book, "deck_check_failed", says, {"cause": "shoe 1", "seq": seq}) == alert
    assert raise_event(felt.book, "deck_check_failed", "59 tens", {"cause": "shoe 2", "seq": 8}) != alert
    assert [(row.seq, row.says) for row in alert.repeats.all()] == [(6, "59 tens"), (7, "58 tens")]
    acknowledge(alert, "7 Eve")
    assert raise_event(felt.book, "deck_check_failed", "59 tens", {"cause": "shoe 1", "seq": 9}) != alert


def test_a_lasting_condition_is_one_alert_with_its_newest_message(open_felt: Felt) -> None:
    """Harm prevented: a witness that refuses each minute, with another number in its answer, raises an alert each
    minute; or two workers note the same twice."""

    def find(says: str) -> Alert:
        return raise_lasting(open_felt.book, "witness_refuses", "witness A", says, {})

    alert = find("1 leaf")
    assert find("1 leaf") == alert
    assert at_once(*[lambda: find("2 leaves")] * 6) == []
    assert [row.says for row in AlertRepeat.objects.all()] == ["2 leaves"]
    acknowledge(alert, "7 Eve")
    assert find("1 leaf") == alert, "the same was acknowledged less than a day ago"
    assert find("3 leaves") != alert


def test_an_alert_stays_until_somebody_takes_note_by_name(felt: Felt) -> None:
    """Harm prevented: an alert that goes away by itself, or that nobody answers for."""
    alert = raise_alert(felt.book, "negative", "rack")
    for nobody in ("", "   "):
        with pytest.raises(ValueError, match="by name"):
            acknowledge(alert, nobody)
    assert list(open_alerts()) == [alert]
    acknowledge(alert, "7 Eve", "the fill is on its way")
    assert not open_alerts().exists()
    with pytest.raises(AlreadyAcknowledged):
        acknowledge(alert, "8 Mallory", "it was me")
    acknowledgement = Acknowledgement.objects.get()
    assert (acknowledgement.by, acknowledgement.note) == ("7 Eve", "the fill is on its way")


def test_a_lasting_fault_is_told_again_the_next_day(felt: Felt, clock: Clock) -> None:
    """Harm prevented: an alert every five minutes for what was acknowledged; or silence for ever."""
    alert = raise_alert(felt.book, "negative", "rack")
    acknowledge(alert, "7 Eve")
    assert raise_alert(felt.book, "negative", "rack") == alert
    clock.stand(timezone.now() + timedelta(days=1))
    assert raise_alert(felt.book, "negative", "rack") != alert
    assert open_alerts().count() == 1


def test_a_long_message_is_cut(felt: Felt) -> None:
    """Harm prevented: a fault that goes unreported because it takes many words."""
    assert len(raise_alert(felt.book, "log_broken", "x" * 2000).message) == 500


def test_alerts_are_announced(open_felt: Felt, app_connection: psycopg.Connection) -> None:
    """Harm prevented: a pit screen that learns of an alert when somebody reloads it."""
    app_connection.autocommit = True
    app_connection.execute("LISTEN floor")
    with transaction.atomic():
        alert = raise_alert(open_felt.book, "negative", "rack")
        raise_alert(open_felt.book, "negative", "rack")
    acknowledge(alert, "7 Eve")
    news = f'{{"book": {open_felt.book.pk}, "alert": {alert.pk}}}'
    heard = [note.payload for note in app_connection.notifies(timeout=5, stop_after=4)]
    assert [payload for payload in heard if '"alert"' in payload] == [news, news]
