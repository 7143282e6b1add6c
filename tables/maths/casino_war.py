"""Casino War, exactly: a card each, and where they tie another card each.

The three cards burned before a war are unknown, and unseen cards are exchangeable: they change nothing but how many
cards a round takes.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import msgspec

from tables.games.cards import Composition
from tables.games.casino_war import Rules
from tables.maths.standard import shoe_of, spelled
from tables.maths.worth import Edge, Results, Sheet, Tally, Valued, exact, results

CARDS: Final = 7
TIE_PAYS: Final = 10
ENDS: Final = ("win", "lose", "war_win", "war_lose", "second_tie")
CHART: Final = {"tie": "war"}
_HALF: Final = Fraction(1, 2)


def shoe(rules: Rules, composition: Composition | None) -> Composition:
    """The cards that a round is dealt from."""
    return shoe_of(composition, rules.decks, CARDS)


def tally(ranks: Composition) -> Tally:
    """In how many ways four cards (the seat's, the dealer's, and both again) come to each end of a war.

    Who has the higher of two different ranks is even chances, whatever was dealt before.
    """
    size = sum(ranks)
    first, later = size * (size - 1), (size - 2) * (size - 3)
    pairs = [held * (held - 1) for held in ranks]
    ties = sum(pairs) * later
    again = sum(
        ways * (sum(pairs) - ways + (held - 2) * (held - 3)) for held, ways in zip(ranks, pairs, strict=True) if ways
    )
    decided, higher = (first * later - ties) // 2, (ties - again) // 2
    return {"round": dict(zip(ENDS, (decided, decided, higher, higher, again), strict=True))}


def wagers(rules: Rules, often: Tally) -> dict[str, Results]:
    """What each wager pays at each end: the first bet with its raise, always raised, and the tie."""
    ends = often["round"]
    second_tie = 2 if rules.second_tie == "bonus" else 1
    main = (
        (1, ends["win"]),
        (-1, ends["lose"]),
        (1, ends["war_win"]),
        (-2, ends["war_lose"]),
        (second_tie, ends["second_tie"]),
    )
    tie = ((TIE_PAYS, _ties(often)), (-1, ends["win"] + ends["lose"]))
    return {bet: results(pays) for bet, pays in {"main": main, "tie": tie}.items() if bet in ("main", *rules.spread)}


def beside(rules: Rules, often: Tally) -> dict[str, dict[str, Results]]:
    """The first bet of a seat that gives half of it away at every tie, where that is allowed."""
    ends = often["round"]
    surrendering = results(((1, ends["win"]), (-1, ends["lose"]), (-_HALF, _ties(often))))
    return {"main": {"with_surrender": surrendering}} if rules.surrender else {}


def _ties(often: Tally) -> int:
    ends = often["round"]
    return ends["war_win"] + ends["war_lose"] + ends["second_tie"]


def sheet(rules: Rules, composition: Composition | None = None) -> Sheet:
    """What every wager is worth to a seat that always goes to war. Raises Unknowable."""
    return valued(rules, composition, tally(shoe(rules, composition)), exact)


def edges(rules: Rules, unseen: Composition) -> dict[str, Edge]:
    """What every wager is worth from the cards that nobody has seen. Raises Unknowable."""
    return sheet(rules, unseen).edges


def valued(rules: Rules, composition: Composition | None, often: Tally, worth: Valued) -> Sheet:
    """The sheet of a tally, however it came about."""
    others = beside(rules, often)
    worths = {bet: worth(ends, others.get(bet)) for bet, ends in wagers(rules, often).items()}
    return Sheet("casino_war", msgspec.to_builtins(rules), worths, spelled(shoe(rules, composition)), CHART)


def deal(rules: Rules, composition: Composition | None, rounds: int, seed: int) -> Tally:
    """Rounds by chance."""
    from tables.maths import dealt

    counts = map(int, dealt.casino_war(shoe(rules, composition), rounds, seed))
    return {"round": dict(zip(ENDS, counts, strict=True))}
