"""An entry's time is a moment that everybody can read: no infinity, and no year beyond the calendar."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_guards")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE ledger_logentry ADD CONSTRAINT ledger_logentry_moment"
            " CHECK (at BETWEEN '0001-01-02 00:00:00+00' AND '9999-12-30 00:00:00+00')",
            "ALTER TABLE ledger_logentry DROP CONSTRAINT ledger_logentry_moment",
        )
    ]
