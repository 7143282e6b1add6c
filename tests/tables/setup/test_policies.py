"""Changing the house's terms: dated, entered, read by every process, proved."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book, LogEntry
from tables.audit import proofs
from tables.log.entries.house_terms import TermsChanged
from tables.models import Denomination, HouseTerms, Staff
from tables.refusals import Refused
from tables.roles import PERMISSIONS, Role
from tables.setup import policies, table_settings
from tests import floor
from tests.clock import Clock
from tests.terms import read_again

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _as_entered() -> None:
    read_again()


def entries() -> list[dict[str, Any]]:
    return [entry.content for entry in LogEntry.objects.filter(subject="house", kind="terms_changed").order_by("seq")]


def test_a_change_is_an_entry_and_holds_at_once(operator: Staff) -> None:
    """Harm: a threshold that nobody can say when it was changed, by whom, and from what."""
    row = policies.change({"dispute_reportable_cents": 100_000}, by=operator)
    assert row is not None
    read_again()
    assert policies.number("dispute_reportable_cents") == 100_000
    [content] = entries()
    assert content["before"] == {"dispute_reportable_cents": 50_000}
    assert content["after"] == row.values == {"dispute_reportable_cents": 100_000}
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_what_was_there_before_is_what_held_then(operator: Staff, clock: Clock) -> None:
    """Harm: a change that is dated overtakes one that was entered for an earlier moment."""
    today = timezone.now()
    tomorrow, after = today + timedelta(days=1), today + timedelta(days=2)
    policies.change({"pin_digits_min": 8}, after, by=operator)
    policies.change({"pin_digits_min": 7}, tomorrow, by=operator)
    read_again()
    assert [policies.number("pin_digits_min", moment) for moment in (today, tomorrow, after)] == [6, 7, 8]
    assert [content["before"] for content in entries()] == [{"pin_digits_min": 6}, {"pin_digits_min": 6}]
    clock.stand(after + timedelta(seconds=1))
    assert policies.number("pin_digits_min") == 8
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_what_changes_nothing_writes_nothing(operator: Staff) -> None:
    """Harm: entries that say that something was changed, and nothing was."""
    assert policies.change({"pin_digits_min": 6, "certificate_games": ()}, by=operator) is None
    assert entries() == []


@pytest.mark.parametrize(
    ("values", "days", "field"),
    [
        ({}, 0, "values"),
        ({"pin_digits_min": 12}, 0, "pin_digits_min"),
        ({"pin_digits_min": 7}, -1, "effective"),
        ({"pin_digits_min": 7}, 400, "effective"),
    ],
)
def test_a_change_that_cannot_be_is_refused(operator: Staff, values: dict[str, Any], days: int, field: str) -> None:
    """Harm: a threshold is moved for days that are over, or to what nobody could go by."""
    with pytest.raises(Refused) as refused:
        policies.change(values, timezone.now() + timedelta(days=days) if days else None, by=operator)
    assert list(refused.value.facts["fields"]) == [field]
    assert entries() == []


def test_nobody_else_changes_them() -> None:
    """Harm: whoever is measured by a threshold moves it."""
    with pytest.raises(Refused, match="Only an operator"):
        policies.change({"pin_digits_min": 7}, by=floor.staff(Role.PIT_BOSS, "bella"))
    assert {role for role in Role if "tables.add_houseterms" in PERMISSIONS[role]} == {Role.OPERATOR}


def forged(**changes: Any) -> str:
    """What a proof says of an entry that is added with fitting hashes, and with the row that goes with it."""
    with transaction.atomic():
        head = site_log.lock()
        moment = policies.spelled(head.moment)
        content: dict[str, Any] = {
            "effective": moment, "before": {"pin_digits_min": 6}, "after": {"pin_digits_min": 4}
        } | changes  # fmt: skip
        entry = log.append(head, Draft.of(TermsChanged(**content), "olga Olga"))
        effective = max(head.moment, datetime.fromisoformat(content["effective"]))
        HouseTerms(seq=entry.seq, effective=effective, values=content["after"], by="olga Olga", at=head.moment).save()
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    return fault.what if fault else ""


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"before": {"pin_digits_min": 8}}, "its before.pin_digits_min is not 6"),
        ({"after": {"pin_digits_min": 6}}, "to what it was"),
        ({"after": {"pin_digits_min": 1}}, "could not be set then"),
        ({"effective": "2020-01-01T00:00:00+00:00"}, "as they are kept beside the log, are others"),
        ({"effective": "2099-01-01T00:00:00+00:00"}, "nobody could enter it then"),
    ],
)
def test_a_forged_change_is_found(operator: Staff, changes: dict[str, Any], sentence: str) -> None:
    """Harm: whoever has the database's role loosens a threshold, and the log seems to bear it out."""
    assert sentence in forged(**changes)


def test_a_row_without_its_entry_is_found(operator: Staff) -> None:
    """Harm: a threshold that holds and was never entered."""
    policies.change({"pin_digits_min": 7}, by=operator)
    moment = timezone.now()
    HouseTerms(seq=10_000, effective=moment, values={"pin_digits_min": 4}, by="olga Olga", at=moment).save()
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    assert "house terms" in fault.what


def test_the_least_penetration_holds_for_tables_that_are_set(operator: Staff, terms: Callable[..., None]) -> None:
    """Harm: a shoe is cut so deep that hardly any of it is dealt, where the house's licence says otherwise."""
    Denomination.objects.bulk_create([Denomination(value_cents=100, colour="white", face="#ffffff")])
    settings = table_settings.Settings(
        options={"decks": 6, "reshuffle_at": 0.3}, unit_cents=100, min_cents=1_000, max_cents=10_000,
        denominations=(100,),
    )  # fmt: skip
    assert table_settings.faults(settings) == {}
    terms(least_penetration_percent=75)
    assert "at least 75 % of a shoe dealt" in table_settings.faults(settings)["options"]
