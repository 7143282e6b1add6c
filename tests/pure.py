"""The pure half: what the import contract in pyproject.toml keeps from knowing a database has its tests where no server
is needed. Which folders these are is read from that contract, and so is which tests: nothing lists them."""

import tomllib
from pathlib import Path

import pytest

from tests import servers

PROJECT = Path(__file__).resolve().parent.parent
CONTRACT = "What anybody can prove with, without the house, is pure"
SERVERS = frozenset({"django_db_setup", "db", "transactional_db", "database_server", "broker", "browser"})
"""Fixtures that need a server or a browser; whatever builds on one has it in its closure."""


def folders() -> list[str]:
    """The folder of tests of each pure package or module that has one: `tables.log` has tests/tables/log."""
    contracts = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [modules] = (contract["source_modules"] for contract in contracts if contract["name"] == CONTRACT)
    test_folders = []
    for module in modules:
        places = [Path("tests", *module.split(".")), Path("tests", *module.split(".")[1:])]
        test_folders += [str(place) for place in places if (PROJECT / place).is_dir()][:1]
    return test_folders


def needs_server(item: pytest.Item) -> bool:
    return item.get_closest_marker("django_db") is not None or not SERVERS.isdisjoint(getattr(item, "fixturenames", ()))


def select(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs a server; and see to it that nothing else starts one."""
    servers.forbid()
    left_out = [item for item in items if needs_server(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if not needs_server(item)]
