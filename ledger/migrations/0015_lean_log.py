"""What a row of the log and of the transfers costs: the indexes that no query needs go, and what they guarded is
guarded by triggers that look at the one row in question.

Three of the indexes were there only for foreign keys to point at: they held each entry's hash, its number of transfers,
and each transfer's accounts and amount a second time. The same refusals go by the same names; one query answers for
all transfers of an entry. A restored copy makes triggers after its rows, so that these guards see none of them:
``manage.py verify`` proves them.

The indexes that stay hold the rows that are asked for: a round's where there is a round, the rare subjects, and of the
times every sixteenth, beside a summary of each range of pages.
"""

from django.db import migrations, models

# The foreign keys that pointed at more than a number, and what they pointed at.
FOREIGN = [
    ("ledger_logentry_prev", "ledger_logentry",
     "FOREIGN KEY (book_id, prev_seq, prev_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
    ("ledger_book_head", "ledger_book",
     "FOREIGN KEY (id, head_seq, head_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
    ("ledger_transfer_entry", "ledger_transfer",
     "FOREIGN KEY (book_id, seq, legs) REFERENCES ledger_logentry (book_id, seq, legs)"),
    ("ledger_transfer_undoes", "ledger_transfer",
     "FOREIGN KEY (reverses_id, source_id, target_id, amount_cents)"
     " REFERENCES ledger_transfer (id, target_id, source_id, amount_cents)"),
    ("ledger_recount_entry", "ledger_recount",
     "FOREIGN KEY (book_id, through_seq, head_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
    ("ledger_bookroot_entry", "ledger_bookroot",
     "FOREIGN KEY (book_id, last_seq, head_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
]
TARGETS = [
    ("ledger_logentry_link", "ledger_logentry", "UNIQUE (book_id, seq, hash)"),
    ("ledger_logentry_counted", "ledger_logentry", "UNIQUE (book_id, seq, legs)"),
    ("ledger_transfer_mirror", "ledger_transfer", "UNIQUE (id, target_id, source_id, amount_cents)"),
]
# Few rows, and no index of their own: they go on pointing at the number, and a trigger looks at the hash.
NUMBERS = [
    ("ledger_recount_entry", "ledger_recount", "FOREIGN KEY (book_id, through_seq) REFERENCES ledger_logentry (book_id, seq)"),
    ("ledger_bookroot_entry", "ledger_bookroot", "FOREIGN KEY (book_id, last_seq) REFERENCES ledger_logentry (book_id, seq)"),
]

# A volatile function sees at each query what was committed by then, as a foreign key does. An entry cannot go or change
# what others name, so none has to be locked. A session keeps the plan of each query: made in a house of a few rows, it would
# read the whole table until somebody analyses it, so these plans go by an index from the first row on.
GUARDS = """
CREATE FUNCTION ledger_logentry_follows() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger_logentry AS e
        WHERE e.book_id = NEW.book_id AND e.seq = NEW.prev_seq AND e.hash = NEW.prev_hash)
    THEN
        RAISE EXCEPTION 'book % has no entry % with this hash', NEW.book_id, NEW.prev_seq
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_logentry_prev', TABLE = 'ledger_logentry';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_logentry_follows AFTER INSERT ON ledger_logentry
    FOR EACH ROW WHEN (NEW.prev_seq IS NOT NULL) EXECUTE FUNCTION ledger_logentry_follows();

CREATE FUNCTION ledger_book_ends() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger_logentry AS e
        WHERE e.book_id = NEW.id AND e.seq = NEW.head_seq AND e.hash = NEW.head_hash)
    THEN
        RAISE EXCEPTION 'book % has no entry % with this hash', NEW.id, NEW.head_seq
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_book_head', TABLE = 'ledger_book';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_book_ends AFTER INSERT OR UPDATE OF id, head_seq, head_hash ON ledger_book
    FOR EACH ROW WHEN (NEW.head_hash IS NOT NULL) EXECUTE FUNCTION ledger_book_ends();

CREATE FUNCTION ledger_transfer_belongs() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE of record;
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
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_transfer_belongs AFTER INSERT ON ledger_transfer REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_transfer_belongs();

CREATE FUNCTION ledger_transfer_undoes() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger_transfer AS t WHERE t.id = NEW.reverses_id AND t.target_id = NEW.source_id
        AND t.source_id = NEW.target_id AND t.amount_cents = NEW.amount_cents)
    THEN
        RAISE EXCEPTION 'there is no transfer % of these chips the other way', NEW.reverses_id
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_transfer_undoes', TABLE = 'ledger_transfer';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_transfer_undoes AFTER INSERT ON ledger_transfer
    FOR EACH ROW WHEN (NEW.reverses_id IS NOT NULL) EXECUTE FUNCTION ledger_transfer_undoes();

CREATE FUNCTION ledger_recount_notes() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger_logentry AS e
        WHERE e.book_id = NEW.book_id AND e.seq = NEW.through_seq AND e.hash = NEW.head_hash)
    THEN
        RAISE EXCEPTION 'book % has no entry % with this hash', NEW.book_id, NEW.through_seq
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_recount_entry', TABLE = 'ledger_recount';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_recount_notes AFTER INSERT OR UPDATE ON ledger_recount
    FOR EACH ROW EXECUTE FUNCTION ledger_recount_notes();

CREATE FUNCTION ledger_bookroot_ends() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM ledger_logentry AS e
        WHERE e.book_id = NEW.book_id AND e.seq = NEW.last_seq AND e.hash = NEW.head_hash)
    THEN
        RAISE EXCEPTION 'book % has no entry % with this hash', NEW.book_id, NEW.last_seq
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_bookroot_entry', TABLE = 'ledger_bookroot';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_bookroot_ends AFTER INSERT OR UPDATE ON ledger_bookroot
    FOR EACH ROW EXECUTE FUNCTION ledger_bookroot_ends();

CREATE FUNCTION ledger_stays() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never deleted, and others name them as they are: add a correcting one', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER ledger_logentry_stays BEFORE DELETE OR UPDATE OF book_id, seq, hash, legs, prev_seq, prev_hash
    ON ledger_logentry FOR EACH ROW EXECUTE FUNCTION ledger_stays();
CREATE TRIGGER ledger_transfer_stays BEFORE DELETE OR UPDATE OF
    id, book_id, seq, leg, legs, source_id, target_id, reverses_id
    ON ledger_transfer FOR EACH ROW EXECUTE FUNCTION ledger_stays();

CREATE FUNCTION ledger_transfer_undone() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    IF OLD.reverses_id IS NOT NULL OR EXISTS (SELECT FROM ledger_transfer AS t WHERE t.reverses_id = OLD.id) THEN
        RAISE EXCEPTION 'a transfer and its reversal are of the same chips'
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_transfer_undoes', TABLE = 'ledger_transfer';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_transfer_undone BEFORE UPDATE OF amount_cents ON ledger_transfer
    FOR EACH ROW EXECUTE FUNCTION ledger_transfer_undone();
"""
TRIGGERS = [
    ("ledger_logentry_follows", "ledger_logentry"),
    ("ledger_logentry_stays", "ledger_logentry"),
    ("ledger_book_ends", "ledger_book"),
    ("ledger_transfer_belongs", "ledger_transfer"),
    ("ledger_transfer_undoes", "ledger_transfer"),
    ("ledger_transfer_undone", "ledger_transfer"),
    ("ledger_transfer_stays", "ledger_transfer"),
    ("ledger_recount_notes", "ledger_recount"),
    ("ledger_bookroot_ends", "ledger_bookroot"),
]
FUNCTIONS = [name for name, _ in TRIGGERS if not name.endswith("_stays")] + ["ledger_stays"]
NO_GUARDS = ";".join(
    [f"DROP TRIGGER {name} ON {table}" for name, table in TRIGGERS] + [f"DROP FUNCTION {name}" for name in FUNCTIONS]
)

# Every sixteenth entry says where a moment falls in a book, the fifteen after it are read (ledger/mends.py). What
# asks for all that was written in a span reads the pages whose summary has it: rows lie in the order of their times.
MARKS = "CREATE INDEX ledger_logentry_mark ON ledger_logentry (book_id, at, seq) WHERE seq % 16 = 0"
SPANS = "CREATE INDEX ledger_logentry_at ON ledger_logentry USING brin (at) WITH (pages_per_range = 32, autosummarize)"


def add(constraints):
    return [f"ALTER TABLE {table} ADD CONSTRAINT {name} {what}" for name, table, what in constraints]


def drop(constraints):
    return [f"ALTER TABLE {table} DROP CONSTRAINT {name}" for name, table, _ in constraints]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0014_notices")]

    operations = [
        migrations.RunSQL(drop(FOREIGN), add(FOREIGN)),
        migrations.RunSQL(drop(TARGETS), add(TARGETS)),
        migrations.RunSQL(add(NUMBERS), drop(NUMBERS)),
        migrations.RunSQL(GUARDS, NO_GUARDS),
        migrations.RemoveIndex(model_name="logentry", name="ledger_logentry_round"),
        migrations.RemoveIndex(model_name="logentry", name="ledger_logentry_subject"),
        migrations.RemoveIndex(model_name="logentry", name="ledger_logentry_moment_at"),
        migrations.AddIndex(
            model_name="logentry",
            index=models.Index(
                condition=models.Q(("round__isnull", False)),
                fields=["book", "round", "seq"],
                name="ledger_logentry_round",
            ),
        ),
        migrations.AddIndex(
            model_name="logentry",
            index=models.Index(
                condition=models.Q(("subject", "round"), _negated=True),
                fields=["book", "subject", "seq"],
                name="ledger_logentry_subject",
            ),
        ),
        migrations.RunSQL(MARKS, "DROP INDEX ledger_logentry_mark"),
        migrations.RunSQL(SPANS, "DROP INDEX ledger_logentry_at"),
    ]
