"""The note beside the key: whoever owns the database cannot have the house sign another history with its own key."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from ledger import sealed_note
from ledger.models import HOUSE, Alert, Book, BookRoot, DayRoot, LogEntry
from ledger.proof import seals
from ledger.sealed_note import BadNote
from tables.audit import day_seals, keys, proofs, sealed_note_checks
from tables.models import Staff
from tables.roles import Role
from tables.staff import signers
from tests import floor
from tests.clock import Clock
from tests.database import rollback
from tests.intruder import Intruder, at_work
from tests.ledger.conftest import Felt
from tests.ledger.proof.test_seals import key_file, later, seal_until

__all__ = ["key_file"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def house(open_felt: Felt, key_file: Path, clock: Clock) -> Felt:
    """A house that has sealed two days."""
    open_felt.round()
    seal_until(clock, 1)
    open_felt.win()
    seal_until(clock, 2)
    return open_felt


def note() -> sealed_note.Note:
    notes = sealed_note.read(sealed_note_checks.note_file())
    assert notes is not None
    return notes[0]


def not_sealed() -> str:
    """What the pit is told when the watch cannot seal."""
    assert day_seals.seal_days() == 1
    return Alert.objects.filter(kind="not_sealed").latest("pk").message


def forget_the_seals(intruder: Intruder, since: int = 1) -> None:
    """Days from a number on were never sealed, as far as the database knows; nor did the house's log go on."""
    days = list(DayRoot.objects.filter(number__gte=since).values_list("day", flat=True))
    intruder("DELETE FROM ledger_dayroot WHERE number >= %s", since)
    intruder("DELETE FROM ledger_bookroot WHERE day = ANY(%s)", days)
    entries = LogEntry.objects.filter(book__name=HOUSE)
    first_seq = next(
        entry.seq
        for entry in entries.filter(subject="day", kind="sealed").order_by("seq")
        if entry.content["document"]["number"] >= since
    )
    before = entries.get(seq=first_seq - 1)
    intruder("DELETE FROM ledger_logentry WHERE book_id = %s AND seq >= %s", before.book_id, first_seq)
    intruder(
        "UPDATE ledger_book SET head_seq = %s, head_hash = %s WHERE id = %s",
        before.seq, bytes(before.hash), before.book_id,
    )  # fmt: skip


@pytest.fixture
def intruder(house: Felt) -> Iterator[Intruder]:
    """Whoever owns the server of the database, without the key."""
    with at_work() as hand, connection.cursor() as cursor:
        for table in ("ledger_dayroot", "ledger_bookroot"):
            cursor.execute(
                "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('c', 'f')", [table]
            )
            for (name,) in cursor.fetchall():
                cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name} CASCADE")
        yield hand


def test_the_note_has_every_day_and_every_book(house: Felt) -> None:
    """Harm prevented: a note that leaves something out, which could then be rewritten."""
    day_root = DayRoot.objects.get(number=2)
    assert [(number, digest) for number, _, digest in note().days] == [
        (row.number, bytes(row.hash).hex()) for row in DayRoot.objects.order_by("number")
    ]
    assert note().books == {
        row.book.name: (row.last_seq, bytes(row.head_hash).hex()) for row in BookRoot.objects.filter(day=day_root.day)
    }
    assert sealed_note_checks.note_file().stat().st_mode & 0o777 == 0o600
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


# --- a history that was written anew ---------------------------------------------------------------------------


def test_a_sealed_day_that_was_rewritten_is_not_signed_anew(house: Felt, intruder: Intruder) -> None:
    """Harm prevented: somebody who owns the database, without the key, rewrites a sealed day, deletes its root and cuts
    the house's book; and the watch signs the forgery with the house's true key."""
    intruder.rewrite(house.book.pk, 3, lambda document: document["content"].update(note="another round"))
    forget_the_seals(intruder)
    assert "Table 1, entry 4: is another than the one noted beside the key" in not_sealed()
    assert not DayRoot.objects.exists()
    assert not BookRoot.objects.exists(), "nor is anything kept of it that would be signed later"
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    assert "noted beside the key" in fault.what


def test_a_log_of_the_last_sealed_day_that_was_rewritten_cut_or_renamed_is_named(
    house: Felt, intruder: Intruder
) -> None:
    """Harm: only the newest day is rewritten, as if its worker had been killed before the commit; the end of a sealed
    day is dropped, and its seal with it; or a table is dropped with all its winnings."""
    book = house.book.pk
    seq = BookRoot.objects.get(book=book, day=DayRoot.objects.get(number=2).day).last_seq
    with rollback():
        intruder.rewrite(book, seq, lambda document: document["content"].update(note="another round"))
        forget_the_seals(intruder, since=2)
        assert f"Table 1, entry {seq}: is another than the one noted beside the key" in not_sealed()
        assert DayRoot.objects.count() == 1
        fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
        assert fault is not None
        assert (fault.book, fault.seq) == ("Table 1", seq)
    with rollback():
        head = LogEntry.objects.get(book=book, seq=3)
        intruder("DELETE FROM ledger_transfer WHERE book_id = %s AND seq > 3", book)
        intruder("DELETE FROM ledger_logentry WHERE book_id = %s AND seq > 3", book)
        intruder("UPDATE ledger_book SET head_seq = 3, head_hash = %s WHERE id = %s", bytes(head.hash), book)
        forget_the_seals(intruder, since=2)
        assert "Table 1, entry 4: is missing, and is noted beside the key" in not_sealed()
    with rollback():
        intruder("UPDATE ledger_book SET name = 'Table 9' WHERE id = %s", book)
        forget_the_seals(intruder, since=2)
        with pytest.raises((BadNote, Book.DoesNotExist), match="Table 1, entry"):
            day_seals.seal_finished()


def test_a_chain_that_does_not_lead_on_from_the_note_is_not_signed(
    house: Felt, clock: Clock, intruder: Intruder
) -> None:
    """Harm prevented: what was written since the last seal is changed, and signed that night."""
    house.round()
    house.round()
    seq = house.win().seq
    intruder("UPDATE ledger_logentry SET hash = sha256('x') WHERE book_id = %s AND seq = %s", house.book.pk, seq)
    clock.pass_until(later(3))
    assert f"Table 1, entry {seq}: its hash is not the hash of what it says" in not_sealed()
    assert DayRoot.objects.count() == 2


def test_an_older_root_is_held_against_the_note(house: Felt, intruder: Intruder) -> None:
    """Harm prevented: a day of last month is sealed otherwise, and only the newest one is looked at."""
    intruder("UPDATE ledger_dayroot SET hash = sha256('x') WHERE number = 1")
    wrong = sealed_note_checks.fault()
    assert wrong is not None
    assert "sealed as number 1, is another than the one noted beside the key" in wrong.what


# --- workers that are killed -----------------------------------------------------------------------------------


class Killed(BaseException):
    """Stands for kill -9: nothing that is written to catch exceptions sees it."""


@pytest.mark.parametrize("moment", ["before the note", "after the note"])
def test_a_worker_that_is_killed_signs_the_same_day_later(
    house: Felt, clock: Clock, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """Harm prevented: a house that can never seal again because its worker died between the file and the commit."""
    house.round()
    clock.pass_until(later(3))
    write = sealed_note.write

    def dies(*arguments: Any) -> None:
        if moment == "after the note":
            write(*arguments)
        raise Killed

    monkeypatch.setattr(sealed_note, "write", dies)
    with pytest.raises(Killed):
        day_seals.seal_finished()
    monkeypatch.undo()
    clock.stand(later(3))
    assert DayRoot.objects.count() == 2
    assert note().number == (3 if moment == "after the note" else 2)
    noted = note().hash_of(3)
    assert sealed_note_checks.fault() is None, "nothing is wrong while a day waits to be stored"
    house.win()
    (row,) = day_seals.seal_finished()
    assert noted in (None, bytes(row.hash).hex())
    assert note().hash_of(3) == bytes(row.hash).hex()
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_a_day_that_was_signed_is_never_signed_otherwise(house: Felt, clock: Clock, intruder: Intruder) -> None:
    """Harm prevented: a killed worker is what somebody waits for, to have the day signed as he likes it."""
    before = note()
    days = (*before.days, (3, later(2).date().isoformat(), "ab" * 32))
    signed = sealed_note.Note(days, before.books)
    sealed_note.write(sealed_note_checks.note_file(), signed, keys.the_key())
    clock.pass_until(later(3))
    with transaction.atomic():
        assert "was signed as day 3 before, and was another then" in not_sealed()
    assert note() == signed


def test_the_note_is_the_old_one_or_the_new_one(house: Felt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm prevented: half a note after a power cut, and a house that cannot seal."""
    before = note()

    def dies(_: int) -> None:
        raise Killed

    monkeypatch.setattr(os, "fsync", dies)
    with pytest.raises(Killed):
        sealed_note.write(sealed_note_checks.note_file(), sealed_note.Note(), keys.the_key())
    monkeypatch.undo()
    assert note() == before
    sealed_note.write(sealed_note_checks.note_file(), before, keys.the_key())
    assert [path.name for path in sealed_note_checks.note_file().parent.glob("*.new")] == []


def test_a_note_that_cannot_be_written_is_told_and_nothing_is_signed(
    house: Felt, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm prevented: a full disk or a folder without rights, and a day is signed that no note knows."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    clock.pass_until(later(3))
    monkeypatch.setattr(sealed_note, "_on_the_disk", full)
    assert "No space left on device" in not_sealed()
    assert DayRoot.objects.count() == 2


# --- notes that are not there, or not the house's --------------------------------------------------------------


def test_a_house_without_a_note_signs_nothing_before_somebody_has_proved_it(
    house: Felt, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm prevented: an upgrade, or a worker on another host, that takes whatever the database says for the truth."""
    sealed_note_checks.note_file().unlink()
    clock.pass_until(later(3))
    assert "audit key --note" in not_sealed()
    assert DayRoot.objects.count() == 2
    with pytest.raises(CommandError, match="No note is made of a log that does not hold"):
        call_command("audit", "key", "--note")  # the rounds of this house are no table's that conduct knows
    sealed_note_checks.make()
    assert note().number == 2
    with pytest.raises(BadNote, match="There is a note"):
        sealed_note_checks.make()
    assert len(day_seals.seal_finished()) == 1


def test_a_note_that_was_changed_or_is_of_another_site_is_rejected(house: Felt, tmp_path: Path) -> None:
    """Harm: an edited note, or one signed with an intruder's own key, is believed."""
    document = json.loads(sealed_note_checks.note_file().read_bytes())
    document["note"]["books"]["Table 1"] = [1, "ab" * 32]
    sealed_note_checks.note_file().write_text(json.dumps(document))
    with pytest.raises(BadNote, match="was changed"):
        day_seals.seal_finished() or sealed_note_checks.agreed(seals.public_of(keys.the_key()))
    sealed_note_checks.note_file().write_text("nonsense")
    with pytest.raises(BadNote, match="is no note"):
        sealed_note_checks.agreed(seals.public_of(keys.the_key()))
    sealed_note.write(sealed_note_checks.note_file(), sealed_note.Note(), seals.make_key(tmp_path / "another.pem"))
    with pytest.raises(BadNote, match="was signed by another key"):
        sealed_note_checks.agreed(seals.public_of(keys.the_key()))


def test_a_change_of_keys_that_was_killed_leaves_a_valid_note(
    house: Felt, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm: a new key invalidates everything noted so far; or a worker dies after the new key is in place, and no day
    is ever sealed again."""

    def dies() -> None:
        raise Killed

    before = note()
    keys.rotate()
    assert note() == before
    monkeypatch.setattr(sealed_note_checks, "carry_over", dies)
    with pytest.raises(Killed):
        keys.rotate()
    monkeypatch.undo()
    clock.stand(later(2))
    seal_until(clock, 3)
    assert note().number == 3


def test_two_people_stand_for_an_older_database(
    house: Felt, intruder: Intruder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm prevented: an old copy is put back, and days that were sealed are silently signed once more."""
    given_up = note().days[1]
    forget_the_seals(intruder, since=1)
    assert "is missing, and is noted beside the key" in not_sealed()
    boss, operator = floor.staff(Role.PIT_BOSS, "bella", "201"), floor.staff(Role.OPERATOR, "olga", "301")
    with pytest.raises(BadNote, match="two different people"):
        sealed_note_checks.accept_restored("the disk broke", (boss, boss))
    sealed_note_checks.accept_restored("the disk broke", (boss, operator))
    assert given_up in note().left
    entry = LogEntry.objects.get(subject="day", kind="restored")
    document = entry.content["document"]
    assert seals.is_signed(document["key"], bytes.fromhex(entry.content["signature"]), document)
    assert document["by"] == [boss.signature, operator.signature]
    assert [row.number for row in day_seals.seal_finished()] == [1, 2]


def test_who_stands_for_something_gives_their_pin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm prevented: one person at a shell names two others."""
    floor.staff(Role.PIT_BOSS, "bella", "201")
    floor.staff(Role.DEALER, "dora", "101")
    monkeypatch.setattr(signers, "getpass", lambda _: "9999")
    with pytest.raises(CommandError, match="The PIN of Bella is wrong"):
        call_command("clock", "confirm", "--by", "bella", "--reason", "closed")
    for name in ("dora", "nobody"):
        with pytest.raises(CommandError, match="nobody who may stand for this"):
            call_command("clock", "confirm", "--by", name, "--reason", "closed")
    monkeypatch.setattr(signers, "getpass", lambda _: floor.PIN)
    assert signers.who_signs("bella") == Staff.objects.get(username="bella")
