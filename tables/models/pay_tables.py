"""The pay tables that operators made."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class PayTable(AppendOnly):
    """A pay table that an operator made for wagers of a game.

    Never changed: other lines are another version of the name.
    """

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    game = models.CharField(max_length=20)
    name = models.CharField(max_length=40)
    version = models.IntegerField()
    wagers = models.JSONField("pays")
    """By wager, the odds of each of its lines: 9:1."""
    sha256 = models.CharField("SHA-256", max_length=64)
    """Of the game and the lines."""
    by = models.CharField("made by", max_length=120)
    at = models.DateTimeField("made at")

    class Meta:
        verbose_name = "pay table"
        ordering: ClassVar[list[str]] = ["game", "name", "-version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["game", "name", "version"], name="tables_paytable_once"),
            models.CheckConstraint(name="tables_paytable_version", condition=models.Q(version__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.name} version {self.version}"
