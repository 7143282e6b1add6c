"""The versions of limit plans."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar, Self

from django.db import models

from ledger.models import AppendOnly
from ledger.models.append_only import AppendOnlyRows


class LimitPlanQuerySet(AppendOnlyRows["LimitPlan"]):
    """Versions of limit plans."""

    def through(self, seq: int | None) -> Self:
        """The versions as of an entry of the site's log; None for now."""
        return self if seq is None else self.filter(seq__lte=seq)

    def effective(self, moment: datetime) -> Self:
        """The version of each plan in force at a moment, also if it retires the plan."""
        past = self.filter(effective__lte=moment)
        return past.order_by("name", "-effective", "-seq").distinct("name")

    def relevant(self, moment: datetime) -> Self:
        """The versions in force at a moment, and all that take effect later."""
        in_force = models.Q(pk__in=self.effective(moment).values("pk"))
        return self.filter(in_force | models.Q(effective__gt=moment)).order_by("seq")

    def lasting(self, moment: datetime) -> Self:
        """Without the plans for events that ended two days before a moment, or earlier."""
        # The end is a text in ISO 8601 of any time zone, so its date is compared, with a margin for the zone.
        day = f"{moment - timedelta(days=2):%Y-%m-%d}"
        return self.exclude(schedule__when="event", schedule__ends__lt=day)

    def versions(self, name: str) -> Self:
        """The versions of a plan, the newest first."""
        return self.filter(name=name).order_by("-version")


LimitPlanManager = models.Manager.from_queryset(LimitPlanQuerySet)


class LimitPlan(AppendOnly):
    """A version of a limit plan. Of those that have taken effect, the latest is in force."""

    objects: ClassVar[LimitPlanManager] = LimitPlanManager()

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    scope = models.CharField("is for", max_length=5)
    of = models.CharField("which", max_length=40, blank=True)
    schedule = models.JSONField(default=dict)
    values = models.JSONField(default=dict)
    note = models.CharField("why", max_length=200, blank=True)
    takes = models.CharField("holds from the next", max_length=5, default="round")
    keeps_seated = models.BooleanField("seats that play keep the old minimum", default=False)
    retired = models.BooleanField(default=False)
    effective = models.DateTimeField("holds from")
    proposal = models.IntegerField(null=True)
    tables = models.JSONField("tables", default=list, db_default=models.Value([], models.JSONField()))
    excluded = models.JSONField("not at", default=list, db_default=models.Value([], models.JSONField()))
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "limit plan"
        ordering: ClassVar[list[str]] = ["name", "-version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["name", "version"], name="tables_limitplan_version"),
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"
