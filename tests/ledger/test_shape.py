"""The shape of the database is what the migrations make, and whatever somebody took away or added is named."""

import os
import subprocess
from collections.abc import Iterator
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction

from casino.embedded.keeper import postgres_program
from casino.embedded.servers import APPLICATION, SUPERUSER
from ledger import shape
from tests import clock, templates
from tests.database import database_url, rollback
from tests.fixtures.database import become
from tests.servers import DATABASE_SERVER

of_the_right_clock = pytest.mark.skipif(clock.runs_elsewhere(), reason="this run replaced the database's clock")


@of_the_right_clock
def test_the_kept_shape_is_the_one_that_the_migrations_make(transactional_db: None) -> None:
    """Harm: a migration after which every house is told that its database was tampered with, or one that is not
    compared. ``RECORD_SHAPE=1`` writes it, from the freshly migrated database of this test."""
    if os.environ.get("RECORD_SHAPE"):
        call_command("shape", write=True)
    assert shape.spelled(shape.present()) == shape.FILE.read_text()
    assert list(shape.faults()) == []
    called = StringIO()
    call_command("shape", stdout=called)
    assert called.getvalue().startswith("holds  ")


@of_the_right_clock
@pytest.mark.usefixtures("transactional_db", "own_processes")
def test_a_dumped_and_restored_database_has_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: after a restore from pg_dump or a major upgrade `verify` names untouched constraints, and a real fault is
    dismissed with them."""
    restored = f"test_{os.getpid()}_restored"
    dump = [postgres_program("pg_dump"), "--schema-only", database_url(SUPERUSER)]
    schema = subprocess.run(dump, capture_output=True, check=True).stdout
    with templates.database(restored):
        psql = [postgres_program("psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null"]
        url = DATABASE_SERVER.database_url(SUPERUSER, restored)
        subprocess.run([*psql, url], input=schema, capture_output=True, check=True)
        connection.close()
        with monkeypatch.context() as elsewhere:
            elsewhere.setitem(connection.settings_dict, "NAME", restored)
            present, faults = shape.present(), list(shape.faults())
            connection.close()
    assert present != shape.due(), "PostgreSQL spells all constraints as before: this test tests nothing"
    assert faults == []


@pytest.fixture
def superuser(transactional_db: None) -> Iterator[None]:
    """In one transaction as somebody who owns the server, undone afterwards."""
    become(SUPERUSER)
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    become(APPLICATION)


DEEDS = (
    (
        "DROP TRIGGER ledger_notice_written ON ledger_notice",
        "the trigger ledger_notice_written of ledger_notice is missing",
    ),
    (
        "ALTER TABLE ledger_notice DISABLE TRIGGER ledger_notice_written",
        "the trigger ledger_notice_written of ledger_notice is disabled",
    ),
    (
        "ALTER TABLE ledger_notice ENABLE REPLICA TRIGGER ledger_notice_written",
        "the trigger ledger_notice_written of ledger_notice is another",
    ),
    ("ALTER TABLE ledger_slip DISABLE TRIGGER ALL", "is disabled: it keeps ledger_slip_entry"),
    (
        "ALTER TABLE ledger_logentry DROP CONSTRAINT ledger_logentry_format",
        "the constraint ledger_logentry_format of ledger_logentry is missing",
    ),
    (
        "ALTER TABLE ledger_transfer DROP CONSTRAINT ledger_transfer_positive,"
        " ADD CONSTRAINT ledger_transfer_positive CHECK (amount_cents > -1000000)",
        "the constraint ledger_transfer_positive of ledger_transfer is another: CHECK ((amount_cents > '-1000000'",
    ),
    (
        "ALTER TABLE ledger_transfer DROP CONSTRAINT ledger_transfer_positive,"
        " ADD CONSTRAINT ledger_transfer_positive CHECK (amount_cents > 0 OR NULL)",
        "the constraint ledger_transfer_positive of ledger_transfer is another",
    ),
    (
        "ALTER TABLE tables_proposalend DROP CONSTRAINT tables_proposalend_by_two, ADD CONSTRAINT"
        " tables_proposalend_by_two CHECK (outcome NOT IN ('approved', 'approved') OR ended_by <> proposed_by)",
        "the constraint tables_proposalend_by_two of tables_proposalend is another",
    ),
    (
        "DROP INDEX ledger_account_one_house; CREATE UNIQUE INDEX ledger_account_one_house ON ledger_account (place)"
        " WHERE place IN ('bank', 'cage', 'issue')",
        "the index ledger_account_one_house of ledger_account is another",
    ),
    (
        "ALTER TABLE ledger_slip DROP CONSTRAINT ledger_slip_gapless,"
        " ADD CONSTRAINT ledger_slip_gapless CHECK (number > 0) NOT VALID",
        "the constraint ledger_slip_gapless of ledger_slip is another",
    ),
    (
        "CREATE OR REPLACE FUNCTION ledger_notice_written() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RETURN NEW; END $$",
        "the function ledger_notice_written() is another",
    ),
    (
        "CREATE OR REPLACE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE"
        " RETURN clock_timestamp() - interval '1 day'",
        "the function ledger_now() is another",
    ),
    (
        "CREATE FUNCTION keep_quiet() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
        " CREATE TRIGGER keep_quiet BEFORE INSERT ON ledger_alert FOR EACH ROW EXECUTE FUNCTION keep_quiet()",
        "the trigger keep_quiet of ledger_alert is there, and no migration makes it",
    ),
    (
        "CREATE RULE keep_quiet AS ON INSERT TO ledger_alert DO INSTEAD NOTHING",
        "the rule keep_quiet of ledger_alert is there, and no migration makes it",
    ),
    (
        "ALTER TABLE ledger_alert ENABLE ROW LEVEL SECURITY",
        "the table ledger_alert is another: table permanent with row security",
    ),
    (
        "GRANT DELETE ON ledger_logentry TO casino_app",
        "the grant of DELETE, INSERT, SELECT on table ledger_logentry to the application is there",
    ),
    (
        "GRANT UPDATE (body) ON ledger_logentry TO PUBLIC",
        "the grant of UPDATE on column ledger_logentry.body to everybody is there",
    ),
    (
        "CREATE ROLE mallory; GRANT SELECT ON tables_houseshoe TO mallory",
        "the grant of SELECT on table tables_houseshoe to mallory is there",
    ),
    (
        "REVOKE INSERT ON ledger_alert FROM casino_app",
        "the grant of INSERT, SELECT on table ledger_alert to the application is missing",
    ),
    ("ALTER ROLE casino_app SUPERUSER", "casino_app is a superuser"),
    (
        "ALTER TABLE tables_staff ALTER COLUMN pin DROP NOT NULL",
        "the column tables_staff.pin is another: character varying(256)",
    ),
    (
        "ALTER ROLE casino_app SET session_replication_role = replica",
        "triggers and foreign keys are switched off for casino_app",
    ),
    (
        "SET LOCAL session_replication_role = replica",
        "triggers and foreign keys are switched off in this connection",
    ),
    ("DROP INDEX ledger_notice_waiting", "the index ledger_notice_waiting of ledger_notice is missing"),
)


@of_the_right_clock
def test_what_was_taken_away_or_added_is_named(superuser: None) -> None:
    """Harm: a guard of the database is switched off, rows are changed behind it, and nobody learns that it is off."""
    for deed, sentence in DEEDS:
        with rollback(), connection.cursor() as cursor:
            cursor.execute(deed)
            faults = list(shape.faults())
            assert any(sentence in fault for fault in faults), (deed, faults)
