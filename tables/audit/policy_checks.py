"""Checks changes of policies against their rows, and against the values that were permitted at that time."""

from __future__ import annotations

from datetime import datetime

from ledger.proof.chain import Entry
from tables.audit import dual_control
from tables.floor.handlers import checks
from tables.log import policies as catalogue
from tables.log.entries.house_terms import TermsChanged
from tables.log.event import AuditFailure
from tables.log.policies import TERMS, read
from tables.projections import site_rows
from tables.setup import policies
from tables.setup.dual_control import BY_THE_CLOCK


@checks(TermsChanged)
def check_terms(event: TermsChanged, entry: Entry) -> None:
    """Check that a policy change equals its row, states the values before it, and was not backdated."""
    effective = datetime.fromisoformat(event.effective)
    if not site_rows.POLICIES.has_row(event, entry):
        raise AuditFailure("the house's terms, as they are kept beside the log, are others")
    before = catalogue.in_force(policies.changes(before_seq=entry.seq), effective)
    values = {name: read(TERMS[name], value) if name in TERMS else value for name, value in event.after.items()}
    ours = {name for name in values if name in TERMS}  # a term of another release is as it says
    for name in sorted(ours):
        if name not in event.before or read(TERMS[name], event.before[name]) != before[name]:
            raise AuditFailure(f"the house's terms were others before it: its before.{name} is not {before[name]}")
        if values[name] == before[name]:
            raise AuditFailure(f"it changes {name} to what it was")
    if entry.at is None or effective < entry.at or effective > entry.at + policies.FURTHEST:
        raise AuditFailure("it holds from a moment for which nobody could enter it then")
    if sentences := catalogue.faults({name: values[name] for name in ours}):
        raise AuditFailure(f"it could not be set then: {' '.join(sentences.values())}")
    if entry.by == BY_THE_CLOCK and event.after != {policies.DUAL_CONTROL: True}:
        raise AuditFailure("the watch turns dual control on, and no other term")
    dual_control.check_terms(event, entry)
