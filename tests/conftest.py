"""What every test may ask for: the database as the application sees it, other roles, real processes, a browser."""

import contextlib
import math
import os
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection
from django.test import TransactionTestCase
from django.utils import timezone

from casino import celery  # noqa: F401 -- tasks that a test asks for go to the tests' broker
from casino.embedded import APPLICATION, OWNER, SUPERUSER
from casino.statics import collect_if_changed
from dealer_ui import exports
from tables.audit import watch
from tables.day import house_clock
from tests import chromium, processes
from tests.clock import Clock, travelling
from tests.settings import HOUSE


def pytest_sessionstart(session: pytest.Session) -> None:
    """Pages name their static files by content, so those must have been collected before the first is drawn."""
    if not hasattr(session.config, "workerinput"):
        collect_if_changed()


@pytest.fixture(autouse=True)
def _clock_of_this_house(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a process keeps for a minute is no other test's, nor is reading it what a test counts."""
    monkeypatch.setattr(house_clock, "_read", (math.inf, "UTC"))
    monkeypatch.setattr(watch, "lookout", watch.Lookout(looked=math.inf))
    yield
    timezone.deactivate()


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Both clocks, to be set; right again after the test."""
    with travelling() as found:
        yield found


@pytest.fixture(autouse=True)
def _downloads_of_this_test() -> None:
    """A download that a test began and never read is under way for nobody else."""
    exports.under_way.clear()


# --- Roles ----------------------------------------------------------------------------------------------------


def become(role: str) -> None:
    connection.close()
    connection.settings_dict["USER"] = role


@contextlib.contextmanager
def as_owner() -> Iterator[None]:
    """Outside a transaction only: Django's own connection as the owner, for what the application may not do."""
    become(OWNER)
    try:
        yield
    finally:
        become(APPLICATION)


def drop_dead_runs() -> None:
    """A run that was killed left its database behind; its number says whether it is still running."""
    with psycopg.connect(HOUSE.database_url(SUPERUSER, "postgres"), autocommit=True) as admin:
        for (name,) in admin.execute(r"SELECT datname FROM pg_database WHERE datname ~ '^test_\d+'").fetchall():
            try:
                os.kill(int(name.split("_")[1]), 0)
            except ProcessLookupError:
                admin.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """tests/settings.py already named a database for each process, xdist's workers included."""
    drop_dead_runs()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """The owner has migrated; from here on everything runs as the application's role."""
    with django_db_blocker.unblock():
        become(APPLICATION)
        yield
        become(OWNER)


@pytest.fixture(scope="session", autouse=True)
def _truncate_as_owner() -> Iterator[None]:
    """Between transactional tests Django empties every table, which the application's role rightly may not."""
    plain = TransactionTestCase._fixture_teardown

    def teardown(case: TransactionTestCase) -> None:
        with as_owner():
            plain(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", teardown)
        yield


def database_url(role: str) -> str:
    return HOUSE.database_url(role, connection.settings_dict["NAME"])


@pytest.fixture
def app_connection(transactional_db: None) -> Iterator[psycopg.Connection]:
    """A connection of its own as casino_app; what it leaves uncommitted is rolled back."""
    with psycopg.connect(database_url(APPLICATION)) as found:
        yield found
        found.rollback()


@pytest.fixture
def owner_connection(transactional_db: None) -> Iterator[psycopg.Connection]:
    with psycopg.connect(database_url(OWNER), autocommit=True) as found:
        yield found


@pytest.fixture
def superuser_connection(transactional_db: None) -> Iterator[psycopg.Connection]:
    """For playing the intruder who owns the server. Autocommit."""
    with psycopg.connect(database_url(SUPERUSER), autocommit=True) as found:
        yield found


# --- Processes ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def process_environment(django_db_setup: None) -> dict[str, str]:
    """What a process needs to work on this run's database as the application does."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CASINO_", "PYTEST_"))}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "casino.settings",
        "DATABASE_URL": database_url(APPLICATION),
        "DATABASE_OWNER_URL": database_url(OWNER),
        "REDIS_URL": settings.REDIS_URL,
        "SECRET_KEY": settings.SECRET_KEY,
        "PEPPER_FILE": settings.PEPPER_FILE,
        "CASINO_ENV": "demo",
        "SIGN_INS_AT_ONCE": "100000",
        "WEB_PROCESSES": "1",
    }


@pytest.fixture(scope="session")
def _web(process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[processes.Web]:
    web = processes.web_process(process_environment, tmp_path_factory.mktemp("web") / "log")
    yield web
    web.stop()


@pytest.fixture
def web(_web: processes.Web, transactional_db: None) -> processes.Web:
    """A real uvicorn on this test's database: `web.url`, `web.kill()`, `web.restart()`, `web.output()`."""
    if not _web.alive:
        _web.start()
    return _web


@pytest.fixture(scope="session")
def _worker(
    process_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[processes.Served]:
    worker = processes.worker_process(process_environment, tmp_path_factory.mktemp("worker") / "log")
    yield worker
    worker.stop()


@pytest.fixture
def celery_worker_process(_worker: processes.Served, transactional_db: None) -> processes.Served:
    """A real Celery worker on this test's database and broker; `task.delay()` in a test reaches it."""
    if not _worker.alive:
        _worker.start()
    return _worker


# --- Browser --------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    executable = None if "CASINO_BROWSER_ERROR" in os.environ else chromium.find()
    if executable is None:
        pytest.fail(os.environ.get("CASINO_BROWSER_ERROR", "No Chromium here: ./run test installs one."))
    # Playwright keeps an event loop running in this thread, in which Django would refuse the ORM to the tests.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=executable, args=list(chromium.ARGUMENTS))
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Any, web: processes.Web) -> Iterator[Any]:
    """A fresh page whose addresses are relative to the `web` process."""
    context = browser.new_context(base_url=web.url)
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()
