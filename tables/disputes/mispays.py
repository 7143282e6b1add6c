"""The mispay finder: which rounds' single mistakes explain exactly what a rack has too much or too little.

It weighs each settled round, and each exchange of chips, against an amount. Amounts have one sign all through: positive
says that the rack has more than the log expects, negative that chips are missing from it (counted minus expected).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from ledger.proof.chips import Denomination as Chip
from ledger.proof.chips import Uncuttable, cut, money
from tables.disputes.other_cards import cents_a_rank, other_cards
from tables.disputes.rack_history import Dealt, Exchange, dealt_rounds, entry_before, exchanges, rounds_between
from tables.games.cards import PAIRS, RANK_OF, RANKS, pack_of
from tables.games.felt import DEALER, PLACE_NAMES, Action, Card, Payout
from tables.models import Table

MOST_ROUNDS: Final = 5_000
"""How many rounds one search looks through, the newest ones: what it costs must not grow with history."""
MOST_LISTED: Final = 100

# --- How likely which slip is ------------------------------------------------------------------------------------

RATES: Final[Mapping[str, float]] = {
    "card": 20,
    "other_rank": 15,
    "chip_more": 15,
    "chip_other": 12,
    "other_bet": 8,
    "not_taken": 6,
    "neighbour": 5,
    "paid_twice": 4,
    "push_paid": 4,
    "not_paid": 3,
    "took_all": 3,
    "wrong_way": 2,
    "taken_twice": 1,
    "rake_missed": 6,
    "charge_missed": 5,
    "brought_as_bought": 4,
    "bought_as_brought": 4,
    "given_twice": 1,
    "not_given": 1,
}
"""How often each slip happens in ten thousand chances for it, as experience has it: they order a list, no more. Small
slips of a hand or an eye (a card, a chip) come before a whole payment that is forgotten, and that before one that goes
the wrong way. docs/disputes.md gives the reasons."""

PLAYERS_NOTICE: Final = 0.4
"""A player speaks up who is paid too little, and rarely one who is paid too much."""
TROUBLED: Final = 3.0
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
class Slip:
    """One mistake that would leave a rack just so much off."""

    kind: str
    rack_cents: int
    """What it adds to the rack beyond what the log says."""
    says: str
    weight: float
    seat: int = DEALER
    """The seat it happened at; 0 where it was the dealer's card, or the whole table."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A round, or an entry outside of any, with the slips there that explain the amount."""

    seq: int
    round: int | None
    slips: tuple[Slip, ...]
    """The most likely one first."""

    @property
    def weight(self) -> float:
        """How likely it is, beside the others."""
        return sum(slip.weight for slip in self.slips)


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

    @property
    def says(self) -> str:
        """What came out, in a sentence."""
        looked = f"{self.rounds:,} round{'' if self.rounds == 1 else 's'}"
        older = f" Rounds before {self.cut_at} were not looked at." if self.cut_at else ""
        if not self.variance_cents:
            return "There is nothing to explain: the rack is what the log expects."
        if not self.places:
            return f"No single mistake in {looked} explains this amount.{older}"
        shown = f"; the {len(self.suspects)} most likely are listed" if self.places > len(self.suspects) else ""
        places = "1 place" if self.places == 1 else f"{self.places:,} places"
        return f"A single mistake in {places} of {looked} would explain it exactly{shown}.{older}"


def suspects(
    rounds: Iterable[Dealt], chip_exchanges: Iterable[Exchange], variance_cents: int, values: Sequence[int]
) -> list[Suspect]:
    """The rounds and exchanges with a single mistake that leaves a rack exactly so much off, the most likely first;
    of two that are as likely, the later one, which people and cameras remember better.

    ``values`` are the worths of the table's chips, in cents.
    """
    if not variance_cents:
        return []
    candidates = [
        *(Suspect(round_.seq, round_.number, tuple(slips(round_, variance_cents, values))) for round_ in rounds),
        *(
            Suspect(exchange.seq, exchange.round, tuple(exchange_slips(exchange, variance_cents, values)))
            for exchange in chip_exchanges
        ),
    ]
    places = [suspect for suspect in candidates if suspect.slips]
    return sorted(places, key=lambda suspect: (-suspect.weight, -suspect.seq))


# --- A round against the house -----------------------------------------------------------------------------------


def slips(round_: Dealt, variance_cents: int, values: Sequence[int]) -> list[Slip]:
    """Every single mistake in a round that leaves the rack exactly so much off, the most likely first."""
    chips, cards = tuple(sorted(set(values))), _cards_by_place(round_.actions)
    candidates: list[Slip] = []
    for payout, wager in _pieces(round_.payouts):
        before = len(candidates)
        payments = (*_wrong_payments(round_, payout, variance_cents), *_other_ranks(payout, variance_cents, cards))
        candidates += [_with_notice(slip) for slip in (*payments, *_chip_slips(payout, variance_cents, chips))]
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


def _about(slip: Slip, wager: str) -> Slip:
    return replace(slip, says=f"{slip.says[:-1]} ({wager.replace('_', ' ')}).") if wager else slip


def _by_weight(candidates: Iterable[Slip]) -> list[Slip]:
    return sorted(candidates, key=lambda slip: (-slip.weight, slip.seat, slip.says))


def _with_notice(slip: Slip) -> Slip:
    """A payment slip, as likely as it is that nobody said a word."""
    return replace(slip, weight=slip.weight * PLAYERS_NOTICE) if slip.rack_cents > 0 else slip


def _cards_by_place(actions: Sequence[Action]) -> dict[int, list[int]]:
    """The cards that came to each seat and to the dealer."""
    cards: dict[int, list[int]] = {}
    for action in actions:
        if type(action) is Card:
            cards.setdefault(action.to, []).append(action.rank)
    return cards


# --- A payment as a whole ---


def _wrong_payments(round_: Dealt, payout: Payout, variance_cents: int) -> Iterator[Slip]:
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
    for kind, cents, says in candidates:
        if cents == variance_cents:
            yield Slip(kind, cents, says, RATES[kind], seat)
    for other in round_.payouts:
        if net - other.net_cents == variance_cents and net * other.net_cents > 0:
            verb = "paid" if net > 0 else "taken from"
            says = f"Seat {seat} was {verb} as if it were seat {other.seat}."
            yield Slip("neighbour", variance_cents, says, RATES["neighbour"] * _closeness(seat, other.seat), seat)


def _other_ranks(payout: Payout, variance_cents: int, cards: Mapping[int, Sequence[int]]) -> Iterator[Slip]:
    """One seat was reckoned by another card than the one that decided."""
    deciding_rank, step = payout.card, cents_a_rank(payout)
    if deciding_rank is None or step is None or variance_cents % step:
        return
    rank = deciding_rank - variance_cents // step
    if rank == deciding_rank or rank not in RANKS:
        return
    lies_there = rank in cards.get(payout.seat, ()) or rank in cards.get(DEALER, ())
    weight = RATES["other_rank"] * (LIES_THERE if lies_there else STRANGE) * nearness(rank, deciding_rank)
    says = f"Seat {payout.seat} was reckoned by {rank}, not by the {deciding_rank} that decided."
    yield Slip("other_rank", variance_cents, says, weight, payout.seat)


def _other_bet(round_: Dealt, payout: Payout, variance_cents: int, chips: Sequence[int]) -> Iterator[Slip]:
    """Another bet lay there than the one entered: one chip more, or one fewer. It was settled as it lay."""
    net, staked, limits = payout.net_cents, payout.staked_cents, round_.opening.limits
    if not net or (variance_cents * staked) % net:
        return
    extra = -variance_cents * staked // net
    bet = staked + extra
    if abs(extra) in chips and limits.min_cents <= bet <= limits.max_cents:
        says = f"Seat {payout.seat} had a chip {'more' if extra > 0 else 'fewer'} in its bet than was entered."
        yield Slip("other_bet", variance_cents, says, RATES["other_bet"], payout.seat)


# --- A chip in a payment ---


def _chip_slips(payout: Payout, variance_cents: int, chips: tuple[int, ...]) -> Iterator[Slip]:
    """One chip of a payment was another one, or one too many or too few."""
    net, stake = payout.net_cents, min(payout.staked_cents, payout.returned_cents)
    if net > 0:
        stacks = [(net, -1, "paid")]
    elif net < 0:
        stacks = [(-net, 1, "taken"), (stake, -1, "given back")]
    else:
        return
    for amount, sign, verb in stacks:
        for kind, weight, says in _chip_errors(amount, chips).get(sign * variance_cents, ()):
            yield Slip(kind, variance_cents, f"Seat {payout.seat}, what was {verb}: {says}.", weight, payout.seat)


@lru_cache(maxsize=10_000)
def _chip_errors(amount_cents: int, chips: tuple[int, ...]) -> Mapping[int, tuple[tuple[str, float, str], ...]]:
    """By how much an amount in chips is off when one of them is another, or too many, or missing."""
    try:
        stack = [(chip.value_cents, count) for chip, count in cut(amount_cents, [Chip(worth, "") for worth in chips])]
    except (Uncuttable, ValueError):
        return {}
    errors: dict[int, list[tuple[str, float, str]]] = {}
    for value, count in stack:
        chance = RATES["chip_more"] * count / (2 if value == chips[-1] else 1)
        errors.setdefault(value, []).append(("chip_more", chance, f"one {money(value)} chip too many"))
        errors.setdefault(-value, []).append(("chip_more", chance, f"one {money(value)} chip too few"))
        for other in chips:
            if other != value:
                closeness = _closeness(chips.index(value), chips.index(other))
                says = f"a {money(other)} chip instead of a {money(value)}"
                errors.setdefault(other - value, []).append(
                    ("chip_other", RATES["chip_other"] * count * closeness, says)
                )
    return {cents: tuple(chances) for cents, chances in errors.items()}


# --- A card ---


def _other_card(round_: Dealt, variance_cents: int) -> Iterator[Slip]:
    """A card was named wrongly."""
    for nth, card, rank in other_cards(round_, variance_cents):
        whose = f"the {PLACE_NAMES[card.to]}" if card.to in PLACE_NAMES else f"seat {card.to}"
        pack = pack_of(round_.opening.dealt)
        says = f"Card {nth} of {whose} was named {pack.spell(card.rank)} and may have been {pack.spell(rank)}."
        closeness = nearness(card.rank, rank) if pack is PAIRS else _closeness(RANK_OF[card.rank], RANK_OF[rank])
        yield Slip("card", variance_cents, says, RATES["card"] * closeness, max(card.to, DEALER))


# --- Chips that moved otherwise than by a round ------------------------------------------------------------------


def exchange_slips(exchange: Exchange, variance_cents: int, values: Sequence[int]) -> list[Slip]:
    """Every single mistake in an exchange that leaves the rack exactly so much off, the most likely first."""
    amount, seat = exchange.amount_cents, exchange.seat or DEALER
    whose = f"Seat {exchange.seat}: the" if exchange.seat else "The"
    is_paid_out = exchange.kind == "buy_in"
    if exchange.kind == "brought":
        says = f"{whose} chips were sold from the rack, and entered as brought along."
        candidates = [("bought_as_brought", -amount, says)]
    elif is_paid_out:
        candidates = [
            ("brought_as_bought", amount, f"{whose} chips were brought along, and entered as sold from the rack."),
            ("given_twice", -amount, f"{whose} chips of the buy-in were handed out twice."),
            ("not_given", amount, f"{whose} chips of the buy-in were not handed out."),
        ]
    else:
        fee = exchange.kind.replace("_", " ")
        slip_kind = "rake_missed" if exchange.kind == "rake" else "charge_missed"
        candidates = [
            (slip_kind, -amount, f"{whose} {fee} was entered and not taken."),
            ("taken_twice", amount, f"{whose} {fee} was taken twice."),
        ]
    likely = [Slip(kind, cents, says, RATES[kind], seat) for kind, cents, says in candidates if cents == variance_cents]
    if exchange.kind != "brought":
        errors = _chip_errors(amount, tuple(sorted(set(values)))).get(
            -variance_cents if is_paid_out else variance_cents, ()
        )
        likely += [Slip(kind, variance_cents, f"{whose} chips: {says}.", weight, seat) for kind, weight, says in errors]
    return _by_weight(map(_with_notice, likely))


# --- The search --------------------------------------------------------------------------------------------------


def find(table: Table, variance_cents: int, since_seq: int, through_seq: int) -> Findings:
    """What explains a rack that is so much off between two entries: after the first, up to and including the second."""
    values = tuple(table.denominations.values_list("value_cents", flat=True))
    first, last = rounds_between(table.book_id, since_seq, through_seq)
    oldest = max(first, last - MOST_ROUNDS + 1)
    since = max(since_seq, entry_before(table.book_id, oldest)) if oldest > first else since_seq
    rounds = list(dealt_rounds(table.book_id, oldest, last, since, through_seq)) if variance_cents else []
    chip_exchanges = list(exchanges(table.book_id, since, through_seq)) if variance_cents else []
    places = suspects(rounds, chip_exchanges, variance_cents, values)
    return Findings(
        variance_cents=variance_cents,
        since_seq=since_seq,
        through_seq=through_seq,
        rounds=len(rounds),
        suspects=tuple(places[:MOST_LISTED]),
        places=len(places),
        cut_at=oldest if oldest > first else None,
    )
