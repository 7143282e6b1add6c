"""Roots of gaming days: a book's root is of an entry that is there, and each day names the one before by its hash."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


CONSTRAINTS = [
    ("ledger_bookroot_entry", "ledger_bookroot",
     "FOREIGN KEY (book_id, last_seq, head_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
    ("ledger_dayroot_hash", "ledger_dayroot", "CHECK (hash = sha256(body))"),
    ("ledger_dayroot_signed", "ledger_dayroot", "CHECK (octet_length(signature) = 64)"),
    ("ledger_dayroot_link", "ledger_dayroot", "UNIQUE (number, hash)"),
    ("ledger_dayroot_prev", "ledger_dayroot",
     "FOREIGN KEY (prev_number, prev_hash) REFERENCES ledger_dayroot (number, hash)"),
]


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0005_chip_cycle'),
    ]

    operations = [
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
    ] + [
        migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
        for name, table, definition in CONSTRAINTS
    ]
