"""The models of the site's setup: staff, chips, tables, enrolled terminals, and the secret orders of electronic shoes.

Events at a table are not recorded here, but only in its log (``ledger.LogEntry``).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, ClassVar, Final, NamedTuple

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.contrib.auth.hashers import check_password, make_password
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from ledger.models import AppendOnly
from ledger.proof.chips import money
from ledger.site_log import append, digest_of, enqueue
from tables import pepper
from tables.games.catalog import GAMES
from tables.log import role_choices, scopes
from tables.log.entries.carried_rows import PepperCarriedOver
from tables.log.entries.custody import OPENS
from tables.log.entries.staff import CALLED, StaffAdded
from tables.log.signatory import Signatory
from tables.log.state import BATCHES as BATCH_MACHINE
from tables.log.state import CONTINUOUS as CONTINUOUS_MACHINE
from tables.log.state import HOUSE_SHOE
from tables.log.state import KEYED as KEYED_SHOE
from tables.roles import Role, may

log = logging.getLogger(__name__)

KEPT_ANSWERS: Final = timedelta(days=2)
"""Time for which the API repeats its answer to a repeated write request."""
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
def _session_auth_hash(kept: SessionColumns, _: tuple[str, ...], secret: str) -> str:
    """Every request asks for it, and two hashes have to be opened for it: once for the same secrets, role and keys of
    the pepper, by their names."""
    somebody = Staff(**kept._asdict())
    bound = f"{somebody.hash_of('password')} {somebody.hash_of('pin')} {somebody.role}"
    return salted_hmac("tables.Staff.session", bound, secret=secret, algorithm="sha256").hexdigest()


class StaffManager(BaseUserManager["Staff"]):
    """Makes staff with hashed secrets."""

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
            given = tuple(secret for secret, value in (("password", password), ("pin", pin)) if value)
            event = StaffAdded(
                username=username,
                name=name,
                role=Role(role).value,
                badge=badge,
                new=given,
                secrets=staff.digests,
            )
            append(event, "the command line")
        return staff

    def create_superuser(self, username: str, password: str | None = None, **fields: Any) -> Staff:
        """Add the first operator of a new site, for Django's ``createsuperuser``."""
        name = fields.get("name", username)
        return self.create_staff(username, name=name, role=Role.OPERATOR, password=password)


def _nothing(_: datetime | None) -> Collection[str]:
    return ()


_chosen: Callable[[datetime | None], Collection[str]] = _nothing
"""Reads the site's choices about its roles, now or at a moment."""

LATE_BY: Final = timedelta(seconds=10)
"""How long after a change of a policy an entry may still follow the value before it, as processes cache policies."""


def go_by_choices(asked: Callable[[datetime | None], Collection[str]]) -> None:
    """Set the function that reads the site's choices about its roles, from a package above this one."""
    global _chosen
    _chosen = asked


def _moments(as_of: datetime | None) -> tuple[datetime | None, ...]:
    return (None,) if as_of is None else (as_of, as_of - LATE_BY)


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
        """This person with the name, badge and role of now, as one who signs."""
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
        """Whether they have made this secret, so far as the column tells."""
        return bool(getattr(self, secret)) and not getattr(self, secret).startswith("!")

    def reseal(self, column: str) -> bool:
        """Seal a hash with the current key, unless it was changed concurrently; returns whether it did.

        The caller writes the log entry.
        """
        kept = getattr(self, column)
        setattr(self, column, pepper.seal(self.hash_of(column), self.owner_of(column)))
        behind = Staff.objects.filter(pk=self.pk, **{column: kept})
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
        kept = SessionColumns(self.username, self.password, self.pin, self.role)
        return _session_auth_hash(kept, tuple(pepper.keys()), secret or settings.SECRET_KEY)

    @property
    def is_staff(self) -> bool:
        """Whether the Django admin opens for them."""
        return self.is_active and self.role in (Role.OPERATOR, Role.AUDITOR)

    as_of: datetime | None = None
    """Time of the entry for which a proof checks permissions; None for now. Not a column."""

    def has_perm(self, perm: str, obj: object = None) -> bool:
        """Whether the role has a permission of Django, as changed by the site's choices.

        For an entry: as of its time.
        """
        if not self.is_active:
            return False
        choice = role_choices.choice_of(self.role, perm)
        if choice is None:
            return may(Role(self.role), perm)
        return any(role_choices.allows(choice, _chosen(moment)) for moment in _moments(self.as_of))

    def has_perms(self, perms: list[str], obj: object = None) -> bool:
        return all(self.has_perm(perm, obj) for perm in perms)

    def has_module_perms(self, app_label: str) -> bool:
        """Whether the admin lists an app for them."""
        return self.is_staff


class Denomination(models.Model):
    """One kind of chip: what it is worth and how it looks."""

    value_cents = models.PositiveBigIntegerField(unique=True, validators=[MinValueValidator(1)])
    colour = models.CharField(max_length=20, unique=True, help_text="The word that dealers use: white, red, green.")
    face = models.CharField(
        "face colour", max_length=7, validators=[RegexValidator(r"^#[0-9a-f]{6}$", "Write it as #rrggbb.")]
    )

    retired_at = models.DateTimeField("retired since", null=True, editable=False)
    retired_by = models.CharField(max_length=120, blank=True, editable=False)
    retired_why = models.CharField("why", max_length=200, blank=True, editable=False)

    class Meta:
        verbose_name = "chip"
        ordering: ClassVar[list[str]] = ["-value_cents"]

    def __str__(self) -> str:
        return f"{self.colour} {money(self.value_cents)}"


class ChipSeries(AppendOnly):
    """One manufacture of chips, by its denominations. Several series may have chips of one denomination.

    Rows are never changed or deleted: a row of ``SeriesRetirement`` records a retirement.
    """

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField(max_length=40, unique=True)
    manufacturer = models.CharField(max_length=60)
    year = models.PositiveSmallIntegerField()
    values = models.JSONField("kinds")
    """The denominations of its chips in cents, the largest first."""
    by = models.CharField("added by", max_length=120)
    at = models.DateTimeField("added at")

    class Meta:
        verbose_name = "series of chips"
        verbose_name_plural = "series of chips"
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


class SeriesRetirement(AppendOnly):
    """A series of chips is not given out any more, and is redeemed up to a last day. Two people signed a slip of it."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry of the second signature, in the site's log."""
    series = models.OneToOneField(ChipSeries, models.PROTECT, related_name="retirement")
    slip = models.CharField(max_length=32)
    last_day = models.DateField("redeemed up to")
    at = models.DateTimeField("retired at")

    class Meta:
        verbose_name = "retirement of a series"

    def __str__(self) -> str:
        return f"{self.series}, up to {self.last_day}"


MOST_RAKE_PERMILLE: Final = 200


class ShoeSource(models.TextChoices):
    """Where a table's cards come from."""

    KEYED = KEYED_SHOE, "Real cards, keyed as they are turned"
    HOUSE = HOUSE_SHOE, "House shoe, dealt by the system"
    CONTINUOUS = CONTINUOUS_MACHINE, "Real cards from a machine that shuffles all the time"
    BATCHES = BATCH_MACHINE, "Real cards from a machine, batch by batch"


class Table(models.Model):
    """One table as the operator sets it. New limits and options apply from the next round on."""

    name = models.CharField(max_length=40, unique=True)
    game = models.CharField(max_length=20, default="rocket")
    options = models.JSONField(default=dict, blank=True, help_text="The game's options, as in a round record.")
    seats = models.PositiveSmallIntegerField(default=6, validators=[MinValueValidator(1), MaxValueValidator(8)])
    source = models.CharField("shoe", max_length=5, choices=ShoeSource.choices, default=ShoeSource.KEYED)
    unit_cents = models.PositiveBigIntegerField("chip unit (cents)", validators=[MinValueValidator(1)])
    min_cents = models.PositiveBigIntegerField("minimum bet (cents)", validators=[MinValueValidator(1)])
    max_cents = models.PositiveBigIntegerField("maximum bet (cents)", validators=[MinValueValidator(1)])
    bet_step_cents = models.PositiveBigIntegerField(
        "bet step (cents)", null=True, blank=True, help_text="Bets are multiples of it. Empty: of the chip unit."
    )
    cap_cents = models.PositiveBigIntegerField(
        "cap on the table's exposure (cents)",
        null=True,
        blank=True,
        help_text="The most that one round may cost the house. Empty: none.",
    )
    rake_permille = models.PositiveSmallIntegerField(
        "rake (per mille of a pot)", default=0, validators=[MaxValueValidator(MOST_RAKE_PERMILLE)]
    )
    rake_cap_cents = models.PositiveBigIntegerField("most rake of one pot (cents)", null=True, blank=True)
    time_charge_cents = models.PositiveBigIntegerField("time charge per seat and half hour (cents)", default=0)
    marks_commission = models.BooleanField(
        "commission is marked and collected later",
        default=False,
        help_text="At the end of the shoe, or when the player leaves. Else it is taken at once.",
    )
    wager_limits = models.JSONField(default=dict, blank=True, help_text="By wager: the least and the most, in cents.")
    seat_max_cents = models.PositiveBigIntegerField(
        "most that one seat may bet in a round (cents)", null=True, blank=True, help_text="Empty: no maximum of a seat."
    )
    player_edges = models.JSONField(
        "wagers in the player's favour",
        default=dict,
        db_default=models.Value({}, models.JSONField()),
        blank=True,
        editable=False,
    )
    """By wager, the player's average win in per cent, as it was approved under dual control."""
    own_limits = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True, editable=False
    )
    """The table's own limits, by name, where a limit plan is in force now. None for a limit that is not set."""
    kept_minimums = models.JSONField(
        default=dict, db_default=models.Value({}, models.JSONField()), blank=True, editable=False
    )
    """The seats that keep an older minimum until they leave, as the log has them."""
    cameras = models.CharField(
        max_length=80, blank=True, default="", help_text="As the surveillance calls those that look at it: C-12, PTZ 3."
    )
    denominations = models.ManyToManyField(Denomination, related_name="tables")
    book = models.OneToOneField("ledger.Book", on_delete=models.PROTECT, editable=False)
    retired_at = models.DateTimeField("retired since", null=True, editable=False)
    retired_by = models.CharField(max_length=120, blank=True, editable=False)
    retired_why = models.CharField("why", max_length=200, blank=True, editable=False)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def dealer_plays(self) -> bool:
        """Whether the dealer has cards in its game too."""
        return GAMES[self.game].dealer_plays


class Terminal(models.Model):
    """A device that an operator has enrolled: only there may a dealer sign in with badge and PIN."""

    name = models.CharField(max_length=40, unique=True)
    token_digest = models.CharField(max_length=64, unique=True, editable=False)
    table = models.ForeignKey(Table, on_delete=models.PROTECT, null=True, blank=True, help_text="Empty: any table.")
    enrolled_by = models.ForeignKey(Staff, on_delete=models.PROTECT, editable=False)
    enrolled_at = models.DateTimeField(auto_now_add=True)
    is_active = models.BooleanField("enrolled", default=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name


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
        """Whether one of its scopes grants reading with this permission. It never has permissions to enter or sign."""
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


class SeatPage(models.Model):
    """The player page of one seat. Its address grants the view and the choices of that seat.

    A row is never changed: another page replaces it.
    """

    table = models.ForeignKey(Table, on_delete=models.PROTECT)
    seat = models.PositiveSmallIntegerField()
    token_digest = models.CharField(max_length=64, unique=True)
    issued_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["table", "seat"], name="tables_seatpage_one_a_seat")
        ]

    def __str__(self) -> str:
        return f"{self.table}, seat {self.seat}"


class HouseShoe(models.Model):
    """The secret order of one shuffle of an electronic shoe.

    Its commitment is in the log before its first card is dealt. Rows are inserted and read by ``shoes.py`` only; no
    screen shows one before the log has opened it.
    """

    table = models.ForeignKey(Table, on_delete=models.PROTECT)
    commitment = models.CharField(max_length=64, unique=True)
    order = models.BinaryField()
    nonce = models.BinaryField()
    shuffled_at = models.DateTimeField(auto_now_add=True)


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


class HouseHours(AppendOnly):
    """The hours of gaming day and shifts from a gaming day on. The entry in the site's log has the same content."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    from_day = models.DateField("from the gaming day")
    time_zone = models.CharField(max_length=64)
    day_starts = models.TimeField("the day starts at")
    shifts = models.JSONField()
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = verbose_name_plural = "gaming day and shifts"
        ordering: ClassVar[list[str]] = ["-from_day", "-seq"]

    def __str__(self) -> str:
        return f"from {self.from_day}, {self.day_starts:%H:%M} {self.time_zone}"


class HouseTerms(AppendOnly):
    """Changed values of the site's policies from a moment on. The entry in the site's log has the same content."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    effective = models.DateTimeField("holds from")
    values = models.JSONField()
    """By term; only those that changed."""
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = verbose_name_plural = "house terms"
        ordering: ClassVar[list[str]] = ["-effective", "-seq"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_houseterms_from_then_on", condition=models.Q(effective__gte=models.F("at"))
            ),
        ]

    def __str__(self) -> str:
        return f"from {self.effective:%Y-%m-%d %H:%M}"


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


STANDS: Final = ("approved", "decided")
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
                condition=models.Q(outcome__in=(*STANDS, "declined", "withdrawn", "expired")),
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


class PayTable(AppendOnly):
    """A pay table that an operator made for wagers of a game.

    Never changed: other lines are another version of the name.
    """

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    game = models.CharField(max_length=20)
    name = models.CharField(max_length=40)
    version = models.IntegerField()
    wagers = models.JSONField("pays")
    """By wager, the odds of each of its lines: 9:1."""
    sha256 = models.CharField("SHA-256", max_length=64)
    """Of the game and the lines."""
    by = models.CharField("made by", max_length=120)
    at = models.DateTimeField("made at")

    class Meta:
        verbose_name = "pay table"
        ordering: ClassVar[list[str]] = ["game", "name", "-version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["game", "name", "version"], name="tables_paytable_once"),
            models.CheckConstraint(name="tables_paytable_version", condition=models.Q(version__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.name} version {self.version}"


class HouseKey(AppendOnly):
    """A key in the site's key register, as an operator set it. The newest row of a name is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField("mark", max_length=40)
    lock = models.CharField("opens", max_length=16, choices=list(OPENS.items()))
    dual = models.BooleanField("held by two", default=False)
    in_use = models.BooleanField("in use", default=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "key"
        ordering: ClassVar[list[str]] = ["name", "-seq"]

    def __str__(self) -> str:
        return self.name


class DropSchedule(AppendOnly):
    """When drop boxes are due, from a day on. The newest row of a name that has begun is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField(max_length=40)
    from_day = models.DateField("from the day")
    tables = models.JSONField(default=list)
    """Names of the tables. Empty for all tables."""
    weekdays = models.JSONField(default=list)
    """0 is Monday; none ends the schedule."""
    due_at = models.TimeField("due at")
    who = models.CharField("taken by", max_length=40)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "drop schedule"
        ordering: ClassVar[list[str]] = ["name", "-from_day", "-seq"]

    def __str__(self) -> str:
        return f"{self.name} from {self.from_day}"


class PitSection(AppendOnly):
    """The tables of a section of a pit. The newest row of a pit and section is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    pit = models.CharField(max_length=40)
    section = models.CharField(max_length=40, blank=True)
    """Empty where the pit is one section."""
    tables = models.JSONField(default=list)
    """By name; none ends the section."""
    first = models.JSONField("first in order", default=list)
    """Names of the tables that come first; the others follow by name."""
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "pit section"
        ordering: ClassVar[list[str]] = ["pit", "section", "-seq"]

    def __str__(self) -> str:
        return f"{self.pit}, section {self.section}" if self.section else self.pit


class FloorPlan(AppendOnly):
    """The positions of the tables of a pit on its drawn plan. The newest row of a pit is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    pit = models.CharField(max_length=40)
    spots = models.JSONField(default=dict)
    """By table: steps from the left, and from the top."""
    by = models.CharField("drawn by", max_length=120)
    at = models.DateTimeField("drawn at")

    class Meta:
        verbose_name = "floor plan"
        ordering: ClassVar[list[str]] = ["pit", "-seq"]

    def __str__(self) -> str:
        return f"plan of {self.pit}"


class Post(AppendOnly):
    """The pits assigned to a pit boss from a moment on. Of those that have taken effect, the latest is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    username = models.CharField(max_length=40)
    pits = models.JSONField(default=list)
    """Names of the pits. Empty, without the whole floor, ends the assignment."""
    whole_floor = models.BooleanField(default=False)
    effective = models.DateTimeField("holds from")
    proposal = models.IntegerField(null=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "post"
        ordering: ClassVar[list[str]] = ["-seq"]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["username", "-effective", "-seq"], name="tables_post_standing"),
        ]

    def __str__(self) -> str:
        return f"{self.username}: {'the whole floor' if self.whole_floor else ', '.join(self.pits) or 'no post'}"


class PitCover(AppendOnly):
    """A pit that a pit boss takes over up to a moment. The newest row of a person and pit is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    username = models.CharField(max_length=40)
    pit = models.CharField(max_length=40)
    until = models.DateTimeField()
    """Given back, the moment of that."""
    reason = models.CharField("why", max_length=200, blank=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at", db_index=True)

    class Meta:
        verbose_name = "pit that is covered"
        verbose_name_plural = "pits that are covered"
        ordering: ClassVar[list[str]] = ["-seq"]

    def __str__(self) -> str:
        return f"{self.username}: {self.pit}"


class LimitPlan(AppendOnly):
    """A version of a limit plan. Of those that have taken effect, the latest is in force."""

    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    name = models.CharField(max_length=40)
    version = models.PositiveIntegerField()
    scope = models.CharField("is for", max_length=5)
    of = models.CharField("which", max_length=40, blank=True)
    schedule = models.JSONField(default=dict)
    values = models.JSONField(default=dict)
    note = models.CharField("why", max_length=200, blank=True)
    takes = models.CharField("holds from the next", max_length=5, default="round")
    keeps_seated = models.BooleanField("seats that play keep the old minimum", default=False)
    retired = models.BooleanField(default=False)
    effective = models.DateTimeField("holds from")
    proposal = models.IntegerField(null=True)
    by = models.CharField("set by", max_length=120)
    at = models.DateTimeField("set at")

    class Meta:
        verbose_name = "limit plan"
        ordering: ClassVar[list[str]] = ["name", "-version"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["name", "version"], name="tables_limitplan_version"),
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"


class DayClose(AppendOnly):
    """A gaming day that two persons closed. Its figures are in the entry of the site's log."""

    day = models.DateField(unique=True)
    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    proposed_by = models.CharField(max_length=40)
    closed_by = models.CharField(max_length=40)
    at = models.DateTimeField()

    class Meta:
        verbose_name = "day close"
        ordering: ClassVar[list[str]] = ["-day"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(
                name="tables_dayclose_by_two", condition=~models.Q(closed_by=models.F("proposed_by"))
            )
        ]

    def __str__(self) -> str:
        return str(self.day)


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


class Practice(AppendOnly):
    """A dealer's practice: what its rounds are drawn from. No table, no chip and no log has a part in it."""

    dealer = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="practices")
    course = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-pk"]

    def __str__(self) -> str:
        return f"practice {self.pk} of {self.dealer}"


class PracticeAnswer(AppendOnly):
    """A trainee's answer to one question of a practice. The first answer counts."""

    practice = models.ForeignKey(Practice, on_delete=models.PROTECT, related_name="answers")
    number = models.IntegerField()
    answer = models.CharField(max_length=20)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["practice", "number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["practice", "number"], name="tables_practiceanswer_once"),
        ]

    def __str__(self) -> str:
        return f"answer {self.number} of {self.practice_id}"


class Certificate(AppendOnly):
    """A dealer's certificate for a game, signed by a supervisor. The entry in the site's log has the same content."""

    number = models.IntegerField(unique=True)
    seq = models.BigIntegerField(unique=True)
    """Sequence number of the entry in the site's log."""
    practice = models.OneToOneField(Practice, on_delete=models.PROTECT)
    dealer = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="certificates")
    game = models.CharField(max_length=20)
    rules_version = models.CharField(max_length=64)
    answers_right = models.IntegerField()
    answers_asked = models.IntegerField()
    signed_by = models.ForeignKey(Staff, on_delete=models.PROTECT, related_name="+")
    signed_as = models.CharField(max_length=120)
    on_day = models.DateField()
    valid_through = models.DateField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.CheckConstraint(name="tables_certificate_by_two", condition=~models.Q(signed_by=models.F("dealer"))),
            models.CheckConstraint(name="tables_certificate_number", condition=models.Q(number__gte=1)),
        ]

    def __str__(self) -> str:
        return f"certificate {self.number}"

    @property
    def title(self) -> str:
        """The title of its game."""
        return GAMES[self.game].title
