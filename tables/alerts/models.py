"""Models of alerts: rules, channels, the outbox, and positions in the logs and the feed."""

from __future__ import annotations

from typing import ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models

from ledger.models import Alert, AppendOnly, Book

APP: str = "tables"


class AlertRule(AppendOnly):
    """A rule as set by an entry of the site log."""

    seq = models.BigIntegerField(unique=True)
    """Number of that entry in the site log."""
    about = models.CharField(max_length=32)
    is_on = models.BooleanField()
    threshold = models.BigIntegerField(null=True)
    level = models.SmallIntegerField()
    tables = models.JSONField(default=list)
    games = models.JSONField(default=list)
    roles = models.JSONField(default=list)
    escalate_minutes = models.IntegerField()
    escalate_to = models.JSONField(default=list)
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        app_label = APP
        ordering: ClassVar[list[str]] = ["-seq"]
        indexes: ClassVar[list[models.Index]] = [models.Index(fields=["about", "-seq"], name="tables_alertrule_newest")]

    def __str__(self) -> str:
        return f"{self.about} from entry {self.seq} on"


class Means(models.TextChoices):
    """The means by which a channel sends."""

    MAIL = "mail", "E-mail"
    WEBHOOK = "webhook", "Webhook"


class ChannelContent(models.TextChoices):
    """What a channel sends."""

    ALERTS = "alerts", "Alerts"
    EVENTS = "events", "Events of the feed"
    DAYS = "days", "Sealed days, to a head office"


class AlertChannel(AppendOnly):
    """A channel for alerts, events of the feed or sealed days. A row never changes: each setting is a new version of
    the name."""

    seq = models.BigIntegerField(unique=True)
    """Number of the entry in the site log that set it."""
    name = models.CharField(max_length=40)
    version = models.IntegerField()
    means = models.CharField("sends by", max_length=8, choices=Means.choices)
    address = models.CharField(max_length=400)
    secret = models.CharField(max_length=400, blank=True, editable=False)
    """Sealed; empty for e-mail."""
    former_secret = models.CharField(max_length=400, blank=True, default="", editable=False)
    """Sealed previous secret, which also signs messages until the receiver has the new one."""
    former_until = models.DateTimeField(null=True, editable=False)
    is_on = models.BooleanField("on", default=True)
    least_level = models.SmallIntegerField("from the level on")
    about = models.JSONField("only alerts of", default=list)
    tells = models.CharField(max_length=8, choices=ChannelContent.choices, default=ChannelContent.ALERTS)
    types = models.JSONField("only events of these types", default=list)
    tables = models.JSONField("only events about these tables", default=list)
    """Table names."""
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        app_label = APP
        verbose_name = "alert channel"
        ordering: ClassVar[list[str]] = ["name", "-version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["name", "version"], name="tables_alertchannel_once"),
            models.CheckConstraint(name="tables_alertchannel_version", condition=models.Q(version__gte=1)),
            models.CheckConstraint(
                name="tables_alertchannel_former",
                condition=models.Q(former_secret="", former_until=None)
                | (~models.Q(former_secret="") & models.Q(former_until__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} version {self.version}"


class Delivery(models.Model):
    """A message for a channel: it waits in the outbox until an attempt sends it or is the last. The database permits
    changes of its progress alone."""

    channel = models.ForeignKey(AlertChannel, models.PROTECT, related_name="deliveries")
    name = models.CharField(max_length=40)
    """Name of the channel, for any version."""
    alert = models.ForeignKey(Alert, models.PROTECT, null=True, related_name="deliveries")
    """None for a test."""
    step = models.SmallIntegerField(default=0)
    """Number of the escalation that it reports; 0 for the alert being raised."""
    key = models.UUIDField(unique=True)
    """Key by which a receiver recognises a repeated delivery."""
    body = models.JSONField(encoder=DjangoJSONEncoder)
    at = models.DateTimeField()
    # The database's default is for processes of an earlier release, which put out deliveries during a rolling upgrade.
    due_at = models.DateTimeField(null=True, db_default=models.Func(function="ledger_now"))
    """Time of the next attempt; None after the last."""
    failures = models.SmallIntegerField(default=0, db_default=0)
    """Failures, to be tried again, since it was put out or last sent again."""
    asked_at = models.DateTimeField(null=True)
    """When a worker was last requested."""

    class Meta:
        app_label = APP
        ordering: ClassVar[list[str]] = ["-pk"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["name", "alert", "step"], name="tables_delivery_once"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["due_at"], condition=models.Q(due_at__isnull=False), name="tables_delivery_waiting"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk} by {self.name}"

    def last_number(self) -> int:
        """Number of the last attempt; 0 before the first."""
        return max((attempt.number for attempt in self.attempts.all()), default=0)


class Outcome(models.TextChoices):
    """Outcome of an attempt."""

    SENT = "sent", "Sent"
    FAILED = "failed", "Failed, to be tried again"
    DEAD = "dead", "Failed for good"


class DeliveryAttempt(AppendOnly):
    """An attempt at a delivery, with its outcome."""

    delivery = models.ForeignKey(Delivery, models.PROTECT, related_name="attempts")
    number = models.SmallIntegerField()
    outcome = models.CharField(max_length=8, choices=Outcome.choices)
    says = models.CharField(max_length=300)
    at = models.DateTimeField()

    class Meta:
        app_label = APP
        ordering: ClassVar[list[str]] = ["number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["delivery", "number"], name="tables_deliveryattempt_once"),
            models.CheckConstraint(name="tables_deliveryattempt_number", condition=models.Q(number__gte=1)),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["delivery"], condition=models.Q(outcome="dead"), name="tables_deliveryattempt_dead"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} at {self.delivery_id}: {self.outcome}"


class Resending(AppendOnly):
    """A dead letter that a user sent again: the delivery is repeated with its key."""

    seq = models.BigIntegerField()
    """Number of the entry in the site log, which may name several."""
    delivery = models.ForeignKey(Delivery, models.PROTECT, related_name="resendings")
    after = models.SmallIntegerField()
    """Number of the attempt after which it was sent again."""
    by = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        app_label = APP
        ordering: ClassVar[list[str]] = ["after"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["delivery", "after"], name="tables_resending_once"),
            models.CheckConstraint(name="tables_resending_after", condition=models.Q(after__gte=1)),
        ]

    def __str__(self) -> str:
        return f"delivery {self.delivery_id} again after attempt {self.after}"


class FeedPosition(models.Model):
    """A channel's position in the feed or in the sealed days. Sent messages leave no row; one that failed for good is a
    delivery."""

    name = models.CharField(max_length=40, unique=True)
    """Name of the channel, for any version."""
    place = models.BigIntegerField()
    """Number of entries of the feed, or of sealed days, before the next one to send."""
    through = models.BigIntegerField(null=True)
    """Place where the message in progress ends: it is repeated unchanged until it is accepted."""
    failures = models.SmallIntegerField(default=0)
    """Failures since the last success."""
    says = models.CharField(max_length=300, blank=True, default="")
    """Answer to the last attempt."""
    tried_at = models.DateTimeField(null=True)
    due_at = models.DateTimeField(null=True)
    """Time of the next attempt."""
    asked_at = models.DateTimeField(null=True)
    """When a worker was last requested; None if none is."""

    class Meta:
        app_label = APP
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_feedposition_whole",
                condition=models.Q(place__gte=0, failures__gte=0)
                & (models.Q(through=None) | models.Q(through__gt=models.F("place"))),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} through {self.place}"


class BookPosition(models.Model):
    """The position up to which the alert rules have handled a log."""

    book = models.OneToOneField(Book, models.PROTECT, related_name="+")
    seq = models.BigIntegerField(default=0)

    class Meta:
        app_label = APP

    def __str__(self) -> str:
        return f"{self.book_id} through {self.seq}"


class ShiftWin(models.Model):
    """Net win of a seat since a shift began, in cents. Computed while the log is followed."""

    book = models.ForeignKey(Book, models.PROTECT, related_name="+")
    shift = models.DateTimeField()
    """Start of the shift."""
    seat = models.SmallIntegerField()
    cents = models.BigIntegerField(default=0)

    class Meta:
        app_label = APP
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["book", "shift", "seat"], name="tables_shiftwin_once"),
        ]

    def __str__(self) -> str:
        return f"seat {self.seat}: {self.cents}"
