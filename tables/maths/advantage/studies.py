"""The shoes to be measured, and their counts: the list for `manage.py penetration --write`."""

from __future__ import annotations

from typing import Final

from tables.maths.advantage import counting
from tables.maths.advantage.counting import MeasuredWager, RocketShoe
from tables.maths.advantage.penetration import CountSystem, PenetrationCell, Results, Subject, Tags
from tables.maths.rocket_value import solve
from tables.maths.situation import fresh

HI_LO: Final = (-1, 1, 1, 1, 1, 1, 0, 0, 0, -1)
"""Tags by value, aces first: the count that most blackjack players use."""
LARGEST: Final = {"rocket": counting.LARGEST_TAG, "baccarat": 4}
"""Largest tags considered: small numbers are easier to count, large ones correlate better with the edge."""


def shoe(subject: Subject, decks: int) -> MeasuredWager:
    """The shoe of a subject."""
    if subject.game == "blackjack":
        from tables.maths.advantage.blackjack_shoes import BlackjackShoe

        return BlackjackShoe(subject, decks)
    if subject.game == "baccarat":
        from tables.maths.advantage.baccarat_shoes import BaccaratShoe

        return BaccaratShoe(subject, decks)
    return RocketShoe(solve(fresh(decks)))


def tags_of(subject: Subject) -> tuple[Tags, ...]:
    """The tags that are measured last: a common count, or the best one of a typical shoe.

    All are 0 if no single-number count reveals anything.
    """
    typical = shoe(subject, subject.typical)
    if subject.game == "blackjack":
        return (Tags(HI_LO),)
    if len(set(typical.deck)) == 1:
        return (Tags((0,) * len(typical.deck)),)
    return counting.best_tags(counting.sample(typical), LARGEST[subject.game])


def measured(subject: Subject, tags: tuple[int, ...], decks: int) -> tuple[int, list[PenetrationCell]]:
    """The threshold and the cells of a shoe: minutes of work."""
    return counting.measured(shoe(subject, decks), tags)


def gathered(subject: Subject, tags: tuple[Tags, ...], parts: list[tuple[int, list[PenetrationCell]]]) -> Results:
    """The measurements in the form of the results file."""
    effort = shoe(subject, subject.typical).effort
    return Results(
        subject=subject,
        seed=counting.SEED,
        rounds=effort.batches * effort.rounds,
        solved=effort.batches * effort.solved,
        burn=subject.burn,
        count=CountSystem(tags[-1].tags, tuple(limit for limit, _ in parts), subject.decks),
        best_tags=tags,
        cells=tuple(cell for _, cells in parts for cell in cells),
    )
