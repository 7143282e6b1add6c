"""Two small indexes that reports and the search of the log go by: inputs taken back, and who wrote what beside rounds.

Nearly all entries are inputs of rounds; neither index has a row for those.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0020_surveillance")]

    operations = [
        migrations.AddIndex(
            model_name="logentry",
            index=models.Index(
                fields=["book", "seq"],
                condition=models.Q(subject="round", kind="take_back"),
                name="ledger_logentry_back",
            ),
        ),
        migrations.AddIndex(
            model_name="logentry",
            index=models.Index(
                fields=["book", "by", "seq"],
                opclasses=["int4_ops", "text_pattern_ops", "int4_ops"],
                condition=~models.Q(subject="round"),
                name="ledger_logentry_by",
            ),
        ),
    ]
