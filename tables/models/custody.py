"""The site's key register and the schedules of drop boxes."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly
from tables.log.entries.custody import OPENS


class HouseKey(AppendOnly):
    """A key in the site's key register, as an operator set it. The newest row of a name is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField("mark", max_length=40)
    lock = models.CharField("opens", max_length=16, choices=list(OPENS.items()))
    dual = models.BooleanField("held by two", default=False)
    in_use = models.BooleanField("in use", default=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "key"
        ordering: ClassVar[list[str]] = ["name", "-seq"]

    def __str__(self) -> str:
        return self.name


class DropSchedule(AppendOnly):
    """When drop boxes are due, from a day on. The newest row of a name that has begun is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField(max_length=40)
    from_day = models.DateField("from the day")
    tables = models.JSONField(default=list)
    """Names of the tables. Empty for all tables."""
    weekdays = models.JSONField(default=list)
    """0 is Monday; none ends the schedule."""
    due_at = models.TimeField("due at")
    who = models.CharField("taken by", max_length=40)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "drop schedule"
        ordering: ClassVar[list[str]] = ["name", "-from_day", "-seq"]

    def __str__(self) -> str:
        return f"{self.name} from {self.from_day}"
