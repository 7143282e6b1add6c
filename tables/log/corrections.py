"""Corrections of payout errors, as their entries and the state of a table store them."""

from __future__ import annotations

from typing import Any

import msgspec

from ledger.proof.slip_name import SlipName
from tables.log import attestation
from tables.log.signatory import Signatory, with_badge_from
from tables.log.slip_types import CORRECTION
from tables.log.slip_workflow import GivenSignature, Slip


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The correction of a payout error at a seat, by a slip with two signatures.

    Amounts are the player's win in cents; negative for a loss.
    """

    slip: str
    """The series, year and number of the slip."""
    round: int
    seat: int
    recorded_cents: int
    """The win that the engine calculated, in cents."""
    due_cents: int
    """The win that was due, in cents. It differs from the recorded win only after a ruling."""
    handed_cents: int
    """The total that the player has received, in cents."""
    believed_cents: int
    """The total that the ledger assumed was paid, in cents: the recorded win, or the result of an earlier
    correction."""
    reason: str
    dispute: int | None
    earlier: str | None
    """The previous correction of this round and seat."""
    proposed_by: str
    """The user name of the proposer. Another person signs."""
    proposed_as: str
    """The proposer as the heading of the entry names them: badge number and name."""

    @property
    def proposer(self) -> Signatory:
        """The person who proposed it."""
        name = self.proposed_as.partition(" ")[2]
        return with_badge_from(self.proposed_as, self.proposed_by, name)

    @property
    def as_slip(self) -> Slip:
        """The slip with the proposer's signature. The role is always pit boss, so the entry does not store it."""
        name, [first, _] = SlipName.parse(self.slip), CORRECTION.stages
        by = GivenSignature(first.name, self.proposed_by, self.proposer.name, "pit_boss", 0)
        return Slip(CORRECTION, name.year, name.number, signed=(by,))

    @property
    def difference_cents(self) -> int:
        """The amount to hand over now, in cents: positive if the casino pays, negative if the player does."""
        return self.due_cents - self.handed_cents

    @property
    def off_cents(self) -> int:
        """The amount by which the payout error left the rack above the ledger, in cents; negative if below."""
        return self.believed_cents - self.handed_cents

    def terms(self, stage: str, reason: str = "") -> dict[str, Any]:
        """The terms that a person and a terminal sign to approve or decline it: round, seat and amount."""
        return {
            "format": attestation.CORRECTION,
            "slip": self.slip,
            "stage": stage,
            "round": self.round,
            "seat": self.seat,
            "cents": self.difference_cents,
            "reason": reason,
        }
