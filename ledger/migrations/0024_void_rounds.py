"""A small index on rounds that were made void: reports count rounds without them.

Nearly all entries are inputs of rounds; it has no row for those.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0023_vault_counts")]

    operations = [
        migrations.AddIndex(
            model_name="logentry",
            index=models.Index(
                fields=["book", "seq"],
                condition=models.Q(subject="round", kind="voided"),
                name="ledger_logentry_void",
            ),
        ),
    ]
