"""Blackjack: nearer to 21 than the dealer, without going over."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tables.games.felt import Struct
from tables.games.odds import Rounding

Side = Literal["perfect_pairs", "twenty_one_plus_three"]


class Rules(Struct, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 6
    soft17: Annotated[Literal["stand", "hit"], Meta(description="What the dealer does on a soft 17.")] = "stand"
    blackjack_pays: Annotated[Literal["3:2", "6:5", "1:1"], Meta(description="What a blackjack pays.")] = "3:2"
    double: Annotated[
        Literal["any_two", "9_to_11", "10_to_11"], Meta(description="On which two cards a bet may be doubled.")
    ] = "any_two"
    double_after_split: Annotated[bool, Meta(description="Whether a split hand may be doubled.")] = True
    splits: Annotated[int, Meta(ge=0, le=3, description="How often a seat may split.")] = 3
    split_by: Annotated[
        Literal["value", "rank"], Meta(description="Whether two cards of one value may be split, or of one rank only.")
    ] = "value"
    resplit_aces: Annotated[bool, Meta(description="Whether aces may be split again.")] = False
    hit_split_aces: Annotated[bool, Meta(description="Whether split aces are played on.")] = False
    surrender: Annotated[
        Literal["none", "late"], Meta(description="Whether a seat may give half of its bet away, after the peek.")
    ] = "none"
    insurance: Annotated[bool, Meta(description="Whether insurance is offered under an ace.")] = True
    hole: Annotated[
        Literal["peek", "none", "none_original"],
        Meta(
            description="A hole card that the dealer peeks at; none; or none, and a dealer's blackjack takes original"
            " bets only."
        ),
    ] = "peek"
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ()
    unit: Annotated[int, Meta(ge=1, le=10**12)] = 1
    rounding: Annotated[Rounding, Meta(description="How winnings that are no whole chips are rounded.")] = "down"
