"""Audits of finished shoes: the edge before each round, and whether a seat's bets followed it.

A shoe is finished with the entry that shuffles it again or retires it. Until then nothing here looks at it: a row is
written for pairs of such entries only, from the log alone, once. Nothing that shuffles or deals may import this.

The game's provider (`tables.maths.advantage.providers`) values a wager before a round. It is imported late: the rows
and the checks of looks at them are here also where ADVANTAGE_ANALYSIS is off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from django.db import models
from msgspec import structs

from ledger.models import AppendOnly, LogEntry
from ledger.proof.chain import Entry
from ledger.site_log import append
from tables.floor.command_context import author_of
from tables.floor.handlers import checks
from tables.games.cards import Composition, pack_of
from tables.games.play import replay
from tables.games.protocol import MAIN, Bet, Card, CloseBets, Limits, Payout, Shuffle
from tables.log.catalog import fold, read, read_as
from tables.log.entries.shoe_audits import AuditExported, AuditsListed, AuditViewed
from tables.log.entries.shoes import Shuffled
from tables.log.event import AuditFailure
from tables.log.state import CONTINUOUS, Round, TableState
from tables.maths.situation import Unknowable
from tables.maths.worth import Edge
from tables.models import Staff, Table
from tables.roles import Role

if TYPE_CHECKING:
    from tables.maths.advantage.bet_following import SeatHistory, ShoeEdges

SCALE: Final = 10**15
"""Unit of stored edges and variances, which are integers: the precision of a double, without floats in rows."""


class ShoeAudit(AppendOnly):
    """A wager in one shoe from its shuffle to the next: its edge before each round, its bets, its tests and its sums.

    A shoe has a row for each wager that was bet on, or a single row if there were no bets or nothing to audit.
    """

    book = models.ForeignKey("ledger.Book", on_delete=models.PROTECT, related_name="shoe_audits", db_index=False)
    shoe = models.IntegerField()
    """Its number at the table; one shoe is shuffled many times."""
    wager = models.CharField(max_length=40, default=MAIN, db_default=MAIN)
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
    """Sum of the products of the bets of two seats in one round, each pair twice."""
    crossed_spread = models.DecimalField(max_digits=60, decimal_places=0)
    """Sum of the products of the bets of two seats in one round, each pair twice, times the round's variance."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "tables"
        verbose_name = "shoe audit"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["book", "ended_seq", "wager"], name="tables_shoeaudit_once"),
            models.UniqueConstraint(fields=["book", "begun_seq", "wager"], name="tables_shoeaudit_begun_once"),
            models.CheckConstraint(
                name="tables_shoeaudit_in_order", condition=models.Q(begun_seq__lt=models.F("ended_seq"))
            ),
        ]

    def __str__(self) -> str:
        return f"{self.book}, shoe {self.shoe} from entry {self.begun_seq}, {self.wager}"

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
    source: str
    begun: tuple[int, datetime]
    ended: tuple[int, datetime]


def audit_shoes() -> int:
    """Audit every finished shoe that was not audited; returns how many have a seat to be reviewed.

    The rows of a shoe are committed as they are computed, so that work continues after a killed worker. Reading a table
    starts at its last audited shoe.
    """
    return sum(audited for table in _tables() for audited in _audit_table(table.book_id))


def _tables() -> Iterable[Table]:
    """Tables that deal an audited game, or did at the last audit: their last shoe may not be audited yet."""
    from tables.maths.advantage import providers

    rows = models.Exists(ShoeAudit.objects.filter(book_id=models.OuterRef("book_id")))
    return Table.objects.filter(models.Q(game__in=providers.ROUND_PROVIDERS) | rows).order_by("pk")


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
            shoe = read_as(Shuffled, body).shoe
            yield Finished(book_id, shoe.number, shoe.source, (seq, start), (until, end))


def _audit_table(book_id: int) -> Iterator[bool]:
    """For each audited shoe, whether a seat has to be reviewed.

    Shoes that are shuffled before every round, or continuously, reveal nothing and have no row, except an empty one for
    the latest, which records how far the table was read.
    """
    passed = None
    for shoe in finished(book_id, _audited_through(book_id)):
        rounds = _audited_rounds(shoe)
        passed = shoe if rounds is None else None
        if rounds is not None:
            yield audit_shoe(shoe, rounds)
    if passed is not None:
        audit_shoe(passed, [])


def _audited_rounds(shoe: Finished) -> list[Round] | None:
    """The rounds of a shoe that can be audited; None for a shoe whose cards never reveal anything."""
    from tables.maths.advantage import providers

    if shoe.source == CONTINUOUS:
        return None
    rounds = list(dealt_from(shoe))
    audited = [
        round_
        for round_ in rounds
        if round_.game.name in providers.ROUND_PROVIDERS and not round_.game.is_fresh_each_round(round_.rules)
    ]
    return None if rounds and not audited else audited


def audit_shoe(shoe: Finished, rounds: Sequence[Round]) -> bool:
    """Write the rows of a shoe, unless another worker did; returns whether a seat has to be reviewed."""
    valued = [audited for round_ in rounds if (audited := _valued(round_)) is not None]
    rows = [_row(shoe, wager, valued) for wager in _wagers(valued)]
    # The database admits one row for each wager of a shoe: of two concurrent workers, the later one's rows are
    # dropped.
    ShoeAudit.objects.bulk_create(rows, ignore_conflicts=True)
    return any(flagged(seat) for row in rows for seat in row.seats)


def _row(shoe: Finished, wager: str, valued: Sequence[Valued]) -> ShoeAudit:
    """A wager of a shoe, with its sums."""
    rounds = [audited.facts(wager) for audited in valued if wager in audited.edges]
    bets_of = [(line, [bet for _, bet, _ in line["bets"]]) for line in rounds]
    return ShoeAudit(
        book_id=shoe.book_id,
        shoe=shoe.shoe,
        wager=wager,
        begun_seq=shoe.begun[0],
        begun_at=shoe.begun[1],
        ended_seq=shoe.ended[0],
        ended_at=shoe.ended[1],
        rounds=rounds,
        seats=tested(wager, valued, f"{shoe.book_id} {shoe.begun[0]}" + (f" {wager}" if wager != MAIN else "")),
        staked_cents=sum(sum(bets) for _, bets in bets_of),
        worth=sum(line["edge"] * sum(bets) for line, bets in bets_of),
        spread=sum(line["variance"] * _squares(bets) for line, bets in bets_of),
        squares=sum(_squares(bets) for _, bets in bets_of),
        crossed=sum(_cross_products(bets) for _, bets in bets_of),
        crossed_spread=sum(line["variance"] * _cross_products(bets) for line, bets in bets_of),
    )


def _squares(bets: Iterable[int]) -> int:
    return sum(bet * bet for bet in bets)


def _cross_products(bets: Sequence[int]) -> int:
    return sum(bets) ** 2 - _squares(bets)


def _wagers(valued: Sequence[Valued]) -> list[str]:
    """The wagers that were bet on in a shoe, in the game's order."""
    names = dict.fromkeys(name for audited in valued for name in audited.edges)
    return [name for name in names if any(audited.bets_on(name) for audited in valued)] or [next(iter(names), MAIN)]


def dealt_from(shoe: Finished) -> Iterator[Round]:
    """The rounds settled from a shoe, after all take-backs in the log."""
    entries = LogEntry.objects.filter(
        book_id=shoe.book_id, subject="round", seq__gt=shoe.begun[0], seq__lt=shoe.ended[0]
    ).order_by("seq")
    rows = entries.values_list("round", "seq", "kind", "body").iterator()
    for number, group in groupby(rows, key=itemgetter(0)):
        standing = TableState()
        for _, seq, kind, body in group:
            standing = fold(standing, read("round", kind, body), seq=seq, round=number)
        current = standing.round
        # The cards of a void round count as gone in the next opening, and it has no bets.
        if current is not None and current.plays and current.over and not current.voided:
            yield current


# --- What a round was worth ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Valued:
    """A round with the edge of each wager, from the composition unseen before it."""

    round: Round
    decks: int
    unseen: Composition
    edges: Mapping[str, Edge]
    stakes: Mapping[str, tuple[WagerBet, ...]]
    outcomes: Mapping[str, int]
    """In games with shared hands: above 0 if a wager won, below 0 if it lost."""

    def bets_on(self, wager: str) -> tuple[WagerBet, ...]:
        """What each seat bet on a wager before the cards, and its net result with all later additions."""
        return self.stakes.get(wager, ())

    def facts(self, wager: str) -> dict[str, Any]:
        """The round as a row keeps it."""
        edge = self.edges[wager]
        return {
            "round": self.round.number,
            "seq": self.round.plays[-1].seq,
            "decks": self.decks,
            "gone": list(self.round.opening.dealt),
            "unseen": sum(self.unseen),
            "edge": round(edge.house * SCALE),
            "variance": round(edge.variance * SCALE),
            "bets": [list(stake) for stake in self.bets_on(wager)],
        }


class WagerBet(NamedTuple):
    """A seat's bet on one wager."""

    seat: int
    staked_cents: int
    net_cents: int


def _valued(round_: Round) -> Valued | None:
    """A round with edge and variance of each wager; None if too few cards were left to compute them."""
    from tables.maths.advantage import providers

    values = providers.round_provider(round_.game.name)
    dealt, decks = round_.opening.dealt, round_.game.decks(round_.rules)
    unseen = tuple(full - out for full, out in zip(pack_of(dealt).shoes[decks], dealt, strict=True))
    if values is None:
        return None
    try:
        edges = values.edges(round_.rules, unseen)
    except Unknowable:
        return None
    return Valued(round_, decks, unseen, edges, _stakes(round_, edges), _outcomes(round_, edges))


def _stakes(round_: Round, edges: Mapping[str, Edge]) -> dict[str, tuple[WagerBet, ...]]:
    """Bets placed before the cards, by wager. Later additions count with the first wager."""
    first, stakes = next(iter(edges)), dict[str, list[WagerBet]]()
    for payout in round_.game.settle(round_.state):  # a commission counts in its round, whenever it is collected
        bets, nets = _bets_of(payout, first, edges)
        for wager, staked in bets.items():
            stakes.setdefault(wager, []).append(WagerBet(payout.seat, staked, nets[wager]))
    return {wager: tuple(seats) for wager, seats in stakes.items()}


def _bets_of(payout: Payout, first: str, edges: Mapping[str, Edge]) -> tuple[dict[str, int], dict[str, int]]:
    """A seat's bet on each wager, and its net win by it, in cents."""
    if not payout.wagers:
        return {first: payout.staked_cents}, {first: payout.net_cents}
    bets: dict[str, int] = {}
    nets: dict[str, int] = {}
    for settled in payout.wagers:
        wager = settled.bet if settled.bet in edges else first
        nets[wager] = nets.get(wager, 0) + settled.net_cents
        name, cents = settled.put_up[0]
        if name in edges:
            bets[name] = bets.get(name, 0) + cents
    return bets, nets


_PROBE_UNITS: Final = 1_000
"""Stake on a wager to compute its result: large enough that no winnings are rounded to nothing."""


def _outcomes(round_: Round, edges: Mapping[str, Edge]) -> dict[str, int]:
    """The result of each wager, including those that were not bet on.

    In a game without decisions the round's cards are dealt again to a seat that bets on the wager.
    """
    game, rules = round_.game, round_.rules
    if game.words:
        return {}
    opening = structs.replace(round_.opening, seats=(1,), limits=Limits())
    cards = [action for entry in round_.plays for action in entry.actions if isinstance(action, Card | Shuffle)]
    outcomes = {}
    for wager in edges:
        bet = Bet(1, _PROBE_UNITS * rules.unit, wager)
        state = replay(game, rules, opening, (bet, CloseBets(), *cards))
        outcomes[wager] = game.settle(state)[0].net_cents
    return outcomes


# --- The test --------------------------------------------------------------------------------------------------


def tested(wager: str, valued: Sequence[Valued], name: str) -> list[dict[str, Any]]:
    """Every seat that bet on a wager, and how its bets lay to the edge. The name seeds the test, so that it can be done
    again."""
    from tables.maths.advantage.bet_following import FEWER, PERMUTATIONS, follow_wager, window_of

    rounds = [audited for audited in valued if wager in audited.edges]
    course: ShoeEdges | None = None
    seats = []
    for seat in sorted({stake.seat for audited in rounds for stake in audited.bets_on(wager)}):
        bets = [next((stake.staked_cents for stake in line.bets_on(wager) if stake.seat == seat), 0) for line in rounds]
        facts: dict[str, Any] = {"seat": seat, "rounds": sum(map(bool, bets)), "staked_cents": sum(bets)}
        seed = int.from_bytes(sha256(f"{name} {seat}".encode()).digest()[:8])
        played = _played(seat, wager, rounds)
        if window_of(bets, played) is not None:
            course = course or _course(wager, rounds)
            permutations = PERMUTATIONS if course.yardstick is None else FEWER
            test = follow_wager(course, bets, played, seed=seed, permutations=permutations)
            assert test is not None  # noqa: S101 -- there is something to test
            facts |= {"correlation": round(test.correlation * SCALE), "as_much": test.as_much, "of": test.of}
        seats.append(facts)
    return seats


def _course(wager: str, rounds: Sequence[Valued]) -> ShoeEdges:
    """The edge of a wager round by round, with what its test needs for other orders of the cards."""
    from tables.maths.advantage import providers
    from tables.maths.advantage.bet_following import ShoeEdges
    from tables.maths.advantage.linear_edge import yardsticks

    edges = tuple(round(audited.edges[wager].house * SCALE) / SCALE for audited in rounds)
    sizes = tuple(sum(audited.unseen) for audited in rounds)
    if not rounds or providers.is_linear(rounds[0].round.game.name):
        return ShoeEdges(edges, sizes)
    current, decks = rounds[-1].round, rounds[-1].decks
    sticks = yardsticks(current.game.name, current.rules, pack_of(current.opening.dealt), decks)
    return ShoeEdges(edges, sizes, tuple(audited.unseen for audited in rounds), sticks[wager])


def _played(seat: int, wager: str, rounds: Sequence[Valued]) -> SeatHistory:
    """A seat's results and stakes on all its wagers."""
    from tables.maths.advantage.bet_following import SeatHistory

    own = [[stake for stakes in line.stakes.values() for stake in stakes if stake.seat == seat] for line in rounds]
    return SeatHistory(
        results=tuple(sum(stake.net_cents for stake in stakes) for stakes in own),
        staked=tuple(sum(stake.staked_cents for stake in stakes) for stakes in own),
        outcomes=tuple(line.outcomes.get(wager, 0) for line in rounds),
    )


# --- Reading ---------------------------------------------------------------------------------------------------


class NotFinished(Exception):
    """The shoe is on the table, or its audit is to come; the text says which."""


def of(table: Table, begun_seq: int) -> list[ShoeAudit]:
    """The audit of the shoe that an entry shuffled, by wager; empty if it was not audited. Raises NotFinished."""
    rows = ShoeAudit.objects.filter(book_id=table.book_id, begun_seq=begun_seq).select_related("book__table")
    audits = list(rows.order_by("pk"))
    entries = LogEntry.objects.filter(book_id=table.book_id, subject="shoe", kind__in=("shuffled", "retired"))
    if audits or not entries.filter(seq=begun_seq, kind="shuffled").exists():
        return audits
    if not entries.filter(seq__gt=begun_seq).exists():
        raise NotFinished(f"This shoe is on {table.name}: it is audited once it is shuffled again or retired.")
    if _audited_through(table.book_id) > begun_seq:
        raise NotFinished(f"This shoe of {table.name} was shuffled for every round: its cards told nobody anything.")
    raise NotFinished(f"This shoe of {table.name} is finished, and not audited yet: look again in ten minutes.")


def title_of(row: ShoeAudit) -> str:
    """Title of the wager; "" if it is a seat's only bet."""
    return "" if row.wager == MAIN else row.wager.replace("_", " ")


def chance_of(seat: dict[str, Any]) -> float | None:
    """Probability of bets that follow the edge this closely if the seat ignores the cards; None if it was not
    tested."""
    return (1 + seat["as_much"]) / (1 + seat["of"]) if "of" in seat else None


def flagged(seat: dict[str, Any]) -> bool:
    """Whether a seat has to be reviewed: its `chance_of` is at most `significance.LEVEL`."""
    from tables.maths.advantage.significance import LEVEL

    chance = chance_of(seat)
    return chance is not None and chance <= LEVEL


def listed(by: Staff, day: date) -> None:
    """Record in the site log who viewed the list of a day, before it is shown."""
    append(AuditsListed(**author_of(by), day=day.isoformat()), by.signature)


def viewed(by: Staff, row: ShoeAudit, *, as_copy: bool = False) -> None:
    """Record in the site log who viewed or copied which audit, before it is shown."""
    event = AuditExported if as_copy else AuditViewed
    fields = author_of(by) | {"table": row.book.name, "shoe": row.shoe, "begun_seq": row.begun_seq}
    append(event(**fields), by.signature)


@checks(AuditsListed, AuditViewed, AuditExported)
def check_view(event: AuditsListed | AuditViewed, entry: Entry) -> None:
    """The viewer was an auditor, and the shoe was finished."""
    if event.role != Role.AUDITOR:
        raise AuditFailure("it shows a shoe's audit to somebody who is no auditor")
    if isinstance(event, AuditsListed):
        return
    row = ShoeAudit.objects.filter(book__name=event.table, begun_seq=event.begun_seq).order_by("pk").first()
    if row is None or entry.at is None or row.ended_at > entry.at:
        raise AuditFailure("it shows the audit of a shoe that was not finished")
