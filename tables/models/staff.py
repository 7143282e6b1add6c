"""The staff, their roles at the site, and the hashes of their secrets."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.contrib.auth.models import _user_has_perm  # type: ignore[attr-defined]  # what PermissionsMixin uses
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ledger.site_log import append, digest_of, enqueue
from tables import pepper
from tables.log.entries.carried_rows import PepperCarriedOver
from tables.log.entries.staff import StaffAdded
from tables.log.signatory import Signatory
from tables.refusals import Refused
from tables.roles import Role

log = logging.getLogger(__name__)
PASSWORD: Final = "password"  # noqa: S105 -- the name of a column
PIN: Final = "pin"
SECRETS: Final = (PASSWORD, PIN)
"""The columns with the hashes of a staff member's secrets."""
STAFF_FACTS: Final = ("name", "role", "further", "badge", "is_active", "administered_until")
"""The columns that the log records of a staff member, in addition to digests of the secrets."""
PIN_DIGITS: Final = "[0-9]{4,8}"
"""Pattern of every PIN. Policies may require more of a new one."""
PIN_RULE: Final = "A PIN has 4 to 8 digits."


class SessionColumns(NamedTuple):
    """The columns that a session is bound to."""

    username: str
    password: str
    pin: str
    role: str


@lru_cache(maxsize=10_000)
def _session_auth_hash(columns: SessionColumns, _: tuple[str, ...], secret: str) -> str:
    """The hash that a session is bound to. It is cached by secrets, role and the names of the pepper's keys, because
    every request needs it, and it takes the decryption of two hashes."""
    staff = Staff(**columns._asdict())
    bound = f"{staff.hash_of('password')} {staff.hash_of('pin')} {staff.role}"
    return salted_hmac("tables.Staff.session", bound, secret=secret, algorithm="sha256").hexdigest()


class StaffManager(BaseUserManager["Staff"]):
    """Makes staff with hashed secrets, and finds active staff."""

    def find_active(self, **identity: str) -> Staff | None:
        """The active staff member with a user name or a badge number, None if there is none."""
        return self.filter(is_active=True, **identity).first()

    def create_staff(
        self,
        username: str,
        *,
        name: str,
        role: Role,
        password: str | None = None,
        badge: str | None = None,
        pin: str | None = None,
    ) -> Staff:
        """Add a staff member, with an entry in the site's log. Password and PIN are stored as sealed hashes only."""
        staff = self.model(username=username, name=name, role=role, badge=badge)
        staff.set_password(password)
        staff.set_pin(pin)
        staff.full_clean(exclude=["password", "pin"])
        with transaction.atomic():
            staff.save(using=self._db)
            new = tuple(secret for secret, value in (("password", password), ("pin", pin)) if value)
            event = StaffAdded(
                username=username,
                name=name,
                role=Role(role).value,
                badge=badge,
                new=new,
                secrets=staff.digests,
            )
            append(event, "the command line")
        return staff

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> Staff:
        """Add the first operator of a new site, for Django's ``createsuperuser``."""
        name = fields.get("name", username)
        return self.create_staff(username, name=name, role=Role.OPERATOR, password=password)


LATE_BY: Final = timedelta(seconds=10)
"""How long after a change of a policy an entry may still follow the value before it, as processes cache policies."""


class Staff(AbstractBaseUser):
    """One person who works here. What they may do follows from the role alone that they work as now (``roles.py``)."""

    username = models.CharField("user name", max_length=40, unique=True)
    name = models.CharField(max_length=60, help_text="As it is written in the log, on slips and on screens.")
    role = models.CharField(max_length=16, choices=Role.choices)
    further = models.JSONField(
        "may also work as",
        default=list,
        db_default=models.Value([], models.JSONField()),
        blank=True,
        help_text="They choose as which when they come to work.",
    )
    administered_until = models.DateTimeField(null=True, blank=True, editable=False)
    """When they gave up the role that gives access: they handle no chips and no cash in that shift."""
    badge = models.CharField(
        "badge number",
        max_length=8,
        unique=True,
        null=True,
        blank=True,
        validators=[RegexValidator(r"^\d{3,8}$", "A badge number has 3 to 8 digits.")],
    )
    password = models.CharField(max_length=256)
    pin = models.CharField(max_length=256, blank=True, editable=False)
    password_made_at = models.DateTimeField(null=True, editable=False)
    pin_made_at = models.DateTimeField(null=True, editable=False)
    is_active = models.BooleanField("active", default=True, help_text="Switch off when somebody leaves; never delete.")

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = ["name"]
    objects: ClassVar[StaffManager] = StaffManager()

    class Meta:
        verbose_name = verbose_name_plural = "staff"
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def signatory(self) -> Signatory:
        """The staff member as a signatory, with the present name, badge and role."""
        return Signatory(self.username, self.name, self.badge, str(self.role))

    @property
    def signature(self) -> str:
        """The name of this person in the log, which never changes for an entry."""
        return self.signatory.signature

    @property
    def roles(self) -> tuple[str, ...]:
        """All that they may work as, what they work as now first."""
        return (self.role, *(role for role in self.further if role != self.role))

    def set_password(self, raw_password: str | None) -> None:
        """Keep its hash, sealed."""
        super().set_password(raw_password)
        self.password = pepper.seal(self.password, self.owner_of("password"))
        self.password_made_at = timezone.now() if raw_password else None

    def check_password(self, raw_password: str | None) -> bool:
        return self._check("password", raw_password)

    def set_pin(self, pin: str | None) -> None:
        """Keep the hash of a PIN, sealed; ``None`` takes it away."""
        self.pin_made_at = None
        if pin is None:
            self.pin = ""
            return
        if not re.fullmatch(PIN_DIGITS, pin):
            raise ValidationError(PIN_RULE)
        self.pin = pepper.seal(make_password(pin), self.owner_of("pin"))
        self.pin_made_at = timezone.now()

    def check_pin(self, pin: str) -> bool:
        """Whether this is the PIN; takes as long when there is none."""
        return self._check("pin", pin)

    def owner_of(self, column: str) -> str:
        """The owner that a sealed hash is bound to, so that it cannot be moved to another user.

        User names are permanent.
        """
        return f"{column} of {self.username}"

    def hash_of(self, column: str) -> str:
        """The unsealed hash of a secret; empty, with an error in the server's log, where its key is missing."""
        try:
            return pepper.unseal(getattr(self, column), self.owner_of(column))
        except pepper.NoSuchKey as missing:
            log.error("%s: nobody can sign with it", missing)
            return ""

    def has(self, secret: str) -> bool:
        """Whether the column of a secret has a hash, which its owner has set."""
        return bool(getattr(self, secret)) and not getattr(self, secret).startswith("!")

    def reseal(self, column: str) -> bool:
        """Seal a hash with the current key, unless it was changed concurrently; returns whether it did.

        The caller writes the log entry.
        """
        sealed = getattr(self, column)
        setattr(self, column, pepper.seal(self.hash_of(column), self.owner_of(column)))
        behind = Staff.objects.filter(pk=self.pk, **{column: sealed})
        return bool(behind.update(**{column: getattr(self, column)}))

    @property
    def facts(self) -> dict[str, Any]:
        """The fields that the log records of a staff member, except secrets."""
        moment = self.administered_until
        return {name: getattr(self, name) for name in STAFF_FACTS} | {
            "administered_until": moment and moment.astimezone(UTC).isoformat()
        }

    @property
    def digests(self) -> dict[str, str]:
        """A digest of each secret for the log: a changed digest shows a changed secret."""
        return {column: digest_of(getattr(self, column)) for column in SECRETS}

    def _check(self, column: str, secret: str | None) -> bool:
        hashed = self.hash_of(column)
        right = check_password(secret, hashed or make_password(None)) and bool(hashed)
        if right and not pepper.is_current(getattr(self, column)):
            with transaction.atomic():
                if self.reseal(column):
                    digest = {self.username: {column: self.digests[column]}}
                    enqueue(PepperCarriedOver(key=pepper.current(), secrets=digest), "sign-in")
        return right

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """The hash that a session is bound to.

        A new password, PIN or role ends earlier sessions; a new pepper does not.
        """
        columns = SessionColumns(self.username, self.password, self.pin, self.role)
        return _session_auth_hash(columns, tuple(pepper.keys()), secret or settings.SECRET_KEY)

    @property
    def is_staff(self) -> bool:
        """Whether the Django admin opens for them."""
        return self.is_active and self.role in (Role.OPERATOR, Role.AUDITOR)

    as_of: datetime | None = None
    """Time of the entry for which a proof checks permissions; None for now. Not a column."""

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Whether the role has a permission, as ``tables/staff/backends.py`` says."""
        return _user_has_perm(self, perm, obj)

    def require(self, permission: str, sentence: str) -> None:
        """Raises Refused with a sentence unless the role has a permission."""
        if not self.has_perm(permission):
            raise Refused("not_permitted", sentence, 403)

    def has_perms(self, perms: list[str], obj: object = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perms)

    def has_module_perms(self, app_label: str) -> bool:
        """Whether the admin lists an app for them."""
        return self.is_staff
