"""The proposals of changes under dual control, and their outcomes."""

from typing import ClassVar, Final

from django.db import models

from ledger.models import AppendOnly


class Proposal(AppendOnly):
    """A proposed change of a setting under dual control. The entry in the site's log has the same content."""

    number = models.IntegerField(unique=True)
    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    matter = models.CharField(max_length=20)
    about = models.CharField(max_length=80, blank=True)
    before = models.JSONField()
    after = models.JSONField()
    comment = models.CharField(max_length=500, blank=True)
    effective = models.DateTimeField("holds from", null=True)
    """Empty: from when it is approved."""
    expires = models.DateTimeField("waits until")
    proposed_by = models.CharField(max_length=40)
    by = models.CharField("proposed by", max_length=120)
    at = models.DateTimeField("proposed at")

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="tables_proposal_number", condition=models.Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return f"Proposal {self.number}"

    @property
    def waits_for_shoe(self) -> bool:
        """Whether the change takes effect with the next shoe."""
        return bool(self.after.get("takes") == "shoe")


CARRIED_OUT: Final = ("approved", "decided")
"""The outcomes by which a proposal is carried out: by two persons, or by one where the policies permit it."""


class ProposalEnd(AppendOnly):
    """The outcome of a proposal. Each has at most one."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="end")
    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    outcome = models.CharField(max_length=10)
    proposed_by = models.CharField(max_length=40)
    ended_by = models.CharField(max_length=40, blank=True)
    """Empty if it expired."""
    text = models.CharField("why", max_length=500, blank=True)
    by = models.CharField("ended by", max_length=120)
    at = models.DateTimeField("ended at")

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_proposalend_outcome",
                condition=models.Q(outcome__in=(*CARRIED_OUT, "declined", "withdrawn", "expired")),
            ),
            models.CheckConstraint(
                name="tables_proposalend_by_two",
                condition=~models.Q(outcome__in=("approved", "declined")) | ~models.Q(ended_by=models.F("proposed_by")),
            ),
            models.CheckConstraint(
                name="tables_proposalend_by_one",
                condition=~models.Q(outcome="decided") | models.Q(ended_by=models.F("proposed_by")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.outcome} by {self.by}"
