"""The cage: chip sales and redemptions, vault and cage transfers, and counts of both.

Everything is recorded in the site's log. Sales and redemptions need one signature, the cashier's. Site slips are signed
like table slips (``slip_signatures.py``); ``CageDesk`` is their desk.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from ledger import alerts, cage, site_log
from ledger.models import HOUSE, Account, Book, LogEntry
from ledger.proof.chain import Head
from ledger.proof.chips import BANK, CAGE, DEPOSITARY, PLAYERS, TRANSIT, VAULT, VAULT_CASH, called, money
from ledger.proof.moves import Chart
from ledger.proof.slip_name import NotASlipName, SlipName
from tables.cage import available_balance, blind_counts, chip_series, custody_items, slip_signatures
from tables.floor import back_entry, signature_checks, writer
from tables.floor.back_entry import FromPaper
from tables.floor.command_context import Decision, PendingEntry
from tables.floor.inputs import BeginSlip, RedeemChips, SellAtTheCage, SignSlip, VoidSlip
from tables.floor.writer import Request
from tables.log.attestation import Attestation
from tables.log.catalog import read_as
from tables.log.entries.chips import Redeemed, SoldAtTheCage
from tables.log.entries.slips import HouseSlipSigned, SlipSigned
from tables.log.event import Event
from tables.log.settlement import at_the_counter
from tables.log.slip_types import SLIPS, Chips, Stage, total
from tables.log.slip_workflow import Slip, as_typed
from tables.models import Denomination, SeriesRetirement, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import cash_policies

BOOK: Final = HOUSE
"""The log of all cage entries: the site's."""
MOST_CENTS: Final = 10**12
"""The largest amount of one sale or redemption, in cents. A larger one is taken for a typing error."""


@dataclass(frozen=True, slots=True)
class Holdings:
    """Present balances of the site, in cents, by place."""

    vault: int
    cage: int
    bank: int
    """The cage's cash."""
    vault_cash: int
    depositary: int
    """Net cash paid to the outside bank; negative if more was received from it."""
    tables: int
    """All tables: in racks, on layouts, in bets, in pots and in transit."""
    outstanding: int
    """Held by players: the outstanding chip liability."""
    on_the_way: int
    """In transit between tables and cage; included in ``tables``."""


def holdings() -> Holdings:
    """The present balances over all logs."""
    net = cage.net_effect(cage.all_books())
    sums: dict[str, int] = {}
    for account, place in Account.objects.values_list("pk", "place"):
        sums[place] = sums.get(place, 0) + net.get(account, 0)
    at_tables = sum(sums.get(place, 0) for place in ("rack", "layout", "seat", "pot", "transit"))
    return Holdings(
        vault=sums.get(VAULT, 0),
        cage=sums.get(CAGE, 0),
        bank=sums.get(BANK, 0),
        vault_cash=sums.get(VAULT_CASH, 0),
        depositary=sums.get(DEPOSITARY, 0),
        tables=at_tables,
        outstanding=sums.get(PLAYERS, 0),
        on_the_way=sums.get(TRANSIT, 0),
    )


def sell(
    amount_cents: int,
    *,
    chips: Chips = (),
    by: Staff,
    key: UUID,
    of_series: tuple[tuple[int, str], ...] = (),
    currency: str = "",
    attested: Attestation | None = None,
    paper: FromPaper | None = None,
) -> None:
    """Sell chips to a player for cash. Raises Refused; then nothing is recorded.

    ``chips`` are the chips by denomination, if they were entered. ``of_series`` pairs a chip value in cents with the
    name of its series, as the cashier read it. ``key`` makes a repeated request harmless.
    """
    _exchange(SellAtTheCage(amount_cents, as_typed(chips), of_series, currency), by, key, (attested, paper))


def redeem(
    amount_cents: int,
    *,
    chips: Chips = (),
    by: Staff,
    key: UUID,
    series: str = "",
    of_series: tuple[tuple[int, str], ...] = (),
    currency: str = "",
    attested: Attestation | None = None,
    paper: FromPaper | None = None,
) -> None:
    """Redeem a player's chips for cash. Raises Refused; then nothing is recorded.

    ``chips`` are the chips by denomination, if they were entered. ``series`` is the series of all of them;
    ``of_series`` pairs a chip value in cents with the name of its series, as the cashier read it. ``key`` makes a
    repeated request harmless.
    """
    _exchange(RedeemChips(amount_cents, as_typed(chips), series, of_series, currency), by, key, (attested, paper))


def _exchange(
    entered: SellAtTheCage | RedeemChips, by: Staff, key: UUID, beside: tuple[Attestation | None, FromPaper | None]
) -> None:
    attested, paper = beside
    amount_cents, request = entered.amount_cents, Request.of(entered, by.username, key)
    event, out_of = _WRITTEN_FOR[type(entered)]
    if by.role not in (Role.CASHIER, Role.CAGE_MANAGER):
        raise Refused("wrong_role", f"A cashier or the cage manager signs for this, not {by.name}.", 403)
    cash_policies.refuse_foreign(entered.currency)
    _refuse_odd(amount_cents)
    _refuse_chips(entered)
    series = entered.series if isinstance(entered, RedeemChips) else ""
    with transaction.atomic():
        head = site_log.lock()
        # A repeated request of the same key: chips and cash have moved already, and must not move twice.
        if writer.recorded(head, request, house=True):
            return
        of_series = _series_of(entered, series)
        # After the lock of this book, and up to the commit: a table may be taking chips from the cage just now.
        cage.hold_shared()
        can_give = available_balance.of(Account.objects.get(book_id=head.book_id, place=out_of))
        if amount_cents > can_give.cents:
            sentence = ": ".join([f"The {called(out_of)} holds less than {money(amount_cents)}", *can_give.clauses])
            raise Refused("bad_amount", f"{sentence}.", 422)
        if isinstance(entered, RedeemChips):
            _refuse_more_than_out(head.book_id, amount_cents)
        moves = at_the_counter(cage.chart(head.book_id), event.kinds[0], amount_cents)
        outcome = Decision(
            [
                PendingEntry(
                    event(amount_cents=amount_cents, chips=entered.chips, series=series, of_series=of_series),
                    moves=moves,
                )
            ]
        )
        outcome = signature_checks.attest(outcome, attested, head, by.signature, key)
        outcome = back_entry.noted(outcome, paper, by, back_entry.in_house(head.book_id), head)
        list(writer.write(head, outcome, request, by.signature))


_WRITTEN_FOR: Final[Mapping[type, tuple[type[SoldAtTheCage | Redeemed], str]]] = {
    SellAtTheCage: (SoldAtTheCage, CAGE),
    RedeemChips: (Redeemed, BANK),
}
"""For each exchange, its log entry and the place that pays out: its available balance limits the amount."""


def _series_of(entered: SellAtTheCage | RedeemChips, series: str) -> tuple[tuple[int, str], ...]:
    """The series of each chip value, in cents. Empty if one series was named for all chips, or no chips were entered.
    Raises Refused for chips that are retired, expired or of an unknown series.
    """
    today = timezone.localdate()
    if series:
        chip_series.refuse_expired(series, today)
        return ()
    is_sale = isinstance(entered, SellAtTheCage)
    values = [value for value, _ in entered.chips]
    if is_sale:
        reasons = chip_series.retired_values()
        for value in values:
            if value in reasons:
                raise Refused("chip_retired", reasons[value], 409)
    return chip_series.at_the_counter(values, dict(entered.of_series), today, is_sale=is_sale)


def _refuse_more_than_out(book_id: int, amount_cents: int) -> None:
    """Raises Refused if more is redeemed than players hold. Chips in open bets are not with the players."""
    out = available_balance.of(Account.objects.get(book_id=book_id, place=PLAYERS)).cents
    if amount_cents > out:
        sentence = f"Players hold chips for {money(max(out, 0))}: {money(amount_cents)} cannot be redeemed."
        raise Refused("bad_amount", f"{sentence} Count again, and call the cage manager if there are more.", 422)


def _refuse_odd(amount_cents: int) -> None:
    least = min(Denomination.objects.values_list("value_cents", flat=True), default=1)
    if amount_cents <= 0 or amount_cents % least:
        raise Refused("bad_amount", f"An amount in chips is more than 0 and a multiple of {money(least)}.", 422)
    if amount_cents > MOST_CENTS:
        raise Refused("bad_amount", f"At most {money(MOST_CENTS)} pass the counter in one go.", 422)


def _refuse_chips(entered: SellAtTheCage | RedeemChips) -> None:
    values = set(Denomination.objects.values_list("value_cents", flat=True)) if entered.chips else set()
    for value, count in entered.chips:
        if value not in values:
            raise Refused("unknown_chip", CageDesk.no_such_chip.format(money(value)), 422)
        if not 0 <= count <= CageDesk.most_of_one:
            raise Refused("bad_count", f"Of {money(value)}, count 0 to {CageDesk.most_of_one:,}.", 422)
    if entered.chips and (worth := total(entered.chips)) != entered.amount_cents:
        sentence = f"These chips are worth {money(worth)}, the amount is {money(entered.amount_cents)}."
        raise Refused("bad_amount", sentence, 422)


# --- Slips of the house ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CageDesk(slip_signatures.Desk):
    """The site's log as the desk of cage slips, under its lock."""

    head: Head
    staff: Staff
    read: Mapping[str, tuple[int, int]]
    """The row and the last entry of each table's log that a count includes, by the log's name."""

    in_house: ClassVar[bool] = True
    of: ClassVar[str] = "the house"
    most_of_one: ClassVar[int] = 10_000_000
    no_such_chip: ClassVar[str] = "There is no chip worth {}."

    @property
    def by(self) -> Staff:
        return self.staff

    @property
    def where(self) -> str:
        return "the cage"

    @property
    def book_id(self) -> int:
        return self.head.book_id

    @property
    def next_seq(self) -> int:
        return self.head.seq + 1

    @property
    def chart(self) -> Chart:
        return cage.chart(self.head.book_id)

    @property
    def in_progress(self) -> tuple[Slip, ...]:
        return in_progress(self.head.book_id)

    @property
    def dealer(self) -> str | None:
        return None

    def chips(self) -> Collection[int]:
        return set(Denomination.objects.values_list("value_cents", flat=True))

    def expected_cents(self, place: str) -> int:
        return _expected(self.head, self.read, place)

    def among(self, kind: str) -> Mapping[str, int]:
        return custody_items.among(kind, self.in_progress)

    def permit(self, slip: Slip) -> None:
        """Raises Refused if a note in question is accepted for more than its claimed value."""
        if fault := custody_items.fault(slip):
            raise Refused("bad_amount", fault, 422)

    def follows(self, slip: Slip) -> list[PendingEntry]:
        return []

    def through(self, stage: Stage) -> Mapping[str, int] | None:
        """The last entry of each table's log included in a count, by the log's name; None for other steps.

        It is part of the signed entry, so that verification sums exactly the transfers that the count summed.
        """
        return {name: seq for name, (_, seq) in self.read.items()} if stage.expects else None


def in_progress(book_id: int | None = None, through: int | None = None) -> tuple[Slip, ...]:
    """The site's slips that need a further signature, as of the latest entry or of ``through``.

    ``book_id`` is the site's log where the caller has it locked; without it the result may be out of date at once.
    """
    whose = {"book__name": HOUSE} if book_id is None else {"book_id": book_id}
    rows = LogEntry.objects.filter(**whose, subject="slip").order_by("-seq")
    body = (rows if through is None else rows.filter(seq__lte=through)).values_list("body", flat=True).first()
    return () if body is None else read_as(HouseSlipSigned, body).waiting


def choices(kind: str) -> Collection[str]:
    """The items that a slip field of a kind may name now (``slip_types.KEYS`` and others)."""
    return custody_items.among(kind, in_progress()).keys()


def unseen_by(viewer: Staff) -> frozenset[str]:
    """Places with balances hidden from the viewer: those of blind counts by role, and those of counts in progress."""
    return blind_counts.unseen_by(viewer.role) | being_counted_by(viewer)


def being_counted_by(viewer: Staff) -> frozenset[str]:
    """Places being counted, where the viewer's role may sign the next step: their balances are hidden for all days."""
    return frozenset(
        slip.series.count.place
        for slip in in_progress()
        if slip.series.count and not slip.series.count.note and slip.due and viewer.role in slip.due.roles
    )


def sign(
    entered: BeginSlip | SignSlip | VoidSlip,
    *,
    by: Staff,
    key: UUID,
    attested: Attestation | None = None,
    paper: FromPaper | None = None,
) -> str:
    """Record a signature on a site slip and return the slip's name. Raises Refused; then nothing is recorded."""
    if isinstance(entered, VoidSlip) and not _is_voidable(entered.slip):
        raise Refused(
            "not_voidable", "Slips of this kind cannot be made void: reverse the move with another slip.", 409
        )
    request = Request.of(entered, by.username, key)
    with transaction.atomic():
        head = site_log.lock()
        # The site's log is locked before the tables' logs are read: entries up to a head that was read here are final.
        if before := writer.recorded(head, request, house=True):
            return _name_in(before[1])
        outcome = slip_signatures.ENTERED[type(entered)](CageDesk(head, by, _read_so_far()), entered)
        outcome = signature_checks.attest(outcome, attested, head, by.signature, key)
        outcome = back_entry.noted(outcome, paper, by, back_entry.in_house(head.book_id), head)
        entries = list(writer.write(head, outcome, request, by.signature))
        event = entries[0].event
        assert isinstance(event, SlipSigned)  # noqa: S101 -- nothing else is written for these inputs
        # In the transaction of the signature: a retirement or an alert exists exactly if its signed entry does.
        _brings_about(event.after, entries[0].head)
        if outcome.alert:
            alerts.raise_alert(cage.open_house(), event.kind, outcome.alert, dict(outcome.evidence))
    return event.slip


def _is_voidable(spelled: str) -> bool:
    """Whether slips of this series can be voided. True for a name that is not a slip name: the desk refuses it."""
    try:
        series = SLIPS.get(SlipName.parse(spelled).series)
    except NotASlipName:
        return True
    return series is None or series.is_voidable


def _brings_about(slip: Slip, head: Head) -> None:
    """Apply a signature's effects outside the log: retire a chip series, raise the alert of a delivery variance."""
    if slip.series.retires and slip.due is None:
        SeriesRetirement.objects.create(
            seq=head.seq,
            series=chip_series.named(slip.facts["series"]),
            slip=slip.name,
            last_day=date.fromisoformat(slip.facts["last_day"]),
            at=head.moment,
        )
    if slip.due is None and not slip.is_as_noted:
        note, counted = money(slip.due_cents), money(slip.total_cents)
        message = (
            f"{slip.label}: the delivery note {slip.facts['note_number']} says {note}, two people counted {counted}"
        )
        if note == counted:
            message = f"{message}, and other chips"
        alerts.raise_alert(cage.open_house(), "delivery_differs", message, {"slip": slip.name})


def _name_in(event: Event) -> str:
    assert isinstance(event, SlipSigned)  # noqa: S101 -- nothing else is written for these inputs
    return event.slip


def _read_so_far() -> dict[str, tuple[int, int]]:
    """The row and the last entry of each table's log, by the log's name. Entries up to there are final."""
    books = Book.objects.of_tables().filter(head_seq__gt=0).order_by("name")
    return {name: (pk, seq) for name, pk, seq in books.values_list("name", "pk", "head_seq")}


def _expected(head: Head, read: Mapping[str, tuple[int, int]], place: str) -> int:
    """The balance of a shared place in cents, by the transfers of all logs as far as ``read``."""
    return cage.balance_at(Account.objects.get(place=place), dict(read.values()) | {head.book_id: head.seq})
