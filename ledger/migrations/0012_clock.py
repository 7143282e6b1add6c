"""The house's clock is the database's, and no entry is of a moment that is still to come, whoever writes it.

A host, a script, or a mistake of ours cannot date an entry ahead and so pin all that follows. The minute is for a clock
that was set back a little while a book's last entry is a little older. What is there already is not looked at: a book
that was poisoned before is mended by a further entry (``manage.py clock mend``).
"""

from django.db import migrations

CLOCK = "CREATE FUNCTION ledger_now() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN clock_timestamp()"
GUARD = (
    "ALTER TABLE ledger_logentry ADD CONSTRAINT ledger_logentry_not_to_come"
    " CHECK (at <= ledger_now() + interval '1 minute') NOT VALID"
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0011_removals")]

    operations = [
        migrations.RunSQL(CLOCK, "DROP FUNCTION ledger_now()"),
        migrations.RunSQL(GUARD, "ALTER TABLE ledger_logentry DROP CONSTRAINT ledger_logentry_not_to_come"),
    ]
