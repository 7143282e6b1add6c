"""Alerts by rules: one is set, one is escalated; a channel is set; and the surveillance marks a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ledger import alerts
from tables.alerting import bookmarks, channels, following, rule_book
from tables.alerting.channels import Asked
from tables.alerting.rules import DEFAULTS
from tables.models import Table


def happens(house: Any, table: Table) -> None:
    """All of it at one table; nothing leaves the house."""
    watcher = house.vera
    rule_book.set_rule(replace(DEFAULTS["large_bet"], threshold=1_000, tables=(table.name,)), by=house.boss)
    channels.set_channel(Asked("Night desk", "mail", "night.desk@example.com", is_on=False), by=house.olga)
    following.follow()
    raised = alerts.raise_alert(table.book, "test", "Somebody leans over the layout")
    alerts.escalate(raised, 1, 2, ["pit_boss", "surveillance"])
    bookmarks.mark(table, raised.at, "Leans over", by=watcher)
    alerts.acknowledge(raised, house.boss.signature, "A glass was knocked over")
