"""Slips: numbers without a gap, and signatures of which nobody gives two on one slip."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


GUARDS = [
    # A number follows one that is there: the first gap would be refused.
    ("ledger_slip_follows", "ledger_slip",
     "FOREIGN KEY (series, year, previous) REFERENCES ledger_slip (series, year, number)"),
    # What is on paper is in the log.
    ("ledger_slip_entry", "ledger_slip", "FOREIGN KEY (book_id, seq) REFERENCES ledger_logentry (book_id, seq)"),
    ("ledger_signature_entry", "ledger_slipsignature",
     "FOREIGN KEY (book_id, seq) REFERENCES ledger_logentry (book_id, seq)"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0006_seals'),
    ]

    operations = [
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
        ),
        migrations.AddConstraint(
            model_name='slip',
            constraint=models.UniqueConstraint(fields=('series', 'year', 'number'), name='ledger_slip_number'),
        ),
        migrations.AddConstraint(
            model_name='slip',
            constraint=models.UniqueConstraint(fields=('book', 'seq'), name='ledger_slip_entry_once'),
        ),
        migrations.AddConstraint(
            model_name='slip',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('number', 1), ('previous', None)), models.Q(('number__gt', 1), ('previous', django.db.models.expressions.CombinedExpression(models.F('number'), '-', models.Value(1))), ('previous__isnull', False)), _connector='OR'), name='ledger_slip_gapless'),
        ),
        migrations.AddConstraint(
            model_name='slip',
            constraint=models.CheckConstraint(condition=models.Q(('series__in', ('opener', 'closer', 'rack', 'fill', 'credit', 'drop', 'correction', 'cage'))), name='ledger_slip_known_series'),
        ),
        migrations.AddConstraint(
            model_name='slipsignature',
            constraint=models.UniqueConstraint(fields=('slip', 'stage'), name='ledger_signature_stage_once'),
        ),
        migrations.AddConstraint(
            model_name='slipsignature',
            constraint=models.UniqueConstraint(fields=('slip', 'username'), name='ledger_signature_person_once'),
        ),
        migrations.AddConstraint(
            model_name='slipsignature',
            constraint=models.UniqueConstraint(fields=('book', 'seq'), name='ledger_signature_entry_once'),
        ),
        migrations.AddConstraint(
            model_name='slipsignature',
            constraint=models.CheckConstraint(condition=models.Q(('username', ''), _negated=True), name='ledger_signature_by_name'),
        ),
    ] + [
        migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
        for name, table, definition in GUARDS
    ]
