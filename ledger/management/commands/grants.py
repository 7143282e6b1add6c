"""Grant the application's database role the privileges in deploy/grants.sql and revoke all others, or (--check) list
the differences."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import ProgrammingError, connection, transaction

from ledger.grants import app_role, apply_grants, wrong_privileges
from ledger.raw_rows import fetch_row


class Command(BaseCommand):
    help = "Grants the application's database role what deploy/grants.sql lists and nothing else. Run as the owner."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing; exit 1 naming each wrong privilege")

    def handle(self, *args: Any, check: bool, verbosity: int, **options: Any) -> None:
        self._require_role()
        try:
            if check:
                self._check()
            else:
                with transaction.atomic(), connection.cursor() as cursor:
                    apply_grants(cursor)
        except ProgrammingError as refused:
            raise CommandError(f"run this as the owner of the tables, after migrate: {refused}") from refused
        if verbosity:
            self.stdout.write(f"{app_role()} may do what deploy/grants.sql lists and nothing else")

    def _require_role(self) -> None:
        if fetch_row("SELECT 1 FROM pg_roles WHERE rolname = %s", [app_role()]) is None:
            raise CommandError(f"there is no database role {app_role()}: create it, or set CASINO_DB_APP_ROLE")

    def _check(self) -> None:
        if wrong := list(wrong_privileges()):
            for line in wrong:
                self.stderr.write(line)
            raise CommandError(f"{len(wrong)} privileges are not as deploy/grants.sql lists them")
