"""The models of the feed: the order of the entries of all logs in it, and each log's position."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models

from ledger.models import AppendOnly, Book

APP: str = "tables"


class FeedSheet(AppendOnly):
    """Some entries that stand in the feed one after the other. Sheets follow each other without a gap."""

    first = models.BigIntegerField(primary_key=True)
    """How many entries stand before it."""
    through = models.BigIntegerField(unique=True)
    """How many stand before the next sheet."""
    books = ArrayField(models.IntegerField())
    """The log of each entry."""
    seqs = ArrayField(models.IntegerField())
    """Of each entry, its number there."""

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
    """The entry of a log up to which the feed contains it."""

    book = models.OneToOneField(Book, models.PROTECT, related_name="+")
    seq = models.BigIntegerField(default=0)

    class Meta:
        app_label = APP

    def __str__(self) -> str:
        return f"{self.book_id} through {self.seq}"
