"""Terminals: which devices take badges and PINs, for which table, and who enrolled them."""

from __future__ import annotations

from typing import Any, Final

from ledger.site_log import digest_of
from tables.log.entries.carried_rows import RowsTakenOver
from tables.log.entries.terminals import TerminalChanged, TerminalDevice, TerminalEnrolled
from tables.models import Terminal
from tables.projections.records import Rows, named, of_the_house

_FACTS: Final = ("table", "device", "enrolled_by")


def in_log() -> Rows:
    """Every terminal that there ever was, for none is deleted."""
    devices: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("terminals", terminal=["added", "enrolled", "changed", "revoked"]):
        match entry.event:
            case RowsTakenOver() as event:
                devices = named(event)
            case TerminalChanged(name=name, after=after):
                devices.setdefault(name, {}).update(after)
            case TerminalDevice() as event:
                facts = event.content()
                device = devices.setdefault(event.name, {})
                device |= {name: facts[name] for name in _FACTS if name in facts}
                device["is_active"] = isinstance(event, TerminalEnrolled)
    return devices


def in_database() -> Rows:
    """Every terminal that has a row."""
    return {
        terminal.name: {
            "table": terminal.table.name if terminal.table else None,
            "device": digest_of(terminal.token_digest),
            "enrolled_by": terminal.enrolled_by.username,
            "is_active": terminal.is_active,
        }
        for terminal in Terminal.objects.select_related("table", "enrolled_by")
    }
