"""Checks the pit assignment of each floor supervisor that an entry names, by ``tables/log/pit_assignments.py``."""

from __future__ import annotations

from collections.abc import Iterable

from ledger import clock_corrections
from ledger.models import Alert
from ledger.proof.chain import Entry
from tables.log import pit_assignments as rule
from tables.log.entries.journal import AlertAcknowledged
from tables.log.event import Event
from tables.log.state import Dealer
from tables.models import Staff
from tables.roles import Role
from tables.setup import pit_assignments, policies


class AssignmentChecks:
    """The pit assignments in the site log, read once for a range of entries."""

    def __init__(self) -> None:
        self._posts = pit_assignments.history()
        self._may_be_required = any(change.values.get(pit_assignments.REQUIRED) for change in policies.changes())
        if self._may_be_required:
            people = [person for person in Staff.objects.all() if Role.PIT_BOSS in person.roles]
            self._posts.signatures.update({person.signature: person.username for person in people})

    @property
    def _is_idle(self) -> bool:
        return not (self._posts.floors or self._may_be_required)

    def refuse(self, event: Event, entry: Entry, dealer: Dealer | None) -> None:
        """Check an entry of a table's log; ``dealer``: the dealer at the table before it. Raises AuditFailure."""
        if not self._is_idle:
            self._refuse(rule.runners(event, entry.by, dealer, self._posts), entry.book, entry)

    def refuse_in_site_log(self, event: Event, entry: Entry) -> None:
        """Check an entry of the site log by which a floor supervisor acts at a table. Raises AuditFailure."""
        if self._is_idle:
            return
        tables, username = rule.tables_of(event), self._posts.signatures.get(entry.by)
        if isinstance(event, AlertAcknowledged):
            username = self._posts.signatures.get(event.by)
            tables = _tables_of_alert(event.alert) if username else ()
        for table in tables if username else ():
            self._refuse(filter(None, [username]), table, entry)

    def _refuse(self, usernames: Iterable[str], table: str, entry: Entry) -> None:
        if entry.at is None or clock_corrections.of(entry.book_id, entry.seq, entry.seq):
            return  # of mended times the day is known, and not the minute
        required = self._may_be_required and not policies.went_by(
            pit_assignments.REQUIRED, entry, lambda value: not value
        )
        rule.refuse(self._posts, usernames, table, entry.at, required=required)


def _tables_of_alert(number: int) -> tuple[str, ...]:
    return tuple(Alert.objects.filter(pk=number).values_list("book__name", flat=True))
