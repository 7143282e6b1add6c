"""The service accounts of API clients, their tokens, and the API's stored answers."""

from datetime import timedelta
from typing import ClassVar, Final

from django.db import models
from django.utils import timezone

from tables.log import scopes
from tables.models.tables import Table

KEPT_ANSWERS: Final = timedelta(days=2)
"""Time for which the API repeats its answer to a repeated write request."""


class ServiceAccount(models.Model):
    """The service account of an API client or card reader, as an operator set it. It is not a staff member."""

    name = models.CharField(max_length=40, unique=True, help_text="As the log names it, for good: Cage display.")
    purpose = models.CharField(max_length=200)
    scopes = models.JSONField("may", default=list)
    tables = models.JSONField(default=list)
    """Names of the tables. Empty for all tables."""
    addresses = models.JSONField("may call from", default=list)
    """Networks. Empty for any."""
    expires_at = models.DateTimeField("good until")
    ended_at = models.DateTimeField(null=True, editable=False)
    """When it was revoked, or when a scheduled check recorded its expiry."""
    ended_why = models.CharField(max_length=200, blank=True, editable=False)
    """Empty if it expired."""
    by = models.CharField("set by", max_length=120, editable=False)
    at = models.DateTimeField("set at", editable=False)
    heard_at = models.DateTimeField(null=True, editable=False)
    """When a card reader last sent a message, to a few seconds."""

    class Meta:
        verbose_name = "program"
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name

    is_authenticated: ClassVar[bool] = True
    """For Django's authentication checks."""
    is_anonymous: ClassVar[bool] = False

    @property
    def username(self) -> str:
        """The account's name in the log. No staff member can have it: no user name is this word."""
        return f"program {self.name}"

    signature = username

    @property
    def is_active(self) -> bool:
        return self.ended_at is None and self.expires_at > timezone.now()

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Whether a scope of the account grants reading with a permission. No account may enter or sign."""
        mine = [scopes.SCOPES[name] for name in self.scopes if name in scopes.SCOPES]
        return self.is_active and any(scope.permission == perm and not scope.enters for scope in mine)

    def may(self, scope: str, table: Table | None = None) -> bool:
        """Whether the account is active and has a scope, at this table if a table is passed."""
        return self.is_active and scope in self.scopes and (table is None or self.reaches(table))

    def reaches(self, table: Table) -> bool:
        """Whether a table is among those that it is for."""
        return not self.tables or table.name in self.tables


class ServiceToken(models.Model):
    """A secret token of a service account. It is shown once; only a sealed hash is stored."""

    account = models.ForeignKey(ServiceAccount, on_delete=models.PROTECT, related_name="tokens")
    ident = models.CharField(max_length=10, unique=True)
    """Its first letters after the prefix, which are no secret."""
    kept = models.CharField(max_length=256)
    until = models.DateTimeField("good until")
    made_by = models.CharField(max_length=120)
    made_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    """When it was last used, to the minute."""

    class Meta:
        ordering: ClassVar[list[str]] = ["-made_at", "-pk"]

    def __str__(self) -> str:
        return self.ident

    @property
    def owner(self) -> str:
        """The owner that its sealed hash is bound to."""
        return f"token {self.ident}"


class KeptAnswer(models.Model):
    """The answer to a write request of the API, stored under its idempotency key while the request may be repeated.

    See ``tables/api/repeats.py``.
    """

    username = models.CharField(max_length=80)
    key = models.UUIDField()
    request = models.BinaryField()
    """SHA-256 of the request without its secret fields."""
    answer = models.TextField()
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["username", "key"], name="tables_keptanswer_once")
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.username}"

    @classmethod
    def forget_old(cls) -> None:
        """Delete answers whose requests can no longer be repeated."""
        cls.objects.filter(at__lt=timezone.now() - KEPT_ANSWERS).delete()
