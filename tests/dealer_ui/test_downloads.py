"""Every list of the screens as a file, row by row, of one small site: the columns and cells that spreadsheets read.

``RECORD_DOWNLOADS=1`` writes the record again.
"""

import json
import os
import re
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse
from django.utils import timezone

from ledger import alerts, discrepancies
from ledger.models import Finding, LogEntry, Run, RunEnd
from tables.alerts import bookmarks
from tables.cage import chip_series, key_register
from tables.disputes import correction_records
from tables.edge import shoe_audit
from tables.floor import recorder
from tables.floor.inputs import CloseDispute, OpenDispute, ProposeCorrection, RuleDispute, SignCorrection
from tables.log.entries.custody import HouseKeySet
from tables.models import Staff
from tables.roles import PERMISSIONS, Role
from tables.training import certificates
from tests import floor, load
from tests.floor import Hand, dealt
from tests.tables.training.test_practice import finished

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

RECORD = Path(__file__).with_name("downloads.json")
CHANGING = (
    (r"\b[0-9a-f]{64}\b", "<hash>"),
    (r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b", "<id>"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d\d:\d\d|Z)?", "<time>"),
    (r"\d{4}-\d\d-\d\d", "<day>"),
    (r"\b20\d\d\b", "<year>"),
    (r"\b([Aa]lert|[Bb]ookmark|[Dd]iscrepancy|Device) \d+", r"\1 <number>"),
    (r'filename="(float|shoe)-\d+', r'filename="\1-<table>'),
)
"""Patterns of values that differ between two runs, and their placeholders."""
CHANGING_IN = {
    "limit-history-csv": (r"\d\d:\d\d:\d\d", "<clock>"),
    "pit:alerts-csv": (r"^\d+,", "<number>,"),
    "pit:bookmarks-csv": (r"^\d+,", "<number>,"),
    "pit:dealer-hours-csv": (r"^(dora,.*),\d+,0,0,\d+$", r"\1,<minutes>,0,0,<minutes>"),
    "pit:reports-csv": (r",\d+$", ",<seconds>"),
    "pit:discrepancies-csv": (r"^\d+,", "<number>,"),
    "pit:log-csv": (r"^\d.*", "<entry>"),
    "practice:certificates-csv": (r",(\d+),\1,(.*),\d+,$", r",<right>,<asked>,\2,<practice>,"),
    "pit:exceptions-dealers-csv": (r"^dora.*", "<dealer>"),
}
HOURLY = {"pit:cash-csv": r"(Day|Swing|Grave),"}
"""Rows that are left out, by list: a row for each shift that has begun by the hour of the run."""
ROWS = 25
"""Rows of a list that are compared."""
READERS = (Role.AUDITOR, Role.OPERATOR, Role.CAGE_MANAGER, Role.PIT_BOSS)
"""The roles that read the lists: each list by the first one that has its permissions."""
RECORD_AGAIN = "RECORD_DOWNLOADS=1 ./run test tests/dealer_ui/test_downloads.py; then read the diff of downloads.json"


def downloads(patterns: Sequence[Any], prefix: str = "") -> Iterator[tuple[str, URLPattern]]:
    """Each address of a list as a file, by its name."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from downloads(pattern.url_patterns, f"{prefix}{pattern.namespace}:" if pattern.namespace else prefix)
        elif str(pattern.name).endswith("-csv") and not prefix.startswith("admin:"):
            yield f"{prefix}{pattern.name}", pattern


def enter(hand: Hand, by: Staff, entered: Any) -> None:
    recorder.record(hand.table, entered, by=by, key=uuid.uuid4(), expected_seq=None)


def site() -> Hand:
    """A table with a round, a dispute, a correction, alerts, a bookmark and a finished shoe."""
    dealer, boss = dealt(options={"decks": 6})
    dealer.bets(seat1=2_000, seat4=5_000)
    dealer.cards(8, 4, 10, 8, 7, 10)
    dealer.pay()
    second = floor.staff(Role.PIT_BOSS, "bruno", "201")
    enter(dealer, boss.by, OpenDispute(1, "=1+1", "Seat 1", seat=1, claim_cents=50_000))
    enter(dealer, boss.by, RuleDispute(1, "stands", "x"))
    enter(dealer, boss.by, CloseDispute(1))
    enter(dealer, boss.by, ProposeCorrection(1, 1, 0, "Passed over"))
    enter(dealer, second, SignCorrection(correction_records.of()[0].correction.slip))
    alert = alerts.raise_alert(dealer.table.book, "negative", "=HYPERLINK(1)")
    alerts.acknowledge(alert, boss.by.signature, "+1")
    watcher = floor.staff(Role.SURVEILLANCE, "sven")
    bookmarks.mark(dealer.table, timezone.now() - timedelta(seconds=1), "A late bet", by=watcher, round=1, camera="7")
    dealer("retire_shoe")
    shoe_audit.audit_shoes()
    Hand(dealer.table, boss.by)("close_table")
    registers(dealer, by=floor.staff(Role.OPERATOR, "olga"))
    return dealer


def registers(hand: Hand, *, by: Staff) -> None:
    """A row for each list that an evening at a table leaves empty."""
    now = timezone.now()
    case = discrepancies.open_(hand.table.book, "variance", 200, "Over by 2", key="a test", involved=["dora"])
    Finding.objects.create(discrepancy=case, username="olga", by="olga", at=now, text="A chip lay below")
    discrepancies.open_(hand.table.book, "variance", -100, "Short by 1", key="another")
    RunEnd.objects.create(run=Run.objects.create(task="watch", slot=now, begun_at=now), at=now, found=2)
    Run.objects.create(task="prove", slot=now, begun_at=now)
    chip_series.add("Alpha", "Chips & Co", 2026, [100, 500], by=by)
    key_register.set_key(HouseKeySet(name="B1", lock="box_release", dual=False, in_use=True), by=by)
    certificates.certify(finished(hand.by), by=floor.staff(Role.PIT_BOSS, "bo", "305"))


def reader_of(pattern: URLPattern) -> Role:
    """The role that reads a list."""
    report = getattr(pattern.callback, "report", None)
    permissions = set(report.permission if report else ())
    return next(role for role in READERS if permissions <= PERMISSIONS[role])


def lines(name: str, pattern: URLPattern, hand: Hand, viewer: Client) -> list[str]:
    """A download as its reader gets it, with the name of its file, without the values that differ between two runs."""
    shoe = LogEntry.objects.filter(book=hand.table.book, kind="shuffled").latest("seq")
    arguments = {"pk": hand.table.pk, "number": 1, "seq": shoe.seq}
    answer = viewer.get(reverse(name, kwargs={key: arguments[key] for key in pattern.pattern.converters}))
    assert answer.status_code == 200, name
    rows = load.whole(answer).decode("utf-8-sig").splitlines()
    rows = [row for row in rows if not re.match(HOURLY.get(name, "$^"), row)][: ROWS + 1]
    return [stable(name, line) for line in (answer["Content-Disposition"], *rows)]


def stable(name: str, line: str) -> str:
    for changing, placeholder in (CHANGING_IN.get(name, ("$^", "")), *CHANGING):
        line = re.sub(changing, placeholder, line)
    return line


def test_every_list_has_its_columns_and_cells() -> None:
    """Harm: a column moves or a cell is written otherwise, and the spreadsheets of a site sum the wrong figures."""
    hand = site()
    viewers = {role: floor.client(floor.staff(role, f"{role} 1")) for role in READERS}
    lists = {
        name: lines(name, pattern, hand, viewers[reader_of(pattern)])
        for name, pattern in sorted(downloads(get_resolver().url_patterns), key=lambda named: named[0])
    }
    if os.environ.get("RECORD_DOWNLOADS"):
        RECORD.write_text(json.dumps(lists, indent=1, ensure_ascii=False) + "\n")
    recorded = json.loads(RECORD.read_text())
    assert lists.keys() == recorded.keys(), RECORD_AGAIN
    rows = [(name, *pair) for name in lists for pair in zip_longest(lists[name], recorded[name])]
    assert [(name, row, record) for name, row, record in rows if row != record] == [], RECORD_AGAIN
