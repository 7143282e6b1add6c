"""The database's schema: tables, constraints, triggers, functions and grants, compared with the result of the
migrations.

``shape.txt`` has one line per object of a freshly migrated database; a test compares it with one. Each missing,
different or additional object is named, so that a removed guard is noticed. Role names are replaced: the application's
role is written as `the application`, and the owner's privileges are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from django.apps import apps
from django.db import DatabaseError, connection, transaction

from ledger.grants import app_role, irrevocable_powers
from ledger.raw_rows import fetch_row, fetch_rows

FILE: Final = Path(__file__).with_name("shape.txt")
APPLICATION: Final = "the application"

Shape = Mapping[str, str]
"""The definition of each object by its type and name."""

# Only the project's schemas, without objects that belong to an extension.
_OURS: Final = """
    ours AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
    relation AS (
        SELECT c.* FROM pg_class AS c WHERE c.relnamespace IN (SELECT oid FROM ours) AND NOT EXISTS (
            SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND deptype = 'e'))
"""

_OBJECTS: Final = f"""
    WITH {_OURS}
    SELECT 'table ' || relname, concat_ws(' ', CASE relkind WHEN 'r' THEN 'table' ELSE 'of kind ' || relkind::text END,
        CASE relpersistence WHEN 'p' THEN 'permanent' ELSE 'not permanent' END,
        CASE WHEN relrowsecurity OR relforcerowsecurity THEN 'with row security' END)
    FROM relation WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
    UNION ALL
    SELECT 'column ' || relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN 'not null' END, nullif(attidentity::text, ''), nullif(attgenerated::text, ''),
        pg_get_expr(adbin, adrelid))
    FROM relation JOIN pg_attribute ON attrelid = relation.oid AND attnum > 0 AND NOT attisdropped
    LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum WHERE relkind IN ('r', 'p')
    UNION ALL
    SELECT 'constraint ' || conname || ' of ' || relname,
        pg_get_constraintdef(c.oid) FROM pg_constraint AS c JOIN relation ON relation.oid = conrelid
    WHERE contype IN ('c', 'f', 'p', 'u', 'x')
    UNION ALL
    SELECT 'index ' || i.relname || ' of ' || t.relname, pg_get_indexdef(i.oid) || CASE WHEN indisvalid THEN '' ELSE
        ' INVALID' END
    FROM pg_index JOIN relation AS i ON i.oid = indexrelid JOIN relation AS t ON t.oid = indrelid
    UNION ALL
    SELECT 'trigger ' || tgname || ' of ' || relname, pg_get_triggerdef(g.oid) || CASE tgenabled WHEN 'O' THEN ''
        WHEN 'D' THEN ' DISABLED' ELSE ' ENABLED ' || tgenabled::text END
    FROM pg_trigger AS g JOIN relation ON relation.oid = tgrelid WHERE NOT tgisinternal
    UNION ALL
    SELECT 'rule ' || rulename || ' of ' || relname, pg_get_ruledef(r.oid)
    FROM pg_rewrite AS r JOIN relation ON relation.oid = ev_class WHERE rulename <> '_RETURN'
    UNION ALL
    SELECT 'policy ' || polname || ' of ' || relname, coalesce(pg_get_expr(polqual, polrelid), 'true')
    FROM pg_policy JOIN relation ON relation.oid = polrelid
    UNION ALL
    SELECT 'function ' || p.oid::regprocedure, pg_get_functiondef(p.oid) FROM pg_proc AS p
    WHERE pronamespace IN (SELECT oid FROM ours) AND prokind IN ('f', 'p') AND NOT EXISTS (
        SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e')
    UNION ALL
    SELECT 'event trigger ' || evtname, evtenabled::text FROM pg_event_trigger
"""  # noqa: S608

_GRANTS: Final = f"""
    WITH {_OURS}, acl AS (
        SELECT 'table ' || relname AS on_what, relowner AS owner, relacl AS acl FROM relation
            WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
        UNION ALL SELECT 'sequence ' || relname, relowner, relacl FROM relation WHERE relkind = 'S'
        UNION ALL SELECT 'column ' || relname || '.' || attname, relowner, attacl
            FROM relation JOIN pg_attribute ON attrelid = relation.oid
        UNION ALL SELECT 'function ' || oid::regprocedure, proowner, coalesce(proacl, acldefault('f', proowner))
            FROM pg_proc WHERE pronamespace IN (SELECT oid FROM ours)
        UNION ALL SELECT 'schema ' || nspname, nspowner, nspacl FROM pg_namespace WHERE oid IN (SELECT oid FROM ours)
        UNION ALL SELECT 'objects created later', defaclrole, defaclacl FROM pg_default_acl)
    SELECT 'grant of ' || string_agg(DISTINCT may.privilege_type, ', ' ORDER BY may.privilege_type) || ' on ' || on_what
            || ' to ' || CASE may.grantee WHEN 0 THEN 'everybody' ELSE coalesce(rolname, 'nobody') END,
        CASE WHEN bool_or(may.is_grantable) THEN 'may be passed on' ELSE 'granted' END
    FROM acl CROSS JOIN LATERAL aclexplode(acl.acl) AS may LEFT JOIN pg_roles AS role ON role.oid = may.grantee
    WHERE may.grantee <> acl.owner AND coalesce(rolname, '') !~ '^pg_'
    GROUP BY on_what, may.grantee, rolname
"""  # noqa: S608

# PostgreSQL's internal triggers enforce foreign keys, and one setting disables all triggers at once.
_SWITCHED_OFF: Final = """
    SELECT 'the trigger ' || tgname || ' of ' || tgrelid::regclass || ' is disabled: it keeps ' || coalesce(
        (SELECT conname FROM pg_constraint WHERE oid = tgconstraint), 'a foreign key')
    FROM pg_trigger WHERE tgisinternal AND tgenabled <> 'O'
    UNION ALL
    SELECT 'triggers and foreign keys are switched off in this connection'
    WHERE current_setting('session_replication_role') <> 'origin'
    UNION ALL
    SELECT 'triggers and foreign keys are switched off for ' || CASE WHEN setrole = 0 THEN 'everybody' ELSE
        setrole::regrole::text END
    FROM pg_db_role_setting, unnest(setconfig) AS said
    WHERE said ~ '^session_replication_role=' AND said <> 'session_replication_role=origin'
        AND setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


def present() -> Shape:
    """The schema of the connected database."""
    objects = {name: _in_short(name, definition) for name, definition in fetch_rows(_OBJECTS)}
    objects |= {_without_roles(name): definition for name, definition in fetch_rows(_GRANTS)}
    return dict(sorted(objects.items()))


def due() -> Shape:
    """The schema that the migrations and deploy/grants.sql produce."""
    lines = FILE.read_text().splitlines()
    return dict(line.split(" = ", 1) for line in lines if line)


def spelled(shape: Shape) -> str:
    """The schema in the format of ``shape.txt``."""
    return "".join(f"{name} = {definition}\n" for name, definition in shape.items())


def faults() -> Iterator[str]:
    """The differences between the database and the result of its migrations, one sentence for each."""
    whole, actual = due(), present()
    if not apps.is_installed("casino.office"):
        whole, actual = _without_office(whole), _without_office(actual)
    if _has_one_role():
        whole, actual = _without_grants(whole), _without_grants(actual)
    for name in sorted(whole.keys() | actual.keys()):
        if name not in actual:
            yield f"the {name} is missing"
        elif name not in whole:
            yield f"the {name} is there, and no migration makes it"
        elif not _means_the_same(name, whole[name], actual[name]):
            yield f"the {name} {_changed(whole[name], actual[name])}"
    with connection.cursor() as cursor:
        cursor.execute(_SWITCHED_OFF)
        yield from [sentence for (sentence,) in cursor.fetchall()]
        if not _has_one_role():
            yield from irrevocable_powers(cursor, app_role())


_EXPRESSION: Final = re.compile(
    r"(CHECK |CREATE (?:UNIQUE )?INDEX .* WHERE )(\(.*\))((?: NO INHERIT| NOT VALID| INVALID)*)"
)
"""The condition of a check constraint or of a partial index, with what is written before and after it."""


def _means_the_same(name: str, whole: str, actual: str) -> bool:
    """Whether two definitions are equal, after this database has normalised the conditions in both.

    pg_dump and pg_upgrade parse PostgreSQL's own output again, and the text of the result can differ:
    ``(ARRAY['a'::character varying])::text[]`` becomes ``ARRAY[('a'::character varying)::text]``.
    """
    if whole == actual:
        return True
    parts, others = _EXPRESSION.fullmatch(whole), _EXPRESSION.fullmatch(actual)
    if not parts or not others or parts.group(1, 3) != others.group(1, 3):
        return False
    table = name.rpartition(" of ")[2]
    try:
        return _planned(table, parts[2]) == _planned(table, others[2])
    except DatabaseError:  # of a column that is missing, or of a table that this role may not read
        return False


def _planned(table: str, expression: str) -> str:
    """The expression as the planner prints it. It is an output column, not a WHERE clause: there NULL would count as
    false, while a check constraint accepts it. Nothing is read or written, so this works on a standby."""
    source = connection.ops.quote_name(table)
    explain = f"EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) SELECT {expression} FROM {source}"  # noqa: S608
    # A failed EXPLAIN must not abort the transaction of the caller.
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(explain)
        return str(cursor.fetchone()[0][0]["Plan"]["Output"])


def _changed(whole: str, actual: str) -> str:
    if actual == f"{whole} DISABLED":
        return "is disabled"
    return f"is another: {actual[:200]}"


def _without_office(shape: Shape) -> Shape:
    """Without the objects of the head office's app: where it is off, its tables are absent, or remain from before."""
    return {name: definition for name, definition in shape.items() if not re.search(r"\boffice_", name)}


def _without_grants(shape: Shape) -> Shape:
    return {name: definition for name, definition in shape.items() if not name.startswith("grant of ")}


def _in_short(name: str, definition: str) -> str:
    """A definition in one line; of a function, whose source is long, its SHA-256."""
    line = re.sub(r"\s+", " ", definition).strip()
    return sha256(line.encode()).hexdigest() if name.startswith("function ") else line


def _without_roles(name: str) -> str:
    return re.sub(rf" to {re.escape(app_role())}$", f" to {APPLICATION}", name)


def _has_one_role() -> bool:
    """Whether the application's role owns the tables or does not exist: then no grants are compared."""
    row = fetch_row(
        "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %(role)s) AND NOT EXISTS (SELECT FROM pg_class"
        " WHERE oid = 'ledger_logentry'::regclass AND pg_get_userbyid(relowner) = %(role)s)",
        {"role": app_role()},
    )
    return not row[0]
