"""Casino War: a card against the dealer's; a tie goes to war, or gives half of the bet away."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tables.games.felt import Struct
from tables.games.odds import Rounding

Side = Literal["tie"]


class Rules(Struct, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 6
    surrender: Annotated[bool, Meta(description="Whether a tied seat may give half of its bet away.")] = True
    second_tie: Annotated[
        Literal["raise_only", "bonus"],
        Meta(description="What a second tie pays: even money on the raise, or on the first bet as well."),
    ] = "raise_only"
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("tie",)
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[Rounding, Meta(description="How winnings that are no whole chips are rounded.")] = "down"
