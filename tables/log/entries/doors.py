"""A table opens and closes, and who deals there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from ledger.proof.chips import money
from ledger.proof.moves import Move
from tables.log.event import Context, Event, Misconduct
from tables.log.fold import Dealer, Standing, signature_of
from tables.log.paper import Chips, Slip


class Door(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A table opened with its opener, or closed with its closer, each counted twice."""

    subject: ClassVar[str] = "table"
    series: ClassVar[str]
    """Of the slip that it follows."""

    slip: str
    rack_cents: int
    variance_cents: int
    chips: Chips

    @classmethod
    def after(cls, slip: Slip) -> Door:
        """As it follows from the slip that was counted."""
        return cls(
            slip=slip.name,
            rack_cents=slip.total_cents,
            variance_cents=slip.total_cents - slip.expected_cents,
            chips=slip.agreed or (),
        )

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        is_open = isinstance(self, TableOpened)
        return replace(standing, is_open=is_open, opened_seq=seq, opening_rack_cents=self.rack_cents)

    def moved(self, context: Context) -> Sequence[Move]:
        slip = context.before.counted
        if slip is None or slip.series != self.series:
            article = "an" if self.series[0] in "aeiou" else "a"
            raise Misconduct(f"the table is {self.kind} without {article} {self.series}")
        if self.after(slip) != self:
            raise Misconduct(f"it says {self.slip}, {self.rack_cents}, the {self.series} says {slip.total_cents}")
        return ()


class TableOpened(Door, frozen=True, kw_only=True, omit_defaults=True):
    """A table opened with what was counted in its rack."""

    kinds: ClassVar[tuple[str, ...]] = ("opened",)
    series: ClassVar[str] = "opener"

    def words(self) -> str:
        return f"The table opens, {money(self.rack_cents)} in the rack"


class TableClosed(Door, frozen=True, kw_only=True, omit_defaults=True):
    """A table closed with what was counted in its rack."""

    kinds: ClassVar[tuple[str, ...]] = ("closed",)
    series: ClassVar[str] = "closer"

    def words(self) -> str:
        return f"The table closes, {money(self.rack_cents)} in the rack"


DOORS: dict[str, type[Door]] = {door.series: door for door in (TableOpened, TableClosed)}
"""What follows a slip of each series that a table opens or closes with."""


class DealerSignedIn(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A dealer took the table, or relieved the one who stood there."""

    subject: ClassVar[str] = "dealer"
    kinds: ClassVar[tuple[str, ...]] = ("signed_in",)

    username: str
    name: str
    badge: str | None
    terminal: str | None
    relieves: str | None
    """The user name of whoever stood there."""
    confirmed_by: str | None = None
    """Who agreed to the relief. None too in entries of before somebody had to."""

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        signature = signature_of(self.badge, self.username, self.name)
        return replace(standing, dealer=Dealer(self.username, self.name, seq, signature))

    def words(self) -> str:
        relief = f", relieving {self.relieves}" if self.relieves else ""
        agreed = f"; {self.confirmed_by} agreed" if self.confirmed_by else ""
        return f"{self.name} takes the table{relief}{agreed}"


class DealerSignedOut(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The dealer tapped out, or was tapped out."""

    subject: ClassVar[str] = "dealer"
    kinds: ClassVar[tuple[str, ...]] = ("signed_out",)

    username: str
    name: str

    def folded(self, standing: Standing, seq: int, round: int | None) -> Standing:
        return replace(standing, dealer=None)

    def words(self) -> str:
        return f"{self.name} taps out"
