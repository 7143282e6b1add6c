"""The messages that channels send to webhooks, as the description of v1 has them (``tables/alerts``)."""

from __future__ import annotations

from typing import Any, Final, Literal
from uuid import UUID

import msgspec

from tables.alerts.webhook_signatures import DELIVERY, SIGNATURE, TIMESTAMP, WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIME
from tables.feed.feed_records import Envelope


class EventsMessage(msgspec.Struct, frozen=True):
    """Consecutive events of the feed."""

    id: UUID
    event: Literal["events"]
    cursor: str
    """Cursor of the feed after these events."""
    events: list[Envelope]


class AlertInMessage(msgspec.Struct, frozen=True):
    """An alert."""

    number: int
    kind: str
    title: str
    level: str
    message: str
    table: str | None
    raised_at: str
    escalation: int
    """Number of escalations so far."""


class AlertMessage(msgspec.Struct, frozen=True):
    """An alert that was raised or escalated."""

    id: UUID
    event: Literal["alert.raised", "alert.escalated"]
    alert: AlertInMessage


FORMS: Final = (EventsMessage, AlertMessage)
_HEADERS: Final = {
    WEBHOOK_ID: "Identifies the message: equal at each attempt.",
    WEBHOOK_TIME: "Time of this attempt, in seconds since 1970.",
    WEBHOOK_SIGNATURE: "Standard Webhooks: `v1,` and HMAC-SHA256 in Base64 of id, time and body; several with spaces.",
    DELIVERY: "As webhook-id.",
    TIMESTAMP: "As webhook-timestamp.",
    SIGNATURE: "`v1=` and HMAC-SHA256 in hexadecimal of time, id and body; several with commas.",
}


def described() -> dict[str, Any]:
    """The webhooks of OpenAPI 3.1."""
    return {
        "events": _described("send_events", "Events of the feed.", EventsMessage),
        "alert": _described("send_alert", "An alert was raised or escalated.", AlertMessage),
    }


def _described(name: str, summary: str, form: type[msgspec.Struct]) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{form.__name__}"}
    headers = [
        {"name": header, "in": "header", "required": True, "schema": {"type": "string"}, "description": about}
        for header, about in _HEADERS.items()
    ]
    operation = {
        "operationId": name,
        "summary": summary,
        "tags": ["Webhooks"],
        "parameters": headers,
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {
            "2XX": {"description": "Accepted. After any other status the message is sent again."},
            "410": {"description": "Gone: the message is not sent again."},
        },
    }
    return {"post": operation}
