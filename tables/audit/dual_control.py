"""Checks dual control: each setting that required two people is compared with the approved proposal that its entry
names.

Whether a setting required two people follows from the policies in force at its entry, by the function that the floor
uses.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import accumulate
from typing import Any, Final

from ledger.models import HOUSE, LogEntry
from ledger.proof.chain import Entry
from tables.approvals import proposals, signing
from tables.floor.handlers import checks
from tables.limits import plans, resolver
from tables.log import dual_control
from tables.log import policies as catalogue
from tables.log.catalog import read, read_as
from tables.log.entries.chips import DenominationAdded, DenominationChanged
from tables.log.entries.house_terms import TermsChanged
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.posts import PostSet
from tables.log.entries.proposals import (
    ProposalApproved,
    ProposalCalledOff,
    ProposalCommented,
    ProposalDecided,
    ProposalDeclined,
    ProposalEnded,
    ProposalExpired,
    ProposalInForce,
    ProposalLapsed,
    ProposalWithdrawn,
    Proposed,
    builtins,
)
from tables.log.entries.settings import PayTableMade, TableSet
from tables.log.entries.staff import StaffAdded, StaffChanged
from tables.log.event import AuditFailure
from tables.log.policies import Value
from tables.log.terms import Settings, settings_after
from tables.models import LimitPlan, Proposal, ProposalEnd, Table
from tables.models.proposals import CARRIED_OUT
from tables.projections import site_rows
from tables.setup import pit_assignments, policies
from tables.setup.dual_control import HANDLERS

_NEAR: Final = 100
"""The number of site log entries after an approval that are searched: queued notices may come between."""


# --- Settings --------------------------------------------------------------------------------------------------


def check_terms(event: TermsChanged, entry: Entry) -> None:
    """Check a change of policies. Called by the check of such entries. Raises AuditFailure."""
    matter = "profile" if event.profile else "terms"
    require_approval(matter, event.proposal, entry, {"before": event.before, "after": event.after})


def check_table(event: TableSet, entry: Entry, set_to: Mapping[str, Any], *, by_effect: bool) -> None:
    """Check a change of a table's settings. Raises AuditFailure.

    ``set_to``: all settings before it. ``by_effect``: maxima are compared as they take effect, because an earlier entry
    of this log says so. Settings that limit plans made are verified against the plans instead.
    """
    if event.plans is not None:
        return
    proposal = Proposal.objects.filter(number=event.proposal).first() if event.proposal is not None else None
    terms = _terms(entry)
    former = dual_control.of_table(event.before, event.after, terms, lambda: set_to, formerly=True)
    if not by_effect or (former and proposal and proposal.matter == former):  # approved before an upgrade
        matter = former
    else:
        matter = dual_control.of_table(event.before, event.after, terms, lambda: set_to)
    after = event.after | ({"takes": "shoe"} if proposal and proposal.waits_for_shoe else {})
    require_approval(matter, event.proposal, entry, {"about": entry.book, "before": event.before, "after": after})


def waits_for_shoe(event: TableSet) -> bool:
    """Whether the change was approved to take effect with the next shoe."""
    if event.proposal is None:
        return False
    proposal = Proposal.objects.filter(number=event.proposal).first()
    return proposal is not None and proposal.waits_for_shoe


class Plans:
    """Checks dual control of limit plans in the order of their entries. The settings of tables are read once."""

    def __init__(self, book_id: int, through: int) -> None:
        rows = LogEntry.objects.filter(book_id=book_id, subject=LimitPlanSet.subject, seq__lte=through)
        bodies = rows.order_by("-seq").values_list("body", flat=True)
        self._by_effect = any(read_as(LimitPlanSet, body).effective_maxima for body in bodies.iterator())
        self._tables: list[_TableHistory] | None = None

    def check(self, event: LimitPlanSet, entry: Entry) -> None:
        """Check a version of a limit plan. Raises AuditFailure."""
        self._by_effect |= event.effective_maxima
        formerly = not self._by_effect
        before = LimitPlan.objects.filter(name=event.name, version=event.version - 1).first()
        content = plans.content_of(before), plans.content(event)
        matter = dual_control.of_plan(
            *content, _terms(entry), lambda: self._beneath(before, entry, formerly=formerly), formerly=formerly
        )
        require_approval(matter, event.proposal, entry, {"about": event.name, "after": content[1]})

    def _beneath(self, row: LimitPlan | None, entry: Entry, *, formerly: bool) -> dict[str, int]:
        """The limits beneath a plan's version when an entry set the next one, with tables in their settings of that
        time."""
        if entry.at is None:
            return {}
        if self._tables is None:
            self._tables = _histories()
        settings = {table.name: table.set_at(entry.at) for table in self._tables}
        present = {name: values for name, values in settings.items() if values is not None}
        return plans.beneath(row, entry.at, present, through_seq=entry.seq - 1, formerly=formerly)


@dataclass(slots=True)
class _TableHistory:
    """The settings of a table after each entry that changed its own limits or which limits it has. Changes by plans
    affect neither, and are left out to save memory."""

    name: str
    retired_at: datetime | None
    moments: list[datetime] = field(default_factory=list)
    settings: list[Settings] = field(default_factory=list)

    def set_at(self, moment: datetime) -> Settings | None:
        """The settings at a time; None before the first, and for a retired table."""
        if self.retired_at is not None and self.retired_at <= moment:
            return None
        last = bisect_right(self.moments, moment)
        return self.settings[last - 1] if last else None


def _histories() -> list[_TableHistory]:
    """The history of each table, from two queries for all of them."""
    tables = {table.book_id: _TableHistory(table.name, table.retired_at) for table in Table.objects.all()}
    newest: dict[int, Settings] = {}
    rows = LogEntry.objects.filter(book_id__in=tables, subject=TableSet.subject, kind=TableSet.kinds[0])
    for book, moment, body in rows.order_by("book_id", "seq").values_list("book_id", "at", "body").iterator():
        before, history = newest.get(book), tables[book]
        newest[book] = after = settings_after(before, read_as(TableSet, body).after)
        if before is None or resolver.facts_of(before, "", "") != resolver.facts_of(after, "", ""):
            history.moments.append(moment)
            history.settings.append(after)
    for history in tables.values():  # times that were mended may step back: an entry counts as soon as a later one does
        history.moments = list(accumulate(reversed(history.moments), min))[::-1]
    return list(tables.values())


def check_post(event: PostSet, entry: Entry) -> None:
    """Check a pit assignment. Called by the check of such entries. Raises AuditFailure."""
    before, after = pit_assignments.before(event, entry), {"pits": list(event.pits), "whole_floor": event.whole_floor}
    matter = dual_control.of_post(before, after)
    require_approval(matter, event.proposal, entry, {"about": event.username, "before": before, "after": after})


def check_pay_table(event: PayTableMade, entry: Entry) -> None:
    """Check an operator's pay table. Raises AuditFailure."""
    content = {name: value for name, value in event.content().items() if name != "proposal"}
    require_approval("pay_table", event.proposal, entry, {"after": content})


@checks(DenominationAdded)
def check_chip(event: DenominationAdded, entry: Entry) -> None:
    """Check dual control of an added denomination."""
    after = {"value_cents": event.value_cents, "colour": event.colour, "face": event.face}
    require_approval("chips", event.proposal, entry, {"after": after})


@checks(DenominationChanged)
def check_looks(event: DenominationChanged, entry: Entry) -> None:
    """Check dual control of a changed denomination: its name and its appearance."""
    about = str(event.value_cents)
    require_approval("chips", event.proposal, entry, {"about": about, "before": event.before, "after": event.after})


@checks(StaffAdded)
def check_new_staff(event: StaffAdded, entry: Entry) -> None:
    """Check dual control of a new staff member. At the command line, control of the host replaces a second person."""
    matter = (
        None
        if entry.by == dual_control.COMMAND_LINE
        else dual_control.of_staff({}, {"role": event.role, "further": event.further})
    )
    after: dict[str, Any] = {"name": event.name, "role": event.role, "badge": event.badge}
    after |= {"further": list(event.further)} if event.further else {}
    require_approval(matter, event.proposal, entry, {"about": event.username, "after": after})


@checks(StaffChanged)
def check_staff(event: StaffChanged, entry: Entry) -> None:
    """Check dual control of a change of a staff member's roles."""
    before, after = dict(event.before or {}), dict(event.after or {})
    matter = dual_control.of_staff(before, after)
    for facts in (before, after):
        facts.pop("administered_until", None)  # it follows from when the role was given up
    require_approval(matter, event.proposal, entry, {"about": event.username, "before": before, "after": after})


def _terms(entry: Entry) -> Mapping[str, Value]:
    """The policies in force when an entry was written. Changes that were entered later do not count. Raises
    AuditFailure without a time."""
    if entry.at is None:
        raise AuditFailure("it has no time, and nobody can say what was in force")
    changes = policies.changes(entry.seq if entry.book == HOUSE else None)
    return catalogue.in_force(changes, entry.at)


def require_approval(matter: str | None, number: int | None, entry: Entry, values: Mapping[str, Any]) -> None:
    """Raise AuditFailure if a setting required two people and does not name an approved proposal with exactly this
    content.

    ``matter``: the subject of dual control, or None if the setting needs no second person. ``number``: the proposal
    that the entry names. ``values``: those that the proposal must have.
    """
    if number is None:
        if matter is not None and _is_needed(matter, entry):
            raise AuditFailure(f"{dual_control.title_of(matter)}: it took two people, and no second one approved it")
        return
    end = (
        ProposalEnd.objects.filter(proposal__number=number, outcome__in=CARRIED_OUT).select_related("proposal").first()
    )
    if end is None:
        raise AuditFailure(f"it names proposal {number}, which nobody approved")
    # One person decided it; a policy that was changed meanwhile may now require two.
    if end.outcome == "decided" and matter is not None and _is_needed(matter, entry):
        raise AuditFailure(f"{dual_control.title_of(matter)}: it took two people, and one decided it")
    if matter is not None and end.proposal.matter != matter:
        raise AuditFailure(f"proposal {number} is about another matter")
    for name, value in builtins(values).items():
        # The approval covers exactly these values: a change after it needs another one.
        if getattr(end.proposal, name) != value:
            raise AuditFailure(f"it is not what proposal {number} says: its {name} is another")
    _refuse_other_place(end, entry)


def _is_needed(matter: str, entry: Entry) -> bool:
    """Whether a subject required two people at an entry.

    Two logs have no common order within one instant: an entry of a table's log at the instant of a policy change may
    have come first, so the policies just before it count too.
    """
    if not dual_control.needed(matter, _terms(entry)) or entry.book == HOUSE or entry.at is None:
        return dual_control.needed(matter, _terms(entry))
    before = catalogue.in_force(policies.changes(), entry.at - timedelta(microseconds=1))
    return dual_control.needed(matter, before)


def _refuse_other_place(end: ProposalEnd, entry: Entry) -> None:
    """Raise AuditFailure unless the entry belongs to the approval or to the entry into force of its proposal: in that
    transaction, and once."""
    done_by = LogEntry.objects.of_site().filter(seq=end.seq).first()
    if done_by is not None and proposals.is_to_come(end.proposal, done_by.at):
        settled = LogEntry.objects.of_site().filter(key=proposals.key_of(end.proposal.number)).first()
        if settled is None or settled.kind != ProposalInForce.kinds[0]:
            raise AuditFailure(f"{end.proposal} has not come into force")
        done_by = settled
    if entry.at is None or done_by is None or not 0 <= (entry.at - done_by.at).total_seconds() <= 60:
        raise AuditFailure(f"{end.proposal} was approved, or came into force, at another time")
    if entry.book == HOUSE and entry.seq <= done_by.seq:
        raise AuditFailure(f"it comes before {end.proposal} was approved, or came into force")


# --- Proposals -------------------------------------------------------------------------------------------------


@checks(Proposed)
def check_proposed(event: Proposed, entry: Entry) -> None:
    """Check a proposal: its row, its author's permission, its gapless number, and its lifetime by the policies."""
    if entry.at is None or not site_rows.PROPOSALS.has_row(event, entry):
        raise AuditFailure("the proposal, as it is kept beside the log, is another")
    # A gap in the numbers would be the only trace of a deleted proposal.
    if event.number != Proposal.objects.filter(seq__lt=entry.seq).count() + 1:
        raise AuditFailure(f"proposal {event.number} does not follow the one before it")
    if event.matter not in HANDLERS:
        raise AuditFailure(f"nothing of the matter {event.matter} is proposed")
    if not proposals.may_propose(event.matter, signing.author_of(event, entry)):
        raise AuditFailure(f"{event.name} may not propose it as {event.role}")
    lifetime = int(str(_terms(entry)["proposal_hours"])) * 3_600
    # A longer lifetime would let an approval wait for a moment when nobody remembers it.
    if abs((datetime.fromisoformat(event.expires) - entry.at).total_seconds() - lifetime) > 1:
        raise AuditFailure("it waits for another time than the house's terms say")


@checks(ProposalApproved, ProposalDeclined)
def check_second(event: ProposalEnded, entry: Entry) -> None:
    """Check an approval or refusal: by a different person with permission, before the proposal expired; and an approval
    that takes effect at once was carried out."""
    end = _end(event, entry)
    proposals.second_stage(end.proposal).check(event, entry, proposals.proposer(end.proposal))
    if entry.at is None or entry.at >= end.proposal.expires:
        raise AuditFailure(f"{end.proposal} had expired by then")
    waits = entry.at is not None and proposals.is_to_come(end.proposal, entry.at)
    if event.kind == "approved" and not waits and not _is_done(end.proposal, end.seq):
        raise AuditFailure(f"{end.proposal} was approved, and nothing was done")


@checks(ProposalDecided)
def check_decided(event: ProposalDecided, entry: Entry) -> None:
    """Check a proposal that its author decided alone: that one person was enough by the policies in force, and it waits
    for a time or a shoe."""
    end = _end(event, entry)
    if event.username != end.proposal.proposed_by:
        raise AuditFailure("it is decided by somebody who did not propose it")
    if not signing.author_of(event, entry).has_perm(HANDLERS[end.proposal.matter].permission):
        raise AuditFailure(f"{event.name} may not decide it as {event.role}")
    # Whether the effective maxima required two people is verified with the table's entry, when the change takes effect.
    proposal, terms = end.proposal, _terms(entry)
    if HANDLERS[proposal.matter].takes_two is None or dual_control.of_table(
        proposal.before, proposal.after, terms, dict, formerly=True
    ):
        raise AuditFailure(f"{end.proposal} took two people, and one decided it")
    if entry.at is None or not proposals.is_to_come(end.proposal, entry.at):
        raise AuditFailure(f"{end.proposal} was decided, and waits for nothing")


@checks(ProposalWithdrawn)
def check_withdrawn(event: ProposalWithdrawn, entry: Entry) -> None:
    """Check that a proposal was withdrawn by its author."""
    end = _end(event, entry)
    if event.username != end.proposal.proposed_by:
        raise AuditFailure("it is withdrawn by somebody who did not propose it")


@checks(ProposalCommented)
def check_comment(event: ProposalCommented, entry: Entry) -> None:
    """Check that a comment's author is its signer, and that the proposal was still open."""
    row = Proposal.objects.filter(number=event.number, seq__lt=entry.seq).first()
    if row is None or ProposalEnd.objects.filter(proposal=row, seq__lt=entry.seq).exists():
        raise AuditFailure(f"proposal {event.number} did not wait for anybody then")


@checks(ProposalExpired)
def check_expired(event: ProposalExpired, entry: Entry) -> None:
    """Check that an expired proposal's time was over."""
    end = _end(event, entry)
    if entry.at is None or entry.at < end.proposal.expires:
        raise AuditFailure(f"{end.proposal} had not expired yet")


@checks(ProposalInForce)
def check_in_force(event: ProposalInForce, entry: Entry) -> None:
    """Check that a proposal took effect after its time had come, after its approval, and that its content was carried
    out."""
    end = _approved_for_later(event.number, entry)
    # Only the scheduled task may bring proposals into force: a user could pick a favourable moment.
    if entry.by != proposals.BY_THE_CLOCK:
        raise AuditFailure(f"the watch brings proposals into force, and {entry.by} wrote it")
    if _is_early(end.proposal, entry):
        raise AuditFailure(f"{end.proposal} comes into force before its moment")
    if not _is_done(end.proposal, entry.seq):
        raise AuditFailure(f"{end.proposal} came into force, and nothing was done")


@checks(ProposalLapsed)
def check_lapsed(event: ProposalLapsed, entry: Entry) -> None:
    """Check that a lapsed proposal's time had come."""
    end = _approved_for_later(event.number, entry)
    if _is_early(end.proposal, entry):
        raise AuditFailure(f"{end.proposal} lapses before its moment")


def _is_early(proposal: Proposal, entry: Entry) -> bool:
    return entry.at is None or (proposal.effective is not None and entry.at < proposal.effective)


@checks(ProposalCalledOff)
def check_called_off(event: ProposalCalledOff, entry: Entry) -> None:
    """Check the cancellation of an approved change: by a separate approved proposal, or by one person if one person had
    decided the change."""
    end = _approved_for_later(event.number, entry)
    if event.proposal is None:
        if end.outcome != "decided" or entry.by == proposals.BY_THE_CLOCK:
            raise AuditFailure(f"it took two people to call {end.proposal} off")
        return
    require_approval("call_off", event.proposal, entry, {"about": str(event.number)})


def _approved_for_later(number: int, entry: Entry) -> ProposalEnd:
    """The approval of the pending proposal that an entry settles. Raises AuditFailure if there is none, or the entry
    has another key."""
    end = (
        ProposalEnd.objects.filter(proposal__number=number, outcome__in=CARRIED_OUT).select_related("proposal").first()
    )
    if end is None or end.seq >= entry.seq or not proposals.is_to_come(end.proposal, end.at):
        raise AuditFailure(f"proposal {number} was not approved for a moment to come")
    # The key is unique in the log, so no second entry can settle this proposal.
    if entry.key != proposals.key_of(number):
        raise AuditFailure(f"it settles proposal {number} under another key, and might do so twice")
    return end


def _end(event: ProposalEnded | ProposalExpired, entry: Entry) -> ProposalEnd:
    """The row of a proposal's end. Raises AuditFailure if it differs from the entry."""
    row = ProposalEnd.objects.select_related("proposal").filter(seq=entry.seq).first()
    columns = (event.number, event.kind, getattr(event, "username", ""), getattr(event, "text", ""), entry.by)
    if row is None or (row.proposal.number, row.outcome, row.ended_by, row.text, row.by) != columns:
        raise AuditFailure("the end of the proposal, as it is kept beside the log, is another")
    if row.proposal.seq >= entry.seq or row.proposed_by != row.proposal.proposed_by:
        raise AuditFailure("it ends a proposal that nobody had made")
    return row


def _is_done(proposal: Proposal, seq: int) -> bool:
    """Whether the entries that carry out a proposal exist: among the next entries of the site log, or in the table's
    log."""
    tables = LogEntry.objects.filter(book__name=proposal.about, subject=TableSet.subject, kind=TableSet.kinds[0])
    following = LogEntry.objects.of_site().filter(seq__gt=seq, seq__lte=seq + _NEAR)
    rows = [(row, False) for row in tables.order_by("-seq")] + [(row, True) for row in following.order_by("seq")]
    return any(
        getattr(read(row.subject, row.kind, row.body, house=house), "proposal", None) == proposal.number
        for row, house in rows
    )
