"""Codes, passkeys and earlier secrets of staff, and counts of attempts at secrets."""

from typing import ClassVar

from django.db import models

from tables.log.entries.staff import CALLED
from tables.models.staff import Staff


class AttemptCount(models.Model):
    """The attempts at a secret from one source, for one name, since the first of them (``guess_counts.py``)."""

    kind = models.CharField(max_length=20)
    place = models.CharField(max_length=64)
    name = models.CharField(max_length=32, blank=True)
    """Digested; empty where tries for all names count together."""
    tries = models.BigIntegerField()
    since = models.DateTimeField(db_index=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["kind", "place", "name"], name="tables_attemptcount_once")
        ]

    def __str__(self) -> str:
        return f"{self.tries} at {self.place}"


class EmergencyCode(models.Model):
    """An operator's printed code, of which two let the first of them in (see ``emergency.py``)."""

    operator = models.OneToOneField(Staff, on_delete=models.PROTECT, related_name="emergency_code")
    digest = models.CharField(max_length=64, unique=True)
    made_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"of {self.operator}"


class OneTimeCode(models.Model):
    """A code that two persons issued to a staff member to set a PIN or a password. Its row is deleted on use."""

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="codes")
    secret = models.CharField(max_length=8)
    """The column that it opens."""
    asked_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField()
    asked_seq = models.BigIntegerField(unique=True)
    first = models.CharField(max_length=256)
    confirmed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, null=True, related_name="+")
    confirmed_seq = models.BigIntegerField(null=True, unique=True)
    second = models.CharField(max_length=256, blank=True)
    until = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["asked_at"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["staff", "secret"], name="tables_onetimecode_one"),
            models.CheckConstraint(
                name="tables_onetimecode_not_the_owner",
                condition=models.Q(confirmed_by=None)
                | ~models.Q(confirmed_by=models.F("staff"))
                | models.Q(asked_by=models.F("staff")),
            ),
        ]

    def __str__(self) -> str:
        return f"for a {CALLED[self.secret]} of {self.staff}"


class SecretVersion(models.Model):
    """A PIN or password as its owner set it, and each reset.

    Kept so that a secret is not soon reused, and so that a signatory whose PIN was reset cannot sign slips open at that
    time. Rows are written once, except for resealing with a new key.
    """

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="versions")
    secret = models.CharField(max_length=8)
    seq = models.BigIntegerField(null=True, unique=True)
    """Sequence number of the entry in the site's log; None for a secret from before owners set their own."""
    kept = models.CharField(max_length=256, blank=True)
    """The sealed hash; empty where the secret was reset."""
    at = models.DateTimeField()

    class Meta:
        ordering: ClassVar[list[str]] = ["-at", "-pk"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["staff", "secret", "at"], name="tables_secretversion_latest")
        ]

    def __str__(self) -> str:
        return f"{CALLED[self.secret]} of {self.staff}"


class Passkey(models.Model):
    """A passkey of a staff member, to sign in without a password: a key pair in a device of theirs (WebAuthn)."""

    staff = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="passkeys")
    name = models.CharField(max_length=40)
    credential = models.CharField(max_length=1400, unique=True)
    """Its id, in base64url."""
    public_key = models.TextField()
    """COSE, in base64url."""
    sign_count = models.BigIntegerField()
    registered_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)
    is_active = models.BooleanField(default=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["registered_at"]

    def __str__(self) -> str:
        return self.name
