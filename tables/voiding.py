"""A round that ends without a result: the entry that says so, and the chips that go back."""

from __future__ import annotations

from ledger import cage
from ledger.proof.moves import undone
from tables.log.entries import rounds as log
from tables.log.event import Second
from tables.past import words
from tables.refusals import Refused
from tables.scene import Scene, Step


def void_step(scene: Scene, reason: str, note: str, second: Second | None = None) -> Step:
    """The entry that ends the open round without a result: all that moved in it goes back. Raises Refused."""
    current = scene.standing.round
    if current is None or not scene.standing.round_open:
        raise Refused("no_round", f"No round is open at {scene.table.name}: there is nothing to void.", 409)
    posted = cage.transfers_of(scene.table.book_id, [played.seq for played in current.plays])
    why = words(note, "why the round is void")
    event = log.Voided(**scene.author, reason=reason, note=why, end=log.lay_of(current), second=second)
    return Step(event, current.number, undone(posted))
