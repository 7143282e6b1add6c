"""Alerts by rules: one is set, one is escalated; a channel is set; and the surveillance marks a moment."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch
from uuid import UUID

from ledger import alerts
from tables.alerts import bookmarks, channels, delivery, log_followers, outbox, rules_in_force
from tables.alerts.alert_types import DEFAULTS
from tables.alerts.channels import ChannelDraft
from tables.alerts.models import Delivery, DeliveryAttempt, Outcome
from tables.models import Staff, Table


def happens(house: Any, table: Table) -> None:
    """All of it at one table; nothing leaves the house."""
    watcher = house.vera
    rules_in_force.set_rule(replace(DEFAULTS["large_bet"], threshold=1_000, tables=(table.name,)), by=house.boss)
    channels.set_channel(ChannelDraft("Night desk", "mail", "night.desk@example.com", is_on=False), by=house.olga)
    log_followers.follow()
    dead_letter(house.olga, house.boss)
    raised = alerts.raise_alert(table.book, "test", "Somebody leans over the layout")
    alerts.escalate(raised, 1, 2, ["pit_boss", "surveillance"])
    bookmarks.mark(table, raised.at, "Leans over", by=watcher)
    alerts.acknowledge(raised, house.boss.signature, "A glass was knocked over")


def dead_letter(olga: Staff, boss: Staff) -> None:
    """A test failed for good; the channel's secret is made another, and the test is sent again. No worker is asked."""
    channel = channels.set_channel(
        ChannelDraft("Desk", "webhook", "https://alerts.example.com/casino", "s" * 32), by=olga
    )
    letter = Delivery.objects.create(
        channel=channel, name=channel.name, key=UUID(int=7), body={"event": "test", "message": "A test"}, at=channel.at
    )
    DeliveryAttempt.objects.create(
        delivery=letter, number=1, outcome=Outcome.DEAD, says="the receiver answered 410", at=channel.at
    )
    channels.set_channel(ChannelDraft("Desk", "webhook", "https://alerts.example.com/casino", "t" * 32), by=olga)
    with patch.object(outbox, "queue"):
        delivery.send_again([letter], by=boss)
    DeliveryAttempt.objects.create(
        delivery=letter, number=2, outcome=Outcome.SENT, says="The receiver answered 200", at=channel.at
    )
    channels.set_channel(ChannelDraft("Desk", "webhook", "https://alerts.example.com/casino", is_on=False), by=olga)
