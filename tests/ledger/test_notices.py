"""What happens while somebody else holds the house's book is written later, once, in order; and a proof misses none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import psycopg
import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from ledger import cage, queue, site_log
from ledger.models import HOUSE, Book, LogEntry, Notice
from tables.audit import proofs, watch
from tables.log.entries.staff import StaffChanged, StaffSignedIn
from tests import load

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def book() -> Book:
    return cage.open_house()


@pytest.fixture
def holder(book: Book, superuser_connection: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """Somebody holds the house's book."""
    load.hold(HOUSE, superuser_connection)
    yield superuser_connection
    superuser_connection.execute("ROLLBACK")


@contextmanager
def disguised(intruder: psycopg.Connection) -> Iterator[psycopg.Connection]:
    """What a superuser can do: no trigger and no constraint fires."""
    intruder.execute("SET session_replication_role = replica")
    yield intruder
    intruder.execute("RESET session_replication_role")


def sign_in(username: str) -> None:
    site_log.enqueue(StaffSignedIn(username=username, terminal=None, address=None), "test")


def sign_ins() -> list[tuple[str, bool]]:
    """Who signed in, as the book has it, and whether it was written later."""
    contents = [row.content for row in LogEntry.objects.filter(book__name=HOUSE, subject="staff").order_by("seq")]
    return [(content["username"], "happened_at" in content) for content in contents]


def test_nobody_waits_and_the_next_who_holds_the_book_writes_it_first(holder: psycopg.Connection) -> None:
    sign_in("ann")
    sign_in("bob")
    assert sign_ins() == []
    holder.execute("ROLLBACK")
    site_log.append(StaffChanged(username="cas", new=()), "test")
    assert sign_ins() == [("ann", True), ("bob", True), ("cas", False)]


def test_what_waits_is_older_than_what_comes(holder: psycopg.Connection) -> None:
    """Out and in again must not read as in and out."""
    sign_in("ann")
    holder.execute("ROLLBACK")
    sign_in("bob")
    assert sign_ins() == [("ann", True), ("bob", False)]


def test_the_entry_says_when_it_happened(holder: psycopg.Connection) -> None:
    sign_in("ann")
    notice = Notice.objects.get()
    holder.execute("ROLLBACK")
    assert site_log.flush_queue() == 1
    entry = LogEntry.objects.get(book__name=HOUSE, key=notice.key)
    assert entry.content["happened_at"] == queue.timestamp(notice.at)
    assert site_log.flush_queue() == 0, "once"


def test_the_watch_writes_it_within_a_minute(holder: psycopg.Connection) -> None:
    sign_in("ann")
    holder.execute("ROLLBACK")
    watch.watch()
    assert sign_ins() == [("ann", True)]


def test_a_notice_falls_with_what_it_tells_of(holder: psycopg.Connection) -> None:
    with transaction.atomic():
        sign_in("ann")
        transaction.set_rollback(True)
    assert not Notice.objects.exists()


def test_whoever_dies_while_writing_has_written_nothing(holder: psycopg.Connection) -> None:
    sign_in("ann")
    holder.execute("ROLLBACK")
    with transaction.atomic():
        site_log.lock()
        transaction.set_rollback(True)
    assert sign_ins() == []
    assert site_log.flush_queue() == 1


def test_the_application_cannot_change_or_delete_one(
    holder: psycopg.Connection, app_connection: psycopg.Connection
) -> None:
    sign_in("ann")
    for statement in (
        "DELETE FROM ledger_notice",
        "UPDATE ledger_notice SET kind = 'signed_out'",
        "UPDATE ledger_notice SET seq = 1",
    ):
        with pytest.raises(psycopg.Error):
            app_connection.execute(statement)
        app_connection.rollback()
    holder.execute("ROLLBACK")
    site_log.flush_queue()
    with pytest.raises(DatabaseError):
        Notice.objects.update(seq=None)


# --- Proving ---------------------------------------------------------------------------------------------------


def fault(book: Book) -> str:
    return str(proofs.verify(Book.objects.get(pk=book.pk)).fault)


def test_a_proof_finds_one_that_never_reached_the_book(book: Book, holder: psycopg.Connection) -> None:
    sign_in("ann")
    assert fault(book) == "None", "it may wait for a while"
    holder.execute("ROLLBACK")
    with disguised(holder):
        holder.execute("UPDATE ledger_notice SET at = %s", [timezone.now() - timedelta(minutes=11)])
    assert "was never written in the book" in fault(book)


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM ledger_notice",
        'UPDATE ledger_notice SET content = \'{"username": "eve"}\'',
        "UPDATE ledger_notice SET \"by\" = 'eve'",
        "UPDATE ledger_notice SET seq = seq + 1",
    ],
)
def test_a_proof_finds_one_that_was_removed_or_altered(book: Book, holder: psycopg.Connection, harm: str) -> None:
    sign_in("ann")
    holder.execute("ROLLBACK")
    site_log.flush_queue()
    assert fault(book) == "None"
    with disguised(holder):
        holder.execute(harm)
    assert "what was left at the book's door" in fault(book)
