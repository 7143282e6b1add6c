"""Dragon Tiger, exactly: two cards of a shoe, and whether they are of one rank, or the same card."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import msgspec

from tables.games.cards import RANK_OF, Composition
from tables.games.dragon_tiger import Rules
from tables.games.house_script import State, hand_named
from tables.maths import cents
from tables.maths.standard import by_rank, shoe_of, spelled
from tables.maths.worth import Edge, Results, Sheet, Tally, Valued, exact, results

ASSUMES: Final = ""
CARDS: Final = 2
SUITED_TIE_PAYS: Final = 50
_HALF: Final = Fraction(1, 2)


def shoe(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from: with suits where a bet looks at them."""
    return shoe_of(composition, rules.decks, CARDS, suits="suited_tie" in rules.spread)


def tally(cards: Composition) -> Tally:
    """In how many ways both cards come to each end: the dragon's first, so that either side may have either card."""
    ranks = by_rank(cards)
    every = _ordered_pairs(sum(ranks))
    ties = sum(map(_ordered_pairs, ranks))
    higher = (every - ties) // 2
    same = sum(map(_ordered_pairs, cards))
    return {
        "round": {"dragon": higher, "tiger": higher, "tie": ties},
        "suited_tie": {"win": same, "lose": every - same},
    }


def _ordered_pairs(cards: int) -> int:
    return cards * (cards - 1)


def midround(state: State) -> dict[int, float]:
    """What each seat that bet can expect, in cents, exactly. Raises Unknowable."""
    dragon, tiger = (hand_named(state, name).cards for name in ("dragon", "tiger"))
    cards = cents.unseen(state, state.rules.decks, CARDS - len(dragon) - len(tiger))
    often = tally_after(cards, dragon[0]) if dragon else tally(cards)
    return cents.by_name(state, wagers(state.rules, often))


def tally_after(cards: Composition, dragon: int) -> Tally:
    """The same where the dragon's card lies there: in how many ways the tiger's card comes to each end."""
    ranks, rank = by_rank(cards), RANK_OF[dragon]
    lower, higher = sum(ranks[: rank - 1]), sum(ranks[rank:])
    same = cards[dragon - 1]
    return {
        "round": {"dragon": lower, "tiger": higher, "tie": ranks[rank - 1]},
        "suited_tie": {"win": same, "lose": sum(cards) - same},
    }


def wagers(rules: Rules, often: Tally) -> dict[str, Results]:
    """What each wager pays at each end."""
    round_ = often["round"]
    higher, lower, ties = round_["dragon"], round_["tiger"], round_["tie"]
    suited = often["suited_tie"]
    every: dict[str, Sequence[tuple[Fraction | int, int]]] = {
        "dragon": ((1, higher), (-1, lower), (-_HALF, ties)),
        "tiger": ((1, lower), (-1, higher), (-_HALF, ties)),
        "tie": ((rules.tie_pays, ties), (-1, higher + lower)),
        "suited_tie": ((SUITED_TIE_PAYS, suited["win"]), (-1, suited["lose"])),
    }
    return {bet: results(ends) for bet, ends in every.items() if bet in ("dragon", "tiger", *rules.spread)}


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """What every wager is worth. Raises Unknowable."""
    return valued(rules, composition, tally(shoe(rules, composition)), exact)


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """What every wager is worth from the cards that nobody has seen. Raises Unknowable."""
    return sheet(rules, unseen).edges


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally, however it came about."""
    worths = {bet: worth(ends) for bet, ends in wagers(rules, often).items()}
    return Sheet("dragon_tiger", msgspec.to_builtins(rules), worths, spelled(shoe(rules, composition)))


def deal(rules: Rules, composition: Composition | None, rounds: int, seed: int) -> Tally:
    """Rounds by chance."""
    from tables.maths import dealt

    dragon, tiger, tie, same = map(int, dealt.dragon_tiger(shoe(rules, composition), rounds, seed))
    return {
        "round": {"dragon": dragon, "tiger": tiger, "tie": tie},
        "suited_tie": {"win": same, "lose": rounds - same},
    }
