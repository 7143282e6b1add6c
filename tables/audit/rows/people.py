"""Who works here: each change of name, role, badge, activity, password or PIN is an entry."""

from __future__ import annotations

from typing import Any, Final

from tables.audit.rows.reading import TAKEN_OVER, Rows, of_the_house
from tables.models import Staff

_FACTS: Final = ("name", "role", "badge", "is_active")


def told() -> Rows:
    """Everybody whom the log knows, as it last said."""
    people: dict[str, dict[str, Any]] = {}
    for entry in of_the_house("staff", staff=["added", "changed"], pepper=["carried_over"]):
        said = entry.content
        if entry.kind == TAKEN_OVER:
            people = {name: dict(facts) for name, facts in said["kept"].items()}
        elif entry.subject == "pepper":
            for username, secrets in said["secrets"].items():
                people.setdefault(username, {}).update(secrets)
        else:
            given = said if entry.kind == "added" else said.get("after", {})
            somebody = people.setdefault(said["username"], {"is_active": True})
            somebody |= {name: given[name] for name in _FACTS if name in given} | said.get("secrets", {})
    return people


def kept() -> Rows:
    """Everybody who has a row."""
    return {
        somebody.username: {name: getattr(somebody, name) for name in _FACTS} | somebody.digests
        for somebody in Staff.objects.order_by("username")
    }
