"""What a table's log said up to one entry: a round as it stood then, and the newest word on a matter that has a state.

Disputes and corrections rest on it, on the floor as in a proof: both ask with the number of an entry, and get the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from django.db import connection

from ledger.models import LogEntry
from ledger.proof.spelling import canonical
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
    """A round as the log told it up to one entry."""

    round: Round
    first_seq: int
    last_seq: int
    last_hash: str
    """The hash of its last entry, which names everything before it."""
    entered_by: frozenset[str]
    """Who entered its inputs, as the log signs them."""

    @property
    def over(self) -> bool:
        """Whether it was settled."""
        return bool(self.round.plays) and self.round.over

    @property
    def settled_seq(self) -> int:
        """The entry that settled it."""
        return self.round.plays[-1].seq

    @property
    def record_hash(self) -> str | None:
        """The SHA-256 of its round record, with its decisions as the log has them; None while it goes on and holds what
        nobody may know yet."""
        if self.round.secret and not self.over:
            return None
        current = self.round
        actions = [action for play in current.plays for action in play.actions]
        record = record_as_logged(current.game, current.rules, current.opening, actions, voided=current.voided)
        return sha256(canonical(record)).hexdigest()

    def payout(self, seat: int) -> Payout | None:
        """What became of a seat, in cents."""
        return next((payout for payout in self.round.settled if payout.seat == seat), None)


def as_of(book_id: int, number: int, through_seq: int) -> RoundAsOf | None:
    """A round as it stood at an entry; None where it was not dealt by then."""
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
    """What the newest entry of a subject at a table said, up to an entry."""
    entries = LogEntry.objects.filter(book_id=book_id, subject=subject, seq__lte=through_seq)
    row = entries.order_by("-seq").values_list("kind", "body").first()
    return None if row is None else read(subject, row[0], row[1])


_ABOUT: Final = """
    SELECT seq, kind, body FROM ledger_logentry
    WHERE book_id = %s AND subject = %s AND seq <= %s AND position(%s::bytea IN body) > 0 ORDER BY seq
"""


@dataclass(frozen=True, slots=True)
class Word:
    """One entry on a matter."""

    seq: int
    event: Event


def about(book_id: int, subject: str, piece: str, through_seq: int) -> Iterator[Word]:
    """The entries of a subject with a piece of JSON in their body, in order.

    Bodies are canonical JSON, and text in them is escaped, so a piece is found as bytes. It costs what there is of the
    subject at the table, not what was dealt there.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ABOUT, [book_id, subject, through_seq, piece.encode()])
        rows = cursor.fetchall()
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
    """The newest entry up to one with which the ledger took over what lay in the rack; 0 where there is none. Two
    counts that differ come to nothing, so they are none."""
    with connection.cursor() as cursor:
        cursor.execute(_LAST_COUNT, {"book": book_id, "through": through_seq})
        since = int(cursor.fetchone()[0] or 0)
    counts = LogEntry.objects.filter(book_id=book_id, subject="slip", kind__in=RACK_COUNTS)
    between = counts.filter(seq__gt=since, seq__lte=through_seq).order_by("-seq")
    for seq, body in between.values_list("seq", "body"):
        if read_as(SlipSigned, body).after.agreed is not None:
            return int(seq)
    return since


# --- Words ------------------------------------------------------------------------------------------


def words(text: str, what: str) -> str:
    """What somebody wrote, trimmed. Raises Refused for nothing, for too much, and for what does not print."""
    trimmed = " ".join(text.split())
    if not trimmed:
        raise Refused("no_words", f"Say in a few words {what}.", 422)
    if len(trimmed) > MOST_WORDS or not trimmed.isprintable():
        raise Refused("bad_words", f"Say {what} in at most {MOST_WORDS} plain characters.", 422)
    return trimmed
