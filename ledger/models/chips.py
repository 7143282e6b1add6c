"""The places of chips, the transfers between them, and recounts."""

from django.db import models
from django.db.models import F, Q

from ledger.models.append_only import AppendOnly
from ledger.models.logs import Book, ShortBookKey
from ledger.proof.chips import HOUSE_PLACES, PLACES, REVERSAL, SEATED


class Account(AppendOnly):
    """A place where chips can be: a place of one log, and on the layout a seat, and a wager where those are kept apart.

    It has no balance that could be overwritten.
    """

    book = models.ForeignKey(Book, models.PROTECT, related_name="accounts")
    place = models.CharField(max_length=16, choices=[(place, place.replace("_", " ")) for place in PLACES])
    seat = models.SmallIntegerField(null=True, blank=True)
    wager = models.CharField(max_length=24, null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["book", "place", "seat", "wager"], nulls_distinct=False, name="ledger_account_place"
            ),
            models.CheckConstraint(
                name="ledger_account_wager_on_layout", condition=Q(wager=None) | Q(place="layout", seat__isnull=False)
            ),
            models.UniqueConstraint(
                # Two vaults would make the vault's balance depend on which of them a transfer names.
                fields=["place"],
                condition=Q(place__in=sorted(HOUSE_PLACES)),
                name="ledger_account_one_house",
            ),
            models.CheckConstraint(name="ledger_account_known_place", condition=Q(place__in=PLACES)),
            models.CheckConstraint(
                name="ledger_account_seat_on_layout",
                condition=Q(place__in=sorted(SEATED), seat__isnull=False, seat__gte=1)
                | (~Q(place__in=sorted(SEATED)) & Q(seat=None)),
            ),
        ]

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.place, self.seat, self.wager) if part is not None)

    @property
    def spot(self) -> int | tuple[int, str] | None:
        """The seat of a place that each seat has, or the seat and the wager; None for other places."""
        return self.seat if self.seat is None or self.wager is None else (self.seat, self.wager)


class Transfer(AppendOnly):
    """One movement of chips: one source, one target, one positive amount, so that it is always balanced.

    Kind and places are one of chips.MOVEMENTS: see the migration 0002_guards, with the rules that Django cannot
    express.
    """

    book = ShortBookKey(Book, models.PROTECT, related_name="transfers", db_constraint=False, db_index=False)
    seq = models.IntegerField()
    leg = models.SmallIntegerField()
    legs = models.SmallIntegerField()
    kind = models.CharField(max_length=16)
    source = models.ForeignKey(Account, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    source_place = models.CharField(max_length=16)
    target = models.ForeignKey(Account, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    target_place = models.CharField(max_length=16)
    amount_cents = models.BigIntegerField()
    reverses = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="reversals", db_constraint=False, db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "seq", "leg"], name="ledger_transfer_leg"),
            models.UniqueConstraint(
                # A second reversal of one transfer would create chips.
                fields=["reverses"],
                condition=Q(reverses__isnull=False),
                name="ledger_transfer_reversed_once",
            ),
            models.CheckConstraint(name="ledger_transfer_leg_counted", condition=Q(leg__gte=1, leg__lte=F("legs"))),
            # A negative amount would be a movement in the other direction, which may not be permitted.
            models.CheckConstraint(name="ledger_transfer_positive", condition=Q(amount_cents__gt=0)),
            models.CheckConstraint(name="ledger_transfer_moves", condition=~Q(source=F("target"))),
            models.CheckConstraint(
                name="ledger_transfer_reversal",
                condition=Q(kind=REVERSAL, reverses__isnull=False) | (~Q(kind=REVERSAL) & Q(reverses=None)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.book_id}/{self.seq}.{self.leg} {self.kind} {self.amount_cents}"


class Recount(AppendOnly):
    """The balance of one account by all transfers of one log through one entry. Later sums start from it.

    A recount of a log writes a row for every account that its transfers ever used.
    """

    book = models.ForeignKey(Book, models.PROTECT, related_name="recounts", db_index=False)
    account = models.ForeignKey(Account, models.PROTECT, related_name="recounts", db_index=False)
    through_seq = models.BigIntegerField()
    head_hash = models.BinaryField(max_length=32)
    balance_cents = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=120)

    class Meta:
        constraints = [
            # Concurrent recounts write equal rows: one of them stays.
            models.UniqueConstraint(fields=["book", "through_seq", "account"], name="ledger_recount_once"),
            models.CheckConstraint(name="ledger_recount_of_something", condition=Q(through_seq__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} through {self.book_id}/{self.through_seq}: {self.balance_cents}"
