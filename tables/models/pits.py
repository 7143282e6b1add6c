"""The sections and plans of pits, and the pit bosses assigned to pits."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class PitSection(AppendOnly):
    """The tables of a section of a pit. The newest row of a pit and section is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    pit = models.CharField(max_length=40)
    section = models.CharField(max_length=40, blank=True)
    """Empty where the pit is one section."""
    tables = models.JSONField(default=list)
    """By name; none ends the section."""
    first = models.JSONField("first in order", default=list)
    """Names of the tables that come first; the others follow by name."""
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "pit section"
        ordering: ClassVar[list[str]] = ["pit", "section", "-seq"]

    def __str__(self) -> str:
        return f"{self.pit}, section {self.section}" if self.section else self.pit


class FloorPlan(AppendOnly):
    """The positions of the tables of a pit on its drawn plan. The newest row of a pit is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    pit = models.CharField(max_length=40)
    spots = models.JSONField(default=dict)
    """By table: steps from the left, and from the top."""
    by = models.CharField("drawn by", max_length=120)
    at = models.DateTimeField("drawn at")

    class Meta:
        verbose_name = "floor plan"
        ordering: ClassVar[list[str]] = ["pit", "-seq"]

    def __str__(self) -> str:
        return f"plan of {self.pit}"


class Post(AppendOnly):
    """The pits assigned to a pit boss from a moment on. Of those that have taken effect, the latest is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    username = models.CharField(max_length=40)
    pits = models.JSONField(default=list)
    """Names of the pits. Empty, without the whole floor, ends the assignment."""
    whole_floor = models.BooleanField(default=False)
    effective = models.DateTimeField("holds from")
    proposal = models.IntegerField(null=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "post"
        ordering: ClassVar[list[str]] = ["-seq"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["username", "-effective", "-seq"], name="tables_post_standing"),
        ]

    def __str__(self) -> str:
        return f"{self.username}: {'the whole floor' if self.whole_floor else ', '.join(self.pits) or 'no post'}"


class PitCover(AppendOnly):
    """A pit that a pit boss takes over up to a moment. The newest row of a person and pit is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    username = models.CharField(max_length=40)
    pit = models.CharField(max_length=40)
    until = models.DateTimeField()
    """Given back, the moment of that."""
    reason = models.CharField("why", max_length=200, blank=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at", db_index=True)

    class Meta:
        verbose_name = "pit that is covered"
        verbose_name_plural = "pits that are covered"
        ordering: ClassVar[list[str]] = ["-seq"]

    def __str__(self) -> str:
        return f"{self.username}: {self.pit}"
