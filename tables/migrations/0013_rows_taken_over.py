"""Every row beside the log is what the log says from here on. A house from before has rows of which it does not say all.

Once, as such a house is upgraded, an entry for each kind says what there is, and the proof goes on from it. What was
changed behind the log before that is not found out by this; a new house has nothing to take over, and gets no entry.
"""

from hashlib import sha256

from django.db import connection, migrations, transaction

from ledger import site_log, findings, log
from ledger.log import Draft
from ledger.models import HOUSE


def take_over(apps, editor):
    """Rows are read as they are at this migration, whatever columns later ones have."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM ledger_book WHERE name = %s AND head_seq > 0)", [HOUSE])
        if not cursor.fetchone()[0]:
            return
        head = site_log.lock()
        for rows, content in [*_kept(cursor), *_summed(cursor)]:
            head = log.append(head, Draft("rows", "taken_over", findings.BY, {"rows": rows} | content))


def _kept(cursor):
    """Rows that come, go and change: each as it is, secrets by their digests."""
    staff = _read(cursor, "SELECT username, name, role, badge, is_active, password, pin FROM tables_staff")
    yield "staff", {
        "kept": {
            username: {
                "name": name, "role": role, "badge": badge, "is_active": active,
                "password": _digest(password), "pin": _digest(pin),
            }
            for username, name, role, badge, active, password, pin in staff
        }
    }  # fmt: skip
    codes = _read(
        cursor,
        "SELECT s.username, c.digest FROM tables_emergencycode AS c JOIN tables_staff AS s ON s.id = c.operator_id",
    )
    yield "emergency_codes", {"kept": {username: {"code": _digest(digest)} for username, digest in codes}}
    terminals = _read(
        cursor,
        "SELECT d.name, t.name, d.token_digest, s.username, d.is_active FROM tables_terminal AS d"
        " LEFT JOIN tables_table AS t ON t.id = d.table_id JOIN tables_staff AS s ON s.id = d.enrolled_by_id",
    )
    yield "terminals", {
        "kept": {
            name: {"table": table, "device": _digest(token), "enrolled_by": by, "is_active": active}
            for name, table, token, by, active in terminals
        }
    }
    yield "tables", {"kept": [name for (name,) in _read(cursor, "SELECT name FROM tables_table ORDER BY name")]}
    chips = _read(cursor, "SELECT value_cents, colour, face FROM tables_denomination")
    kept = {f"{value} cents": {"colour": colour, "face": face} for value, colour, face in chips}
    yield "chips", {"kept": kept}
    pages = _read(
        cursor, "SELECT t.name, p.seat, p.token_digest FROM tables_seatpage AS p JOIN tables_table AS t ON t.id = table_id"
    )
    yield "seat_pages", {"kept": {f"{table}, seat {seat}": {"page": _digest(token)} for table, seat, token in pages}}


def _summed(cursor):
    """Rows that are written once: how many, and the digest of all."""
    for one in findings.JOURNALS:
        [(through,)] = _read(cursor, f"SELECT max(id) FROM {one.table}")
        if through:
            yield one.table, findings.sum_of(one, through)


def _read(cursor, statement):
    cursor.execute(statement)
    return cursor.fetchall()


def _digest(kept):
    return sha256(kept.encode()).hexdigest() if kept else ""


class Migration(migrations.Migration):
    dependencies = [("tables", "0012_sign_in_counts"), ("ledger", "0014_notices")]
    operations = [migrations.RunPython(take_over, migrations.RunPython.noop)]
