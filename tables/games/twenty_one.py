"""Hands of blackjack: their totals, and the settlement of the bets on them once the dealer has played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from tables.games.cards import RANK_OF, UNKNOWN
from tables.games.game import Wording
from tables.games.house_layout import Hand, HouseLayout, Spot, Stake
from tables.games.odds import EVEN, Odds, paying, say_pays
from tables.games.protocol import because

ACE, TEN, MOST = 1, 10, 21
VALUE_OF: Final = tuple(min(rank, TEN) for rank in RANK_OF)
"""Value of each card by its number; an ace counts 1."""


def total(cards: Sequence[int]) -> int:
    """The total of a hand, with an ace as 11 unless that busts it."""
    points = sum([VALUE_OF[card] for card in cards])
    return points + 10 if points <= 11 and _has_ace(cards) else points


def is_soft(cards: Sequence[int]) -> bool:
    """Whether an ace counts 11 in it."""
    return _has_ace(cards) and sum([VALUE_OF[card] for card in cards]) <= 11


def _has_ace(cards: Sequence[int]) -> bool:
    return any(VALUE_OF[card] == ACE for card in cards)


def has_blackjack(cards: Sequence[int]) -> bool:
    """Whether two cards are an ace and a card worth ten."""
    return len(cards) == 2 and UNKNOWN not in cards and total(cards) == MOST


@cache
def cards_by_value(cards: int, value: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The cards of a pack of this number of different cards: those of a value, and all others."""
    pack = range(1, cards + 1)
    return tuple([card for card in pack if VALUE_OF[card] == value]), tuple(
        [card for card in pack if VALUE_OF[card] != value]
    )


# --- what becomes of bets ---------------------------------------------------------------------------------------


def settle(layout: HouseLayout, spot: Spot, blackjack_pays: Odds, *, original_only: bool) -> None:
    """The bets on the hands of a seat, as far as they are not decided yet."""
    dealer = layout.dealer.cards
    for hand in spot.hands:
        stake = spot.stakes[hand.number - 1]
        if stake.outcome:
            continue
        if hand.state == "surrender":
            _settle_late_surrender(layout, stake)
            continue
        own_blackjack = len(spot.hands) == 1 and has_blackjack(hand.cards)
        if not has_blackjack(dealer):
            if own_blackjack:
                pay_blackjack(layout, stake, blackjack_pays)
            else:
                _compare(layout, stake, total(hand.cards), total(dealer))
        elif own_blackjack:
            layout.push(stake, because("both_blackjack"))
        elif original_only:
            _settle_original(layout, hand, stake)
        else:
            layout.lose(stake, because("dealer_blackjack"))


def pay_blackjack(layout: HouseLayout, stake: Stake, blackjack_pays: Odds) -> None:
    """Pay a blackjack that the dealer does not tie."""
    layout.pay(stake, blackjack_pays, because("blackjack"), paying(blackjack_pays), outcome="blackjack")


def _settle_late_surrender(layout: HouseLayout, stake: Stake) -> None:
    if has_blackjack(layout.dealer.cards):
        layout.lose(stake, because("dealer_blackjack"))
    else:
        layout.halve(stake, because("surrender"), outcome="surrender")


def _settle_original(layout: HouseLayout, hand: Hand, stake: Stake) -> None:
    """A dealer's blackjack takes the original bet alone: that of the first hand, without its double."""
    if stake.hand != 1:
        layout.push(stake, because("original_only"))
        return
    layout.lose(stake, because("dealer_blackjack"))
    original_cents = stake.cents // 2 if hand.is_doubled else stake.cents
    stake.returned_cents = stake.cents - original_cents


def _compare(layout: HouseLayout, stake: Stake, points: int, dealer: int) -> None:
    reason = because("totals", seat=points, dealer=dealer)
    if points == dealer:
        layout.push(stake, reason)
    elif dealer > MOST or points > dealer:
        layout.pay(stake, EVEN, reason)
    else:
        layout.lose(stake, reason)


def _say_totals(seat: int, dealer: int) -> str:
    if dealer > MOST:
        return f"{seat}, the dealer busts with {dealer}"
    if seat == dealer:
        return f"both have {seat}"
    return f"{seat} over {dealer}" if seat > dealer else f"the dealer's {dealer} over {seat}"


REASONS: Final[Mapping[str, Wording]] = {
    "blackjack": "blackjack",
    "both_blackjack": "both have a blackjack",
    "dealer_blackjack": "the dealer has a blackjack",
    "no_dealer_blackjack": "the dealer has no blackjack",
    "original_only": "the dealer's blackjack takes original bets only",
    "surrender": "surrenders for half of the bet",
    "bust": "busts with {points}",
    "totals": _say_totals,
    "pays": say_pays,
}
