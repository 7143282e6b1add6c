"""The house-banked games on standard cards once more, judged as a floor manager would with the cards on the table.

Written from the rules alone and sharing nothing with the engine, so that a mistake would have to be made twice. A
record is read from front to back: whatever is due next is taken from its list, and where both end it stops.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

RANKS = "A23456789TJQK"
SUITS = "shdc"
TENS = "TJQK"
RED = "hd"
HIGHEST_BET = 10**15
CHOICES = dict[str, int]
"""What a seat may decide, and the chips that it puts up for it."""


class Refused(Exception):
    """No legal, possible round."""


class Unfinished(Exception):
    """Both lists end where something is due."""

    def __init__(self, due: dict[str, Any]) -> None:
        super().__init__(str(due))
        self.due = due


def refuse_unless(condition: bool, sentence: str) -> None:
    if not condition:
        raise Refused(sentence)


# ---------------------------------------------------------------------------------------------------- cards and lists


@dataclass
class Round:
    """The shoe, and the two lists of a record.

    ``shoe`` holds every card that may still be anywhere but on the table: also those that were burned, and the hole
    card, since nobody saw which they are. They are counted, and the shoe is empty when nothing but they is left.
    """

    shoe: Counter[str]
    discards: Counter[str]
    cards: list[str]
    actions: list[dict[str, Any]]
    burned: int = 0
    hole_is_hidden: bool = False
    hole: str | None = None
    """The hole card, where it can be no other: the shoe ran out while it lay facedown."""

    def _cards_left(self) -> int:
        hidden = self.hole_is_hidden and self.hole is None
        return sum(self.shoe.values()) - self.burned - hidden

    def _see_that_a_card_is_left(self) -> None:
        if self._cards_left() == 0:
            if self.hole_is_hidden and self.hole is None:
                [self.hole] = self.shoe.elements()
                self.shoe = Counter()
            self.shoe += self.discards
            self.discards = Counter()
            self.burned = 0
        refuse_unless(self._cards_left() > 0, "no card is left in the shoe or among the discards")

    def _next_card(self) -> str:
        if not self.cards:
            refuse_unless(not self.actions, "an action where a card is due")
            raise Unfinished({"kind": "card"})
        return self.cards.pop(0)

    def _out_of_the_shoe(self, card: str) -> str:
        refuse_unless(self.shoe[card] > 0, f"the shoe has no {card}")
        self.shoe[card] -= 1
        return card

    def turn(self) -> str:
        """The next card of the shoe, faceup."""
        self._see_that_a_card_is_left()
        return self._out_of_the_shoe(self._next_card())

    def packet_if_there(self) -> list[str]:
        """Up to three cards that may be in the record already, though nobody has turned them."""
        return [self.turn() for _ in range(min(3, len(self.cards)))]

    def burn(self) -> None:
        self._see_that_a_card_is_left()
        self.burned += 1

    def hide(self) -> None:
        """The hole card, facedown."""
        self._see_that_a_card_is_left()
        self.hole_is_hidden = True

    def turn_hole(self) -> str:
        card = self._next_card()
        if self.hole is None:
            self._out_of_the_shoe(card)
        else:
            refuse_unless(card == self.hole, f"the hole card can only be {self.hole}")
        self.hole_is_hidden, self.hole = False, None
        return card

    def peek(self, up: str) -> str | None:
        """The hole card if it makes a blackjack, and is turned."""
        if self.actions:
            refuse_unless(self.actions.pop(0) == {"seat": 0, "do": "no_blackjack"}, "the dealer has to look first")
            return None
        if not self.cards:
            raise Unfinished({"kind": "peek"})
        card = self.turn_hole()
        refuse_unless(is_blackjack([up, card]), "the dealer had no blackjack, and nothing says so")
        return card

    def ask(self, seat: int, choices: CHOICES, hand: int | None = None) -> str:
        if not self.actions:
            refuse_unless(not self.cards, "a card where a decision is due")
            cost = {choice: chips for choice, chips in choices.items() if chips}
            due = {"kind": "decision", "seat": seat, "choices": list(choices), "cost": cost}
            raise Unfinished(due if hand is None else due | {"hand": hand})
        action = self.actions.pop(0)
        refuse_unless(action["seat"] == seat, f"out of turn: seat {seat} decides")
        refuse_unless(action["do"] in choices, f"{action['do']} is none of {list(choices)}")
        return str(action["do"])

    def discard(self, cards: Iterable[str]) -> None:
        self.discards.update(cards)

    def end(self) -> None:
        refuse_unless(not self.cards, "cards left over")
        refuse_unless(not self.actions, "actions left over")


# ------------------------------------------------------------------------------------------------------------- money


@dataclass(frozen=True)
class Chips:
    """How winnings become chips."""

    unit: int
    rounding: str

    def winnings(self, stake: int, odds: Fraction) -> int:
        units = stake * odds / self.unit
        down = units.numerator // units.denominator
        remainder = units - down
        if self.rounding == "up" and remainder > 0:
            return (down + 1) * self.unit
        if self.rounding == "half_up" and remainder >= Fraction(1, 2):
            return (down + 1) * self.unit
        return down * self.unit

    def half(self, stake: int) -> int:
        """The half that the house takes, or that insures."""
        return stake // 2 // self.unit * self.unit


@dataclass
class Seat:
    number: int
    bets: dict[str, int]
    chips: Chips
    wagers: list[dict[str, Any]] = field(default_factory=list)

    def _settle(self, bet: str, stake: int, returned: int, outcome: str) -> None:
        self.wagers.append({"bet": bet, "staked": stake, "returned": returned, "outcome": outcome})

    def wins(self, bet: str, odds: Fraction | int, stake: int | None = None) -> None:
        stake = self.bets[bet] if stake is None else stake
        self._settle(bet, stake, stake + self.chips.winnings(stake, Fraction(odds)), "win")

    def loses(self, bet: str, outcome: str = "lose", stake: int | None = None) -> None:
        self._settle(bet, self.bets[bet] if stake is None else stake, 0, outcome)

    def pushes(self, bet: str, stake: int | None = None) -> None:
        stake = self.bets[bet] if stake is None else stake
        self._settle(bet, stake, stake, "push")

    def loses_half(self, bet: str, outcome: str) -> None:
        stake = self.bets[bet]
        self._settle(bet, stake, stake - self.chips.half(stake), outcome)

    def side_bet(self, bet: str, odds: Fraction | int) -> None:
        """A bet of the seat, if it made it, that wins at these odds, or loses at none."""
        if bet in self.bets:
            if odds:
                self.wins(bet, odds)
            else:
                self.loses(bet)

    def result(self) -> dict[str, Any]:
        returned = sum(wager["returned"] for wager in self.wagers)
        staked = sum(wager["staked"] for wager in self.wagers)
        return {"seat": self.number, "net": returned - staked, "returned": returned, "wagers": self.wagers}


# -------------------------------------------------------------------------------------------------------- pay tables

UNPAID = True
"""That a line may pay nothing."""
PAID: dict[str, dict[str, dict[str, tuple[int, int] | tuple[int, int, bool]]]] = {
    "baccarat": {
        "tie": {"tie": (5, 12)},
        "player_pair": {"player_pair": (5, 15)},
        "banker_pair": {"banker_pair": (5, 15)},
        "dragon_7": {"dragon_7": (20, 60)},
        "panda_8": {"panda_8": (10, 40)},
        "super_6": {"super_6": (8, 25)},
        **{
            f"dragon_bonus_{side}": {
                "natural": (1, 2, UNPAID),
                "by_9": (15, 60, UNPAID),
                "by_8": (5, 25, UNPAID),
                "by_7": (3, 15, UNPAID),
                "by_6": (2, 10, UNPAID),
                "by_5": (1, 6, UNPAID),
                "by_4": (1, 4, UNPAID),
            }
            for side in ("player", "banker")
        },
    },
    "dragon_tiger": {"tie": {"tie": (5, 15)}, "suited_tie": {"suited_tie": (25, 75)}},
    "casino_war": {"tie": {"tie": (5, 15)}},
    "three_card_poker": {
        "pair_plus": {
            "pair": (1, 2, UNPAID),
            "flush": (1, 8, UNPAID),
            "straight": (2, 12, UNPAID),
            "three_of_a_kind": (10, 60, UNPAID),
            "straight_flush": (20, 200, UNPAID),
        },
        "ante_bonus": {
            "straight": (1, 3, UNPAID),
            "three_of_a_kind": (1, 10, UNPAID),
            "straight_flush": (1, 20, UNPAID),
        },
    },
    "blackjack": {
        "perfect_pairs": {"perfect": (10, 60, UNPAID), "coloured": (5, 30, UNPAID), "mixed": (2, 15, UNPAID)},
        "twenty_one_plus_three": {
            "same_card_thrice": (30, 300, UNPAID),
            "straight_flush": (10, 100, UNPAID),
            "three_of_a_kind": (10, 60, UNPAID),
            "straight": (2, 20, UNPAID),
            "flush": (1, 10, UNPAID),
        },
    },
}
"""What an operator's pay table may have: by game, wager and line, the least and the most odds to one."""


def digest_of(game: str, wagers: Any) -> str:
    document = json.dumps({"game": game, "wagers": wagers}, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(document.encode()).hexdigest()


def read_pays(game: str, pays: Any) -> dict[tuple[str, str], Fraction]:
    """By wager and line, what the table of a record pays."""
    refuse_unless(type(pays) is dict and set(pays) == {"name", "version", "wagers", "sha256"}, "pays: its keys")
    refuse_unless(type(pays["name"]) is str and 1 <= len(pays["name"]) <= 40, "pays.name")
    refuse_unless(is_number(pays["version"]) and 1 <= pays["version"] <= 10**6, "pays.version")
    wagers = pays["wagers"]
    refuse_unless(type(wagers) is dict and len(wagers) > 0, "pays.wagers")
    read = {}
    for wager, lines in wagers.items():
        refuse_unless(wager in PAID[game], f"pays.wagers: {wager}")
        refuse_unless(type(lines) is dict and set(lines) == set(PAID[game][wager]), f"pays.wagers.{wager}")
        for line, odds in lines.items():
            refuse_unless(
                type(odds) is str and re.fullmatch("(0|[1-9][0-9]{0,3}):[1-9][0-9]{0,2}", odds) is not None,
                f"pays.wagers.{wager}.{line}: no odds",
            )
            pays_chips, to = map(int, odds.split(":"))
            least, most_odds, *unpaid = PAID[game][wager][line]
            value = Fraction(pays_chips, to)
            refuse_unless((value.numerator, value.denominator) == (pays_chips, to), "pays: not in lowest terms")
            refuse_unless(least <= value <= most_odds or (value == 0 and bool(unpaid)), "pays: beyond its bounds")
            refuse_unless(to <= 100, "pays: of too small parts")
            read[wager, line] = value
    refuse_unless(pays["sha256"] == digest_of(game, wagers), "pays.sha256")
    return read


def pays_on(options: dict[str, Any], wager: str, line: str, shipped: int) -> Fraction | int:
    """What a line pays: as an operator's table says, else as shipped."""
    odds: Fraction | int = options["pays"].get((wager, line), shipped)
    return odds


# ---------------------------------------------------------------------------------------------------------- baccarat


def count(cards: list[str]) -> int:
    """The points of a hand of baccarat."""
    return sum(0 if card[0] in TENS else RANKS.index(card[0]) + 1 for card in cards) % 10


def baccarat(table: Round, seats: list[Seat], options: dict[str, Any]) -> None:
    player, banker = [table.turn()], [table.turn()]
    player.append(table.turn())
    banker.append(table.turn())

    if count(player) < 8 and count(banker) < 8:
        banker_draws_on = [0, 1, 2, 3, 4, 5]
        if count(player) <= 5:
            player.append(table.turn())
            third = count(player[2:])
            banker_draws_on = [0, 1, 2]
            banker_draws_on += [3] if third != 8 else []
            banker_draws_on += [4] if third in (2, 3, 4, 5, 6, 7) else []
            banker_draws_on += [5] if third in (4, 5, 6, 7) else []
            banker_draws_on += [6] if third in (6, 7) else []
        if count(banker) in banker_draws_on:
            banker.append(table.turn())

    player_wins = count(player) > count(banker)
    banker_wins = count(banker) > count(player)
    tie = count(player) == count(banker)
    dragon = banker_wins and count(banker) == 7 and len(banker) == 3
    panda = player_wins and count(player) == 8 and len(player) == 3
    six = banker_wins and count(banker) == 6

    for seat in seats:
        if "player" in seat.bets:
            if tie:
                seat.pushes("player")
            elif player_wins:
                seat.wins("player", 1)
            else:
                seat.loses("player")
        if "banker" in seat.bets:
            if tie or (dragon and options["commission"] == "ez"):
                seat.pushes("banker")
            elif player_wins:
                seat.loses("banker")
            elif options["commission"] == "five_percent" and options.get("marked"):
                stake = seat.bets["banker"]
                seat._settle("banker", stake, 2 * stake - stake // 20, "win")
            elif options["commission"] == "five_percent":
                seat.wins("banker", Fraction(19, 20))
            elif options["commission"] == "six_pays_half" and six:
                seat.wins("banker", Fraction(1, 2))
            else:
                seat.wins("banker", 1)
        for bet, wins, shipped in (
            ("tie", tie, options["tie_pays"]),
            ("player_pair", player[0][0] == player[1][0], 11),
            ("banker_pair", banker[0][0] == banker[1][0], 11),
            ("dragon_7", dragon, 40),
            ("panda_8", panda, 25),
            ("super_6", six, options["super_6_pays"]),
        ):
            seat.side_bet(bet, pays_on(options, bet, bet, shipped) if wins else 0)
        dragon_bonus(seat, "dragon_bonus_player", player, banker, options)
        dragon_bonus(seat, "dragon_bonus_banker", banker, player, options)


def dragon_bonus(seat: Seat, bet: str, own: list[str], other: list[str], options: dict[str, Any]) -> None:
    """Two naturals with equal points push. A natural that wins is paid even money. Any other win is paid by its margin,
    from four points on."""
    has_natural = [len(cards) == 2 and count(cards) in (8, 9) for cards in (own, other)]
    ahead = count(own) - count(other)
    if all(has_natural) and ahead == 0:
        if bet in seat.bets:
            seat.pushes(bet)
    elif ahead > 0 and has_natural[0]:
        seat.side_bet(bet, pays_on(options, bet, "natural", 1))
    elif ahead >= 4:
        shipped = {4: 1, 5: 2, 6: 4, 7: 6, 8: 10, 9: 30}[ahead]
        seat.side_bet(bet, pays_on(options, bet, f"by_{ahead}", shipped))
    else:
        seat.side_bet(bet, 0)


# ------------------------------------------------------------------------------------------------------ dragon tiger


def dragon_tiger(table: Round, seats: list[Seat], options: dict[str, Any]) -> None:
    dragon = table.turn()
    tiger = table.turn()
    higher = RANKS.index(dragon[0]) - RANKS.index(tiger[0])
    for seat in seats:
        for side, lead in (("dragon", higher), ("tiger", -higher)):
            if side in seat.bets:
                if lead == 0:
                    seat.loses_half(side, "half")
                elif lead > 0:
                    seat.wins(side, 1)
                else:
                    seat.loses(side)
        seat.side_bet("tie", pays_on(options, "tie", "tie", options["tie_pays"]) if higher == 0 else 0)
        seat.side_bet("suited_tie", pays_on(options, "suited_tie", "suited_tie", 50) if dragon == tiger else 0)


# -------------------------------------------------------------------------------------------------------- casino war


def casino_war(table: Round, seats: list[Seat], options: dict[str, Any]) -> None:
    def height(card: str) -> int:
        return "23456789TJQKA".index(card[0])

    cards = {seat.number: table.turn() for seat in seats}
    dealer = table.turn()
    tied = [seat for seat in seats if height(cards[seat.number]) == height(dealer)]
    at_war = []
    for seat in tied:
        decision = "war"
        if options["surrender"]:
            decision = table.ask(seat.number, {"surrender": 0, "war": seat.bets["main"]})
        if decision == "war":
            at_war.append(seat)
        else:
            table.discard([cards[seat.number]])

    second_cards = {}
    second_dealer = ""
    if at_war:
        for _ in range(3):
            table.burn()
        second_cards = {seat.number: table.turn() for seat in at_war}
        second_dealer = table.turn()

    for seat in seats:
        if seat in at_war:
            lead = height(second_cards[seat.number]) - height(second_dealer)
            if lead < 0:
                seat.loses("main")
                seat.loses("raise", stake=seat.bets["main"])
            else:
                if lead == 0 and options["second_tie"] == "bonus":
                    seat.wins("main", 1)
                else:
                    seat.pushes("main")
                seat.wins("raise", 1, stake=seat.bets["main"])
        elif seat in tied:
            seat.loses_half("main", "surrender")
        elif height(cards[seat.number]) > height(dealer):
            seat.wins("main", 1)
        else:
            seat.loses("main")
        seat.side_bet("tie", pays_on(options, "tie", "tie", 10) if seat in tied else 0)


# -------------------------------------------------------------------------------------------------- three card poker

HIGH_CARD, PAIR, FLUSH, STRAIGHT, THREE, STRAIGHT_FLUSH = range(6)


def poker_hand(cards: list[str]) -> tuple[int, list[int]]:
    """The class of three cards, and what decides within it."""
    heights = sorted(("23456789TJQKA".index(card[0]) + 2 for card in cards), reverse=True)
    high, middle, low = heights
    suited = len({card[1] for card in cards}) == 1
    if heights == [14, 3, 2]:
        return (STRAIGHT_FLUSH if suited else STRAIGHT), [3, 2, 1]
    if high == middle + 1 == low + 2:
        return (STRAIGHT_FLUSH if suited else STRAIGHT), heights
    if high == low:
        return THREE, heights
    if suited:
        return FLUSH, heights
    if high == middle:
        return PAIR, [middle, low]
    if middle == low:
        return PAIR, [middle, high]
    return HIGH_CARD, heights


def three_card_poker(table: Round, seats: list[Seat], options: dict[str, Any]) -> None:
    packets = {seat.number: [table.turn(), table.turn(), table.turn()] for seat in seats}
    dealer = table.packet_if_there()
    plays = {}
    for seat in seats:
        if "ante" in seat.bets:
            plays[seat.number] = table.ask(seat.number, {"play": seat.bets["ante"], "fold": 0}) == "play"
    while len(dealer) < 3:
        dealer.append(table.turn())

    pair, flush, straight, three, straight_flush = map(int, options["pair_plus_pays"].split("-"))
    names = {
        PAIR: ("pair", pair),
        FLUSH: ("flush", flush),
        STRAIGHT: ("straight", straight),
        THREE: ("three_of_a_kind", three),
        STRAIGHT_FLUSH: ("straight_flush", straight_flush),
    }
    pair_plus_odds = {kind: pays_on(options, "pair_plus", *line) for kind, line in names.items()} | {HIGH_CARD: 0}
    straight, three, straight_flush = map(int, options["ante_bonus"].split("-"))
    names = {
        STRAIGHT: ("straight", straight),
        THREE: ("three_of_a_kind", three),
        STRAIGHT_FLUSH: ("straight_flush", straight_flush),
    }
    bonus_odds = {kind: pays_on(options, "ante_bonus", *line) for kind, line in names.items()}

    dealer_class, dealer_heights = poker_hand(dealer)
    qualifies = dealer_class != HIGH_CARD or dealer_heights[0] >= 12
    for seat in seats:
        hand = poker_hand(packets[seat.number])
        folded = False
        if "ante" in seat.bets:
            ante = seat.bets["ante"]
            folded = not plays[seat.number]
            if folded:
                seat.loses("ante", "fold")
            else:
                if not qualifies:
                    seat.wins("ante", 1)
                    seat.pushes("play", stake=ante)
                elif hand > (dealer_class, dealer_heights):
                    seat.wins("ante", 1)
                    seat.wins("play", 1, stake=ante)
                elif hand == (dealer_class, dealer_heights):
                    seat.pushes("ante")
                    seat.pushes("play", stake=ante)
                else:
                    seat.loses("ante")
                    seat.loses("play", stake=ante)
                seat.wagers[0]["returned"] += seat.chips.winnings(ante, Fraction(bonus_odds.get(hand[0], 0)))
        seat.side_bet("pair_plus", 0 if folded else pair_plus_odds[hand[0]])


# --------------------------------------------------------------------------------------------------------- blackjack


def points(cards: list[str]) -> tuple[int, bool]:
    """What a hand counts, and whether an ace in it counts eleven."""
    count = sum(10 if card[0] in TENS else RANKS.index(card[0]) + 1 for card in cards)
    if any(card[0] == "A" for card in cards) and count + 10 <= 21:
        return count + 10, True
    return count, False


def is_blackjack(cards: list[str]) -> bool:
    return len(cards) == 2 and points(cards)[0] == 21


def perfect_pairs_odds(options: dict[str, Any], first_card: str, second_card: str) -> Fraction | int:
    if first_card[0] != second_card[0]:
        return 0
    if first_card == second_card:
        return pays_on(options, "perfect_pairs", "perfect", 25)
    if (first_card[1] in RED) == (second_card[1] in RED):
        return pays_on(options, "perfect_pairs", "coloured", 12)
    return pays_on(options, "perfect_pairs", "mixed", 6)


def twenty_one_plus_three_odds(options: dict[str, Any], cards: list[str]) -> Fraction | int:
    ranks = sorted(RANKS.index(card[0]) for card in cards)
    in_a_row = ranks == [0, 11, 12] or ranks == [ranks[0], ranks[0] + 1, ranks[0] + 2]
    suited = len({card[1] for card in cards}) == 1
    for line, shipped, fits in (
        ("same_card_thrice", 100, len(set(cards)) == 1),
        ("straight_flush", 40, in_a_row and suited),
        ("three_of_a_kind", 30, len(set(ranks)) == 1),
        ("straight", 10, in_a_row),
        ("flush", 5, suited),
    ):
        if fits:
            return pays_on(options, "twenty_one_plus_three", line, shipped)
    return 0


@dataclass
class Hand:
    cards: list[str]
    of_a_split: bool = False
    of_split_aces: bool = False
    doubled: bool = False
    fate: str = ""
    """Empty while it is to be played, then `blackjack`, `stand`, `bust` or `surrender`."""


def blackjack(table: Round, seats: list[Seat], options: dict[str, Any]) -> None:
    hands = {seat.number: [Hand([table.turn()])] for seat in seats}
    up = table.turn()
    for seat in seats:
        hands[seat.number][0].cards.append(table.turn())
    if options["hole"] == "peek":
        table.hide()
    first_cards = {seat.number: list(hands[seat.number][0].cards) for seat in seats}
    for seat in seats:
        if is_blackjack(first_cards[seat.number]):
            hands[seat.number][0].fate = "blackjack"

    insured = {}
    if up[0] == "A" and options["insurance"]:
        for seat in seats:
            half = seat.chips.half(seat.bets["main"])
            if half > 0 and table.ask(seat.number, {"insure": half, "decline": 0}, hand=1) == "insure":
                insured[seat.number] = half

    dealer = [up]
    ace_or_ten = up[0] in "A" + TENS
    if options["hole"] == "peek" and ace_or_ten:
        hole = table.peek(up)
        if hole is not None:
            dealer.append(hole)
    if not is_blackjack(dealer):
        for seat in seats:
            play_hands(table, seat, hands[seat.number], options)
        all_hands = [hand for seat in seats for hand in hands[seat.number]]
        any_stands = any(hand.fate == "stand" for hand in all_hands)
        natural = any(hand.fate == "blackjack" for hand in all_hands)
        late = options["surrender"] == "late" and any(hand.fate == "surrender" for hand in all_hands)
        if options["hole"] == "peek":
            dealer.append(table.turn_hole())
            refuse_unless(not is_blackjack(dealer), "the dealer has looked, and had no blackjack")
        elif any_stands or (ace_or_ten and (natural or insured or late)):
            dealer.append(table.turn())
        if any_stands and not is_blackjack(dealer):
            while points(dealer)[0] < 17 or (points(dealer) == (17, True) and options["soft17"] == "hit"):
                dealer.append(table.turn())

    for seat in seats:
        for number, hand in enumerate(hands[seat.number], start=1):
            settle_hand(seat, hand, number, dealer, options)
        if seat.number in insured:
            half = insured[seat.number]
            if is_blackjack(dealer):
                seat.wins("insurance", 2, stake=half)
            else:
                seat.loses("insurance", stake=half)
        if "perfect_pairs" in seat.bets:
            seat.side_bet("perfect_pairs", perfect_pairs_odds(options, *first_cards[seat.number]))
        if "twenty_one_plus_three" in seat.bets:
            seat.side_bet("twenty_one_plus_three", twenty_one_plus_three_odds(options, [*first_cards[seat.number], up]))


def play_hands(table: Round, seat: Seat, hands: list[Hand], options: dict[str, Any]) -> None:
    """The hands of a seat, one after the other; those that a split adds come right after the one that was split."""
    bet = seat.bets["main"]
    number = 0
    while number < len(hands):
        hand = hands[number]
        number += 1
        if len(hand.cards) == 1:
            hand.cards.append(table.turn())
        while not hand.fate:
            count, _soft = points(hand.cards)
            if count > 21:
                hand.fate = "bust"
                table.discard(hand.cards)
                continue
            if count == 21 or hand.doubled:
                hand.fate = "stand"
                continue
            choices = what_may_be_done(hand, len(hands) - 1, bet, options)
            decision = "stand" if list(choices) == ["stand"] else table.ask(seat.number, choices, hand=number)
            if decision == "stand":
                hand.fate = "stand"
            elif decision == "surrender":
                hand.fate = "surrender"
                table.discard(hand.cards)
            elif decision == "hit":
                hand.cards.append(table.turn())
            elif decision == "double":
                hand.doubled = True
                hand.cards.append(table.turn())
            elif decision == "split":
                aces = hand.cards[0][0] == "A"
                hands.insert(number, Hand([hand.cards.pop()], of_a_split=True, of_split_aces=aces))
                hand.of_a_split, hand.of_split_aces = True, aces
                hand.cards.append(table.turn())


def what_may_be_done(hand: Hand, splits: int, bet: int, options: dict[str, Any]) -> CHOICES:
    """The choices of a hand under 21, after so many splits of its seat, with their chips."""
    two_cards = len(hand.cards) == 2
    is_pair = two_cards and hand.cards[0][0] == hand.cards[1][0]
    if options["split_by"] == "value" and two_cards and hand.cards[0][0] in TENS and hand.cards[1][0] in TENS:
        is_pair = True
    may_split = is_pair and splits < options["splits"] and (not hand.of_split_aces or options["resplit_aces"])
    if hand.of_split_aces and not options["hit_split_aces"]:
        return {"split": bet, "stand": 0} if may_split else {"stand": 0}

    choices = {"hit": 0, "stand": 0}
    count, soft = points(hand.cards)
    in_range = {
        "any_two": True,
        "9_to_11": not soft and count in (9, 10, 11),
        "10_to_11": not soft and count in (10, 11),
    }[options["double"]]
    if two_cards and in_range and (not hand.of_a_split or options["double_after_split"]):
        choices["double"] = bet
    if may_split:
        choices["split"] = bet
    if options["surrender"] != "none" and two_cards and not hand.of_a_split:
        choices["surrender"] = 0
    return choices


def settle_hand(seat: Seat, hand: Hand, number: int, dealer: list[str], options: dict[str, Any]) -> None:
    bet = seat.bets["main"]
    staked = bet * 2 if hand.doubled else bet
    count, dealer_count = points(hand.cards)[0], points(dealer)[0]
    if hand.fate == "bust":
        seat.loses("main", "bust", stake=staked)
    elif hand.fate == "surrender" and options["surrender"] == "late" and is_blackjack(dealer):
        seat.loses("main")
    elif hand.fate == "surrender":
        seat.loses_half("main", "surrender")
    elif hand.fate == "blackjack" and is_blackjack(dealer):
        seat.pushes("main")
    elif hand.fate == "blackjack":
        seat.wins("main", Fraction(*map(int, options["blackjack_pays"].split(":"))))
        seat.wagers[-1]["outcome"] = "blackjack"
    elif is_blackjack(dealer):
        if options["hole"] == "none_original" and number > 1:
            seat.pushes("main", stake=staked)
        else:
            seat.loses("main", stake=staked)
        if options["hole"] == "none_original" and number == 1:
            seat.wagers[-1]["returned"] = staked - bet
    elif dealer_count > 21 or count > dealer_count:
        seat.wins("main", 1, stake=staked)
    elif count == dealer_count:
        seat.pushes("main", stake=staked)
    else:
        seat.loses("main", stake=staked)
    seat.wagers[-1]["hand"] = number


# ----------------------------------------------------------------------------------------- what a record may consist of


@dataclass(frozen=True)
class House:
    """What a game has beside its course."""

    play: Callable[[Round, list[Seat], dict[str, Any]], None]
    options: dict[str, list[Any]]
    """The values of each option, the default first."""
    bets: list[str]
    spread: list[str]
    """The side bets, unless an option says otherwise."""
    side_bets: dict[str, tuple[str, Any] | None]
    """The side bets that there are, and the option that each needs."""
    required: str = ""
    opposite: tuple[str, ...] = ()
    looks_at_suits: tuple[str, ...] = ()


DECKS = [1, 2, 3, 4, 5, 6, 7, 8]
SWITCH_ON, SWITCH_OFF = [True, False], [False, True]

HOUSES = {
    "baccarat": House(
        play=baccarat,
        options={
            "decks": [8, *DECKS],
            "commission": ["five_percent", "six_pays_half", "ez"],
            "tie_pays": [8, 9],
            "super_6_pays": [12, 15],
        },
        bets=["player", "banker"],
        spread=["tie", "player_pair", "banker_pair"],
        side_bets={
            "tie": None,
            "player_pair": None,
            "banker_pair": None,
            "dragon_7": ("commission", "ez"),
            "panda_8": ("commission", "ez"),
            "super_6": ("commission", "six_pays_half"),
            "dragon_bonus_player": None,
            "dragon_bonus_banker": None,
        },
        opposite=("player", "banker"),
    ),
    "dragon_tiger": House(
        play=dragon_tiger,
        options={"decks": [8, *DECKS], "tie_pays": [8, 11]},
        bets=["dragon", "tiger"],
        spread=["tie"],
        side_bets={"tie": None, "suited_tie": None},
        opposite=("dragon", "tiger"),
        looks_at_suits=("suited_tie",),
    ),
    "casino_war": House(
        play=casino_war,
        options={"decks": [6, *DECKS], "surrender": SWITCH_ON, "second_tie": ["raise_only", "bonus"]},
        bets=["main"],
        spread=["tie"],
        side_bets={"tie": None},
        required="main",
    ),
    "three_card_poker": House(
        play=three_card_poker,
        options={
            "pair_plus_pays": ["1-4-6-30-40", "1-3-6-30-40", "1-4-5-30-40", "1-3-5-30-40"],
            "ante_bonus": ["1-4-5", "1-3-4", "1-2-3"],
        },
        bets=["ante"],
        spread=["pair_plus"],
        side_bets={"pair_plus": None},
    ),
    "blackjack": House(
        play=blackjack,
        options={
            "decks": [6, *DECKS],
            "soft17": ["stand", "hit"],
            "blackjack_pays": ["3:2", "6:5", "1:1"],
            "double": ["any_two", "9_to_11", "10_to_11"],
            "double_after_split": SWITCH_ON,
            "splits": [3, 0, 1, 2],
            "split_by": ["value", "rank"],
            "resplit_aces": SWITCH_OFF,
            "hit_split_aces": SWITCH_OFF,
            "surrender": ["none", "late", "early"],
            "insurance": SWITCH_ON,
            "hole": ["peek", "none", "none_original"],
        },
        bets=["main"],
        spread=[],
        side_bets={"perfect_pairs": None, "twenty_one_plus_three": None},
        required="main",
        looks_at_suits=("perfect_pairs", "twenty_one_plus_three"),
    ),
}
VERSIONS = {"blackjack": 2, "three_card_poker": 2}
"""Of the rules; a game that is not listed has one version."""
ROUNDINGS = ["down", "up", "half_up", "exact"]


def fractions_of(game: str, bet: str, options: dict[str, Any]) -> list[Fraction]:
    """What may come of a bet, in bets, that need not be whole."""
    paid_as = "ante_bonus" if bet == "ante" else bet
    fractions = [odds for (wager, _), odds in options["pays"].items() if wager == paid_as]
    half = [Fraction(1, 2)]
    if game == "baccarat" and bet == "banker":
        at_once = [] if options.get("marked") else [Fraction(19, 20)]
        fractions += {"five_percent": at_once, "six_pays_half": half, "ez": []}[options["commission"]]
    if game == "dragon_tiger" and bet in ("dragon", "tiger"):
        fractions += half
    if game == "casino_war" and bet == "main" and options["surrender"]:
        fractions += half
    if game == "blackjack" and bet == "main":
        fractions.append(Fraction(*map(int, options["blackjack_pays"].split(":"))))
        fractions += half if options["surrender"] != "none" else []
    return fractions


def is_number(value: Any) -> bool:
    return type(value) is int


def is_among(value: Any, values: list[Any]) -> bool:
    """Whether it is one of them, and not merely equal: 1 is neither true nor 1.0."""
    return any(type(value) is type(listed) and value == listed for listed in values)


def read_options(house: House, options: Any) -> dict[str, Any]:
    refuse_unless(type(options) is dict, "options: an object")
    unknown = set(options) - set(house.options) - {"unit", "rounding", "spread", "pays"}
    refuse_unless(not unknown, f"options: unknown {unknown}")
    read: dict[str, Any] = {name: values[0] for name, values in house.options.items()}
    for name, values in (house.options | {"rounding": ROUNDINGS}).items():
        read[name] = options.get(name, values[0])
        refuse_unless(is_among(read[name], values), f"options.{name}")
    read["unit"] = options.get("unit", 1)
    refuse_unless(is_number(read["unit"]) and read["unit"] > 0, "options.unit")
    read["pays"] = read_pays(house.play.__name__, options["pays"]) if "pays" in options else {}
    read["spread"] = options.get("spread", house.spread)
    refuse_unless(type(read["spread"]) is list, "options.spread: a list")
    for bet in read["spread"]:
        refuse_unless(type(bet) is str and bet in house.side_bets, f"options.spread: {bet}")
        condition = house.side_bets[bet]
        if condition is not None:
            refuse_unless(read[condition[0]] == condition[1], f"options.spread: {bet} needs {condition}")
    refuse_unless(len(set(read["spread"])) == len(read["spread"]), "options.spread: twice the same")
    early_peek = (read.get("surrender"), read.get("hole")) == ("early", "peek")
    refuse_unless(not early_peek, "options.surrender: early goes with no hole card")
    return read


def read_seats(house: House, entries: Any, options: dict[str, Any]) -> list[Seat]:
    refuse_unless(type(entries) is list and len(entries) > 0, "seats: at least one")
    seats: list[Seat] = []
    for entry in entries:
        refuse_unless(type(entry) is dict and set(entry) == {"seat", "bets"}, "seats[]: seat and bets")
        number, bets = entry["seat"], entry["bets"]
        refuse_unless(is_number(number) and 1 <= number <= 7, "seats[].seat: 1 to 7")
        refuse_unless(not seats or seats[-1].number < number, "seats[].seat: rising")
        refuse_unless(type(bets) is dict and len(bets) > 0, "seats[].bets: at least one")
        for bet, stake in bets.items():
            refuse_unless(bet in house.bets or bet in options["spread"], f"seats[].bets: {bet} is not spread")
            refuse_unless(is_number(stake) and 0 < stake <= HIGHEST_BET, f"seats[].bets.{bet}: a positive number")
            refuse_unless(stake % options["unit"] == 0, f"seats[].bets.{bet}: no multiple of the unit")
            if options["rounding"] == "exact":
                results = [stake * part / options["unit"] for part in fractions_of(house.play.__name__, bet, options)]
                refuse_unless(all(part.denominator == 1 for part in results), f"seats[].bets.{bet}: not payable")
        refuse_unless(not house.required or house.required in bets, f"seats[].bets: {house.required} is required")
        refuse_unless(not house.opposite or not set(house.opposite) <= set(bets), "seats[].bets: both sides")
        seats.append(Seat(number, bets, Chips(options["unit"], options["rounding"])))
    return seats


def read_cards(house: House, record: dict[str, Any], options: dict[str, Any]) -> Round:
    """The round before its first card: a whole shoe less what was dealt."""
    cards, dealt, actions = record["cards"], record.get("dealt", []), record.get("actions", [])
    refuse_unless(type(cards) is list and type(dealt) is list, "cards, dealt: lists")
    spelled = [*dealt, *cards]
    for card in spelled:
        refuse_unless(
            type(card) is str and re.fullmatch("[A23456789TJQK][shdc]?", card) is not None, f"no card: {card}"
        )
    refuse_unless(len({len(card) for card in spelled}) <= 1, "cards with suits and cards without")
    needs_suits = house.play is three_card_poker or any(bet in options["spread"] for bet in house.looks_at_suits)
    by_rank = len(spelled) > 0 and len(spelled[0]) == 1
    refuse_unless(not (needs_suits and by_rank), "cards: suits are needed")

    decks = options.get("decks", 1)
    refuse_unless(decks > 1 or not dealt, "dealt: one deck is shuffled before every round")
    deck = [rank for rank in RANKS for _ in SUITS] if by_rank else [rank + suit for rank in RANKS for suit in SUITS]
    shoe = Counter(deck * decks)
    shoe.subtract(dealt)
    refuse_unless(min(shoe.values()) >= 0, "dealt: more than the shoe holds")

    refuse_unless(type(actions) is list, "actions: a list")
    for action in actions:
        refuse_unless(type(action) is dict and set(action) == {"seat", "do"}, "actions[]: seat and do")
        refuse_unless(is_number(action["seat"]) and type(action["do"]) is str, "actions[]: a number and a word")
    return Round(+shoe, Counter(dealt), list(cards), list(actions))


def judge(record: Any) -> dict[str, Any]:
    """The answer to a record; raises Refused."""
    refuse_unless(type(record) is dict, "record: an object")
    required, optional = (
        {"format", "game", "seats", "cards"},
        {"options", "actions", "dealt", "version", "commission_is_marked"},
    )
    refuse_unless(required <= set(record) <= required | optional, "record: its keys")
    refuse_unless(is_among(record["format"], ["round-record/1"]), "format")
    refuse_unless(is_among(record["game"], list(HOUSES)), "game")
    house = HOUSES[record["game"]]
    options = read_options(house, record.get("options", {}))
    options["marked"] = record.get("commission_is_marked", False)
    refuse_unless(type(options["marked"]) is bool, "commission_is_marked: true or false")
    refuse_unless("commission_is_marked" not in record or house.play is baccarat, "commission_is_marked: no use")
    version = record.get("version", VERSIONS.get(record["game"], 1))
    refuse_unless(is_number(version) and 1 <= version <= VERSIONS.get(record["game"], 1), "version")
    if (record["game"], version) == ("blackjack", 1) and options["hole"] != "peek" and options["surrender"] == "late":
        options["surrender"] = "early"
    seats = read_seats(house, record["seats"], options)
    table = read_cards(house, record, options)
    answer: dict[str, Any] = {"game": record["game"], "complete": True, "pot_left": 0, "next": []}
    try:
        house.play(table, seats, options)
    except Unfinished as pause:
        return answer | {"complete": False, "results": [], "house_net": 0, "next": [pause.due]}
    table.end()
    results = [seat.result() for seat in seats]
    return answer | {"results": results, "house_net": -sum(result["net"] for result in results)}
