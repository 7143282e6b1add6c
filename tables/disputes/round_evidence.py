"""Evidence of a mistake in a round other than its payments: take-backs, dealer, disputes, surveillance bookmarks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from tables.disputes.rack_history import Dealt
from tables.log.payout_error_rates import Priors

USUAL: Final = 2.0
"""Strength of the prior, in rounds with trouble at the usual rate: a few rounds barely change a dealer's estimate."""
DISPUTED, BOOKMARKED = "disputed", "bookmarked"


class Evidence(NamedTuple):
    """How many times as likely a mistake is in a round, and why; what is in its own payments is not in it."""

    times: float
    reasons: tuple[str, ...]


def evidence(rounds: Sequence[Dealt], priors: Priors) -> Mapping[int, Evidence]:
    """By the number of the round."""
    troubled = {round_.number for round_ in rounds if round_.troubled}
    dealers = dealers_times(rounds)
    return {round_.number: of_round(round_, troubled, dealers, priors) for round_ in rounds}


def of_round(round_: Dealt, troubled: set[int], dealers: Mapping[str, float], priors: Priors) -> Evidence:
    """Evidence for a round. ``troubled``: rounds with trouble. ``dealers``: error rates as multiples of the usual."""
    times, reasons = dealers.get(round_.dealer, 1.0), []
    if round_.troubled:
        reasons.append("a key was taken back in it, or a card refused")
    elif troubled & {round_.number - 1, round_.number + 1}:
        times *= priors.near
        reasons.append("beside a round with a take-back")
    if DISPUTED in round_.marks:
        times *= priors.disputed
        reasons.append("a dispute was opened about it")
    if BOOKMARKED in round_.marks:
        times *= priors.bookmarked
        reasons.append("the surveillance marked it")
    if dealers.get(round_.dealer, 1.0) >= 1.5:
        reasons.append("its dealer had more take-backs than the others")
    return Evidence(times, tuple(reasons))


def dealers_times(rounds: Sequence[Dealt]) -> dict[str, float]:
    """Each dealer's error rate as a multiple of the usual rate, estimated from the rounds with trouble in this span:
    actual over expected number, with USUAL added to both (a gamma prior on each dealer's rate)."""
    dealt = Counter(round_.dealer for round_ in rounds if round_.dealer)
    trouble = Counter(round_.dealer for round_ in rounds if round_.dealer and round_.troubled)
    usual = trouble.total() / dealt.total() if dealt else 0.0
    return {name: (trouble[name] + USUAL) / (count * usual + USUAL) for name, count in dealt.items()}
