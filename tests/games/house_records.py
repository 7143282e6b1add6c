"""Records of the house-banked games by chance: legal ones, cut ones, and broken ones.

A legal one is dealt from real piles of cards, by the course of the game that the account by hand follows. What lies in
the piles is nothing that a record tells, so accounts of an emptied shoe are held against cards that were really there.
"""

import copy
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

from tests.games.house_by_hand import (
    CHOICES,
    HOUSES,
    PAID,
    RANKS,
    ROUNDINGS,
    SUITS,
    House,
    Refused,
    Round,
    digest_of,
    is_blackjack,
    judge,
    read_options,
    read_seats,
)

Record = dict[str, Any]

FAVOURED = {
    "baccarat": ["", "", "", "37", "26", "6TJ", "7TJ", "A6T", "8TJ", "8", "T", "4A3", "9T", "K458"],
    "dragon_tiger": ["", "K", "7", "29"],
    "casino_war": ["", "7", "7", "A", "K2", "9T"],
    "three_card_poker": ["", "QKA", "A23", "789", "2T", "h", "d9", "c678"],
    "blackjack": ["", "", "8", "A", "A", "AT", "AJQ", "TJQK", "A2", "234", "5", "6A", "3T9", "55T", "h", "sKA"],
}
"""Ranks or suits that come up more often in a round than chance would have it: pairs, ties, blackjacks, long hands."""

KEEN = {"split": 6, "war": 2, "play": 2, "insure": 2, "double": 2, "hit": 2, "surrender": 2}
"""How readily a decision is taken, against 1."""


class RealRound(Round):
    """The same, from piles of real cards; it writes its record instead of reading it."""

    def __init__(self, pile: list[str], dealt: list[str], favoured: str, chance: Random) -> None:
        super().__init__(Counter(), Counter(), [], [])
        self.pile, self.heap = pile, list(dealt)
        self.favoured, self.chance = favoured, chance
        self.facedown = ""
        self.refills = 0
        self.favour = chance.choice([0.3, 0.6, 0.9])
        self.keenness = chance.choice([1, 1, 4])
        self.stands_early = chance.random() < 0.5

    def _draw(self) -> str:
        if not self.pile:
            self.pile, self.heap = self.heap, []
            self.chance.shuffle(self.pile)
            self.refills += 1
        if not self.pile:
            raise Refused("no card is left")
        wished = [place for place, card in enumerate(self.pile) if not set(card).isdisjoint(self.favoured)]
        if wished and self.chance.random() < self.favour:
            return self.pile.pop(self.chance.choice(wished))
        return self.pile.pop()

    def turn(self) -> str:
        self.cards.append(self._draw())
        return self.cards[-1]

    def packet_if_there(self) -> list[str]:
        return [self.turn() for _ in range(3)]

    def burn(self) -> None:
        self.heap.append(self._draw())

    def hide(self) -> None:
        self.facedown = self._draw()

    def turn_hole(self) -> str:
        self.cards.append(self.facedown)
        return self.facedown

    def peek(self, up: str) -> str | None:
        if is_blackjack([up, self.facedown]):
            return self.turn_hole()
        self.actions.append({"seat": 0, "do": "no_blackjack"})
        return None

    def ask(self, seat: int, choices: CHOICES, hand: int | None = None) -> str:
        weights = [KEEN.get(choice, 1) ** self.keenness for choice in choices]
        decision = self.chance.choices(list(choices), weights)[0]
        if decision == "hit" and self.stands_early and self.chance.random() < 0.5:
            decision = "stand"
        self.actions.append({"seat": seat, "do": decision})
        return decision

    def discard(self, cards: Any) -> None:
        self.heap += cards


def options_by_chance(house: House, chance: Random) -> dict[str, Any]:
    options: dict[str, Any] = {}
    share = chance.choice([0.0, 0.3, 0.8, 1.0])
    for name, values in house.options.items():
        if chance.random() < share:
            options[name] = chance.choice(values)
    if "decks" in house.options and chance.random() < 0.4:
        options["decks"] = chance.choice([1, 1, 2])
    if chance.random() < 0.5:
        options["unit"] = chance.choice([1, 3, 5, 25, 100, 250])
    if chance.random() < 0.6:
        options["rounding"] = chance.choice(ROUNDINGS)
    if chance.random() < 0.6:
        permitted = [
            bet
            for bet, condition in house.side_bets.items()
            if condition is None or options.get(condition[0], house.options[condition[0]][0]) == condition[1]
        ]
        options["spread"] = chance.sample(permitted, chance.randint(0, len(permitted)))
    if chance.random() < 0.3:
        options["pays"] = pays_by_chance(house.play.__name__, chance)
    return options


def pays_by_chance(game: str, chance: Random) -> dict[str, Any]:
    """A pay table that an operator may have made, of some of the game's wagers."""
    names = chance.sample(list(PAID[game]), chance.randint(1, len(PAID[game])))
    wagers = {
        wager: {line: odds_by_chance(*PAID[game][wager][line], chance=chance) for line in PAID[game][wager]}
        for wager in names
    }
    version = chance.choice([1, 2, 17])
    return {
        "name": chance.choice(["High", "Side 2"]),
        "version": version,
        "wagers": wagers,
        "sha256": digest_of(game, wagers),
    }


def odds_by_chance(least: int, highest: int, unpaid: bool = False, *, chance: Random) -> str:
    if unpaid and chance.random() < 0.15:
        return "0:1"
    odds = min(highest, least + Fraction(chance.randint(0, 20), chance.choice([1, 1, 2, 3, 20])))
    return f"{odds.numerator}:{odds.denominator}"


def stake_by_chance(unit: int, chance: Random) -> int:
    return unit * chance.choice([1, 1, 2, 3, 5, 7, 10, chance.randint(1, 60)])


def seats_by_chance(house: House, options: dict[str, Any], chance: Random) -> list[dict[str, Any]]:
    numbers = sorted(chance.sample(range(1, 8), chance.choice([1, 1, 2, 2, 3, 4, 5, 6, 7])))
    unit = options.get("unit", 1)
    side_bets = options.get("spread", house.spread)
    seats: list[dict[str, Any]] = []
    for number in numbers:
        bets = {}
        main = chance.choice([*house.bets, ""])
        if house.required or main or not side_bets:
            bets[house.required or main or house.bets[0]] = stake_by_chance(unit, chance)
        for bet in side_bets:
            if chance.random() < 0.5 or not bets:
                bets[bet] = stake_by_chance(unit, chance)
        seats.append({"seat": number, "bets": bets})
    return seats


CARDS_OF_A_SEAT = {"baccarat": 0, "dragon_tiger": 0, "casino_war": 2, "three_card_poker": 0, "blackjack": 5}
CARDS_OF_THE_HOUSE = {"baccarat": 6, "dragon_tiger": 2, "casino_war": 5, "three_card_poker": 0, "blackjack": 4}


def cards_before(game: str, seats: int, decks: int, chance: Random) -> int:
    """How many cards of a shoe are gone; often so many that it will not do for the round."""
    if decks == 1 or chance.random() < 0.3:
        return 0
    if chance.random() < 0.3:
        return chance.randint(0, decks * 52)
    return decks * 52 - chance.randint(0, seats * CARDS_OF_A_SEAT[game] + CARDS_OF_THE_HOUSE[game])


def legal(game: str, chance: Random) -> dict[str, Any]:
    """A whole round."""
    while True:
        record = round_dealt(HOUSES[game], game, chance)
        if record is not None:
            return record


def round_dealt(house: House, game: str, chance: Random) -> dict[str, Any] | None:
    """A round, unless nothing was left to deal it from."""
    options = options_by_chance(house, chance)
    seats = seats_by_chance(house, options, chance)
    decks = options.get("decks", house.options["decks"][0] if "decks" in house.options else 1)
    spread = options.get("spread", house.spread)
    needs_suits = game == "three_card_poker" or any(bet in spread for bet in house.looks_at_suits)
    by_rank = not needs_suits and chance.random() < 0.5
    shoe = [rank if by_rank else rank + suit for rank in RANKS for suit in SUITS] * decks
    chance.shuffle(shoe)
    cut_place = cards_before(game, len(seats), decks, chance)
    dealt, pile = shoe[:cut_place], shoe[cut_place:]
    table = RealRound(pile, dealt, chance.choice(FAVOURED[game]), chance)
    try:
        read = read_options(house, options)
        house.play(table, read_seats(house, seats, read), read)
    except Refused:
        return None
    record: Record = {"format": "round-record/1", "game": game, "seats": seats, "cards": table.cards}
    for key, value in (("options", options), ("actions", table.actions), ("dealt", dealt)):
        if value or chance.random() < 0.3:
            record[key] = value
    return record


def is_legal(record: Any) -> bool:
    try:
        judge(record)
    except Refused:
        return False
    return True


def truncated(record: dict[str, Any], chance: Random) -> dict[str, Any]:
    """A record that stops early: half of them where a round may stop, the others with lists that may not fit."""
    cut = copy.deepcopy(record)
    cut.setdefault("actions", [])
    lists = chance.choice([["cards"], ["actions"], ["cards", "actions"]])
    for key in lists:
        cut[key] = cut[key][: chance.randint(0, len(cut[key]))]
    if chance.random() < 0.5:
        return cut
    part = "actions" if lists[0] == "cards" else "cards"
    whole = record.get(part, [])
    lengths = list(range(len(whole) + 1))
    chance.shuffle(lengths)
    for length in lengths:
        cut[part] = whole[:length]
        if is_legal(cut):
            break
    return cut


# ---------------------------------------------------------------------------------------------------- broken records

STRANGE: list[Any] = [
    None, True, False, 0, 1, 2, -1, 8, 9, 1.0, 2.5, "", "1", "main", "A", "Ah", [], {}, [1], ["tie"], {"seat": 1},
    10**15,
]  # fmt: skip
WORDS = [
    "hit", "stand", "double", "split", "surrender", "insure", "decline", "war", "play", "fold", "no_blackjack",
    "peek", "deal",
]  # fmt: skip
BETS = [
    "main", "player", "banker", "tie", "player_pair", "banker_pair", "dragon_7", "panda_8", "super_6",
    "dragon_bonus_player", "dragon_bonus_banker", "dragon", "tiger", "suited_tie", "ante", "pair_plus", "play", "raise",
    "insurance", "perfect_pairs", "twenty_one_plus_three", "bet",
]  # fmt: skip


def any_card(record: Record, chance: Random) -> str:
    """One that is written like the others, mostly."""
    by_rank = any(len(str(card)) == 1 for card in record["cards"])
    if chance.random() < 0.1:
        return chance.choice(["1h", "10", "th", "hT", "X", "A ", "AH", "", "Ahh"])
    if chance.random() < 0.1:
        by_rank = not by_rank
    return chance.choice(RANKS) + ("" if by_rank else chance.choice(SUITS))


def change_the_cards(record: Record, chance: Random) -> None:
    """Change one card of the round, or several, possibly to more of a card than the decks contain."""
    cards = record["cards"]
    place = chance.randint(0, len(cards))
    match chance.choice(["change", "change", "add", "append", "remove", "swap", "repeat", "strange"]):
        case "add":
            cards.insert(place, any_card(record, chance))
        case "append":
            cards.append(any_card(record, chance))
        case "strange":
            chance.choice([record[key] for key in ("cards", "dealt") if record.get(key)] or [cards]).insert(
                0, chance.choice(STRANGE)
            )
        case deed if place < len(cards):
            other_place = chance.randrange(len(cards))
            if deed == "remove":
                cards.pop(place)
            elif deed == "swap":
                cards[place], cards[other_place] = cards[other_place], cards[place]
            elif deed == "repeat":
                for _ in range(chance.choice([1, 1, 2, 5])):
                    cards[chance.randrange(len(cards))] = cards[place]
            else:
                cards[place] = any_card(record, chance)


def drop_suits(record: Record, chance: Random) -> None:
    share = chance.choice([0.2, 1.0, 1.0])
    for key in ("cards", "dealt"):
        if isinstance(record.get(key), list):
            record[key] = [card[:1] if chance.random() < share else card for card in record[key]]
        if chance.random() < 0.3:
            return


def change_what_was_dealt(record: Record, chance: Random) -> None:
    """Change the cards dealt earlier: more or fewer, so that the shoe runs out elsewhere, or all copies of a card of
    the round."""
    dealt_cards = record.setdefault("dealt", [])
    decks = record.get("options", {}).get("decks", 8)
    match chance.choice(["more", "less", "same"]):
        case "more":
            dealt_cards += [any_card(record, chance) for _ in range(chance.choice([1, 1, 3, 40, 500]))]
        case "less" if dealt_cards:
            del dealt_cards[chance.randrange(len(dealt_cards)) :]
        case "same" if record["cards"]:
            dealt_cards += [chance.choice(record["cards"])] * chance.choice([1, decks, decks * 4])


def change_an_action(record: Record, chance: Random) -> None:
    actions = record.get("actions") or [{}]
    action = chance.choice(actions)
    if not action:
        return
    match chance.choice(["word", "word", "seat", "remove", "swap", "key", "drop", "strange"]):
        case "word":
            action["do"] = chance.choice(WORDS)
        case "seat":
            action["seat"] = chance.randint(0, 8)
        case "remove":
            actions.remove(action)
        case "swap":
            chance.shuffle(actions)
        case "key":
            action[chance.choice(["hand", "card", "count"])] = chance.choice([1, None])
        case "drop":
            del action[chance.choice(["seat", "do"])]
        case "strange":
            action[chance.choice(["seat", "do"])] = chance.choice(STRANGE)


def add_an_action(record: Record, chance: Random) -> None:
    """Add a decision that is not due, or a look at a hole card."""
    actions = record.setdefault("actions", [])
    seat, word = chance.choice([seat["seat"] for seat in record["seats"]]), chance.choice(WORDS)
    if chance.random() < 0.5:
        seat, word = 0, "no_blackjack"
    actions.insert(chance.randint(0, len(actions)), {"seat": seat, "do": word})


def change_a_bet(record: Record, chance: Random) -> None:
    """Change an amount, or add an invalid bet, an opposite side or side bets that break the spread."""
    house, unit = HOUSES[record["game"]], record.get("options", {}).get("unit", 1)
    bets = chance.choice(record["seats"])["bets"]
    bet = chance.choice(list(bets))
    match chance.choice(["amount", "strange", "add", "add of the game", "remove"]):
        case "amount":
            bets[bet] = chance.choice([bets[bet] + 1, bets[bet] * 2, 0, -bets[bet], 7, 100, 999])
        case "strange":
            bets[chance.choice([*bets, *BETS])] = chance.choice(STRANGE)
        case "add":
            bets[chance.choice(BETS)] = unit * chance.choice([1, 10])
        case "add of the game":
            bets[chance.choice([*house.bets, *house.side_bets])] = unit * 4
        case "remove":
            del bets[bet]


def strange_seat(record: Record, chance: Random) -> None:
    seat = chance.choice(record["seats"])
    match chance.choice(["seat", "bets", "key", "drop", "bet"]):
        case "key":
            seat[chance.choice(["bet", "coins", "Seat"])] = chance.choice([1, 100, None])
        case "drop":
            del seat[chance.choice(["seat", "bets"])]
        case "bet":
            seat["bet"] = seat.pop("bets")
        case key:
            seat[key] = chance.choice(STRANGE)


def change_seats(record: Record, chance: Random) -> None:
    seats = record["seats"]
    change = chance.choice(["remove", "repeat", "reverse", "move", "none"])
    if change == "remove":
        seats.pop(chance.randrange(len(seats)))
    elif change == "repeat":
        seats.append(copy.deepcopy(seats[-1]))
    elif change == "reverse":
        seats.reverse()
    elif change == "move":
        chance.choice(seats)["seat"] = chance.randint(0, 9)
    else:
        nothing: list[Any] = [[], None, {}, [None], [[]]]
        record["seats"] = chance.choice(nothing)


def change_an_option(record: Record, chance: Random) -> None:
    """Set an option to another valid value, which may change what is due or paid, or to an invalid one."""
    house, options = HOUSES[record["game"]], record.setdefault("options", {})
    name = chance.choice([*house.options, "unit", "rounding", "spread"])
    values = house.options.get(name, [])
    match chance.choice(["value", "value", "unit", "strange", "unknown", "remove"]):
        case "value" if values:
            options[name] = chance.choice(values)
        case "unit":
            options["unit"] = chance.choice([1, 2, 3, 7, 10, 100, 0, -1, 10**6])
        case "strange":
            value = chance.choice([*STRANGE, *values])
            options[name] = chance.choice([value, str(value), value == 1 if name == "surrender" else value])
        case "unknown":
            options[chance.choice(["burn", "soft17", "tie_pays", "Unit", "hole", "ante_bonus"])] = chance.choice(
                [1, 6, 8, "ez", "hit", True, None]
            )
        case "remove" if options:
            del options[chance.choice(list(options))]


def change_the_spread(record: Record, chance: Random) -> None:
    house = HOUSES[record["game"]]
    spread = list(record.setdefault("options", {}).get("spread", house.spread))
    change = chance.choice(["add", "add", "repeat", "remove", "strange", "none", "unknown"])
    if change == "add":
        spread.append(chance.choice(list(house.side_bets)))
    elif change == "repeat" and spread:
        spread.append(spread[0])
    elif change == "remove" and spread:
        spread.pop()
    elif change == "strange":
        spread.append(chance.choice(STRANGE))
    elif change == "unknown":
        spread.append(chance.choice(BETS))
    no_list: list[Any] = [None, "tie", {}, []]
    record["options"]["spread"] = chance.choice(no_list) if change == "none" else spread


def change_the_pays(record: Record, chance: Random) -> None:
    """A line or a name of a pay table, with its digest as it was, or as it would be."""
    options = record.setdefault("options", {})
    pays = options.setdefault("pays", pays_by_chance(record["game"], chance))
    wager = chance.choice(list(pays["wagers"]))
    lines = pays["wagers"][wager]
    line = chance.choice(list(lines))
    change = chance.choice(["odds", "odds", "line", "wager", "key", "digest", "null"])
    if change == "odds":
        lines[line] = chance.choice(
            ["0:1", "1:1", "12:1", "1000:1", "18:2", "3", "3:0", "", " 8:1", "10:3", "5:101", 9]
        )
    elif change == "line":
        lines.pop(line)
    elif change == "wager":
        pays["wagers"][chance.choice(BETS)] = {line: "9:1"}
    elif change == "key":
        pays.pop(chance.choice(list(pays)))
    elif change == "digest":
        pays["sha256"] = chance.choice(["", "0" * 64, pays["sha256"].upper()])
    else:
        options["pays"] = None
    if chance.random() < 0.7 and change in ("odds", "line", "wager"):
        pays["sha256"] = digest_of(record["game"], pays["wagers"])


def change_a_key(record: Record, chance: Random) -> None:
    change = chance.choice(["drop", "null", "add", "strange"])
    if change == "drop":
        record.pop(chance.choice(list(record)))
    elif change == "null":
        record[chance.choice(["options", "actions", "dealt", "seats", "cards", "game", "format"])] = None
    elif change == "add":
        name = chance.choice(["button", "pot", "first", "rake", "blind", "note", "burn", "Cards", ""])
        record[name] = chance.choice([0, 1, True, None, [], {}])
    else:
        record[chance.choice(list(record))] = chance.choice(STRANGE)


def change_the_game(record: Record, chance: Random) -> None:
    record["game"] = chance.choice([*HOUSES, "Baccarat", "war", ""])


MUTATIONS: list[Callable[[Record, Random], None]] = [
    *[change_the_cards] * 8, drop_suits, *[change_what_was_dealt] * 3, *[change_an_action] * 6, *[add_an_action] * 2,
    *[change_a_bet] * 5, strange_seat, change_seats, *[change_an_option] * 6, *[change_the_spread] * 2,
    *[change_the_pays] * 2, change_a_key, change_the_game,
]  # fmt: skip


def broken(record: dict[str, Any], chance: Random) -> dict[str, Any]:
    """The record with one thing changed; now and then it is still a legal one."""
    while True:
        changed = copy.deepcopy(record)
        chance.choice(MUTATIONS)(changed, chance)
        if changed != record or repr(changed) != repr(record):
            return changed
