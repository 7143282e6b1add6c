"""The parts that a site may do without, in a process of a site that switched them off."""

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from casino.embedded.servers import BASE_DIR
from ledger import shape
from ledger.grants import apply_grants
from tests.database import as_owner, rollback

OFF = {"ADVANTAGE_ANALYSIS": "no", "HEAD_OFFICE_APP": "no"}
PARTS = ("tables.maths.advantage", "casino.office", "tables.edge.bettors", "tables.edge.rulings")
PARTS += ("tables.edge.distributed_simulation", "dealer_ui.reports.penetration", "dealer_ui.reports.shoe_audits")

PROBE = """
import json, sys, django
django.setup()
from django.core.management import call_command
from django.urls import get_resolver
from casino.celery import app
import casino.asgi, tables.audit.watch
app.loader.import_default_modules()
from dealer_ui.navigation import MENU
from dealer_ui.accounts.first_steps import STEPS
names = [f"{space}:{name}" for space, (_, inner) in get_resolver().namespace_dict.items() for name in inner.reverse_dict
    if isinstance(name, str)]
call_command("makemigrations", check=True, dry_run=True, verbosity=0)
print(json.dumps({
    "modules": sorted(sys.modules),
    "tasks": sorted(app.tasks),
    "scheduled": sorted(entry["task"] for entry in app.conf.beat_schedule.values()),
    "plans": [plan.task for plan in tables.audit.watch.PLANS],
    "links": [link.view for part in MENU for link in part.links],
    "steps": [step.link for steps in STEPS.values() for step in steps],
    "names": names,
}))
"""


def site(**environment: str) -> dict[str, Any]:
    """What a process of a site has of pages, tasks and modules."""
    fixed = {"DJANGO_SETTINGS_MODULE": "casino.settings", "SECRET_KEY": "x" * 50, "CASINO_ENV": "demo"}
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("CASINO_")}
    probe = subprocess.run(
        [sys.executable, "-c", PROBE], env=inherited | fixed | environment, cwd=BASE_DIR, capture_output=True, text=True
    )
    assert probe.returncode == 0, probe.stderr
    return dict(json.loads(probe.stdout))


def test_of_a_part_that_is_off_nothing_is_imported_shown_or_scheduled() -> None:
    """Harm: a site that may not have software that analyses card counting still runs it; or a link of the menu leads to
    an error, or beat schedules a task that no worker knows; or an upgrade wants to delete tables."""
    off = site(**OFF)
    assert [module for module in off["modules"] if module.startswith(PARTS)] == []
    assert "tables.edge.spreading.turn" not in off["tasks"]
    assert [task for task in off["tasks"] + off["scheduled"] if "office" in task] == []
    assert "audit_shoes" not in off["plans"]
    gone = {"pit:shoes", "pit:shoes-csv", "pit:shoe", "pit:shoe-csv", "pit:penetration", "pit:penetration-csv"}
    assert gone.isdisjoint(off["links"] + off["steps"] + off["names"])
    assert {"pit:reports", "pit:float"} <= {*off["names"]}, "their neighbours are there"


def test_both_parts_are_on_unless_switched_off() -> None:
    """Harm: an upgrade takes away the audits of shoes, or a head office receives no more days."""
    on = site()
    assert {"casino.office.tasks.verify_arrivals", "tables.edge.spreading.turn"} <= {*on["tasks"]}
    assert "audit_shoes" in on["plans"]
    assert {"pit:shoes", "pit:penetration"} <= {*on["names"]}
    assert {"pit:shoes"} <= {*on["links"]} & {*on["steps"]}


def test_a_head_office_needs_its_app() -> None:
    """Harm: a head office starts without the pages that receive its sites' days, and they are lost unnoticed."""
    with pytest.raises(AssertionError, match="HEAD_OFFICE_APP is off: CASINO_ROLE may only be house"):
        site(CASINO_ROLE="head_office", HEAD_OFFICE_APP="no")


@pytest.mark.django_db(transaction=True)
def test_without_the_head_offices_tables_grants_and_shape_are_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a new site without the app cannot grant its role anything, or doctor reports missing tables for ever."""
    apps = [app for app in settings.INSTALLED_APPS if app != "casino.office"]
    with as_owner(), rollback(), connection.cursor() as cursor:
        cursor.execute(
            r"SELECT string_agg(relname, ', ') FROM pg_class WHERE relname LIKE 'office\_%' AND relkind = 'r'"
        )
        cursor.execute(f"DROP TABLE {cursor.fetchone()[0]} CASCADE")
        apply_grants(cursor)
        assert [fault for fault in shape.faults() if "office_" in fault]
        monkeypatch.setattr(shape.apps, "is_installed", apps.__contains__)
        assert [fault for fault in shape.faults() if "office_" in fault] == []
    assert list(shape.faults()) == [], "where the tables remain from before"
