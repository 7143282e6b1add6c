"""A shoe's life: loaded, checked, shuffled, cut, burned, and retired."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from tables.games.cards import UNKNOWN
from tables.log.event import Event, Opened
from tables.log.exception_categories import MISHAPS, ORDINARY, REFUSED, TAKE_BACKS
from tables.log.kind_record import NO_ALERT, NOTHING, KindRecord
from tables.log.message import CardFace, Message, from_fields
from tables.log.published.form import SHOE_CONTENTS
from tables.log.state import Shoe, TableState
from tables.log.writers import DEALER_OR_FLOOR, SHOE_REMOVER, TAKE_BACK, THE_DEALER


class ShoeStep(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A step of the shoe on the table, with the shoe as it is after it."""

    subject: ClassVar[str] = "shoe"

    shoe: Shoe

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(standing, shoe=self.shoe, shoes=self.shoe.number, cut_seq=0)


class Loaded(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """A shoe is on the table."""

    kinds: ClassVar[tuple[str, ...]] = ("loaded",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=NO_ALERT)

    description = from_fields("Shoe {shoe.number} is loaded: {shoe.decks} decks, {shoe.source}")


class DeckChecked(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """Its decks were counted in columns, and are whole."""

    kinds: ClassVar[tuple[str, ...]] = ("deck_checked",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=NO_ALERT)

    counts: tuple[int, ...]
    """How many of each rank."""
    cards: tuple[str, ...] = ()
    """Every card as a machine read it; none where people counted."""

    def description(self) -> Message:
        number, decks = self.shoe.number, self.shoe.decks
        if self.cards:
            return Message(
                "Shoe {number}: all {decks} decks are whole, as a reader saw them", number=number, decks=decks
            )
        return Message("Shoe {number}: all {decks} decks are whole", number=number, decks=decks)


class DeckCheckFailed(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """Its decks were counted in columns, and are not whole: it is not dealt."""

    kinds: ClassVar[tuple[str, ...]] = ("deck_check_failed",)
    record = KindRecord(
        writer=THE_DEALER, moves=NOTHING, exception=REFUSED, feed=SHOE_CONTENTS, alert=("deck_check_failed",)
    )

    counts: tuple[int, ...]
    cards: tuple[str, ...] = ()

    description = from_fields("Deck check of shoe {shoe.number} failed: counted {counts}")


class Shuffled(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """The whole shoe was shuffled. A house shoe's order is committed to, and the one before is opened."""

    kinds: ClassVar[tuple[str, ...]] = ("shuffled",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=NO_ALERT)

    opened: Opened | None = None

    @property
    def commits(self) -> str | None:
        return self.shoe.commitment

    @property
    def opens(self) -> Opened | None:
        return self.opened

    description = from_fields("Shoe {shoe.number} is shuffled")


class CutCardPlaced(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """The cut card is in its place."""

    kinds: ClassVar[tuple[str, ...]] = ("cut_card_placed",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=NO_ALERT)

    cards_behind: int

    description = from_fields("Shoe {shoe.number}: the cut card is placed")


class Burned(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """The first cards were burned; from here on the shoe is dealt."""

    kinds: ClassVar[tuple[str, ...]] = ("burned",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=NO_ALERT)

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(super().folded(standing, seq, round), shoe=replace(self.shoe, ready_seq=seq))

    description = from_fields("Shoe {shoe.number}: {shoe.burn} cards burned, ready")


class CutCardOut(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """The cut card came out: this is the last round of the shoe."""

    kinds: ClassVar[tuple[str, ...]] = ("cut_card_out",)
    record = KindRecord(
        writer=THE_DEALER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=("cut_card_out",)
    )

    cards_left: int | None = None
    """The number of cards left in the shoe. None in entries of releases up to 0.9.0."""

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(super().folded(standing, seq, round), cut_seq=seq)

    description = from_fields(
        "Shoe {shoe.number}: the cut card is out with {cards_left} cards left, last round",
        otherwise=from_fields("Shoe {shoe.number}: the cut card is out, last round"),
    )


class CutCardBack(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """The cut card had not come out: it lies in the shoe still."""

    kinds: ClassVar[tuple[str, ...]] = ("cut_card_back",)
    record = KindRecord(writer=TAKE_BACK, moves=NOTHING, exception=TAKE_BACKS, feed=SHOE_CONTENTS, alert=NO_ALERT)

    corrects: int
    """The entry that does not count."""

    description = from_fields("Takes back entry {corrects}: the cut card is not out")


class Retired(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """The shoe left the table. A house shoe's order is opened."""

    kinds: ClassVar[tuple[str, ...]] = ("retired",)
    record = KindRecord(writer=SHOE_REMOVER, moves=NOTHING, exception=ORDINARY, feed=SHOE_CONTENTS, alert=NO_ALERT)

    opened: Opened | None = None

    @property
    def opens(self) -> Opened | None:
        return self.opened

    def folded(self, standing: TableState, seq: int, round: int | None) -> TableState:
        return replace(super().folded(standing, seq, round), shoe=None)

    description = from_fields("Shoe {shoe.number} is retired")


class CardSetAside(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """A card left the shoe unplayed between two rounds: exposed, boxed, on the floor, or burned."""

    kinds: ClassVar[tuple[str, ...]] = ("card_set_aside",)
    record = KindRecord(writer=THE_DEALER, moves=NOTHING, exception=MISHAPS, feed=SHOE_CONTENTS, alert=NO_ALERT)

    card: int
    """The card; UNKNOWN if it was not seen."""
    left: int | None = None
    """Of a house shoe: how many cards it had left, this one among them."""
    relief: bool = False
    """Whether it is the card that was to be burned because another dealer took the table."""

    def description(self) -> Message:
        number, card = self.shoe.number, CardFace(self.card, self.shoe.pack)
        match self.card == UNKNOWN, self.relief:
            case True, True:
                return Message("Shoe {number}: A card that nobody saw is burned at the relief", number=number)
            case True, False:
                return Message("Shoe {number}: A card that nobody saw is set aside", number=number)
            case False, True:
                return Message("Shoe {number}: A {card} is burned at the relief", number=number, card=card)
            case _:
                return Message("Shoe {number}: A {card} is set aside", number=number, card=card)


class Doubted(ShoeStep, frozen=True, kw_only=True, omit_defaults=True):
    """It is no longer known exactly what the shoe holds: once no round is open, it is retired."""

    kinds: ClassVar[tuple[str, ...]] = ("doubted",)
    record = KindRecord(writer=DEALER_OR_FLOOR, moves=NOTHING, exception=MISHAPS, feed=SHOE_CONTENTS, alert=NO_ALERT)

    description = from_fields("Shoe {shoe.number}: what it holds is no longer known exactly")


class CardRefused(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A card was keyed that the shoe cannot hold: the wrong key, or the wrong card."""

    subject: ClassVar[str] = "alert"
    kinds: ClassVar[tuple[str, ...]] = ("card_refused",)
    record = KindRecord(
        writer=THE_DEALER, moves=NOTHING, exception=REFUSED, feed=SHOE_CONTENTS, alert=("card_refused",)
    )

    rank: int | str | None
    says: str

    description = from_fields("A {rank} is keyed, and refused: {says}")
