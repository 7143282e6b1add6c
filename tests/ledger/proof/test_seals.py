"""Seals: the key is guarded, a day is signed once and upon the day before it, and nobody can take that back."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from ledger import cage, log
from ledger.log import Draft
from ledger.models import HOUSE, Alert, Book, BookRoot, DayRoot, LogEntry
from ledger.proof import merkle, seals
from ledger.proof.seals import BadKey
from ledger.proof.spelling import canonical
from tables.audit import day_seals, keys, proofs, roots, watch
from tables.reports import gaming_hours
from tables.reports.gaming_hours import Calendar
from tests.clock import Clock
from tests.database import rollback
from tests.intruder import at_work
from tests.ledger.conftest import Felt, lay_felt

pytestmark = pytest.mark.slow("sets up a house for each test")

TODAY = Calendar((gaming_hours.default(),)).day_of(timezone.now())


def later(days: int) -> datetime:
    """A moment at which so many days from today on are over."""
    return gaming_hours.span(TODAY + timedelta(days=days))[0] + day_seals.GRACE


def seal_until(clock: Clock, days: int) -> list[DayRoot]:
    """So many days pass, and the watch comes by."""
    clock.pass_until(later(days))
    return day_seals.seal_finished()


@pytest.fixture
def key_file(tmp_path: Path, settings: Any) -> Path:
    """The house's key, as the settings name it."""
    path = tmp_path / "keys" / "audit.pem"
    seals.make_key(path)
    settings.AUDIT_KEY_FILE = str(path)
    return path


@pytest.fixture
def felt(db: None, clock: Clock) -> Felt:
    """A table at noon, so that no test begins on one gaming day and goes on on the next."""
    clock.stand(gaming_hours.span(TODAY).start + timedelta(hours=6))
    return lay_felt()


@pytest.fixture
def sealed(felt: Felt, key_file: Path, clock: Clock) -> Felt:
    """A table with some rounds, its day sealed."""
    felt.round()
    felt.win()
    assert [row.day for row in seal_until(clock, 1)] == [TODAY]
    return felt


# --- the key ---------------------------------------------------------------------------------------------------


def test_a_key_is_nobodys_but_its_owners(tmp_path: Path) -> None:
    """Harm prevented: a key that anybody on the machine could copy, and sign another history with."""
    path = tmp_path / "audit.pem"
    second_key = seals.make_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert seals.public_of(seals.load_key(path)) == seals.public_of(second_key)
    with pytest.raises(BadKey, match="never written over"):
        seals.make_key(path)
    for mode in (0o640, 0o604, 0o622):
        path.chmod(mode)
        with pytest.raises(BadKey, match="Others can read"):
            seals.load_key(path)


@pytest.mark.parametrize("content", ["", "not a key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_key_is_refused_in_a_sentence(tmp_path: Path, content: str) -> None:
    """Harm prevented: a traceback in the night, and no day sealed."""
    path = tmp_path / "audit.pem"
    with pytest.raises(BadKey, match="cannot be read"):
        seals.load_key(path)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(descriptor, content.encode())
    os.close(descriptor)
    with pytest.raises(BadKey, match="no private key"):
        seals.load_key(path)


def test_a_public_key_is_read_however_it_was_handed_over(key_file: Path, tmp_path: Path) -> None:
    """Harm prevented: an auditor who cannot hand over the key that he trusts, and leaves it out."""
    public = seals.public_of(seals.load_key(key_file))
    file = tmp_path / "public"
    file.write_text(f"{public.upper()}\n")
    assert seals.read_public(public) == seals.read_public(str(file)) == public
    for wrong in ("", "ab", "g" * 64, str(tmp_path / "none"), "x" * 70):
        with pytest.raises(BadKey, match="no public key"):
            seals.read_public(wrong)


def test_a_signature_is_over_one_document_by_one_key(key_file: Path, tmp_path: Path) -> None:
    """Harm prevented: a signature that fits something else, too."""
    key, second_key = seals.load_key(key_file), seals.make_key(tmp_path / "other.pem")
    document = seals.rotation("aa", "bb")
    signature = seals.sign(key, document)
    assert seals.is_signed(seals.public_of(key), signature, document)
    assert not seals.is_signed(seals.public_of(second_key), signature, document)
    assert not seals.is_signed(seals.public_of(key), signature, document | {"new": "cc"})
    assert not seals.is_signed("no key", signature, document)


# --- sealing ---------------------------------------------------------------------------------------------------


def test_a_day_is_sealed_over_every_book_and_published_in_the_log(sealed: Felt, key_file: Path) -> None:
    """Harm prevented: a book that no root covers; a root that the house could keep to itself."""
    row = DayRoot.objects.get()
    document = roots.read_document(row.body)
    assert {book_root.book.name for book_root in BookRoot.objects.all()} == {HOUSE, "Table 1"}
    leaves = [bytes(BookRoot.objects.get(book__name=name).body) for name in ("Table 1", HOUSE)]
    assert document["root"] == merkle.root(leaves).hex()
    table = roots.read_document(BookRoot.objects.get(book=sealed.book).body)
    hashes = LogEntry.objects.filter(book=sealed.book).order_by("seq").values_list("hash", flat=True)
    assert table["root"] == merkle.root(map(bytes, hashes)).hex()
    assert {account: cents for account, _, _, cents in table["accounts"] if cents} == {
        account: cents for account, cents in cage.net_effect([sealed.book.pk]).items() if cents
    }
    entries = LogEntry.objects.filter(book__name=HOUSE).order_by("-seq")
    assert [(entry.subject, entry.kind) for entry in entries[:2]] == [("day", "sealed"), ("key", "published")]
    assert seals.is_signed(seals.public_of(seals.load_key(key_file)), bytes(row.signature), document)
    root = day_seals.newest_root()
    assert root is not None
    assert (root.day, root.number, root.digest) == (TODAY, 1, sha256(bytes(row.body)).hexdigest())
    assert [proofs.verify(book).fault for book in Book.objects.filter(name=HOUSE)] == [None]


def test_sealing_again_does_nothing_and_missed_days_are_caught_up_in_order(sealed: Felt, clock: Clock) -> None:
    """Harm prevented: a day sealed twice; days lost because the worker was away for them."""
    assert seal_until(clock, 1) == []
    sealed.round()
    assert [row.number for row in seal_until(clock, 4)] == [2, 3, 4]
    day_1, day_2, day_3, day_4 = DayRoot.objects.order_by("number")
    assert bytes(day_2.prev_hash or b"") == bytes(day_1.hash)
    assert roots.read_document(day_4.body)["previous"] == bytes(day_3.hash).hex()
    spans = BookRoot.objects.filter(book=sealed.book).order_by("day").values_list("first_seq", "last_seq")
    assert list(spans) == [(1, 4), (5, 5), (6, 5), (6, 5)]
    clock.pass_until(later(10))
    with pytest.raises(ValueError, match="does not follow"):
        day_seals.seal(TODAY + timedelta(days=9))


@pytest.mark.django_db(transaction=True)
def test_several_workers_seal_a_day_once(open_felt: Felt, key_file: Path, clock: Clock) -> None:
    """Harm prevented: two roots for one day, of which the house could show whichever it likes."""

    clock.pass_until(later(1))

    def work(_: int) -> int:
        try:
            return day_seals.seal(TODAY).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as workers:
        assert len({*workers.map(work, range(4))}) == 1
    assert DayRoot.objects.count() == 1
    assert LogEntry.objects.filter(subject="day").count() == 1
    assert LogEntry.objects.filter(subject="key").count() == 1


def test_without_a_key_the_pit_hears_of_it_and_nothing_is_signed(felt: Felt, settings: Any, clock: Clock) -> None:
    """Harm prevented: days that nobody sealed for weeks because a file was missing."""
    settings.AUDIT_KEY_FILE = ""
    clock.pass_until(later(1))
    assert day_seals.seal_days() == 1
    assert "No key file is set" in Alert.objects.get(kind="not_sealed").message


def test_the_watch_seals_what_is_over(felt: Felt, key_file: Path, clock: Clock) -> None:
    """Harm prevented: days that are sealed only when somebody thinks of it."""
    assert day_seals.seal_days() == 0
    assert DayRoot.objects.count() == 0
    clock.pass_until(later(3))
    assert "seal_days" in watch.watch()
    assert DayRoot.objects.count() == 3
    assert "seal_days" not in watch.watch()


def test_another_key_than_the_published_one_signs_nothing(
    sealed: Felt, settings: Any, tmp_path: Path, clock: Clock
) -> None:
    """Harm prevented: a file that was put in the key's place, and everything signed with it from then on."""
    settings.AUDIT_KEY_FILE = str(tmp_path / "other.pem")
    seals.make_key(tmp_path / "other.pem")
    with pytest.raises(BadKey, match="put the right"):
        seal_until(clock, 2)


def test_a_change_of_keys_is_signed_by_the_old_one(sealed: Felt, key_file: Path, clock: Clock) -> None:
    """Harm prevented: a new key from nowhere; an old key lost with the change."""
    old = seals.public_of(seals.load_key(key_file))
    new = keys.rotate()
    content = LogEntry.objects.get(subject="key", kind="rotated").content
    assert content["rotation"] == seals.rotation(old, new)
    assert seals.is_signed(old, bytes.fromhex(content["signature"]), content["rotation"])
    assert seals.public_of(seals.load_key(key_file)) == new
    assert [path.stat().st_mode & 0o777 for path in key_file.parent.iterdir()] == [0o600] * 3, "two keys and the note"
    assert roots.read_document(seal_until(clock, 2)[0].body)["key"] == new


def test_the_command_makes_a_key_once_and_says_its_public_half(
    felt: Felt, settings: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Harm prevented: an operator who makes a second key and loses what the first one signed."""
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    call_command("audit", "key")
    public = seals.public_of(seals.load_key(tmp_path / "audit.pem"))
    assert public in capsys.readouterr().out
    call_command("audit", "key")
    assert public in capsys.readouterr().out
    assert LogEntry.objects.filter(subject="key").count() == 1
    call_command("audit", "key", "--rotate")
    assert public not in capsys.readouterr().out
    (tmp_path / "audit.pem").chmod(0o644)
    with pytest.raises(CommandError, match="Others can read"):
        call_command("audit", "key")


def test_a_lost_key_is_replaced_in_the_open(sealed: Felt, key_file: Path, settings: Any, clock: Clock) -> None:
    """Harm prevented: a house that can seal no day any more because a disk broke; a key changed in silence."""
    with pytest.raises(BadKey, match="is there"):
        keys.replace_lost("the disk broke")
    key_file.unlink()
    with pytest.raises(BadKey, match="Say why"):
        keys.replace_lost(" ")
    with pytest.raises(CommandError, match="Say why"):
        call_command("audit", "key", "--lost", "")
    call_command("audit", "key", "--lost", "the disk broke")
    assert [row.number for row in seal_until(clock, 2)] == [2]
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    assert LogEntry.objects.get(subject="key", kind="replaced").content["reason"] == "the disk broke"


# --- what the database refuses, and what a proof finds ---------------------------------------------------------


def day_row(**changes: Any) -> dict[str, Any]:
    newest, body = DayRoot.objects.order_by("-number").get(), canonical({"day": "another"})
    return {
        "day": date(2000, 1, 1), "number": 2, "prev_number": 1, "prev_hash": newest.hash, "body": body,
        "hash": sha256(body).digest(), "signature": b"x" * 64, "at": timezone.now(),
    } | changes  # fmt: skip


def refused(model: Any, row: dict[str, Any]) -> str:
    with pytest.raises(DatabaseError) as error, transaction.atomic():
        model.objects.create(**row)
    return str(error.value.__cause__.diag.constraint_name)  # type: ignore[union-attr]


def test_the_database_keeps_the_days_chained(sealed: Felt) -> None:
    """Harm: a day has two roots, is left out, or names another predecessor."""
    with rollback():
        DayRoot.objects.create(**day_row())
    for changes, guard in (
        ({"day": TODAY}, "ledger_dayroot_day_key"),
        ({"number": 3}, "ledger_dayroot_gapless"),
        ({"number": 1}, "ledger_dayroot_gapless"),
        ({"prev_number": None, "prev_hash": None}, "ledger_dayroot_gapless"),
        ({"prev_hash": b"\x00" * 32}, "ledger_dayroot_prev"),
        ({"hash": b"\x00" * 32}, "ledger_dayroot_hash"),
        ({"signature": b"short"}, "ledger_dayroot_signed"),
    ):
        assert refused(DayRoot, day_row(**changes)) == guard, changes


def test_the_database_keeps_a_books_root_at_its_entries(sealed: Felt) -> None:
    """Harm prevented: a root over entries that are not there, or a second one for the day."""
    book_root = BookRoot.objects.get(book=sealed.book)
    row = {name: getattr(book_root, name) for name in ("book", "day", "first_seq", "last_seq", "head_hash", "body")}
    day = {"day": date(2000, 1, 1)}
    for changes, guard in (
        ({}, "ledger_bookroot_once"),
        (day | {"last_seq": 99}, "ledger_bookroot_entry"),
        (day | {"head_hash": b"\x00" * 32}, "ledger_bookroot_entry"),
        (day | {"first_seq": 9}, "ledger_bookroot_span"),
    ):
        assert refused(BookRoot, row | changes) == guard, changes


@pytest.mark.django_db(transaction=True)
def test_the_houses_own_proof_holds_the_roots_against_the_log(open_felt: Felt, key_file: Path, clock: Clock) -> None:
    """Harm prevented: rows beside the log that say something else than the log."""
    seal_until(clock, 2)
    house, table = Book.objects.get(name=HOUSE), open_felt.book
    assert day_seals.wrong_root(house) is None
    assert day_seals.wrong_root(table) is None
    document = roots.read_document(BookRoot.objects.filter(book=table).earliest("day").body)
    document["accounts"][0][3] += 100
    forgeries: tuple[tuple[Book, str, list[Any]], ...] = (
        (table, "UPDATE ledger_bookroot SET body = %s WHERE book_id = %s", [canonical(document), table.pk]),
        (house, "UPDATE ledger_dayroot SET body = %s WHERE number = 1", [canonical({"root": "another"})]),
        (house, "UPDATE ledger_dayroot SET signature = %s WHERE number = 2", [b"x" * 64]),
        (house, "UPDATE ledger_dayroot SET hash = %s WHERE number = 1", [b"x" * 32]),
        (house, "DELETE FROM ledger_dayroot WHERE number = 2", []),
    )
    with at_work() as intruder, connection.cursor() as cursor:
        for name in ("ledger_dayroot_prev", "ledger_dayroot_link", "ledger_dayroot_hash", "ledger_dayroot_gapless"):
            cursor.execute(f"ALTER TABLE ledger_dayroot DROP CONSTRAINT {name} CASCADE")
        for book, statement, values in forgeries:
            with rollback():
                intruder(statement, *values)
                assert day_seals.wrong_root(book) is not None, statement


def test_an_entry_written_after_the_seal_belongs_to_the_next_day(sealed: Felt, clock: Clock) -> None:
    """Harm prevented: an entry between two days, which no root covers, because two clocks do not agree."""
    with transaction.atomic():
        log.append(log.lock(sealed.book.pk), Draft("round", "play", "101 Ann", {}))
    seal_until(clock, 2)
    spans = BookRoot.objects.filter(book=sealed.book).order_by("day").values_list("first_seq", "last_seq")
    assert list(spans) == [(1, 4), (5, 5)]


def test_a_book_without_entries_has_no_root_until_it_has(sealed: Felt, clock: Clock) -> None:
    """Harm prevented: a day that cannot be sealed because a table was set up and never opened."""
    Book.objects.create(name="Empty")
    lay_felt("Table 2")
    seal_until(clock, 2)
    assert BookRoot.objects.filter(book__name="Empty").count() == 0
    assert BookRoot.objects.filter(book__name="Table 2").count() == 1


def test_a_key_or_a_day_that_somebody_wrote_into_the_log_is_found(sealed: Felt) -> None:
    """Harm prevented: whoever holds the application's role names a key of his own, and signs with it from then on."""
    house = Book.objects.get(name=HOUSE)
    assert proofs.verify(house).fault is None
    key = {"key": "ab" * 32}
    for subject, kind, content in (
        ("key", "published", key),
        ("key", "rotated", key | {"rotation": {}, "signature": "ab" * 64}),
        ("day", "sealed", {"document": {"day": "2000-01-01", "number": 9}, "signature": "ab" * 64}),
    ):
        with rollback():
            head = log.append(log.lock(house.pk), Draft(subject, kind, "999 Ghost", content))
            fault = proofs.verify(house).fault
            assert fault is not None, kind
            assert fault.seq == head.seq
