"""Terminals: which devices take badges and PINs, for which table, and who enrolled them."""

from __future__ import annotations

from typing import Any, Final

from ledger.house import digest_of
from tables.audit.rows.reading import TAKEN_OVER, Rows, of_the_house
from tables.models import Terminal

_FACTS: Final = ("table", "device", "enrolled_by")


def told() -> Rows:
    """Every terminal that there ever was, for none is deleted."""
    devices: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("terminals", terminal=["added", "enrolled", "changed", "revoked"]):
        said = entry.content
        if entry.kind == TAKEN_OVER:
            devices = {name: dict(facts) for name, facts in said["kept"].items()}
            continue
        device = devices.setdefault(said["name"], {})
        given = said.get("after", {}) if entry.kind == "changed" else said
        device |= {name: given[name] for name in _FACTS if name in given}
        if entry.kind != "changed":
            device["is_active"] = entry.kind == "enrolled"
    return devices


def kept() -> Rows:
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
