"""What a table without rounds won or lost is known by its counts: then it moves between players and rack."""

import importlib

from django.db import migrations

POTS = importlib.import_module("ledger.migrations.0004_pot_tables")
BEFORE = importlib.import_module("ledger.migrations.0022_cash").MOVEMENTS
MOVEMENTS = [*BEFORE, "table_win:players>rack", "table_loss:rack>players"]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0024_void_rounds")]

    operations = [migrations.RunSQL(POTS.closed(MOVEMENTS), POTS.closed(BEFORE))]
