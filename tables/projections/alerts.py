"""The rules of alerts, and the channels by which they leave the house: each row is what its one entry says."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from tables.alerts import channels, rules_in_force
from tables.alerts.models import AlertChannel, AlertRule, Resending
from tables.log.entries.alert_rules import AlertRuleSet, ChannelSet, DeadLettersResent
from tables.projections.records import Rows, of_the_house


def rules_in_log() -> Rows:
    """Every rule that was set, in the order of its kind."""
    return _numbered([(entry.event, entry.by) for entry in of_the_house("alert rules", alert_rule=["set"])])


def rules_in_database() -> Rows:
    """Every rule that has a row."""
    rows = AlertRule.objects.order_by("seq")
    return _numbered([(rules_in_force.event_of(rules_in_force.rule_of(row)), row.by) for row in rows])


def channels_in_log() -> Rows:
    """Every version of a channel that was set."""
    entries = [(entry.event, entry.by) for entry in of_the_house("alert channels", channel=["set"])]
    return {_version(event): _whole(event, by) for event, by in entries if isinstance(event, ChannelSet)}


def channels_in_database() -> Rows:
    """Every version of a channel that has a row."""
    rows = [(channels.event_of(row), row.by) for row in AlertChannel.objects.all()]
    return {_version(event): _whole(event, by) for event, by in rows}


def _whole(event: ChannelSet, by: str) -> dict[str, Any]:
    """With what an entry leaves unsaid: those of before there was a feed do not say that they tell alerts."""
    return structs.asdict(event) | {"by": by}


def resent_in_log() -> Rows:
    """Every dead letter that somebody sent again."""
    return {
        f"{key} after attempt {after}": {"channel": entry.event.name, "by": entry.by, "entry": entry.seq}
        for entry in of_the_house("dead letters", channel=["resent"])
        if isinstance(entry.event, DeadLettersResent)
        for key, after in entry.event.deliveries.items()
    }


def resent_in_database() -> Rows:
    """The same of the rows."""
    return {
        f"{row.delivery.key} after attempt {row.after}": {
            "channel": row.delivery.name,
            "by": row.by,
            "entry": row.seq,
        }
        for row in Resending.objects.select_related("delivery")
    }


def _numbered(events: list[tuple[object, str]]) -> Rows:
    """By kind, and how often it was set by then."""
    times: dict[str, int] = {}
    rows = {}
    for event, by in events:
        if isinstance(event, AlertRuleSet):
            times[event.about] = times.get(event.about, 0) + 1
            rows[f"about {event.about}, version {times[event.about]}"] = event.content() | {"by": by}
    return rows


def _version(event: ChannelSet) -> str:
    return f"{event.name} version {event.version}"
