"""A head office's tables as migrations 0001 and 0002 leave them."""

import django.core.validators
import django.db.models.deletion
import django.db.models.lookups
from django.db import migrations, models

REPLACED = """
    0001_initial 0002_pieces
""".split()

# A publisher may send any value of any column, and says nothing of who it is; the worker that applies is its
# subscription's. A row that is there already would stop that worker for good: it is passed over, so a letter box may be
# read from its beginning as often as anybody likes. The worker has no search path.
OF_ITS_HOUSE = """
CREATE FUNCTION office_piece_of_its_house() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.line := (SELECT subname FROM pg_stat_subscription WHERE pid = pg_backend_pid() LIMIT 1);
    IF EXISTS (SELECT FROM public.office_piece
               WHERE line = NEW.line AND bundle = NEW.bundle AND start = NEW.start) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER office_piece_of_its_house BEFORE INSERT ON office_piece
    FOR EACH ROW EXECUTE FUNCTION office_piece_of_its_house();
ALTER TABLE office_piece ENABLE REPLICA TRIGGER office_piece_of_its_house;
"""


class Migration(migrations.Migration):
    initial = True

    replaces = [("office", name) for name in REPLACED]

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='House',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.CharField(max_length=24, unique=True, validators=[django.core.validators.RegexValidator('^[a-z][a-z0-9-]{1,23}$')])),
                ('name', models.CharField(max_length=60, unique=True)),
                ('currency', models.CharField(max_length=3, validators=[django.core.validators.RegexValidator('^[A-Z]{3}$')])),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Piece',
            fields=[
                ('pk', models.CompositePrimaryKey('line', 'bundle', 'start', blank=True, editable=False, primary_key=True, serialize=False)),
                ('line', models.CharField(db_default='', max_length=63)),
                ('bundle', models.CharField(max_length=64)),
                ('start', models.BigIntegerField()),
                ('number', models.IntegerField()),
                ('size', models.BigIntegerField()),
                ('content', models.BinaryField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(models.Func('content', function='octet_length', output_field=models.IntegerField()), 524288), name='office_piece_length')],
            },
        ),
        migrations.CreateModel(
            name='Arrival',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('^[0-9a-f]{64}$')])),
                ('attempt', models.SmallIntegerField(default=1)),
                ('size', models.BigIntegerField()),
                ('first', models.DateField()),
                ('last', models.DateField()),
                ('through', models.IntegerField()),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('house', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='arrivals', to='office.house')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('house', 'sha256', 'attempt'), name='office_arrival_once')],
            },
        ),
        migrations.CreateModel(
            name='Pin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.IntegerField()),
                ('key', models.CharField(max_length=64, validators=[django.core.validators.RegexValidator('^[0-9a-f]{64}$')])),
                ('secret', models.CharField(blank=True, max_length=400)),
                ('reason', models.CharField(blank=True, max_length=300)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('house', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pins', to='office.house')),
            ],
            options={
                'ordering': ['-version'],
                'constraints': [models.UniqueConstraint(fields=('house', 'version'), name='office_pin_once'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='office_pin_version')],
            },
        ),
        migrations.CreateModel(
            name='Refusal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sha256', models.CharField(max_length=64)),
                ('says', models.CharField(max_length=600)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('house', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='refusals', to='office.house')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(fields=('house', 'sha256', 'says'), name='office_refusal_once')],
            },
        ),
        migrations.CreateModel(
            name='TableDay',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField()),
                ('table', models.CharField(max_length=64)),
                ('source', models.CharField(choices=[('reckoned', 'Reckoned here, from the entries'), ('signed', 'Signed in the house by two people')], max_length=8)),
                ('game', models.CharField(max_length=80)),
                ('rounds', models.IntegerField()),
                ('win_cents', models.BigIntegerField()),
                ('drop_cents', models.BigIntegerField()),
                ('handle_cents', models.BigIntegerField(null=True)),
                ('theoretical_cents', models.BigIntegerField(null=True)),
                ('arrival', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='office.arrival')),
                ('house', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='table_days', to='office.house')),
            ],
            options={
                'ordering': ['house', 'day', 'table'],
                'indexes': [models.Index(fields=['day', 'house'], name='office_tableday_day')],
                'constraints': [models.UniqueConstraint(fields=('house', 'day', 'source', 'table'), name='office_tableday_once')],
            },
        ),
        migrations.CreateModel(
            name='Verdict',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holds', models.BooleanField()),
                ('says', models.CharField(max_length=600)),
                ('at', models.DateTimeField()),
                ('arrival', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='verdict', to='office.arrival')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Day',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField()),
                ('day', models.DateField()),
                ('digest', models.CharField(max_length=64)),
                ('key', models.CharField(max_length=64)),
                ('ends', models.DateTimeField()),
                ('at', models.DateTimeField()),
                ('arrival', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='days', to='office.arrival')),
                ('house', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='days', to='office.house')),
            ],
            options={
                'ordering': ['house', '-number'],
                'constraints': [models.UniqueConstraint(fields=('house', 'number'), name='office_day_number'), models.UniqueConstraint(fields=('house', 'day'), name='office_day_once')],
            },
        ),
        migrations.RunSQL(OF_ITS_HOUSE),
    ]
