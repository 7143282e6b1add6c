"""Statements in one round trip, with the ends of the transaction in it."""

import threading
from collections.abc import Iterator
from contextlib import suppress

import psycopg
import pytest
from django.db import connection, transaction
from django.db.utils import DatabaseError
from psycopg.pq import TransactionStatus

from ledger import log
from ledger.log import Draft, read_head
from ledger.prepared import Statement
from tests.ledger.conftest import Felt
from tests.patience import eventually

NAME = Statement("test_name_of_book", "bigint", "SELECT name FROM ledger_book WHERE id = $1")
DRAFT = Draft("round", "play", "101 Ann", {})


def status() -> TransactionStatus:
    """Of the driver's connection, as the server told it."""
    status: TransactionStatus = connection.connection.info.transaction_status
    return status


@pytest.fixture(autouse=True)
def driver_as_before(open_felt: Felt) -> Iterator[None]:
    """Harm prevented: a connection that goes back to its pool in a transaction, or in another mode than it had."""
    yield
    assert status() == TransactionStatus.IDLE
    assert connection.connection.autocommit
    assert connection.get_autocommit()


def test_an_entry_that_brings_its_commit_is_there_before_the_block_ends(open_felt: Felt) -> None:
    """Harm prevented: an acknowledgement of what was not committed; or a round trip that was to be spared."""
    with transaction.atomic():
        head, readings = log.lock_and_read(open_felt.book.pk, (NAME, [open_felt.book.pk]))
        assert readings == [[("Table 1",)]]
        assert status() == TransactionStatus.INTRANS
        after = log.append(head, DRAFT, commit=True)
        assert status() == TransactionStatus.IDLE
    assert read_head(open_felt.book.pk) == after


def test_a_commit_waits_for_the_end_of_a_larger_transaction(open_felt: Felt) -> None:
    """Harm prevented: half of an act that was to be undone whole, as one that is tried before the PIN is read."""
    before = read_head(open_felt.book.pk)
    with suppress(ZeroDivisionError), transaction.atomic():
        with transaction.atomic():
            head, _ = log.lock_and_read(open_felt.book.pk, (NAME, [open_felt.book.pk]))
            log.append(head, DRAFT, commit=True)
        assert status() == TransactionStatus.INTRANS
        raise ZeroDivisionError
    assert read_head(open_felt.book.pk) == before


def test_what_fails_under_the_lock_leaves_nothing(open_felt: Felt) -> None:
    """Harm prevented: a lock that is kept, or an entry that stays, after its transaction failed; the driver was told
    that no transaction was to be begun."""
    before = read_head(open_felt.book.pk)
    with suppress(ZeroDivisionError), transaction.atomic():
        log.append(log.lock(open_felt.book.pk), DRAFT)
        raise ZeroDivisionError
    with suppress(DatabaseError), transaction.atomic():
        log.append(log.lock(open_felt.book.pk), Draft("x" * 17, "play", "101 Ann", {}), commit=True)
    assert read_head(open_felt.book.pk) == before
    open_felt.write()


def test_what_is_read_with_the_lock_is_read_after_it(open_felt: Felt, app_connection: psycopg.Connection) -> None:
    """Harm prevented: an input judged by the settings, the head or the used keys of before it waited for its turn."""
    book = open_felt.book.pk
    heads: list[tuple[int, object]] = []

    def wait() -> None:
        with transaction.atomic():
            head, readings = log.lock_and_read(book, (Statement("test_newest", "bigint", NEWEST), [book]))
            heads.append((head.seq, readings))
        connection.close()

    before = read_head(book).seq
    with transaction.atomic():
        head = log.lock(book)
        waiting = threading.Thread(target=wait)
        waiting.start()
        _until_somebody_waits(app_connection)
        log.append(head, DRAFT)
    waiting.join()
    assert heads == [(before + 1, [[(before + 1,)]])]


NEWEST = "SELECT max(seq) FROM ledger_logentry WHERE book_id = $1"


def _until_somebody_waits(other: psycopg.Connection) -> None:
    other.autocommit = True
    waiting = "SELECT 1 FROM pg_locks WHERE NOT granted"
    eventually(lambda: other.execute(waiting).fetchone(), "no session waits for the lock")


def test_a_session_that_lost_its_statements_is_taught_them_again(open_felt: Felt) -> None:
    """Harm prevented: a connection that was reset under our hands and refuses every card from then on."""
    open_felt.write()
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")
    with pytest.raises(DatabaseError):
        open_felt.write()
    open_felt.write()
