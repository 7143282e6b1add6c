"""The privileges of the application's database role: granted from deploy/grants.sql, and compared with it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

ALLOW_LIST = Path("deploy", "grants.sql")


class Privilege(NamedTuple):
    """A privilege of the role on a database object."""

    on: str
    may: str

    def __str__(self) -> str:
        return f"{self.may} on {self.on}"


def app_role() -> str:
    role: str = settings.CASINO_DB_APP_ROLE
    return role


def apply_grants(cursor: CursorWrapper, role: str | None = None) -> None:
    """Grant the role exactly the privileges in deploy/grants.sql and revoke all others. Run as the owner, in a
    transaction."""
    role = role or app_role()
    script = (Path(settings.BASE_DIR) / ALLOW_LIST).read_text()
    quote = connection.ops.quote_name
    literal = "'" + role.replace("'", "''") + "'"
    # The file uses psql's syntax for variables, so that it also runs in psql.
    cursor.execute(script.replace(":'app_role'", literal).replace(':"app_role"', quote(role)))


def wrong_privileges(role: str | None = None) -> Iterator[str]:
    """The role's privileges beyond or below the allow-list, and powers that no REVOKE can take from it, one sentence
    for each."""
    role = role or app_role()
    with connection.cursor() as cursor:
        yield from irrevocable_powers(cursor, role)
        # Apply the list, compare, and roll back: the file itself defines the expected privileges, and nothing changes.
        with transaction.atomic():
            present = _privileges(cursor, role)
            apply_grants(cursor, role)
            allowed = _privileges(cursor, role)
            transaction.set_rollback(True)
    for privilege in sorted(present - allowed):
        yield f"{role} has {privilege}, which is not on the list"
    for privilege in sorted(allowed - present):
        yield f"{role} lacks {privilege}"


PRIVILEGES = """
    WITH relation AS (
        SELECT c.oid, n.nspname || '.' || c.relname AS name, c.relkind
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema')
    SELECT name, may FROM relation, unnest(%(table)s::text[]) AS may
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND has_table_privilege(%(role)s, oid, may)
    UNION ALL
    SELECT name || '.' || attname, may FROM relation, pg_attribute, unnest(%(column)s::text[]) AS may
    WHERE attrelid = oid AND attnum > 0 AND NOT attisdropped AND relkind IN ('r', 'p', 'v', 'm', 'f')
        AND has_column_privilege(%(role)s, oid, attnum, may) AND NOT has_table_privilege(%(role)s, oid, may)
    UNION ALL
    SELECT name, may FROM relation, unnest(ARRAY['USAGE', 'SELECT', 'UPDATE']) AS may
    WHERE CASE WHEN relkind = 'S' THEN has_sequence_privilege(%(role)s, oid, may) END
    UNION ALL
    SELECT 'schema ' || nspname, may FROM pg_namespace, unnest(ARRAY['USAGE', 'CREATE']) AS may
    WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' AND has_schema_privilege(%(role)s, oid, may)
    UNION ALL
    SELECT 'the database', may FROM unnest(ARRAY['CONNECT', 'CREATE', 'TEMPORARY']) AS may
    WHERE has_database_privilege(%(role)s, current_database(), may)
    UNION ALL
    SELECT 'routine ' || p.oid::regprocedure, 'EXECUTE' FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND has_function_privilege(%(role)s, p.oid, 'EXECUTE')
    UNION ALL
    SELECT 'objects created later', privilege_type FROM pg_default_acl, aclexplode(defaclacl) AS acl
    WHERE acl.grantee IN (0, (SELECT oid FROM pg_roles WHERE rolname = %(role)s)) AND defaclobjtype = 'r'
"""


def _privileges(cursor: CursorWrapper, role: str) -> set[Privilege]:
    table = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    cursor.execute("SELECT current_setting('server_version_num')::int")
    if cursor.fetchone()[0] >= 170000:
        table.append("MAINTAIN")
    column = ["SELECT", "INSERT", "UPDATE", "REFERENCES"]
    cursor.execute(PRIVILEGES, {"role": role, "table": table, "column": column})
    return {Privilege(*row) for row in cursor.fetchall()}


# Attributes, memberships and ownership give a role full access, and revoking privileges does not remove them.
IRREVOCABLE = """
    SELECT 'is ' || what FROM pg_roles,
        LATERAL (VALUES (rolsuper, 'a superuser'), (rolcreaterole, 'allowed to create roles'),
            (rolreplication, 'allowed to replicate'), (rolbypassrls, 'allowed to bypass row security')
        ) AS attribute (so, what)
    WHERE rolname = %(role)s AND so
    UNION ALL
    SELECT 'is a member of ' || roleid::regrole FROM pg_auth_members WHERE member = %(role)s::regrole
    UNION ALL
    SELECT 'owns ' || n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE relowner = %(role)s::regrole AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND n.nspname !~ '^pg_'
    UNION ALL
    SELECT 'owns the schema ' || nspname FROM pg_namespace WHERE nspowner = %(role)s::regrole AND nspname !~ '^pg_temp'
    UNION ALL
    SELECT 'owns the database' FROM pg_database WHERE datname = current_database() AND datdba = %(role)s::regrole
    UNION ALL
    SELECT 'may switch off triggers and foreign keys'
    WHERE has_parameter_privilege(%(role)s, 'session_replication_role', 'SET')
"""


def irrevocable_powers(cursor: CursorWrapper, role: str) -> list[str]:
    """Attributes, memberships and ownerships of the role that revoking privileges cannot remove, one sentence for
    each."""
    cursor.execute(IRREVOCABLE, {"role": role})
    return [f"{role} {clause}" for (clause,) in cursor.fetchall()]
