"""What rounds on standard cards that stand somewhere are worth, against the engine with every card that can come."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from tables.games.baccarat import Rules as BaccaratRules
from tables.games.blackjack import NO_BLACKJACK
from tables.games.blackjack import Rules as BlackjackRules
from tables.games.cards import BY_RANK, RANK_SIGNS, STANDARD, UNKNOWN, Composition, Pack, pack_of
from tables.games.casino_war import Rules as WarRules
from tables.games.catalog import GAMES
from tables.games.dragon_tiger import Rules as DragonTigerRules
from tables.games.house_script import HouseState
from tables.games.play import play, replay
from tables.games.protocol import DEALER, AskCard, AskChoice, Bet, Card, Choose, CloseBets, Limits, Opening
from tables.games.three_card_poker import Rules as PokerRules
from tables.games.three_cards import value_of
from tables.maths import blackjack
from tables.maths.advantage import blackjack_midround, providers
from tables.maths.situation import Unknowable
from tests.tiers import sampled

Choices = Mapping[str, int]
"""The choices of other seats, the first that is open; the seat itself does what is best for it."""
CENTS = 1_000


def ranks(**numbers: int) -> Composition:
    """So many cards of each rank: T=3, and n9=2 for digits."""
    counts = [0] * 13
    for sign, count in numbers.items():
        counts[RANK_SIGNS.index(sign.removeprefix("n"))] = count
    return tuple(counts)


def gone_but(unseen: Composition, decks: int) -> Composition:
    """What is gone where so many cards are left."""
    return tuple(full - unseen_count for full, unseen_count in zip(BY_RANK.shoes[decks], unseen, strict=True))


def round_after(game: str, rules: Any, dealt: Composition, bets: list[Bet], *actions: Any) -> HouseState:
    """A round with these bets, and what was done since."""
    seats = tuple(sorted({bet.seat for bet in bets}))
    opening = Opening(seats, Limits(), dealt=dealt, unseen=0, blind=True)
    return replay(GAMES[game], rules, opening, (*bets, CloseBets(), *actions))


def number(card: str, pack: Pack = BY_RANK) -> int:
    return pack.number(card)


def by_hand(state: HouseState, game: str, seat: int, ways: tuple[str, ...] = ()) -> Fraction:
    """What a seat can expect, in cents, over every card that may come. Where it decides it does what is best for it, of
    ``ways`` where they are given; every other one does the first of ``stand`` and the choices that it has."""
    engine = GAMES[game]
    if not state.prompts:
        return Fraction(sum(payout.net_cents for payout in engine.settle(state) if payout.seat == seat))
    ask = state.prompts[0]
    if isinstance(ask, AskChoice) and ask.seat == DEALER:
        return _peeked(state, game, seat, ways)
    if isinstance(ask, AskChoice):
        names = [choice.name for choice in ask.choices if not ways or choice.name in ways]
        if ask.seat != seat:
            names = ["stand" if "stand" in names else names[0]]
        return max(by_hand(play(engine, state, Choose(ask.seat, name)), game, seat, ways) for name in names)
    assert isinstance(ask, AskCard), "a shoe that runs out is another matter"
    mean = Fraction()
    for card, chance in _chances(state, ask).items():
        mean += chance * by_hand(play(engine, state, Card(card, ask.to)), game, seat, ways)
    return mean


def _chances(state: HouseState, ask: AskCard) -> dict[int, Fraction]:
    """How likely each card comes. Of a hole card that the dealer looked at it is known what it is not, so that such
    cards are among the others more often."""
    cards = Counter(ask.may_come)
    looked = any(isinstance(action, Choose) and action.choice == NO_BLACKJACK for action in state.actions)
    if ask.shown or not looked or UNKNOWN not in state.hands[0].cards:
        return {card: Fraction(count, cards.total()) for card, count in cards.items()}
    out = 1 if number("A") == state.hands[0].cards[0] else 0
    makes_one = {number(sign) for sign in "TJQK"} if out else {number("A")}
    size = cards.total()
    plain_size = sum(count for card, count in cards.items() if card not in makes_one)
    return {
        card: Fraction(count, size - 1) * (1 if card in makes_one else Fraction(plain_size - 1, plain_size))
        for card, count in cards.items()
    }


def _peeked(state: HouseState, game: str, seat: int, ways: tuple[str, ...]) -> Fraction:
    """The dealer looks at the hole card."""
    engine, turning = GAMES[game], state.prompts[1]
    assert isinstance(turning, AskCard)
    unseen = sum(full - out for full, out in zip(pack_of(state.gone).shoes[2], state.gone, strict=True))
    mean, no_blackjack = Fraction(), Fraction(1)
    for card, count in Counter(turning.may_come).items():
        no_blackjack -= Fraction(count, unseen)
        mean += Fraction(count, unseen) * by_hand(play(engine, state, Card(card, DEALER)), game, seat, ways)
    return mean + no_blackjack * by_hand(play(engine, state, Choose(DEALER, NO_BLACKJACK)), game, seat, ways)


def worth(state: HouseState, game: str) -> Mapping[int, float]:
    values = providers.midround_provider(game)
    assert values is not None
    return values.midround(state)


# --- Baccarat, Dragon Tiger, Casino War ---------------------------------------------------------------------------

BACCARAT = [
    BaccaratRules(decks=2, spread=("tie", "player_pair", "dragon_bonus_player", "dragon_bonus_banker")),
    BaccaratRules(decks=2, commission="ez", spread=("tie", "dragon_7", "panda_8", "player_pair"), unit=100),
    BaccaratRules(decks=2, commission="six_pays_half", spread=("super_6", "banker_pair"), unit=100),
]
LEFT = ranks(A=2, n4=3, n7=2, K=3)
PLAYER, BANKER, DRAGON, TIGER = -2, -3, -4, -5


@pytest.mark.parametrize("rules", BACCARAT)
@pytest.mark.parametrize("cards", ["", "4", "4K", "4KK", "4KA7", "4KA77", "44AA", "A7KK"])
def test_baccarat_is_worth_what_every_card_that_may_come_makes_of_it(rules: BaccaratRules, cards: str) -> None:
    """Harm: a pit boss who is told a wrong number rules by it, and a player is paid by it."""
    names = [wager.name for wager in GAMES["baccarat"].wagers(rules) if wager.name != "banker"]
    bets = [*(Bet(1, CENTS, name) for name in names), Bet(2, 700, "banker")]
    order = (PLAYER, BANKER, PLAYER, BANKER, PLAYER)
    state = round_after("baccarat", rules, gone_but(LEFT, 2), bets)
    for sign, place in zip(cards, order, strict=False):
        ask = state.prompts[0] if state.prompts else None
        if not isinstance(ask, AskCard):
            break
        state = play(GAMES["baccarat"], state, Card(number(sign), ask.to if len(cards) > 4 else place))
    answers = worth(state, "baccarat")
    for seat in (1, 2):
        assert answers[seat] == pytest.approx(float(by_hand(state, "baccarat", seat)), abs=1e-9)


def test_baccarat_from_a_full_shoe_is_worth_its_edge() -> None:
    """Harm: a round that is dealt anew is worth another thing than the game's page says."""
    state = round_after(
        "baccarat", BaccaratRules(), BY_RANK.nothing, [Bet(1, 100_000, "player"), Bet(2, 100_000, "banker")]
    )
    answers = worth(state, "baccarat")
    assert answers[1] == pytest.approx(-1_235.08, abs=0.005)
    assert answers[2] == pytest.approx(-1_057.91, abs=0.005)


@pytest.mark.parametrize("spread", [("tie",), ("tie", "suited_tie")])
@pytest.mark.parametrize("dealt", [0, 1])
def test_dragon_tiger_is_worth_what_every_card_makes_of_it(spread: Any, dealt: int) -> None:
    """Harm: the explained half of a tie is rounded differently from the paid half."""
    rules = DragonTigerRules(decks=2, spread=spread, unit=100)
    pack = GAMES["dragon_tiger"].pack(rules)
    deck_dealt = tuple(full - (card % 3 == 0) for card, full in enumerate(pack.shoes[2]))
    bets = [Bet(1, 300, "dragon"), Bet(2, 300, "tiger"), *(Bet(1, CENTS, name) for name in spread)]
    cards = [Card(1 + len(pack.deck) // 2 // 3 * 3, DRAGON)] * dealt
    state = round_after("dragon_tiger", rules, deck_dealt, bets, *cards)
    answers = worth(state, "dragon_tiger")
    for seat in (1, 2):
        assert answers[seat] == pytest.approx(float(by_hand(state, "dragon_tiger", seat)), abs=1e-9)


WAR = (Card(number("9"), 1), Card(number("4"), 2), Card(number("9"), 0))


@pytest.mark.parametrize("second_tie", ["raise_only", "bonus"])
@pytest.mark.parametrize("entered", range(7))
def test_casino_war_is_worth_what_every_card_makes_of_it(second_tie: Any, entered: int) -> None:
    """Harm: a seat that is told the worth of a war that it has lost half of already."""
    rules = WarRules(decks=2, second_tie=second_tie)
    actions = (*WAR, Choose(1, "war"), Card(number("4"), 1), Card(number("A"), 0))[:entered]
    bets = [Bet(seat, CENTS, name) for seat in (1, 2) for name in ("main", "tie")]
    state = round_after("casino_war", rules, gone_but(ranks(A=4, n4=4, n9=5), 2), bets, *actions)
    answers = worth(state, "casino_war")
    for seat in (1, 2):
        exact = by_hand(state, "casino_war", seat, ("war",))
        assert answers[seat] == pytest.approx(float(exact), abs=1e-9)


# --- Three Card Poker ---------------------------------------------------------------------------------------------


def cards_of(text: str) -> list[int]:
    return [STANDARD.number(card) for card in text.split()]


def poker(*actions: Any, blind: bool) -> HouseState:
    opening = Opening((1, 2), Limits(), dealt=STANDARD.nothing, unseen=0, blind=blind)
    bets = [Bet(1, CENTS, "ante"), Bet(1, CENTS, "pair_plus"), Bet(2, CENTS, "ante")]
    return replay(GAMES["three_card_poker"], PokerRules(), opening, (*bets, CloseBets(), *actions))


def shown_down(own: list[int], folded: list[int], dealer: list[int], *, folds: bool) -> Fraction:
    """What seat 1 can expect of a packet, over every hand that the dealer may have."""
    unseen = [card for card in range(1, 53) if card not in (*own, *folded, *dealer)]
    mine, total, hands = value_of(tuple(own)), Fraction(), 0
    for drawn in combinations(unseen, 3 - len(dealer)):
        theirs = value_of((*dealer, *drawn))
        hands += 1
        if theirs < value_of(tuple(cards_of("Qs 3h 2d"))):
            total += 1
        else:
            total += 2 * ((mine > theirs) - (mine < theirs))
    plays = total / hands + {3: 1, 4: 4, 5: 5}.get(mine[0], 0)
    pair_plus = {1: 1, 2: 4, 3: 6, 4: 30, 5: 40}.get(mine[0], -1)
    return CENTS * (max(plays, Fraction(-1)) if folds else plays) + CENTS * pair_plus


@pytest.mark.parametrize(
    "own",
    sampled(
        ["Ks Qh 4d", "Qs 6h 4d", "Qs 5h 2d", "7s 8s 9s", "2h 2d 9c", "3h 8h Th"],
        "tries every order of a small shoe",
        test=1,
    ),
)
@pytest.mark.parametrize("played", [False, True])
def test_a_packet_that_was_shown_is_worth_what_every_dealers_hand_makes_of_it(own: str, played: bool) -> None:
    """Harm: the value of a hand ignores that its seat may fold."""
    neighbour_hand = "Ac Kc 9d"
    dealt = [Card(card, 1) for card in cards_of(own)] + [Card(card, 2) for card in cards_of(neighbour_hand)]
    state = poker(*dealt, *([Choose(1, "play"), Choose(2, "play")] if played else []), blind=False)
    exact = shown_down(cards_of(own), cards_of(neighbour_hand), [], folds=not played)
    assert worth(state, "three_card_poker")[1] == pytest.approx(float(exact), abs=1e-6)
    if played:
        state = play(GAMES["three_card_poker"], state, Card(*cards_of("Jh"), 0))
        exact = shown_down(cards_of(own), cards_of(neighbour_hand), cards_of("Jh"), folds=False)
        assert worth(state, "three_card_poker")[1] == pytest.approx(float(exact), abs=1e-6)


def test_packets_that_lie_facedown_are_worth_what_best_play_makes_of_them() -> None:
    """Harm: a seat that has put up a play wager is told the worth of a packet that it would have folded."""
    undecided = worth(poker(blind=True), "three_card_poker")
    assert undecided[1] == pytest.approx(CENTS * (-0.033730 - 0.023167), abs=0.01)
    assert undecided[2] == pytest.approx(CENTS * -0.033730, abs=0.01)
    played = worth(poker(Choose(1, "play"), Choose(2, "fold"), blind=True), "three_card_poker")
    assert played[2] == -CENTS
    plays = 0.67421  # of all hands so many are played: Q-6-4 and better
    assert played[1] * plays - 2 * CENTS * (1 - plays) == pytest.approx(undecided[1], abs=0.05)


# --- Blackjack ----------------------------------------------------------------------------------------------------

TENS = ranks(A=2, n5=3, n6=3, n9=4, T=5)
JACK = ranks(A=3, n3=2, n5=3, n8=3, J=4)
OPTIONS = [
    BlackjackRules(decks=2, splits=0),
    BlackjackRules(decks=2, splits=0, hole="none", soft17="hit", surrender="late", insurance=False),
    BlackjackRules(decks=2, splits=0, hole="none", surrender="early", insurance=False),
    BlackjackRules(decks=2, splits=0, hole="none_original", double="9_to_11", insurance=False),
    BlackjackRules(decks=2, splits=0, surrender="late", blackjack_pays="6:5", unit=100, insurance=False),
]


def dealt_to(rules: BlackjackRules, unseen: Composition, cards: str, *later: Any) -> HouseState:
    """One seat, and its cards and the upcard as they come: its first, the upcard, its second."""
    places = (1, DEALER, 1)
    actions = [Card(number(sign), place) for sign, place in zip(cards, places, strict=False)]
    return round_after("blackjack", rules, gone_but(unseen, 2), [Bet(1, CENTS)], *actions, *later)


def agrees(state: HouseState, ways: tuple[str, ...] = ()) -> None:
    exact = float(by_hand(state, "blackjack", 1, ways))
    assert worth(state, "blackjack")[1] == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("rules", OPTIONS)
@pytest.mark.parametrize("cards", ["69T", "5T6", "9A6", "AT5", "TA9", "AAT", "6A5", "T5T"])
def test_first_cards_of_blackjack_are_worth_what_every_card_makes_of_them(rules: BlackjackRules, cards: str) -> None:
    """Harm: a dealer who may have a blackjack is taken for somebody who has looked, or the reverse."""
    state = dealt_to(rules, TENS, cards)
    agrees(state, ("hit", "stand", "double", "surrender", "decline"))
    ask = state.prompts[0]
    if isinstance(ask, AskChoice) and ask.seat == DEALER:
        agrees(play(GAMES["blackjack"], state, Choose(DEALER, NO_BLACKJACK)))


@pytest.mark.parametrize("rules", OPTIONS[1:])
@pytest.mark.parametrize("cards", ["9", "95"])
def test_a_round_that_is_being_dealt_is_worth_what_every_card_makes_of_it(rules: BlackjackRules, cards: str) -> None:
    """Harm: "back to before that card" is worth another thing than the cards that may come make of it."""
    agrees(dealt_to(rules, ranks(n5=1, n6=3, n9=4, T=6), cards))


@pytest.mark.parametrize("choice", ["hit", "double", "stand"])
def test_a_hand_whose_card_is_due_is_worth_what_every_card_makes_of_it(choice: str) -> None:
    """Harm: what was chosen is forgotten, and the seat is told the worth of choosing anew."""
    for rules in OPTIONS[:3]:
        state = dealt_to(rules, JACK, "3J8" if rules.hole != "peek" else "358")
        if isinstance(state.prompts[0], AskChoice) and state.prompts[0].seat == DEALER:
            state = play(GAMES["blackjack"], state, Choose(DEALER, NO_BLACKJACK))
        state = play(GAMES["blackjack"], state, Choose(1, choice))
        agrees(state)
        if choice == "hit":
            agrees(play(GAMES["blackjack"], state, Card(number("3"), 1)))


def test_a_dealer_who_draws_is_worth_what_every_card_makes_of_him() -> None:
    """Harm: the hole card lies there, and the numbers still reckon that it may be anything."""
    for hole in ("peek", "none"):
        state = dealt_to(BlackjackRules(decks=2, splits=0, hole=hole), JACK, "J58", Choose(1, "stand"))
        for sign in ("5", "3"):
            state = play(GAMES["blackjack"], state, Card(number(sign), DEALER))
            agrees(state)


@pytest.mark.parametrize("hole", ["peek", "none", "none_original"])
def test_split_aces_are_worth_what_every_card_makes_of_them(hole: Any) -> None:
    """Harm: both hands of a split, or the bets on them, are counted as one."""
    rules = BlackjackRules(decks=2, splits=1, hole=hole, insurance=False)
    for upcard in ("T", "9"):
        state = dealt_to(rules, TENS, f"A{upcard}A")
        if isinstance(state.prompts[0], AskChoice) and state.prompts[0].seat == DEALER:
            state = play(GAMES["blackjack"], state, Choose(DEALER, NO_BLACKJACK))
        agrees(state)
        state = play(GAMES["blackjack"], state, Choose(1, "split"))
        agrees(state)
        agrees(play(GAMES["blackjack"], state, Card(number("T"), 1)))


def test_insurance_and_first_card_wagers_are_worth_what_is_left() -> None:
    """Harm: insurance that was taken is told at the odds of a full shoe."""
    rules = BlackjackRules(decks=2, splits=0)
    state = dealt_to(rules, TENS, "9A6", Choose(1, "insure"))
    agrees(state)
    suits = BlackjackRules(decks=2, splits=0, spread=("perfect_pairs", "twenty_one_plus_three"))
    nine = STANDARD.number("9s")
    bets = [Bet(1, CENTS), Bet(1, CENTS, "perfect_pairs")]
    state = round_after("blackjack", suits, STANDARD.nothing, bets, Card(nine, 1))
    alone = round_after("blackjack", suits, STANDARD.nothing, bets[:1], Card(nine, 1))
    pair_plus = worth(state, "blackjack")[1] - worth(alone, "blackjack")[1]
    assert pair_plus == pytest.approx(CENTS * (25 * 1 + 12 * 2 + 6 * 4 - 96) / 103)


@pytest.mark.slow("values blackjack exactly")
def test_a_whole_round_of_blackjack_is_worth_what_the_chart_is_and_a_little_more() -> None:
    """Harm: the worth of a round that is dealt anew is far from the game's edge: best play from the composition is
    better than the best chart of totals, by some hundredths of a percent."""
    rules = BlackjackRules(decks=6, splits=1)
    state = round_after("blackjack", rules, BY_RANK.nothing, [Bet(1, 100_000)])
    by_chart = blackjack.solve(rules, BY_RANK.shoes[6]).mean
    assert 0 <= worth(state, "blackjack")[1] / 100_000 - by_chart < 0.0005


@pytest.mark.parametrize("hole", ["peek", "none", "none_original"])
def test_hands_agree_with_the_exact_solver(hole: Any) -> None:
    """Harm: two parts of the mathematics give the casino different values; or the advice for a hand is not the best for
    the remaining cards."""
    rules = BlackjackRules(decks=6, hole=hole)
    unseen = list(BY_RANK.shoes[6])
    for card in (6, 10, 2, 1, 1, 5):
        unseen[card - 1] -= 1
    for hand in ((10, 6), (1, 6), (5, 6), (2, 2, 8)):
        for upcard in (1, 6, 10):
            exact = blackjack.decide(rules, tuple(unseen), hand, upcard)
            values = tuple(min(card, 10) - 1 for card in hand)
            whole = [*unseen[:9], sum(unseen[9:])]
            for value in values:
                whole[value] += 1
            start = tuple(values.count(value) for value in range(10))
            of = blackjack_midround.solved(rules, min(upcard, 10) - 1, tuple(whole), start)
            place = blackjack_midround.place(values)
            safe = of.safe[place] if hole == "peek" else 1.0
            assert of.stand[place] / safe == pytest.approx(exact.stand, abs=1e-12)
            assert of.hit[place] / safe == pytest.approx(exact.hit, abs=1e-12)
            assert of.double[place] / safe == pytest.approx(exact.double, abs=1e-12)


@pytest.mark.parametrize("game", ["baccarat", "casino_war", "dragon_tiger", "blackjack"])
def test_a_shoe_that_may_run_out_in_the_round_is_told_nothing_of(game: str) -> None:
    """Harm: a number that reckons with cards that are shuffled in from the discards."""
    rules = GAMES[game].rules_type(decks=2)
    bets = [Bet(1, CENTS, GAMES[game].wagers(rules)[0].name)]
    with pytest.raises(Unknowable, match="it may come to a shuffle"):
        worth(round_after(game, rules, gone_but(ranks(n2=1), 2), bets), game)
