"""Django's migrate command, followed by the grants of the application's role, so that a migrated database is usable at
once."""

from typing import Any

from django.core.management import call_command
from django.core.management.commands import migrate

from ledger.grants import app_role
from ledger.raw_rows import fetch_row


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        looked_only = options["plan"] or options["check_unapplied"]
        part = options["app_label"]  # the list names tables of every app
        if not looked_only and not part and _has_an_application_of_its_own():
            call_command("grants", verbosity=options["verbosity"])


def _has_an_application_of_its_own() -> bool:
    """Whether the application's role exists and is not the current role. Where one role owns and uses the tables, no
    grants apply."""
    return fetch_row("SELECT 1 FROM pg_roles WHERE rolname = %s AND rolname <> current_user", [app_role()]) is not None
