"""Baccarat: bets on the player's hand, the banker's hand, a tie and side bets. The game has no decisions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Final, Literal

from msgspec import Meta

from tables.games.cards import RANK_OF
from tables.games.game import Due, Part, Script, Wager, Wording
from tables.games.house_layout import Hand, HouseLayout, Stake
from tables.games.house_script import HouseScript, HouseState, hand_named
from tables.games.odds import COMMISSION, EVEN, HALF, HouseRules, Odds, paying, say_pays
from tables.games.pays import UNPAID, PaidWager, PayForm, PayLine
from tables.games.protocol import BANKER_HAND, PLAYER_HAND, AskCard, Fact, Illegal, Phrase, Reason, because

Side = Literal[
    "tie", "player_pair", "banker_pair", "dragon_7", "panda_8", "super_6", "dragon_bonus_player", "dragon_bonus_banker"
]


class Rules(HouseRules, frozen=True):
    """The operator's options."""

    decks: Annotated[int, Meta(ge=1, le=8, description="Decks in the shoe.")] = 8
    commission: Annotated[
        Literal["five_percent", "six_pays_half", "ez"],
        Meta(description="What a banker's win costs: 5 %, half of it on a 6, or nothing but a push on a three-card 7."),
    ] = "five_percent"
    tie_pays: Annotated[Literal[8, 9], Meta(description="What a tie pays, to one.")] = 8
    super_6_pays: Annotated[Literal[12, 15], Meta(description="What super 6 pays, to one.")] = 12
    spread: Annotated[tuple[Side, ...], Meta(description="The side bets.")] = ("tie", "player_pair", "banker_pair")


COUNTS: Final = (0, *(rank if rank < 10 else 0 for rank in map(RANK_OF.__getitem__, range(1, 53))))
"""Point value of each card, by its number; tens and faces count 0."""
BANKER_DRAWS: Final = {
    3: frozenset(range(10)) - {8},
    4: frozenset(range(2, 8)),
    5: frozenset(range(4, 8)),
    6: frozenset({6, 7}),
}
"""For each banker's total with a draw that depends on the player's third card: the values of that card on which the
banker draws. With a lower total the banker always draws, with a higher one never."""
_PAIR_BETS: Final = frozenset({"player_pair", "banker_pair"})
DRAGON_BONUS: Final[Mapping[str, str]] = {"dragon_bonus_player": "player", "dragon_bonus_banker": "banker"}
"""The side that each dragon bonus is on."""
_ONLY_WITH: Final[Mapping[str, str]] = {"dragon_7": "ez", "panda_8": "ez", "super_6": "six_pays_half"}
_TITLES: Final[Mapping[str, str]] = {
    "player": "Player",
    "banker": "Banker",
    "tie": "Tie",
    "player_pair": "Player pair",
    "banker_pair": "Banker pair",
    "dragon_7": "Dragon 7",
    "panda_8": "Panda 8",
    "super_6": "Super 6",
    "dragon_bonus_player": "Dragon bonus on Player",
    "dragon_bonus_banker": "Dragon bonus on Banker",
}


def _paid(name: str, line: str, bounds: tuple[int, int], shipped: tuple[int, ...], option: str = "") -> PaidWager:
    """A wager of one line. If an option chooses its pay table, there is a standard table for each value of the
    option."""
    tables = {str(pays) if option else "": (Odds(pays),) for pays in shipped}
    needs = {"commission": _ONLY_WITH[name]} if name in _ONLY_WITH else {}
    least, most = map(Odds, bounds)
    return PaidWager(name, _TITLES[name], (PayLine(name, line, least, most),), tables, option, needs=needs)


_BONUS_LINES: Final[Mapping[str, tuple[str, int, int, int]]] = {
    "natural": ("with a natural", 1, 1, 2),
    "by_9": ("by 9 without a natural", 30, 15, 60),
    "by_8": ("by 8 without a natural", 10, 5, 25),
    "by_7": ("by 7 without a natural", 6, 3, 15),
    "by_6": ("by 6 without a natural", 4, 2, 10),
    "by_5": ("by 5 without a natural", 2, 1, 6),
    "by_4": ("by 4 without a natural", 1, 1, 4),
}
"""By line of a dragon bonus: how its side wins, the standard odds, and the least and the highest odds."""


def _bonus(name: str) -> PaidWager:
    """A dragon bonus: a line for a natural, and one for each margin."""
    lines = tuple(
        PayLine(line, f"the {DRAGON_BONUS[name]} wins {how}", Odds(least), Odds(most), may_be_unpaid=True)
        for line, (how, _, least, most) in _BONUS_LINES.items()
    )
    return PaidWager(name, _TITLES[name], lines, {"": tuple(Odds(pays) for _, pays, _, _ in _BONUS_LINES.values())})


PAY_FORM: Final = PayForm(
    "baccarat",
    (
        _paid("tie", "both have the same points", (5, 12), (8, 9), "tie_pays"),
        _paid("player_pair", "the player's first two cards pair", (5, 15), (11,)),
        _paid("banker_pair", "the banker's first two cards pair", (5, 15), (11,)),
        _paid("dragon_7", "the banker wins with a three-card 7", (20, 60), (40,)),
        _paid("panda_8", "the player wins with a three-card 8", (10, 40), (25,)),
        _paid("super_6", "the banker wins with a 6", (8, 25), (12, 15), "super_6_pays"),
        *map(_bonus, DRAGON_BONUS),
    ),
)


class Baccarat(HouseScript[Rules]):
    """The game, as the kernel plays it."""

    name: ClassVar[str] = "baccarat"
    title: ClassVar[str] = "Baccarat"
    parts: ClassVar[Mapping[Part, str]] = {"hands": "player and banker"}
    cards: ClassVar[Mapping[Due, str]] = {
        "middle": "Two cards each, by turns, the player's first; a third by the drawing rule."
    }
    reasons: ClassVar[Mapping[str, Wording]] = {
        "points": "{winner} {high} to {low}",
        "tie": "tie at {points}",
        "three_card_7": "{winner} {high} to {low} with a three-card 7",
        "pair": "a pair",
        "no_pair": "no pair",
        "natural": "natural {points}",
        "natural_tie": "natural tie",
        "margin": "{winner} wins by {margin} without a natural",
        "pays": say_pays,
    }
    carries: ClassVar[frozenset[str]] = frozenset({"dealt", "commission_is_marked"})
    behind_cut: ClassVar[int] = 14
    turns_burn: ClassVar[bool] = True
    rounds_after_cut: ClassVar[int] = 1
    spots: ClassVar[tuple[str, ...]] = tuple(_TITLES)
    pay_form: ClassVar[PayForm] = PAY_FORM
    rules_type = Rules

    def takes_commission(self, rules: Rules) -> bool:
        """Whether a banker's win pays 19 to 20 and so has a commission."""
        return rules.commission == "five_percent"

    def results_of(self, rules: Rules, wager: str) -> Iterable[Odds]:
        """A banker's win pays as the commission has it."""
        own = {"five_percent": [COMMISSION], "six_pays_half": [HALF], "ez": []}[rules.commission]
        return own if wager == "banker" else super().results_of(rules, wager)

    def burned_on(self, turned: int) -> int:
        """The card's point value, but ten for a ten or a face."""
        return COUNTS[turned] or 10

    def spread(self, rules: Rules) -> Sequence[str]:
        """Some side bets go with one commission only."""
        for name in super().spread(rules):
            if _ONLY_WITH.get(name, rules.commission) != rules.commission:
                sentence = f"{name} is spread with {_ONLY_WITH[name]} only, not with {rules.commission}"
                raise Illegal("bad_spread", sentence, place="options.spread")
        return rules.spread

    def wagers(self, rules: Rules) -> tuple[Wager, ...]:
        """One of the two sides, and the side bets."""
        return _wagers(rules.spread)

    def script(self, rules: Rules, layout: HouseLayout) -> Script[None]:
        """Two cards each, a third by the drawing rule, and the wagers are settled."""
        player, banker = Hand(PLAYER_HAND, name="player"), Hand(BANKER_HAND, name="banker")
        layout.hands = [player, banker]
        for hand in (player, banker, player, banker):
            yield from layout.deal(hand)
        if not is_natural(player.cards, banker.cards):
            if total(player.cards) <= 5:
                yield from layout.deal(player)
            if banker_draws(player.cards, banker.cards):
                yield from layout.deal(banker)
        _settle(rules, layout, player.cards, banker.cards)

    def worth(self, cards: Sequence[int]) -> str:
        """The points."""
        return str(total(cards))

    def say_card(self, state: HouseState, prompt: AskCard) -> Phrase:
        """The drawing rule, for the hand that it is about."""
        player, banker = hand_named(state, "player").cards, hand_named(state, "banker").cards
        if len(banker) < 2:
            name = "player" if prompt.to == PLAYER_HAND else "banker"
            rule = "Two cards each, by turns, the player's first."
            return Phrase(f"Card for the {name}.", f"{name.capitalize()}.", rule)
        if prompt.to == PLAYER_HAND:
            points, rule = total(player), "The player draws on 0 to 5 and stands on 6 and 7."
            return Phrase(f"Player {points}: draws. Card for the player.", f"Player {points} draws.", rule)
        points = total(banker)
        if len(player) == 2:
            stood, rule = total(player), "Where the player stands, the banker draws on 0 to 5."
            return Phrase(
                f"Player {stood} stands. Banker {points}: draws. Card for the banker.",
                f"Player stands. Banker {points} draws.",
                rule,
            )
        third = COUNTS[player[2]]
        return Phrase(
            f"Banker {points} draws on the player's {third}. Card for the banker.",
            f"Banker {points} draws.",
            _rule_of(points),
        )


# --- the rules --------------------------------------------------------------------------------------------------


def total(cards: Sequence[int]) -> int:
    """The total of a hand: the sum of its cards' values, modulo ten."""
    return sum([COUNTS[card] for card in cards]) % 10


def is_natural(player: Sequence[int], banker: Sequence[int]) -> bool:
    """Whether an 8 or a 9 in two cards ends the round."""
    return len(player) == len(banker) == 2 and (total(player) >= 8 or total(banker) >= 8)


def banker_draws(player: Sequence[int], banker: Sequence[int]) -> bool:
    """Whether the banker takes a third card, after the player's turn."""
    points = total(banker)
    if len(player) == 2:
        return points <= 5
    return points <= 2 or COUNTS[player[2]] in BANKER_DRAWS.get(points, ())


def _rule_of(points: int) -> str:
    if points <= 2:
        return "The banker draws on 0, 1 and 2 whatever the player's third card is."
    counts = sorted(BANKER_DRAWS[points])
    on = "anything but an 8" if points == 3 else f"{counts[0]} to {counts[-1]}"
    return f"With {points} the banker draws on a third card of the player that counts {on}."


@cache
def _wagers(spread: tuple[str, ...]) -> tuple[Wager, ...]:
    opposite = {"player": "banker", "banker": "player"}
    return tuple(Wager(name, _TITLES[name], opposite=opposite.get(name, "")) for name in ("player", "banker", *spread))


def _settle(rules: Rules, layout: HouseLayout, player: Sequence[int], banker: Sequence[int]) -> None:
    """Every wager by the two hands."""
    points = total(player), total(banker)
    winner = "player" if points[0] > points[1] else "banker" if points[1] > points[0] else "tie"
    won_by: dict[str, Fact] = {"winner": winner, "high": max(points), "low": min(points)}
    reason = because("tie", points=points[0]) if winner == "tie" else because("points", **won_by)
    pushes = winner == "banker" and rules.commission == "ez" and (points[1], len(banker)) == (7, 3)
    pays: dict[str, Odds] = {}
    if winner == "tie":
        pays["tie"] = layout.odds("tie")
    elif not pushes:
        pays[winner] = _even_or_less(rules, points[1]) if winner == "banker" else EVEN
    if pushes:
        pays["dragon_7"] = layout.odds("dragon_7")
    if winner == "player" and (points[0], len(player)) == (8, 3):
        pays["panda_8"] = layout.odds("panda_8")
    if winner == "banker" and points[1] == 6:
        pays["super_6"] = layout.odds("super_6")
    if RANK_OF[player[0]] == RANK_OF[player[1]]:
        pays["player_pair"] = layout.odds("player_pair")
    if RANK_OF[banker[0]] == RANK_OF[banker[1]]:
        pays["banker_pair"] = layout.odds("banker_pair")
    back = {"player", "banker"} if winner == "tie" else {"banker"} if pushes else set()
    for spot in layout.spots:
        for stake in spot.stakes:
            if stake.bet in DRAGON_BONUS:
                _settle_bonus(layout, stake, player, banker, reason)
            elif stake.bet in pays:
                why = because("pair") if stake.bet in _PAIR_BETS else reason
                layout.pay(stake, pays[stake.bet], why, paying(pays[stake.bet]))
                if pays[stake.bet] is COMMISSION:
                    _keep_commission(layout, stake)
            elif stake.bet in back:
                layout.push(stake, reason if winner == "tie" else because("three_card_7", **won_by))
            else:
                layout.lose(stake, because("no_pair") if stake.bet in _PAIR_BETS else reason)


def _settle_bonus(
    layout: HouseLayout, stake: Stake, player: Sequence[int], banker: Sequence[int], reason: Reason
) -> None:
    """A dragon bonus wins by a natural of its side, else by the margin. A natural tie gives it back."""
    side, natural = DRAGON_BONUS[stake.bet], is_natural(player, banker)
    own, other = (player, banker) if side == "player" else (banker, player)
    points = total(own)
    margin = points - total(other)
    if natural and not margin:
        layout.push(stake, because("natural_tie"))
        return
    if margin > 0:
        reason = because("natural", points=points) if natural else because("margin", winner=side, margin=margin)
    line = "natural" if natural and margin > 0 else f"by_{margin}"
    odds = layout.pays[stake.bet].get(line, UNPAID)
    if odds.pays:
        layout.pay(stake, odds, reason, paying(odds))
    else:
        layout.lose(stake, reason)


def _keep_commission(layout: HouseLayout, stake: Stake) -> None:
    """A marked commission is owed to the cent, rounded down; one taken at once is what the rounded winnings leave."""
    if layout.opening.commission_is_marked is True:
        stake.returned_cents, stake.broken_cents = 2 * stake.cents - stake.cents // COMMISSION.to, ""
    stake.commission_cents = 2 * stake.cents - stake.returned_cents


def _even_or_less(rules: Rules, points: int) -> Odds:
    """Odds of a banker's win."""
    if rules.commission == "five_percent":
        return COMMISSION
    return HALF if rules.commission == "six_pays_half" and points == 6 else EVEN
