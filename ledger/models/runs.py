"""The runs of scheduled checks."""

from django.db import models
from django.db.models import Q

from ledger.models.append_only import AppendOnly


class Run(AppendOnly):
    """One run of a scheduled check, claimed by one worker."""

    task = models.CharField(max_length=40)
    slot = models.DateTimeField(help_text="When it was due")
    begun_at = models.DateTimeField()
    missed = models.IntegerField(default=0, help_text="So many before it never were: nobody was there to run them")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["task", "slot"], name="ledger_run_once"),
            models.CheckConstraint(name="ledger_run_missed", condition=Q(missed__gte=0)),
        ]
        # Audit jobs are rows among one run of a check per minute: this index finds them without reading those.
        indexes = [models.Index(fields=["id"], condition=Q(task__startswith="audit "), name="ledger_run_asked")]

    def __str__(self) -> str:
        return f"{self.task} of {self.slot:%Y-%m-%d %H:%M}"


class RunEnd(AppendOnly):
    """The end of a run, with the number of faults that it found."""

    run = models.OneToOneField(Run, models.PROTECT, related_name="end")
    at = models.DateTimeField()
    found = models.IntegerField(help_text="How many things that do not hold")

    class Meta:
        indexes = [models.Index(fields=["at"], name="ledger_runend_at")]

    def __str__(self) -> str:
        return f"{self.run}: {self.found}"
