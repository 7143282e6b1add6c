"""Alerts, what happened to them, and the bookmarks of surveillance."""

from typing import ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from ledger.models.append_only import AppendOnly
from ledger.models.logs import Book


class Alert(AppendOnly):
    """A fault or an event that needs attention; open until a named user acknowledges it."""

    book = models.ForeignKey(Book, models.PROTECT, null=True, blank=True, related_name="alerts")
    at = models.DateTimeField()
    kind = models.CharField(max_length=32)
    message = models.CharField(max_length=500)
    evidence = models.JSONField(default=dict, encoder=DjangoJSONEncoder)

    class Meta:
        indexes = [
            models.Index(fields=["kind", "book", "-at"], name="ledger_alert_kind"),
            models.Index(fields=["-at"], name="ledger_alert_at"),
        ]

    def __str__(self) -> str:
        return self.message


class AlertRepeat(AppendOnly):
    """A repeat of an alert while it was open. Its database table belongs to the app ``tables``."""

    alert = models.ForeignKey(Alert, models.PROTECT, related_name="repeats")
    book = models.ForeignKey(Book, models.PROTECT, null=True, related_name="+", db_index=False)
    seq = models.BigIntegerField(null=True)
    """The number of the log entry that caused it."""
    round = models.IntegerField(null=True)
    says = models.CharField(max_length=300)
    at = models.DateTimeField()

    class Meta:
        app_label = "tables"
        ordering: ClassVar[list[str]] = ["pk"]

    def __str__(self) -> str:
        return self.says


class Acknowledgement(AppendOnly):
    """The acknowledgement of an alert by a named user, with an optional note."""

    alert = models.OneToOneField(Alert, models.PROTECT, related_name="acknowledgement")
    by = models.CharField(max_length=120)
    at = models.DateTimeField()
    note = models.TextField(blank=True)

    class Meta:
        # An anonymous acknowledgement would close an alert without a person who answers for it.
        constraints = [models.CheckConstraint(name="ledger_acknowledgement_by_name", condition=~Q(by=""))]

    def __str__(self) -> str:
        return f"{self.by}, {self.at:%Y-%m-%d %H:%M}"


class Escalation(AppendOnly):
    """An alert was not acknowledged in time and was sent to further roles."""

    alert = models.ForeignKey(Alert, models.PROTECT, related_name="escalations")
    at = models.DateTimeField()
    step = models.SmallIntegerField(help_text="How often it was escalated by then")
    level = models.SmallIntegerField(help_text="How far it goes now")
    roles = models.JSONField(default=list, help_text="Who hears of it from then on")

    class Meta:
        constraints = [
            # Workers that escalate one alert at a time must not notify its recipients twice.
            models.UniqueConstraint(fields=["alert", "step"], name="ledger_escalation_once"),
            models.CheckConstraint(name="ledger_escalation_step", condition=Q(step__gte=1)),
            models.CheckConstraint(name="ledger_escalation_level", condition=Q(level__gte=0, level__lte=3)),
        ]

    def __str__(self) -> str:
        return f"{self.alert}: escalated {self.step}"


class Bookmark(AppendOnly):
    """A time at a table that surveillance marked for later. Dealers and floor staff cannot see it."""

    book = models.ForeignKey(Book, models.PROTECT, related_name="bookmarks")
    round = models.IntegerField(null=True)
    moment = models.DateTimeField()
    note = models.CharField(max_length=500)
    camera = models.CharField(max_length=80, blank=True)
    salt = models.CharField(max_length=32, help_text="So that nobody finds the note by trying what its digest fits")
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="ledger_bookmark_in_words", condition=~Q(note="")),
            models.CheckConstraint(name="ledger_bookmark_by_name", condition=~Q(by="")),
        ]
        indexes = [models.Index(fields=["book", "-moment"], name="ledger_bookmark_moment")]

    def __str__(self) -> str:
        return f"bookmark {self.pk}"
