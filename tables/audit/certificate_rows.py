"""Certificates and what else is an index of the house's entries: which entry, and what it says of the row."""

from __future__ import annotations

from tables.log.entries.staff import CertificateIssued
from tables.models import Certificate
from tables.projections.records import Rows, of_the_house
from tables.training import certificates


def in_log() -> Rows:
    """Every certificate that was signed."""
    signed = of_the_house("certificates", certificate=["issued"])
    events = ((entry.event, entry.by) for entry in signed)
    return {
        str(event.number): event.content() | {"signed_as": by}
        for event, by in events
        if isinstance(event, CertificateIssued)
    }


def in_database() -> Rows:
    """Every certificate that has a row, with the practice that it stands on."""
    rows = Certificate.objects.select_related("dealer", "signed_by", "practice")
    return {str(row.number): certificates.event_of(row).content() | {"signed_as": row.signed_as} for row in rows}
