"""The practice sessions of dealers, and their certificates."""

from typing import ClassVar

from django.db import models

from ledger.models import AppendOnly
from tables.games.catalog import GAMES
from tables.models.staff import Staff


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
