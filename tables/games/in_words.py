"""Each game in the words of its placard: a short description for a guest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

HOW_IT_GOES: Final[Mapping[str, str]] = {
    "baccarat": "Bet on the player's hand, the banker's hand, or a tie. Two or three cards each by fixed rules; the"
    " hand nearer to 9 wins. Tens and pictures count nothing. Nobody decides anything.",
    "blackjack": "Come nearer to 21 than the dealer without going over. Pictures count 10, an ace 1 or 11. An ace"
    " with a card of ten is a blackjack. The dealer draws to 17.",
    "blackstone": "Everybody puts in an ante. Take cards as long as you dare: a 10 is a black stone, and a second"
    " one costs you.",
    "casino_war": "Your card against the dealer's, and the higher one wins. On a tie go to war with a second bet,"
    " or give half of the first away.",
    "dragon_tiger": "One card to the dragon and one to the tiger; the higher one wins. Bet on either, or on a tie,"
    " which costs dragon and tiger half of their bets.",
    "five_cards": "Two players with five columns each. Every card that you draw has to fit somewhere.",
    "goblin_poker": "Everybody throws a card into the middle, and chance deals them back. The best that comes of it"
    " takes the pot.",
    "hawthorn": "Rounds from the deck and rounds from a hand of five take turns. Fold when you like; whoever stays"
    " in last takes the pot.",
    "kitty": "Bid facedown: only the highest bid that nobody matches counts.",
    "monster": "What the players throw away makes a hand, the monster. The best of the players has to beat it.",
    "pairs": "Take a card or fold. A pair, or folding, costs points, and whoever collects too many first loses."
    " Nobody else does.",
    "port": "Take cards for a total, then lock it before a pair spoils it. Points go to totals that are not beaten.",
    "regent": "Play cards facedown, bluff about them, and look at others' when it is worth it.",
    "rocket": "You and the dealer get a card each from a deck with one 1, two 2s, and so on to ten 10s. Fold, or"
    " hit until you pair. Then the dealer hits until a pair, or a 3, which ends it.",
    "starboard": "One hand lies in the middle and belongs to nobody. Say how long you go with it: as long as it"
    " does not pair you win by it.",
    "sweep": "Capture cards from the middle. Whoever has most of a rank takes it.",
    "three_card_poker": "Three cards for you, three for the dealer. After you saw yours, fold, or play by another"
    " bet as large as the ante. The dealer plays with a queen or better. Pair plus is on your"
    " hand alone.",
    "troll_guts": "Five facedown cards lie in a fixed order, and everybody may reach for them. Pairs cost.",
    "venture": "Bids are cannons that fire from low to high; two of a kind jam each other.",
}
"""Description by name of the game."""

OF_THE_SHOE: Final = frozenset({"burn", "reshuffle_at", "rounding", "start"})
"""Options of the dealer's procedure, which are not on a placard."""
OF_THE_PAYS: Final = frozenset({"spread", "pays", "tie_pays", "super_6_pays", "pair_plus_pays", "ante_bonus"})
"""Options that choose odds: a placard shows the resulting lines."""
