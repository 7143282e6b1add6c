"""The results of verification as report lines, for `manage.py verify` and the auditors' page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tables.audit import proofs, row_comparison, tree_proof
from tables.audit.outside.testimony import Source
from tables.audit.outside.witness_file import BadFile
from tables.audit.proofs import BookProof


@dataclass(frozen=True, slots=True)
class Finding:
    """One line: a verified item or a fault."""

    says: str
    holds: bool = True

    @classmethod
    def fault(cls, says: object) -> Finding:
        return cls(f"DOES NOT HOLD  {says}", holds=False)


def of_book(report: BookProof) -> Iterator[Finding]:
    """The lines about one log: its chain, its rounds, its transfers."""
    yield from map(Finding.fault, report.faults)
    if not report.faults:
        yield Finding(
            f"holds  {report.book}: {report.entries:,} entries re-hashed, {report.rounds:,} rounds replayed,"
            f" {report.transfers:,} transfers recomputed"
        )


def of_roots(listed: Sequence[str]) -> Iterator[Finding]:
    """The lines about root keys, which no terminal vouches for: each is trusted by the site's paper list alone, and
    named with its time."""
    if fault := proofs.unlisted_root(listed):
        yield Finding.fault(fault)
        return
    for says in proofs.roots_in_words():
        on_paper = "is on the house's list" if listed else "hold it against the house's paper"
        yield Finding(f"{'holds' if listed else 'note'}  {says}: {on_paper}")


def of_rows(*, every: bool = False) -> Iterator[Finding]:
    """The lines about derived rows and the schema: the first differences of each kind, or all with ``every``."""
    compared, holds = row_comparison.Comparison(), True
    for fault in proofs.row_faults(compared, None if every else row_comparison.MOST):
        holds = False
        yield Finding.fault(fault)
    if holds:
        yield Finding(
            f"holds, beside the log: {compared.rows:,} rows of {compared.kinds} kinds are what it says,"
            " and the database is as its migrations make it"
        )


def of_trees() -> Iterator[Finding]:
    """The lines about the trees that witnesses observe."""
    for report in tree_proof.prove_all():
        if report.fault:
            yield Finding.fault(report.fault)
        else:
            yield Finding(
                f"holds  the tree {report.origin}: {report.leaves:,} leaves, each with the heads of all books, and"
                f" {report.cosignatures:,} cosignatures of witnesses"
            )


def of_witness(source: Source) -> Iterator[Finding]:
    """The lines about a witness's records: all of them must be in the log."""
    try:
        testimony = tree_proof.read_testimony(source)
    except (BadFile, OSError) as wrong:
        yield Finding.fault(f"the witness at {source.place} cannot be heard: {wrong}")
        return
    name = ", ".join(testimony.names)
    for says in testimony.faults[: proofs.AT_MOST]:
        yield Finding.fault(f"the witness {name}: {says}")
    if testimony.faults:
        return
    if not testimony.latest:
        yield Finding.fault(f"the witness {name} saw nothing of this house")
        return
    for origin, cosigned in testimony.latest.items():
        moment = tree_proof.moment_of(cosigned)
        yield Finding(f"holds  witnessed by {name} at {moment}: {cosigned.checkpoint.size:,} leaves of {origin}")
    if testimony.heads:
        books = ", ".join(f"{book} up to entry {head[0]}" for book, head in sorted(testimony.heads.items()))
        yield Finding(f"holds  the witness {name} was told where each book stood: {books}")
