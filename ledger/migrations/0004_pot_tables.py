"""Places and movements of tables with a pot: chips at a seat, the pot, what the house takes of it."""

import importlib

from django.db import migrations, models

# The closed list of movements, as ledger.chips.MOVEMENTS has it: a test compares the two.
MOVEMENTS = [
    "issue:issue>cage",
    "fill:cage>rack",
    "credit:rack>cage",
    "buy_in:rack>players",
    "sale:cage>players",
    "redeem:players>cage",
    "stake:players>layout",
    "loss:layout>rack",
    "win:rack>players",
    "return:layout>players",
    "sit_down:players>seat",
    "stand_up:seat>players",
    "pay_pot:seat>pot",
    "pay_seat:seat>seat",
    "win_pot:pot>seat",
    "rake:pot>rack",
    "time_charge:seat>rack",
    "over:over_short>rack",
    "short:rack>over_short",
    "reversal:cage>issue",
    "reversal:cage>players",
    "reversal:cage>rack",
    "reversal:layout>players",
    "reversal:over_short>rack",
    "reversal:players>cage",
    "reversal:players>layout",
    "reversal:players>rack",
    "reversal:players>seat",
    "reversal:pot>seat",
    "reversal:rack>cage",
    "reversal:rack>layout",
    "reversal:rack>over_short",
    "reversal:rack>pot",
    "reversal:rack>seat",
    "reversal:seat>players",
    "reversal:seat>pot",
    "reversal:seat>seat",
]
BEFORE = importlib.import_module("ledger.migrations.0002_guards").MOVEMENTS
LIST = "ledger_transfer_closed_list"


def closed(movements):
    """One text and one array: thirty comparisons of columns would cost every insert a tenth of its time."""
    return (
        f"ALTER TABLE ledger_transfer DROP CONSTRAINT {LIST}, ADD CONSTRAINT {LIST}"
        f" CHECK (kind || ':' || source_place || '>' || target_place = ANY (ARRAY{movements}::text[]))"
    )


class Migration(migrations.Migration):

    dependencies = [
        ('ledger', '0003_moments'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='account',
            name='ledger_account_known_place',
        ),
        migrations.RemoveConstraint(
            model_name='account',
            name='ledger_account_seat_on_layout',
        ),
        migrations.AlterField(
            model_name='account',
            name='place',
            field=models.CharField(choices=[('issue', 'issue'), ('cage', 'cage'), ('rack', 'rack'), ('layout', 'layout'), ('players', 'players'), ('drop_box', 'drop box'), ('over_short', 'over short'), ('seat', 'seat'), ('pot', 'pot')], max_length=16),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(('place__in', ('issue', 'cage', 'rack', 'layout', 'players', 'drop_box', 'over_short', 'seat', 'pot'))), name='ledger_account_known_place'),
        ),
        migrations.AddConstraint(
            model_name='account',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('place__in', ['layout', 'seat']), ('seat__gte', 1), ('seat__isnull', False)), models.Q(models.Q(('place__in', ['layout', 'seat']), _negated=True), ('seat', None)), _connector='OR'), name='ledger_account_seat_on_layout'),
        ),
        migrations.RunSQL(closed(MOVEMENTS), closed(BEFORE)),
    ]
