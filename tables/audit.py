"""Proving a table's log: the chain, every round through the engine, and every transfer, from the log alone.

A check goes through a book's entries and transfers once, in order, a chunk in memory at a time, and stops at the
first entry that does not hold. A check of new entries starts from the last proven one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec
from django.db import DataError
from django.db.models import Max

from ledger import cage
from ledger.cage import Chart, Move, Posted, chart, transfers
from ledger.models import HOUSE, Book, Recount, Transfer
from ledger.recount import beyond_head, reconcile, wrong_recount
from ledger.surveillance import Broken, Entry, Fault, Head, entries, read_head, walk
from tables import pots, standing
from tables.games.cards import NOTHING, Composition
from tables.games.catalog import GAMES
from tables.games.felt import Illegal
from tables.models import Table, Verification
from tables.rounds import chips_moved
from tables.standing import Round, Standing

_UNREADABLE = (ArithmeticError, AttributeError, DataError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(slots=True)
class Report:
    """What a check of one book went through, and the first fault that it found."""

    book: str
    entries: int = 0
    rounds: int = 0
    transfers: int = 0
    fault: Fault | None = None
    through: Head | None = None


def verify(book: Book, since: Verification | None = None) -> Report:
    """Prove a book from its first entry, or from where an earlier check ended."""
    head = read_head(book.pk)
    after = Head(book.pk, book.name, since.through_seq, bytes(since.head_hash)) if since else None
    report = prove(book, after, head)
    start = after.seq if after else 0
    report.fault = report.fault or beyond_head(book.pk) or wrong_recount(book.pk, since=_recounted(book, start))
    if report.fault is None:
        report.through = head
    return report


def prove(book: Book, after: Head | None, through: Head) -> Report:
    """Prove one stretch of a book: the entries that lead from one head (default: the beginning) to another."""
    report = Report(book.name)
    start = after.seq if after else 0
    proof = _Proof(report, chart(book.pk), standing.at(after) if after else Standing())
    chain = walk(entries(book.pk, start, through.seq), through, after=after, anchors=_anchors(book, start, through.seq))
    try:
        for entry, posted in reconcile(chain, transfers(book.pk, start, through.seq), book.name):
            proof.check(entry, posted)
    except Broken as broken:
        report.fault = broken.fault
    except _Wrong as wrong:
        report.fault = Fault(book.name, wrong.seq, wrong.what)
    except _UNREADABLE as error:
        # Whatever somebody wrote into the log, a proof ends with the entry's name, never with a traceback.
        what = f"it is no entry that a table can write: {type(error).__name__}"
        report.fault = Fault(book.name, start + report.entries + 1, what)
    return report


def verify_new(book: Book) -> Report:
    """Prove what was added since the last proof, and note how far it holds now."""
    since = Verification.objects.filter(book=book).order_by("-through_seq").first()
    report = verify(book, since)
    head = report.through
    if head is not None and head.hash is not None and (since is None or head.seq > since.through_seq):
        Verification.objects.create(
            book=book,
            through_seq=head.seq,
            head_hash=bytes(head.hash),
            rounds=report.rounds,
            transfers=report.transfers,
        )
    return report


def books(table: str | None = None) -> Sequence[Book]:
    """The books to prove: one table's, or the house's and every table's. Raises LookupError for an unknown table."""
    if table is None:
        return [*Book.objects.filter(name=HOUSE), *Book.objects.exclude(name=HOUSE).order_by("name")]
    found = Table.objects.filter(name=table).select_related("book").first()
    if found is None:
        names = ", ".join(Table.objects.values_list("name", flat=True))
        raise LookupError(f"there is no table {table!r}; there are: {names or 'none'}")
    return [found.book]


# --- one entry after the other ---------------------------------------------------------------------------------


class _Wrong(Exception):
    """An entry of the chain that does not hold."""

    def __init__(self, seq: int, what: str) -> None:
        super().__init__(what)
        self.seq = seq
        self.what = what


@dataclass(slots=True)
class _Proof:
    """Folds the log as the floor does, and holds each entry against what it should say."""

    report: Report
    chart: Chart
    now: Standing

    def check(self, entry: Entry, posted: Sequence[Posted]) -> None:
        """One entry of the chain, with the transfers that its body records."""
        content, before = entry.content, self.now
        _may_move(entry, [one.move.kind for one in posted])
        if entry.subject == "round" and "opening" in content:
            self._opening(entry, content)
        _may_choose(entry, content, before)
        self.now = _folded(before, entry, content)
        if entry.subject == "round":
            self._round(entry, content, before.round, [one.move for one in posted])
        elif entry.subject == "seats":
            self._seats(entry, content, before, [one.move for one in posted])
        self.report.entries += 1
        self.report.transfers += len(posted)

    def _opening(self, entry: Entry, content: dict[str, Any]) -> None:
        """A round begins where the table stood: its number, the shoe, the button."""
        before, opening = self.now, content["opening"]["opening"]
        if before.round_open:
            raise _Wrong(entry.seq, f"it opens round {entry.round} while round {before.next_number} is not over")
        if entry.round != before.next_number:
            raise _Wrong(entry.seq, f"it opens round {entry.round}, the next one is {before.next_number}")
        if before_dealt(content["opening"]["game"], before) != tuple(opening["dealt"]):
            raise _Wrong(entry.seq, "it says that other cards are gone from the shoe than were dealt from it")
        pinned = content["opening"]
        if pinned.get("coin_cents"):
            self._chips(entry, pinned)
        elif opening["button"] != before.button:
            raise _Wrong(entry.seq, f"it puts the button at {opening['button']}, it lay at {before.button}")

    def _chips(self, entry: Entry, pinned: dict[str, Any]) -> None:
        """A game for a pot starts with the chips that lie there."""
        now, coin = self.now, pinned["coin_cents"]
        stacks = dict(pinned["stacks"])
        if stacks != now.stacks or pinned["pot_cents"] != now.pot_cents:
            raise _Wrong(entry.seq, "it starts with other chips than lie at the seats and in the pot")
        opening = pinned["opening"]
        coins = [stacks.get(seat, 0) // coin for seat in opening["seats"]] if GAMES[pinned["game"]].coins else []
        carried = now.pot_cents // coin if "pot" in GAMES[pinned["game"]].carries else 0
        if list(opening["stacks"]) != coins or opening["pot"] != carried:
            raise _Wrong(entry.seq, "it deals with other coins than lie at the seats and in the pot")

    def _seats(self, entry: Entry, content: dict[str, Any], before: Standing, moved: Sequence[Move]) -> None:
        """Chips were bought, cashed or charged between games, and the seats hold what follows from it."""
        if before.round_open:
            raise _Wrong(entry.seq, f"it changes the chips in play in the middle of round {before.next_number}")
        stacks = pots.stacks_after(before.stacks, entry.kind, content)
        if stacks != self.now.stacks or any(cents < 0 for cents in stacks.values()):
            raise _Wrong(entry.seq, f"it leaves {self.now.stacks} at the seats, what happened makes it {stacks}")
        charged = pots.charged_after(before.charged_at, entry.kind, content, stacks, self.now.charged_at)
        if charged != self.now.charged_at:
            raise _Wrong(entry.seq, f"it says that time is paid until {self.now.charged_at}, it is {charged}")
        expected = pots.seat_moves(self.chart, before.stacks, entry.kind, content)
        if list(moved) != expected:
            raise _Wrong(entry.seq, _difference(expected, moved))

    def _round(self, entry: Entry, content: dict[str, Any], before: Round | None, moved: Sequence[Move]) -> None:
        """The entry decided what the engine says, and moved the chips that follow from it."""
        current = self.now.round
        assert current is not None  # noqa: S101 -- a round's entry was just folded
        expected: list[Move] = []
        if entry.kind == "play":
            decided = msgspec.to_builtins(current.plays[-1].decided)
            if content.get("decided", []) != list(decided):
                raise _Wrong(
                    entry.seq, f"it says that {content.get('decided', [])} was decided, the rules say {decided}"
                )
            known = current if "opening" in content or before is None else before
            start = replace(known, plays=()) if "opening" in content else known
            expected = chips_moved(self.chart, start, current.state)
            self.report.rounds += current.over
        elif entry.kind == "take_back":
            self._corrects(entry, content, before)
            expected = cage.reverse(Transfer.objects.filter(book_id=self.chart.book_id, seq=content["corrects"]))
        if list(moved) != expected:
            raise _Wrong(entry.seq, _difference(expected, moved))

    @staticmethod
    def _corrects(entry: Entry, content: dict[str, Any], before: Round | None) -> None:
        latest = before.plays[-1].seq if before and before.plays else None
        if content["corrects"] != latest:
            raise _Wrong(entry.seq, f"it takes back entry {content['corrects']}, the latest input was {latest}")


def before_dealt(game: str, before: Standing) -> Composition:
    """The cards that are gone when a game starts: none where it is dealt from a whole deck each time."""
    return before.gone if "dealt" in GAMES[game].carries else NOTHING


_DEALT: Final = frozenset({"stake", "loss", "win", "return"})
"""The movements that only the cards of a round make."""


def _may_move(entry: Entry, kinds: Sequence[str]) -> None:
    """Only rounds and the cage move chips, and the cage pays nobody's bet."""
    if kinds and entry.subject not in ("round", "chips", "seats"):
        raise _Wrong(entry.seq, f"it moves chips, which {entry.subject} entries never do")
    if entry.subject == "chips" and (dealt := _DEALT.intersection(kinds)):
        raise _Wrong(entry.seq, f"it makes a {min(dealt)} without a round")


_AT_SEAT: Final = re.compile(r"seat (\d+)")
"""How the log names a player, whom the house knows by the page of a seat alone."""


def _may_choose(entry: Entry, content: dict[str, Any], before: Standing) -> None:
    """A seat chooses for itself and enters nothing else; for one with facedown cards nobody else chooses."""
    actions: Sequence[Any] = content.get("actions", ()) if (entry.subject, entry.kind) == ("round", "play") else ()
    chosen = [action["seat"] for action in actions if action["do"] == "choose"]
    if player := _AT_SEAT.fullmatch(entry.by):
        own = [int(player[1])]
        secret = before.round is not None and before.round.secret and "opening" not in content
        if not secret or chosen != own or actions[0]["do"] != "choose":
            raise _Wrong(
                entry.seq, f"it is by {entry.by}, which may choose for itself at a house shoe, and nothing else"
            )
        return
    if before.round is not None and "opening" not in content:
        for seat in chosen:
            if before.round.hides_cards_of(seat):
                raise _Wrong(entry.seq, f"{entry.by} chose for seat {seat}, whose cards only that seat may know")


def _folded(before: Standing, entry: Entry, content: dict[str, Any]) -> Standing:
    try:
        return standing.fold(
            before, seq=entry.seq, subject=entry.subject, kind=entry.kind, round=entry.round, content=content
        )
    except Illegal as illegal:
        raise _Wrong(entry.seq, f"the rules do not allow it: {illegal.sentence}") from None
    except (ValueError, KeyError, TypeError, msgspec.ValidationError) as error:
        raise _Wrong(entry.seq, f"it is no entry that a table can write: {error}") from None


def _difference(expected: Sequence[Move], found: Sequence[Move]) -> str:
    for number, (due, moved) in enumerate(zip(expected, found, strict=False), 1):
        if due != moved:
            return f"its transfer {number} is {moved.spelled()}, the round's payouts make it {due.spelled()}"
    return f"it moved chips {len(found)} times, the round's payouts make it {len(expected)}"


# --- reading ---------------------------------------------------------------------------------------------------


def _recounted(book: Book, through: int) -> int:
    """The last recount through an entry or before it: the recounts are held against the transfers from there."""
    latest = Recount.objects.filter(book=book, through_seq__lte=through).aggregate(seq=Max("through_seq"))["seq"]
    return int(latest or 0)


def _anchors(book: Book, since: int, through: int) -> Iterator[tuple[int, bytes]]:
    """The (seq, hash) pairs that recounts and earlier proofs noted, in order: they show a chain hashed anew."""
    span = {"book": book, "through_seq__gt": since, "through_seq__lte": through}
    recounts = Recount.objects.filter(**span).values_list("through_seq", "head_hash")
    proofs = Verification.objects.filter(**span).values_list("through_seq", "head_hash")
    for seq, digest in recounts.union(proofs).order_by("through_seq").iterator():
        yield seq, bytes(digest)
