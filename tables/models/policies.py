"""The changed values of the site's policies."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class HouseTerms(AppendOnly):
    """Changed values of the site's policies from a moment on. The entry in the site's log has the same content."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    effective = models.DateTimeField("holds from")
    values = models.JSONField()
    """By term; only those that changed."""
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = verbose_name_plural = "house terms"
        ordering: ClassVar[list[str]] = ["-effective", "-seq"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_houseterms_from_then_on", condition=models.Q(effective__gte=models.F("at"))
            ),
        ]

    def __str__(self) -> str:
        return f"from {self.effective:%Y-%m-%d %H:%M}"
