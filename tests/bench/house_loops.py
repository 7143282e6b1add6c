"""The five house-banked games on standard cards, each as a plain loop over one round: what somebody writes by hand.

Each takes the seats' bets (wager: cents), what draws the next card in the order of dealing, and what names the next
decision, and returns what each seat won. Rules are the tables' default ones. As in Rocket's loop nothing is checked or
kept: no bets, no turn, no cards that a shoe cannot hold, no way to resume, no words for what happened.
Cards are numbers: 1 to 13, ace to king, and where suits count 1 to 52, suit by suit.
"""

from collections.abc import Callable, Sequence

Bets = dict[str, int]
Draw = Callable[[], int]
Decide = Callable[[], str]
Loop = Callable[[Sequence[Bets], Draw, Decide], list[int]]

# --- baccarat -------------------------------------------------------------------------------------------------

POINTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 0, 0, 0)
THIRD = {3: (0, 1, 2, 3, 4, 5, 6, 7, 9), 4: (2, 3, 4, 5, 6, 7), 5: (4, 5, 6, 7), 6: (6, 7), 7: ()}


def baccarat(bets: Sequence[Bets], draw: Draw, decide: Decide) -> list[int]:
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
    nets = []
    for seat in bets:
        net = 0
        for bet, cents in seat.items():
            if bet == "player":
                net += cents if player > banker else -cents if player < banker else 0
            elif bet == "banker":
                net += cents * 19 // 20 if banker > player else -cents if banker < player else 0
            elif bet == "tie":
                net += 8 * cents if player == banker else -cents
            elif bet == "player_pair":
                net += 11 * cents if p1 == p2 else -cents
            else:
                net += 11 * cents if b1 == b2 else -cents
        nets.append(net)
    return nets


# --- dragon tiger ---------------------------------------------------------------------------------------------


def dragon_tiger(bets: Sequence[Bets], draw: Draw, decide: Decide) -> list[int]:
    dragon, tiger = draw(), draw()
    nets = []
    for seat in bets:
        net = 0
        for bet, cents in seat.items():
            if bet == "tie":
                net += 8 * cents if dragon == tiger else -cents
            elif dragon == tiger:
                net -= cents // 2
            elif bet == "dragon":
                net += cents if dragon > tiger else -cents
            else:
                net += cents if tiger > dragon else -cents
        nets.append(net)
    return nets


# --- casino war -----------------------------------------------------------------------------------------------


def casino_war(bets: Sequence[Bets], draw: Draw, decide: Decide) -> list[int]:
    cards = [draw() for _ in bets]
    dealer = draw()
    nets, at_war = [], []
    for seat, bet in enumerate(bets):
        net, main = 0, bet["main"]
        if "tie" in bet:
            net = 10 * bet["tie"] if cards[seat] == dealer else -bet["tie"]
        if cards[seat] == dealer:
            if decide() == "war":
                at_war.append(seat)
            else:
                net -= main // 2
        else:
            net += main if (cards[seat] - 2) % 13 > (dealer - 2) % 13 else -main
        nets.append(net)
    if at_war:
        second = [draw() for _ in at_war]
        dealer = draw()
        for seat, card in zip(at_war, second, strict=True):
            main = bets[seat]["main"]
            nets[seat] += main if (card - 2) % 13 >= (dealer - 2) % 13 else -2 * main
    return nets


# --- three card poker -----------------------------------------------------------------------------------------

PAIR_PLUS = (-1, 1, 4, 6, 30, 40)
ANTE_BONUS = (0, 0, 0, 1, 4, 5)


def three_card_poker(bets: Sequence[Bets], draw: Draw, decide: Decide) -> list[int]:
    hands = [_three_cards(draw(), draw(), draw()) for _ in bets]
    dealer = _three_cards(draw(), draw(), draw())
    qualifies = dealer >= (0, 12)
    nets = []
    for bet, hand in zip(bets, hands, strict=True):
        net, ante, pair_plus = 0, bet.get("ante", 0), bet.get("pair_plus", 0)
        if ante and decide() == "fold":
            nets.append(-ante - pair_plus)
            continue
        if ante:
            net = ante * ANTE_BONUS[hand[0]]
            if not qualifies:
                net += ante
            elif hand > dealer:
                net += 2 * ante
            elif hand < dealer:
                net -= 2 * ante
        if pair_plus:
            net += pair_plus * PAIR_PLUS[hand[0]]
        nets.append(net)
    return nets


def _three_cards(*cards: int) -> tuple[int, ...]:
    """Class (0 high card to 5 straight flush), then the ranks in the order in which they are compared."""
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


def blackjack(bets: Sequence[Bets], draw: Draw, decide: Decide) -> list[int]:
    firsts = [draw() for _ in bets]
    up = draw()
    hands = [[first, draw()] for first in firsts]
    dealer = [up, draw()]
    nets = [_perfect_pair(hand) * bet["perfect_pairs"] if "perfect_pairs" in bet else 0 for bet, hand in zip(bets, hands)]
    dealer_has_blackjack = _total(dealer) == 21
    if (up - 1) % 13 == 0:
        for seat, bet in enumerate(bets):
            if decide() == "insure":
                nets[seat] += bet["main"] // 2 * (2 if dealer_has_blackjack else -1)
    if dealer_has_blackjack:
        for seat, bet in enumerate(bets):
            if _total(hands[seat]) != 21:
                nets[seat] -= bet["main"]
        return nets
    standing = []
    for seat, bet in enumerate(bets):
        if _total(hands[seat]) == 21:
            nets[seat] += bet["main"] * 3 // 2
            continue
        for stake, points in _play(hands[seat], bet["main"], draw, decide):
            if points > 21:
                nets[seat] -= stake
            else:
                standing.append((seat, stake, points))
    if standing:
        while _total(dealer) < 17:
            dealer.append(draw())
    house = _total(dealer)
    for seat, stake, points in standing:
        if house > 21 or points > house:
            nets[seat] += stake
        elif points < house:
            nets[seat] -= stake
    return nets


def _play(hand: list[int], bet: int, draw: Draw, decide: Decide) -> list[tuple[int, int]]:
    """Stake and total of each of a seat's hands, as the seat decides."""
    results, hands, splits = [], [hand], 0
    while hands:
        hand, stake = hands.pop(), bet
        if len(hand) == 1:
            hand.append(draw())
        while (points := _total(hand)) < 21:
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
                points = _total(hand)
                break
        results.append((stake, points))
    return results


def _total(hand: list[int]) -> int:
    points = ace = 0
    for card in hand:
        rank = (card - 1) % 13 + 1
        points += rank if rank < 10 else 10
        ace = ace or rank == 1
    return points + 10 if ace and points <= 11 else points


def _perfect_pair(hand: list[int]) -> int:
    first, second = hand
    if (first - second) % 13:
        return -1
    if first == second:
        return 25
    return 12 if ((first - 1) // 13 in (1, 2)) == ((second - 1) // 13 in (1, 2)) else 6


LOOPS: dict[str, Loop] = {
    loop.__name__: loop for loop in (baccarat, dragon_tiger, casino_war, three_card_poker, blackjack)
}
