"""Who works here: each change of name, role, badge, activity, password or PIN is an entry."""

from __future__ import annotations

from typing import Any

from tables.log.entries.carried_rows import PepperCarriedOver, RowsTakenOver
from tables.log.entries.staff import SecretMade, SecretReset, StaffAdded, StaffChanged
from tables.models import SecretVersion, Staff
from tables.models.staff import PIN, SECRETS, STAFF_FACTS
from tables.projections.records import Rows, named, of_the_house


def in_log() -> Rows:
    """Everybody whom the log knows, as it last said."""
    people: dict[str, dict[str, Any]] = {}
    for entry in of_the_house(
        "staff", staff=["added", "changed", "secret_made", "secret_reset"], pepper=["carried_over"]
    ):
        match entry.event:
            case RowsTakenOver() as event:
                people = named(event)
            case PepperCarriedOver() as event:
                for username, secrets in event.secrets.items():
                    held = {column: digest for column, digest in secrets.items() if column in SECRETS}
                    people.setdefault(username, {}).update(held)
            case SecretMade() | SecretReset() as event:
                made_at = entry.at if isinstance(event, SecretMade) else None
                people.setdefault(event.username, {}).update(event.secrets, **{f"{event.secret}_made_at": made_at})
            case StaffAdded() | StaffChanged() as event:
                facts = event.content() if isinstance(event, StaffAdded) else event.after or {}
                somebody = people.setdefault(event.username, {"is_active": True})
                somebody |= {name: facts[name] for name in STAFF_FACTS if name in facts} | (event.secrets or {})
                if somebody.get(PIN) == "" and "pin_made_at" in somebody:  # it goes with the badge or the role
                    somebody["pin_made_at"] = None
    for somebody in people.values():
        _complete(somebody)
    return people


def _complete(somebody: dict[str, Any]) -> None:
    """Add the defaults of fields that old entries lack: further roles and the end of admin access."""
    somebody.setdefault("further", [])
    somebody.setdefault("administered_until", None)


def in_database() -> Rows:
    """Everybody who has a row. When a secret was made is compared once its owner made one: of those given before that,
    the log has no moment."""
    entered = set(SecretVersion.objects.exclude(seq=None).values_list("staff_id", "secret"))
    return {
        somebody.username: somebody.facts
        | somebody.digests
        | {
            f"{secret}_made_at": getattr(somebody, f"{secret}_made_at")
            for secret in SECRETS
            if (somebody.pk, secret) in entered
        }
        for somebody in Staff.objects.order_by("username")
    }
