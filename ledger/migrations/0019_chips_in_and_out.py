"""Chips destroyed, lapsed, found, claimed and counterfeit: how they move, and the series of their slips."""

import importlib

from django.db import migrations, models

POTS = importlib.import_module("ledger.migrations.0004_pot_tables")
BEFORE = importlib.import_module("ledger.migrations.0018_commission").MOVEMENTS
MOVEMENTS = [
    *BEFORE,
    "destroy:vault>issue",
    "lapse:players>issue",
    "found:players>cage",
    "claimed:cage>players",
    "counterfeit:cage>over_short",
    "counterfeit:rack>over_short",
    "reversal:issue>players",
    "reversal:issue>vault",
]
SERIES = (
    "opener", "closer", "rack", "fill", "credit", "drop", "correction", "withdrawal", "deposit", "cage",
    "receipt", "destruction", "retirement", "lapse", "found", "claim", "counterfeit", "forgery",
)  # fmt: skip


class Migration(migrations.Migration):
    dependencies = [("ledger", "0018_commission")]

    operations = [
        migrations.RemoveConstraint(model_name="slip", name="ledger_slip_known_series"),
        migrations.AddConstraint(
            model_name="slip",
            constraint=models.CheckConstraint(
                condition=models.Q(("series__in", SERIES)), name="ledger_slip_known_series"
            ),
        ),
        migrations.RunSQL(POTS.closed(MOVEMENTS), POTS.closed(BEFORE)),
    ]
