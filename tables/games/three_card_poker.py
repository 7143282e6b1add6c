"""Three Card Poker: three cards against the dealer's, and a bet on the hand alone."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tables.games.felt import Struct
from tables.games.odds import Rounding

Side = Literal["pair_plus"]


class Rules(Struct, frozen=True):
    """The operator's options."""

    pair_plus_pays: Annotated[
        Literal["1-4-6-30-40", "1-3-6-30-40", "1-4-5-30-40", "1-3-5-30-40"],
        Meta(description="What pair plus pays: pair, flush, straight, three of a kind, straight flush."),
    ] = "1-4-6-30-40"
    ante_bonus: Annotated[
        Literal["1-4-5", "1-3-4", "1-2-3"],
        Meta(description="The ante bonus: straight, three of a kind, straight flush."),
    ] = "1-4-5"
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("pair_plus",)
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[Rounding, Meta(description="How winnings that are no whole chips are rounded.")] = "down"
