"""`python -m tests.replay APP=MIGRATION ...`: migrate an empty database as sites of earlier releases were migrated.

They had no squashed migrations: each migration that a squashed one replaces is run by itself.
"""

import os
import sys
from collections.abc import Iterable

import django
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

Target = tuple[str, str]
"""The label of an app, and the name of its last migration to run."""


def main(arguments: Iterable[str]) -> None:
    """Run as the owner of the tables. Django's own apps are migrated as well."""
    os.environ["CASINO_DB_ROLE"] = "owner"
    django.setup()
    replay([(app, name) for app, _, name in (argument.partition("=") for argument in arguments)])


def replay(targets: Iterable[Target]) -> None:
    """Migrate to the targets: first to those that squashed migrations replace, then to later ones."""
    executor = MigrationExecutor(connection)
    squashed = executor.loader.replacements.values()
    replaced = {target for migration in squashed for target in migration.replaces}
    ours = {app for app, _ in replaced}
    of_django = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] not in ours]
    later = [target for target in targets if target not in replaced]
    executor.loader.replace_migrations = False
    executor.loader.build_graph()
    executor.migrate([*(target for target in targets if target in replaced), *of_django])
    MigrationExecutor(connection).migrate(later)


if __name__ == "__main__":
    main(sys.argv[1:])
