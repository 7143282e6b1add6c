"""The floor's tables as migrations 0001 to 0038 leave them in an empty database.

Rows that those migrations carry over are of sites that exist, which go on migration by migration.
"""

import django.contrib.postgres.fields
import django.core.serializers.json
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
from django.conf import settings
from django.db import migrations, models

REPLACED = """
    0001_initial 0002_pot_tables 0003_seat_pages 0004_wrong_pins 0005_more_roles 0006_house_hours 0007_day_close
    0008_simulated_chunk 0009_shoe_audit 0010_practice 0011_sealed_hashes 0012_sign_in_counts 0013_rows_taken_over
    0014_shufflers 0015_kept_sheets 0016_pay_tables 0017_commission 0018_shoe_audit_wagers 0019_house_terms
    0020_duties 0021_cage_manager 0022_chip_series 0023_alerts 0024_own_secrets 0025_cash 0026_watch 0027_pits
    0028_limit_plans 0029_kept_answers 0030_feed 0031_service_accounts 0032_subscriptions 0033_kept_minimums
    0034_readers 0035_floor_plans 0036_decided_alone 0037_posts 0038_sealed_days_as_a_channel
""".split()


class Migration(migrations.Migration):
    initial = True

    replaces = [("tables", name) for name in REPLACED]

    dependencies = [
        ("ledger", "0001_squashed_0027_heads_outside"),
        # Before the models that lead to Staff and Book: each operation renders anew all models that its own leads to.
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.CreateModel(
            name='Staff',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('password', models.CharField(max_length=256)),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('username', models.CharField(max_length=40, unique=True, verbose_name='user name')),
                ('name', models.CharField(help_text='As it is written in the log, on slips and on screens.', max_length=60)),
                ('role', models.CharField(choices=[('dealer', 'Dealer'), ('pit_boss', 'Pit boss'), ('operator', 'Operator'), ('auditor', 'Auditor'), ('cashier', 'Cashier'), ('security', 'Security'), ('counter', 'Counter'), ('cage_manager', 'Cage manager'), ('surveillance', 'Surveillance')], max_length=16)),
                ('badge', models.CharField(blank=True, max_length=8, null=True, unique=True, validators=[django.core.validators.RegexValidator('^\\d{3,8}$', 'A badge number has 3 to 8 digits.')], verbose_name='badge number')),
                ('pin', models.CharField(blank=True, editable=False, max_length=256)),
                ('is_active', models.BooleanField(default=True, help_text='Switch off when somebody leaves; never delete.', verbose_name='active')),
                ('administered_until', models.DateTimeField(blank=True, editable=False, null=True)),
                ('further', models.JSONField(blank=True, db_default=models.Value([], models.JSONField()), default=list, help_text='They choose as which when they come to work.', verbose_name='may also work as')),
                ('password_made_at', models.DateTimeField(editable=False, null=True)),
                ('pin_made_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'verbose_name': 'staff',
                'verbose_name_plural': 'staff',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Denomination',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value_cents', models.PositiveBigIntegerField(unique=True, validators=[django.core.validators.MinValueValidator(1)])),
                ('colour', models.CharField(help_text='The word that dealers use: white, red, green.', max_length=20, unique=True)),
                ('face', models.CharField(max_length=7, validators=[django.core.validators.RegexValidator('^#[0-9a-f]{6}$', 'Write it as #rrggbb.')], verbose_name='face colour')),
                ('retired_at', models.DateTimeField(editable=False, null=True, verbose_name='retired since')),
                ('retired_by', models.CharField(blank=True, editable=False, max_length=120)),
                ('retired_why', models.CharField(blank=True, editable=False, max_length=200, verbose_name='why')),
            ],
            options={
                'verbose_name': 'chip',
                'ordering': ['-value_cents'],
            },
        ),
        migrations.CreateModel(
            name='HouseHours',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('from_day', models.DateField(verbose_name='from the gaming day')),
                ('time_zone', models.CharField(max_length=64)),
                ('day_starts', models.TimeField(verbose_name='the day starts at')),
                ('shifts', models.JSONField()),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'gaming day and shifts',
                'verbose_name_plural': 'gaming day and shifts',
                'ordering': ['-from_day', '-seq'],
            },
        ),
        migrations.CreateModel(
            name='DayClose',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('day', models.DateField(unique=True)),
                ('seq', models.BigIntegerField(unique=True)),
                ('proposed_by', models.CharField(max_length=40)),
                ('closed_by', models.CharField(max_length=40)),
                ('at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'day close',
                'ordering': ['-day'],
                'constraints': [models.CheckConstraint(condition=models.Q(('closed_by', models.F('proposed_by')), _negated=True), name='tables_dayclose_by_two')],
            },
        ),
        migrations.CreateModel(
            name='SimulatedChunk',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('run', models.CharField(max_length=400)),
                ('number', models.IntegerField()),
                ('counts', models.JSONField()),
            ],
            options={
                'verbose_name': 'simulated chunk',
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='tables_simulatedchunk_once'), models.CheckConstraint(condition=models.Q(('number__gte', 0)), name='tables_simulatedchunk_number')],
            },
        ),
        migrations.CreateModel(
            name='AttemptCount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('place', models.CharField(max_length=64)),
                ('name', models.CharField(blank=True, max_length=32)),
                ('tries', models.BigIntegerField()),
                ('since', models.DateTimeField(db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('kind', 'place', 'name'), name='tables_attemptcount_once')],
            },
        ),
        migrations.CreateModel(
            name='KeptSheet',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('game', models.CharField(max_length=40)),
                ('options_digest', models.CharField(max_length=64)),
                ('method', models.IntegerField()),
                ('options', models.JSONField()),
                ('wagers', models.JSONField()),
                ('covariances', models.JSONField()),
                ('at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name': 'kept sheet',
                'constraints': [models.UniqueConstraint(fields=('game', 'options_digest', 'method'), name='tables_keptsheet_once')],
            },
        ),
        migrations.CreateModel(
            name='PayTable',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('game', models.CharField(max_length=20)),
                ('name', models.CharField(max_length=40)),
                ('version', models.IntegerField()),
                ('wagers', models.JSONField(verbose_name='pays')),
                ('sha256', models.CharField(max_length=64, verbose_name='SHA-256')),
                ('by', models.CharField(max_length=120, verbose_name='made by')),
                ('at', models.DateTimeField(verbose_name='made at')),
            ],
            options={
                'verbose_name': 'pay table',
                'ordering': ['game', 'name', '-version'],
                'constraints': [models.UniqueConstraint(fields=('game', 'name', 'version'), name='tables_paytable_once'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='tables_paytable_version')],
            },
        ),
        migrations.CreateModel(
            name='HouseTerms',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('effective', models.DateTimeField(verbose_name='holds from')),
                ('values', models.JSONField()),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'house terms',
                'verbose_name_plural': 'house terms',
                'ordering': ['-effective', '-seq'],
                'constraints': [models.CheckConstraint(condition=models.Q(('effective__gte', models.F('at'))), name='tables_houseterms_from_then_on')],
            },
        ),
        migrations.CreateModel(
            name='Proposal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField(unique=True)),
                ('seq', models.BigIntegerField(unique=True)),
                ('matter', models.CharField(max_length=20)),
                ('about', models.CharField(blank=True, max_length=80)),
                ('before', models.JSONField()),
                ('after', models.JSONField()),
                ('comment', models.CharField(blank=True, max_length=500)),
                ('effective', models.DateTimeField(null=True, verbose_name='holds from')),
                ('expires', models.DateTimeField(verbose_name='waits until')),
                ('proposed_by', models.CharField(max_length=40)),
                ('by', models.CharField(max_length=120, verbose_name='proposed by')),
                ('at', models.DateTimeField(verbose_name='proposed at')),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='tables_proposal_number')],
            },
        ),
        migrations.CreateModel(
            name='ChipSeries',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('name', models.CharField(max_length=40, unique=True)),
                ('manufacturer', models.CharField(max_length=60)),
                ('year', models.PositiveSmallIntegerField()),
                ('values', models.JSONField(verbose_name='kinds')),
                ('by', models.CharField(max_length=120, verbose_name='added by')),
                ('at', models.DateTimeField(verbose_name='added at')),
            ],
            options={
                'verbose_name': 'series of chips',
                'verbose_name_plural': 'series of chips',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='AlertChannel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('name', models.CharField(max_length=40)),
                ('version', models.IntegerField()),
                ('means', models.CharField(choices=[('mail', 'E-mail'), ('webhook', 'Webhook')], max_length=8, verbose_name='sends by')),
                ('address', models.CharField(max_length=400)),
                ('secret', models.CharField(blank=True, editable=False, max_length=400)),
                ('is_on', models.BooleanField(default=True, verbose_name='on')),
                ('least_level', models.SmallIntegerField(verbose_name='from the level on')),
                ('about', models.JSONField(default=list, verbose_name='only alerts of')),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
                ('former_secret', models.CharField(blank=True, default='', editable=False, max_length=400)),
                ('former_until', models.DateTimeField(editable=False, null=True)),
                ('tables', models.JSONField(default=list, verbose_name='only events about these tables')),
                ('tells', models.CharField(choices=[('alerts', 'Alerts'), ('events', 'Events of the feed'), ('days', 'Sealed days, to a head office')], default='alerts', max_length=8)),
                ('types', models.JSONField(default=list, verbose_name='only events of these types')),
            ],
            options={
                'verbose_name': 'alert channel',
                'ordering': ['name', '-version'],
                'constraints': [models.UniqueConstraint(fields=('name', 'version'), name='tables_alertchannel_once'), models.CheckConstraint(condition=models.Q(('version__gte', 1)), name='tables_alertchannel_version'), models.CheckConstraint(condition=models.Q(models.Q(('former_secret', ''), ('former_until', None)), models.Q(models.Q(('former_secret', ''), _negated=True), ('former_until__isnull', False)), _connector='OR'), name='tables_alertchannel_former')],
            },
        ),
        migrations.CreateModel(
            name='AlertRule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('about', models.CharField(max_length=32)),
                ('is_on', models.BooleanField()),
                ('threshold', models.BigIntegerField(null=True)),
                ('level', models.SmallIntegerField()),
                ('tables', models.JSONField(default=list)),
                ('games', models.JSONField(default=list)),
                ('roles', models.JSONField(default=list)),
                ('escalate_minutes', models.IntegerField()),
                ('escalate_to', models.JSONField(default=list)),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-seq'],
                'indexes': [models.Index(fields=['about', '-seq'], name='tables_alertrule_newest')],
            },
        ),
        migrations.CreateModel(
            name='DropSchedule',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('name', models.CharField(max_length=40)),
                ('from_day', models.DateField(verbose_name='from the day')),
                ('tables', models.JSONField(default=list)),
                ('weekdays', models.JSONField(default=list)),
                ('due_at', models.TimeField(verbose_name='due at')),
                ('who', models.CharField(max_length=40, verbose_name='taken by')),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'drop schedule',
                'ordering': ['name', '-from_day', '-seq'],
            },
        ),
        migrations.CreateModel(
            name='HouseKey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('name', models.CharField(max_length=40, verbose_name='mark')),
                ('lock', models.CharField(choices=[('box_release', 'Box release'), ('box_contents', 'Box contents'), ('vault', 'Vault'), ('cage', 'Cage'), ('count_room', 'Count room'), ('other', 'Other')], max_length=16, verbose_name='opens')),
                ('dual', models.BooleanField(default=False, verbose_name='held by two')),
                ('in_use', models.BooleanField(default=True, verbose_name='in use')),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'key',
                'ordering': ['name', '-seq'],
            },
        ),
        migrations.CreateModel(
            name='PitSection',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('pit', models.CharField(max_length=40)),
                ('section', models.CharField(blank=True, max_length=40)),
                ('tables', models.JSONField(default=list)),
                ('first', models.JSONField(default=list, verbose_name='first in order')),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'pit section',
                'ordering': ['pit', 'section', '-seq'],
            },
        ),
        migrations.CreateModel(
            name='LimitPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('name', models.CharField(max_length=40)),
                ('version', models.PositiveIntegerField()),
                ('scope', models.CharField(max_length=5, verbose_name='is for')),
                ('of', models.CharField(blank=True, max_length=40, verbose_name='which')),
                ('schedule', models.JSONField(default=dict)),
                ('values', models.JSONField(default=dict)),
                ('note', models.CharField(blank=True, max_length=200, verbose_name='why')),
                ('takes', models.CharField(default='round', max_length=5, verbose_name='holds from the next')),
                ('keeps_seated', models.BooleanField(default=False, verbose_name='seats that play keep the old minimum')),
                ('retired', models.BooleanField(default=False)),
                ('effective', models.DateTimeField(verbose_name='holds from')),
                ('proposal', models.IntegerField(null=True)),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'limit plan',
                'ordering': ['name', '-version'],
                'constraints': [models.UniqueConstraint(fields=('name', 'version'), name='tables_limitplan_version')],
            },
        ),
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('username', models.CharField(max_length=80)),
                ('key', models.UUIDField()),
                ('request', models.BinaryField()),
                ('answer', models.TextField()),
                ('at', models.DateTimeField(db_index=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('username', 'key'), name='tables_keptanswer_once')],
            },
        ),
        migrations.CreateModel(
            name='FeedSheet',
            fields=[
                ('first', models.BigIntegerField(primary_key=True, serialize=False)),
                ('through', models.BigIntegerField(unique=True)),
                ('books', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
                ('seqs', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=None)),
            ],
            options={
                'ordering': ['first'],
                'constraints': [models.CheckConstraint(condition=models.Q(('first__gte', 0), ('through', django.db.models.expressions.CombinedExpression(models.F('first'), '+', models.Func('books', function='cardinality'))), ('through', django.db.models.expressions.CombinedExpression(models.F('first'), '+', models.Func('seqs', function='cardinality'))), ('through__gt', models.F('first'))), name='tables_feedsheet_whole')],
            },
        ),
        migrations.CreateModel(
            name='ServiceAccount',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='As the log names it, for good: Cage display.', max_length=40, unique=True)),
                ('purpose', models.CharField(max_length=200)),
                ('scopes', models.JSONField(default=list, verbose_name='may')),
                ('tables', models.JSONField(default=list)),
                ('addresses', models.JSONField(default=list, verbose_name='may call from')),
                ('expires_at', models.DateTimeField(verbose_name='good until')),
                ('ended_at', models.DateTimeField(editable=False, null=True)),
                ('ended_why', models.CharField(blank=True, editable=False, max_length=200)),
                ('by', models.CharField(editable=False, max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(editable=False, verbose_name='set at')),
                ('heard_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'verbose_name': 'program',
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='FeedPosition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
                ('place', models.BigIntegerField()),
                ('through', models.BigIntegerField(null=True)),
                ('failures', models.SmallIntegerField(default=0)),
                ('says', models.CharField(blank=True, default='', max_length=300)),
                ('tried_at', models.DateTimeField(null=True)),
                ('due_at', models.DateTimeField(null=True)),
                ('asked_at', models.DateTimeField(null=True)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('failures__gte', 0), ('place__gte', 0), models.Q(('through', None), ('through__gt', models.F('place')), _connector='OR')), name='tables_feedposition_whole')],
            },
        ),
        migrations.CreateModel(
            name='OutboxMark',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through', models.BigIntegerField(default=0)),
            ],
        ),
        migrations.CreateModel(
            name='FloorPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('pit', models.CharField(max_length=40)),
                ('spots', models.JSONField(default=dict)),
                ('by', models.CharField(max_length=120, verbose_name='drawn by')),
                ('at', models.DateTimeField(verbose_name='drawn at')),
            ],
            options={
                'verbose_name': 'floor plan',
                'ordering': ['pit', '-seq'],
            },
        ),
        migrations.CreateModel(
            name='PitCover',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('username', models.CharField(max_length=40)),
                ('pit', models.CharField(max_length=40)),
                ('until', models.DateTimeField()),
                ('reason', models.CharField(blank=True, max_length=200, verbose_name='why')),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(db_index=True, verbose_name='set at')),
            ],
            options={
                'verbose_name': 'pit that is covered',
                'verbose_name_plural': 'pits that are covered',
                'ordering': ['-seq'],
            },
        ),
        migrations.CreateModel(
            name='Post',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('username', models.CharField(max_length=40)),
                ('pits', models.JSONField(default=list)),
                ('whole_floor', models.BooleanField(default=False)),
                ('effective', models.DateTimeField(verbose_name='holds from')),
                ('proposal', models.IntegerField(null=True)),
                ('by', models.CharField(max_length=120, verbose_name='set by')),
                ('at', models.DateTimeField(verbose_name='set at')),
            ],
            options={
                'verbose_name': 'post',
                'ordering': ['-seq'],
                'indexes': [models.Index(fields=['username', '-effective', '-seq'], name='tables_post_standing')],
            },
        ),
        migrations.CreateModel(
            name='Practice',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('course', models.JSONField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('dealer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='practices', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ProposalEnd',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('outcome', models.CharField(max_length=10)),
                ('proposed_by', models.CharField(max_length=40)),
                ('ended_by', models.CharField(blank=True, max_length=40)),
                ('text', models.CharField(blank=True, max_length=500, verbose_name='why')),
                ('by', models.CharField(max_length=120, verbose_name='ended by')),
                ('at', models.DateTimeField(verbose_name='ended at')),
                ('proposal', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='end', to='tables.proposal')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('outcome__in', ('approved', 'declined')), _negated=True), models.Q(('ended_by', models.F('proposed_by')), _negated=True), _connector='OR'), name='tables_proposalend_by_two'), models.CheckConstraint(condition=models.Q(('outcome__in', ('approved', 'decided', 'declined', 'withdrawn', 'expired'))), name='tables_proposalend_outcome'), models.CheckConstraint(condition=models.Q(models.Q(('outcome', 'decided'), _negated=True), ('ended_by', models.F('proposed_by')), _connector='OR'), name='tables_proposalend_by_one')],
            },
        ),
        migrations.CreateModel(
            name='SeriesRetirement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(unique=True)),
                ('slip', models.CharField(max_length=32)),
                ('last_day', models.DateField(verbose_name='redeemed up to')),
                ('at', models.DateTimeField(verbose_name='retired at')),
                ('series', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='retirement', to='tables.chipseries')),
            ],
            options={
                'verbose_name': 'retirement of a series',
            },
        ),
        migrations.CreateModel(
            name='ServiceToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ident', models.CharField(max_length=10, unique=True)),
                ('kept', models.CharField(max_length=256)),
                ('until', models.DateTimeField(verbose_name='good until')),
                ('made_by', models.CharField(max_length=120)),
                ('made_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tokens', to='tables.serviceaccount')),
            ],
            options={
                'ordering': ['-made_at', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='Certificate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField(unique=True)),
                ('seq', models.BigIntegerField(unique=True)),
                ('game', models.CharField(max_length=20)),
                ('rules_version', models.CharField(max_length=64)),
                ('answers_right', models.IntegerField()),
                ('answers_asked', models.IntegerField()),
                ('signed_as', models.CharField(max_length=120)),
                ('on_day', models.DateField()),
                ('valid_through', models.DateField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('dealer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='certificates', to=settings.AUTH_USER_MODEL)),
                ('signed_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('practice', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to='tables.practice')),
            ],
            options={
                'ordering': ['-number'],
                'constraints': [models.CheckConstraint(condition=models.Q(('signed_by', models.F('dealer')), _negated=True), name='tables_certificate_by_two'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='tables_certificate_number')],
            },
        ),
        migrations.CreateModel(
            name='PracticeAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.IntegerField()),
                ('answer', models.CharField(max_length=20)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('practice', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='tables.practice')),
            ],
            options={
                'ordering': ['practice', 'number'],
                'constraints': [models.UniqueConstraint(fields=('practice', 'number'), name='tables_practiceanswer_once')],
            },
        ),
        migrations.CreateModel(
            name='EmergencyCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('made_at', models.DateTimeField(auto_now_add=True)),
                ('operator', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='emergency_code', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='Passkey',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('credential', models.CharField(max_length=1400, unique=True)),
                ('public_key', models.TextField()),
                ('sign_count', models.BigIntegerField()),
                ('registered_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('is_active', models.BooleanField(default=True)),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='passkeys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['registered_at'],
            },
        ),
        migrations.CreateModel(
            name='OneTimeCode',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('secret', models.CharField(max_length=8)),
                ('asked_at', models.DateTimeField()),
                ('asked_seq', models.BigIntegerField(unique=True)),
                ('first', models.CharField(max_length=256)),
                ('confirmed_seq', models.BigIntegerField(null=True, unique=True)),
                ('second', models.CharField(blank=True, max_length=256)),
                ('until', models.DateTimeField(null=True)),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('confirmed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='codes', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['asked_at'],
                'constraints': [models.UniqueConstraint(fields=('staff', 'secret'), name='tables_onetimecode_one'), models.CheckConstraint(condition=models.Q(('confirmed_by', None), models.Q(('confirmed_by', models.F('staff')), _negated=True), ('asked_by', models.F('staff')), _connector='OR'), name='tables_onetimecode_not_the_owner')],
            },
        ),
        migrations.CreateModel(
            name='SecretVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('secret', models.CharField(max_length=8)),
                ('seq', models.BigIntegerField(null=True, unique=True)),
                ('kept', models.CharField(blank=True, max_length=256)),
                ('at', models.DateTimeField()),
                ('staff', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='versions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-at', '-pk'],
                'indexes': [models.Index(fields=['staff', 'secret', 'at'], name='tables_secretversion_latest')],
            },
        ),
        migrations.CreateModel(
            name='Verification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('through_seq', models.BigIntegerField()),
                ('head_hash', models.BinaryField(max_length=32)),
                ('rounds', models.BigIntegerField()),
                ('transfers', models.BigIntegerField()),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='verifications', to='ledger.book')),
            ],
            options={
                'indexes': [models.Index(fields=['book', '-through_seq'], name='tables_verification_latest')],
            },
        ),
        migrations.CreateModel(
            name='ShoeAudit',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shoe', models.IntegerField()),
                ('begun_seq', models.BigIntegerField()),
                ('ended_seq', models.BigIntegerField()),
                ('begun_at', models.DateTimeField()),
                ('ended_at', models.DateTimeField(db_index=True)),
                ('rounds', models.JSONField()),
                ('seats', models.JSONField()),
                ('staked_cents', models.BigIntegerField()),
                ('worth', models.DecimalField(decimal_places=0, max_digits=60)),
                ('spread', models.DecimalField(decimal_places=0, max_digits=60)),
                ('squares', models.DecimalField(decimal_places=0, max_digits=60)),
                ('crossed', models.DecimalField(decimal_places=0, max_digits=60)),
                ('crossed_spread', models.DecimalField(decimal_places=0, max_digits=60)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('book', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='shoe_audits', to='ledger.book')),
                ('wager', models.CharField(db_default='main', default='main', max_length=40)),
            ],
            options={
                'verbose_name': 'shoe audit',
                'constraints': [models.CheckConstraint(condition=models.Q(('begun_seq__lt', models.F('ended_seq'))), name='tables_shoeaudit_in_order'), models.UniqueConstraint(fields=('book', 'ended_seq', 'wager'), name='tables_shoeaudit_once'), models.UniqueConstraint(fields=('book', 'begun_seq', 'wager'), name='tables_shoeaudit_begun_once')],
            },
        ),
        migrations.CreateModel(
            name='AlertRepeat',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(null=True)),
                ('round', models.IntegerField(null=True)),
                ('says', models.CharField(max_length=300)),
                ('at', models.DateTimeField()),
                ('alert', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='repeats', to='ledger.alert')),
                ('book', models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.book')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='BookPosition',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(default=0)),
                ('book', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.book')),
            ],
        ),
        migrations.CreateModel(
            name='ShiftWin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('shift', models.DateTimeField()),
                ('seat', models.SmallIntegerField()),
                ('cents', models.BigIntegerField(default=0)),
                ('book', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.book')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('book', 'shift', 'seat'), name='tables_shiftwin_once')],
            },
        ),
        migrations.CreateModel(
            name='FeedBook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField(default=0)),
                ('book', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='ledger.book')),
            ],
        ),
        migrations.CreateModel(
            name='Table',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
                ('game', models.CharField(default='rocket', max_length=20)),
                ('options', models.JSONField(blank=True, default=dict, help_text="The game's options, as in a round record.")),
                ('seats', models.PositiveSmallIntegerField(default=6, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(8)])),
                ('source', models.CharField(choices=[('keyed', 'Real cards, keyed as they are turned'), ('house', 'House shoe, dealt by the system'), ('csm', 'Real cards from a machine that shuffles all the time'), ('batch', 'Real cards from a machine, batch by batch')], default='keyed', max_length=5, verbose_name='shoe')),
                ('unit_cents', models.PositiveBigIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='chip unit (cents)')),
                ('min_cents', models.PositiveBigIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='minimum bet (cents)')),
                ('max_cents', models.PositiveBigIntegerField(validators=[django.core.validators.MinValueValidator(1)], verbose_name='maximum bet (cents)')),
                ('cap_cents', models.PositiveBigIntegerField(blank=True, help_text='The most that one round may cost the house. Empty: none.', null=True, verbose_name="cap on the table's exposure (cents)")),
                ('book', models.OneToOneField(editable=False, on_delete=django.db.models.deletion.PROTECT, to='ledger.book')),
                ('rake_cap_cents', models.PositiveBigIntegerField(blank=True, null=True, verbose_name='most rake of one pot (cents)')),
                ('rake_permille', models.PositiveSmallIntegerField(default=0, validators=[django.core.validators.MaxValueValidator(200)], verbose_name='rake (per mille of a pot)')),
                ('time_charge_cents', models.PositiveBigIntegerField(default=0, verbose_name='time charge per seat and half hour (cents)')),
                ('wager_limits', models.JSONField(blank=True, default=dict, help_text='By wager: the least and the most, in cents.')),
                ('marks_commission', models.BooleanField(default=False, help_text='At the end of the shoe, or when the player leaves. Else it is taken at once.', verbose_name='commission is marked and collected later')),
                ('retired_at', models.DateTimeField(editable=False, null=True, verbose_name='retired since')),
                ('retired_by', models.CharField(blank=True, editable=False, max_length=120)),
                ('retired_why', models.CharField(blank=True, editable=False, max_length=200, verbose_name='why')),
                ('cameras', models.CharField(blank=True, default='', help_text='As the surveillance calls those that look at it: C-12, PTZ 3.', max_length=80)),
                ('own_limits', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, editable=False)),
                ('seat_max_cents', models.PositiveBigIntegerField(blank=True, help_text='Empty: no maximum of a seat.', null=True, verbose_name='most that one seat may bet in a round (cents)')),
                ('kept_minimums', models.JSONField(blank=True, db_default=models.Value({}, models.JSONField()), default=dict, editable=False)),
                ('denominations', models.ManyToManyField(related_name='tables', to='tables.denomination')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='HouseShoe',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('commitment', models.CharField(max_length=64, unique=True)),
                ('order', models.BinaryField()),
                ('nonce', models.BinaryField()),
                ('shuffled_at', models.DateTimeField(auto_now_add=True)),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='tables.table')),
            ],
        ),
        migrations.CreateModel(
            name='SeatPage',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seat', models.PositiveSmallIntegerField()),
                ('token_digest', models.CharField(max_length=64, unique=True)),
                ('issued_at', models.DateTimeField(auto_now_add=True)),
                ('table', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to='tables.table')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('table', 'seat'), name='tables_seatpage_one_a_seat')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40)),
                ('step', models.SmallIntegerField(default=0)),
                ('key', models.UUIDField(unique=True)),
                ('body', models.JSONField(encoder=django.core.serializers.json.DjangoJSONEncoder)),
                ('at', models.DateTimeField()),
                ('alert', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='ledger.alert')),
                ('channel', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='deliveries', to='tables.alertchannel')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(fields=('name', 'alert', 'step'), name='tables_delivery_once')],
            },
        ),
        migrations.CreateModel(
            name='DeliveryAttempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.SmallIntegerField()),
                ('outcome', models.CharField(choices=[('sent', 'Sent'), ('failed', 'Failed, to be tried again'), ('dead', 'Failed for good')], max_length=8)),
                ('says', models.CharField(max_length=300)),
                ('at', models.DateTimeField()),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='attempts', to='tables.delivery')),
            ],
            options={
                'ordering': ['number'],
                'indexes': [models.Index(condition=models.Q(('outcome', 'dead')), fields=['delivery'], name='tables_deliveryattempt_dead')],
                'constraints': [models.UniqueConstraint(fields=('delivery', 'number'), name='tables_deliveryattempt_once'), models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='tables_deliveryattempt_number')],
            },
        ),
        migrations.CreateModel(
            name='Resending',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seq', models.BigIntegerField()),
                ('after', models.SmallIntegerField()),
                ('by', models.CharField(max_length=120)),
                ('at', models.DateTimeField()),
                ('delivery', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='resendings', to='tables.delivery')),
            ],
            options={
                'ordering': ['after'],
                'constraints': [models.UniqueConstraint(fields=('delivery', 'after'), name='tables_resending_once'), models.CheckConstraint(condition=models.Q(('after__gte', 1)), name='tables_resending_after')],
            },
        ),
        migrations.CreateModel(
            name='Terminal',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=40, unique=True)),
                ('token_digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('enrolled_at', models.DateTimeField(auto_now_add=True)),
                ('is_active', models.BooleanField(default=True, verbose_name='enrolled')),
                ('enrolled_by', models.ForeignKey(editable=False, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('table', models.ForeignKey(blank=True, help_text='Empty: any table.', null=True, on_delete=django.db.models.deletion.PROTECT, to='tables.table')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
    ]
