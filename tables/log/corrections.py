"""A correction, as its entries and the state of a table have it."""

from __future__ import annotations

from typing import Any

import msgspec

from ledger.proof.slip_name import SlipName
from tables.log import attestation
from tables.log.signatory import Signatory, with_badge_from
from tables.log.slip_types import CORRECTION
from tables.log.slip_workflow import GivenSignature, Slip


class Correction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A mispay of a seat that is put right by a slip of two signatures.

    Amounts are what the player won, or lost below zero, in cents.
    """

    slip: str
    """Its series, year and number."""
    round: int
    seat: int
    recorded_cents: int
    """What the player won by the log: what the engine decided."""
    due_cents: int
    """What the player should have got; another amount than recorded only by a ruling."""
    handed_cents: int
    """What the player has got by now, all in all."""
    believed_cents: int
    """What the ledger took for handed over: what was recorded, or what an earlier correction made of it."""
    reason: str
    dispute: int | None
    earlier: str | None
    """The correction of the same round and seat that came before."""
    proposed_by: str
    """The user name of the proposer: another person signs."""
    proposed_as: str
    """How the log names them."""

    @property
    def proposer(self) -> Signatory:
        """The person who proposed it."""
        name = self.proposed_as.partition(" ")[2]
        return with_badge_from(self.proposed_as, self.proposed_by, name)

    @property
    def as_slip(self) -> Slip:
        """The slip with the signature of the proposer, who was a pit boss: its entry does not repeat the role."""
        name, [first, _] = SlipName.parse(self.slip), CORRECTION.stages
        by = GivenSignature(first.name, self.proposed_by, self.proposer.name, "pit_boss", 0)
        return Slip(CORRECTION, name.year, name.number, signed=(by,))

    @property
    def difference_cents(self) -> int:
        """What changes hands now: above zero the house pays, below it takes."""
        return self.due_cents - self.handed_cents

    @property
    def off_cents(self) -> int:
        """What the mispay left in the rack beyond what the ledger said; below zero what was missing."""
        return self.believed_cents - self.handed_cents

    def terms(self, stage: str, reason: str = "") -> dict[str, Any]:
        """What a person and a terminal sign who sign or decline it: the chips that change hands, for which seat."""
        return {
            "format": attestation.CORRECTION,
            "slip": self.slip,
            "stage": stage,
            "round": self.round,
            "seat": self.seat,
            "cents": self.difference_cents,
            "reason": reason,
        }
