"""The ledger's tables and guards as migrations 0001 to 0027 leave them in an empty database.

Rows that those migrations carry over are of sites that exist, which go on migration by migration.
"""

import django.core.serializers.json
import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models

import ledger.models

REPLACED = """
    0001_initial 0002_guards 0003_moments 0004_pot_tables 0005_chip_cycle 0006_seals 0007_slips 0008_discrepancies
    0009_house_slips 0010_log_moments 0011_removals 0012_clock 0013_run_end_at 0014_notices 0015_lean_log
    0016_short_bodies 0017_wagers_apart 0018_commission 0019_chips_in_and_out 0020_surveillance 0021_log_search
    0022_cash 0023_vault_counts 0024_void_rounds 0025_tables_by_count 0026_newest_first 0027_heads_outside
""".split()

MOVEMENTS = """
    issue:issue>vault withdraw:vault>cage deposit:cage>vault fill_out:cage>transit fill:transit>rack
    credit_out:rack>transit credit:transit>cage buy_in:rack>players sale:cage>players redeem:players>cage
    stake:players>layout loss:layout>rack win:rack>players return:layout>players sit_down:players>seat
    stand_up:seat>players pay_pot:seat>pot pay_seat:seat>seat win_pot:pot>seat rake:pot>rack time_charge:seat>rack
    correct_pay:rack>players correct_take:players>rack over:over_short>cage over:over_short>rack
    over:over_short>vault short:cage>over_short short:rack>over_short short:vault>over_short drop:cash>drop_box
    box_out:drop_box>boxes count:boxes>bank cash_in:cash>bank cash_out:bank>cash cash_over:cash_over_short>boxes
    cash_short:boxes>cash_over_short reversal:bank>boxes reversal:bank>cash reversal:boxes>cash_over_short
    reversal:boxes>drop_box reversal:cage>over_short reversal:cage>players reversal:cage>transit reversal:cage>vault
    reversal:cash>bank reversal:cash_over_short>boxes reversal:drop_box>cash reversal:layout>players
    reversal:over_short>cage reversal:over_short>rack reversal:over_short>vault reversal:players>cage
    reversal:players>layout reversal:players>rack reversal:players>seat reversal:pot>seat reversal:rack>layout
    reversal:rack>over_short reversal:rack>players reversal:rack>pot reversal:rack>seat reversal:rack>transit
    reversal:seat>players reversal:seat>pot reversal:seat>seat reversal:transit>cage reversal:transit>rack
    reversal:vault>cage reversal:vault>issue reversal:vault>over_short win:rack>layout reversal:layout>rack
    commission:players>rack destroy:vault>issue lapse:players>issue found:players>cage claimed:cage>players
    counterfeit:cage>over_short counterfeit:rack>over_short reversal:issue>players reversal:issue>vault
    bank_in:depositary>vault_cash bank_out:vault_cash>depositary imprest_out:vault_cash>bank
    imprest_in:bank>vault_cash note_in:cash_over_short>bank cash_over:cash_over_short>bank
    cash_over:cash_over_short>vault_cash cash_short:bank>cash_over_short cash_short:vault_cash>cash_over_short
    reversal:bank>cash_over_short reversal:bank>vault_cash reversal:cash_over_short>bank
    reversal:cash_over_short>vault_cash reversal:depositary>vault_cash reversal:vault_cash>bank
    reversal:vault_cash>cash_over_short reversal:vault_cash>depositary table_win:players>rack
    table_loss:rack>players
""".split()
"""The closed list of movements, as ledger.proof.chips.MOVEMENTS has it: a test compares the two."""

CLOCK = "CREATE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN clock_timestamp()"

# An entry's hash names it, and needs no index. Of the times every sixty-fourth says where a moment falls in a book, and
# a summary of each range of pages says which of them have a span.
LOG = """
ALTER TABLE ledger_logentry DROP CONSTRAINT ledger_logentry_pkey;
CREATE INDEX ledger_logentry_mark ON ledger_logentry (book_id, at, seq) WHERE seq % 64 = 0;
CREATE INDEX ledger_logentry_at ON ledger_logentry USING brin (at) WITH (pages_per_range = 32, autosummarize);
"""

# name, table, definition
CONSTRAINTS = [
    ("ledger_logentry_book", "ledger_logentry", "FOREIGN KEY (book_id) REFERENCES ledger_book (id)"),
    # A moment that everybody can read: no infinity, and no year beyond the calendar.
    ("ledger_logentry_moment", "ledger_logentry",
     "CHECK (at >= '0001-01-02 00:00:00+00' AND at <= '9999-12-30 00:00:00+00')"),
    # What an earlier release wrote is of the format and of the time that it is of.
    ("ledger_logentry_format", "ledger_logentry", "CHECK (substr(body, 1, 3) = '[2,'::bytea) NOT VALID"),
    ("ledger_logentry_not_to_come", "ledger_logentry",
     "CHECK (at <= ledger_now() + interval '1 minute') NOT VALID"),
    # One text and one array: thirty comparisons of columns would cost every insert a tenth of its time.
    ("ledger_transfer_closed_list", "ledger_transfer",
     f"CHECK (kind || ':' || source_place || '>' || target_place = ANY (ARRAY{MOVEMENTS}::text[]))"),
    # What names an entry names one that is there; a trigger looks at its hash.
    ("ledger_recount_entry", "ledger_recount",
     "FOREIGN KEY (book_id, through_seq) REFERENCES ledger_logentry (book_id, seq)"),
    ("ledger_bookroot_entry", "ledger_bookroot",
     "FOREIGN KEY (book_id, last_seq) REFERENCES ledger_logentry (book_id, seq)"),
    ("ledger_slip_entry", "ledger_slip", "FOREIGN KEY (book_id, seq) REFERENCES ledger_logentry (book_id, seq)"),
    ("ledger_signature_entry", "ledger_slipsignature",
     "FOREIGN KEY (book_id, seq) REFERENCES ledger_logentry (book_id, seq)"),
    # A number follows one that is there: the first gap is refused.
    ("ledger_slip_follows", "ledger_slip",
     "FOREIGN KEY (series, year, previous) REFERENCES ledger_slip (series, year, number)"),
    ("ledger_headsrow_previous", "ledger_headsrow",
     "FOREIGN KEY (origin, previous) REFERENCES ledger_headsrow (origin, number)"),
    ("ledger_dayroot_hash", "ledger_dayroot", "CHECK (hash = sha256(body))"),
    ("ledger_dayroot_signed", "ledger_dayroot", "CHECK (octet_length(signature) = 64)"),
    ("ledger_dayroot_link", "ledger_dayroot", "UNIQUE (number, hash)"),
    ("ledger_dayroot_prev", "ledger_dayroot",
     "FOREIGN KEY (prev_number, prev_hash) REFERENCES ledger_dayroot (number, hash)"),
]

# A volatile function sees at each query what was committed by then, as a foreign key does. An entry cannot go or change
# what others name, so none has to be locked. A session keeps the plan of each query: made in a site of a few rows, it
# would read the whole table until somebody analyses it, so these plans go by an index from the first row on.
# ledger_logentry_follows spells the heading as ledger/proof/spelling.py does. It runs after the insert, so that an
# entry finds the one before it where both come with one statement.
GUARDS = """
CREATE FUNCTION ledger_logentry_follows() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
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
        AND (a.book_id = named.book_id OR a.place IN ('issue', 'vault', 'cage', 'cash', 'bank', 'vault_cash', 'depositary')))
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % is not such a place, or another book''s', of.account_id
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_transfer_' || of.side,
                TABLE = 'ledger_transfer';
    END IF;
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

CREATE FUNCTION ledger_notice_written() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.seq IS NOT NULL OR NEW.seq IS NULL
        OR to_jsonb(NEW) - 'seq' <> to_jsonb(OLD) - 'seq'
        OR NOT EXISTS (
            SELECT FROM ledger_logentry AS e JOIN ledger_book AS b ON b.id = e.book_id
            WHERE b.name = 'house' AND e.seq = NEW.seq AND e.key = NEW.key)
    THEN
        RAISE EXCEPTION 'a notice is never changed: it is given the number of its entry, once'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_notice_written BEFORE UPDATE ON ledger_notice
    FOR EACH ROW EXECUTE FUNCTION ledger_notice_written();

CREATE FUNCTION ledger_stays() RETURNS trigger LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never deleted, and others name them as they are: add a correcting one', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation', CONSTRAINT = TG_NAME, TABLE = TG_TABLE_NAME;
END $$;
CREATE TRIGGER ledger_account_stays BEFORE DELETE OR UPDATE ON ledger_account
    FOR EACH ROW EXECUTE FUNCTION ledger_stays();
CREATE TRIGGER ledger_logentry_stays BEFORE DELETE OR UPDATE ON ledger_logentry
    FOR EACH ROW EXECUTE FUNCTION ledger_stays();
CREATE TRIGGER ledger_transfer_stays BEFORE DELETE OR UPDATE OF
    id, book_id, seq, leg, legs, source_id, target_id, reverses_id
    ON ledger_transfer FOR EACH ROW EXECUTE FUNCTION ledger_stays();
"""


class Migration(migrations.Migration):
    initial = True

    replaces = [("ledger", name) for name in REPLACED]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='Book',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=64, unique=True)),
                ('head_seq', models.BigIntegerField(default=0, editable=False)),
                ('head_hash', models.BinaryField(max_length=32, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('head_hash', None), ('head_seq', 0)), models.Q(('head_hash__isnull', False), ('head_seq__gt', 0)), _connector='OR'), name='ledger_book_head_whole')],
            },
        ),
        migrations.CreateModel(
            name='DayRoot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(unique=True)),
                ('number', models.IntegerField(unique=True)),
                ('prev_number', models.IntegerField(null=True)),
                ('prev_hash', models.BinaryField(max_length=32, null=True)),
                ('body', models.BinaryField()),
                ('hash', models.BinaryField(max_length=32)),
                ('signature', models.BinaryField(max_length=64)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('number', 1), ('prev_hash', None), ('prev_number', None)), models.Q(('number__gt', 1), ('prev_hash__isnull', False), ('prev_number', django.db.models.expressions.CombinedExpression(models.F('number'), '-', models.Value(1))), ('prev_number__isnull', False)), _connector='OR'), name='ledger_dayroot_gapless')],
            },
        ),
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('task', models.CharField(max_length=40)),
                ('slot', models.DateTimeField(help_text='When it was due')),
                ('begun_at', models.DateTimeField()),
                ('missed', models.IntegerField(default=0, help_text='So many before it never were: nobody was there to run them')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('task', 'slot'), name='ledger_run_once'), models.CheckConstraint(condition=models.Q(('missed__gte', 0)), name='ledger_run_missed')],
                'indexes': [models.Index(condition=models.Q(('task__startswith', 'audit ')), fields=['id'], name='ledger_run_asked')],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.UUIDField(unique=True)),
                ('at', models.DateTimeField()),
                ('subject', models.CharField(max_length=16)),
                ('kind', models.CharField(max_length=32)),
                ('by', models.CharField(max_length=120)),
                ('content', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('seq', models.BigIntegerField(editable=False, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('seq', None)), fields=['id'], name='ledger_notice_waiting')],
            },
        ),
        migrations.CreateModel(
            name='Cosignature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('origin', models.CharField(max_length=120)),
                ('size', models.BigIntegerField(help_text='How many leaves the checkpoint has')),
                ('witness', models.CharField(help_text='Its verifier key', max_length=300)),
                ('line', models.CharField(max_length=300)),
                ('at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('origin', 'witness', 'size'), name='ledger_cosignature_once'), models.CheckConstraint(condition=models.Q(('size__gte', 1)), name='ledger_cosignature_of_something')],
            },
        ),
        migrations.CreateModel(
            name='HeadsRow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('origin', models.CharField(help_text='The name of the tree', max_length=120)),
                ('number', models.BigIntegerField()),
                ('previous', models.BigIntegerField(null=True)),
                ('at', models.DateTimeField()),
                ('leaf', models.BinaryField()),
                ('heads', models.BinaryField(help_text='The heads that moved since the leaf before; of each 64th leaf, all of them')),
                ('hashes', models.BinaryField()),
                ('signature', models.CharField(help_text='The line under the checkpoint that ends with this leaf', max_length=300)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('origin', 'number'), name='ledger_headsrow_once'), models.CheckConstraint(condition=models.Q(models.Q(('number', 0), ('previous', None)), models.Q(('number__gt', 0), ('previous', django.db.models.expressions.CombinedExpression(models.F('number'), '-', models.Value(1))), ('previous__isnull', False)), _connector='OR'), name='ledger_headsrow_gapless')],
            },
        ),
        migrations.CreateModel(
            name='Alert',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(max_length=32)),
                ('message', models.CharField(max_length=500)),
                ('evidence', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('book', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='alerts', to='ledger.book')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'book', '-at'], name='ledger_alert_kind'), models.Index(fields=['-at'], name='ledger_alert_at')],
            },
        ),
        migrations.CreateModel(
            name='RunEnd',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('found', models.IntegerField(help_text='How many things that do not hold')),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='end', to='ledger.run')),
            ],
            options={
                'abstract': False,
                'indexes': [models.Index(fields=['at'], name='ledger_runend_at')],
            },
        ),
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.CharField(choices=[('issue', 'issue'), ('vault', 'vault'), ('cage', 'cage'), ('transit', 'transit'), ('rack', 'rack'), ('layout', 'layout'), ('players', 'players'), ('over_short', 'over short'), ('seat', 'seat'), ('pot', 'pot'), ('cash', 'cash'), ('drop_box', 'drop box'), ('boxes', 'boxes'), ('bank', 'bank'), ('cash_over_short', 'cash over short'), ('vault_cash', 'vault cash'), ('depositary', 'depositary')], max_length=16)),
                ('seat', models.SmallIntegerField(blank=True, null=True)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='accounts', to='ledger.book')),
                ('wager', models.CharField(blank=True, max_length=24, null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('place__in', ['layout', 'seat']), ('seat__gte', 1), ('seat__isnull', False)), models.Q(models.Q(('place__in', ['layout', 'seat']), _negated=True), ('seat', None)), _connector='OR'), name='ledger_account_seat_on_layout'), models.UniqueConstraint(fields=('book', 'place', 'seat', 'wager'), name='ledger_account_place', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('wager', None), models.Q(('place', 'layout'), ('seat__isnull', False)), _connector='OR'), name='ledger_account_wager_on_layout'), models.UniqueConstraint(condition=models.Q(('place__in', ['bank', 'cage', 'cash', 'depositary', 'issue', 'vault', 'vault_cash'])), fields=('place',), name='ledger_account_one_house'), models.CheckConstraint(condition=models.Q(('place__in', ('issue', 'vault', 'cage', 'transit', 'rack', 'layout', 'players', 'over_short', 'seat', 'pot', 'cash', 'drop_box', 'boxes', 'bank', 'cash_over_short', 'vault_cash', 'depositary'))), name='ledger_account_known_place')],
            },
        ),
        migrations.CreateModel(
            name='LogEntry',
            fields=[
                ('at', models.DateTimeField()),
                ('book', ledger.models.ShortBookKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='ledger.book')),
                ('seq', models.IntegerField()),
                ('round', models.IntegerField(null=True)),
                ('legs', models.SmallIntegerField(default=0, help_text='How many transfers belong to this entry')),
                ('subject', models.CharField(max_length=16)),
                ('kind', models.CharField(max_length=32)),
                ('by', models.CharField(max_length=120)),
                ('key', models.UUIDField(null=True)),
                ('hash', models.BinaryField(max_length=32, primary_key=True, serialize=False)),
                ('body', models.BinaryField()),
            ],
            options={
                'verbose_name_plural': 'log entries',
                'indexes': [models.Index(condition=models.Q(('subject', 'round'), _negated=True), fields=['book', 'subject', 'seq'], name='ledger_logentry_subject'), models.Index(condition=models.Q(('round__isnull', False)), fields=['book', 'round'], name='ledger_logentry_round'), models.Index(condition=models.Q(('kind', 'take_back'), ('subject', 'round')), fields=['book', 'seq'], name='ledger_logentry_back'), models.Index(condition=models.Q(('subject', 'round'), _negated=True), fields=['book', 'by', 'seq'], name='ledger_logentry_by', opclasses=['int4_ops', 'text_pattern_ops', 'int4_ops']), models.Index(condition=models.Q(('kind', 'voided'), ('subject', 'round')), fields=['book', 'seq'], name='ledger_logentry_void'), models.Index(condition=models.Q(('kind', 'voided'), ('subject', 'round')), fields=['book', 'round'], name='ledger_logentry_voidround')],
                'constraints': [models.UniqueConstraint(fields=('book', 'seq'), name='ledger_logentry_seq'), models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('book', 'key'), name='ledger_logentry_key'), models.CheckConstraint(condition=models.Q(('legs__gte', 0)), name='ledger_logentry_legs'), models.CheckConstraint(condition=models.Q(('seq__gte', 1)), name='ledger_logentry_gapless')],
            },
        ),
        migrations.CreateModel(
            name='Recount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through_seq', models.BigIntegerField()),
                ('head_hash', models.BinaryField(max_length=32)),
                ('balance_cents', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('by', models.CharField(max_length=120)),
                ('account', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='recounts', to='ledger.account')),
                ('book', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='recounts', to='ledger.book')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('book', 'through_seq', 'account'), name='ledger_recount_once'), models.CheckConstraint(condition=models.Q(('through_seq__gte', 1)), name='ledger_recount_of_something')],
            },
        ),
        migrations.CreateModel(
            name='Transfer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.IntegerField()),
                ('leg', models.SmallIntegerField()),
                ('legs', models.SmallIntegerField()),
                ('kind', models.CharField(max_length=16)),
                ('source_place', models.CharField(max_length=16)),
                ('target_place', models.CharField(max_length=16)),
                ('amount_cents', models.BigIntegerField()),
                ('book', ledger.models.ShortBookKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='ledger.book')),
                ('reverses', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reversals', to='ledger.transfer')),
                ('source', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.account')),
                ('target', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.account')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('book', 'seq', 'leg'), name='ledger_transfer_leg'), models.UniqueConstraint(condition=models.Q(('reverses__isnull', False)), fields=('reverses',), name='ledger_transfer_reversed_once'), models.CheckConstraint(condition=models.Q(('leg__gte', 1), ('leg__lte', models.F('legs'))), name='ledger_transfer_leg_counted'), models.CheckConstraint(condition=models.Q(('amount_cents__gt', 0)), name='ledger_transfer_positive'), models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='ledger_transfer_moves'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'reversal'), ('reverses__isnull', False)), models.Q(models.Q(('kind', 'reversal'), _negated=True), ('reverses', None)), _connector='OR'), name='ledger_transfer_reversal')],
            },
        ),
        migrations.CreateModel(
            name='Acknowledgement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('note', models.TextField(blank=True)),
                ('alert', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='acknowledgement', to='ledger.alert')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('by', ''), _negated=True), name='ledger_acknowledgement_by_name')],
            },
        ),
        migrations.CreateModel(
            name='BookRoot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('first_seq', models.BigIntegerField()),
                ('last_seq', models.BigIntegerField()),
                ('head_hash', models.BinaryField(max_length=32)),
                ('body', models.BinaryField()),
                ('book', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='roots', to='ledger.book')),
            ],
            options={
                'indexes': [models.Index(fields=['day'], name='ledger_bookroot_day')],
                'constraints': [models.UniqueConstraint(fields=('book', 'day'), name='ledger_bookroot_once'), models.CheckConstraint(condition=models.Q(('first_seq__gte', 1), ('last_seq__gte', django.db.models.expressions.CombinedExpression(models.F('first_seq'), '-', models.Value(1)))), name='ledger_bookroot_span')],
            },
        ),
        migrations.CreateModel(
            name='Slip',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('series', models.CharField(max_length=16)),
                ('year', models.SmallIntegerField()),
                ('number', models.IntegerField()),
                ('previous', models.IntegerField(null=True)),
                ('seq', models.BigIntegerField()),
                ('total_cents', models.BigIntegerField()),
                ('book', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.PROTECT, related_name='slips', to='ledger.book')),
            ],
            options={
                'indexes': [models.Index(fields=['series', 'id'], name='ledger_slip_newest')],
                'constraints': [models.UniqueConstraint(fields=('series', 'year', 'number'), name='ledger_slip_number'), models.UniqueConstraint(fields=('book', 'seq'), name='ledger_slip_entry_once'), models.CheckConstraint(condition=models.Q(models.Q(('number', 1), ('previous', None)), models.Q(('number__gt', 1), ('previous', django.db.models.expressions.CombinedExpression(models.F('number'), '-', models.Value(1))), ('previous__isnull', False)), _connector='OR'), name='ledger_slip_gapless'), models.CheckConstraint(condition=models.Q(('series__in', ('opener', 'closer', 'rack', 'fill', 'credit', 'drop', 'correction', 'withdrawal', 'deposit', 'cage', 'vault', 'receipt', 'destruction', 'retirement', 'lapse', 'found', 'claim', 'counterfeit', 'forgery', 'emergency', 'bankin', 'bankout', 'imprest', 'imprestback', 'cagecash', 'vaultcash', 'note', 'key', 'dualkey', 'keyback', 'keylost'))), name='ledger_slip_known_series')],
            },
        ),
        migrations.CreateModel(
            name='SlipSignature',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stage', models.CharField(max_length=16)),
                ('username', models.CharField(max_length=40)),
                ('role', models.CharField(max_length=16)),
                ('seq', models.BigIntegerField()),
                ('book', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.book')),
                ('slip', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='signatures', to='ledger.slip')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('stage', 'witnessed')), fields=['book', 'seq'], name='ledger_signature_removal')],
                'constraints': [models.UniqueConstraint(fields=('slip', 'stage'), name='ledger_signature_stage_once'), models.UniqueConstraint(fields=('slip', 'username'), name='ledger_signature_person_once'), models.UniqueConstraint(fields=('book', 'seq'), name='ledger_signature_entry_once'), models.CheckConstraint(condition=models.Q(('username', ''), _negated=True), name='ledger_signature_by_name')],
            },
        ),
        migrations.CreateModel(
            name='Discrepancy',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(max_length=32)),
                ('amount_cents', models.BigIntegerField(help_text='Counted less expected: what is short is below zero')),
                ('level', models.SmallIntegerField(help_text='How far it goes: 0 is noted, 3 is reported to the regulator')),
                ('message', models.CharField(max_length=300)),
                ('evidence', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('involved', models.JSONField(default=list, help_text='The user names of whoever may have caused it')),
                ('key', models.CharField(help_text='What it is about: the same is never opened twice', max_length=80, unique=True)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='discrepancies', to='ledger.book')),
            ],
            options={
                'verbose_name_plural': 'discrepancies',
                'constraints': [models.CheckConstraint(condition=models.Q(('level__gte', 0), ('level__lte', 3)), name='ledger_discrepancy_level'), models.CheckConstraint(condition=models.Q(('amount_cents', 0), _negated=True), name='ledger_discrepancy_of_something')],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('owner', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=120)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('discrepancy', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='ledger.discrepancy')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('username', models.CharField(max_length=40)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('text', models.TextField()),
                ('discrepancy', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='finding', to='ledger.discrepancy')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('text', ''), _negated=True), name='ledger_finding_in_words'), models.CheckConstraint(condition=models.Q(('username', ''), _negated=True), name='ledger_finding_by_name')],
            },
        ),
        migrations.CreateModel(
            name='Bookmark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('round', models.IntegerField(null=True)),
                ('moment', models.DateTimeField()),
                ('note', models.CharField(max_length=500)),
                ('camera', models.CharField(blank=True, max_length=80)),
                ('salt', models.CharField(help_text='So that nobody finds the note by trying what its digest fits', max_length=32)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='bookmarks', to='ledger.book')),
            ],
            options={
                'indexes': [models.Index(fields=['book', '-moment'], name='ledger_bookmark_moment')],
                'constraints': [models.CheckConstraint(condition=models.Q(('note', ''), _negated=True), name='ledger_bookmark_in_words'), models.CheckConstraint(condition=models.Q(('by', ''), _negated=True), name='ledger_bookmark_by_name')],
            },
        ),
        migrations.CreateModel(
            name='Escalation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('step', models.SmallIntegerField(help_text='How often it was escalated by then')),
                ('level', models.SmallIntegerField(help_text='How far it goes now')),
                ('roles', models.JSONField(default=list, help_text='Who hears of it from then on')),
                ('alert', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='escalations', to='ledger.alert')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('alert', 'step'), name='ledger_escalation_once'), models.CheckConstraint(condition=models.Q(('step__gte', 1)), name='ledger_escalation_step'), models.CheckConstraint(condition=models.Q(('level__gte', 0), ('level__lte', 3)), name='ledger_escalation_level')],
            },
        ),
        migrations.RunSQL([
            CLOCK,
            LOG,
            *(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}" for name, table, definition in CONSTRAINTS),
            GUARDS,
        ]),
    ]
