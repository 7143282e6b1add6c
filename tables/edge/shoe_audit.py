"""Shoes audited after the fact: what each round of a shoe that was shuffled away had been worth, and who bet by it.

A shoe is finished with the entry that shuffles it again or retires it. Until then nothing here looks at it: a row is
written for pairs of such entries only, from the log alone, once. Nothing that shuffles or deals may import this.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, ClassVar, Final

from django.db import models

from ledger.house import note
from ledger.models import AppendOnly, LogEntry
from ledger.proof.chain import Entry
from tables.handlers import checks
from tables.log.catalog import fold, read, read_as
from tables.log.entries.shoe_audits import AuditExported, AuditsListed, AuditViewed
from tables.log.entries.shoes import Shuffled
from tables.log.event import Misconduct
from tables.log.fold import Round, Standing
from tables.models import Staff, Table
from tables.roles import Role
from tables.scene import author_of

SCALE: Final = 10**15
"""Edges and variances are kept as whole numbers of this part: all that a double is good for, and no float in a row."""
GAME: Final = "rocket"


class ShoeAudit(AppendOnly):
    """One shoe from its shuffle to the next: its rounds with their edge, its seats with their test, and their sums."""

    book = models.ForeignKey("ledger.Book", on_delete=models.PROTECT, related_name="shoe_audits", db_index=False)
    shoe = models.IntegerField()
    """Its number at the table; it is shuffled many times."""
    begun_seq = models.BigIntegerField()
    ended_seq = models.BigIntegerField()
    begun_at = models.DateTimeField()
    ended_at = models.DateTimeField(db_index=True)
    rounds = models.JSONField()
    """For each: round, seq, decks, gone, unseen, edge and variance in SCALE; bets as [seat, staked, net] in cents."""
    seats = models.JSONField()
    """For each: seat, rounds, staked_cents, and of those that were tested correlation (in SCALE), as_much and of."""
    staked_cents = models.BigIntegerField()
    worth = models.DecimalField(max_digits=60, decimal_places=0)
    """The sum of edge x bet, in cents / SCALE."""
    spread = models.DecimalField(max_digits=60, decimal_places=0)
    """The sum of variance x bet squared."""
    squares = models.DecimalField(max_digits=60, decimal_places=0)
    """The sum of the squares of single bets."""
    crossed = models.DecimalField(max_digits=60, decimal_places=0)
    """The sum of the products of bets of two seats in one round, each pair twice."""
    crossed_spread = models.DecimalField(max_digits=60, decimal_places=0)
    """The same, times the round's variance."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "tables"
        verbose_name = "shoe audit"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["book", "ended_seq"], name="tables_shoeaudit_once"),
            models.UniqueConstraint(fields=["book", "begun_seq"], name="tables_shoeaudit_begun_once"),
            models.CheckConstraint(
                name="tables_shoeaudit_in_order", condition=models.Q(begun_seq__lt=models.F("ended_seq"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.book}, shoe {self.shoe} from entry {self.begun_seq}"

    @property
    def table(self) -> Table:
        table: Table = self.book.table
        return table


# --- Auditing what is finished ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Finished:
    """A shoe between its shuffle and the entry that ended it."""

    book_id: int
    shoe: int
    begun: tuple[int, datetime]
    ended: tuple[int, datetime]


def audit_shoes() -> int:
    """Audit every finished shoe that is not; how many had a seat that somebody should look at.

    Each row is committed as it is made, so a worker that was killed is gone on with. What is read of a table begins
    with the last shoe that was audited there.
    """
    return sum(_audit(shoe) for table in _tables() for shoe in finished(table.book_id, _audited_through(table.book_id)))


def _tables() -> Iterable[Table]:
    """Those that deal the game, and those that did when last looked at: their last shoe may wait."""
    audited = models.Exists(ShoeAudit.objects.filter(book_id=models.OuterRef("book_id")))
    return Table.objects.filter(models.Q(game=GAME) | audited).order_by("pk")


def _audited_through(book_id: int) -> int:
    """The entry that ended the shoe that was audited last."""
    last = ShoeAudit.objects.filter(book_id=book_id).order_by("-ended_seq").values_list("ended_seq", flat=True).first()
    return last or 0


def finished(book_id: int, since: int) -> Iterator[Finished]:
    """The shoes that were shuffled at an entry or after it, and shuffled away since: never the one on the table."""
    entries = LogEntry.objects.filter(book_id=book_id, subject="shoe", kind__in=("shuffled", "retired"), seq__gte=since)
    marks = entries.order_by("seq").values_list("seq", "at", "kind", "body")
    for (seq, start, kind, body), (until, end, _, _) in pairwise(marks.iterator()):
        if kind == "shuffled":
            yield Finished(book_id, read_as(Shuffled, body).shoe.number, (seq, start), (until, end))


def _audit(shoe: Finished) -> bool:
    """Write the row of a shoe, unless another worker did; whether a seat of it should be looked at."""
    rounds = [_round_facts(round_) for round_ in dealt_from(shoe) if round_.game.name == GAME]
    seats = tested(rounds, f"{shoe.book_id} {shoe.begun[0]}")
    bets_of = [(line, [bet for _, bet, _ in line["bets"]]) for line in rounds]
    row = ShoeAudit(
        book_id=shoe.book_id,
        shoe=shoe.shoe,
        begun_seq=shoe.begun[0],
        begun_at=shoe.begun[1],
        ended_seq=shoe.ended[0],
        ended_at=shoe.ended[1],
        rounds=rounds,
        seats=seats,
        staked_cents=sum(sum(bets) for _, bets in bets_of),
        worth=sum(line["edge"] * sum(bets) for line, bets in bets_of),
        spread=sum(line["variance"] * _squares(bets) for line, bets in bets_of),
        squares=sum(_squares(bets) for _, bets in bets_of),
        crossed=sum(_cross_products(bets) for _, bets in bets_of),
        crossed_spread=sum(line["variance"] * _cross_products(bets) for line, bets in bets_of),
    )
    # The database holds one row for each shoe: of two workers at it, the later one's row is dropped.
    ShoeAudit.objects.bulk_create([row], ignore_conflicts=True)
    return any(flagged(seat) for seat in seats)


def _squares(bets: Iterable[int]) -> int:
    return sum(bet * bet for bet in bets)


def _cross_products(bets: Sequence[int]) -> int:
    return sum(bets) ** 2 - _squares(bets)


def dealt_from(shoe: Finished) -> Iterator[Round]:
    """The rounds that were settled from a shoe, as the log tells them with all that was taken back."""
    entries = LogEntry.objects.filter(
        book_id=shoe.book_id, subject="round", seq__gt=shoe.begun[0], seq__lt=shoe.ended[0]
    ).order_by("seq")
    rows = entries.values_list("round", "seq", "kind", "body").iterator()
    for number, group in groupby(rows, key=itemgetter(0)):
        standing = Standing()
        for _, seq, kind, body in group:
            standing = fold(standing, read("round", kind, body), seq=seq, round=number)
        if standing.round is not None and standing.round.plays and standing.round.over:
            yield standing.round


def _round_facts(round_: Round) -> dict[str, Any]:
    """A round with the exact edge and variance of a bet, from what nobody had seen before it."""
    from tables.games.cards import shoe
    from tables.maths.situation import Situation
    from tables.maths.value import solve

    dealt, rules = round_.opening.dealt, round_.rules
    unseen = tuple(full - out for full, out in zip(shoe(rules.decks), dealt, strict=True))
    solution = solve(Situation(rules.decks, unseen, rules.burn))
    return {
        "round": round_.number,
        "seq": round_.plays[-1].seq,
        "decks": rules.decks,
        "gone": list(dealt),
        "unseen": sum(unseen),
        "edge": round(solution.house_edge * SCALE),
        "variance": round(solution.variance * SCALE),
        "bets": [[payout.seat, payout.staked_cents, payout.net_cents] for payout in round_.settled],
    }


def tested(rounds: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Every seat that bet, and how its bets lay to the edge. The name seeds the test, so that it can be done again."""
    from tables.maths.following import Course, follow

    course = Course(tuple(line["edge"] / SCALE for line in rounds), tuple(line["unseen"] for line in rounds))
    seats = []
    for seat in sorted({seat for line in rounds for seat, _, _ in line["bets"]}):
        results = [next(((bet, net) for number, bet, net in line["bets"] if number == seat), (0, 0)) for line in rounds]
        bets, nets = [bet for bet, _ in results], [net for _, net in results]
        facts: dict[str, Any] = {"seat": seat, "rounds": sum(map(bool, bets)), "staked_cents": sum(bets)}
        seed = int.from_bytes(sha256(f"{name} {seat}".encode()).digest()[:8])
        if test := follow(course, bets, nets, seed=seed):
            facts |= {"correlation": round(test.correlation * SCALE), "as_much": test.as_much, "of": test.of}
        seats.append(facts)
    return seats


# --- Reading ---------------------------------------------------------------------------------------------------


class NotFinished(Exception):
    """The shoe is on the table, or its audit is to come; the text says which."""


def of(table: Table, begun_seq: int) -> ShoeAudit | None:
    """The audit of the shoe that an entry shuffled; None where none was. Raises NotFinished."""
    row = ShoeAudit.objects.filter(book_id=table.book_id, begun_seq=begun_seq).select_related("book__table").first()
    entries = LogEntry.objects.filter(book_id=table.book_id, subject="shoe", kind__in=("shuffled", "retired"))
    if row is not None or not entries.filter(seq=begun_seq, kind="shuffled").exists():
        return row
    if not entries.filter(seq__gt=begun_seq).exists():
        raise NotFinished(f"This shoe is on {table.name}: it is audited once it is shuffled again or retired.")
    raise NotFinished(f"This shoe of {table.name} is finished, and not audited yet: look again in ten minutes.")


def chance_of(seat: dict[str, Any]) -> float | None:
    """How likely a seat's bets are of somebody who does not bet by the cards; None where it was not tested."""
    return (1 + seat["as_much"]) / (1 + seat["of"]) if "of" in seat else None


def flagged(seat: dict[str, Any]) -> bool:
    """Whether somebody should look at a seat: its ``chance_of`` is at most ``LEVEL``."""
    from tables.maths.following import LEVEL

    chance = chance_of(seat)
    return chance is not None and chance <= LEVEL


def listed(by: Staff, day: date) -> None:
    """Write into the house's book who looked at the list of a day, before it is shown."""
    note(AuditsListed(**author_of(by), day=day.isoformat()), by.signature)


def viewed(by: Staff, row: ShoeAudit, *, as_copy: bool = False) -> None:
    """Write into the house's book who looked at which audit, or took a copy of it, before it is shown."""
    event = AuditExported if as_copy else AuditViewed
    fields = author_of(by) | {"table": row.book.name, "shoe": row.shoe, "begun_seq": row.begun_seq}
    note(event(**fields), by.signature)


@checks(AuditsListed, AuditViewed, AuditExported)
def check_view(event: AuditsListed | AuditViewed, entry: Entry) -> None:
    """Whoever looked was an auditor, and the shoe was finished by then."""
    if event.role != Role.AUDITOR:
        raise Misconduct("it shows a shoe's audit to somebody who is no auditor")
    if isinstance(event, AuditsListed):
        return
    row = ShoeAudit.objects.filter(book__name=event.table, begun_seq=event.begun_seq).first()
    if row is None or entry.at is None or row.ended_at > entry.at:
        raise Misconduct("it shows the audit of a shoe that was not finished")
