"""The allow-list: what the application's role may do is what deploy/grants.sql says, and a difference is named."""

import re
from collections.abc import Iterator
from io import StringIO

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from casino.embedded.servers import APPLICATION, OWNER, SUPERUSER
from ledger.grants import ALLOW_LIST, apply_grants, wrong_privileges
from tests.database import become, rollback


@pytest.fixture
def as_role(request: pytest.FixtureRequest, transactional_db: None) -> Iterator[None]:
    """In one transaction as another role (owner, or superuser), undone afterwards."""
    become(getattr(request, "param", OWNER))
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    become(APPLICATION)


def execute(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_the_application_may_do_what_the_list_says(as_role: None) -> None:
    """Harm prevented: an installation whose role may more, or less, than this repository says."""
    assert list(wrong_privileges()) == []
    call_command("grants", check=True, verbosity=0)
    call_command("grants", verbosity=0)
    assert list(wrong_privileges()) == []


def test_an_excess_privilege_is_named(as_role: None) -> None:
    """Harm: a hasty manual GRANT opens the log to edits and remains; or the check silently repairs a fault that should
    be investigated."""
    for grant, wrong in (
        ("GRANT UPDATE ON ledger_logentry TO casino_app", "UPDATE on public.ledger_logentry"),
        ("GRANT UPDATE (kind) ON ledger_logentry TO casino_app", "UPDATE on public.ledger_logentry.kind"),
        ("GRANT DELETE ON ledger_transfer TO PUBLIC", "DELETE on public.ledger_transfer"),
        ("GRANT TRUNCATE ON tables_staff TO casino_app", "TRUNCATE on public.tables_staff"),
        ("GRANT TRIGGER ON ledger_transfer TO casino_app", "TRIGGER on public.ledger_transfer"),
        ("GRANT UPDATE (name) ON ledger_book TO casino_app", "UPDATE on public.ledger_book.name"),
        ("GRANT INSERT ON django_migrations TO casino_app", "INSERT on public.django_migrations"),
        ("GRANT CREATE ON SCHEMA public TO PUBLIC", "CREATE on schema public"),
        ("GRANT UPDATE ON SEQUENCE ledger_transfer_id_seq TO casino_app", "UPDATE on public.ledger_transfer_id_seq"),
        (
            "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT ALL ON TABLES TO casino_app",
            "DELETE on objects created later",
        ),
        ("CREATE VIEW peek AS SELECT 1; GRANT SELECT ON peek TO casino_app", "SELECT on public.peek"),
        ("CREATE FUNCTION f() RETURNS int SECURITY DEFINER LANGUAGE sql AS 'SELECT 1'", "EXECUTE on routine f()"),
        ("CREATE TABLE ledger_new (id int); GRANT SELECT ON ledger_new TO casino_app", "SELECT on public.ledger_new"),
    ):
        with rollback():
            execute(grant)
            assert f"casino_app has {wrong}, which is not on the list" in list(wrong_privileges())
    execute("GRANT UPDATE ON ledger_logentry TO casino_app")
    output = StringIO()
    with pytest.raises(CommandError, match="privileges are not as"):
        call_command("grants", check=True, stderr=output)
    assert "UPDATE on public.ledger_logentry" in output.getvalue()
    assert list(wrong_privileges()) != [], "the check repairs nothing in silence"


def test_applying_the_list_takes_back_what_was_given_by_hand(as_role: None) -> None:
    """Harm prevented: a list that only ever adds."""
    execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO casino_app, PUBLIC")
    assert list(wrong_privileges())
    with connection.cursor() as cursor:
        apply_grants(cursor)
    assert list(wrong_privileges()) == []


def test_a_privilege_too_few_is_named(as_role: None) -> None:
    """Harm prevented: a table that cannot deal because of a forgotten grant, found out at the table."""
    execute("REVOKE INSERT ON ledger_transfer FROM casino_app")
    assert list(wrong_privileges()) == ["casino_app lacks INSERT on public.ledger_transfer"]


@pytest.mark.parametrize("as_role", [SUPERUSER], indirect=True)
def test_powers_that_no_revoke_removes_are_named(as_role: None) -> None:
    """Harm: all guards are in place, and a role has the power to bypass them."""
    for change, wrong in (
        ("ALTER TABLE ledger_alert OWNER TO casino_app", "casino_app owns public.ledger_alert"),
        ("ALTER SCHEMA public OWNER TO casino_app", "casino_app owns the schema public"),
        ("ALTER ROLE casino_app BYPASSRLS", "casino_app is allowed to bypass row security"),
        ("ALTER ROLE casino_app CREATEROLE", "casino_app is allowed to create roles"),
        ("ALTER ROLE casino_app SUPERUSER", "casino_app is a superuser"),
        ("GRANT casino_owner TO casino_app", "casino_app is a member of casino_owner"),
        (
            "GRANT SET ON PARAMETER session_replication_role TO casino_app",
            "casino_app may switch off triggers and foreign keys",
        ),
    ):
        with rollback():
            execute(change)
            assert wrong in list(wrong_privileges()), change


def test_without_the_right_to_grant_it_says_so(transactional_db: None) -> None:
    """Harm prevented: a command that seems to have granted and has not."""
    with pytest.raises(CommandError, match="run this as the owner"):
        call_command("grants")


def test_without_the_role_it_says_so(as_role: None, settings: object) -> None:
    """Harm prevented: a traceback on the first day of an installation."""
    settings.CASINO_DB_APP_ROLE = "nobody_here"
    with pytest.raises(CommandError, match="there is no database role nobody_here"):
        call_command("grants")


def test_every_table_of_the_ledger_is_on_the_list() -> None:
    """Harm prevented: a new table of the ledger about which nobody decided what may be done to it."""
    listed = set(re.findall(r"ledger_\w+", (settings.BASE_DIR / ALLOW_LIST).read_text()))
    assert {model._meta.db_table for model in apps.get_app_config("ledger").get_models()} <= listed
