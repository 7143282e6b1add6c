"""The whole cycle of a table's chips and cash: the vault, chips on their way, drop boxes, the bank, corrections."""

import importlib

from django.db import migrations, models

# The closed list of movements, as ledger.chips.MOVEMENTS has it: a test compares the two.
MOVEMENTS = [
    "issue:issue>vault",
    "withdraw:vault>cage",
    "deposit:cage>vault",
    "fill_out:cage>transit",
    "fill:transit>rack",
    "credit_out:rack>transit",
    "credit:transit>cage",
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
    "correct_pay:rack>players",
    "correct_take:players>rack",
    "over:over_short>cage",
    "over:over_short>rack",
    "over:over_short>vault",
    "short:cage>over_short",
    "short:rack>over_short",
    "short:vault>over_short",
    "drop:cash>drop_box",
    "box_out:drop_box>boxes",
    "count:boxes>bank",
    "cash_in:cash>bank",
    "cash_out:bank>cash",
    "cash_over:cash_over_short>boxes",
    "cash_short:boxes>cash_over_short",
    "reversal:bank>boxes",
    "reversal:bank>cash",
    "reversal:boxes>cash_over_short",
    "reversal:boxes>drop_box",
    "reversal:cage>over_short",
    "reversal:cage>players",
    "reversal:cage>transit",
    "reversal:cage>vault",
    "reversal:cash>bank",
    "reversal:cash_over_short>boxes",
    "reversal:drop_box>cash",
    "reversal:layout>players",
    "reversal:over_short>cage",
    "reversal:over_short>rack",
    "reversal:over_short>vault",
    "reversal:players>cage",
    "reversal:players>layout",
    "reversal:players>rack",
    "reversal:players>seat",
    "reversal:pot>seat",
    "reversal:rack>layout",
    "reversal:rack>over_short",
    "reversal:rack>players",
    "reversal:rack>pot",
    "reversal:rack>seat",
    "reversal:rack>transit",
    "reversal:seat>players",
    "reversal:seat>pot",
    "reversal:seat>seat",
    "reversal:transit>cage",
    "reversal:transit>rack",
    "reversal:vault>cage",
    "reversal:vault>issue",
    "reversal:vault>over_short",
]
CHOICES = [
    (place, place.replace("_", " "))
    for place in ("issue", "vault", "cage", "transit", "rack", "layout", "players", "over_short", "seat", "pot", "cash", "drop_box", "boxes", "bank", "cash_over_short")
]
BEFORE = importlib.import_module("ledger.migrations.0004_pot_tables")

FOREIGN = {
    "ledger_transfer_source": "FOREIGN KEY (source_id, source_place, source_scope)"
    " REFERENCES ledger_account (id, place, scope)",
    "ledger_transfer_target": "FOREIGN KEY (target_id, target_place, target_scope)"
    " REFERENCES ledger_account (id, place, scope)",
}
KNOWN = "ALTER TABLE ledger_account ADD CONSTRAINT ledger_account_known UNIQUE (id, place, scope)"
TAKE_OFF = [f"ALTER TABLE ledger_transfer DROP CONSTRAINT {name}" for name in FOREIGN] + [
    "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_known"
]
PUT_ON = [KNOWN] + [f"ALTER TABLE ledger_transfer ADD CONSTRAINT {name} {what}" for name, what in FOREIGN.items()]

NEW_PLACES = """
    INSERT INTO ledger_account (book_id, place)
    SELECT b.id, place FROM ledger_book AS b, unnest(
        CASE WHEN b.name = 'house' THEN ARRAY['vault', 'over_short', 'cash', 'bank']
        ELSE ARRAY['transit', 'boxes', 'cash_over_short'] END) AS place
    ON CONFLICT DO NOTHING
"""


def shared(place):
    """Whose accounts a row may name; the house's places are shared by every book."""
    names = ["bank", "cage", "cash", "issue", "vault"]
    return models.GeneratedField(
        db_persist=True,
        expression=models.Case(
            models.When(models.Q((f"{place}__in", names)), then=models.Value(0)),
            default=models.F("book_id"),
            output_field=models.BigIntegerField(),
        ),
        output_field=models.BigIntegerField(),
    )


def refuse_older_chips(apps, schema_editor):
    """Chips came to a rack without a slip before this; no proof could believe them now."""
    old = apps.get_model("ledger", "Transfer").objects.filter(kind__in=["issue", "fill", "credit"])
    if old.exists():
        raise RuntimeError(
            "This data is older than slips for fills and credits, and cannot be carried over: start with an empty"
            " database. A demo starts over with ./run demo --fresh."
        )


class Migration(migrations.Migration):
    # What PostgreSQL computes it cannot compute otherwise from now on: such a column goes and comes again.

    dependencies = [("ledger", "0004_pot_tables")]

    operations = [
        migrations.RunPython(refuse_older_chips, migrations.RunPython.noop),
        migrations.RunSQL(TAKE_OFF, PUT_ON),
        migrations.RemoveConstraint(model_name="account", name="ledger_account_one_house"),
        migrations.RemoveConstraint(model_name="account", name="ledger_account_known_place"),
        migrations.AlterField(
            model_name="account",
            name="place",
            field=models.CharField(choices=CHOICES, max_length=16),
        ),
        migrations.RemoveField(model_name="account", name="scope"),
        migrations.AddField(model_name="account", name="scope", field=shared("place")),
        migrations.RemoveField(model_name="transfer", name="source_scope"),
        migrations.AddField(model_name="transfer", name="source_scope", field=shared("source_place")),
        migrations.RemoveField(model_name="transfer", name="target_scope"),
        migrations.AddField(model_name="transfer", name="target_scope", field=shared("target_place")),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.UniqueConstraint(
                condition=models.Q(("place__in", ["bank", "cage", "cash", "issue", "vault"])),
                fields=("place",),
                name="ledger_account_one_house",
            ),
        ),
        migrations.AddConstraint(
            model_name="account",
            constraint=models.CheckConstraint(
                condition=models.Q(("place__in", tuple(place for place, _ in CHOICES))),
                name="ledger_account_known_place",
            ),
        ),
        migrations.RunSQL(PUT_ON, TAKE_OFF),
        migrations.RunSQL(BEFORE.closed(MOVEMENTS), BEFORE.closed(BEFORE.MOVEMENTS)),
        migrations.RunSQL(NEW_PLACES, migrations.RunSQL.noop),
    ]
