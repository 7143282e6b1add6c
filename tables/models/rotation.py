"""The line-ups of strings of tables."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class LineUp(AppendOnly):
    """The line-up of a string of tables. The newest row of a string is in force until it ends."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    string = models.CharField(max_length=40)
    tables = models.JSONField(default=list)
    """By name, in the order in which a dealer deals them. None: the string ends."""
    dealers = models.JSONField(default=list)
    """User names by position: one for each table, then one for each break."""
    names = models.JSONField("names of the dealers", default=list)
    turn_minutes = models.IntegerField(default=0)
    push_at = models.DateTimeField(null=True)
    ends = models.DateTimeField(null=True)
    pushed = models.BooleanField(default=False)
    reason = models.CharField(max_length=200, blank=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "line-up"
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["-at"], name="tables_lineup_at")]
        ordering: ClassVar[list[str]] = ["string", "-seq"]

    def __str__(self) -> str:
        return f"string {self.string}"
