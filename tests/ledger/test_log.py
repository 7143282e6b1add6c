"""The chain: what an intruder with every right does to it is found, and the first entry that does not hold is named."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import permutations
from uuid import uuid4

import psycopg
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from ledger import log
from ledger.cage import open_table_book
from ledger.log import Draft, Stale, entries, read_head
from ledger.models import LogEntry, Recount
from ledger.proof import spelling
from ledger.proof.chain import Broken, Entry, Fault, Head, verify_chain
from ledger.proof.spelling import Heading, canonical
from ledger.recount import first_fault, prove, recount
from tests.clock import Clock
from tests.database import rollback
from tests.ledger.conftest import INSERT_ENTRY, Felt, Tamper

# The table of `dealt_felt`: entries 1 and 2 fill and buy in, 3 to 8 are rounds, recounted; 9 to 12 are rounds.


ANOTHER_HASH = "its hash is not the hash of what it says and of the entry before it"


def fault(felt: Felt) -> tuple[int, str]:
    """What the full proof and the proof of new entries find; a fault after the last recount is found by both."""
    breach = first_fault(felt.book.pk)
    assert breach is not None, "nothing was found"
    return breach.seq, breach.what


def test_an_untouched_book_holds(dealt_felt: Felt) -> None:
    """Harm prevented: an alarm that rings for nothing, and is then switched off."""
    book = dealt_felt.book.pk
    assert first_fault(book) is None
    assert first_fault(book, since=8) is None
    assert verify_chain(entries(book), read_head(book)) is None
    assert [proven.entry.seq for proven in prove(book)] == list(range(1, 13))
    assert [len(proven.transfers) for proven in prove(book)] == [2, 1] + [3] * 10


def test_an_empty_book_holds(dealt_felt: Felt) -> None:
    """Harm prevented: a new table that cannot be verified."""
    assert first_fault(open_table_book("New", 6).pk) is None


# --- One byte, one row ----------------------------------------------------------------------------------------

ONE_BYTE = "UPDATE ledger_logentry SET body = set_byte(body, 40, get_byte(body, 40) # 1) WHERE book_id = %s AND seq = 5"
HEAD_MOVED_BACK = (
    "UPDATE ledger_book AS b SET head_seq = 11, head_hash = e.hash FROM ledger_logentry AS e"
    " WHERE b.id = %s AND e.book_id = b.id AND e.seq = 11"
)
SWAPPED_BODIES = (
    "UPDATE ledger_logentry AS a SET body = b.body FROM ledger_logentry AS b"
    " WHERE a.book_id = %s AND b.book_id = a.book_id AND a.seq IN (8, 9) AND b.seq = 17 - a.seq"
)


def test_one_statement_of_an_intruder(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm: an outcome is edited in place; a row is dropped at the start, in the middle, or at the end, where no
    remaining hash shows it; events are in another order; entries are out of reach of every check; or one table's
    history is shown as another's."""
    faults = {
        ONE_BYTE: (5, ANOTHER_HASH),
        "DELETE FROM ledger_logentry WHERE book_id = %s AND seq = 5": (5, "is missing"),
        "DELETE FROM ledger_logentry WHERE book_id = %s AND seq = 1": (1, "is missing"),
        "DELETE FROM ledger_logentry WHERE book_id = %s AND seq >= 12": (12, "is missing: the book knows 12 entries"),
        "DELETE FROM ledger_logentry WHERE book_id = %s AND seq >= 11": (11, "is missing: the book knows 12 entries"),
        "DELETE FROM ledger_logentry WHERE book_id = %s": (1, "is missing: the book knows 12 entries"),
        "UPDATE ledger_logentry SET seq = 11 - seq WHERE book_id = %s AND seq IN (5, 6)": (5, ANOTHER_HASH),
        SWAPPED_BODIES: (8, ANOTHER_HASH),
        HEAD_MOVED_BACK: (12, "is beyond the last entry that the book knows, 11"),
        "UPDATE ledger_book SET name = 'Table 9' WHERE id = %s": (1, ANOTHER_HASH),
    }
    for statement, expected in faults.items():
        with rollback():
            tamper(statement, dealt_felt.book.pk)
            assert fault(dealt_felt) == expected, statement


def test_a_hash_replaced(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: a body and its hash edited together, the rest left."""
    tamper("UPDATE ledger_logentry SET body = body || ' ' WHERE book_id = %s AND seq = 5", dealt_felt.book.pk)
    tamper.rehash(dealt_felt.book.pk, 5, only=True)
    assert fault(dealt_felt) == (5, "its body is not spelled canonically")


def test_a_hash_replaced_under_a_canonical_body(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: the same by somebody careful: the next entry's hash is still over the old one."""
    forge(tamper, dealt_felt, 5, {"note": "nothing happened"})
    assert fault(dealt_felt) == (6, ANOTHER_HASH)


def test_a_column_that_differs_from_the_hashed_content(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm: an entry is hidden from every search and report while its hash is still valid; or a row cannot be read, and
    the first row of its page is blamed."""
    no_moment, book = "its time is no moment", dealt_felt.book.pk
    for column, value, sentence in (
        ("kind", "take_back", ANOTHER_HASH),
        ("subject", "shoe", ANOTHER_HASH),
        ("by", "102 Bob", ANOTHER_HASH),
        ("round", 7, ANOTHER_HASH),
        ("at", datetime(2020, 1, 1, tzinfo=UTC), ANOTHER_HASH),
        ("key", uuid4(), ANOTHER_HASH),
        ("legs", 2, "its body moves chips 3 times, not 2"),
        *(("at", time_text, no_moment) for time_text in ("infinity", "-infinity", "20000-01-01", "0044-03-15 BC")),
    ):
        with rollback():
            tamper(f"UPDATE ledger_logentry SET {column} = %s WHERE book_id = %s AND seq = 5", value, book)
            assert fault(dealt_felt) == (5, sentence), (column, value)


@pytest.mark.parametrize(
    ("column", "value", "sentence"),
    [
        ("kind", "take_back", "its kind is 'take_back', its body says 'play'"),
        ("by", "102 Bob", "its by is '102 Bob', its body says '101 Ann'"),
        ("round", 7, "its round is 7, its body says None"),
        ("at", datetime(2020, 1, 1, tzinfo=UTC), "its at is '2020-01-01T00:00:00.000000Z', its body says"),
        ("key", uuid4(), "its key is"),
        ("book", "Table 9", "its book is"),
    ],
)
def test_a_column_that_says_other_than_a_body_of_format_1(column: str, value: object, sentence: str) -> None:
    """Harm prevented: an old entry hidden from every search and report, while its hash, of the body alone, holds."""
    entry = of_format_1()
    assert verify_chain([entry], Head(1, "Table 1", 1, entry.hash)) is None
    fault = verify_chain([replace(entry, **{column: value})], Head(1, "Table 1", 1, entry.hash))
    assert fault is not None
    assert fault.what.startswith(sentence)


def of_format_1(**changed: object) -> Entry:
    """The first entry of a book as it was written in format 1."""
    moment = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    heading = Heading("Table 1", 1, moment, "round", "play", None, "101 Ann", None)
    body = canonical(heading.columns() | {"content": {"note": "a round"}, "moves": []} | changed)
    return Entry(1, "Table 1", 1, moment, "round", "play", None, "101 Ann", None, 0, body, sha256(body).digest())


BODIES = [
    (b"[1]", "its body has not the parts of an entry"),
    (b"[2]", "its body has not the parts of an entry"),
    (b"[2,{},[]]", "its body has not the parts of an entry"),
    (b"[3,{}]", "its body has not the parts of an entry"),
    (b'[2,{"a":1,"a":2}]', "its body is not spelled canonically"),
    (b'[2,{"actions":[],"request":"x"}]', "its body is not spelled canonically"),
    (b'[2,["~i",[]]]', "its body has an array '~i' of 1 values, which is no shape of format 2"),
    (b'[2,["~z"]]', "its body has an array '~z' of 0 values, which is no shape of format 2"),
    (b'[2,{},[["stake","players#1","layout#2",100,null]]]', "its body is not spelled canonically"),
    (b"[2,7]", "its content or its transfers have not the shape of an entry's"),
    (b"5", "its body has not the parts of an entry"),
    (b"null", "its body has not the parts of an entry"),
    (b"{}", "its body has not the parts of an entry"),
    (b"[" * 100_000, "its body is not JSON"),
    (b'{"a":' * 100_000, "its body is not JSON"),
    (b"\xff", "its body is not JSON"),
    (b'"\\ud800"', "its body has not the parts of an entry"),
    (b'[2,{"a":"\\ud800"}]', "its body is not JSON"),
    (b"NaN", "its body is not JSON"),
    (b"1" * 10_000, "its body is not JSON"),
]


def test_a_body_of_no_shape(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: an entry that ends the proof with a traceback, and hides itself and all after it."""
    for body, sentence in BODIES:
        with rollback():
            tamper("UPDATE ledger_logentry SET body = %s WHERE book_id = %s AND seq = 5", body, dealt_felt.book.pk)
            tamper.rehash(dealt_felt.book.pk, 5, only=True)
            assert fault(dealt_felt) == (5, sentence), body[:40]


@pytest.mark.parametrize(
    ("part", "value", "sentence"),
    [
        ("moves", 7, "its content or its transfers have not the shape"),
        ("moves", None, "its content or its transfers have not the shape"),
        ("moves", [7, None, {}], "its body moves chips 3 times, not 0"),
        ("content", None, "its content or its transfers have not the shape"),
        ("content", [], "its content or its transfers have not the shape"),
        ("seq", 1.0, "its seq is 1, its body says 1.0"),
        ("round", False, "its round is None, its body says False"),
        ("by", ["101 Ann"], "its by is '101 Ann', its body says"),
        ("more", 1, "its body has not the parts of an entry"),
    ],
)
def test_a_part_of_another_type(part: str, value: object, sentence: str) -> None:
    """Harm prevented: the same in format 1, with one field that is read before it is looked at."""
    entry = of_format_1(**{part: value})
    fault = verify_chain([entry], Head(1, "Table 1", 1, entry.hash))
    assert fault is not None
    assert sentence in fault.what


def test_a_time_that_runs_back(open_felt: Felt) -> None:
    """Harm prevented: an entry of today that passes for one of last week."""
    forged = open_felt.write().seq + 1
    with transaction.atomic():
        head = replace(log.lock(open_felt.book.pk), at=None)
        yesterday = Draft("round", "play", "101 Ann", {}, at=timezone.now() - timedelta(days=1))
        log.append(head, yesterday)
    seq, sentence = fault(open_felt)
    assert (seq, sentence.endswith("earlier than the entry before it")) == (forged, True)


def test_a_clock_that_was_put_back_writes_no_earlier_time(open_felt: Felt, clock: Clock) -> None:
    """Harm prevented: an honest log that never holds again because a host's clock was corrected."""
    ahead = timezone.now() + timedelta(seconds=30)
    open_felt.write(at=ahead)
    clock.stand(ahead - timedelta(seconds=4))
    after = open_felt.write()
    assert after.at == ahead
    assert first_fault(open_felt.book.pk) is None


def test_the_last_row_and_its_transfers_dropped_and_the_head_moved_back(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm: a careful intruder cuts off the end of the log, which is found only where a recount covered more."""
    recount(dealt_felt.book.pk, "test")
    tamper("DELETE FROM ledger_transfer WHERE book_id = %s AND seq = 12", dealt_felt.book.pk)
    tamper("DELETE FROM ledger_logentry WHERE book_id = %s AND seq = 12", dealt_felt.book.pk)
    tamper(HEAD_MOVED_BACK, dealt_felt.book.pk)
    assert fault(dealt_felt) == (12, "is beyond the last entry that the book knows, 11")


def test_another_last_entry(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: the last entry replaced by one that fits the chain."""
    forge(tamper, dealt_felt, 12, {"note": "the house won"})
    assert fault(dealt_felt) == (12, "is not the last entry that the book knows")


def test_a_row_doubled(dealt_felt: Felt, tamper: Tamper, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm prevented: a second row under one number, also where a page of the reader ends between the two."""
    columns = "book_id, seq, at, subject, kind, round, by, key, legs, body, hash"
    tamper(f"INSERT INTO ledger_logentry ({columns}) SELECT {columns} FROM ledger_logentry"
           " WHERE book_id = %s AND seq = 5", dealt_felt.book.pk)  # fmt: skip
    for chunk in (2, 5, 2_000):
        monkeypatch.setattr(log, "CHUNK", chunk)
        assert fault(dealt_felt) == (5, "is there twice")


def test_an_entry_written_without_the_head(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: an entry slipped in behind the last one."""
    head = read_head(dealt_felt.book.pk)
    sealed = log.seal(head, Draft("round", "play", "101 Ann", {}, at=timezone.now()))
    tamper(INSERT_ENTRY, *sealed.row)
    assert fault(dealt_felt) == (13, "is beyond the last entry that the book knows, 12")


# --- The chain hashed anew ------------------------------------------------------------------------------------


def forge(tamper: Tamper, felt: Felt, seq: int, content: dict[str, object], *, only: bool = True) -> None:
    """Give an entry another content, spelled and hashed as if it had been so from the start."""
    entry = LogEntry.objects.get(book=felt.book, seq=seq)
    body = spelling.spell(entry.subject, content, entry.parts.moves)
    tamper("UPDATE ledger_logentry SET body = %s WHERE book_id = %s AND seq = %s", body, felt.book.pk, seq)
    tamper.rehash(felt.book.pk, seq, only=only)


def rewrite_from(tamper: Tamper, felt: Felt, seq: int) -> None:
    """Change one entry, hash all that follow anew, and move the head along: a perfect forgery of the chain."""
    forge(tamper, felt, seq, {"note": "another outcome"}, only=False)


def test_a_chain_hashed_anew_shows_at_the_next_recount(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: a perfect forgery by somebody who can rewrite every row of the log."""
    rewrite_from(tamper, dealt_felt, 5)
    assert fault(dealt_felt) == (8, "is not the entry that a recount noted: hashed anew")
    with pytest.raises(Broken, match=f"entry 9: {ANOTHER_HASH}"):
        list(prove(dealt_felt.book.pk, since=8))


def test_recounts_that_contradict_one_another_show(dealt_felt: Felt, tamper: Tamper) -> None:
    """Harm prevented: one recount's note forged along with the chain, and the others forgotten."""
    rewrite_from(tamper, dealt_felt, 5)
    forged = LogEntry.objects.get(book=dealt_felt.book, seq=8).hash
    recount = Recount.objects.filter(book=dealt_felt.book, through_seq=8).first()
    tamper("UPDATE ledger_recount SET head_hash = %s WHERE id = %s", forged, recount.pk)
    assert fault(dealt_felt) == (8, "is not the entry that a recount noted: hashed anew")
    book = dealt_felt.book.pk
    genuine = Recount.objects.filter(book=book, through_seq=8).exclude(pk=recount.pk)[0].head_hash
    for hashes in permutations((forged, genuine)):  # which of the two is read first is a matter of chance
        noted = [(8, bytes(digest)) for digest in hashes]
        breach = verify_chain(entries(book), read_head(book), anchors=noted)
        assert breach == Fault(dealt_felt.book.name, 8, "is not the entry that a recount noted: hashed anew")


def test_a_chain_hashed_anew_after_the_last_recount_holds_in_itself(dealt_felt: Felt, tamper: Tamper) -> None:
    """What this cannot prevent, said plainly: after the last recount only a copy of the head elsewhere shows it."""
    rewrite_from(tamper, dealt_felt, 10)
    assert first_fault(dealt_felt.book.pk) is None


# --- Appending ------------------------------------------------------------------------------------------------


def test_the_lock_is_taken_inside_a_transaction(open_felt: Felt) -> None:
    """Harm prevented: a lock that is gone before anything was written under it."""
    with pytest.raises(transaction.TransactionManagementError):
        log.lock(open_felt.book.pk)
    with pytest.raises(transaction.TransactionManagementError):
        log.append(read_head(open_felt.book.pk), Draft("table", "opened", "7 Eve", {}, at=timezone.now()))


def test_a_book_that_is_not_there(felt: Felt) -> None:
    """Harm prevented: a NoneType error where a sentence is due."""
    with transaction.atomic(), pytest.raises(LookupError, match="no book 0"):
        log.lock(0)
    with pytest.raises(LookupError, match="no book 0"):
        read_head(0)


def test_an_old_head_is_stale_and_a_key_is_used_once(felt: Felt) -> None:
    """Harm prevented: two screens that both write the next entry, one tap that is written twice."""
    old = read_head(felt.book.pk)
    key = uuid4()
    felt.write(key=key)
    draft = Draft("round", "play", "101 Ann", {}, at=timezone.now())
    with pytest.raises(Stale), transaction.atomic():
        log.append(old, draft)
    with pytest.raises(log.KeyReused), transaction.atomic():
        log.append(log.lock(felt.book.pk), Draft("round", "play", "101 Ann", {}, key=key))
    assert read_head(felt.book.pk).seq == old.seq + 1


def test_entries_follow_one_another_in_one_transaction(felt: Felt) -> None:
    """Harm prevented: an input of two entries (a refused card and its alert) that cannot be written together."""
    with transaction.atomic():
        head = log.lock(felt.book.pk)
        for kind in ("loaded", "checked", "shuffled"):
            head = log.append(head, Draft("shoe", kind, "101 Ann", {"decks": 6}))
    assert read_head(felt.book.pk) == head
    assert first_fault(felt.book.pk) is None


def test_a_commit_is_announced_and_a_rollback_is_not(open_felt: Felt, app_connection: psycopg.Connection) -> None:
    """Harm prevented: a screen that shows what was never recorded, or misses what was."""
    app_connection.autocommit = True
    app_connection.execute("LISTEN floor")
    with transaction.atomic():
        head = log.lock(open_felt.book.pk)
        log.append(head, Draft("round", "play", "101 Ann", {}))
        transaction.set_rollback(True)
    after = open_felt.write()
    heard = [note.payload for note in app_connection.notifies(timeout=5, stop_after=1)]
    assert heard == [f'{{"book": {open_felt.book.pk}, "seq": {after.seq}}}']


text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(text, json_values, max_size=4))
def test_any_content_is_proved_as_it_was_written(content: dict[str, object]) -> None:
    """Harm prevented: a name with an accent, or a big number, that makes an honest entry look forged."""
    head = Head(1, "Table é", 0, None)
    moment = timezone.now()
    sealed = log.seal(head, Draft("round", "play", "101 Ann", content, at=moment))
    row = sealed.row
    entry = Entry(row[0], head.name, *row[1:])
    assert entry.content == content
    assert verify_chain([entry], sealed.head) is None


@pytest.mark.parametrize("content", [{"x": float("nan")}, {"x": "\ud800"}, {"x": object()}])
def test_what_cannot_be_spelled_is_not_written(content: dict[str, object]) -> None:
    """Harm prevented: an entry that nobody can read back."""
    with pytest.raises((ValueError, TypeError)):
        log.seal(Head(1, "Table 1", 0, None), Draft("round", "play", "101 Ann", content))


def test_reading_takes_a_page_at_a_time(felt: Felt, monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm prevented: a proof of ten million entries that needs them all in memory, or reads them twice."""
    for _ in range(21):
        felt.write()
    monkeypatch.setattr(log, "CHUNK", 5)
    with CaptureQueriesContext(connection) as queries:
        read = list(entries(felt.book.pk))
    assert [entry.seq for entry in read] == list(range(1, 24))
    assert len(queries) == 5
    assert [entry.seq for entry in entries(felt.book.pk, since=20, through=22)] == [21, 22]


def test_a_fault_reads_as_a_sentence() -> None:
    """Harm prevented: an alert that nobody understands."""
    assert str(Fault("Table 1", 5, "is missing")) == "Table 1, entry 5: is missing"
