"""The head office's tables: sites and their keys, bundles, accepted days, figures. All are append-only."""

from __future__ import annotations

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models

from ledger.models import AppendOnly

_HEX: str = r"^[0-9a-f]{64}$"


class House(AppendOnly):
    """A site that reports here. Its currency never changes, and amounts in different currencies are never added."""

    code = models.CharField(max_length=24, unique=True, validators=[RegexValidator(r"^[a-z][a-z0-9-]{1,23}$")])
    """Part of its URL here."""
    name = models.CharField(max_length=60, unique=True)
    currency = models.CharField(max_length=3, validators=[RegexValidator(r"^[A-Z]{3}$")])
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class Pin(AppendOnly):
    """The key that a site's days are verified with and the secret of its connection, from this version on."""

    house = models.ForeignKey(House, models.PROTECT, related_name="pins")
    version = models.IntegerField()
    key = models.CharField(max_length=64, validators=[RegexValidator(_HEX)])
    """It must not come with the bundles themselves. Later keys are accepted if the site's own log signs them."""
    secret = models.CharField(max_length=400, blank=True)
    """Encrypted; empty for a site without a connection."""
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
    """A bundle that was accepted, over HTTPS or from a medium (in earlier releases also by replication). Its verdict is
    the result of verification."""

    house = models.ForeignKey(House, models.PROTECT, related_name="arrivals")
    sha256 = models.CharField(max_length=64, validators=[RegexValidator(_HEX)])
    attempt = models.SmallIntegerField(default=1)
    """A rejected bundle may be sent again, because a newer verifier may accept it."""
    size = models.BigIntegerField()
    """In bytes."""
    first = models.DateField()
    last = models.DateField()
    """The bundle's first and last day."""
    through = models.IntegerField()
    """The number of its last day in its signed chain."""
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "sha256", "attempt"], name="office_arrival_once"),
        ]

    def __str__(self) -> str:
        return f"{self.first} to {self.last}"


class Verdict(AppendOnly):
    """The result of verifying a bundle."""

    arrival = models.OneToOneField(Arrival, models.PROTECT, related_name="verdict")
    holds = models.BooleanField()
    says = models.CharField(max_length=600)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return self.says


class Refusal(AppendOnly):
    """A bundle that was rejected on arrival: another site's key, another history, or no bundle at all."""

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
    """A site's gaming day that was fully verified and follows the day before it."""

    house = models.ForeignKey(House, models.PROTECT, related_name="days", db_index=False)
    number = models.IntegerField()
    day = models.DateField()
    digest = models.CharField(max_length=64)
    """SHA-256 of its signed document, which contains that of the day before it."""
    key = models.CharField(max_length=64)
    """The key that signed it. No later day may be signed with an older key."""
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
    """The origin of figures."""

    RECKONED = "reckoned", "Reckoned here, from the entries"
    SIGNED = "signed", "Signed in the house by two people"


class TableDay(AppendOnly):
    """One table's figures of a gaming day. Signed figures replace computed ones once the casino has closed the day."""

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
    """None if the site does not compute it."""
    arrival = models.ForeignKey(Arrival, models.PROTECT, related_name="+")

    class Meta:
        ordering: ClassVar[list[str]] = ["house", "day", "table"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["house", "day", "source", "table"], name="office_tableday_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["day", "house"], name="office_tableday_day")]

    def __str__(self) -> str:
        return f"{self.table}, {self.day}"
