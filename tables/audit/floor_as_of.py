"""The settings, signing keys and staff of a log's table as of an entry, rebuilt from the log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache

from ledger.models import HOUSE, Book, LogEntry
from ledger.proof.chain import Entry
from ledger.site_log import Difference, difference
from tables.audit import assignment_checks, dual_control, limit_checks
from tables.audit.comparison import first_difference
from tables.floor import signature_checks
from tables.floor.command_context import CommandContext, program_of
from tables.games.catalog import GAMES
from tables.log import non_tracked
from tables.log.catalog import read_as
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.settings import TableSet
from tables.log.event import AuditFailure, Event
from tables.log.state import TableState
from tables.log.terms import Settings, limits_of, rules_of, settings_after
from tables.log.trusted_keys import Counters, Trust
from tables.models import ServiceAccount, Staff, Table
from tables.roles import Role
from tables.setup.table_settings import WAITS


class Floor:
    """A table, or the site, in the state that its log gives up to one entry."""

    def __init__(self, book: Book, through: int = 0) -> None:
        self._book = book
        self._settings: Settings | None = None
        self._table: Table | None = None
        self._counters = Counters()
        self._tells_notice = self._by_effect = False
        self._plans: dual_control.Plans | None = None
        self._assignments: assignment_checks.AssignmentChecks | None = None
        # A table's log waits for the whole site log: its keys may be vouched for by later entries too.
        self._trust: Trust | None = signature_checks.trust_before(through + 1) if self.is_the_house else None
        for setting in _settings_through(book, through):
            self._set(settings_after(self._settings, setting.after))
            self._tells_notice |= setting.tells_notice
            self._by_effect |= setting.effective_maxima

    @property
    def settings(self) -> Settings | None:
        """The table's settings; None before the log has any, and for the site log."""
        return self._settings

    @property
    def is_the_house(self) -> bool:
        """Whether this is the site log instead of a table's."""
        return self._book.name == HOUSE

    def follow(self, state: TableState, event: Event, entry: Entry) -> None:
        """Apply the settings that an entry makes. Raises AuditFailure if they were not permitted."""
        if isinstance(event, TableSet):
            self._change(state, event, entry)
        if isinstance(event, LimitPlanSet):
            self._plans = self._plans or dual_control.Plans(self._book.pk, entry.seq - 1)
            self._plans.check(event, entry)

    def attest(self, event: Event, entry: Entry) -> None:
        """Verify a signature with the keys of terminals and passkeys, and follow the entries of the site log about such
        keys. Raises AuditFailure.

        A table's signatures are verified with all keys of the site log: each key entry says from which entry of the
        table it applies.
        """
        if self._trust is None:
            self._trust = signature_checks.trust()
        if self.is_the_house:
            self._trust.follow(event, entry.seq)
        self._trust.refuse(event, book=entry.book, seq=entry.seq, by=entry.by, key=entry.key)
        self._counters.follow(event, entry.book)

    def check_assignment(self, state: TableState, event: Event, entry: Entry) -> None:
        """Check that a floor supervisor's act was in an assigned pit, by the site log at that time. Raises
        AuditFailure."""
        if self._assignments is None:
            self._assignments = assignment_checks.AssignmentChecks()
        if self.is_the_house:
            self._assignments.refuse_in_site_log(event, entry)
        else:
            self._assignments.refuse(event, entry, state.dealer)

    def scene(self, state: TableState, entry: Entry) -> CommandContext:
        """The state of the table and the author when an entry was written. Raises AuditFailure without settings."""
        table = self._table
        if table is None:
            raise AuditFailure("the log does not say how the table was set up before it")
        return CommandContext(
            table=table,
            game=GAMES[table.game],
            rules=self._rules,
            limits=self._limits,
            standing=state,
            by=_writer(state, entry),
        )

    def _change(self, state: TableState, event: TableSet, entry: Entry) -> None:
        before = asdict(self._settings) if self._settings else {}
        after = settings_after(self._settings, event.after)
        due = difference(before, asdict(after)) if before else Difference({}, event.after)
        # The entry repeats the values before the change: a difference means that another change is missing.
        if where := first_difference(due._asdict(), {"before": event.before, "after": event.after}):
            raise AuditFailure(f"the settings were others before it: its {where}")
        # Players bet under the settings at the start of their round.
        if before and state.round_open and (waiting := WAITS.keys() & event.after.keys()):
            raise AuditFailure(f"it changes the {min(waiting)} of a table at which a round is open")
        if not state.shoe_is_over and dual_control.waits_for_shoe(event):
            raise AuditFailure("it sets in the middle of a shoe what was approved for the next one")
        non_tracked.refuse_change(state, self._settings, after)
        if self._settings is not None:
            limit_checks.check(self._settings, after, state, event, entry, tells_notice=self._tells_notice)
        self._tells_notice |= event.tells_notice
        self._by_effect |= event.effective_maxima
        dual_control.check_table(event, entry, before, by_effect=self._by_effect)
        self._set(after)

    def _set(self, settings: Settings) -> None:
        fields = {name: value for name, value in asdict(settings).items() if name != "denominations"}
        self._settings, self._table = settings, Table(name=self._book.name, book_id=self._book.pk, **fields)
        self._rules, self._limits = rules_of(self._table), limits_of(self._table)


def _settings_through(book: Book, through: int) -> Iterable[TableSet]:
    """The changes of a table's settings up to an entry, in order."""
    if through:
        entries = LogEntry.objects.filter(book=book, subject=TableSet.subject, kind=TableSet.kinds[0])
        for body in entries.filter(seq__lte=through).order_by("seq").values_list("body", flat=True):
            yield read_as(TableSet, body)


def _writer(state: TableState, entry: Entry) -> Staff | ServiceAccount:
    """The author of an entry, as far as a table's log shows: the dealer, a service account, or else a floor
    supervisor."""
    dealer = state.dealer
    if name := program_of(entry.by):
        return ServiceAccount(name=name)
    if dealer is not None and entry.by == dealer.signature:
        return _person(dealer.username, dealer.name, Role.DEALER)
    return _person("", entry.by, Role.PIT_BOSS)


@lru_cache(maxsize=100)
def _person(username: str, name: str, role: Role) -> Staff:
    return Staff(username=username, name=name, role=role)
