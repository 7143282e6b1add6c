"""The series of slips with which the vault's chips are counted, and a key is reported lost."""

from django.db import migrations, models

SERIES = (
    "opener", "closer", "rack", "fill", "credit", "drop", "correction", "withdrawal", "deposit", "cage", "vault",
    "receipt", "destruction", "retirement", "lapse", "found", "claim", "counterfeit", "forgery",
    "emergency", "bankin", "bankout", "imprest", "imprestback", "cagecash", "vaultcash", "note", "key", "dualkey",
    "keyback", "keylost",
)  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("ledger", "0022_cash")]

    operations = [
        migrations.RemoveConstraint(model_name="slip", name="ledger_slip_known_series"),
        migrations.AddConstraint(
            model_name="slip",
            constraint=models.CheckConstraint(
                condition=models.Q(("series__in", SERIES)), name="ledger_slip_known_series"
            ),
        ),
    ]
