"""The tree of the books' heads, and what witnesses outside signed of it: a leaf follows the one before it."""

import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0026_newest_first'),
    ]

    operations = [
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
        migrations.RunSQL(
            "ALTER TABLE ledger_headsrow ADD CONSTRAINT ledger_headsrow_previous"
            " FOREIGN KEY (origin, previous) REFERENCES ledger_headsrow (origin, number)",
            "ALTER TABLE ledger_headsrow DROP CONSTRAINT ledger_headsrow_previous",
        ),
    ]
