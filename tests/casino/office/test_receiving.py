"""A head office takes only what a house sealed: in order, signed with that house's key, once, and complete."""

from pathlib import Path
from shutil import copyfile
from typing import Any

import pytest
from django.core.management import call_command

from casino.office import houses, receiving
from casino.office.houses import Registration
from casino.office.models import Arrival, Day, House, Refusal, Source, TableDay
from casino.office.receiving import ArrivalState
from ledger.models import Alert
from ledger.proof import seals
from tables.models import Staff
from tables.refusals import Refused
from tables.reports import figures as floor_figures
from tests.tables.bundles import ONE, TWO, Evidence, Forger

pytestmark = pytest.mark.django_db

SECRET = "0123456789abcdef0123456789abcdef"  # pragma: allowlist secret


@pytest.fixture
def clerk(evidence: Evidence) -> Staff:
    """An operator of the head office, which shares the tests' database with the house."""
    return Staff.objects.get(username="olga")


@pytest.fixture
def house(evidence: Evidence, clerk: Staff, settings: Any, tmp_path: Path) -> House:
    settings.OFFICE_FOLDER = str(tmp_path / "office")
    return houses.register(Registration("north", "North", "EUR", evidence.public, SECRET), by=clerk)


def bring(house: House, bundle: Path, tmp_path: Path) -> receiving.ArrivalAnswer:
    """Bring a copy of a bundle to the head office's door."""
    copy = tmp_path / "coming.zip"
    copyfile(bundle, copy)
    return receiving.take(house, copy, by="test")


def test_days_that_follow_each_other_hold_and_their_figures_are_the_floors_own(
    house: House, evidence: Evidence, tmp_path: Path
) -> None:
    """Harm: the head office shows figures that no entry of the house supports."""
    assert bring(house, evidence.first, tmp_path).state == ArrivalState.TAKEN
    assert bring(house, evidence.second, tmp_path).state == ArrivalState.TAKEN, "waiting bundles count as received"
    assert receiving.verify_waiting(house) == 2
    assert list(Day.objects.order_by("number").values_list("number", "day")) == [(1, ONE), (2, TWO)]
    for day in (ONE, TWO):
        for line in floor_figures.day(day).lines:
            row = TableDay.objects.get(house=house, day=day, table=line.name, source=Source.RECKONED)
            assert row.drop_cents == line.cash_cents
            assert row.game == line.game
            assert row.rounds == line.rounds
            counted_cents = line.box_variance_cents + line.corrections_cents - line.between_cents
            assert row.win_cents == line.win_cents - counted_cents


def test_a_day_that_comes_twice_does_no_harm_and_a_day_too_early_is_not_taken(
    house: House, evidence: Evidence, tmp_path: Path
) -> None:
    """Harm: an unnoticed gap in the chain of days, or a day counted twice."""
    answer = bring(house, evidence.second, tmp_path)
    assert (answer.state, answer.due) == (ArrivalState.EARLY, 1)
    assert not Arrival.objects.exists()
    bring(house, evidence.first, tmp_path)
    receiving.verify_waiting(house)
    assert bring(house, evidence.first, tmp_path).state == ArrivalState.KNOWN
    rows = list(TableDay.objects.filter(day=ONE).values())
    assert bring(house, evidence.both, tmp_path).state == ArrivalState.TAKEN, "it also has the second day"
    assert receiving.verify_waiting(house) == 1
    assert Day.objects.count() == 2
    assert list(TableDay.objects.filter(day=ONE).values()) == rows


def test_another_houses_key_and_another_history_are_refused_and_raise_alerts(
    house: House, evidence: Evidence, clerk: Staff, tmp_path: Path
) -> None:
    """Harm: a house's figures are another house's, or not those that it sealed at the time."""
    seals.make_key(tmp_path / "other.pem")
    stranger = seals.load_key(tmp_path / "other.pem")
    forger = Forger(evidence.first)
    forger.sign_all(stranger, {})
    answer = bring(house, forger.write(tmp_path / "stranger.zip"), tmp_path)
    assert answer.state == ArrivalState.REFUSED
    assert "is not among those that the house signed with" in answer.says

    bring(house, evidence.first, tmp_path)
    receiving.verify_waiting(house)
    forger = Forger(evidence.first)
    forger.sign_day(1, evidence.key, lambda document: document.update(slips=[]))
    answer = bring(house, forger.write(tmp_path / "anew.zip"), tmp_path)
    assert answer.state == ArrivalState.REFUSED
    assert "history was written anew" in answer.says
    assert Refusal.objects.count() == 2
    assert Alert.objects.filter(kind="day_refused").count() == 2
    assert Day.objects.count() == 1, "the accepted day stays"


def test_a_bundle_with_one_changed_entry_passes_the_door_and_is_then_rejected(
    house: House, evidence: Evidence, tmp_path: Path
) -> None:
    """Harm: correctly signed days with changed entries produce figures."""
    forger = Forger(evidence.first)
    seq = forger.moving("Rocket 1", "loss")
    forger.move("Rocket 1", seq, 1, lambda row: row.__setitem__(8, row[8] + 100))
    tampered = forger.write(tmp_path / "tampered.zip")
    assert bring(house, tampered, tmp_path).state == ArrivalState.TAKEN
    assert bring(house, evidence.second, tmp_path).state == ArrivalState.TAKEN
    assert receiving.verify_waiting(house) == 0, "the second day does not follow an accepted one"
    assert not Day.objects.exists()
    assert not TableDay.objects.exists()
    assert houses.due(house) == 1, "the day is due again"
    assert "its transfer 1 is" in Alert.objects.filter(kind="day_refused").earliest("pk").message

    assert bring(house, evidence.first, tmp_path).state == ArrivalState.TAKEN
    assert bring(house, evidence.second, tmp_path).state == ArrivalState.TAKEN, (
        "it was only rejected because of the day before it"
    )
    assert receiving.verify_waiting(house) == 2


def test_a_key_changes_only_if_the_house_signs_it_or_an_operator_pins_another(
    house: House, evidence: Evidence, clerk: Staff, tmp_path: Path
) -> None:
    """Harm: a thief of a key that the house has replaced can still seal its days."""
    seals.make_key(tmp_path / "next.pem")
    fresh = seals.load_key(tmp_path / "next.pem")
    assert houses.trusted_key(house) == evidence.public
    bring(house, evidence.first, tmp_path)
    receiving.verify_waiting(house)
    assert houses.trusted_key(house) == evidence.public
    public = seals.public_of(fresh)
    houses.pin(house, by=clerk, reason="their disk burned; told by phone and paper", key=public)
    assert houses.trusted_key(house) == public
    answer = bring(house, evidence.second, tmp_path)
    assert answer.state == ArrivalState.REFUSED, "the earlier key is no longer trusted"
    with pytest.raises(Refused, match="operator"):
        houses.pin(house, by=Staff.objects.get(username="ada"), reason="mine", key=public)


def test_days_come_on_a_stick_in_any_order_and_the_stick_keeps_them(
    house: House, evidence: Evidence, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm: a house without a line cannot report."""
    stick = [tmp_path / "audit-1.zip", tmp_path / "audit-2.zip"]
    copyfile(evidence.first, stick[0])
    copyfile(evidence.second, stick[1])
    call_command("office", "take", "north", *map(str, reversed(stick)))
    assert Day.objects.count() == 2
    assert all(path.exists() for path in stick)
    assert "HOLDS" in capsys.readouterr().out
