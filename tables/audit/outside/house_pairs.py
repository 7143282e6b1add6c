"""Dual control in the site log, as far as one bundle has both signatures. Pure.

A bundle carries no proposals, codes or day figures over from earlier days. A second signature whose first one is not in
the bundle is compared with the facts of its own entry only (`refuse_signers`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ledger.proof.chain import Entry
from tables.log.entries.days import DayClosed, DayProposed
from tables.log.entries.proposals import ProposalApproved, ProposalDeclined, Proposed
from tables.log.entries.staff import CodeAsked, CodeConfirmed, confirmer_fault
from tables.log.event import AuditFailure, Event
from tables.log.signatory import Signatory, pair_fault


@dataclass(slots=True)
class HousePairs:
    """The first signatures of a bundle, which wait for the second ones."""

    proposals: dict[int, Signatory] = field(default_factory=dict)
    """By the number of the proposal."""
    days: dict[int, Signatory] = field(default_factory=dict)
    """Signatures of a day's figures, by entry."""
    codes: dict[int, Signatory] = field(default_factory=dict)
    """The requesters of one-time codes, by entry."""

    def follow(self, event: Event, entry: Entry) -> None:
        """Record a first signature, or compare a second one with it. Raises AuditFailure."""
        match event:
            case Proposed():
                self.proposals[event.number] = event.signers(entry.by)[0]
            case ProposalApproved() | ProposalDeclined():
                _compare(self.proposals.get(event.number), event, entry)
            case DayProposed():
                self.days[entry.seq] = event.signers(entry.by)[0]
            case DayClosed():
                _compare(self.days.get(event.proposal), event, entry)
            case CodeAsked():
                self.codes[entry.seq] = event.signers(entry.by)[0]
            case CodeConfirmed() if not event.alone:
                self._confirm(event, entry)

    def _confirm(self, event: CodeConfirmed, entry: Entry) -> None:
        [confirmer] = event.signers(entry.by)
        owner = Signatory(event.username, event.username, None, "")
        # Where the bundle does not have the first signature, the confirmer is compared with the owner alone.
        asker = self.codes.get(event.asked, Signatory("", "", None, ""))
        if fault := confirmer_fault(confirmer, asker, owner):
            raise AuditFailure(fault)


def _compare(first: Signatory | None, event: Event, entry: Entry) -> None:
    if first is not None and (fault := pair_fault((first, event.signers(entry.by)[0]))):
        raise AuditFailure(fault)
