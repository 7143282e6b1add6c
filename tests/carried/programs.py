"""Programs of a kept house: accounts and their tokens, and a channel that tells the feed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from unittest.mock import patch

from django.utils import timezone

from tables.alerts import channels, outbox, streams
from tables.alerts.channels import ChannelDraft
from tables.approvals import proposals
from tables.models import Staff, Table
from tables.setup import service_accounts
from tables.setup.service_accounts import Access
from tables.staff import service_tokens


def at_work(operator: Staff, table: Table) -> None:
    """One has its token renewed and its old one ended, one is revoked, and one expires in the night."""
    display = service_accounts.set_account("Lounge display", _access(tables=(table.name,)), by=operator)
    service_tokens.make(display, by=operator)
    service_tokens.make(display, by=operator)
    service_tokens.end(display.tokens.order_by("pk")[0], by=operator)
    wider = _access(scopes=("read:board", "read:limits"), addresses=("192.0.2.0/24",))
    service_accounts.set_account(display.name, wider, by=operator)
    stolen = service_accounts.set_account("Stolen tablet", _access(), by=operator)
    service_tokens.make(stolen, by=operator)
    service_accounts.revoke(stolen, "It is missing since the morning", by=operator)
    service_accounts.set_account("Visitor", _access(expires=timezone.now() + timedelta(hours=1)), by=operator)


def by_two(operator: Staff, second: Staff) -> None:
    """More is given to a program where access takes two people."""
    draft = service_accounts.draft("Lounge display", _access(scopes=("read:board", "read:limits", "read:alerts")))
    assert draft is not None
    proposals.approve(proposals.propose(draft, "Alerts too", by=operator), by=second)


def feed(operator: Staff, table: Table) -> None:
    """A channel tells what happens at one table; a worker is asked, and nothing leaves the house."""
    address = "https://players.example.com/casino"
    tracking = ChannelDraft("Tracking", "webhook", address, "u" * 32, tells="events", types=("slip.signed",))
    channels.set_channel(tracking, by=operator)
    with patch.object(outbox, "queue") as ask:
        channels.set_channel(
            ChannelDraft("Tracking", "webhook", address, "v" * 32, tells="events", tables=(table.name,)), by=operator
        )
        assert streams.queue_due() == 1
        ask.assert_called_once_with("tables.tasks.tell_events", "Tracking")
    channels.set_channel(ChannelDraft("Tracking", "webhook", address, tells="events", is_on=False), by=operator)


def _access(**changes: Any) -> Access:
    facts = {
        "purpose": "Shows the boards in the lounge",
        "scopes": ("read:board",),
        "expires": timezone.now() + timedelta(days=30),
    }
    return Access(**facts | changes)
