"""Dragon Tiger: one card each, and the higher one wins."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tables.games.felt import Struct
from tables.games.odds import Rounding

Side = Literal["tie", "suited_tie"]


class Rules(Struct, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 8
    tie_pays: Annotated[Literal[8, 11], Meta(description="What a tie pays, to one.")] = 8
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("tie",)
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[Rounding, Meta(description="How winnings that are no whole chips are rounded.")] = "down"
