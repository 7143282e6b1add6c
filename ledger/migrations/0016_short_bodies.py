"""The log in its second format: no field is stored twice, and a row has no column that another row or its body has.

The table is written anew, once: its columns lie so that none is padded, and where none is NULL a row needs no map of
its NULLs. Each entry keeps its number, its body and its hash, byte for byte; what is asked of new ones alone (format 2)
is not asked of those.

An entry named the number and the hash of the one before it only for a foreign key and a CHECK to look at. A trigger
looks at the entry itself now. It spells the heading as ``ledger/proof/spelling.py`` does, and hashes it with the body.
A row's own number beside that in its book was looked up by nobody, and goes. The numbers of books and of entries have
four bytes, in rows and in the indexes of the log and of the transfers: enough for sixty years of an entry a second at
one table.

A transfer's accounts were held by foreign keys to their place and scope, for which each row had two further columns.
One query for all transfers of an entry looks at the accounts instead, which are never changed.
"""

from django.db import migrations, models

import ledger.models

# Who names an entry by its number. The key goes with the table, and is made again for the new one.
NUMBERS = [
    ("ledger_recount_entry", "ledger_recount", "(book_id, through_seq)"),
    ("ledger_bookroot_entry", "ledger_bookroot", "(book_id, last_seq)"),
    ("ledger_slip_entry", "ledger_slip", "(book_id, seq)"),
    ("ledger_signature_entry", "ledger_slipsignature", "(book_id, seq)"),
]

TABLE = """
CREATE TABLE ledger_logentry_anew (
    at timestamptz NOT NULL,
    book_id integer NOT NULL,
    seq integer NOT NULL,
    round integer,
    legs smallint NOT NULL,
    subject varchar(16) NOT NULL,
    kind varchar(32) NOT NULL,
    by varchar(120) NOT NULL,
    key uuid,
    hash bytea NOT NULL,
    body bytea NOT NULL
);
INSERT INTO ledger_logentry_anew (at, book_id, seq, round, legs, subject, kind, by, key, hash, body)
    SELECT at, book_id, seq, round, legs, subject, kind, by, key, hash, body FROM ledger_logentry ORDER BY id;
DROP TABLE ledger_logentry CASCADE;
ALTER TABLE ledger_logentry_anew RENAME TO ledger_logentry;
"""

CONSTRAINTS = [
    "UNIQUE (book_id, seq)",
    "FOREIGN KEY (book_id) REFERENCES ledger_book (id)",
    "CHECK (seq >= 1)",
    "CHECK (legs >= 0)",
    "CHECK (at >= '0001-01-02 00:00:00+00' AND at <= '9999-12-30 00:00:00+00')",
    # What is there already is of the format and of the time that it is of.
    "CHECK (substr(body, 1, 3) = '[2,'::bytea) NOT VALID",
    "CHECK (at <= ledger_now() + interval '1 minute') NOT VALID",
]
NAMES = ["seq", "book", "gapless", "legs", "moment", "format", "not_to_come"]

INDEXES = """
CREATE UNIQUE INDEX ledger_logentry_key ON ledger_logentry (book_id, key) WHERE key IS NOT NULL;
CREATE INDEX ledger_logentry_round ON ledger_logentry (book_id, round) WHERE round IS NOT NULL;
CREATE INDEX ledger_logentry_subject ON ledger_logentry (book_id, subject, seq) WHERE NOT subject = 'round';
CREATE INDEX ledger_logentry_mark ON ledger_logentry (book_id, at, seq) WHERE seq % 64 = 0;
CREATE INDEX ledger_logentry_at ON ledger_logentry USING brin (at) WITH (pages_per_range = 32, autosummarize);
"""

# After the insert, so that an entry finds the one before it where both come with one statement.
GUARDS = """
CREATE OR REPLACE FUNCTION ledger_logentry_follows() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    previous bytea := ''; heading text;
BEGIN
    IF NEW.seq > 1 THEN
        SELECT e.hash INTO previous FROM ledger_logentry AS e WHERE e.book_id = NEW.book_id AND e.seq = NEW.seq - 1;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'book % has no entry %', NEW.book_id, NEW.seq - 1
                USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_logentry_prev',
                    TABLE = 'ledger_logentry';
        END IF;
    END IF;
    SELECT format('[%s,%s,"%s",%s,%s,%s,%s,%s]', to_json(b.name), NEW.seq,
        to_char(NEW.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), to_json(NEW.subject), to_json(NEW.kind),
        coalesce(NEW.round::text, 'null'), to_json(NEW."by"), coalesce('"' || NEW.key || '"', 'null'))
    INTO heading FROM ledger_book AS b WHERE b.id = NEW.book_id;
    IF NEW.hash IS DISTINCT FROM sha256(previous || convert_to(heading || ' ', 'UTF8') || NEW.body) THEN
        RAISE EXCEPTION 'the hash of entry % is not that of its line, %, and of the entry before it', NEW.seq, heading
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_logentry_hash', TABLE = 'ledger_logentry';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_logentry_follows AFTER INSERT ON ledger_logentry
    FOR EACH ROW EXECUTE FUNCTION ledger_logentry_follows();
CREATE TRIGGER ledger_logentry_stays BEFORE DELETE OR UPDATE ON ledger_logentry
    FOR EACH ROW EXECUTE FUNCTION ledger_stays();
"""

ACCOUNTS = """
DROP TRIGGER ledger_transfer_stays ON ledger_transfer;
ALTER TABLE ledger_transfer DROP CONSTRAINT ledger_transfer_source, DROP CONSTRAINT ledger_transfer_target,
    DROP COLUMN source_scope, DROP COLUMN target_scope;
ALTER TABLE ledger_transfer ALTER COLUMN book_id TYPE integer, ALTER COLUMN seq TYPE integer;
CREATE TRIGGER ledger_transfer_stays BEFORE DELETE OR UPDATE OF
    id, book_id, seq, leg, legs, source_id, target_id, reverses_id
    ON ledger_transfer FOR EACH ROW EXECUTE FUNCTION ledger_stays();
ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_known, DROP COLUMN scope;
CREATE TRIGGER ledger_account_stays BEFORE DELETE OR UPDATE ON ledger_account
    FOR EACH ROW EXECUTE FUNCTION ledger_stays();

CREATE OR REPLACE FUNCTION ledger_transfer_belongs() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
    of record;
BEGIN
    FOR of IN SELECT DISTINCT book_id, seq, legs FROM added LOOP
        IF NOT EXISTS (SELECT FROM ledger_logentry AS e
            WHERE e.book_id = of.book_id AND e.seq = of.seq AND e.legs = of.legs)
        THEN
            RAISE EXCEPTION 'book % has no entry % with % transfers', of.book_id, of.seq, of.legs
                USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_transfer_entry',
                    TABLE = 'ledger_transfer';
        END IF;
    END LOOP;
    SELECT account_id, side INTO of FROM (
        SELECT book_id, source_id AS account_id, source_place AS place, 'source' AS side FROM added
        UNION ALL SELECT book_id, target_id, target_place, 'target' FROM added) AS named
    WHERE NOT EXISTS (SELECT FROM ledger_account AS a
        WHERE a.id = named.account_id AND a.place = named.place
        AND (a.book_id = named.book_id OR a.place IN ('issue', 'vault', 'cage', 'cash', 'bank')))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % is not such a place, or another book''s', of.account_id
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_transfer_' || of.side,
                TABLE = 'ledger_transfer';
    END IF;
    RETURN NULL;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_lean_log")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(TABLE),
                migrations.RunSQL(
                    [
                        f"ALTER TABLE ledger_logentry ADD CONSTRAINT ledger_logentry_{name} {what}"
                        for name, what in zip(NAMES, CONSTRAINTS, strict=True)
                    ]
                ),
                migrations.RunSQL(INDEXES),
                migrations.RunSQL(
                    [
                        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY {columns}"
                        " REFERENCES ledger_logentry (book_id, seq)"
                        for name, table, columns in NUMBERS
                    ]
                ),
                migrations.RunSQL(GUARDS),
                migrations.RunSQL(ACCOUNTS),
            ],
            state_operations=[
                migrations.RemoveConstraint(model_name="logentry", name="ledger_logentry_gapless"),
                migrations.AlterField(
                    model_name="logentry",
                    name="hash",
                    field=models.BinaryField(max_length=32, primary_key=True, serialize=False),
                ),
                migrations.RemoveField(model_name="logentry", name="id"),
                *(
                    migrations.AlterField(model_name=model, name="seq", field=models.IntegerField())
                    for model in ("logentry", "transfer")
                ),
                *(
                    migrations.AlterField(
                        model_name=model,
                        name="book",
                        field=ledger.models.ShortBookKey(
                            db_constraint=False,
                            db_index=False,
                            on_delete=models.deletion.PROTECT,
                            related_name=name,
                            to="ledger.book",
                        ),
                    )
                    for model, name in (("logentry", "entries"), ("transfer", "transfers"))
                ),
                migrations.RemoveField(model_name="logentry", name="prev_seq"),
                migrations.RemoveField(model_name="logentry", name="prev_hash"),
                migrations.AddConstraint(
                    model_name="logentry",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("seq__gte", 1)), name="ledger_logentry_gapless"
                    ),
                ),
                migrations.RemoveIndex(model_name="logentry", name="ledger_logentry_round"),
                migrations.AddIndex(
                    model_name="logentry",
                    index=models.Index(
                        condition=models.Q(("round__isnull", False)),
                        fields=["book", "round"],
                        name="ledger_logentry_round",
                    ),
                ),
                migrations.RemoveField(model_name="transfer", name="source_scope"),
                migrations.RemoveField(model_name="transfer", name="target_scope"),
                migrations.RemoveField(model_name="account", name="scope"),
            ],
        ),
    ]
