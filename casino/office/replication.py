"""Assembles bundles that came in pieces by PostgreSQL's logical replication, and accepts or rejects them like any
other.

A site fills its export database (``tables/audit/export_database.py``) and gets no answer from here. So pieces stay
until their days are verified, and a rejected bundle is tried again each hour, as a site with a direct connection would
send it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db.models import Max, Min, QuerySet, Sum
from django.db.models.functions import Length

from casino.office import houses, receiving
from casino.office.models import Arrival, House, Piece, Refusal
from casino.office.receiving import ArrivalState
from ledger import runs

BY: Final = "replication"
BUNDLES_PER_TURN: Final = 50
"""The bundles of a site in one turn, so that a site with very many of them does not delay the others."""
DAMAGED: Final = "the pieces do not make up the bundle that they name"


@dataclass(frozen=True, slots=True)
class Bundle:
    """A bundle in pieces, with the values that its house claims."""

    sha256: str
    number: int
    """The number of its day."""
    size: int
    """In bytes."""


def subscription_of(house: House) -> str:
    """The name of a site's subscription, as in deploy/subscription.sql."""
    return "house_" + house.code.replace("-", "_")


def take_all(*, again: bool = False) -> int:
    """Accept the complete bundles of all sites. Returns the number accepted."""
    lines = set(Piece.objects.values_list("line", flat=True).distinct())
    senders = [house for house in House.objects.order_by("code") if subscription_of(house) in lines]
    return houses.sum_over(senders, partial(take, again=again))


def take(house: House, *, again: bool = False) -> int:
    """Accept a site's complete bundles in the order of their days, unless another worker is doing it. Returns the
    number accepted.

    ``again``: bundles that were rejected before are tried as well.
    """
    count = 0
    with runs.alone(f"pieces of the house {house.code}") as is_alone:
        for bundle in _submissible(house, again=again) if is_alone else ():
            state = _submit(house, bundle)
            if state == ArrivalState.EARLY:  # so are all later ones
                break
            count += state == ArrivalState.TAKEN
    if count:
        receiving.queue_verification(house)
    return count


def _submissible(house: House, *, again: bool) -> Iterator[Bundle]:
    """The bundles that are due, up to one that claims a day which cannot be next; at most BUNDLES_PER_TURN."""
    candidates = (bundle for bundle in _complete(house) if _is_due(house, bundle, again=again))
    for bundle in islice(candidates, BUNDLES_PER_TURN):
        # Later days cannot be accepted before this one: trying them would only raise alerts.
        if bundle.number > houses.due(house):
            return
        yield bundle


def _complete(house: House) -> list[Bundle]:
    """The bundles that are complete, or that claim to be larger than allowed. Pieces of accepted ones are deleted."""
    pieces = Piece.objects.filter(line=subscription_of(house))
    accepted = Arrival.objects.filter(house=house, verdict__holds=True).values("sha256")
    pieces.filter(bundle__in=accepted).delete()
    sums = pieces.values("bundle").annotate(day=Min("number"), whole=Max("size"), have=Sum(Length("content")))
    return [
        Bundle(row["bundle"], row["day"], row["whole"])
        for row in sums.order_by("day", "bundle")
        if row["have"] >= row["whole"] or row["whole"] > settings.OFFICE_MOST_BYTES
    ]


def _is_due(house: House, bundle: Bundle, *, again: bool) -> bool:
    """Whether to submit a bundle: not while it waits for verification, nor a refused one unless ``again``."""
    arrival = Arrival.objects.filter(house=house, sha256=bundle.sha256).order_by("-attempt").first()
    if arrival is not None and not hasattr(arrival, "verdict"):  # it waits for verification
        return False
    is_refused = arrival is not None or Refusal.objects.filter(house=house, sha256=bundle.sha256).exists()
    return again or not is_refused


def _submit(house: House, bundle: Bundle) -> ArrivalState:
    """Check a bundle. Its pieces are deleted if its day is here already, or if no newer verifier or key could ever
    accept it."""
    path = receiving.folder(house) / "replicated.pieces"  # not the bundle's name: a house may send ../../x as that
    try:
        if fault := _assemble(house, bundle, path):
            _delete_pieces(house, bundle)
            return receiving.refuse(house, bundle.sha256, fault, BY).state
        state = receiving.take(house, path, by=BY).state
    finally:
        path.unlink(missing_ok=True)
    last = houses.last_day(house)
    if state == ArrivalState.KNOWN or (
        state == ArrivalState.REFUSED and last is not None and bundle.number <= last.number
    ):
        _delete_pieces(house, bundle)
    return state


def _assemble(house: House, bundle: Bundle, path: Path) -> str:
    """Write a bundle's pieces into a file. Returns the fault, or an empty string."""
    if bundle.size > settings.OFFICE_MOST_BYTES:
        return f"a bundle may have at most {settings.OFFICE_MOST_BYTES:,} bytes here"
    pieces, digest = _pieces(house, bundle), sha256()
    with path.open("wb") as file:
        for start in list(pieces.order_by("start").values_list("start", flat=True)):
            # A gap or an overlap: the pieces belong to different attempts, or were altered.
            if start != file.tell():
                return DAMAGED
            content = pieces.get(start=start).content
            digest.update(content)
            file.write(content)
        is_complete = file.tell() == bundle.size and digest.hexdigest() == bundle.sha256
    return "" if is_complete else DAMAGED


def _delete_pieces(house: House, bundle: Bundle) -> None:
    _pieces(house, bundle).delete()


def _pieces(house: House, bundle: Bundle) -> QuerySet[Piece]:
    return Piece.objects.filter(line=subscription_of(house), bundle=bundle.sha256)
