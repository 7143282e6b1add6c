"""The register of keys, and when drop boxes are due."""


from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('tables', '0024_own_secrets'),
    ]

    operations = [
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
    ]
