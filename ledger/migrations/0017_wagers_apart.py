"""Wagers that lie apart at a seat: a place for each on the layout, and how chips come to it and go."""

import importlib

from django.db import migrations, models

POTS = importlib.import_module("ledger.migrations.0004_pot_tables")
BEFORE = importlib.import_module("ledger.migrations.0005_chip_cycle").MOVEMENTS
MOVEMENTS = [*BEFORE, "win:rack>layout", "reversal:layout>rack"]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0016_short_bodies")]

    operations = [
        migrations.AddField(
            model_name="account", name="wager", field=models.CharField(blank=True, max_length=24, null=True)
        ),
        migrations.RemoveConstraint(model_name="account", name="ledger_account_place"),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.UniqueConstraint(
                fields=["book", "place", "seat", "wager"], nulls_distinct=False, name="ledger_account_place"
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                name="ledger_account_wager_on_layout",
                condition=models.Q(("wager", None), models.Q(("place", "layout"), ("seat__isnull", False)), _connector="OR"),
            ),
        ),
        migrations.RunSQL(POTS.closed(MOVEMENTS), POTS.closed(BEFORE)),
    ]
