"""Models of logs, chips, alerts and slips. Most rows can only be added; triggers in the database enforce that."""

from typing import Any, ClassVar, NoReturn, TypeVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q

from ledger.proof import spelling
from ledger.proof.chips import HOUSE_PLACES, PLACES, REVERSAL, SEATED
from ledger.proof.slip_name import SlipName
from ledger.proof.spelling import Body

HOUSE = "house"
"""The name of the site log; every other log belongs to a table."""


class Immutable(Exception):
    """A change or deletion of a row that may only be added."""


SERIES = (
    "opener", "closer", "rack", "fill", "credit", "drop", "correction", "withdrawal", "deposit", "cage", "vault",
    "receipt", "destruction", "retirement", "lapse", "found", "claim", "counterfeit", "forgery",
    "emergency", "bankin", "bankout", "imprest", "imprestback", "cagecash", "vaultcash", "note", "key", "dualkey",
    "keyback", "keylost",
)  # fmt: skip
"""The series of slips. Each counts its own numbers from 1 in each calendar year. ``tables/log/slip_types.py`` describes
them; the names are repeated here because a CHECK constraint lists them."""

T = TypeVar("T", bound=models.Model)


class AppendOnlyRows(models.QuerySet[T]):
    """A queryset that can read and add rows. The database rejects updates and deletions too; this fails earlier, with a
    clear message."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise Immutable(f"{self.model.__name__} rows are never changed: add a correcting one")

    def delete(self) -> NoReturn:
        raise Immutable(f"{self.model.__name__} rows are never deleted")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.update()


class AppendOnly(models.Model):
    """A row that is written once.

    In the CHECKs of these tables, a comparison of a nullable column also requires it to be not NULL: a comparison with
    NULL is neither true nor false, and PostgreSQL lets such a row pass.
    """

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(AppendOnlyRows)()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise Immutable(f"{type(self).__name__} rows are never changed: add a correcting one")
        super().save(*args, **kwargs | {"force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise Immutable(f"{type(self).__name__} rows are never deleted")


class Book(models.Model):
    """A log: one hash chain of entries, of a table or of the site. It stores the head, so that a missing last entry is
    noticed."""

    name = models.CharField(max_length=64, unique=True)
    head_seq = models.BigIntegerField(default=0, editable=False)
    head_hash = models.BinaryField(max_length=32, null=True, editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="ledger_book_head_whole",
                # A head without a hash, or the reverse, would start a second chain in the log.
                condition=Q(head_seq=0, head_hash=None) | Q(head_seq__gt=0, head_hash__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise Immutable("a book is never deleted")


class ShortBookKey(models.ForeignKey[Any, Any]):
    """A foreign key to a log in four bytes, for the two largest tables. No site has more logs than that."""

    def db_type(self, connection: Any) -> str:
        # Two tables have a row per input; four bytes less in each row and index keep more of them in memory.
        return "integer"


class LogEntry(AppendOnly):
    """One event. Its hash covers the hash of the entry before it, its columns and its body (proof/spelling.py).

    The purposes of the indexes are in docs/scale.md; those by time are in the migration 0016_short_bodies. A row is
    looked up by log and number, and its hash covers both, so the hash needs no index of its own.
    """

    book = ShortBookKey(Book, models.PROTECT, related_name="entries", db_constraint=False, db_index=False)
    seq = models.IntegerField()
    at = models.DateTimeField()
    subject = models.CharField(max_length=16)
    kind = models.CharField(max_length=32)
    round = models.IntegerField(null=True)
    by = models.CharField(max_length=120)
    key = models.UUIDField(null=True)
    legs = models.SmallIntegerField(default=0, help_text="How many transfers belong to this entry")
    body = models.BinaryField()
    hash = models.BinaryField(max_length=32, primary_key=True)

    class Meta:
        verbose_name_plural = "log entries"
        constraints = [
            models.UniqueConstraint(fields=["book", "seq"], name="ledger_logentry_seq"),
            # A repeated request must not become a second entry, whichever process receives it.
            models.UniqueConstraint(fields=["book", "key"], condition=Q(key__isnull=False), name="ledger_logentry_key"),
            models.CheckConstraint(name="ledger_logentry_gapless", condition=Q(seq__gte=1)),
            models.CheckConstraint(name="ledger_logentry_legs", condition=Q(legs__gte=0)),
        ]
        indexes = [
            models.Index(fields=["book", "round"], condition=Q(round__isnull=False), name="ledger_logentry_round"),
            models.Index(
                fields=["book", "subject", "seq"], condition=~Q(subject="round"), name="ledger_logentry_subject"
            ),
            models.Index(
                fields=["book", "seq"], condition=Q(subject="round", kind="take_back"), name="ledger_logentry_back"
            ),
            models.Index(
                fields=["book", "seq"], condition=Q(subject="round", kind="voided"), name="ledger_logentry_void"
            ),
            models.Index(
                fields=["book", "round"], condition=Q(subject="round", kind="voided"), name="ledger_logentry_voidround"
            ),
            models.Index(
                fields=["book", "by", "seq"],
                opclasses=["int4_ops", "text_pattern_ops", "int4_ops"],
                condition=~Q(subject="round"),
                name="ledger_logentry_by",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.book_id}/{self.seq} {self.subject} {self.kind}"

    @property
    def parts(self) -> Body:
        """The parsed body, in either format. Raises Misspelled."""
        return spelling.read(self.subject, bytes(self.body))

    @property
    def content(self) -> dict[str, Any]:
        """The content as its writer passed it. Raises Misspelled."""
        content: dict[str, Any] = self.parts.content
        return content


class Notice(models.Model):
    """An event recorded while the site's log was locked by others, until an entry in that log records it.

    It is written once, and the number of its entry is set once. The database refuses every other change.
    """

    key = models.UUIDField(unique=True)
    at = models.DateTimeField()
    subject = models.CharField(max_length=16)
    kind = models.CharField(max_length=32)
    by = models.CharField(max_length=120)
    content = models.JSONField(encoder=DjangoJSONEncoder)
    seq = models.BigIntegerField(null=True, editable=False)

    class Meta:
        indexes = [models.Index(fields=["id"], condition=Q(seq=None), name="ledger_notice_waiting")]

    def __str__(self) -> str:
        return f"{self.subject} {self.kind}"


class Account(AppendOnly):
    """A place where chips can be: a place of one log, and on the layout a seat, and a wager where those are kept apart.

    It has no balance that could be overwritten.
    """

    book = models.ForeignKey(Book, models.PROTECT, related_name="accounts")
    place = models.CharField(max_length=16, choices=[(place, place.replace("_", " ")) for place in PLACES])
    seat = models.SmallIntegerField(null=True, blank=True)
    wager = models.CharField(max_length=24, null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["book", "place", "seat", "wager"], nulls_distinct=False, name="ledger_account_place"
            ),
            models.CheckConstraint(
                name="ledger_account_wager_on_layout", condition=Q(wager=None) | Q(place="layout", seat__isnull=False)
            ),
            models.UniqueConstraint(
                # Two vaults would make the vault's balance depend on which of them a transfer names.
                fields=["place"],
                condition=Q(place__in=sorted(HOUSE_PLACES)),
                name="ledger_account_one_house",
            ),
            models.CheckConstraint(name="ledger_account_known_place", condition=Q(place__in=PLACES)),
            models.CheckConstraint(
                name="ledger_account_seat_on_layout",
                condition=Q(place__in=sorted(SEATED), seat__isnull=False, seat__gte=1)
                | (~Q(place__in=sorted(SEATED)) & Q(seat=None)),
            ),
        ]

    def __str__(self) -> str:
        return " ".join(str(part) for part in (self.place, self.seat, self.wager) if part is not None)

    @property
    def spot(self) -> int | tuple[int, str] | None:
        """The seat of a place that each seat has, or the seat and the wager; None for other places."""
        return self.seat if self.seat is None or self.wager is None else (self.seat, self.wager)


class Transfer(AppendOnly):
    """One movement of chips: one source, one target, one positive amount, so that it is always balanced.

    Kind and places are one of chips.MOVEMENTS: see the migration 0002_guards, with the rules that Django cannot
    express.
    """

    book = ShortBookKey(Book, models.PROTECT, related_name="transfers", db_constraint=False, db_index=False)
    seq = models.IntegerField()
    leg = models.SmallIntegerField()
    legs = models.SmallIntegerField()
    kind = models.CharField(max_length=16)
    source = models.ForeignKey(Account, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    source_place = models.CharField(max_length=16)
    target = models.ForeignKey(Account, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    target_place = models.CharField(max_length=16)
    amount_cents = models.BigIntegerField()
    reverses = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="reversals", db_constraint=False, db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "seq", "leg"], name="ledger_transfer_leg"),
            models.UniqueConstraint(
                # A second reversal of one transfer would create chips.
                fields=["reverses"],
                condition=Q(reverses__isnull=False),
                name="ledger_transfer_reversed_once",
            ),
            models.CheckConstraint(name="ledger_transfer_leg_counted", condition=Q(leg__gte=1, leg__lte=F("legs"))),
            # A negative amount would be a movement in the other direction, which may not be permitted.
            models.CheckConstraint(name="ledger_transfer_positive", condition=Q(amount_cents__gt=0)),
            models.CheckConstraint(name="ledger_transfer_moves", condition=~Q(source=F("target"))),
            models.CheckConstraint(
                name="ledger_transfer_reversal",
                condition=Q(kind=REVERSAL, reverses__isnull=False) | (~Q(kind=REVERSAL) & Q(reverses=None)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.book_id}/{self.seq}.{self.leg} {self.kind} {self.amount_cents}"


class Recount(AppendOnly):
    """The balance of one account by all transfers of one log through one entry. Later sums start from it.

    A recount of a log writes a row for every account that its transfers ever used.
    """

    book = models.ForeignKey(Book, models.PROTECT, related_name="recounts", db_index=False)
    account = models.ForeignKey(Account, models.PROTECT, related_name="recounts", db_index=False)
    through_seq = models.BigIntegerField()
    head_hash = models.BinaryField(max_length=32)
    balance_cents = models.BigIntegerField()
    at = models.DateTimeField()
    by = models.CharField(max_length=120)

    class Meta:
        constraints = [
            # Concurrent recounts write equal rows: one of them stays.
            models.UniqueConstraint(fields=["book", "through_seq", "account"], name="ledger_recount_once"),
            models.CheckConstraint(name="ledger_recount_of_something", condition=Q(through_seq__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.account_id} through {self.book_id}/{self.through_seq}: {self.balance_cents}"


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


class BookRoot(AppendOnly):
    """The Merkle root of one log's entries of one gaming day, in the document that is a leaf of the day's tree."""

    book = models.ForeignKey(Book, models.PROTECT, related_name="roots", db_index=False)
    day = models.DateField()
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    head_hash = models.BinaryField(max_length=32)
    body = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["book", "day"], name="ledger_bookroot_once"),
            models.CheckConstraint(
                name="ledger_bookroot_span", condition=Q(first_seq__gte=1, last_seq__gte=F("first_seq") - 1)
            ),
        ]
        indexes = [models.Index(fields=["day"], name="ledger_bookroot_day")]

    def __str__(self) -> str:
        return f"{self.book_id} on {self.day}: {self.first_seq} to {self.last_seq}"


class DayRoot(AppendOnly):
    """A sealed gaming day: the root over the roots of all logs, signed, and chained to the day before."""

    day = models.DateField(unique=True)
    number = models.IntegerField(unique=True)
    prev_number = models.IntegerField(null=True)
    prev_hash = models.BinaryField(max_length=32, null=True)
    body = models.BinaryField()
    hash = models.BinaryField(max_length=32)
    signature = models.BinaryField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                # The previous number is a column, so that a CHECK can enforce the sequence without a query.
                name="ledger_dayroot_gapless",
                condition=Q(number=1, prev_number=None, prev_hash=None)
                | Q(number__gt=1, prev_number__isnull=False, prev_number=F("number") - 1, prev_hash__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"day {self.number}, {self.day}"


class HeadsRow(AppendOnly):
    """A leaf of the tree that outside witnesses observe: the heads of all logs at one minute (``proof/heads.py``).

    With it are the hashes of all subtrees that it completed, the leaf's own first: a proof about any two leaves reads a
    few rows, however many there are.
    """

    origin = models.CharField(max_length=120, help_text="The name of the tree")
    number = models.BigIntegerField()
    previous = models.BigIntegerField(null=True)
    at = models.DateTimeField()
    leaf = models.BinaryField()
    heads = models.BinaryField(help_text="The heads that moved since the leaf before; of each 64th leaf, all of them")
    hashes = models.BinaryField()
    signature = models.CharField(max_length=300, help_text="The line under the checkpoint that ends with this leaf")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["origin", "number"], name="ledger_headsrow_once"),
            models.CheckConstraint(
                name="ledger_headsrow_gapless",
                condition=Q(number=0, previous=None)
                | Q(number__gt=0, previous__isnull=False, previous=F("number") - 1),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.origin}/{self.number}"


class Cosignature(AppendOnly):
    """The signature of an outside witness on a checkpoint."""

    origin = models.CharField(max_length=120)
    size = models.BigIntegerField(help_text="How many leaves the checkpoint has")
    witness = models.CharField(max_length=300, help_text="Its verifier key")
    line = models.CharField(max_length=300)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["origin", "witness", "size"], name="ledger_cosignature_once"),
            models.CheckConstraint(name="ledger_cosignature_of_something", condition=Q(size__gte=1)),
        ]

    def __str__(self) -> str:
        return f"{self.origin}: {self.size} leaves, seen by {self.witness.partition('+')[0]}"


class Slip(AppendOnly):
    """The number of a slip, without gaps in its series and calendar year. The slip's content is in its log entry."""

    series = models.CharField(max_length=16)
    year = models.SmallIntegerField()
    number = models.IntegerField()
    previous = models.IntegerField(null=True)
    book = models.ForeignKey(Book, models.PROTECT, related_name="slips", db_constraint=False)
    seq = models.BigIntegerField()
    total_cents = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["series", "year", "number"], name="ledger_slip_number"),
            models.UniqueConstraint(fields=["book", "seq"], name="ledger_slip_entry_once"),
            models.CheckConstraint(
                # Internal controls require slips without gaps: a missing number would hide a movement of chips.
                name="ledger_slip_gapless",
                condition=Q(number=1, previous=None)
                | Q(number__gt=1, previous__isnull=False, previous=F("number") - 1),
            ),
            models.CheckConstraint(name="ledger_slip_known_series", condition=Q(series__in=SERIES)),
        ]
        indexes = [models.Index(fields=["series", "id"], name="ledger_slip_newest")]

    def __str__(self) -> str:
        return str(SlipName(self.series, self.year, self.number))


class SlipSignature(AppendOnly):
    """A signed step of a slip. No step is signed twice, and no user signs one slip twice, except the supervisor who
    requested a fill or credit and also signs for it at the table."""

    slip = models.ForeignKey(Slip, models.PROTECT, related_name="signatures", db_index=False)
    stage = models.CharField(max_length=16)
    username = models.CharField(max_length=40)
    role = models.CharField(max_length=16)
    book = models.ForeignKey(Book, models.PROTECT, related_name="+", db_constraint=False, db_index=False)
    seq = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["slip", "stage"], name="ledger_signature_stage_once"),
            # Together, these two let one person sign the request and the confirmation, and no other two steps.
            models.UniqueConstraint(
                fields=["slip", "username"], condition=~Q(stage="confirmed"), name="ledger_signature_signer_once"
            ),
            models.UniqueConstraint(
                fields=["slip", "username"], condition=~Q(stage="requested"), name="ledger_signature_confirmer_once"
            ),
            models.UniqueConstraint(fields=["book", "seq"], name="ledger_signature_entry_once"),
            models.CheckConstraint(name="ledger_signature_by_name", condition=~Q(username="")),
        ]
        indexes = [
            models.Index(fields=["book", "seq"], condition=Q(stage="witnessed"), name="ledger_signature_removal"),
        ]

    def __str__(self) -> str:
        return f"{self.slip}: {self.stage} by {self.username}"


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
