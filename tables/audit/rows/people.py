"""Who works here: each change of name, role, badge, activity, password or PIN is an entry."""

from __future__ import annotations

from typing import Any

from tables.audit.rows.reading import Rows, named, of_the_house
from tables.log.entries.kept import PepperCarriedOver, RowsTakenOver
from tables.log.entries.staff import StaffAdded, StaffChanged
from tables.models import STAFF_FACTS, Staff


def in_log() -> Rows:
    """Everybody whom the log knows, as it last said."""
    people: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("staff", staff=["added", "changed"], pepper=["carried_over"]):
        match entry.event:
            case RowsTakenOver() as event:
                people = named(event)
            case PepperCarriedOver() as event:
                for username, secrets in event.secrets.items():
                    people.setdefault(username, {}).update(secrets)
            case StaffAdded() | StaffChanged() as event:
                facts = event.content() if isinstance(event, StaffAdded) else event.after or {}
                somebody = people.setdefault(event.username, {"is_active": True})
                somebody |= {name: facts[name] for name in STAFF_FACTS if name in facts} | (event.secrets or {})
    for somebody in people.values():
        _complete(somebody)
    return people


def _complete(somebody: dict[str, Any]) -> None:
    """Entries of before somebody could have further roles do not speak of them."""
    somebody.setdefault("further", [])
    somebody.setdefault("administered_until", None)


def in_database() -> Rows:
    """Everybody who has a row."""
    return {somebody.username: somebody.facts | somebody.digests for somebody in Staff.objects.order_by("username")}
