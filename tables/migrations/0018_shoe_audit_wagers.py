from django.db import migrations, models


class Migration(migrations.Migration):
    """A row for each wager of a shoe; the rows that there are tell of the one bet of their game."""

    dependencies = [
        ('tables', '0017_commission'),
    ]

    operations = [
        migrations.AddField(
            model_name='shoeaudit',
            name='wager',
            field=models.CharField(db_default='main', default='main', max_length=40),
        ),
        migrations.RemoveConstraint(model_name='shoeaudit', name='tables_shoeaudit_once'),
        migrations.RemoveConstraint(model_name='shoeaudit', name='tables_shoeaudit_begun_once'),
        migrations.AddConstraint(
            model_name='shoeaudit',
            constraint=models.UniqueConstraint(fields=('book', 'ended_seq', 'wager'), name='tables_shoeaudit_once'),
        ),
        migrations.AddConstraint(
            model_name='shoeaudit',
            constraint=models.UniqueConstraint(
                fields=('book', 'begun_seq', 'wager'), name='tables_shoeaudit_begun_once'
            ),
        ),
    ]
