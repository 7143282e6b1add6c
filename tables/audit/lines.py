"""What a proof came to, as the lines that people read: for `manage.py verify` and for the auditors' page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tables.audit import proofs
from tables.audit.proofs import Report
from tables.audit.rows import comparing


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was proved, or that does not hold."""

    says: str
    holds: bool = True

    @classmethod
    def fault(cls, says: object) -> Line:
        return cls(f"DOES NOT HOLD  {says}", holds=False)


def of_book(report: Report) -> Line:
    """One book: its chain, its rounds, its transfers."""
    if report.fault:
        return Line.fault(report.fault)
    return Line(
        f"holds  {report.book}: {report.entries:,} entries re-hashed, {report.rounds:,} rounds replayed,"
        f" {report.transfers:,} transfers recomputed"
    )


def of_roots(listed: Sequence[str]) -> Iterator[Line]:
    """The keys that no terminal vouches for: each stands by the house's paper, and is named with its day."""
    if fault := proofs.unlisted_root(listed):
        yield Line.fault(fault)
        return
    for says in proofs.roots_in_words():
        on_paper = "is on the house's list" if listed else "hold it against the house's paper"
        yield Line(f"{'holds' if listed else 'note'}  {says}: {on_paper}")


def of_rows() -> Iterator[Line]:
    """The rows beside the log, and the database itself: every difference is named."""
    compared = comparing.compare()
    faults = compared.faults + comparing.shape_faults()
    yield from map(Line.fault, faults)
    if not faults:
        yield Line(
            f"holds, beside the log: {compared.rows:,} rows of {compared.kinds} kinds are what it says,"
            " and the database is as its migrations make it"
        )
