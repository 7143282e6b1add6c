"""Models of the feed: the order of the entries of all logs, and how far each log is in it."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from ledger.models import AppendOnly, Book

APP: str = "tables"


class FeedSheet(AppendOnly):
    """A run of consecutive entries of the feed. Sheets follow each other without gaps."""

    first = models.BigIntegerField(primary_key=True)
    """Number of entries before it."""
    through = models.BigIntegerField(unique=True)
    """Number of entries before the next sheet."""
    books = ArrayField(models.IntegerField())
    """Log of each entry."""
    seqs = ArrayField(models.IntegerField())
    """Number of each entry in its log."""

    class Meta:
        app_label = APP
        ordering: ClassVar[list[str]] = ["first"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_feedsheet_whole",
                condition=models.Q(first__gte=0)
                & models.Q(through=models.F("first") + models.Func("books", function="cardinality"))
                & models.Q(through=models.F("first") + models.Func("seqs", function="cardinality"))
                & models.Q(through__gt=models.F("first")),
            ),
        ]

    def __str__(self) -> str:
        return f"places {self.first} to {self.through}"


class FeedBook(models.Model):
    """How far a log is in the feed."""

    book = models.OneToOneField(Book, models.PROTECT, related_name="+")
    seq = models.BigIntegerField(default=0)

    class Meta:
        app_label = APP

    def __str__(self) -> str:
        return f"{self.book_id} through {self.seq}"
