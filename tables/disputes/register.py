"""Which disputes of a table are open, and the number of the last one, as its newest entry about a dispute says.

Each entry about a dispute carries all that are open at the table, so the newest one tells it, however long the log is.
"""

from __future__ import annotations

from dataclasses import dataclass

from tables.log.entries.disputes import CLOSED, AboutDispute, Dispute
from tables.refusals import Refused
from tables.state import round_history


@dataclass(frozen=True, slots=True)
class Register:
    """The disputes of a table that are not closed, and the number of the last one."""

    open: tuple[Dispute, ...] = ()
    last: int = 0

    def get(self, number: int) -> Dispute:
        """An open dispute. Raises Refused."""
        for dispute in self.open:
            if dispute.number == number:
                return dispute
        if 1 <= number <= self.last:
            raise Refused("dispute_closed", f"Dispute {number} is closed: open another one for what is new.", 409)
        raise Refused("unknown_dispute", f"There is no dispute {number} at this table.", 404)

    def after(self, dispute: Dispute) -> Register:
        """The register once a dispute stands like this."""
        remainder = [case for case in self.open if case.number != dispute.number]
        still = remainder if dispute.state == CLOSED else [*remainder, dispute]
        return Register(tuple(sorted(still, key=lambda case: case.number)), max(self.last, dispute.number))


def as_of(book_id: int, through_seq: int) -> Register:
    """The register of a table, as it stood at an entry."""
    latest = round_history.latest(book_id, AboutDispute.subject, through_seq)
    return carried_by(latest) if isinstance(latest, AboutDispute) else Register()


def carried_by(event: AboutDispute) -> Register:
    """The register after an entry, which carries it."""
    return Register(event.open, event.last)
