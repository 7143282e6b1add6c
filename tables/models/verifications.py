"""The positions up to which logs were verified."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class Verification(AppendOnly):
    """How far a table's log was verified, and when: the next verification of new entries starts there."""

    book = models.ForeignKey("ledger.Book", on_delete=models.PROTECT, related_name="verifications")
    through_seq = models.BigIntegerField()
    head_hash = models.BinaryField(max_length=32)
    rounds = models.BigIntegerField()
    transfers = models.BigIntegerField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["book", "-through_seq"], name="tables_verification_latest")
        ]

    def __str__(self) -> str:
        return f"{self.book} through {self.through_seq}"
