"""The logs of the site and its tables, their entries, and events that wait for an entry."""

from typing import Any, ClassVar, NoReturn, Self

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q

from ledger.models.append_only import AppendOnly, AppendOnlyRows, Immutable
from ledger.proof import spelling
from ledger.proof.spelling import Body

HOUSE = "house"
"""The name of the site log; every other log belongs to a table."""


class BookRows(models.QuerySet["Book"]):
    """The logs."""

    def site(self) -> "Book":
        """The log of the site."""
        return self.get(name=HOUSE)

    def of_tables(self) -> Self:
        """The logs of the tables."""
        return self.exclude(name=HOUSE)


class Book(models.Model):
    """A log: one hash chain of entries, of a table or of the site. It stores the head, so that a missing last entry is
    noticed."""

    name = models.CharField(max_length=64, unique=True)
    head_seq = models.BigIntegerField(default=0, editable=False)
    head_hash = models.BinaryField(max_length=32, null=True, editable=False)

    objects = BookRows.as_manager()

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


class LogEntryRows(AppendOnlyRows["LogEntry"]):
    """The entries of logs."""

    def of_site(self) -> Self:
        """The entries of the site's log."""
        return self.filter(book__name=HOUSE)


LogEntryManager = models.Manager.from_queryset(LogEntryRows)


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

    objects: ClassVar[LogEntryManager["LogEntry"]] = LogEntryManager()

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
