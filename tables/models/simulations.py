"""The chunks of simulated rounds that workers dealt."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly


class SimulatedChunk(AppendOnly):
    """A million simulated rounds that a worker dealt; the runs that are spread over workers are made of these."""

    run = models.CharField(max_length=400)
    """The rules dealt by and the seed, as JSON."""
    number = models.IntegerField()
    counts = models.JSONField()

    class Meta:
        verbose_name = "simulated chunk"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="tables_simulatedchunk_once"),
            models.CheckConstraint(name="tables_simulatedchunk_number", condition=models.Q(number__gte=0)),
        ]

    def __str__(self) -> str:
        return f"{self.number} of {self.run}"
