"""The prior probability of each dealer's mistake, as policies of the site with defaults. Pure.

The defaults are judgements from floor practice and not measurements (docs/disputes.md has the reasons). A casino that
keeps a register of payout errors should set its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple


class Rate(NamedTuple):
    """The frequency of a mistake, per ten thousand opportunities."""

    title: str
    default: int
    chance: str
    """A description of one opportunity."""


RATES: Final[Mapping[str, Rate]] = {
    "card": Rate("A card named wrongly", 20, "a card, and another rank that it is taken for"),
    "other_rank": Rate("Paid by another card than the one that decided", 15, "a seat that is paid by a card's rank"),
    "chip_more": Rate("A chip too many or too few", 15, "a chip of a payment"),
    "chip_other": Rate("A chip of another colour", 12, "a chip of a payment"),
    "other_odds": Rate("Paid at the odds of another outcome", 9, "a winning bet, and other odds at the table"),
    "other_bet": Rate("A bet entered with a chip too many or too few", 8, "a bet, and a kind of chip"),
    "not_taken": Rate("A losing bet not taken", 6, "a losing bet"),
    "neighbour": Rate("A seat handled as its neighbour", 5, "two seats with the same outcome"),
    "paid_twice": Rate("A seat paid twice", 4, "a winning bet"),
    "push_paid": Rate("A push paid as a win", 4, "a push"),
    "not_paid": Rate("A winning bet not paid", 3, "a winning bet"),
    "took_all": Rate("All of a bet taken where a part was due, or none", 3, "a push, or a bet that lost a part"),
    "wrong_way": Rate("Paid where it lost, or taken from where it won", 2, "a bet that won or lost"),
    "taken_twice": Rate("Taken twice", 1, "a losing bet, or a charge"),
    "rake_missed": Rate("A rake not taken", 6, "a rake"),
    "charge_missed": Rate("A charge or commission not taken", 5, "a charge"),
    "brought_as_bought": Rate("Chips brought along, entered as sold", 4, "a buy-in"),
    "bought_as_brought": Rate("Chips sold, entered as brought along", 4, "chips that were brought along"),
    "given_twice": Rate("A buy-in handed out twice", 1, "a buy-in"),
    "not_given": Rate("A buy-in not handed out", 1, "a buy-in"),
    "miscount": Rate("The count is wrong", 3, "a stack of twenty"),
}


class Factor(NamedTuple):
    """How many times as likely something is, in per cent; and from what to what it can be set."""

    title: str
    default: int
    help: str
    least: int = 100
    most: int = 10_000


FACTORS: Final[Mapping[str, Factor]] = {
    "notice": Factor(
        "A mistake that leaves the player short", 40,
        "So much of what it would be, since the player speaks up, who is silent where too much is paid.", 1, 100,
    ),
    "worked_out": Factor(
        "A payment that has to be worked out", 200,
        "So many times as likely as one of even money, or a bet that is taken whole.",
    ),
    "troubled": Factor(
        "A round with a take-back or a refused card", 300, "Something was amiss in it already.",
    ),
    "near": Factor(
        "The round before or after such a one", 150, "Whoever is put out of step is so for a while.",
    ),
    "disputed": Factor(
        "A round about which a dispute was opened", 1_000, "Somebody saw something, though perhaps not this.",
    ),
    "bookmarked": Factor(
        "A round that the surveillance marked", 500, "Somebody looked twice. Only who may see bookmarks is told of it.",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Priors:
    """The figures by which places are weighed."""

    rates: Mapping[str, float]
    """By the kind of mistake, in ten thousand chances."""
    notice: float = 0.4
    worked_out: float = 2.0
    troubled: float = 3.0
    near: float = 1.5
    disputed: float = 10.0
    bookmarked: float = 5.0


DEFAULTS: Final = Priors({kind: float(rate.default) for kind, rate in RATES.items()})

RATE_TERM, FACTOR_TERM = "mispay_rate_", "mispay_times_"


def priors(values: Mapping[str, Any]) -> Priors:
    """The figures that a house has laid down, from its terms."""
    rates = {kind: float(values[f"{RATE_TERM}{kind}"]) for kind in RATES}
    return Priors(rates, **{name: values[f"{FACTOR_TERM}{name}"] / 100 for name in FACTORS})
