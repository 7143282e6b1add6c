"""Baccarat: bets on a player's hand, a banker's hand, and what may become of them. Nobody decides anything."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tables.games.felt import Struct
from tables.games.odds import Rounding

Side = Literal["tie", "player_pair", "banker_pair", "dragon_7", "panda_8", "super_6"]


class Rules(Struct, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 8
    commission: Annotated[
        Literal["five_percent", "six_pays_half", "ez"],
        Meta(description="What a banker's win costs: 5 %, half of it on a 6, or nothing but a push on a three-card 7."),
    ] = "five_percent"
    tie_pays: Annotated[Literal[8, 9], Meta(description="What a tie pays, to one.")] = 8
    super_6_pays: Annotated[Literal[12, 15], Meta(description="What super 6 pays, to one.")] = 12
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("tie", "player_pair", "banker_pair")
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[Rounding, Meta(description="How winnings that are no whole chips are rounded.")] = "down"
