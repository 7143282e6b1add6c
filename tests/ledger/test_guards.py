"""What the database refuses from the application's own role, whatever the Python around it does."""

import json
import re
from datetime import UTC, datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from ledger import cage, log
from ledger.grants import ALLOW_LIST
from ledger.log import Draft, Sealed
from ledger.models import Alert, AppendOnly, Transfer
from ledger.models.append_only import Immutable
from ledger.proof import spelling
from ledger.proof.chain import Head
from ledger.proof.chips import MOVEMENTS, PLACES
from ledger.proof.moves import undone
from ledger.proof.spelling import Heading
from ledger.recount import recount
from tables.models import HouseShoe
from tests.database import as_owner
from tests.ledger.conftest import INSERT_ENTRY, Felt, lay_felt

APPEND_ONLY = [model for model in apps.get_models() if issubclass(model, AppendOnly)]
"""Every table that is written once, whichever app it is of: a new one is tried with the others."""
WRITTEN_ONCE = sorted(model._meta.db_table for model in [*APPEND_ONLY, HouseShoe])


HEADING = ("book_id", "seq", "at", "subject", "kind", "round", "by", "key", "legs", "body")


def refused_as(sql: str, parameters: Any = ()) -> str:
    """The constraint or privilege for whose sake the database refuses a statement."""
    with pytest.raises(DatabaseError) as refused, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql, parameters)
    diagnosis = refused.value.__cause__.diag
    return diagnosis.constraint_name or diagnosis.message_primary


def entry(felt: Felt, **changes: Any) -> Sealed:
    """The next entry of the table as the ledger would write it, but for some columns."""
    head = log.read_head(felt.book.pk)
    sealed = log.seal(head, Draft("round", "play", "101 Ann", {}, at=timezone.now()), [["x"]] * changes.pop("legs", 0))
    names = ["book_id", "seq", "at", "subject", "kind", "round", "by", "key", "legs", "body", "hash"]
    row = dict(zip(names, sealed.row, strict=True)) | changes
    return Sealed(sealed.head, tuple(row[name] for name in names))


def hashed(felt: Felt, prev: bytes | None, **changes: Any) -> bytes:
    """The hash of the next entry, but for some columns, after an entry with another hash."""
    columns = dict(zip(HEADING, entry(felt).row, strict=False)) | changes
    heading = Heading(felt.book.name, **{name: columns[name] for name in HEADING[1:8]})
    return sha256((prev or b"") + spelling.line(heading, columns["body"])).digest()


def refused_entry(felt: Felt, **changes: Any) -> str:
    return refused_as(INSERT_ENTRY, entry(felt, **changes).row)


def transfer(felt: Felt, **changes: Any) -> tuple[str, list[Any]]:
    """A fresh entry with one good transfer, but for some of its columns."""
    sealed = entry(felt, legs=1)
    row = {
        "book_id": felt.book.pk, "seq": sealed.head.seq, "leg": 1, "legs": 1, "kind": "stake",
        "source_id": felt.chart.ids["players", None], "source_place": "players",
        "target_id": felt.chart.ids["layout", 1], "target_place": "layout", "amount_cents": 2000, "reverses_id": None,
    } | changes  # fmt: skip
    sql = f"INSERT INTO ledger_transfer ({', '.join(row)}) VALUES ({', '.join(['%s'] * len(row))})"
    return f"{INSERT_ENTRY}; {sql}", [*sealed.row, *row.values()]


def refused_transfer(felt: Felt, **changes: Any) -> str:
    return refused_as(*transfer(felt, **changes))


@pytest.fixture(autouse=True)
def as_the_application(db: None) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user")
        assert cursor.fetchone() == ("casino_app",)


def test_without_a_change_the_entry_and_its_transfer_are_accepted(felt: Felt) -> None:
    """Harm prevented: tests of refusals that would pass because anything is refused."""
    with connection.cursor() as cursor:
        cursor.execute(*transfer(felt))


@pytest.mark.parametrize("time_text", ["infinity", "-infinity", "20000-01-01"])
def test_an_entry_is_of_a_moment(felt: Felt, time_text: str) -> None:
    """Harm prevented: an entry whose time nobody can read, and with it the page of the log that it stands on."""
    assert refused_entry(felt, at=time_text) == "ledger_logentry_moment"


# --- Rows are added, never changed ----------------------------------------------------------------------------


@pytest.mark.parametrize("table", WRITTEN_ONCE)
def test_what_was_written_is_neither_changed_nor_deleted(table: str) -> None:
    """Harm prevented: history rewritten by whoever gets hold of the application's connection."""
    column = {"ledger_logentry": "hash", "tables_feedsheet": "first"}.get(table, "id")
    for sql in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):
        assert "permission denied" in refused_as(sql), sql


def test_the_list_of_grants_and_the_models_know_the_same_tables() -> None:
    """Harm prevented: a table that is written once, and that the list of grants lets the application change; or one
    on the list that Python thinks it may change."""
    script = (Path(settings.BASE_DIR) / ALLOW_LIST).read_text()
    [granted] = re.findall(r"GRANT SELECT, INSERT ON([^;]*)\sTO", script)
    [revoked] = re.findall(r"REVOKE UPDATE, DELETE ON\n([^;]*)\sFROM", script)
    [of_the_office] = re.findall(
        r"ARRAY ARRAY\[([^]]*)\] LOOP\s+IF .*\s+EXECUTE format\('REVOKE UPDATE, DELETE ON", script
    )
    names = [name.strip(" \n'") for name in f"{granted},{revoked},{of_the_office}".split(",")]
    assert sorted(names) == WRITTEN_ONCE, (
        "in deploy/grants.sql, AppendOnly models of ledger are under GRANT SELECT, INSERT, others under REVOKE UPDATE"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE ledger_book SET name = 'another'",
        "UPDATE ledger_book SET id = id + 100",
        "DELETE FROM ledger_book",
        "TRUNCATE ledger_book CASCADE",
        "ALTER TABLE ledger_transfer DISABLE TRIGGER ALL",
        "ALTER TABLE ledger_transfer DROP CONSTRAINT ledger_transfer_positive",
        "DROP TABLE ledger_recount",
        "CREATE TABLE mine (id int)",
        "CREATE TEMPORARY TABLE ledger_transfer (id int)",
        "SET session_replication_role = replica",
        "SET ROLE casino_owner",
        "UPDATE django_migrations SET name = 'undone'",
    ],
)
def test_the_guards_cannot_be_taken_down(felt: Felt, sql: str) -> None:
    """Harm prevented: a book renamed, a constraint dropped or switched off, a table put in front of the real one."""
    assert "permission denied" in refused_as(sql) or "must be owner" in refused_as(sql)


@pytest.mark.parametrize("model", APPEND_ONLY, ids=lambda model: model.__name__)
def test_python_says_so_first(model: Any) -> None:
    """Harm prevented: a programmer who learns from a stack trace in production that a row cannot be changed."""
    row = model(pk=1)
    row._state.adding = False
    for attempt in (row.save, row.delete, model.objects.all().delete, lambda: model.objects.update(id=5)):
        with pytest.raises(Immutable):
            attempt()
    with pytest.raises(Immutable):
        model.objects.bulk_update([row], ["id"])


def test_python_deletes_no_book(felt: Felt) -> None:
    """Harm prevented: the same, of the book that a whole history stands in."""
    with pytest.raises(Immutable):
        felt.book.delete()


# --- The chain ------------------------------------------------------------------------------------------------


def seq_of(felt: Felt) -> int:
    return log.read_head(felt.book.pk).seq


def test_an_entry_after_a_gap_is_refused(felt: Felt) -> None:
    """Harm prevented: a missing entry that looks as if it had never been."""
    after_a_gap = {"seq": seq_of(felt) + 2}
    hashes = [hashed(felt, prev, **after_a_gap) for prev in (None, log.read_head(felt.book.pk).hash)]
    for digest in hashes:
        assert refused_entry(felt, **after_a_gap, hash=digest) == "ledger_logentry_prev"


def test_an_entry_that_follows_another_hash_is_refused(felt: Felt) -> None:
    """Harm prevented: an entry that disowns what was before it."""
    for prev in (b"\x07" * 32, None):
        assert refused_entry(felt, hash=hashed(felt, prev)) == "ledger_logentry_hash"


@pytest.mark.parametrize(
    "changes",
    [
        {"body": b'[2,{"a":1}]'}, {"hash": b"\x00" * 32}, {"subject": "shoe"}, {"kind": "paid"}, {"round": 4},
        {"by": "102 Bob"}, {"key": "5f0c7a86-2f9e-4d5b-9a39-0c5d6f4e9c11"}, {"at": datetime(2020, 1, 1, tzinfo=UTC)},
    ],
    ids=str,
)  # fmt: skip
def test_an_entry_whose_hash_is_not_that_of_what_it_says_is_refused(felt: Felt, changes: dict[str, Any]) -> None:
    """Harm prevented: a body that nobody hashed, or columns that say something else."""
    assert refused_entry(felt, **changes) == "ledger_logentry_hash"


@pytest.mark.parametrize("by", ['A "nick" \\ name', "\u0001\t\n", "Zoë \u2028 \U0001f0cf \x7f", "</b>&"])
def test_the_database_spells_a_heading_as_the_ledger_does(felt: Felt, by: str) -> None:
    """Harm prevented: somebody whose name has a quotation mark, and whose entries the database refuses."""
    book = cage.open_table_book(f"Table {by}", 6)
    for round, key in ((None, None), (7, UUID("5f0c7a86-2f9e-4d5b-9a39-0c5d6f4e9c11"))):
        with transaction.atomic():
            log.append(log.lock(book.pk), Draft("round", "play", by, {}, round=round, key=key))


def test_a_new_entry_is_of_the_newest_format(felt: Felt) -> None:
    """Harm prevented: an entry that repeats its columns, of which a reader believes the wrong ones."""
    body = b'{"book":"Table 1"}'
    assert refused_entry(felt, body=body, hash=hashed(felt, None, body=body)) == "ledger_logentry_format"


def test_a_number_is_given_once_and_a_chain_begins_once(felt: Felt) -> None:
    """Harm prevented: two histories of one table."""
    assert refused_entry(felt, seq=1, hash=hashed(felt, None, seq=1)) == "ledger_logentry_seq"
    assert refused_entry(felt, seq=0, hash=hashed(felt, None, seq=0)) == "ledger_logentry_gapless"


def test_a_key_is_used_once_in_a_book(felt: Felt) -> None:
    """Harm prevented: one tap on a flaky network that is recorded twice."""
    key = "5f0c7a86-2f9e-4d5b-9a39-0c5d6f4e9c11"
    felt.write(key=key)
    assert refused_entry(felt, key=key) == "ledger_logentry_key"


def test_a_chain_does_not_continue_in_another_book(felt: Felt) -> None:
    """Harm prevented: an entry that belongs to no table, or to the wrong one."""
    assert refused_entry(felt, book_id=10**9) == "ledger_logentry_book"
    book = cage.open_table_book("Table 2", 6)
    assert refused_entry(felt, book_id=book.pk) == "ledger_logentry_prev"


@pytest.mark.parametrize(
    ("change", "guard"),
    [
        ("head_seq = head_seq + 1", "ledger_book_head"),
        ("head_seq = 0", "ledger_book_head_whole"),
        ("head_hash = NULL", "ledger_book_head_whole"),
        (r"head_hash = '\x00'", "ledger_book_head"),
        ("head_seq = -1, head_hash = NULL", "ledger_book_head_whole"),
    ],
)
def test_a_book_ends_in_an_entry_that_is_there(felt: Felt, change: str, guard: str) -> None:
    """Harm prevented: a head that hides the entries after it, or claims some that never were."""
    assert refused_as(f"UPDATE ledger_book SET {change} WHERE id = %s", [felt.book.pk]) == guard


# --- Transfers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("amount", [0, -1, -2000])
def test_a_transfer_of_nothing_or_less_is_refused(felt: Felt, amount: int) -> None:
    """Harm prevented: a loss booked as a win with its sign turned."""
    assert refused_transfer(felt, amount_cents=amount) == "ledger_transfer_positive"


@pytest.mark.parametrize("kind", ["tip", "STAKE", "", "stake "])
def test_a_transfer_of_unknown_kind_is_refused(felt: Felt, kind: str) -> None:
    """Harm prevented: chips that move for a reason that no rule of the house knows."""
    assert refused_transfer(felt, kind=kind) == "ledger_transfer_closed_list"


def test_chips_do_not_move_from_a_place_to_itself(felt: Felt) -> None:
    """Harm prevented: turnover that is none."""
    players = {"target_id": felt.chart.ids["players", None], "target_place": "players"}
    assert refused_transfer(felt, **players) in ("ledger_transfer_moves", "ledger_transfer_closed_list")
    assert refused_transfer(felt, target_id=felt.chart.ids["players", None]) == "ledger_transfer_moves"


def test_a_transfer_names_the_place_of_its_accounts(felt: Felt) -> None:
    """Harm prevented: a permitted movement between the wrong accounts: chips of the rack called a player's."""
    assert refused_transfer(felt, source_id=felt.chart.ids["rack", None]) == "ledger_transfer_source"
    assert refused_transfer(felt, target_id=felt.chart.ids["rack", None]) == "ledger_transfer_target"


def test_chips_do_not_move_between_tables(felt: Felt) -> None:
    """Harm prevented: a cross-fill: one table's shortage covered from another's rack."""
    chart = cage.chart(cage.open_table_book("Table 2", 6).pk)
    assert refused_transfer(felt, source_id=chart.ids["players", None]) == "ledger_transfer_source"
    assert refused_transfer(felt, target_id=chart.ids["layout", 1]) == "ledger_transfer_target"


def test_no_transfer_is_slipped_under_an_old_entry(felt: Felt) -> None:
    """Harm prevented: chips moved afterwards, in a round that is long over and recounted."""
    old = felt.round()
    assert refused_transfer(felt, seq=old.seq, leg=4, legs=3) == "ledger_transfer_leg_counted"
    assert refused_transfer(felt, seq=old.seq, leg=4, legs=4) == "ledger_transfer_entry"
    assert refused_transfer(felt, seq=old.seq, leg=3, legs=3) == "ledger_transfer_leg"
    assert refused_transfer(felt, seq=old.seq, leg=0, legs=3) == "ledger_transfer_leg_counted"


def test_a_transfer_belongs_to_an_entry(felt: Felt) -> None:
    """Harm prevented: chips that move without a word in the log."""
    assert refused_transfer(felt, seq=seq_of(felt) + 5) == "ledger_transfer_entry"


def test_a_reversal_moves_the_same_chips_back_once(felt: Felt) -> None:
    """Harm prevented: a correction that corrects too much, twice, or something else."""
    felt.round()
    stake, loss = Transfer.objects.filter(kind="stake").first(), Transfer.objects.filter(kind="loss").first()
    assert stake
    assert loss
    back = {
        "kind": "reversal", "source_id": stake.target_id, "source_place": "layout",
        "target_id": stake.source_id, "target_place": "players",
    }  # fmt: skip
    assert refused_transfer(felt, **back) == "ledger_transfer_reversal"
    assert refused_transfer(felt, reverses_id=stake.pk) == "ledger_transfer_reversal"
    assert refused_transfer(felt, **back, reverses_id=stake.pk, amount_cents=1999) == "ledger_transfer_undoes"
    assert refused_transfer(felt, **back, reverses_id=loss.pk) == "ledger_transfer_undoes"
    assert refused_transfer(felt, **back, reverses_id=10**9) == "ledger_transfer_undoes"
    felt.write(*undone(posted for posted in cage.transfers(felt.book.pk) if posted.id == stake.pk))
    assert refused_transfer(felt, **back, reverses_id=stake.pk) == "ledger_transfer_reversed_once"


def test_the_database_permits_the_closed_list_and_nothing_else(felt: Felt) -> None:
    """Harm prevented: a list in Python and another in the database that drift apart."""
    permitted = {(kind, *pair) for kind, pairs in MOVEMENTS.items() for pair in pairs}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'ledger_transfer_closed_list'"
        )
        (definition,) = cursor.fetchone()
        # The expression itself is asked about every combination there is, and some that are none.
        expression = definition.removeprefix("CHECK ")
        combinations = list(product([*MOVEMENTS, "tip", ""], [*PLACES, "pocket"], [*PLACES, "pocket"]))
        cursor.execute(
            f"SELECT kind, source_place, target_place FROM json_to_recordset(%s)"
            f" AS t (kind varchar, source_place varchar, target_place varchar) WHERE {expression}",
            [
                json.dumps(
                    [dict(zip(("kind", "source_place", "target_place"), row, strict=True)) for row in combinations]
                )
            ],
        )
        assert set(cursor.fetchall()) == permitted


def test_the_owner_cannot_change_an_entry_that_other_rows_refer_to(open_felt: Felt) -> None:
    """Harm: a well-meant script of the owner removes or replaces an entry to which a transfer, a recount or the next
    entry refers."""
    open_felt.write(*undone(list(cage.transfers(open_felt.book.pk))[-1:]))
    recount(open_felt.book.pk, "test")
    refusals = (
        ("DELETE FROM ledger_logentry WHERE seq = 1", "ledger_logentry_stays"),
        (r"UPDATE ledger_logentry SET hash = '\x00'", "ledger_logentry_stays"),
        ("UPDATE ledger_logentry SET legs = legs + 1", "ledger_logentry_stays"),
        ("UPDATE ledger_logentry SET seq = seq + 100", "ledger_logentry_stays"),
        ("DELETE FROM ledger_transfer", "ledger_transfer_stays"),
        ("UPDATE ledger_transfer SET seq = 1", "ledger_transfer_stays"),
        ("UPDATE ledger_transfer SET target_id = source_id", "ledger_transfer_stays"),
        ("UPDATE ledger_transfer SET amount_cents = 1", "ledger_transfer_undoes"),
        (r"UPDATE ledger_recount SET head_hash = '\x00'", "ledger_recount_entry"),
    )
    with as_owner():
        for sql, guard in refusals:
            assert refused_as(sql) == guard, sql


def test_of_two_entries_in_one_statement_each_has_as_many_transfers_as_it_says(felt: Felt) -> None:
    """Harm prevented: a transfer of an old entry that comes in beside an honest one."""
    old = felt.round()
    sql, values = transfer(felt)
    row = sql.rpartition("VALUES")[2]
    good = values[-11:]
    bad = [good[0], old.seq, 4, 4, *good[4:]]
    assert refused_as(f"{sql}, {row}", [*values, *bad]) == "ledger_transfer_entry"


# --- Accounts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "seat", "guard"),
    [
        ("layout", None, "ledger_account_seat_on_layout"),
        ("layout", 0, "ledger_account_seat_on_layout"),
        ("rack", 1, "ledger_account_seat_on_layout"),
        ("pocket", None, "ledger_account_known_place"),
        ("rack", None, "ledger_account_place"),
        ("layout", 1, "ledger_account_place"),
        ("cage", None, "ledger_account_one_house"),
        ("issue", None, "ledger_account_one_house"),
    ],
)
def test_accounts_are_the_places_there_are(felt: Felt, place: str, seat: int | None, guard: str) -> None:
    """Harm prevented: a second rack or a second cage to hide chips in, a bet on no seat."""
    sql = "INSERT INTO ledger_account (book_id, place, seat) VALUES (%s, %s, %s)"
    assert refused_as(sql, [felt.book.pk, place, seat]) == guard


# --- Recounts -------------------------------------------------------------------------------------------------


def test_a_recount_notes_an_entry_that_is_there(felt: Felt) -> None:
    """Harm prevented: a recount of a future, which would make later transfers invisible to the sums."""
    head: Head = felt.round()
    sql = (
        "INSERT INTO ledger_recount (book_id, account_id, through_seq, head_hash, balance_cents, at, by)"
        " VALUES (%s, %s, %s, %s, 0, now(), 'x')"
    )
    rack = felt.chart.ids["rack", None]
    assert refused_as(sql, [felt.book.pk, rack, head.seq + 1, head.hash]) == "ledger_recount_entry"
    assert refused_as(sql, [felt.book.pk, rack, head.seq, b"\x00" * 32]) == "ledger_recount_entry"
    assert refused_as(sql, [felt.book.pk, rack, 0, head.hash]) == "ledger_recount_of_something"
    recount(felt.book.pk, "test")
    assert refused_as(sql, [felt.book.pk, rack, head.seq, head.hash]) == "ledger_recount_once"


def test_an_alert_is_acknowledged_by_name(felt: Felt) -> None:
    """Harm prevented: an alert that went away and nobody knows who saw it."""
    alert = Alert.objects.create(kind="test", message="x", at=timezone.now())
    sql = "INSERT INTO ledger_acknowledgement (alert_id, by, at, note) VALUES (%s, '', now(), '')"
    assert refused_as(sql, [alert.pk]) == "ledger_acknowledgement_by_name"


def test_two_tables_have_two_books(felt: Felt) -> None:
    """Harm prevented: two tables whose entries are mixed in one chain."""
    lay_felt("Table 2")
    assert refused_as("INSERT INTO ledger_book (name, head_seq) VALUES ('Table 2', 0)") == "ledger_book_name_key"
