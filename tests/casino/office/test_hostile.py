"""Malicious bundles: a head office names the fault of each, and goes on."""

import json
from pathlib import Path
from shutil import copyfile
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from casino.office import figures, houses, receiving, tasks
from casino.office.figures import BundleFigures, TableFigures
from casino.office.houses import Registration
from casino.office.models import Arrival, Day, House, Refusal, TableDay
from casino.office.receiving import ArrivalState
from ledger.models import Alert
from tables.audit.outside import verifier
from tables.audit.outside.bundle import FORMATS, KEYS, MANIFEST, ROOTS, Wrong
from tables.models import Staff
from tests.tables.bundles import ONE, Evidence, Forger

pytestmark = pytest.mark.django_db


@pytest.fixture
def house(evidence: Evidence, settings: Any, tmp_path: Path) -> House:
    settings.OFFICE_FOLDER = str(tmp_path / "office")
    clerk = Staff.objects.get(username="olga")
    return houses.register(Registration("north", "North", "EUR", evidence.public), by=clerk)


def manifest(*names: Any) -> bytes:
    parts = [{"name": name, "sha256": "", "bytes": 0} for name in names]
    document = {"format": FORMATS[0], "from": "2026-01-01", "to": "2026-01-01", "parts": parts}
    return json.dumps(document).encode() + b"\n"


def key(public: str = "ab" * 32) -> bytes:
    return json.dumps({"key": public}).encode() + b"\n"


def day(name: str = "2026-01-01") -> bytes:
    document = {"day": name, "key": "ab" * 32, "begins": "2026-01-01", "ends": "2026-01-02"}
    return json.dumps({"document": document, "signature": "00" * 64}).encode() + b"\n"


def written(path: Path, **changes: bytes) -> Path:
    """An unsigned zip with a bundle's structure."""
    parts = {"manifest": manifest(KEYS, ROOTS), "keys": key(), "roots": day()} | changes
    with ZipFile(path, "w", ZIP_DEFLATED) as file:
        for name, part in (("manifest", MANIFEST), ("keys", KEYS), ("roots", ROOTS)):
            file.writestr(part, parts[name])
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"manifest": manifest([])},
        {"manifest": manifest(5, KEYS, ROOTS)},
        {"manifest": b"[" * 1_000_000 + b"\n"},
        {"roots": day("\x00")},
        {"roots": day("\ud800")},
        {"keys": key() + key("\x00")},
        {"keys": key() + key("\ud800")},
        {"keys": b"null\n"},
    ],
    ids=["a list", "a number", "deep", "nul in a day", "half a character", "nul in a key", "half in a key", "null"],
)
def test_a_malformed_bundle_is_refused_with_a_sentence_that_can_be_stored(
    house: House, changes: dict[str, bytes], tmp_path: Path
) -> None:
    """Harm: a bundle whose error message the database cannot store stops the office's worker, every minute again."""
    answer = receiving.take(house, written(tmp_path / "hostile.zip", **changes), by="test")
    assert answer.state == ArrivalState.REFUSED
    assert Refusal.objects.get().says.isprintable()


def test_a_part_that_is_read_into_memory_has_a_size_limit(house: House, tmp_path: Path) -> None:
    """Harm: a megabyte on a stick becomes a thousand in memory, before its signature is checked."""
    bomb = written(tmp_path / "bomb.zip", keys=(b"{}" + b" " * 100_000 + b"\n") * 100)
    assert bomb.stat().st_size < 100_000
    assert "larger than any house's" in receiving.take(house, bomb, by="test").says


def test_a_zip_whose_directory_is_enormous_is_refused_unread(house: House, tmp_path: Path) -> None:
    """Harm: a head office reads gigabytes of names into memory before it asks who signed them."""
    flood = tmp_path / "flood.zip"
    with ZipFile(flood, "w") as file:
        for number in range(60_000):
            file.writestr(f"{number:040}", b"")
    assert "its directory has" in receiving.take(house, flood, by="test").says


def test_a_bundle_cannot_send_control_codes_to_a_terminal(tmp_path: Path) -> None:
    """Harm: a bundle clears an auditor's terminal and writes HOLDS there."""
    with pytest.raises(Wrong) as refusal:
        verifier.verify(written(tmp_path / "paint.zip", roots=day("\x1b[2J\x1b[HHOLDS")))
    assert "\x1b" not in str(refusal.value)


FAR = "9999-12-31T23:59:59.999999Z"


@pytest.mark.parametrize(
    "change", [{"ends": "tomorrow"}, {"day": "today"}, {"ends": FAR}], ids=["end", "day", "end of time"]
)
def test_a_signed_day_with_an_invalid_time_is_refused(
    house: House, evidence: Evidence, change: dict[str, str], tmp_path: Path
) -> None:
    """Harm: a value that a house can sign but no database can store, or to which no day can be added, stops the
    office's worker at each sweep, and its list of houses."""
    forger = Forger(evidence.first)
    forger.sign_day(1, evidence.key, lambda document: document.update(change))
    bundle = forger.write(tmp_path / "timeless.zip")
    assert receiving.take(house, bundle, by="test").state == ArrivalState.REFUSED


def test_figures_that_no_database_can_store_are_rejected(
    house: House, evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a house signs an impossibly large win, and no day of any house is verified after that."""
    sheet = BundleFigures({(ONE.isoformat(), "Rocket 1"): TableFigures(game="Rocket", win_cents=10**30)})
    monkeypatch.setattr(figures, "sheet_of", lambda path: sheet)
    copyfile(evidence.first, tmp_path / "coming.zip")
    receiving.take(house, tmp_path / "coming.zip", by="test")
    assert receiving.verify_waiting(house) == 0
    assert not Arrival.objects.get().verdict.holds
    assert not Day.objects.exists()
    assert not TableDay.objects.exists()
    assert Alert.objects.filter(kind="day_refused").count() == 1


def test_an_unexpected_error_in_a_bundle_stops_no_other_house(
    house: House, evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: the worker fails at one house's bundle at each sweep, and the next houses' days are never verified."""
    other = houses.register(
        Registration("south", "South", "EUR", evidence.public), by=Staff.objects.get(username="olga")
    )
    for receiver in (house, other):
        copyfile(evidence.first, tmp_path / "coming.zip")
        receiving.take(receiver, tmp_path / "coming.zip", by="test")
    sheet_of = figures.sheet_of

    def fails(path: Path) -> BundleFigures:
        if path.parent.name == house.code:
            raise MemoryError
        return sheet_of(path)

    monkeypatch.setattr(figures, "sheet_of", fails)
    tasks.look_after_houses()
    assert list(Day.objects.values_list("house__code", flat=True)) == ["south"]
