"""Chips without a database: their places, permitted movements, and breaking amounts into denominations."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, product
from math import gcd
from types import MappingProxyType

ISSUE, VAULT, CAGE, TRANSIT, RACK = "issue", "vault", "cage", "transit", "rack"
LAYOUT, PLAYERS, OVER_SHORT = "layout", "players", "over_short"
SEAT, POT = "seat", "pot"
"""At a table with a pot: the chips that a player has in play at a seat, and the pot."""
CASH, DROP_BOX, BOXES, BANK, CASH_OVER_SHORT = "cash", "drop_box", "boxes", "bank", "cash_over_short"
"""Money: of patrons, in the drop box, in removed boxes that wait for the count, and of the cage."""
VAULT_CASH, DEPOSITARY = "vault_cash", "depositary"
"""The casino's money in the vault, and its account at an outside bank."""

CHIP_PLACES: tuple[str, ...] = (ISSUE, VAULT, CAGE, TRANSIT, RACK, LAYOUT, PLAYERS, OVER_SHORT, SEAT, POT)
CASH_PLACES: tuple[str, ...] = (CASH, DROP_BOX, BOXES, BANK, CASH_OVER_SHORT, VAULT_CASH, DEPOSITARY)
"""No movement joins a place of chips with one of cash: each group adds up to zero by itself."""
PLACES: tuple[str, ...] = CHIP_PLACES + CASH_PLACES

SEATED: frozenset[str] = frozenset({LAYOUT, SEAT})
"""Places that a table has once per seat."""

HOUSE_PLACES = frozenset({ISSUE, VAULT, CAGE, CASH, BANK, VAULT_CASH, DEPOSITARY})
"""Places that the whole site shares; every other place belongs to one log."""

MAY_BE_NEGATIVE = frozenset({ISSUE, OVER_SHORT, PLAYERS, CASH, CASH_OVER_SHORT, DEPOSITARY})
"""`issue` is the source of chips, `cash` and `depositary` are sources of money, and the over/short places are running
differences. The balance of the bank account before the site began is unknown here. Players carry chips from table to
table, so their holding of one table's chips may be negative; their total may not."""

REVERSAL = "reversal"
BY_COUNT = frozenset({"table_win", "table_loss"})
"""The win or loss of a non-tracked table since the last count of its rack, known only from counts."""


def short_places(totals: Mapping[str, int]) -> list[tuple[str, int]]:
    """Shared places, and the players' total, that are negative over all logs, each with its amount in cents."""
    return [(place, totals[place]) for place in (VAULT, CAGE, BANK, VAULT_CASH, PLAYERS) if totals.get(place, 0) < 0]


def called(place: str) -> str:
    """A place as it is named in sentences: "the cage's cash"."""
    return _CALLED.get(place, place.replace("_", " "))


_CALLED = {BANK: "cage's cash", VAULT_CASH: "vault's cash", DEPOSITARY: "account at the bank"}
_COUNTED = (RACK, CAGE, VAULT)
_COUNTED_CASH = (BOXES, BANK, VAULT_CASH)
_FORWARD: dict[str, tuple[tuple[str, str], ...]] = {
    "issue": ((ISSUE, VAULT),),
    "withdraw": ((VAULT, CAGE),),
    "deposit": ((CAGE, VAULT),),
    "fill_out": ((CAGE, TRANSIT),),
    "fill": ((TRANSIT, RACK),),
    "credit_out": ((RACK, TRANSIT),),
    "credit": ((TRANSIT, CAGE),),
    "buy_in": ((RACK, PLAYERS),),
    "sale": ((CAGE, PLAYERS),),
    "redeem": ((PLAYERS, CAGE),),
    "stake": ((PLAYERS, LAYOUT),),
    "loss": ((LAYOUT, RACK),),
    "win": ((RACK, PLAYERS), (RACK, LAYOUT)),
    "return": ((LAYOUT, PLAYERS),),
    "sit_down": ((PLAYERS, SEAT),),
    "stand_up": ((SEAT, PLAYERS),),
    "pay_pot": ((SEAT, POT),),
    "pay_seat": ((SEAT, SEAT),),
    "win_pot": ((POT, SEAT),),
    "rake": ((POT, RACK),),
    "time_charge": ((SEAT, RACK),),
    "commission": ((PLAYERS, RACK),),
    "table_win": ((PLAYERS, RACK),),
    "table_loss": ((RACK, PLAYERS),),
    "correct_pay": ((RACK, PLAYERS),),
    "correct_take": ((PLAYERS, RACK),),
    "over": tuple((OVER_SHORT, place) for place in _COUNTED),
    "short": tuple((place, OVER_SHORT) for place in _COUNTED),
    "drop": ((CASH, DROP_BOX),),
    "box_out": ((DROP_BOX, BOXES),),
    "count": ((BOXES, BANK),),
    "cash_in": ((CASH, BANK),),
    "cash_out": ((BANK, CASH),),
    "destroy": ((VAULT, ISSUE),),
    "lapse": ((PLAYERS, ISSUE),),
    "found": ((PLAYERS, CAGE),),
    "claimed": ((CAGE, PLAYERS),),
    "counterfeit": ((CAGE, OVER_SHORT), (RACK, OVER_SHORT)),
    "bank_in": ((DEPOSITARY, VAULT_CASH),),
    "bank_out": ((VAULT_CASH, DEPOSITARY),),
    "imprest_out": ((VAULT_CASH, BANK),),
    "imprest_in": ((BANK, VAULT_CASH),),
    "note_in": ((CASH_OVER_SHORT, BANK),),
    "cash_over": tuple((CASH_OVER_SHORT, place) for place in _COUNTED_CASH),
    "cash_short": tuple((place, CASH_OVER_SHORT) for place in _COUNTED_CASH),
}

MOVEMENTS: Mapping[str, frozenset[tuple[str, str]]] = MappingProxyType(
    {kind: frozenset(pairs) for kind, pairs in _FORWARD.items()}
    | {REVERSAL: frozenset((target, source) for pairs in _FORWARD.values() for source, target in pairs)}
)
"""The closed list of movements: kind -> permitted (source, target) places. The database has an equal list."""


@dataclass(frozen=True, order=True, slots=True)
class Denomination:
    """A chip denomination."""

    value_cents: int
    name: str

    def __post_init__(self) -> None:
        if self.value_cents <= 0:
            raise ValueError(f"a {self.name} chip must be worth something")


Cut = tuple[tuple[Denomination, int], ...]
"""An amount in chips, the largest first, without zero counts."""


class Uncuttable(ValueError):
    """No combination of these denominations makes the amount exactly."""

    def __init__(self, amount_cents: int) -> None:
        super().__init__(f"{money(amount_cents)} cannot be made of these chips")
        self.amount_cents = amount_cents


def cut(amount_cents: int, denominations: Iterable[Denomination]) -> Cut:
    """The fewest chips that make exactly this amount; of two equal counts, the one with the larger chips. Raises
    Uncuttable, and ValueError for a negative amount."""
    if amount_cents < 0:
        raise ValueError(f"chips cannot make a negative amount: {amount_cents}")
    if amount_cents == 0:
        return ()
    by_value = {chip.value_cents: chip for chip in sorted(denominations, reverse=True)}
    if not by_value:
        raise Uncuttable(amount_cents)
    # The tables are cached per set of values: a site has few sets, and many payouts.
    counts = _cutter(tuple(sorted(by_value))).counts(amount_cents)
    if counts is None:
        raise Uncuttable(amount_cents)
    return tuple((by_value[value], count) for value, count in sorted(counts.items(), reverse=True))


def can_cut(amount_cents: int, denominations: Iterable[Denomination]) -> bool:
    """Whether these denominations can make the amount exactly."""
    try:
        cut(amount_cents, denominations)
    except Uncuttable:
        return False
    return True


def total(chips: Cut) -> int:
    return sum(chip.value_cents * count for chip, count in chips)


def say(chips: Cut) -> str:
    """A breakdown as the dealer announces it: "3 red 1 white"."""
    return " ".join(f"{count} {chip.name}" for chip, count in chips) or "nothing"


def money(amount_cents: int) -> str:
    """An amount as it is announced at the table: 16, 2.50, 1,000."""
    sign, whole, part = "-" * (amount_cents < 0), *divmod(abs(amount_cents), 100)
    return f"{sign}{whole:,}.{part:02}" if part else f"{sign}{whole:,}"


def together(cuts: Iterable[Cut]) -> Cut:
    """Several breakdowns added up into one."""
    counts: dict[Denomination, int] = {}
    for chip, count in chain.from_iterable(cuts):
        counts[chip] = counts.get(chip, 0) + count
    return tuple(sorted(counts.items(), reverse=True))


@dataclass(frozen=True, slots=True)
class Taking:
    """The chips that the dealer takes from a bet into the rack, and the change given out of it."""

    take: Cut
    give_back: Cut

    @property
    def touches(self) -> int:
        """The number of chips touched."""
        return count_of(self.take) + count_of(self.give_back)


def count_of(chips: Cut) -> int:
    return sum(count for _, count in chips)


@lru_cache(maxsize=4_096)
def fewest_touches(stack: Cut, owed_cents: int, denominations: tuple[Denomination, ...]) -> Taking:
    """How to take an amount from the chips at a seat with the fewest chips touched.

    The ways are: chips that make it exactly, the whole bet with change from the rack, or a part of the bet with less
    change. Of two equal ways, the one with less change. Raises Uncuttable if no chips make the change, and ValueError
    for an amount outside of the bet.
    """
    if not 0 < owed_cents <= total(stack):
        raise ValueError(f"cannot take {money(owed_cents)} of a bet of {money(total(stack))}")
    # No combination of denominations makes such an amount: this avoids an exhaustive search.
    if owed_cents % gcd(*(chip.value_cents for chip in (*denominations, *dict(stack)))):
        raise Uncuttable(owed_cents)
    (largest, most), *smaller = stack
    best: Taking | None = None
    for base in _parts_of(smaller):
        for way in _ways(base, largest, most, owed_cents, denominations):
            # Further ways take ever more chips, so none of them can touch fewer.
            if best is not None and count_of(way.take) >= best.touches:
                break
            best = way if best is None else min(best, way, key=_rank)
    if best is None:
        raise Uncuttable(owed_cents)
    return best


def _rank(way: Taking) -> tuple[int, int]:
    return way.touches, count_of(way.give_back)


def _parts_of(chips: Sequence[tuple[Denomination, int]]) -> Iterator[Cut]:
    """All sub-multisets of some chips, including none and all."""
    for counts in product(*(range(count + 1) for _, count in chips)):
        yield tuple((chip, count) for (chip, _), count in zip(chips, counts, strict=True) if count)


def _ways(
    base: Cut, largest: Denomination, most: int, owed_cents: int, denominations: tuple[Denomination, ...]
) -> Iterator[Taking]:
    """The ways to take these smaller chips and enough of the largest, in ascending number of those."""
    least = max(0, -(-(owed_cents - total(base)) // largest.value_cents))
    for count in range(least, most + 1):
        part = ((largest, count), *base) if count else base
        change_cents = total(part) - owed_cents
        if can_cut(change_cents, denominations):
            yield Taking(part, cut(change_cents, denominations))


@lru_cache(maxsize=256)
def _cutter(values: tuple[int, ...]) -> "_Cutter":
    return _Cutter(values)


class _Cutter:
    """Breaks amounts into the fewest chips of one set of values, in constant time per amount once its small table is
    built.

    From the largest value downwards, each value divides the next up to the *pivot*: among those, taking the largest
    that fits is exact. Below the pivot it need not be (20s and 25s: 40 is two 20s). Among any `pivot` smaller chips
    some add up to a multiple of the pivot, so a breakdown with that many could be made with fewer. The best one
    therefore holds less than pivot x (the value below it) in smaller chips, and a table of that size decides.
    """

    LARGEST_TABLE = 1_000_000

    def __init__(self, values: tuple[int, ...]) -> None:
        self.unit = gcd(*values)
        scaled = [value // self.unit for value in values]
        start = len(scaled) - 1
        while start and scaled[start] % scaled[start - 1] == 0:
            start -= 1
        self.pivot, self.chain = scaled[start], scaled[start:][::-1]
        bound = self.pivot * scaled[start - 1] if start else 1
        # A table for odd denominations could exceed memory: beyond this size only smaller amounts are answered.
        self.truncated = bound > self.LARGEST_TABLE
        self.best, self.last = _fewest(scaled[:start], min(bound, self.LARGEST_TABLE))

    def counts(self, amount_cents: int) -> dict[int, int] | None:
        amount, remainder = divmod(amount_cents, self.unit)
        if remainder:
            return None
        # An answer from an incomplete table could use more chips than necessary, so there is none.
        if self.truncated and amount >= len(self.best):
            raise ValueError("these denominations have too little in common to cut so large an amount")
        small = self._smaller_part(amount)
        return None if small is None else self._spell(small, amount - small)

    def _smaller_part(self, amount: int) -> int | None:
        """The part of the amount that consists of chips below the pivot, in the breakdown with the fewest chips; None
        if the amount cannot be made."""
        fewest, small = None, None
        for part in range(amount % self.pivot, min(amount + 1, len(self.best)), self.pivot):
            count = self.best[part]
            if count is None:
                continue
            # Above the pivot the greedy choice is optimal, so only the small part needs a search.
            whole = count + sum(chips for _, chips in self._chain_counts(amount - part))
            if fewest is None or whole < fewest:
                fewest, small = whole, part
        return small

    def _chain_counts(self, amount: int) -> list[tuple[int, int]]:
        counts = []
        for value in self.chain:
            chips, amount = divmod(amount, value)
            counts.append((value, chips))
        return counts

    def _spell(self, small: int, large: int) -> dict[int, int]:
        counts = {value * self.unit: chips for value, chips in self._chain_counts(large) if chips}
        while small:
            value = self.last[small]
            counts[value * self.unit] = counts.get(value * self.unit, 0) + 1
            small -= value
        return counts


def _fewest(values: Sequence[int], size: int) -> tuple[list[int | None], list[int]]:
    """For each amount below ``size``: the fewest chips of these values that make it (None: impossible), and the last of
    them."""
    best: list[int | None] = [0] + [None] * (size - 1)
    last = [0] * size
    for amount in range(1, size):
        for value in reversed(values):
            if value > amount or (before := best[amount - value]) is None:
                continue
            if (fewest := best[amount]) is None or before + 1 < fewest:
                best[amount], last[amount] = before + 1, value
    return best, last
