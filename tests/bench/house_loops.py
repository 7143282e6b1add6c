"""The five house-banked games on standard cards, each as a plain loop over one round: what somebody writes by hand.

Each takes the bets as they are placed, what draws the next card in the order of dealing, and what names the next
decision, and returns of each seat what became of its wagers. The rules are the default ones. Cards are counted as they
are drawn; apart from that nothing is checked or kept, as in Rocket's loop: no limits, no turn, no way to resume, no
words for what happened. Cards are numbers: 1 to 13, ace to king, and where suits count 1 to 52, suit by suit.
"""

from collections.abc import Callable, Sequence

Bets = Sequence[tuple[int, str, int]]
"""Seat, wager and cents, as they are placed."""
Draw = Callable[[], int]
Decide = Callable[[], str]
Wagers = list[tuple[str, int, int, str]]
"""Of each wager: its name, what was staked, what goes back, and the outcome."""
Loop = Callable[[Bets, Draw, Decide], list[Wagers]]


def counting(cards: Sequence[int], shoe: Sequence[int]) -> Draw:
    """What draws the cards, and refuses one that the shoe cannot hold any more."""
    unseen, following = [0, *shoe], iter(cards)

    def draw() -> int:
        card = next(following)
        if not unseen[card]:
            raise ValueError(card)
        unseen[card] -= 1
        return card

    return draw


def by_seat(bets: Bets) -> list[dict[str, int]]:
    """The wagers of each seat; one that is placed again is replaced."""
    seats: dict[int, dict[str, int]] = {}
    for seat, wager, cents in bets:
        if seat in seats:
            seats[seat][wager] = cents
        else:
            seats[seat] = {wager: cents}
    return list(seats.values())


def outcome(won: int) -> str:
    return "win" if won > 0 else "lose" if won < 0 else "push"


# --- baccarat -------------------------------------------------------------------------------------------------

POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0)
THIRD = {3: (0, 1, 2, 3, 4, 5, 6, 7, 9), 4: (2, 3, 4, 5, 6, 7), 5: (4, 5, 6, 7), 6: (6, 7), 7: ()}


def baccarat(bets: Bets, draw: Draw, decide: Decide) -> list[Wagers]:
    p1, b1, p2, b2 = draw(), draw(), draw(), draw()
    player, banker = (POINTS[p1] + POINTS[p2]) % 10, (POINTS[b1] + POINTS[b2]) % 10
    if player < 8 and banker < 8:
        if player <= 5:
            third = POINTS[draw()]
            player = (player + third) % 10
            draws = banker <= 2 or third in THIRD[banker]
        else:
            draws = banker <= 5
        if draws:
            banker = (banker + POINTS[draw()]) % 10
    results = []
    for seat in by_seat(bets):
        wagers = []
        for bet, cents in seat.items():
            if bet == "player":
                won = cents if player > banker else -cents if player < banker else 0
            elif bet == "banker":
                won = cents * 19 // 20 if banker > player else -cents if banker < player else 0
            elif bet == "tie":
                won = 8 * cents if player == banker else -cents
            elif bet == "player_pair":
                won = 11 * cents if p1 == p2 else -cents
            else:
                won = 11 * cents if b1 == b2 else -cents
            wagers.append((bet, cents, cents + won, outcome(won)))
        results.append(wagers)
    return results


# --- dragon tiger ---------------------------------------------------------------------------------------------


def dragon_tiger(bets: Bets, draw: Draw, decide: Decide) -> list[Wagers]:
    dragon, tiger = draw(), draw()
    results = []
    for seat in by_seat(bets):
        wagers = []
        for bet, cents in seat.items():
            if bet == "tie":
                won = 8 * cents if dragon == tiger else -cents
            elif dragon == tiger:
                wagers.append((bet, cents, cents - cents // 2, "half"))
                continue
            elif bet == "dragon":
                won = cents if dragon > tiger else -cents
            else:
                won = cents if tiger > dragon else -cents
            wagers.append((bet, cents, cents + won, outcome(won)))
        results.append(wagers)
    return results


# --- casino war -----------------------------------------------------------------------------------------------


def casino_war(bets: Bets, draw: Draw, decide: Decide) -> list[Wagers]:
    seats = by_seat(bets)
    cards = [draw() for _ in seats]
    dealer = draw()
    results, at_war = [], []
    for seat, bet in enumerate(seats):
        main, wagers = bet["main"], []
        if "tie" in bet:
            tie = bet["tie"]
            wagers.append(("tie", tie, 11 * tie, "win") if cards[seat] == dealer else ("tie", tie, 0, "lose"))
        if cards[seat] == dealer:
            if decide() == "war":
                at_war.append(seat)
            else:
                wagers.append(("main", main, main - main // 2, "surrender"))
        elif (cards[seat] - 2) % 13 > (dealer - 2) % 13:
            wagers.append(("main", main, 2 * main, "win"))
        else:
            wagers.append(("main", main, 0, "lose"))
        results.append(wagers)
    if at_war:
        second = [draw() for _ in at_war]
        dealer = draw()
        for seat, card in zip(at_war, second, strict=True):
            main = seats[seat]["main"]
            if (card - 2) % 13 >= (dealer - 2) % 13:
                results[seat] += [("main", main, main, "push"), ("raise", main, 2 * main, "win")]
            else:
                results[seat] += [("main", main, 0, "lose"), ("raise", main, 0, "lose")]
    return results


# --- three card poker -----------------------------------------------------------------------------------------

PAIR_PLUS = (-1, 1, 4, 6, 30, 40)
ANTE_BONUS = (0, 0, 0, 1, 4, 5)


def three_card_poker(bets: Bets, draw: Draw, decide: Decide) -> list[Wagers]:
    seats = by_seat(bets)
    hands = [three_cards(draw(), draw(), draw()) for _ in seats]
    dealer = three_cards(draw(), draw(), draw())
    results = []
    for bet, hand in zip(seats, hands, strict=True):
        ante, pair_plus = bet.get("ante", 0), bet.get("pair_plus", 0)
        folds = ante and decide() == "fold"
        wagers: Wagers = []
        if folds:
            wagers.append(("ante", ante, 0, "fold"))
        elif ante:
            bonus = ante * ANTE_BONUS[hand[0]]
            if dealer < (0, 12):  # does not qualify
                wagers += [("ante", ante, 2 * ante + bonus, "win"), ("play", ante, ante, "push")]
            elif hand == dealer:
                wagers += [("ante", ante, ante + bonus, "push"), ("play", ante, ante, "push")]
            elif hand > dealer:
                wagers += [("ante", ante, 2 * ante + bonus, "win"), ("play", ante, 2 * ante, "win")]
            else:
                wagers += [("ante", ante, bonus, "lose"), ("play", ante, 0, "lose")]
        if pair_plus:
            won = -pair_plus if folds else pair_plus * PAIR_PLUS[hand[0]]
            wagers.append(("pair_plus", pair_plus, pair_plus + won, outcome(won)))
        results.append(wagers)
    return results


def three_cards(*cards: int) -> tuple[int, ...]:
    """The class (0 high card to 5 straight flush), then the ranks in the order in which they are compared."""
    low, mid, high = sorted([(card - 2) % 13 + 2 for card in cards])
    flush = (cards[0] - 1) // 13 == (cards[1] - 1) // 13 == (cards[2] - 1) // 13
    if (low, mid, high) == (2, 3, 14):
        return 5 if flush else 3, 3
    if low == high:
        return 4, high
    if low + 1 == mid == high - 1:
        return 5 if flush else 3, high
    if flush:
        return 2, high, mid, low
    if low == mid:
        return 1, mid, high
    if mid == high:
        return 1, mid, low
    return 0, high, mid, low


# --- blackjack ------------------------------------------------------------------------------------------------


def blackjack(bets: Bets, draw: Draw, decide: Decide) -> list[Wagers]:
    seats = by_seat(bets)
    firsts = [draw() for _ in seats]
    up = draw()
    hands = [[first_card, draw()] for first_card in firsts]
    dealer = [up, draw()]
    results: list[Wagers] = [[] for _ in seats]
    for bet, hand, wagers in zip(seats, hands, results, strict=True):
        if "perfect_pairs" in bet:
            cents, pays = bet["perfect_pairs"], perfect_pair(hand)
            wagers.append(("perfect_pairs", cents, cents + pays * cents, outcome(pays)))
    dealer_has_blackjack = total(dealer) == 21
    if (up - 1) % 13 == 0:
        for bet, wagers in zip(seats, results, strict=True):
            if decide() == "insure":
                cents = bet["main"] // 2
                wagers.append(
                    ("insurance", cents, 3 * cents, "win") if dealer_has_blackjack else ("insurance", cents, 0, "lose")
                )
    standing = []
    for bet, hand, wagers in zip(seats, hands, results, strict=True):
        main = bet["main"]
        if total(hand) == 21:
            wagers.append(
                ("main", main, main, "push")
                if dealer_has_blackjack
                else ("main", main, main + main * 3 // 2, "blackjack")
            )
        elif dealer_has_blackjack:
            wagers.append(("main", main, 0, "lose"))
        else:
            for stake, points in played(hand, main, draw, decide):
                if points > 21:
                    wagers.append(("main", stake, 0, "bust"))
                else:
                    standing.append((wagers, stake, points))
    if standing:
        while total(dealer) < 17:
            dealer.append(draw())
    house = total(dealer)
    for wagers, stake, points in standing:
        if house > 21 or points > house:
            wagers.append(("main", stake, 2 * stake, "win"))
        elif points < house:
            wagers.append(("main", stake, 0, "lose"))
        else:
            wagers.append(("main", stake, stake, "push"))
    return results


def played(hand: list[int], bet: int, draw: Draw, decide: Decide) -> list[tuple[int, int]]:
    """Stake and total of each of a seat's hands, as the seat decides."""
    results, hands, splits = [], [hand], 0
    while hands:
        hand, stake = hands.pop(), bet
        if len(hand) == 1:
            hand.append(draw())
        while (points := total(hand)) < 21:
            if splits and (hand[0] - 1) % 13 == 0:  # split aces get one card
                break
            choice = decide()
            if choice == "stand":
                break
            if choice == "split":
                splits += 1
                hands.append([hand.pop()])
                hand.append(draw())
                continue
            hand.append(draw())
            if choice == "double":
                stake *= 2
                points = total(hand)
                break
        results.append((stake, points))
    return results


def total(hand: Sequence[int]) -> int:
    points, has_ace = 0, False
    for card in hand:
        rank = (card - 1) % 13 + 1
        points += min(rank, 10)
        has_ace = has_ace or rank == 1
    return points + 10 if has_ace and points <= 11 else points


def perfect_pair(hand: Sequence[int]) -> int:
    left_card, right_card = hand
    if (left_card - right_card) % 13:
        return -1
    if left_card == right_card:
        return 25
    return 12 if ((left_card - 1) // 13 in (1, 2)) == ((right_card - 1) // 13 in (1, 2)) else 6


LOOPS: dict[str, Loop] = {
    loop.__name__: loop for loop in (baccarat, dragon_tiger, casino_war, three_card_poker, blackjack)
}
