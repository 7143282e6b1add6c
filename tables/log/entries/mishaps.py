"""What went wrong at a table: a mishap as it was entered, and a table that was abandoned."""

from __future__ import annotations

from typing import ClassVar

from tables.log.event import Author
from tables.log.mishaps import ACTS, MISHAPS, REASONS


class MishapEntered(Author, frozen=True, kw_only=True, omit_defaults=True):
    """Something went wrong, and the dealer said what; what was done about it follows in entries of its own."""

    subject: ClassVar[str] = "mishap"
    kinds: ClassVar[tuple[str, ...]] = ("entered",)

    which: str
    """A name of `mishaps.MISHAPS`."""
    act: str = ""
    """A name of `mishaps.ACTS`: what was done with the same input. Nothing where it was only noted."""
    called: str = ""
    """Who was called, and came."""
    note: str = ""

    def words(self) -> str:
        mishap, act = MISHAPS.get(self.which), next((title for name, title in ACTS.items() if name == self.act), "")
        clauses = [mishap.title if mishap else self.which, act.lower(), self.note]
        came = f" ({self.called} came)" if self.called else ""
        return "; ".join(clause for clause in clauses if clause) + came


class TableAbandoned(Author, frozen=True, kw_only=True, omit_defaults=True):
    """Everybody left the table at once: its round is void, its shoe is retired, nobody deals there any more."""

    subject: ClassVar[str] = "mishap"
    kinds: ClassVar[tuple[str, ...]] = ("abandoned",)

    reason: str
    """Of `mishaps.LEAVING`."""
    note: str

    def words(self) -> str:
        return f"The table is abandoned ({REASONS.get(self.reason, self.reason).lower()}): {self.note}"
