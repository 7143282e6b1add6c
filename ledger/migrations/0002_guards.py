"""What Django cannot say: the chain and the chips are held together by the database, whoever writes to it."""

from django.db import migrations

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
    "over:over_short>rack",
    "short:rack>over_short",
    "reversal:cage>issue",
    "reversal:rack>cage",
    "reversal:cage>rack",
    "reversal:players>rack",
    "reversal:players>cage",
    "reversal:cage>players",
    "reversal:layout>players",
    "reversal:rack>layout",
    "reversal:players>layout",
    "reversal:rack>over_short",
    "reversal:over_short>rack",
]

# name, table, definition
CONSTRAINTS = [
    # Targets of the foreign keys below.
    ("ledger_logentry_link", "ledger_logentry", "UNIQUE (book_id, seq, hash)"),
    ("ledger_logentry_counted", "ledger_logentry", "UNIQUE (book_id, seq, legs)"),
    ("ledger_account_known", "ledger_account", "UNIQUE (id, place, scope)"),
    ("ledger_transfer_mirror", "ledger_transfer", "UNIQUE (id, target_id, source_id, amount_cents)"),
    # An entry's hash covers its body and the entry before it, which exists and has the number before.
    ("ledger_logentry_hash", "ledger_logentry", "CHECK (hash = sha256(coalesce(prev_hash, ''::bytea) || body))"),
    ("ledger_logentry_prev", "ledger_logentry",
     "FOREIGN KEY (book_id, prev_seq, prev_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
    ("ledger_logentry_book", "ledger_logentry", "FOREIGN KEY (book_id) REFERENCES ledger_book (id)"),
    # A book's head is an entry of its own; the last one cannot be dropped without it.
    ("ledger_book_head", "ledger_book",
     "FOREIGN KEY (id, head_seq, head_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
    # A transfer belongs to an entry that announced so many: none can be slipped under an old entry.
    ("ledger_transfer_entry", "ledger_transfer",
     "FOREIGN KEY (book_id, seq, legs) REFERENCES ledger_logentry (book_id, seq, legs)"),
    # Its places are those of its accounts, and its accounts are its own book's or the house's.
    ("ledger_transfer_source", "ledger_transfer",
     "FOREIGN KEY (source_id, source_place, source_scope) REFERENCES ledger_account (id, place, scope)"),
    ("ledger_transfer_target", "ledger_transfer",
     "FOREIGN KEY (target_id, target_place, target_scope) REFERENCES ledger_account (id, place, scope)"),
    # One text and one array: thirty comparisons of columns would cost every insert a tenth of its time.
    ("ledger_transfer_closed_list", "ledger_transfer",
     f"CHECK (kind || ':' || source_place || '>' || target_place = ANY (ARRAY{MOVEMENTS}::text[]))"),
    # A reversal moves the same chips back.
    ("ledger_transfer_undoes", "ledger_transfer",
     "FOREIGN KEY (reverses_id, source_id, target_id, amount_cents)"
     " REFERENCES ledger_transfer (id, target_id, source_id, amount_cents)"),
    # A recount is of an entry that is there.
    ("ledger_recount_entry", "ledger_recount",
     "FOREIGN KEY (book_id, through_seq, head_hash) REFERENCES ledger_logentry (book_id, seq, hash)"),
]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]

    operations = [
        migrations.RunSQL(
            f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}",
            f"ALTER TABLE {table} DROP CONSTRAINT {name}",
        )
        for name, table, definition in CONSTRAINTS
    ]
