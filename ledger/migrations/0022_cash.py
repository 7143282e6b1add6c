"""The vault's cash and the account at a bank outside: places, movements, and the slips about them, keys and boxes."""

import importlib

from django.db import migrations, models

POTS = importlib.import_module("ledger.migrations.0004_pot_tables")
BEFORE = importlib.import_module("ledger.migrations.0019_chips_in_and_out").MOVEMENTS
FORWARD = [
    "bank_in:depositary>vault_cash",
    "bank_out:vault_cash>depositary",
    "imprest_out:vault_cash>bank",
    "imprest_in:bank>vault_cash",
    "note_in:cash_over_short>bank",
    "cash_over:cash_over_short>bank",
    "cash_over:cash_over_short>vault_cash",
    "cash_short:bank>cash_over_short",
    "cash_short:vault_cash>cash_over_short",
]
BACK = sorted({"reversal:" + ">".join(move.split(":")[1].split(">")[::-1]) for move in FORWARD})
MOVEMENTS = [*BEFORE, *FORWARD, *(move for move in BACK if move not in BEFORE)]
SHORT = importlib.import_module("ledger.migrations.0016_short_bodies").ACCOUNTS
SHARED_BEFORE = SHORT[SHORT.index("CREATE OR REPLACE FUNCTION ledger_transfer_belongs") :]
"""The function that lets transfers of every book touch the places that the whole house shares, by their names."""
SHARED = SHARED_BEFORE.replace("'cash', 'bank')", "'cash', 'bank', 'vault_cash', 'depositary')")
# A house that is there already gets the new places; what it holds lies where it lay, in the cage's cash.
PLACES = """
    INSERT INTO ledger_account (book_id, place) SELECT book.id, place.name
    FROM ledger_book AS book, unnest(ARRAY['vault_cash', 'depositary', 'cash_over_short']) AS place (name)
    WHERE book.name = 'house' ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0021_log_search'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='account',
            name='ledger_account_one_house',
        ),
        migrations.RemoveConstraint(
            model_name='account',
            name='ledger_account_known_place',
        ),
        migrations.RemoveConstraint(
            model_name='slip',
            name='ledger_slip_known_series',
        ),
        migrations.AlterField(
            model_name='account',
            name='place',
            field=models.CharField(choices=[('issue', 'issue'), ('vault', 'vault'), ('cage', 'cage'), ('transit', 'transit'), ('rack', 'rack'), ('layout', 'layout'), ('players', 'players'), ('over_short', 'over short'), ('seat', 'seat'), ('pot', 'pot'), ('cash', 'cash'), ('drop_box', 'drop box'), ('boxes', 'boxes'), ('bank', 'bank'), ('cash_over_short', 'cash over short'), ('vault_cash', 'vault cash'), ('depositary', 'depositary')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.UniqueConstraint(condition=models.Q(('place__in', ['bank', 'cage', 'cash', 'depositary', 'issue', 'vault', 'vault_cash'])), fields=('place',), name='ledger_account_one_house'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('place__in', ('issue', 'vault', 'cage', 'transit', 'rack', 'layout', 'players', 'over_short', 'seat', 'pot', 'cash', 'drop_box', 'boxes', 'bank', 'cash_over_short', 'vault_cash', 'depositary'))), name='ledger_account_known_place'),
        ),
        migrations.AddConstraint(
            model_name='slip',
            constraint=models.CheckConstraint(condition=models.Q(('series__in', ('opener', 'closer', 'rack', 'fill', 'credit', 'drop', 'correction', 'withdrawal', 'deposit', 'cage', 'receipt', 'destruction', 'retirement', 'lapse', 'found', 'claim', 'counterfeit', 'forgery', 'emergency', 'bankin', 'bankout', 'imprest', 'imprestback', 'cagecash', 'vaultcash', 'note', 'key', 'dualkey', 'keyback'))), name='ledger_slip_known_series'),
        ),
        migrations.RunSQL(POTS.closed(MOVEMENTS), POTS.closed(BEFORE)),
        migrations.RunSQL(SHARED, SHARED_BEFORE),
        migrations.RunSQL(PLACES, migrations.RunSQL.noop),
    ]
