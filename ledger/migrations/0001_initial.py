"""The books, the log, the chips and what is found about them."""

import django.core.serializers.json
import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

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
            name='Alert',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField()),
                ('kind', models.CharField(max_length=32)),
                ('message', models.CharField(max_length=500)),
                ('evidence', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('book', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='alerts', to='ledger.book')),
            ],
        ),
        migrations.CreateModel(
            name='Account',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('place', models.CharField(choices=[('issue', 'issue'), ('cage', 'cage'), ('rack', 'rack'), ('layout', 'layout'), ('players', 'players'), ('drop_box', 'drop box'), ('over_short', 'over short')], max_length=16)),
                ('seat', models.SmallIntegerField(blank=True, null=True)),
                ('scope', models.GeneratedField(db_persist=True, expression=models.Case(models.When(models.Q(('place__in', ['cage', 'issue'])), then=models.Value(0)), default=models.F('book_id'), output_field=models.BigIntegerField()), output_field=models.BigIntegerField())),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='accounts', to='ledger.book')),
            ],
        ),
        migrations.CreateModel(
            name='LogEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField()),
                ('at', models.DateTimeField()),
                ('subject', models.CharField(max_length=16)),
                ('kind', models.CharField(max_length=32)),
                ('round', models.IntegerField(null=True)),
                ('by', models.CharField(max_length=120)),
                ('key', models.UUIDField(null=True)),
                ('legs', models.SmallIntegerField(default=0, help_text='How many transfers belong to this entry')),
                ('body', models.BinaryField()),
                ('prev_seq', models.BigIntegerField(null=True)),
                ('prev_hash', models.BinaryField(max_length=32, null=True)),
                ('hash', models.BinaryField(max_length=32)),
                ('book', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='entries', to='ledger.book')),
            ],
            options={
                'verbose_name_plural': 'log entries',
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
        ),
        migrations.CreateModel(
            name='Transfer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField()),
                ('leg', models.SmallIntegerField()),
                ('legs', models.SmallIntegerField()),
                ('kind', models.CharField(max_length=16)),
                ('source_place', models.CharField(max_length=16)),
                ('source_scope', models.GeneratedField(db_persist=True, expression=models.Case(models.When(models.Q(('source_place__in', ['cage', 'issue'])), then=models.Value(0)), default=models.F('book_id'), output_field=models.BigIntegerField()), output_field=models.BigIntegerField())),
                ('target_place', models.CharField(max_length=16)),
                ('target_scope', models.GeneratedField(db_persist=True, expression=models.Case(models.When(models.Q(('target_place__in', ['cage', 'issue'])), then=models.Value(0)), default=models.F('book_id'), output_field=models.BigIntegerField()), output_field=models.BigIntegerField())),
                ('amount_cents', models.BigIntegerField()),
                ('book', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='transfers', to='ledger.book')),
                ('reverses', models.ForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reversals', to='ledger.transfer')),
                ('source', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.account')),
                ('target', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.account')),
            ],
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
        migrations.AddIndex(
            model_name='alert',
            index=models.Index(fields=['kind', 'book', '-at'], name='ledger_alert_kind'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(fields=('book', 'place', 'seat'), name='ledger_account_place', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(condition=models.Q(('place__in', ['cage', 'issue'])), fields=('place',), name='ledger_account_one_house'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('place__in', ('issue', 'cage', 'rack', 'layout', 'players', 'drop_box', 'over_short'))), name='ledger_account_known_place'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('place', 'layout'), ('seat__gte', 1), ('seat__isnull', False)), models.Q(models.Q(('place', 'layout'), _negated=True), ('seat', None)), _connector='OR'), name='ledger_account_seat_on_layout'),
        ),
        migrations.AddIndex(
            model_name='logentry',
            index=models.Index(fields=['book', 'round', 'seq'], name='ledger_logentry_round'),
        ),
        migrations.AddIndex(
            model_name='logentry',
            index=models.Index(fields=['book', 'subject', 'seq'], name='ledger_logentry_subject'),
        ),
        migrations.AddConstraint(
            model_name='logentry',
            constraint=models.UniqueConstraint(fields=('book', 'seq'), name='ledger_logentry_seq'),
        ),
        migrations.AddConstraint(
            model_name='logentry',
            constraint=models.UniqueConstraint(condition=models.Q(('key__isnull', False)), fields=('book', 'key'), name='ledger_logentry_key'),
        ),
        migrations.AddConstraint(
            model_name='logentry',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('prev_hash', None), ('prev_seq', None), ('seq', 1)), models.Q(('prev_hash__isnull', False), ('prev_seq', django.db.models.expressions.CombinedExpression(models.F('seq'), '-', models.Value(1))), ('prev_seq__isnull', False), ('seq__gt', 1)), _connector='OR'), name='ledger_logentry_gapless'),
        ),
        migrations.AddConstraint(
            model_name='logentry',
            constraint=models.CheckConstraint(condition=models.Q(('legs__gte', 0)), name='ledger_logentry_legs'),
        ),
        migrations.AddConstraint(
            model_name='recount',
            constraint=models.UniqueConstraint(fields=('book', 'through_seq', 'account'), name='ledger_recount_once'),
        ),
        migrations.AddConstraint(
            model_name='recount',
            constraint=models.CheckConstraint(condition=models.Q(('through_seq__gte', 1)), name='ledger_recount_of_something'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.UniqueConstraint(fields=('book', 'seq', 'leg'), name='ledger_transfer_leg'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.UniqueConstraint(condition=models.Q(('reverses__isnull', False)), fields=('reverses',), name='ledger_transfer_reversed_once'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(('leg__gte', 1), ('leg__lte', models.F('legs'))), name='ledger_transfer_leg_counted'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(('amount_cents__gt', 0)), name='ledger_transfer_positive'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(('source', models.F('target')), _negated=True), name='ledger_transfer_moves'),
        ),
        migrations.AddConstraint(
            model_name='transfer',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('kind', 'reversal'), ('reverses__isnull', False)), models.Q(models.Q(('kind', 'reversal'), _negated=True), ('reverses', None)), _connector='OR'), name='ledger_transfer_reversal'),
        ),
    ]
