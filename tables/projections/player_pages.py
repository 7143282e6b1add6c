"""The pages of seats: a table's log says which seats have one, and which address it has."""

from __future__ import annotations

from ledger.site_log import digest_of
from tables.log.entries.seats import SeatPageIssued, SeatPageRevoked
from tables.models import SeatPage
from tables.projections.records import Rows, named, of_the_tables, taken_over


def in_log() -> Rows:
    """Every page that is in use. Of one that was issued before its address was in the entry, what was taken over
    counts."""
    pages: dict[str, dict[str, str | None]] = {}
    before = named(taken_over("seat_pages"))
    for entry in of_the_tables("seat_page", ["issued", "revoked"]):
        match entry.event:
            case SeatPageRevoked(seat=seat):
                pages.pop(_name(entry.book, seat), None)
            case SeatPageIssued(seat=seat, page=page):
                name = _name(entry.book, seat)
                pages[name] = {"page": page or before.get(name, {}).get("page")}
    return pages


def in_database() -> Rows:
    """Every page that opens."""
    rows = SeatPage.objects.values_list("table__name", "seat", "token_digest")
    return {_name(table, seat): {"page": digest_of(digest)} for table, seat, digest in rows}


def _name(table: str, seat: int) -> str:
    return f"{table}, seat {seat}"
