"""The denominations and series of chips."""

from typing import ClassVar, Self, TypeVar

from django.core.validators import MinValueValidator, RegexValidator
from django.db import models

from ledger.models import AppendOnly
from ledger.proof.chips import money

Row = TypeVar("Row", bound=models.Model)


class Retirable(models.QuerySet[Row]):
    """Rows that are retired and never deleted."""

    def in_use(self) -> Self:
        """The rows that are not retired."""
        return self.filter(retired_at=None)


class Denomination(models.Model):
    """One kind of chip: what it is worth and how it looks."""

    value_cents = models.PositiveBigIntegerField(unique=True, validators=[MinValueValidator(1)])
    colour = models.CharField(max_length=20, unique=True, help_text="The word that dealers use: white, red, green.")
    face = models.CharField(
        "face colour", max_length=7, validators=[RegexValidator(r"^#[0-9a-f]{6}$", "Write it as #rrggbb.")]
    )

    retired_at = models.DateTimeField("retired since", null=True, editable=False)
    retired_by = models.CharField(max_length=120, blank=True, editable=False)
    retired_why = models.CharField("why", max_length=200, blank=True, editable=False)

    objects = Retirable["Denomination"].as_manager()

    class Meta:
        verbose_name = "chip"
        ordering: ClassVar[list[str]] = ["-value_cents"]

    def __str__(self) -> str:
        return f"{self.colour} {money(self.value_cents)}"


class ChipSeries(AppendOnly):
    """One manufacture of chips, by its denominations. Several series may have chips of one denomination.

    Rows are never changed or deleted: a row of ``SeriesRetirement`` records a retirement.
    """

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField(max_length=40, unique=True)
    manufacturer = models.CharField(max_length=60)
    year = models.PositiveSmallIntegerField()
    values = models.JSONField("kinds")
    """The denominations of its chips in cents, the largest first."""
    by = models.CharField("added by", max_length=120)
    at = models.DateTimeField("added at")

    class Meta:
        verbose_name = "series of chips"
        verbose_name_plural = "series of chips"
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class SeriesRetirement(AppendOnly):
    """A series of chips is not given out any more, and is redeemed up to a last day. Two people signed a slip of it."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry of the second signature, in the site's log."""
    series = models.OneToOneField(ChipSeries, models.PROTECT, related_name="retirement")
    slip = models.CharField(max_length=32)
    last_day = models.DateField("redeemed up to")
    at = models.DateTimeField("retired at")

    class Meta:
        verbose_name = "retirement of a series"

    def __str__(self) -> str:
        return f"{self.series}, up to {self.last_day}"
