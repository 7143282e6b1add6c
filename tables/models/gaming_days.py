"""The hours of gaming days, and the days that were closed."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class HouseHours(AppendOnly):
    """The hours of gaming day and shifts from a gaming day on. The entry in the site's log has the same content."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    from_day = models.DateField("from the gaming day")
    time_zone = models.CharField(max_length=64)
    day_starts = models.TimeField("the day starts at")
    shifts = models.JSONField()
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = verbose_name_plural = "gaming day and shifts"
        ordering: ClassVar[list[str]] = ["-from_day", "-seq"]

    def __str__(self) -> str:
        return f"from {self.from_day}, {self.day_starts:%H:%M} {self.time_zone}"


class DayClose(AppendOnly):
    """A gaming day that two persons closed. Its figures are in the entry of the site's log."""

    day = models.DateField(unique=True)
    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    proposed_by = models.CharField(max_length=40)
    closed_by = models.CharField(max_length=40)
    at = models.DateTimeField()

    class Meta:
        verbose_name = "day close"
        ordering: ClassVar[list[str]] = ["-day"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_dayclose_by_two", condition=~models.Q(closed_by=models.F("proposed_by"))
            )
        ]

    def __str__(self) -> str:
        return str(self.day)
