"""The supervisor who requested a fill or credit may also sign for it at the table; nobody else signs a slip twice."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("ledger", "0027_heads_outside")]

    operations = [
        migrations.RemoveConstraint("slipsignature", "ledger_signature_person_once"),
        migrations.AddConstraint(
            "slipsignature",
            models.UniqueConstraint(
                fields=["slip", "username"], condition=~Q(stage="confirmed"), name="ledger_signature_person_once"
            ),
        ),
        migrations.AddConstraint(
            "slipsignature",
            models.UniqueConstraint(
                fields=["slip", "username"], condition=~Q(stage="requested"), name="ledger_signature_confirmer_once"
            ),
        ),
    ]
