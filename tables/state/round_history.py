"""A table's log up to an entry: a round as of that entry, and the latest entry on a subject.

Disputes and corrections use it, live and in verification: both pass the number of an entry and get equal results.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from ledger.models import LogEntry
from ledger.proof.spelling import canonical
from ledger.raw_rows import fetch_row, fetch_rows
from tables.games.protocol import Payout
from tables.games.record import record_as_logged
from tables.log.catalog import fold, read, read_as
from tables.log.entries.rounds import Voided
from tables.log.entries.slips import SlipSigned
from tables.log.event import Event
from tables.log.slip_types import RACK_COUNTS
from tables.log.state import Round, TableState
from tables.refusals import Refused

MOST_WORDS: Final = 500


@dataclass(frozen=True, slots=True)
class RoundAsOf:
    """A round as of an entry."""

    round: Round
    first_seq: int
    last_seq: int
    last_hash: str
    """Hash of its last entry, which depends on everything before it."""
    entered_by: frozenset[str]
    """Authors of its inputs, as signed in the log."""

    @property
    def over(self) -> bool:
        """Whether it was settled."""
        return bool(self.round.plays) and self.round.over

    @property
    def settled_seq(self) -> int:
        """Number of the entry that settled it."""
        return self.round.plays[-1].seq

    @property
    def record_hash(self) -> str | None:
        """SHA-256 of its round record, with the decisions in the log; None while the round still hides cards."""
        if self.round.secret and not self.over:
            return None
        current = self.round
        actions = [action for play in current.plays for action in play.actions]
        record = record_as_logged(current.game, current.rules, current.opening, actions, voided=current.voided)
        return sha256(canonical(record)).hexdigest()

    def payout(self, seat: int) -> Payout | None:
        """A seat's result, in cents; None if it has none."""
        return next((payout for payout in self.round.settled if payout.seat == seat), None)


def as_of(book_id: int, number: int, through_seq: int) -> RoundAsOf | None:
    """A round as of an entry; None if it had not begun."""
    entries = LogEntry.objects.filter(book_id=book_id, round=number, seq__lte=through_seq, subject="round")
    rows = list(entries.order_by("seq").values_list("seq", "kind", "by", "body", "hash"))
    standing = TableState()
    for seq, kind, _, body, _ in rows:
        standing = fold(standing, read("round", kind, body), seq=seq, round=number)
    if standing.round is None:
        return None
    played_by = frozenset(by for _, kind, by, _, _ in rows if kind != Voided.kinds[0])
    return RoundAsOf(standing.round, rows[0][0], rows[-1][0], bytes(rows[-1][4]).hex(), played_by)


def latest(book_id: int, subject: str, through_seq: int) -> Event | None:
    """The newest event of a subject at a table, up to an entry."""
    entries = LogEntry.objects.filter(book_id=book_id, subject=subject, seq__lte=through_seq)
    row = entries.order_by("-seq").values_list("kind", "body").first()
    return None if row is None else read(subject, row[0], row[1])


_ABOUT: Final = """
    SELECT seq, kind, body FROM ledger_logentry
    WHERE book_id = %s AND subject = %s AND seq <= %s AND position(%s::bytea IN body) > 0 ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class Word:
    """One entry on a subject, with its number."""

    seq: int
    event: Event


def about(book_id: int, subject: str, piece: str, through_seq: int) -> Iterator[Word]:
    """The entries of a subject whose body contains a piece of JSON, in order.

    Bodies are canonical JSON with escaped text, so the piece can be found as bytes. The cost depends on the entries of
    the subject at the table, not on the rounds dealt there.
    """
    rows = fetch_rows(_ABOUT, [book_id, subject, through_seq, piece.encode()])
    for seq, kind, body in rows:
        yield Word(seq, read(subject, kind, body))


_LAST_COUNT: Final = """
    SELECT greatest(
        (SELECT max(seq) FROM ledger_logentry WHERE book_id = %(book)s AND seq <= %(through)s AND subject = 'table'
            AND kind IN ('opened', 'closed')),
        (SELECT max(seq) FROM ledger_logentry WHERE book_id = %(book)s AND seq <= %(through)s AND subject = 'chips'
            AND kind = 'counted'))
"""


def last_count(book_id: int, through_seq: int) -> int:
    """Number of the newest entry that set the rack by a count, up to an entry; 0 if there is none.

    A rack count with two differing results sets nothing.
    """
    since = int(fetch_row(_LAST_COUNT, {"book": book_id, "through": through_seq})[0] or 0)
    counts = LogEntry.objects.filter(book_id=book_id, subject="slip", kind__in=RACK_COUNTS)
    between = counts.filter(seq__gt=since, seq__lte=through_seq).order_by("-seq")
    for seq, body in between.values_list("seq", "body"):
        if read_as(SlipSigned, body).after.agreed is not None:
            return int(seq)
    return since


# --- Words ------------------------------------------------------------------------------------------


def words(text: str, what: str) -> str:
    """Text from a user, trimmed. Raises Refused if it is empty, too long or not printable.

    `what` completes the message.
    """
    trimmed = " ".join(text.split())
    if not trimmed:
        raise Refused("no_words", f"Say in a few words {what}.", 422)
    if len(trimmed) > MOST_WORDS or not trimmed.isprintable():
        raise Refused("bad_words", f"Say {what} in at most {MOST_WORDS} plain characters.", 422)
    return trimmed
