#!/usr/bin/env python3
"""Django's command line; without DATABASE_URL it runs against the embedded servers."""

import gc
import os
import sys
from contextlib import nullcontext

# These change the schema or the privileges, which the application's own role may not.
OWNER_COMMANDS = {"migrate", "grants", "makemigrations", "sqlmigrate", "sqlflush", "flush", "dbshell"}
# These neither read nor write a database, so they start no server.
SERVERLESS = {"check", "help", "version", "--help", "--version", "collectstatic", "findstatic", "startapp"}


def main() -> None:
    # Set-up makes 200,000 objects that stay: by default, the collector would look at all of them several times over.
    gc.set_threshold(100_000, 20, 50)
    if sys.argv[1:2] == ["replay"]:
        # The engine alone judges records: without settings and apps this is up in a tenth of the time.
        from tables.management.commands.replay import Command

        return Command().run_from_argv(sys.argv)

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "casino.settings")
    command = sys.argv[1] if len(sys.argv) > 1 else "help"
    if command in OWNER_COMMANDS:
        os.environ.setdefault("CASINO_DB_ROLE", "owner")

    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import ProgrammingError
    from psycopg.errors import InsufficientPrivilege, UndefinedColumn, UndefinedTable

    from casino.embedded import servers

    lone = command in SERVERLESS or "--help" in sys.argv or "DATABASE_URL" in os.environ
    try:
        with nullcontext() if lone else servers.provide():
            execute_from_command_line(sys.argv)
    except ImproperlyConfigured as fault:
        sys.exit(f"The settings are not right: {fault}")
    except servers.CannotStart as reason:
        sys.exit(str(reason))
    except ProgrammingError as error:
        if not isinstance(error.__cause__, (UndefinedTable, UndefinedColumn, InsufficientPrivilege)):
            raise
        sys.exit(f"The database is not ready for this version: run `manage.py migrate` as its owner. ({error})")


if __name__ == "__main__":
    main()
