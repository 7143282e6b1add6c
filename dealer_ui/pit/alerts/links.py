"""Where an alert leads: the one place that knows the address of what it is about."""

from __future__ import annotations

from urllib.parse import urlencode

from django.urls import reverse

from ledger.models import HOUSE, Alert
from ledger.proof.slip_name import NotASlipName, SlipName
from tables.alerts.inbox import person
from tables.models import Table


def address(alert: Alert, *, reads_house: bool) -> str:
    """The address of the case, slip, dispute, round, entry, person or table that an alert is about.

    Empty where there is no page, or none for this reader.
    """
    evidence = alert.evidence
    if "discrepancy" in evidence:
        return f"{reverse('pit:discrepancies')}#case-{evidence['discrepancy']}"
    if "delivery" in evidence:
        return reverse("pit:alert-channels")
    if "restored" in evidence:
        return reverse("pit:restored")
    table = table_of(alert)
    if name := _slip(evidence.get("slip")):
        return reverse("slips:slip", args=[table.pk if table else 0, name.series, name.year, name.number])
    return _at_table(alert, table) if table else _in_house(alert, reads_house=reads_house)


def table_of(alert: Alert) -> Table | None:
    """The table whose log an alert is about; None for the site's log."""
    return getattr(alert.book, "table", None)


def _slip(spelled: object) -> SlipName | None:
    try:
        return SlipName.parse(spelled) if isinstance(spelled, str) and spelled else None
    except NotASlipName:
        return None


def _at_table(alert: Alert, table: Table) -> str:
    evidence = alert.evidence
    seq = evidence.get("seq", evidence.get("entry"))
    if "dispute" in evidence:
        return reverse("pit:dispute", args=[table.pk, evidence["dispute"]])
    if evidence.get("round"):
        return reverse("pit:round", args=[table.pk, evidence["round"]]) + (f"#entry-{seq}" if seq else "")
    if seq:
        return f"{reverse('pit:log', args=[table.pk])}?before={seq + 1}#entry-{seq}"
    return reverse("pit:table", args=[table.pk])


def _in_house(alert: Alert, *, reads_house: bool) -> str:
    """The address of an entry of the site's log, or of the entries about a person; empty for neither."""
    seq = alert.evidence.get("entry", alert.evidence.get("seq"))
    if reads_house and seq and alert.evidence.get("in", HOUSE) == HOUSE:
        return f"{reverse('pit:search')}?{urlencode({'table': 'house', 'entry': seq})}"
    if name := person(alert):
        return f"{reverse('pit:search')}?{urlencode({'person': name})}"
    return ""
