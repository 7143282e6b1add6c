"""One round's history, input by input: the input, the layout after it, and the chips that it moved.

Nothing here writes.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

import msgspec

from ledger import log
from ledger.models import Book
from ledger.proof.chain import Entry, Fault, Head, verify_chain
from ledger.raw_rows import fetch_row, fetch_rows
from tables.audit import proofs
from tables.audit.proofs import BookProof
from tables.audit.round_list import RoundLine, folded, line_of, truly_timed
from tables.board import secrecy
from tables.board.secrecy import Veiled
from tables.games.cards import PAIRS, pack_of
from tables.games.protocol import DEALER, Opening, Payout, View
from tables.games.record import record_of
from tables.log.entries.rounds import Paid, Played, TakenBack
from tables.log.entries.shoes import CutCardBack
from tables.log.state import UNREADABLE, Round
from tables.models import Table
from tables.reports.entry_list import words_of


@dataclass(frozen=True, slots=True)
class ChipMove:
    """Chips that an entry moved, from one place to another."""

    kind: str
    source: str
    target: str
    amount_cents: int


@dataclass(frozen=True, slots=True)
class RoundStep:
    """One entry within a round's range of the log, and the layout after it."""

    entry: Entry
    words: str
    view: View | None
    """The layout with amounts in cents; None before the first input of a round."""
    dealer_plays: bool
    touched: frozenset[int]
    """The seats that it concerns; 0 is the dealer."""
    decided: tuple[Payout, ...] = ()
    moved: tuple[ChipMove, ...] = ()
    corrects: int | None = None
    corrected_by: int | None = None
    """The entry that undoes this one; None if none does."""
    card_names: tuple[int | str, ...] = ()
    """The name of each card of the round's pack."""


@dataclass(frozen=True, slots=True)
class Story:
    """A round, input by input, with its rules, limits and result."""

    line: RoundLine
    steps: tuple[RoundStep, ...]
    game: str
    rules: dict[str, Any]
    opening: Opening | None
    payouts: tuple[Payout, ...]
    record: dict[str, Any] | None
    """The round as a round record, which outsiders can replay; None if it cannot be replayed or is still secret."""
    coin_cents: int = 0
    """The value of a coin in a game with a pot."""
    stacks: tuple[tuple[int, int], ...] = ()
    """(seat, cents): the chips that each seat in the round had on the table."""
    sealed: bool = False
    """Whether the round is in progress and has hidden cards: there is no record before it is over."""


def story(table: Table, number: int) -> Story | None:
    """One round of a table; None if it was never dealt."""
    entries = _stretch(table.book_id, number)
    own = [entry for entry in entries if entry.round == number]
    if not own:
        return None
    chips = _moves(table.book_id, entries[0].seq, entries[-1].seq)
    (line,) = truly_timed(table.book_id, [line_of(number, own)])
    steps: list[RoundStep] = []
    current: Round | None = None
    is_broken = False
    for entry, public in zip(entries, secrecy.veiled(table.book_id, entries), strict=True):
        before = current
        if entry.subject == "round" and not is_broken:
            try:
                current = folded(current, entry)
            except UNREADABLE:
                is_broken = True
        steps.append(_step(public, before, current, chips.get(entry.seq, ())))
    corrections = {step.corrects: step.entry.seq for step in steps if step.corrects}
    marked_steps = tuple(replace(step, corrected_by=corrections.get(step.entry.seq)) for step in steps)
    if current is None:
        return Story(line=line, steps=marked_steps, game="", rules={}, opening=None, payouts=(), record=None)
    sealed = current.secret and not current.over
    actions = [action for play in current.plays for action in play.actions]
    return Story(
        line=line,
        steps=marked_steps,
        game=current.game.name,
        rules=msgspec.to_builtins(current.rules),
        opening=current.opening,
        payouts=current.settled,
        record=None
        if is_broken or sealed
        else record_of(current.game, current.rules, current.opening, actions, voided=current.voided),
        sealed=sealed,
        coin_cents=current.coin_cents,
        stacks=tuple((seat, cents) for seat, cents in current.stacks if seat in current.opening.seats),
    )


def _stretch(book_id: int, number: int) -> list[Entry]:
    """The log from a round's first entry to its last: entries between them, such as a relief or the cut card, belong to
    it."""
    bounds = fetch_row(
        "SELECT min(seq), max(seq) FROM ledger_logentry WHERE book_id = %s AND round = %s", [book_id, number]
    )
    rows = fetch_rows(
        f"SELECT {log.COLUMNS} FROM ledger_logentry WHERE book_id = %s AND seq BETWEEN %s AND %s ORDER BY seq",  # noqa: S608
        [book_id, *bounds],
    )
    return [Entry(*row) for row in rows]


def _step(entry: Entry, before: Round | None, after: Round | None, moves: tuple[ChipMove, ...]) -> RoundStep:
    payouts = after.plays[-1].decided if after and after is not before and entry.kind == "play" and after.plays else ()
    pack = pack_of(after.opening.dealt) if after else PAIRS
    return RoundStep(
        entry=entry,
        words=words_of(entry, pack),
        view=after.view(DEALER) if after else None,
        dealer_plays=after is None or after.game.dealer_plays,
        touched=_seats_of(entry),
        decided=tuple(after.in_cents(payout) for payout in payouts) if after else (),
        moved=moves,
        corrects=_corrected_seq(entry),
        card_names=pack.spellings,
    )


def _seats_of(entry: Entry) -> frozenset[int]:
    with suppress(*UNREADABLE):
        event = secrecy.event_of(entry)
        if isinstance(event, Played | Paid | TakenBack | Veiled):
            return event.seats
    return frozenset()


def _corrected_seq(entry: Entry) -> int | None:
    """The entry that this one undoes; None if it undoes none."""
    with suppress(*UNREADABLE):
        event = secrecy.event_of(entry)
        return event.corrects if isinstance(event, TakenBack | CutCardBack | Veiled) else None
    return None


_MOVED: Final = """
    SELECT t.seq, t.kind, s.place, s.seat, s.wager, e.place, e.seat, e.wager, t.amount_cents
    FROM ledger_transfer AS t
    JOIN ledger_account AS s ON s.id = t.source_id JOIN ledger_account AS e ON e.id = t.target_id
    WHERE t.book_id = %s AND t.seq BETWEEN %s AND %s ORDER BY t.seq, t.leg
"""


def _moves(book_id: int, since: int, through: int) -> dict[int, tuple[ChipMove, ...]]:
    """The transfers of a range of the log, by entry."""
    rows = fetch_rows(_MOVED, [book_id, since, through])
    return {
        seq: tuple(ChipMove(row[1], _place(*row[2:5]), _place(*row[5:8]), row[8]) for row in group)
        for seq, group in groupby(rows, key=lambda row: row[0])
    }


def _place(place: str, seat: int | None, wager: str | None) -> str:
    if seat is None:
        return place.replace("_", " / ")
    return f"{place} {seat}" + (f" {wager.replace('_', ' ')}" if wager else "")


def prove(table: Table, story: Story) -> BookProof:
    """Verify a round's range of the log again: each hash, each input through the engine, each transfer.

    It must follow from the entry before it, and the entry after it, or the log's head, must follow from it.
    """
    book = Book.objects.get(pk=table.book_id)
    first, last = story.steps[0].entry, story.steps[-1].entry
    after = Head(book.pk, book.name, first.seq - 1, first.prev_hash) if first.prev_hash else None
    end = Head(book.pk, book.name, last.seq, bytes(last.hash))
    # The hash before the first entry is taken from its row, so the range alone is verified, not the past.
    report = proofs.prove(book, after, end)
    return report if report.fault else replace(report, fault=_fault_of_follower(book, end))


def _fault_of_follower(book: Book, end: Head) -> Fault | None:
    """Why the next entry, or the log's head, does not follow from an entry; None if it does."""
    following = next(log.entries(book.pk, end.seq, end.seq + 1), None)
    if following is None:
        return verify_chain([], Head(book.pk, book.name, end.seq, bytes(book.head_hash or b"")), after=end)
    return verify_chain([following], Head(book.pk, book.name, following.seq, following.hash), after=end)
