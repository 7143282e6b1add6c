"""What lies in a place by piece: certain as far as counts and papers tell it, estimated for the rest.

A count says how many chips of each kind there are; fills, credits and sales at the cage say which chips moved. Bets
that were taken and winnings that were paid are known by their amount alone: they are taken to be of the fewest chips
that make it, as the screen tells the dealer to pay. Whatever is estimated says so. At any moment the pieces, and what
no chip makes, add up to what the ledger says lies there, to the cent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ledger.proof.chips import Denomination, Uncuttable, cut
from tables.log.slip_types import Chips, total

Counts = Mapping[int, int]
"""By the worth of a chip in cents, how many pieces."""


@dataclass(frozen=True, slots=True)
class Amounts:
    """Movements into a place, or out of it, of which only the amount is known."""

    cents: int
    """Of each of them; below zero where chips left."""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Holding:
    """The chips of one place."""

    certain: Counts = field(default_factory=dict)
    """As counts and papers have it."""
    estimated: Counts = field(default_factory=dict)
    """What moved by its amount alone, in the fewest chips that make it: to be added to what is certain."""
    odd_cents: int = 0
    """What no chips of these kinds make."""

    @property
    def pieces(self) -> dict[int, int]:
        """How many of each there are, or probably are, the largest worth first; kinds with none are left out.

        Below zero there is nothing: where more of a kind went out than was there, other chips must have been
        exchanged for them, so they are made up from the nearest kinds.
        """
        counts = _joined(self.certain, self.estimated)
        _even_out(counts)
        return {value: counts[value] for value in sorted(counts, reverse=True) if counts[value]}

    @property
    def is_certain(self) -> bool:
        """Whether nothing of it is estimated."""
        return not self.odd_cents and not any(self.estimated.values())

    def is_certain_of(self, value_cents: int) -> bool:
        """Whether the number of pieces of one kind is certain."""
        return self.pieces.get(value_cents, 0) == self.certain.get(value_cents, 0) and not self.estimated.get(
            value_cents
        )

    @property
    def total_cents(self) -> int:
        """What all of it is worth."""
        return total(tuple(_joined(self.certain, self.estimated).items())) + self.odd_cents

    def moved(self, chips: Chips, sign: int = 1) -> Holding:
        """After these chips came, or with ``sign`` -1 went."""
        return replace(self, certain=_joined(self.certain, {value: sign * count for value, count in chips}))

    def moved_by_amount(self, amounts: Iterable[Amounts], kinds: Iterable[Denomination]) -> Holding:
        """After amounts came and went of which no paper says the chips; ``kinds`` are those in use there."""
        kinds, estimated, odd = tuple(kinds), dict(self.estimated), self.odd_cents
        for amount in amounts:
            sign = 1 if amount.cents > 0 else -1
            counts, remainder = fewest(abs(amount.cents), kinds)
            odd += sign * remainder * amount.times
            estimated = _joined(estimated, {value: sign * count * amount.times for value, count in counts.items()})
        return replace(self, estimated=estimated, odd_cents=odd)

    def exchanged(self, takes: Chips, gives: Chips, guess: tuple[Chips, Chips]) -> Holding:
        """The holding after an exchange of chips of equal worth. ``guess``: the estimate, used if the chips were not
        recorded."""
        holding = self
        for chips, guessed, sign in ((takes, guess[0], 1), (gives, guess[1], -1)):
            if chips:
                holding = holding.moved(chips, sign)
            else:
                pieces = {value: sign * count for value, count in guessed}
                holding = replace(holding, estimated=_joined(holding.estimated, pieces))
        return holding

    def __add__(self, other: Holding) -> Holding:
        return Holding(
            _joined(self.certain, other.certain),
            _joined(self.estimated, other.estimated),
            self.odd_cents + other.odd_cents,
        )

    def __neg__(self) -> Holding:
        return Holding(
            {value: -count for value, count in self.certain.items()},
            {value: -count for value, count in self.estimated.items()},
            -self.odd_cents,
        )

    def __sub__(self, other: Holding) -> Holding:
        return self + -other


NOTHING = Holding()


def counted(chips: Chips) -> Holding:
    """A place that was just counted."""
    return Holding(certain=dict(chips))


def fewest(amount_cents: int, kinds: tuple[Denomination, ...]) -> tuple[dict[int, int], int]:
    """An amount in the fewest chips, by worth, and the cents that no chips of these kinds make."""
    try:
        return {chip.value_cents: count for chip, count in cut(amount_cents, kinds)}, 0
    except Uncuttable:
        pass
    counts, remainder = {}, amount_cents
    for chip in sorted(kinds, reverse=True):
        count, remainder = divmod(remainder, chip.value_cents)
        if count:
            counts[chip.value_cents] = count
    return counts, remainder


def handed_out(amount_cents: int, kinds: tuple[Denomination, ...], *, smaller: bool = False) -> Chips:
    """Which chips a screen tells the dealer to hand out for an amount: the fewest; ``smaller``: the fewest of the kinds
    below the largest of those. Nothing where no chips make it."""
    counts, remainder = fewest(amount_cents, kinds)
    if smaller and counts:
        below = tuple(chip for chip in kinds if chip.value_cents < max(counts))
        counts, remainder = fewest(amount_cents, below) if below else (counts, remainder)
    return () if remainder else tuple(sorted(counts.items(), reverse=True))


def _joined(first: Counts, second: Counts) -> dict[int, int]:
    values = {*first, *second}
    sums = {value: first.get(value, 0) + second.get(value, 0) for value in values}
    return {value: count for value, count in sums.items() if count}


def _even_out(counts: dict[int, int]) -> None:
    """Make up what is below zero from other kinds, the nearest first, without changing the sum."""
    for value in sorted(counts):
        for donor in sorted((kind for kind in counts if kind != value), key=lambda kind: (abs(kind - value), kind)):
            if counts[value] >= 0:
                break
            _exchange(counts, value, donor)


def _exchange(counts: dict[int, int], short: int, donor: int) -> None:
    """Chips of another kind for those that are short, in the smallest whole exchanges."""
    if donor > short and donor % short == 0:
        ratio = donor // short
        pieces = min(counts[donor], -(counts[short] // ratio))
        if pieces > 0:
            counts[donor] -= pieces
            counts[short] += pieces * ratio
    elif donor < short and short % donor == 0:
        ratio = short // donor
        pieces = min(counts[donor] // ratio, -counts[short])
        if pieces > 0:
            counts[donor] -= pieces * ratio
            counts[short] += pieces
