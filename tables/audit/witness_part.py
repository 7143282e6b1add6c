"""The witness part of a bundle: the first checkpoint that witnesses cosigned after its last day was sealed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime

from ledger.models import Cosignature, DayRoot, HeadsRow
from ledger.proof import heads as heads_of_books
from ledger.proof.note import Note, encoded, read_signatures
from ledger.proof.spelling import canonical
from tables.audit import checkpoints


def lines_of(day: DayRoot) -> Iterator[bytes]:
    """The part's lines; none if no witness saw the day sealed."""
    row = _first_cosigned(day)
    if row is None:
        return
    size, leaf = row.number + 1, checkpoints.leaf_of(row)
    cosignatures = list(Cosignature.objects.filter(origin=row.origin, size=size).order_by("witness"))
    note = checkpoints.checkpoint_of(row)
    lines = [signature for cosignature in cosignatures for signature in read_signatures(cosignature.line)]
    later = DayRoot.objects.filter(number__gt=day.number, number__lte=leaf.sealed[0] if leaf.sealed else 0)
    path = checkpoints.make_proof(row.origin, size, lambda proofs: proofs.inclusion(row.number))
    yield canonical(
        {
            "checkpoint": str(Note(note.text, (*note.signatures, *lines))),
            "witnesses": [cosignature.witness for cosignature in cosignatures],
            "leaf": bytes(row.leaf).decode(),
            "path": list(map(encoded, path)),
            "days": [json.loads(bytes(body)) for body in later.order_by("number").values_list("body", flat=True)],
        }
    )
    yield from heads_of_books.lines_of(checkpoints.heads_at(row))


def _first_cosigned(day: DayRoot) -> HeadsRow | None:
    """The last leaf of the first cosigned checkpoint in which the day is sealed; None if there is none."""
    for origin in dict.fromkeys(tree.origin for tree in checkpoints.trees()):
        number = _first_since(origin, day.at)
        sizes = Cosignature.objects.filter(origin=origin, size__gt=number).order_by("size")
        # A leaf's time is from before its heads were read, so the day may be in the leaf before; the one after has it.
        for size in sizes.values_list("size", flat=True).iterator():
            row = HeadsRow.objects.get(origin=origin, number=size - 1)
            leaf = checkpoints.leaf_of(row)
            if leaf.sealed is not None and leaf.sealed[0] >= day.number:
                return row
    return None


def _first_since(origin: str, moment: datetime) -> int:
    """The number of the first leaf at or after a time. Bisection, because leaves are indexed by number only."""
    newest = checkpoints.newest(origin)
    low, high = 0, newest.number + 1 if newest else 0
    while low < high:
        middle = (low + high) // 2
        if HeadsRow.objects.filter(origin=origin, number=middle, at__lt=moment).exists():
            low = middle + 1
        else:
            high = middle
    return low
