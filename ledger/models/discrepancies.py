"""Differences between counts and transfers, and their investigation."""

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from ledger.models.append_only import AppendOnly
from ledger.models.logs import Book


class Discrepancy(AppendOnly):
    """A difference between a count and the transfers; open until a person without part in it writes the finding."""

    book = models.ForeignKey(Book, models.PROTECT, related_name="discrepancies")
    at = models.DateTimeField()
    kind = models.CharField(max_length=32)
    amount_cents = models.BigIntegerField(help_text="Counted less expected: what is short is below zero")
    level = models.SmallIntegerField(help_text="How far it goes: 0 is noted, 3 is reported to the regulator")
    message = models.CharField(max_length=300)
    evidence = models.JSONField(default=dict, encoder=DjangoJSONEncoder)
    involved = models.JSONField(default=list, help_text="The user names of whoever may have caused it")
    key = models.CharField(max_length=80, unique=True, help_text="What it is about: the same is never opened twice")

    class Meta:
        verbose_name_plural = "discrepancies"
        constraints = [
            models.CheckConstraint(name="ledger_discrepancy_level", condition=Q(level__gte=0, level__lte=3)),
            models.CheckConstraint(name="ledger_discrepancy_of_something", condition=~Q(amount_cents=0)),
        ]

    def __str__(self) -> str:
        return self.message


class Assignment(AppendOnly):
    """The person responsible for investigating a discrepancy, until the next assignment."""

    discrepancy = models.ForeignKey(Discrepancy, models.PROTECT, related_name="assignments")
    owner = models.CharField(max_length=40)
    name = models.CharField(max_length=120)
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.discrepancy}: {self.name}"


class Finding(AppendOnly):
    """The written result of investigating a discrepancy, by a person who had no part in it."""

    discrepancy = models.OneToOneField(Discrepancy, models.PROTECT, related_name="finding")
    username = models.CharField(max_length=40)
    by = models.CharField(max_length=120)
    at = models.DateTimeField()
    text = models.TextField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="ledger_finding_in_words", condition=~Q(text="")),
            models.CheckConstraint(name="ledger_finding_by_name", condition=~Q(username="")),
        ]

    def __str__(self) -> str:
        return f"{self.discrepancy}: {self.by}"
