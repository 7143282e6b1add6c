"""A bundle whose days a witness saw: an outsider proves with it that no tail was cut off and no book taken out."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from ledger.models import Book, BookRoot
from ledger.proof.note import Note, NoteSignature
from tables.audit import day_seals, export
from tables.audit.outside.bundle import WITNESS
from tests.clock import Clock
from tests.floor import Hand
from tests.ledger.proof.test_seals import TODAY, later
from tests.tables.audit.sealed_days import refusal, verified
from tests.tables.audit.test_bundle import application, by_itself
from tests.tables.audit.test_witnessed import NAME, ORIGIN, Outside, house, minute, outside
from tests.tables.bundles import Forger, exported

__all__ = ["application", "house", "minute", "outside"]

pytestmark = [pytest.mark.django_db, pytest.mark.slow("seals a day for each test")]


@pytest.fixture
def bundle(house: Hand, minute: Callable[[], int], clock: Clock, tmp_path: Path) -> Path:
    """A day at a table, witnessed while it lasted and once it was sealed."""
    minute()
    house.bets(**{"1": 1_000})
    minute()
    clock.pass_until(later(1))
    assert day_seals.seal_finished()
    for _ in range(3):
        minute()
    path = tmp_path / "day.zip"
    path.write_bytes(exported(TODAY, TODAY))
    return path


def test_the_verifier_says_who_saw_how_far_each_book_went(bundle: Path, outside: Outside, application: Path) -> None:
    """Harm: an auditor who has to believe the house that this is the whole of the day."""
    copy = application.parent / "seen.jsonl"
    shutil.copy(outside.path, copy)
    run = by_itself(application, bundle, "--witness-key", outside.vkey, "--witness", copy)
    assert run.returncode == 0, run.stdout + run.stderr
    last_seq = BookRoot.objects.get(book__name="Rocket 1").last_seq
    assert f"holds  witnessed by {NAME} at " in run.stdout
    assert f"as {ORIGIN}: Rocket 1 up to entry {last_seq}, house up to entry " in run.stdout
    assert f"{NAME} saw 5 leaves of {ORIGIN}" in run.stdout
    verdict = "\n".join(verified(bundle))
    assert "note   no witness's key was given from outside" in verdict
    assert bundle.read_bytes() == exported(TODAY, TODAY), "whenever it is exported, it has the same bytes"


def test_a_day_before_there_was_a_witness_says_so(house: Hand, clock: Clock, tmp_path: Path, outside: Outside) -> None:
    """Harm: a bundle without a witness that reads like one with."""
    clock.pass_until(later(1))
    assert day_seals.seal_finished()
    path = tmp_path / "day.zip"
    path.write_bytes(exported(TODAY, TODAY))
    assert "no witness saw these days" in "\n".join(verified(path))
    assert "is missing: no witness saw" in refusal(path, witness_keys=[outside.vkey]).what


def forged(bundle: Path, change: Callable[[Forger], None]) -> Path:
    forger = Forger(bundle)
    change(forger)
    return forger.write(bundle.with_name("forged.zip"))


def first_line(forger: Forger, change: Callable[[dict[str, Any]], None]) -> None:
    document = json.loads(forger.parts[WITNESS][0])
    change(document)
    forger.parts[WITNESS][0] = json.dumps(document).encode()


def without_cosignature(forger: Forger) -> None:
    def change(document: dict[str, Any]) -> None:
        note = Note.parse(document["checkpoint"])
        document["checkpoint"] = str(Note(note.text, note.signatures[:1]))

    first_line(forger, change)


def with_another_signature(forger: Forger) -> None:
    def change(document: dict[str, Any]) -> None:
        note = Note.parse(document["checkpoint"])
        forged_signature = NoteSignature(NAME, note.signatures[1].key_id, bytes(72))
        document["checkpoint"] = str(Note(note.text, (note.signatures[0], forged_signature)))

    first_line(forger, change)


FORGERIES: dict[str, tuple[Callable[[Forger], Any], str]] = {
    "the part taken out": (lambda forger: forger.parts.pop(WITNESS), "is missing: no witness saw"),
    "no cosignature": (without_cosignature, "is not cosigned by"),
    "a forged cosignature": (with_another_signature, "is not by its key"),
    "a book left out of the heads": (lambda forger: forger.parts[WITNESS].pop(1), "The heads are not those"),
    "another leaf": (
        lambda forger: first_line(
            forger, lambda document: document.update(leaf=document["leaf"].replace('"at":"2', '"at":"1'))
        ),
        "the path leads to another root",
    ),
    "no path": (lambda forger: first_line(forger, lambda document: document.update(path=[])), "the path ends below"),
}


def test_whatever_is_forged_of_the_testimony_is_named(bundle: Path, outside: Outside) -> None:
    """Harm: a testimony that anybody can write."""
    for name, (change, sentence) in FORGERIES.items():
        wrong = refusal(forged(bundle, change), witness_keys=[outside.vkey])
        assert (wrong.part, sentence in wrong.what) == (WITNESS, True), name


def test_a_bundle_of_a_log_that_was_cut_off_is_named_by_the_witness(
    house: Hand, minute: Callable[[], int], outside: Outside, clock: Clock, tmp_path: Path, monkeypatch: Any
) -> None:
    """Harm: the house cuts off its day, seals what is left with its true key, and hands it to its auditor: all that is
    in the bundle holds."""
    minute()
    before = Book.objects.get(name="Rocket 1").head_seq
    head = outside.file.of(ORIGIN).heads
    head["Rocket 1"] = (before + 7, "ab" * 32)  # what the witness was told, and the house has cut off since
    record = outside.server.witness.show(ORIGIN)
    answer_file = tmp_path / "answer.jsonl"
    answer_file.write_text(record.body)
    clock.pass_until(later(1))
    assert day_seals.seal_finished()
    monkeypatch.setattr(export.witness_part, "lines_of", lambda day: iter(()))
    path = tmp_path / "day.zip"
    path.write_bytes(exported(TODAY, TODAY))
    last_seq = BookRoot.objects.get(book__name="Rocket 1").last_seq
    assert last_seq < before + 7
    output = StringIO()
    arguments = ["--witness", str(answer_file), "--witness-key", str(outside.vkey)]
    with pytest.raises(SystemExit):
        call_command("audit", "verify", str(path), *arguments, stdout=output)
    sentence = (
        f"the witness saw Rocket 1 up to entry {before + 7}, and it goes up to {last_seq} here: its tail was cut off"
    )
    assert sentence in output.getvalue()
