"""Bundles that came in pieces by PostgreSQL's logical replication: put together, and brought to the same door.

A house fills a letter box (``tables/audit/letter_box.py``) and hears nothing of what came of it here. So its pieces
stay until their days hold: what was refused is tried again each hour, as a house on a line would send it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db.models import Max, Min, QuerySet, Sum
from django.db.models.functions import Length

from casino.office import houses, receiving
from casino.office.models import Arrival, House, Piece, Refusal
from casino.office.receiving import State
from ledger import runs

BY: Final = "replication"
DAMAGED: Final = "the pieces do not make the bundle that they name"


@dataclass(frozen=True, slots=True)
class Bundle:
    """What there is of a bundle."""

    sha256: str
    number: int
    """Of its day, as the house says."""
    size: int
    """In bytes, as the house says."""


def subscription_of(house: House) -> str:
    """As deploy/subscription.sql names it."""
    return "house_" + house.code.replace("-", "_")


def take_all(*, again: bool = False) -> int:
    """Take what is whole of every house; how many bundles wait to be verified now that did not before."""
    lines = set(Piece.objects.values_list("line", flat=True).distinct())
    sending = [house for house in House.objects.order_by("code") if subscription_of(house) in lines]
    return houses.each(sending, partial(take, again=again))


def take(house: House, *, again: bool = False) -> int:
    """Take what is whole, by the numbers of the days, unless another worker is at it; how many bundles."""
    count = 0
    with runs.alone(f"pieces of the house {house.code}") as is_alone:
        for bundle in _whole(house) if is_alone else ():
            if not _is_due(house, bundle, again=again):
                continue
            state = _bring(house, bundle)
            if state == State.EARLY:  # so are all that follow
                break
            count += state == State.TAKEN
    if count:
        receiving.ask(house)
    return count


def _whole(house: House) -> list[Bundle]:
    """Bundles that are here to the last byte, or claim more bytes than any may have. Those that hold have gone."""
    pieces = Piece.objects.filter(line=subscription_of(house))
    holding = Arrival.objects.filter(house=house, verdict__holds=True).values("sha256")
    pieces.filter(bundle__in=holding).delete()
    sums = pieces.values("bundle").annotate(day=Min("number"), whole=Max("size"), have=Sum(Length("content")))
    return [
        Bundle(row["bundle"], row["day"], row["whole"])
        for row in sums.order_by("day", "bundle")
        if row["have"] >= row["whole"] or row["whole"] > settings.OFFICE_MOST_BYTES
    ]


def _is_due(house: House, bundle: Bundle, *, again: bool) -> bool:
    """Whether it is to be brought to the door."""
    arrival = Arrival.objects.filter(house=house, sha256=bundle.sha256).order_by("-attempt").first()
    if arrival is not None and not hasattr(arrival, "verdict"):  # it waits behind it
        return False
    is_refused = arrival is not None or Refusal.objects.filter(house=house, sha256=bundle.sha256).exists()
    return again or not is_refused


def _bring(house: House, bundle: Bundle) -> State:
    """What became of it at the door. Its pieces go where its day is here, and where no other verifier or key would make
    it hold."""
    path = receiving.folder(house) / "replicated.pieces"  # a house may call its bundle what it likes, say ../../x
    try:
        if fault := _put_together(house, bundle, path):
            _take_away(house, bundle)
            return receiving.refuse(house, bundle.sha256, fault, BY).state
        state = receiving.take(house, path, by=BY).state
    finally:
        path.unlink(missing_ok=True)
    last = houses.last_day(house)
    if state == State.KNOWN or (state == State.REFUSED and last is not None and bundle.number <= last.number):
        _take_away(house, bundle)
    return state


def _put_together(house: House, bundle: Bundle, path: Path) -> str:
    """Write its bytes into a file; returns why they are none of a bundle."""
    if bundle.size > settings.OFFICE_MOST_BYTES:
        return f"a bundle has {settings.OFFICE_MOST_BYTES:,} bytes at most here"
    pieces, digest = _pieces(house, bundle), sha256()
    with path.open("wb") as file:
        for start in list(pieces.order_by("start").values_list("start", flat=True)):
            if start != file.tell():
                return DAMAGED
            content = pieces.get(start=start).content
            digest.update(content)
            file.write(content)
        is_whole = file.tell() == bundle.size and digest.hexdigest() == bundle.sha256
    return "" if is_whole else DAMAGED


def _take_away(house: House, bundle: Bundle) -> None:
    _pieces(house, bundle).delete()


def _pieces(house: House, bundle: Bundle) -> QuerySet[Piece]:
    return Piece.objects.filter(line=subscription_of(house), bundle=bundle.sha256)
