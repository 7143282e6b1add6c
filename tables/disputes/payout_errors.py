"""The mispay finder: which rounds' single mistakes explain exactly what a rack has too much or too little.

It weighs each settled round, and each exchange of chips, against an amount. Amounts have one sign all through: positive
says that the rack has more than the log expects, negative that chips are missing from it (counted minus expected).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from math import exp
from typing import Final, NamedTuple

from ledger.proof.chips import Denomination as Chip
from ledger.proof.chips import Uncuttable, cut, money
from tables.disputes import rack_chips
from tables.disputes.chip_evidence import BROKEN, STRAY, Load, broken, is_ladder, likelihood, loads
from tables.disputes.other_cards import cents_a_rank, other_cards
from tables.disputes.rack_history import Dealt, Exchange, dealt_rounds, entry_before, exchanges, marked, rounds_between
from tables.disputes.round_evidence import evidence
from tables.games.cards import PAIRS, RANK_OF, RANKS, pack_of
from tables.games.protocol import DEALER, PLACE_NAMES, Action, Card, Payout
from tables.log.payout_error_rates import DEFAULTS, Priors, priors
from tables.log.slip_types import Chips
from tables.models import Table
from tables.setup import policies

MOST_ROUNDS: Final = 5_000
"""How many rounds one search looks through, the newest ones: what it costs must not grow with history."""
MOST_LISTED: Final = 100

# --- How likely which slip is ------------------------------------------------------------------------------------

RATES: Final[Mapping[str, float]] = DEFAULTS.rates
"""How often each slip happens in ten thousand chances for it, where a house has not laid down its own (its terms, group
*Mispay finder*). Small slips of a hand or an eye (a card, a chip) come before a whole payment that is forgotten, and
that before one that goes the wrong way. docs/disputes.md gives the reasons."""

SOMETHING_ELSE: Final = 10.0
"""What weighs against all single mistakes together: two of them, a theft, a kind of mistake that is not tried. So the
only round that fits is not named where nothing but something rare would explain the amount there."""
NAMED_FROM: Final = 0.5
"""A round is named where it is likelier than everything else together. docs/disputes.md: how often that is right."""
STACK: Final = 20
"""Chips are counted in stacks of twenty."""
STACKS_UNKNOWN: Final = 10
"""Stacks assumed for each chip value if the count has no breakdown by value."""

PLAYERS_NOTICE: Final = DEFAULTS.notice
"""A player speaks up who is paid too little, and rarely one who is paid too much."""
TROUBLED: Final = DEFAULTS.troubled
"""A round in which a key was taken back or a card refused had trouble already."""
LIES_THERE: Final = 1.0
STRANGE: Final = 0.3
"""Reckoning by a card that lies at the seat or at the dealer's, but not by the one that decides; or by none of them."""
_NEXT: Final = (1.0, 1.0, 0.35)
_FARTHER: Final = 0.15
_ALIKE: Final = frozenset({6, 9})


def nearness(rank: int, other: int) -> float:
    """How easily one card is named for another: the keys stand in a row, and a 6 upside down looks like a 9."""
    if {rank, other} == _ALIKE:
        return 0.8
    return _closeness(rank, other)


def _closeness(rank: int, other: int) -> float:
    apart = abs(rank - other)
    return _NEXT[apart] if apart < len(_NEXT) else _FARTHER


# --- What a search comes to --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake that would leave a rack just so much off."""

    kind: str
    rack_cents: int
    """What it adds to the rack beyond what the log says."""
    says: str
    weight: float
    seat: int = DEALER
    """The seat it happened at; 0 where it was the dealer's card, or the whole table."""
    due_cents: int = 0
    """What the player should have got (below zero: given) where it was something else by ``rack_cents``."""
    chips: Chips | None = None
    """What it adds to the rack by worth, where that does not follow from two amounts."""
    noticed: bool = False
    """Whether the player would have said something, which its weight reckons with."""
    worked_out: bool = False
    """Whether what is paid is neither even money nor all of the bet."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A round, or an entry outside of any, with the slips there that explain the amount."""

    seq: int
    round: int | None
    slips: tuple[Mistake, ...]
    """The most likely one first."""
    share: float = 0.0
    """Probability that the mistake is here, out of all suspects and causes that the search does not try."""
    is_count: bool = False
    """Whether it is the count itself that may be wrong."""
    is_exchange: bool = False
    """Whether it is chips that moved otherwise than by a round."""
    reasons: tuple[str, ...] = ()
    """What else makes it likelier than others."""

    @property
    def weight(self) -> float:
        """Relative likelihood, not normalised: the sum of the weights of its mistakes."""
        return sum(slip.weight for slip in self.slips)

    @property
    def is_of_round(self) -> bool:
        """Whether it is a payment of a round, and no exchange or count."""
        return self.round is not None and not self.is_exchange

    @property
    def percent(self) -> str:
        """Its share, as people read it."""
        return f"{self.share:.0%}" if self.share >= 0.01 else "under 1%"


@dataclass(frozen=True, slots=True)
class Findings:
    """The suspects of one search, and what was looked at for them."""

    variance_cents: int
    since_seq: int
    through_seq: int
    rounds: int
    """How many rounds were looked at."""
    suspects: tuple[Suspect, ...]
    """The most likely one first, at most MOST_LISTED."""
    places: int = 0
    """How many there are, listed or not."""
    cut_at: int | None = None
    """The first round that was looked at, where older ones of the span were left out."""
    rounds_that_fit: int = 0
    """How many of the rounds would explain it."""
    by_worth: bool = False
    """Whether the difference is known by worth, from a count at either end."""

    @property
    def named(self) -> Suspect | None:
        """The suspect whose share is at least NAMED_FROM; None if there is none."""
        return next((suspect for suspect in self.suspects if suspect.share >= NAMED_FROM), None)

    @property
    def verdict(self) -> str:
        """Whether a round can be named, in a sentence; nothing where nothing was found."""
        if not self.suspects:
            return ""
        if self.named is not None:
            place = f"round {self.named.round}" if self.named.round else f"entry {self.named.seq}"
            place = "the count itself" if self.named.is_count else place
            return f"Most likely {place}: {self.named.share:.0%}, beside everything else that would explain it."
        fits = f"{self.rounds_that_fit:,} of {self.rounds:,} rounds" if self.rounds else "no round"
        best = f"the likeliest has {self.suspects[0].share:.0%}"
        return f"This cannot be told: a single mistake in {fits} would explain it, and {best}. No round is named."

    @property
    def says(self) -> str:
        """What came out, in a sentence."""
        looked = f"{self.rounds:,} round{'' if self.rounds == 1 else 's'}"
        older = f" Rounds before {self.cut_at} were not looked at." if self.cut_at else ""
        if not self.variance_cents:
            return "There is nothing to explain: the rack is what the log expects."
        if not self.places:
            return f"No single mistake in {looked} explains this amount.{older}"
        suffix = f"; the {len(self.suspects)} most likely are listed" if self.places > len(self.suspects) else ""
        places = "1 place" if self.places == 1 else f"{self.places:,} places"
        return f"A single mistake in {places} of {looked} would explain it exactly{suffix}.{older}"


def suspects(
    rounds: Iterable[Dealt],
    chip_exchanges: Iterable[Exchange],
    variance_cents: int,
    values: Sequence[int],
    counted: VarianceCount | None = None,
    *,
    priors: Priors = DEFAULTS,
) -> list[Suspect]:
    """The rounds and exchanges with a single mistake that leaves a rack exactly so much off, the most likely first;
    of two that are as likely, the later one, which people and cameras remember better.

    ``values`` are the worths of the table's chips, in cents; ``counted`` is the count that found it, if one did;
    ``priors`` are the house's figures.
    """
    if not variance_cents:
        return []
    rounds = list(rounds)
    odds = odds_of(rounds)
    candidates = [
        *(Suspect(round_.seq, round_.number, tuple(slips(round_, variance_cents, values, odds))) for round_ in rounds),
        *(
            Suspect(
                exchange.seq,
                exchange.round,
                tuple(exchange_slips(exchange, variance_cents, values)),
                is_exchange=True,
            )
            for exchange in chip_exchanges
        ),
    ]
    if counted is not None:
        candidates.append(
            Suspect(counted.seq, None, tuple(miscounts(variance_cents, values, counted.stacks)), is_count=True)
        )
        if counted.off is not None and not counted.loads:
            counted = replace(counted, loads=loads_of(rack_amounts(rounds), values))
    places = weighed([suspect for suspect in candidates if suspect.slips], rounds, priors)
    return ranked(places, values, counted)


def weighed(places: Iterable[Suspect], rounds: Sequence[Dealt], priors: Priors) -> list[Suspect]:
    """Suspects by the house's own figures, and by what else is known of their rounds; without those whose mistakes
    never happen there."""
    by_round, troubled = evidence(rounds, priors), {round_.number for round_ in rounds if round_.troubled}

    def scaled(suspect: Suspect) -> Suspect:
        of_round = by_round.get(suspect.round or 0) if suspect.is_of_round else None
        factor = of_round.times if of_round else 1.0
        if suspect.is_of_round and suspect.round in troubled:
            factor *= priors.troubled / TROUBLED
        by_house = (replace(slip, weight=slip.weight * factor * times(slip, priors)) for slip in suspect.slips)
        likely = tuple(_by_weight(slip for slip in by_house if slip.weight > 0))
        return replace(suspect, slips=likely, reasons=of_round.reasons if of_round else ())

    return [suspect for suspect in map(scaled, places) if suspect.slips]


def times(slip: Mistake, priors: Priors) -> float:
    """How many times as likely a slip is as its weight says, by a house's own figures."""
    by_house = priors.rates[slip.kind] / RATES[slip.kind]
    if slip.noticed:
        by_house *= priors.notice / PLAYERS_NOTICE
    return by_house * priors.worked_out if slip.worked_out else by_house


def ranked(places: Sequence[Suspect], values: Sequence[int], counted: VarianceCount | None) -> list[Suspect]:
    """Suspects in order of how likely each is, with its share."""
    if counted is not None and counted.off is not None:
        places = by_chips(places, values, counted)
    total = sum(suspect.weight for suspect in places) + SOMETHING_ELSE
    shared = [replace(suspect, share=suspect.weight / total) for suspect in places]
    return sorted(shared, key=lambda suspect: (-suspect.weight, -suspect.seq))


# --- What the chips say ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VarianceCount:
    """The count that found a difference."""

    seq: int
    stacks: Mapping[int, int]
    """How many stacks of each worth were counted, begun ones too."""
    off: Chips | None = None
    """By how many chips of each worth the rack differs from what it should hold if all payments were made, and all bets
    lay, in the fewest chips. None where that is not known."""

    loads: Mapping[int, Load] = field(default_factory=dict)
    """How many amounts moved in which a chip of each worth would lie; empty where it is not known yet."""


def loads_of(amounts_cents: Iterable[int], values: Sequence[int]) -> dict[int, Load]:
    """The loads of amounts paid in the fewest chips of these values, by chip value."""
    chips = tuple(sorted(set(values)))
    return loads(amounts_cents, chips, lambda amount_cents: in_chips(amount_cents, chips))


def by_chips(
    places: Sequence[Suspect],
    values: Sequence[int],
    counted: VarianceCount,
    parts: Mapping[float, float] = BROKEN,
    *,
    stray: float = STRAY,
) -> list[Suspect]:
    """The suspects with each mistake weighted by the likelihood of the counted chips (``chip_evidence.py``). The total
    weight stays unchanged, because the chip pattern of causes that the search does not try is unknown."""
    chips = tuple(sorted(set(values)))
    if counted.off is None or not is_ladder(chips):
        return weighed_by_left_over(places, values, counted.off or ())
    off = dict(counted.off)

    def borne_out(slip: Mistake) -> float:
        explained = chips_of(slip, chips)
        leftover = {value: off.get(value, 0) - explained.get(value, 0) for value in {*off, *explained}}
        net = broken(leftover, chips)
        return likelihood(net, counted.loads, parts, stray) if net is not None else 0.0

    weights = [[slip.weight * borne_out(slip) for slip in suspect.slips] for suspect in places]
    before, after = sum(suspect.weight for suspect in places), sum(map(sum, weights))
    if not after:
        return list(places)
    scale = before / after
    return [
        replace(
            suspect,
            slips=tuple(
                _by_weight(
                    replace(slip, weight=weight * scale) for slip, weight in zip(suspect.slips, own, strict=True)
                )
            ),
        )
        for suspect, own in zip(places, weights, strict=True)
    ]


def weighed_by_left_over(places: Sequence[Suspect], values: Sequence[int], off: Chips) -> list[Suspect]:
    """The suspects with each mistake weighted by the number of chips it leaves unexplained, for chip values that do not
    divide evenly.

    The number of unexplained chips of the best mistake sets the noise level. Each further unexplained chip lowers the
    weight as in a two-sided exponential distribution of that width.
    """
    chips = tuple(sorted(set(values)))
    leftovers = {
        (place, nth): _left_over(off, chips_of(slip, chips))
        for place, suspect in enumerate(places)
        for nth, slip in enumerate(suspect.slips)
    }
    if not leftovers:
        return list(places)
    best = min(leftovers.values())
    width = (best + 1) / max(len(chips) - 1, 1)

    def weighed(place: int, suspect: Suspect) -> Suspect:
        borne_out = (
            replace(slip, weight=slip.weight * exp((best - leftovers[place, nth]) / width))
            for nth, slip in enumerate(suspect.slips)
        )
        return replace(suspect, slips=tuple(_by_weight(borne_out)))

    return [weighed(place, suspect) for place, suspect in enumerate(places)]


def _left_over(off: Chips, explained: Mapping[int, int]) -> int:
    counts = dict(off)
    return sum(abs(counts.get(value, 0) - explained.get(value, 0)) for value in {*counts, *explained})


def chips_of(slip: Mistake, chips: tuple[int, ...]) -> dict[int, int]:
    """What a slip adds to the rack, by worth."""
    if slip.chips is not None:
        return dict(slip.chips)
    due, handed = in_chips(slip.due_cents, chips), in_chips(slip.due_cents - slip.rack_cents, chips)
    return {value: due.get(value, 0) - handed.get(value, 0) for value in {*due, *handed}}


def in_chips(amount_cents: int, chips: tuple[int, ...]) -> dict[int, int]:
    """An amount in the fewest chips, below zero for one below zero; nothing where it cannot be made up."""
    sign = -1 if amount_cents < 0 else 1
    return {value: sign * count for value, count in _cut(abs(amount_cents), chips)}


@lru_cache(maxsize=10_000)
def _cut(amount_cents: int, chips: tuple[int, ...]) -> Chips:
    try:
        stack = cut(amount_cents, [Chip(worth, "") for worth in chips])
    except (Uncuttable, ValueError):
        return ()
    return tuple((chip.value_cents, count) for chip, count in stack)


def miscounts(variance_cents: int | None, values: Sequence[int], stacks: Mapping[int, int]) -> list[Mistake]:
    """How a count itself may be wrong: a stack counted twice or not at all, or with a chip too many or too few."""
    slips = []
    for value in sorted(set(values)):
        stack_count = stacks.get(value, 0)
        for chips, pile in ((STACK, f"a stack of {STACK} at {money(value)}"), (1, f"one {money(value)} chip")):
            for sign, manner in ((1, "counted twice"), (-1, "not counted")):
                if stack_count and _fits(sign * chips * value, variance_cents):
                    cents, weight = sign * chips * value, RATES["miscount"] * stack_count / 2
                    slips.append(
                        Mistake(
                            "miscount",
                            cents,
                            f"The count: {pile} was {manner}.",
                            weight,
                            chips=((value, sign * chips),),
                        )
                    )
    return _by_weight(slips)


def _fits(cents: int, variance_cents: int | None) -> bool:
    """Whether a mistake explains the variance; if no variance is given, whether it changes the rack at all."""
    return cents != 0 if variance_cents is None else cents == variance_cents


# --- A round against the house -----------------------------------------------------------------------------------


def slips(
    round_: Dealt, variance_cents: int | None, values: Sequence[int], odds: Collection[Fraction] = ()
) -> list[Mistake]:
    """Every single mistake in a round that leaves the rack exactly so much off, the most likely first; without an
    amount, every single mistake that leaves it off at all. ``odds``: at which winning bets are paid at this table."""
    chips, cards = tuple(sorted(set(values))), _cards_by_place(round_.actions)
    candidates: list[Mistake] = []
    for payout, wager in _pieces(round_.payouts):
        before = len(candidates)
        payments = (
            *_wrong_payments(round_, payout, variance_cents),
            *_other_ranks(payout, variance_cents, cards),
            *_other_odds(payout, variance_cents, odds),
        )
        hard = abs(payout.net_cents) not in (0, payout.staked_cents)
        candidates += [
            replace(_with_notice(slip), worked_out=hard)
            for slip in (*payments, *_chip_slips(payout, variance_cents, chips))
        ]
        candidates += _other_bet(round_, payout, variance_cents, chips)
        candidates[before:] = [_about(slip, wager) for slip in candidates[before:]]
    candidates += _other_card(round_, variance_cents)
    trouble = TROUBLED if round_.troubled else 1.0
    return _by_weight(replace(slip, weight=slip.weight * trouble) for slip in candidates)


def _pieces(payouts: Sequence[Payout]) -> Iterator[tuple[Payout, str]]:
    """What is handled by itself: a seat; or, where its wagers lie apart, each of them, with its name."""
    for payout in payouts:
        if not payout.wagers:
            yield payout, ""
        for wager in payout.wagers:
            staked, returned = wager.staked_cents, wager.returned_cents
            yield Payout(payout.seat, staked, returned, wager.outcome, card=None, why=wager.why), wager.bet


def _about(slip: Mistake, wager: str) -> Mistake:
    return replace(slip, says=f"{slip.says[:-1]} ({wager.replace('_', ' ')}).") if wager else slip


def _by_weight(candidates: Iterable[Mistake]) -> list[Mistake]:
    return sorted(candidates, key=lambda slip: (-slip.weight, slip.seat, slip.says))


def _with_notice(slip: Mistake) -> Mistake:
    """A payment mistake, with a lower weight if the player was underpaid and would probably have objected."""
    return replace(slip, weight=slip.weight * PLAYERS_NOTICE, noticed=True) if slip.rack_cents > 0 else slip


def _cards_by_place(actions: Sequence[Action]) -> dict[int, list[int]]:
    """The cards that came to each seat and to the dealer."""
    cards: dict[int, list[int]] = {}
    for action in actions:
        if type(action) is Card:
            cards.setdefault(action.to, []).append(action.rank)
    return cards


# --- A payment as a whole ---


def _wrong_payments(round_: Dealt, payout: Payout, variance_cents: int | None) -> Iterator[Mistake]:
    """A seat was handled twice, not at all, the wrong way round, or with another seat's amount."""
    seat, net, staked = payout.seat, payout.net_cents, payout.staked_cents
    if net > 0:
        candidates = [
            ("paid_twice", -net, f"Seat {seat} was paid twice."),
            ("not_paid", net, f"Seat {seat} was not paid."),
            ("wrong_way", 2 * net, f"Seat {seat} won, and as much was taken from it."),
            ("wrong_way", net + staked, f"Seat {seat} won, and its whole bet was taken."),
        ]
    elif net < 0:
        candidates = [
            ("not_taken", net, f"Seat {seat} lost, and nothing was taken."),
            ("wrong_way", 2 * net, f"Seat {seat} lost, and was paid as much."),
            ("took_all", staked + net, f"Seat {seat} lost a part of its bet, and all of it was taken."),
        ]
        if -2 * net <= staked:
            candidates.append(("taken_twice", -net, f"Seat {seat} lost, and it was taken twice."))
    else:
        candidates = [
            ("push_paid", -staked, f"Seat {seat} got its bet back, and was paid even money."),
            ("took_all", staked, f"Seat {seat} was to get its bet back, and it was taken."),
        ]
    chips = {"paid_twice": -1, "taken_twice": 1}
    for kind, cents, sentence in candidates:
        if _fits(cents, variance_cents):
            # Handled twice is the same chips once more, and not the fewest chips of twice as much.
            once_more = 0 if kind in chips else net
            yield Mistake(kind, cents, sentence, RATES[kind], seat, due_cents=once_more)
    for neighbour in round_.payouts:
        if _fits(net - neighbour.net_cents, variance_cents) and net * neighbour.net_cents > 0:
            verb = "paid" if net > 0 else "taken from"
            sentence = f"Seat {seat} was {verb} as if it were seat {neighbour.seat}."
            weight = RATES["neighbour"] * _closeness(seat, neighbour.seat)
            yield Mistake("neighbour", net - neighbour.net_cents, sentence, weight, seat, due_cents=net)


def _other_ranks(payout: Payout, variance_cents: int | None, cards: Mapping[int, Sequence[int]]) -> Iterator[Mistake]:
    """One seat was reckoned by another card than the one that decided."""
    deciding_rank, step = payout.card, cents_a_rank(payout)
    if deciding_rank is None or step is None:
        return
    for rank in RANKS:
        cents = (deciding_rank - rank) * step
        if not _fits(cents, variance_cents):
            continue
        lies_there = rank in cards.get(payout.seat, ()) or rank in cards.get(DEALER, ())
        weight = RATES["other_rank"] * (LIES_THERE if lies_there else STRANGE) * nearness(rank, deciding_rank)
        sentence = f"Seat {payout.seat} was reckoned by {rank}, not by the {deciding_rank} that decided."
        yield Mistake("other_rank", cents, sentence, weight, payout.seat, due_cents=payout.net_cents)


def odds_of(rounds: Iterable[Dealt]) -> frozenset[Fraction]:
    """At which odds bets won in these rounds, where winnings do not go by a card's rank; even money always."""
    won = (payout for round_ in rounds for payout, _ in _pieces(round_.payouts) if payout.net_cents > 0)
    return frozenset(
        {Fraction(1), *(Fraction(payout.net_cents, payout.staked_cents) for payout in won if not payout.card)}
    )


def _other_odds(payout: Payout, variance_cents: int | None, odds: Collection[Fraction]) -> Iterator[Mistake]:
    """A winning bet was paid at odds of another outcome or wager of this table."""
    net, staked = payout.net_cents, payout.staked_cents
    if net <= 0 or payout.card:
        return
    for ratio in odds:
        handed = staked * ratio
        if handed.denominator == 1 and _fits(net - int(handed), variance_cents):
            sentence = f"Seat {payout.seat} was paid {ratio.numerator} to {ratio.denominator}, not as it won."
            yield Mistake("other_odds", net - int(handed), sentence, RATES["other_odds"], payout.seat, due_cents=net)


def _other_bet(round_: Dealt, payout: Payout, variance_cents: int | None, chips: Sequence[int]) -> Iterator[Mistake]:
    """Another bet lay there than the one entered: one chip more, or one fewer. It was settled as it lay."""
    net, staked, limits = payout.net_cents, payout.staked_cents, round_.opening.limits
    if not net:
        return
    for extra in (sign * chip for chip in chips for sign in (1, -1)):
        cents, bet = Fraction(-extra * net, staked), staked + extra
        if cents.denominator == 1 and _fits(int(cents), variance_cents) and limits.min_cents <= bet <= limits.max_cents:
            sentence = f"Seat {payout.seat} had a chip {'more' if extra > 0 else 'fewer'} in its bet than was entered."
            yield Mistake("other_bet", int(cents), sentence, RATES["other_bet"], payout.seat, due_cents=net)


# --- A chip in a payment ---


def _chip_slips(payout: Payout, variance_cents: int | None, chips: tuple[int, ...]) -> Iterator[Mistake]:
    """One chip of a payment was another one, or one too many or too few."""
    net, stake = payout.net_cents, min(payout.staked_cents, payout.returned_cents)
    if net > 0:
        stacks = [(net, -1, "paid")]
    elif net < 0:
        stacks = [(-net, 1, "taken"), (stake, -1, "given back")]
    else:
        return
    for amount, sign, verb in stacks:
        for error in _chip_errors_of(amount, chips, None if variance_cents is None else sign * variance_cents):
            sentence = f"Seat {payout.seat}, what was {verb}: {error.says}."
            moved = tuple((value, sign * count) for value, count in error.chips)
            yield Mistake(error.kind, sign * error.cents, sentence, error.weight, payout.seat, chips=moved)


class ChipError(NamedTuple):
    """One chip of an amount that is another one, too many or missing: by how much the amount is off."""

    kind: str
    cents: int
    weight: float
    says: str
    chips: Chips


def _chip_errors_of(amount_cents: int, chips: tuple[int, ...], off_cents: int | None) -> Sequence[ChipError]:
    errors = _chip_errors(amount_cents, chips)
    return [*chain.from_iterable(errors.values())] if off_cents is None else errors.get(off_cents, ())


@lru_cache(maxsize=10_000)
def _chip_errors(amount_cents: int, chips: tuple[int, ...]) -> Mapping[int, Sequence[ChipError]]:
    """By how much an amount in chips is off when one of them is another, or too many, or missing."""
    errors: dict[int, list[ChipError]] = {}
    for error in _one_chip_off(_cut(amount_cents, chips), chips):
        errors.setdefault(error.cents, []).append(error)
    return errors


def _one_chip_off(stack: Chips, chips: tuple[int, ...]) -> Iterator[ChipError]:
    for value, count in stack:
        chance = RATES["chip_more"] * count / (2 if value == chips[-1] else 1)
        yield ChipError("chip_more", value, chance, f"one {money(value)} chip too many", ((value, 1),))
        yield ChipError("chip_more", -value, chance, f"one {money(value)} chip too few", ((value, -1),))
        for replacement in chips:
            if replacement != value:
                closeness = _closeness(chips.index(value), chips.index(replacement))
                phrase = f"a {money(replacement)} chip instead of a {money(value)}"
                weight = RATES["chip_other"] * count * closeness
                yield ChipError("chip_other", replacement - value, weight, phrase, ((replacement, 1), (value, -1)))


# --- A card ---


def _other_card(round_: Dealt, variance_cents: int | None) -> Iterator[Mistake]:
    """A card was named wrongly."""
    for nth, card, rank, cents in other_cards(round_, variance_cents):
        place = f"the {PLACE_NAMES[card.to]}" if card.to in PLACE_NAMES else f"seat {card.to}"
        pack = pack_of(round_.opening.dealt)
        sentence = f"Card {nth} of {place} was named {pack.spell(card.rank)} and may have been {pack.spell(rank)}."
        closeness = nearness(card.rank, rank) if pack is PAIRS else _closeness(RANK_OF[card.rank], RANK_OF[rank])
        yield Mistake("card", cents, sentence, RATES["card"] * closeness, max(card.to, DEALER), due_cents=cents)


# --- Chips that moved otherwise than by a round ------------------------------------------------------------------


def exchange_slips(exchange: Exchange, variance_cents: int, values: Sequence[int]) -> list[Mistake]:
    """Every single mistake in an exchange that leaves the rack exactly so much off, the most likely first."""
    amount, seat = exchange.amount_cents, exchange.seat or DEALER
    prefix = f"Seat {exchange.seat}: the" if exchange.seat else "The"
    is_paid_out = exchange.kind == "buy_in"
    if exchange.kind == "brought":
        sentence = f"{prefix} chips were sold from the rack, and entered as brought along."
        candidates = [("bought_as_brought", -amount, sentence)]
    elif is_paid_out:
        candidates = [
            ("brought_as_bought", amount, f"{prefix} chips were brought along, and entered as sold from the rack."),
            ("given_twice", -amount, f"{prefix} chips of the buy-in were handed out twice."),
            ("not_given", amount, f"{prefix} chips of the buy-in were not handed out."),
        ]
    else:
        fee = exchange.kind.replace("_", " ")
        slip_kind = "rake_missed" if exchange.kind == "rake" else "charge_missed"
        candidates = [
            (slip_kind, -amount, f"{prefix} {fee} was entered and not taken."),
            ("taken_twice", amount, f"{prefix} {fee} was taken twice."),
        ]
    likely = [
        Mistake(kind, cents, sentence, RATES[kind], seat)
        for kind, cents, sentence in candidates
        if cents == variance_cents
    ]
    if exchange.kind != "brought":
        sign = -1 if is_paid_out else 1
        errors = _chip_errors_of(amount, tuple(sorted(set(values))), sign * variance_cents)
        likely += [
            Mistake(
                error.kind, variance_cents, f"{prefix} chips: {error.says}.", error.weight, seat,
                chips=tuple((value, sign * count) for value, count in error.chips),
            )
            for error in errors
        ]  # fmt: skip
    return _by_weight(map(_with_notice, likely))


# --- The search --------------------------------------------------------------------------------------------------


def find(
    table: Table, variance_cents: int, since_seq: int, through_seq: int, *, with_bookmarks: bool = False
) -> Findings:
    """The mistakes that explain a rack variance between two entries: after the first, up to and including the second.
    ``with_bookmarks``: use surveillance bookmarks as evidence, for users with access to them."""
    values = tuple(table.denominations.values_list("value_cents", flat=True))
    first, last = rounds_between(table.book_id, since_seq, through_seq)
    oldest = max(first, last - MOST_ROUNDS + 1)
    since = max(since_seq, entry_before(table.book_id, oldest)) if oldest > first else since_seq
    rounds = list(dealt_rounds(table.book_id, oldest, last, since, through_seq)) if variance_cents else []
    rounds = marked(rounds, table.book_id, since, with_bookmarks)
    chip_exchanges = list(exchanges(table.book_id, since, through_seq)) if variance_cents else []
    counted = _counted(table.book_id, since_seq, through_seq, rounds if oldest == first else None, values)
    figures = priors(policies.all_in_force())
    places = suspects(rounds, chip_exchanges, variance_cents, values, counted, priors=figures)
    return Findings(
        variance_cents=variance_cents,
        since_seq=since_seq,
        through_seq=through_seq,
        rounds=len(rounds),
        suspects=tuple(places[:MOST_LISTED]),
        places=len(places),
        cut_at=oldest if oldest > first else None,
        rounds_that_fit=len({suspect.round for suspect in places if suspect.round}),
        by_worth=counted is not None and counted.off is not None,
    )


def _counted(
    book_id: int, since_seq: int, through_seq: int, rounds: Sequence[Dealt] | None, values: Sequence[int]
) -> VarianceCount | None:
    """The count at the end of a span, and by what it is off by worth, where the span begins with a count as well."""
    end = rack_chips.counted_at(book_id, through_seq)
    if end is None:
        return None
    stacks = {value: -(-count // STACK) for value, count in end}
    begin = rack_chips.counted_at(book_id, since_seq)
    moved = rack_chips.moved(book_id, since_seq, through_seq) if begin is not None and rounds is not None else None
    if begin is None or moved is None or rounds is None:
        return VarianceCount(through_seq, stacks or dict.fromkeys(values, STACKS_UNKNOWN))
    chips = tuple(sorted(set(values)))
    due = Counter(dict(begin))
    amounts = (*moved.amounts_cents, *rack_amounts(rounds))
    for amount_cents in amounts:
        due.update(in_chips(amount_cents, chips))
    for value, count in moved.chips:
        due[value] += count
    off = Counter(dict(end))
    off.subtract(due)
    differing = tuple(sorted((value, count) for value, count in off.items() if count))
    return VarianceCount(through_seq, stacks, differing, loads_of(amounts, values))


def rack_amounts(rounds: Iterable[Dealt]) -> Iterator[int]:
    """What each payment of these rounds brought the rack, or below zero took from it."""
    return (-payout.net_cents for round_ in rounds for payout, _ in _pieces(round_.payouts))
