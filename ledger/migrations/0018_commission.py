"""Commission that was marked at a seat and is collected later: players pay it into the rack."""

import importlib

from django.db import migrations

POTS = importlib.import_module("ledger.migrations.0004_pot_tables")
BEFORE = importlib.import_module("ledger.migrations.0017_wagers_apart").MOVEMENTS
MOVEMENTS = [*BEFORE, "commission:players>rack"]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0017_wagers_apart")]

    operations = [migrations.RunSQL(POTS.closed(MOVEMENTS), POTS.closed(BEFORE))]
