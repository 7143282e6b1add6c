"""Lists that begin with the newest: slips of one series, and what auditors asked for among the runs of the watch."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("ledger", "0025_tables_by_count")]

    operations = [
        migrations.AddIndex(
            "run", models.Index(fields=["id"], condition=Q(task__startswith="audit "), name="ledger_run_asked")
        ),
        migrations.AddIndex("slip", models.Index(fields=["series", "id"], name="ledger_slip_newest")),
    ]
