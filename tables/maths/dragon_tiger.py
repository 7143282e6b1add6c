"""Dragon Tiger, exactly: two cards of a shoe, and whether they are of one rank, or the same card."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import msgspec

from tables.games.cards import RANK_OF, Composition
from tables.games.dragon_tiger import PAY_FORM, Rules
from tables.games.house_script import HouseState, hand_named
from tables.games.pays import net
from tables.maths import cents
from tables.maths.covariances import Covariances, all_in_common
from tables.maths.standard import by_rank, shoe_of, spelled
from tables.maths.worth import Edge, Results, Sheet, Tally, Valued, exact, results

ASSUMES: Final = ""
CARDS: Final = 2
_HALF: Final = Fraction(1, 2)


def shoe(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from: with suits if a bet depends on them."""
    return shoe_of(composition, rules.decks, CARDS, suits="suited_tie" in rules.spread)


def tally(cards: Composition) -> Tally:
    """Number of ways in which both cards give each end: the dragon's first, so that either side may have either
    card."""
    ranks = by_rank(cards)
    every = _ordered_pairs(sum(ranks))
    ties = sum(map(_ordered_pairs, ranks))
    higher = (every - ties) // 2
    suited = sum(map(_ordered_pairs, cards))
    return {
        "round": {"dragon": higher, "tiger": higher, "tie": ties},
        "suited_tie": {"win": suited, "lose": every - suited},
    }


def _ordered_pairs(cards: int) -> int:
    return cards * (cards - 1)


def midround(state: HouseState) -> dict[int, float]:
    """Exact expectation of each seat that bet, in cents. Raises Unknowable."""
    dragon, tiger = (hand_named(state, name).cards for name in ("dragon", "tiger"))
    cards = cents.unseen(state, state.rules.decks, CARDS - len(dragon) - len(tiger))
    often = tally_after(cards, dragon[0]) if dragon else tally(cards)
    return cents.by_name(state, wagers(state.rules, often))


def tally_after(cards: Composition, dragon: int) -> Tally:
    """The tally of a round whose dragon card is dealt: number of ways in which the tiger's card gives each end."""
    ranks, rank = by_rank(cards), RANK_OF[dragon]
    lower, higher = sum(ranks[: rank - 1]), sum(ranks[rank:])
    suited = cards[dragon - 1]
    return {
        "round": {"dragon": lower, "tiger": higher, "tie": ranks[rank - 1]},
        "suited_tie": {"win": suited, "lose": sum(cards) - suited},
    }


def wagers(rules: Rules, often: Tally) -> dict[str, Results]:
    """Result of each wager, with the number of ways."""
    round_ = often["round"]
    higher, lower, ties = round_["dragon"], round_["tiger"], round_["tie"]
    suited, odds = often["suited_tie"], PAY_FORM.in_force(rules)
    every: dict[str, Sequence[tuple[Fraction | int, int]]] = {
        "dragon": ((1, higher), (-1, lower), (-_HALF, ties)),
        "tiger": ((1, lower), (-1, higher), (-_HALF, ties)),
        "tie": ((net(odds["tie"]["tie"]), ties), (-1, higher + lower)),
        "suited_tie": ((net(odds["suited_tie"]["suited_tie"]), suited["win"]), (-1, suited["lose"])),
    }
    return {bet: results(ends) for bet, ends in every.items() if bet in ("dragon", "tiger", *rules.spread)}


def covariances(rules: Rules, composition: Composition | None = None) -> Covariances:
    """Exactly. All seats bet on the same two cards."""
    often = tally(shoe(rules, composition))
    suited_ways = often["suited_tie"]["win"]
    ends = []
    for end, suited, ways in (
        ("dragon", False, often["round"]["dragon"]),
        ("tiger", False, often["round"]["tiger"]),
        ("tie", False, often["round"]["tie"] - suited_ways),
        ("tie", True, suited_ways),
    ):
        once = {
            "round": dict.fromkeys(("dragon", "tiger", "tie"), 0) | {end: 1},
            "suited_tie": {"win": int(suited), "lose": int(not suited)},
        }
        nets = {bet: sum(net * won for net, won in pays.items()) for bet, pays in wagers(rules, once).items()}
        ends.append((nets, ways))
    return all_in_common(ends)


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """Worth of every wager. Raises Unknowable."""
    return valued(rules, composition, tally(shoe(rules, composition)), exact)


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """Worth of every wager, from the unseen cards. Raises Unknowable."""
    return sheet(rules, unseen).edges


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally, however it came about."""
    worths = {bet: worth(ends) for bet, ends in wagers(rules, often).items()}
    return Sheet("dragon_tiger", msgspec.to_builtins(rules), worths, spelled(shoe(rules, composition)))
