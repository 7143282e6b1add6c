"""Certificates and what else is an index of the house's entries: which entry, and what it says of the row."""

from __future__ import annotations

from tables.audit.rows.reading import Rows, of_the_house
from tables.models import Certificate
from tables.training import certificates


def told() -> Rows:
    """Every certificate that was signed."""
    signed = of_the_house("certificates", certificate=["issued"])
    return {str(entry.content["number"]): dict(entry.content) | {"signed_as": entry.by} for entry in signed}


def kept() -> Rows:
    """Every certificate that has a row, with the practice that it stands on."""
    rows = Certificate.objects.select_related("dealer", "signed_by", "practice")
    return {str(row.number): certificates.spelled(row) | {"signed_as": row.signed_as} for row in rows}
