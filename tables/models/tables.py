"""The tables as operators set them, and the player pages of their seats."""

from typing import ClassVar, Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from tables.games.catalog import GAMES
from tables.log.state import BATCHES as BATCH_MACHINE
from tables.log.state import CONTINUOUS as CONTINUOUS_MACHINE
from tables.log.state import HOUSE_SHOE
from tables.log.state import KEYED as KEYED_SHOE
from tables.models.chips import Denomination, Retirable

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

    objects = Retirable["Table"].as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["name"]

    def __str__(self) -> str:
        return self.name

    @property
    def dealer_plays(self) -> bool:
        """Whether the dealer has cards in its game too."""
        return GAMES[self.game].dealer_plays


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
