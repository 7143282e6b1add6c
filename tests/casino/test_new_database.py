"""A database that is not ready is one sentence, and `migrate` alone makes it one that works."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from casino.embedded.servers import BASE_DIR, ServerSet
from tests.templates import database, environment
from tests.tiers import Tier, belongs_to


@pytest.fixture
@belongs_to(Tier.TRIALS)
def new_database(database_server: ServerSet) -> Iterator[dict[str, str]]:
    """An environment with a database in which nothing is yet."""
    name = f"test_{os.getpid()}_new"
    with database(name):
        yield environment(name)


def manage(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_what_is_not_migrated_says_so_and_what_is_works(new_database: dict[str, str]) -> None:
    """Harm: a newcomer meets a traceback, or "permission denied" after having done what the first one asked for."""
    early = manage(new_database, "verify")
    assert early.returncode == 1
    assert early.stderr.startswith("The database is not ready for this version: run `manage.py migrate` as its owner.")
    assert early.stderr.count("\n") <= 4
    assert manage(new_database, "migrate", "--verbosity", "0").returncode == 0
    assert manage(new_database, "verify").returncode == 0
    assert manage(new_database, "grants", "--check").returncode == 0
