"""The amounts that players at a table are likely to want: each of them is one tap, or one letter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, count, islice, takewhile
from typing import Final

from ledger.proof.chips import money

LETTERS: Final = "QWEDFGZXV"
"""Three rows at the left of a keyboard, as the amounts lie on the screen; what means something else is left out."""


@dataclass(frozen=True, slots=True)
class Likely:
    """An amount as a key."""

    cents: int
    letter: str

    @property
    def label(self) -> str:
        return money(self.cents)


def likely(least_cents: int, most_cents: int, step_cents: int, earlier: Iterable[int] = ()) -> tuple[Likely, ...]:
    """Up to one legal amount for each letter key, smallest first.

    They are the most frequent earlier bets, the ends of the range, round amounts, and then steps from the minimum. All
    amounts are in cents.
    """
    first, last = -(-least_cents // step_cents) * step_cents, most_cents // step_cents * step_cents
    if first > last or first <= 0:
        return ()
    usual = [cents for cents, _ in Counter(earlier).most_common(4)]
    steps = range(first, last + 1, max(first, step_cents))
    legal = (cents for cents in chain(usual, (first, last), _round(last), steps) if first <= cents <= last)
    amounts = islice(dict.fromkeys(cents for cents in legal if cents % step_cents == 0), len(LETTERS))
    return tuple(Likely(cents, letter) for cents, letter in zip(sorted(amounts), LETTERS, strict=False))


def _round(most_cents: int) -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on, in cents."""
    amounts = (digit * 10**power for power in count() for digit in (1, 2, 5))
    return takewhile(lambda cents: cents <= most_cents, amounts)
