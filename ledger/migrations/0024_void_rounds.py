"""Small indexes on rounds that were made void, by entry and by round: reports count rounds without them.

Nearly all entries are inputs of rounds; they have no row for those.
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
        migrations.AddIndex(
            model_name="logentry",
            index=models.Index(
                fields=["book", "round"],
                condition=models.Q(subject="round", kind="voided"),
                name="ledger_logentry_voidround",
            ),
        ),
    ]
