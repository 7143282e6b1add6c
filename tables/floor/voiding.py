"""Void rounds: the entry that ends a round without a result, the return of its chips, and its exclusion from counts.

Round numbers have no gaps, so a void round has one too. A count of rounds subtracts ``VOID_ROUNDS`` of the same range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ledger import cage
from ledger.proof.moves import undone
from ledger.raw_rows import fetch_rows
from tables.floor.command_context import CommandContext, PendingEntry
from tables.log.entries import rounds as log
from tables.log.signatory import Signatory
from tables.refusals import Refused
from tables.state.round_history import words


def void_step(context: CommandContext, reason: str, note: str, second: Signatory | None = None) -> PendingEntry:
    """The entry that ends the open round without a result and reverses all its transfers. Raises Refused."""
    current = context.standing.round
    if current is None or not context.standing.round_open:
        raise Refused("no_round", f"No round is open at {context.table.name}: there is nothing to void.", 409)
    # All transfers of all plays: bets and payments made so far return in the entry that voids the round.
    posted = cage.transfers_of(context.table.book_id, [played.seq for played in current.plays])
    why = words(note, "why the round is void")
    result = log.result_of(replace(current, voided=reason))
    event = log.Voided(**context.author, reason=reason, note=why, result=result, second=second)
    return PendingEntry(event, current.number, undone(posted))


VOID_ROUNDS: Final = """(SELECT count(*) FROM ledger_logentry AS void WHERE void.book_id = {book}
    AND void.subject = 'round' AND void.kind = 'voided' AND void.seq > {after} AND void.seq <= {through})"""
"""SQL: the number of rounds voided after one entry and up to another.

Rounds belong to the range in which they were voided, so a finished count of an earlier range does not change.
"""
VOID_OF: Final = VOID_ROUNDS.removesuffix(")") + " AND void.round > {first} AND void.round <= {last})"
"""SQL: like VOID_ROUNDS, for round numbers above ``first`` and up to ``last`` only."""

_SINCE: Final = f"""
    SELECT of.book, {VOID_OF.format(book="of.book", after="0", through="of.head", first="of.first - 1", last="of.last")}
    FROM unnest(%(books)s::bigint[], %(firsts)s::int[], %(lasts)s::int[], %(heads)s::bigint[])
        AS of (book, first, last, head)
"""  # noqa: S608


def void_since(firsts: Mapping[int, int], lasts: Mapping[int, int], heads: Mapping[int, int]) -> dict[int, int]:
    """The number of void rounds in a range of round numbers, for each log by its id, up to an entry."""
    # Heads come from the caller: figures of one report are all read up to one entry of each log.
    books = list(firsts)
    arguments = {name: [values[book] for book in books] for name, values in
             (("firsts", firsts), ("lasts", lasts), ("heads", heads))}  # fmt: skip
    return dict(fetch_rows(_SINCE, {"books": books, **arguments}))
