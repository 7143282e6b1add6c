"""The enrolled terminals."""

from typing import ClassVar

from django.db import models

from tables.models.staff import Staff
from tables.models.tables import Table


class Terminal(models.Model):
    """A device that an operator has enrolled: only there may a dealer sign in with badge and PIN."""

    name = models.CharField(max_length=40, unique=True)
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, blank=True, help_text="Empty: any table.")
    enrolled_by = models.ForeignKey(Staff, on_delete=models.PROTECT, editable=False)
    enrolled_at = models.DateTimeField(auto_now_add=True)
    is_active = models.BooleanField("enrolled", default=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name
