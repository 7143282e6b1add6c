"""The versions of limit plans."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class LimitPlan(AppendOnly):
    """A version of a limit plan. Of those that have taken effect, the latest is in force."""

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
