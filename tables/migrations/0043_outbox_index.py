"""An index of the deliveries that wait."""

from django.db import migrations, models

WAITING = models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="tables_delivery_waiting")


class Migration(migrations.Migration):
    atomic = False  # an index that is built concurrently takes transactions of its own
    dependencies = [("tables", "0042_outbox")]

    operations = [
        migrations.RunSQL(
            [
                "DROP INDEX CONCURRENTLY IF EXISTS tables_delivery_waiting",
                "CREATE INDEX CONCURRENTLY tables_delivery_waiting ON tables_delivery (due_at)"
                " WHERE due_at IS NOT NULL",
            ],
            ["DROP INDEX CONCURRENTLY IF EXISTS tables_delivery_waiting"],
            state_operations=[migrations.AddIndex("delivery", WAITING)],
        ),
    ]
