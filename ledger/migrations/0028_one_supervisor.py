"""The supervisor who requested a fill or credit may also sign for it at the table; nobody else signs a slip twice."""

from django.db import migrations, models
from django.db.models import Q

ONCE = {"signer": "confirmed", "confirmer": "requested"}
"""The step that each of the two constraints leaves out: between them, one person may sign these two and no others."""


def _constraint(name: str, stage: str) -> migrations.AddConstraint:
    constraint = models.UniqueConstraint(
        fields=["slip", "username"], condition=~Q(stage=stage), name=f"ledger_signature_{name}_once"
    )
    return migrations.AddConstraint("slipsignature", constraint)


class Migration(migrations.Migration):
    atomic = False  # an index that is built beside the work of a house takes transactions of its own
    dependencies = [("ledger", "0027_heads_outside")]

    operations = [
        *(
            migrations.RunSQL(
                [
                    f"DROP INDEX CONCURRENTLY IF EXISTS ledger_signature_{name}_once",
                    f"CREATE UNIQUE INDEX CONCURRENTLY ledger_signature_{name}_once"
                    f" ON ledger_slipsignature (slip_id, username) WHERE NOT stage = '{stage}'",
                ],
                [f"DROP INDEX CONCURRENTLY IF EXISTS ledger_signature_{name}_once"],
                state_operations=[_constraint(name, stage)],
            )
            for name, stage in ONCE.items()
        ),
        migrations.RemoveConstraint("slipsignature", "ledger_signature_person_once"),
    ]
