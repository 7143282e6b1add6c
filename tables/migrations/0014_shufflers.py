"""Two more sources of cards: machines that shuffle all the time, or batch by batch. Limits of single wagers."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tables", "0013_rows_taken_over")]

    operations = [
        migrations.AddField(
            model_name="table",
            name="wager_limits",
            field=models.JSONField(blank=True, default=dict, help_text="By wager: the least and the most, in cents."),
        ),
        migrations.AlterField(
            model_name="table",
            name="source",
            field=models.CharField(
                choices=[
                    ("keyed", "Real cards, keyed as they are turned"),
                    ("house", "House shoe, dealt by the system"),
                    ("csm", "Real cards from a machine that shuffles all the time"),
                    ("batch", "Real cards from a machine, batch by batch"),
                ],
                default="keyed",
                max_length=5,
                verbose_name="shoe",
            ),
        ),
    ]
