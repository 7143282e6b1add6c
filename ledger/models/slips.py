"""The numbers of slips and their signed steps."""

from django.db import models
from django.db.models import F, Q

from ledger.models.append_only import AppendOnly
from ledger.models.logs import Book
from ledger.proof.slip_name import SlipName

SERIES = (
    "opener", "closer", "rack", "fill", "credit", "drop", "correction", "withdrawal", "deposit", "cage", "vault",
    "receipt", "destruction", "retirement", "lapse", "found", "claim", "counterfeit", "forgery",
    "emergency", "bankin", "bankout", "imprest", "imprestback", "cagecash", "vaultcash", "note", "key", "dualkey",
    "keyback", "keylost",
)  # fmt: skip
"""The series of slips. Each counts its own numbers from 1 in each calendar year. ``tables/log/slip_types.py`` describes
them; the names are repeated here because a CHECK constraint lists them."""


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
