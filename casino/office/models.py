"""The rows of a head office: houses and their keys, bundles that arrived, days that hold, figures. All written once."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import lookups

from ledger.models import AppendOnly

MOST_PIECE_BYTES: int = 512 * 1024
_HEX: str = r"^[0-9a-f]{64}$"


class House(AppendOnly):
    """A house that reports here. It has one currency for good: amounts of two are never added."""

    code = models.CharField(max_length=24, unique=True, validators=[RegexValidator(r"^[a-z][a-z0-9-]{1,23}$")])
    """By which its address here is told from others."""
    name = models.CharField(max_length=60, unique=True)
    currency = models.CharField(max_length=3, validators=[RegexValidator(r"^[A-Z]{3}$")])
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class Pin(AppendOnly):
    """The key that a house's days are held against, and the secret that its line is signed with, from then on."""

    house = models.ForeignKey(House, models.PROTECT, related_name="pins")
    version = models.IntegerField()
    key = models.CharField(max_length=64, validators=[RegexValidator(_HEX)])
    """As it came on another way than the bundles. Later keys count as the house's own log signs them."""
    secret = models.CharField(max_length=400, blank=True)
    """Sealed; empty for a house without a line."""
    reason = models.CharField(max_length=300, blank=True)
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "version"], name="office_pin_once"),
            models.CheckConstraint(name="office_pin_version", condition=models.Q(version__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.house_id} version {self.version}"


class Arrival(AppendOnly):
    """A bundle that came: over the line or on a stick. It may hold or not; its verdicts say so."""

    house = models.ForeignKey(House, models.PROTECT, related_name="arrivals")
    sha256 = models.CharField(max_length=64, validators=[RegexValidator(_HEX)])
    attempt = models.SmallIntegerField(default=1)
    """What did not hold may come again: an older verifier may have read it."""
    size = models.BigIntegerField()
    """In bytes."""
    first = models.DateField()
    last = models.DateField()
    """The bundle's days, as it says."""
    through = models.IntegerField()
    """The number of its last day, as its signed chain says."""
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "sha256", "attempt"], name="office_arrival_once"),
        ]

    def __str__(self) -> str:
        return f"{self.first} to {self.last}"


class Piece(models.Model):
    """Some bytes of a bundle, as logical replication brought them. They go once the bundle's days hold.

    A trigger says by which subscription they came, so that no house writes in another's name.
    """

    line = models.CharField(max_length=63, db_default="")
    """The subscription; a house's own is ``replication.subscription_of``."""
    bundle = models.CharField(max_length=64)
    """The whole bundle's SHA-256, as its house says."""
    start = models.BigIntegerField()
    """Where the piece begins."""
    number = models.IntegerField()
    """Of the bundle's day, as its house says."""
    size = models.BigIntegerField()
    """Of the whole bundle, in bytes."""
    content = models.BinaryField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["line", "bundle", "start"], name="office_piece_once"),
            models.CheckConstraint(
                name="office_piece_length",
                condition=lookups.LessThanOrEqual(
                    models.Func("content", function="octet_length", output_field=models.IntegerField()),
                    MOST_PIECE_BYTES,
                ),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.bundle} from {self.start}"


class Verdict(AppendOnly):
    """What came of verifying a bundle."""

    arrival = models.OneToOneField(Arrival, models.PROTECT, related_name="verdict")
    holds = models.BooleanField()
    says = models.CharField(max_length=600)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.says


class Refusal(AppendOnly):
    """A bundle that was turned away before it was kept: another house's key, another history, no bundle at all."""

    house = models.ForeignKey(House, models.PROTECT, related_name="refusals")
    sha256 = models.CharField(max_length=64)
    says = models.CharField(max_length=600)
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "sha256", "says"], name="office_refusal_once"),
        ]

    def __str__(self) -> str:
        return self.says


class Day(AppendOnly):
    """A gaming day of a house that was verified from end to end, and follows the one before it."""

    house = models.ForeignKey(House, models.PROTECT, related_name="days", db_index=False)
    number = models.IntegerField()
    day = models.DateField()
    digest = models.CharField(max_length=64)
    """SHA-256 of its signed document, which names the day before."""
    key = models.CharField(max_length=64)
    """That signed it: an older one of the house signs no later day."""
    ends = models.DateTimeField()
    arrival = models.ForeignKey(Arrival, models.PROTECT, related_name="days")
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["house", "-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "number"], name="office_day_number"),
            models.UniqueConstraint(fields=["house", "day"], name="office_day_once"),
        ]

    def __str__(self) -> str:
        return f"{self.house_id}, {self.day}"


class Source(models.TextChoices):
    """Where figures come from."""

    RECKONED = "reckoned", "Reckoned here, from the entries"
    SIGNED = "signed", "Signed in the house by two people"


class TableDay(AppendOnly):
    """What one table did on a gaming day. Once a house has closed the day, what two people signed counts."""

    house = models.ForeignKey(House, models.PROTECT, related_name="table_days", db_index=False)
    day = models.DateField()
    table = models.CharField(max_length=64)
    source = models.CharField(max_length=8, choices=Source.choices)
    game = models.CharField(max_length=80)
    rounds = models.IntegerField()
    win_cents = models.BigIntegerField()
    drop_cents = models.BigIntegerField()
    handle_cents = models.BigIntegerField(null=True)
    theoretical_cents = models.BigIntegerField(null=True)
    """None where nobody reckons it."""
    arrival = models.ForeignKey(Arrival, models.PROTECT, related_name="+")

    class Meta:
        ordering: ClassVar[list[str]] = ["house", "day", "table"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "day", "source", "table"], name="office_tableday_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["day", "house"], name="office_tableday_day")]

    def __str__(self) -> str:
        return f"{self.table}, {self.day}"
