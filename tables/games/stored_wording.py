"""Sentences as releases up to 0.9.0 wrote them into entries and hashed them: a frozen copy, for comparison alone.

Entries of those releases hold a payout's reason as a sentence, and the digest of a round's end is over such sentences.
``Game.reasons`` may change; nothing here ever does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import UNSET, structs

from tables.games.cards import RANK_OF
from tables.games.game import Game, Wording
from tables.games.protocol import HandView, Payout, Reason, SeatView, Settled, View
from tables.games.three_cards import value_of
from tables.games.twenty_one import has_blackjack, is_soft, total

_RANKS: Final = "A23456789TJQK"
_HANDS: Final = ("high card", "pair", "flush", "straight", "three of a kind", "straight flush")


def stored_payouts(game: Game[Any, Any], payouts: Sequence[Payout]) -> tuple[Payout, ...]:
    """Payouts with their reasons as sentences."""
    return tuple(_payout(game.name, payout) for payout in payouts)


def stored_view(game: Game[Any, Any], view: View) -> View:
    """A view with the sentences that it had."""
    worth, seats = _WORTH.get(game.name), tuple(_seat(game.name, seat) for seat in view.seats)
    hands = view.hands if view.hands is UNSET else tuple(_hand(worth, hand) for hand in view.hands)
    return structs.replace(view, seats=seats, hands=hands)


def _payout(game: str, payout: Payout) -> Payout:
    wagers = tuple(structs.replace(wager, why=_sentence(game, wager)) for wager in payout.wagers)
    clauses = [f"{wager.bet.replace('_', ' ')}: {wager.why}" for wager in wagers]
    return structs.replace(payout, wagers=wagers, why="; ".join(clauses) if wagers else _sentence(game, payout))


def _sentence(game: str, decided: Payout | Settled) -> str:
    if isinstance(decided.why, str):
        return decided.why
    sentence = ""
    for reason in decided.why:
        joint = "; " if reason.code == "ante_bonus" else ", "
        sentence += (joint if sentence else "") + _clause(game, reason)
    return sentence


def _clause(game: str, reason: Reason) -> str:
    wording = _WORDING[game].get(reason.code, reason.code)  # stored sentences have no codes of later releases
    return wording.format(**reason.facts) if isinstance(wording, str) else wording(**reason.facts)


def _seat(game: str, seat: SeatView) -> SeatView:
    worth = _WORTH.get(game)
    payout = _payout(game, seat.payout) if seat.payout else None
    hands = seat.hands if seat.hands is UNSET else tuple(_hand(worth, hand) for hand in seat.hands)
    return structs.replace(seat, payout=payout, hands=hands)


def _hand(worth: Callable[[Sequence[int]], str] | None, hand: HandView) -> HandView:
    return structs.replace(hand, says=worth(hand.cards) if worth and hand.cards else "")


# --- what a hand was said to be worth ----------------------------------------------------------------------------


def _points_in_blackjack(cards: Sequence[int]) -> str:
    if has_blackjack(cards):
        return "blackjack"
    points = total(cards)
    if len(cards) == 1:
        return "ace" if points == 11 else str(points)
    return f"soft {points}" if is_soft(cards) and points < 21 else str(points)


def _points_in_baccarat(cards: Sequence[int]) -> str:
    ranks = (RANK_OF[card] for card in cards)
    return str(sum(rank if rank < 10 else 0 for rank in ranks) % 10)


def _class_of_three(cards: Sequence[int]) -> str:
    return _HANDS[value_of(tuple(cards))[0]] if len(cards) == 3 else ""


_WORTH: Final[Mapping[str, Callable[[Sequence[int]], str]]] = {
    "baccarat": _points_in_baccarat,
    "blackjack": _points_in_blackjack,
    "casino_war": lambda cards: _RANKS[RANK_OF[cards[-1]] - 1],
    "dragon_tiger": lambda cards: _RANKS[RANK_OF[cards[0]] - 1],
    "three_card_poker": _class_of_three,
}

# --- why a wager or a seat ended as it did -----------------------------------------------------------------------


def _paid(paid: int, due: int) -> str:
    return str(due) if paid == due else f"{paid} of {due}, all that is there"


def _odds(odds: str) -> str:
    return odds.replace(":", " to ")


def _pays(odds: str) -> str:
    return f"pays {_odds(odds)}"


def _cards(cards: Sequence[int]) -> str:
    return "-".join(map(str, cards)) or "no cards"


def _faced(best: Sequence[int], monster: Sequence[int]) -> str:
    return f"{_cards(best)} against the Monster's {_cards(monster)}"


def _to_seat(rank: int, paid: int, seat: int) -> str:
    return f"pays {_paid(paid, rank)} to seat {seat}"


def _totals(seat: int, dealer: int) -> str:
    if seat == dealer:
        return f"both have {seat}"
    return f"{seat}, the dealer busts with {dealer}" if dealer > 21 else f"{seat} against {dealer}"


def _ranks(seat: int, dealer: int) -> str:
    return f"{_RANKS[seat - 1]} against {_RANKS[dealer - 1]}"


def _hands(seat: int, ranks: Sequence[int], dealer: int, dealer_ranks: Sequence[int]) -> str:
    equal = ", equal" if (seat, tuple(ranks)) == (dealer, tuple(dealer_ranks)) else ""
    return f"{_HANDS[seat]} against {_HANDS[dealer]}{equal}"


_LINES: Final = {
    "perfect": "perfect pair",
    "coloured": "coloured pair",
    "mixed": "mixed pair",
    "same_card_thrice": "the same card thrice",
    "straight_flush": "straight flush",
    "three_of_a_kind": "three of a kind",
    "straight": "straight",
    "flush": "flush",
}
_MOST_POINTS: Final = "{points} points, the most have {most}"
_FOLD_OR_PAIR: Final[Mapping[str, Wording]] = {
    "fold": lambda rank, paid: f"folds for the lowest card in play, a {rank}: pays {_paid(paid, rank)} to the pot",
    "pair": lambda rank, paid: f"pair of {rank}s: pays {_paid(paid, rank)} to the pot",
    "last_player": "the last one in takes the pot",
}
_WORDING: Final[Mapping[str, Mapping[str, Wording]]] = {
    "baccarat": {
        "points": "{winner} {high} to {low}",
        "tie": "tie at {points}",
        "three_card_7": "{winner} {high} to {low} with a three-card 7",
        "pair": "a pair",
        "no_pair": "no pair",
        "pays": _pays,
    },
    "blackjack": {
        "blackjack": "blackjack",
        "both_blackjack": "both have a blackjack",
        "dealer_blackjack": "the dealer has a blackjack",
        "no_dealer_blackjack": "the dealer has no blackjack",
        "original_only": "the dealer's blackjack takes original bets only",
        "surrender": "surrenders for half of the bet",
        "bust": "busts with {points}",
        "totals": _totals,
        "line": lambda bet, line: _LINES[line],
        "nothing": "nothing",
        "pays": _pays,
    },
    "blackstone": {
        "fold": "pays the ante and {cost}, half of {stones} white stones, to the pot",
        "pair": "pair of 10s: pays the ante and {stones}, one for each white stone, to the pot",
        "last_player": "the last one in takes the pot",
        "survivors": "one of {count} survivors who share the pot",
    },
    "casino_war": {
        "cards": _ranks,
        "war": lambda seat, dealer: f"war, {_ranks(seat, dealer)}",
        "second_tie": "the bonus of a second tie",
        "surrender": "surrenders for half of the bet",
        "pays": _pays,
    },
    "dragon_tiger": {
        "higher": lambda winner, high, low: f"{winner} {_RANKS[high - 1]} beats {_RANKS[low - 1]}",
        "tie": lambda rank: f"both have {_RANKS[rank - 1]}",
        "half": "the house takes half",
        "pays": _pays,
    },
    "five_cards": {"points": "{points} points to {opponent}"},
    "goblin_poker": {
        **_FOLD_OR_PAIR,
        "survivors": "one of {count} who survived round 5 and share the pot",
    },
    "hawthorn": _FOLD_OR_PAIR,
    "kitty": {
        "points": _MOST_POINTS,
        "pays_difference": lambda points, most, paid: (
            f"{points} points, the most have {most}: pays {_paid(paid, most - points)}"
        ),
    },
    "monster": {
        "last_player": "the last one in takes the pot",
        "fold": "folds before the showdown",
        "paired_hand": lambda cards: f"shows {_cards(cards)}: a hand with a pair has to be folded",
        "beat": lambda best, monster: f"beat the Monster: {_faced(best, monster)}",
        "beaten_by_other": lambda best, monster: f"another hand beat the Monster: {_faced(best, monster)}",
        "lost": lambda best, monster: f"lost to the Monster: {_faced(best, monster)}; pays 5 to the pot",
    },
    "pairs": {
        "forfeit": "{points} points: seat {seat} loses",
        "paid_each": "{points} points: the loser pays 1 coin to every player",
        "paid_lowest": "{points} points: the loser pays 1 coin to each player with the lowest score",
        "paid_difference": "{points} points: the loser pays every player the difference of their scores",
        "paid_share": "{points} points, the lowest score, for which the loser pays {coins}",
        "between": "{points} points: neither the loser nor the lowest, who has {lowest}",
        "loser": "{points} points: the first to reach {target}",
        "catch": "a Five Card Catch",
        "pays_catch": "pays {points} for a Five Card Catch at seat {seat}",
    },
    "port": {
        "leader": "{points} points, the most of all who reached 21",
        "behind": "{points} points, the lead has {most}",
    },
    "regent": {
        **_FOLD_OR_PAIR,
        "last_in": "the last one in",
        "fold_to_seat": lambda rank, paid, seat: (
            f"folds for the lowest card in play, a {rank}: {_to_seat(rank, paid, seat)}"
        ),
        "paired_other": lambda rank, paid, seat: f"deals seat {seat} a pair of {rank}s: {_to_seat(rank, paid, seat)}",
        "seen": lambda rank, paid, seat: f"seen by seat {seat} with a pair of {rank}s: {_to_seat(rank, paid, seat)}",
        "saw_no_pair": lambda rank, paid, seat: (
            f"sees seat {seat}, highest card {rank} and no pair: {_to_seat(rank, paid, seat)}"
        ),
    },
    "rocket": {
        "fold": "folds for the lowest card, {rank}: pays {rank}/10 of the bet",
        "pair": "pair of {rank}s: loses {rank}/10 of the bet",
        "dealer_pair": "the dealer pairs {rank}s: wins {rank}/10 of the bet",
        "sudden_death": "the dealer's 3 is sudden death: wins 3/10 of the bet",
        "no_card": "no card is left for the dealer: the hand is dead, bets go back",
    },
    "starboard": {
        "pair": "pairs the {rank} in the middle",
        "knocked_out": "was locked at {cards} cards, seat {seat} locks at {more}",
        "locked": "locked at {cards} cards, the highest count",
    },
    "sweep": {"points": _MOST_POINTS},
    "three_card_poker": {
        "hands": _hands,
        "hand": lambda hand, ranks: _HANDS[hand],
        "not_qualified": "the dealer does not qualify",
        "ante_bonus": lambda hand, odds: f"bonus for a {_HANDS[hand]}, {_odds(odds)}",
        "fold": "folds",
        "pays": _pays,
    },
    "troll_guts": _FOLD_OR_PAIR,
    "venture": {"points": _MOST_POINTS},
}
