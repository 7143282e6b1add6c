"""The rows of alert rules and of channels that mirror entries of the site's log: set once, never changed."""

from __future__ import annotations

from typing import Final

from tables.alerts.models import AlertChannel, AlertRule, Resending
from tables.log.entries.alert_rules import AlertRuleSet, ChannelSet, DeadLettersResent
from tables.projections.projection import Projection
from tables.projections.records import Rows, of_the_house

ALERT_RULES: Final = Projection(title="alert rule", event=AlertRuleSet, model=AlertRule)
ALERT_CHANNELS: Final = Projection(
    title="alert channel",
    event=ChannelSet,
    model=AlertChannel,
    digests=("address", "secret", "former_secret"),
    name=lambda row: f"{row['name']} version {row['version']}",
)


def resent_in_log() -> Rows:
    """Each dead letter that was sent again; one entry may name several."""
    return {
        f"{key} after attempt {after}": {"channel": entry.event.name, "by": entry.by, "entry": entry.seq}
        for entry in of_the_house("dead letters", channel=["resent"])
        if isinstance(entry.event, DeadLettersResent)
        for key, after in entry.event.deliveries.items()
    }


def resent_in_database() -> Rows:
    """Each row of a dead letter that was sent again."""
    return {
        f"{row.delivery.key} after attempt {row.after}": {"channel": row.delivery.name, "by": row.by, "entry": row.seq}
        for row in Resending.objects.select_related("delivery")
    }
