"""Certificates: the row of each, and the practice behind it, compared with its entry."""

from __future__ import annotations

from tables.log.entries.staff import CertificateIssued
from tables.models import Certificate
from tables.projections.records import Rows, of_the_house
from tables.training import certificates


def in_log() -> Rows:
    """The signed certificates, by number."""
    signed = of_the_house("certificates", certificate=["issued"])
    events = ((entry.event, entry.by) for entry in signed)
    return {
        str(event.number): event.content() | {"signed_as": by}
        for event, by in events
        if isinstance(event, CertificateIssued)
    }


def in_database() -> Rows:
    """The rows of certificates with the digests of their practice, by number."""
    rows = Certificate.objects.select_related("dealer", "signed_by", "practice")
    return {str(row.number): certificates.event_of(row).content() | {"signed_as": row.signed_as} for row in rows}
