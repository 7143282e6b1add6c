"""Sealed gaming days, and the checkpoints that outside witnesses sign."""

from django.db import models
from django.db.models import F, Q

from ledger.models.append_only import AppendOnly
from ledger.models.logs import Book


class BookRoot(AppendOnly):
    """The Merkle root of one log's entries of one gaming day, in the document that is a leaf of the day's tree."""

    book = models.ForeignKey(Book, models.PROTECT, related_name="roots", db_index=False)
    day = models.DateField()
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    head_hash = models.BinaryField(max_length=32)
    body = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "day"], name="ledger_bookroot_once"),
            models.CheckConstraint(
                name="ledger_bookroot_span", condition=Q(first_seq__gte=1, last_seq__gte=F("first_seq") - 1)
            ),
        ]
        indexes = [models.Index(fields=["day"], name="ledger_bookroot_day")]

    def __str__(self) -> str:
        return f"{self.book_id} on {self.day}: {self.first_seq} to {self.last_seq}"


class DayRoot(AppendOnly):
    """A sealed gaming day: the root over the roots of all logs, signed, and chained to the day before."""

    day = models.DateField(unique=True)
    number = models.IntegerField(unique=True)
    prev_number = models.IntegerField(null=True)
    prev_hash = models.BinaryField(max_length=32, null=True)
    body = models.BinaryField()
    hash = models.BinaryField(max_length=32)
    signature = models.BinaryField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                # The previous number is a column, so that a CHECK can enforce the sequence without a query.
                name="ledger_dayroot_gapless",
                condition=Q(number=1, prev_number=None, prev_hash=None)
                | Q(number__gt=1, prev_number__isnull=False, prev_number=F("number") - 1, prev_hash__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"day {self.number}, {self.day}"

    @property
    def digest(self) -> str:
        """The hash in hex."""
        return bytes(self.hash).hex()


class HeadsRow(AppendOnly):
    """A leaf of the tree that outside witnesses observe: the heads of all logs at one minute (``proof/heads.py``).

    With it are the hashes of all subtrees that it completed, the leaf's own first: a proof about any two leaves reads a
    few rows, however many there are.
    """

    origin = models.CharField(max_length=120, help_text="The name of the tree")
    number = models.BigIntegerField()
    previous = models.BigIntegerField(null=True)
    at = models.DateTimeField()
    leaf = models.BinaryField()
    heads = models.BinaryField(help_text="The heads that moved since the leaf before; of each 64th leaf, all of them")
    hashes = models.BinaryField()
    signature = models.CharField(max_length=300, help_text="The line under the checkpoint that ends with this leaf")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["origin", "number"], name="ledger_headsrow_once"),
            models.CheckConstraint(
                name="ledger_headsrow_gapless",
                condition=Q(number=0, previous=None)
                | Q(number__gt=0, previous__isnull=False, previous=F("number") - 1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.origin}/{self.number}"


class Cosignature(AppendOnly):
    """The signature of an outside witness on a checkpoint."""

    origin = models.CharField(max_length=120)
    size = models.BigIntegerField(help_text="How many leaves the checkpoint has")
    witness = models.CharField(max_length=300, help_text="Its verifier key")
    line = models.CharField(max_length=300)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["origin", "witness", "size"], name="ledger_cosignature_once"),
            models.CheckConstraint(name="ledger_cosignature_of_something", condition=Q(size__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.origin}: {self.size} leaves, seen by {self.witness.partition('+')[0]}"
