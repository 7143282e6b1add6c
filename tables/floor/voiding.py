"""A round that ends without a result: the entry that says so, the chips that go back, and that no count has it.

Rounds are counted by their numbers, which have no gaps. A round that is void has a number, and is no round of anybody's
day: whoever counts rounds takes off ``VOID_ROUNDS`` of the same stretch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from django.db import connection

from ledger import cage
from ledger.proof.moves import undone
from tables.floor.command_context import CommandContext, PendingEntry
from tables.log.entries import rounds as log
from tables.log.signatory import Signatory
from tables.refusals import Refused
from tables.state.round_history import words


def void_step(scene: CommandContext, reason: str, note: str, second: Signatory | None = None) -> PendingEntry:
    """The entry that ends the open round without a result: all that moved in it goes back. Raises Refused."""
    current = scene.standing.round
    if current is None or not scene.standing.round_open:
        raise Refused("no_round", f"No round is open at {scene.table.name}: there is nothing to void.", 409)
    posted = cage.transfers_of(scene.table.book_id, [played.seq for played in current.plays])
    why = words(note, "why the round is void")
    result = log.result_of(replace(current, voided=reason))
    event = log.Voided(**scene.author, reason=reason, note=why, result=result, second=second)
    return PendingEntry(event, current.number, undone(posted))


VOID_ROUNDS: Final = """(SELECT count(*) FROM ledger_logentry AS void WHERE void.book_id = {book}
    AND void.subject = 'round' AND void.kind = 'voided' AND void.seq > {after} AND void.seq <= {through})"""
"""How many rounds were made void after an entry and up to another: SQL. A stretch has those that were made void in it:
what was counted of one that is over stays as it was counted."""
VOID_OF: Final = VOID_ROUNDS.removesuffix(")") + " AND void.round > {first} AND void.round <= {last})"
"""The same of the rounds after a number, up to another."""

_SINCE: Final = f"""
    SELECT of.book, {VOID_OF.format(book="of.book", after="0", through="of.head", first="of.first - 1", last="of.last")}
    FROM unnest(%(books)s::bigint[], %(firsts)s::int[], %(lasts)s::int[], %(heads)s::bigint[])
        AS of (book, first, last, head)
"""  # noqa: S608


def void_since(firsts: Mapping[int, int], lasts: Mapping[int, int], heads: Mapping[int, int]) -> dict[int, int]:
    """For each book: how many of its rounds from one number to another are void, read up to an entry."""
    books = list(firsts)
    asked = {name: [given[book] for book in books] for name, given in
             (("firsts", firsts), ("lasts", lasts), ("heads", heads))}  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(_SINCE, {"books": books, **asked})
        return dict(cursor.fetchall())
