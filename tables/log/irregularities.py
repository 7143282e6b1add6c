"""Irregularities at a table, as data: what the dealer does, says and calls, what happens to bets and cards, and the
resulting actions.

Where jurisdictions differ, these are the defaults, which the casino's own procedures may replace. ``source`` names the
source of a procedure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from tables.games.protocol import Choice

NOBODY: Final = "nobody"
FLOOR: Final = "a pit boss"
FLOOR_AND_SURVEILLANCE: Final = "a pit boss and surveillance"

ActName = Literal[
    "set_aside", "burn", "take_back", "void", "retire", "correct", "abandon", "accept_bet", "lock", "play_on", "give_up"
]

ACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "set_aside": "Set the card aside",
        "burn": "Burn a card",
        "take_back": "Take back",
        "void": "Void the round",
        "retire": "Retire the shoe",
        "correct": "Open a dispute",
        "abandon": "Abandon the table",
        "accept_bet": "The bet stands",
        "lock": "Lock the rack",
        "play_on": "The wager stands",
        "give_up": "The hand is given up",
    }
)
"""The actions that an irregularity may lead to, with the labels of their buttons."""

REASONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "misdeal": "Misdeal",
        "dead_hand": "Dead hand",
        "evacuation": "Evacuation",
        "fire": "Fire",
        "power": "Power failure",
        "equipment": "Equipment failure",
        "shoe_wrong": "The shoe was found wrong",
        "ruling": "A dispute was ruled void",
    }
)
"""The reasons for ending a round without a result."""

RULING: Final = "ruling"
VOIDING: Final = tuple(name for name in REASONS if name != RULING)
"""The reasons for voiding a round at the table. Rulings on disputes are entered with the dispute."""

LEAVING: Final = ("evacuation", "fire", "power")
"""The reasons for abandoning a table."""

PLAYER_LEFT: Final = "player_left"
RULINGS: Final = ("play_on", "give_up")
"""Rulings on the hand of a player who left."""
GIVES_UP: Final = ("fold", "surrender")
"""Choices by which a seat loses a part of its wager at once."""


def choice_of(ruling: str, choices: Iterable[Choice]) -> str:
    """The choice that carries out a ruling on the hand of a player who left; empty where there is none. If the wager
    stands, that is a choice that adds no chips, gives nothing up and, if possible, takes no card."""
    if ruling == "give_up":
        return next((choice.name for choice in choices if choice.name in GIVES_UP), "")
    free = [choice for choice in choices if not (choice.cost_cents or choice.names_things or choice.name in GIVES_UP)]
    return min(free, key=lambda choice: choice.draws).name if free else ""


SPOILED: Final = frozenset({"shoe_wrong"})
"""The reasons after which the contents of the shoe are unknown."""


@dataclass(frozen=True, slots=True)
class Mishap:
    """One irregularity and its procedure."""

    name: str
    title: str
    does: tuple[str, ...]
    """The steps of the dealer."""
    says: str
    calls: str
    """The people to call."""
    bets: str
    cards: str
    source: str
    acts: tuple[ActName, ...] = ()
    reason: str = ""
    """The reason of `REASONS`, if it leads to a void."""
    alerts: bool = False
    """Whether recording it alerts the pit at once."""


_SD: Final = "South Dakota 20:18:15:28"
_LA: Final = "Louisiana 42:III-3106"
_HOUSE: Final = "house procedure"


def _catalog(*mishaps: Mishap) -> Mapping[str, Mishap]:
    return MappingProxyType({mishap.name: mishap for mishap in mishaps})


MISHAPS: Final = _catalog(
    Mishap(
        "exposed_card",
        "Exposed card",
        ("Stop. Leave all cards and bets where they lie.", "Show the card to the table, then discard it.", "Deal on."),
        "Card exposed. It is out of play.",
        NOBODY,
        "All bets stand.",
        "The card is set aside, named if it was seen, and is a discard from then on.",
        _SD,
        ("set_aside", "void"),
        "misdeal",
    ),
    Mishap(
        "too_many_cards",
        "One card too many",
        (
            "Stop before the next card.",
            "A surplus card that nobody saw is not returned to the shoe.",
            "Set it aside, turned, and deal on; if nobody can say which card it was, call the pit.",
        ),
        "One card too many. The pit is called.",
        FLOOR,
        "All bets stand, unless the pit boss voids the round.",
        "The surplus card is set aside. Cards already keyed stand.",
        _SD,
        ("set_aside", "take_back", "void"),
        "misdeal",
        alerts=True,
    ),
    Mishap(
        "too_few_cards",
        "A card too few",
        ("Stop.", "Complete the hand with the next card of the shoe, in its turn.", "Never move a card that lies."),
        "A card is missing. It is dealt now.",
        FLOOR,
        "All bets stand.",
        "The next card completes the hand. Moving cards back is a fault of its own.",
        _SD,
        ("take_back", "void"),
        "misdeal",
        alerts=True,
    ),
    Mishap(
        "boxed_card",
        "Boxed card",
        ("A card lies face up in the shoe.", "Show it to the table and discard it.", "Deal the next card instead."),
        "Boxed card. It is out of play.",
        NOBODY,
        "All bets stand.",
        "The card is set aside, named.",
        _SD,
        ("set_aside",),
    ),
    Mishap(
        "misdeal",
        "Misdeal",
        ("Stop, hands off the cards.", "Call the pit.", "The pit boss decides: play on, or void the round."),
        "Misdeal. The pit is called.",
        FLOOR,
        "If the round is void, every bet goes back in its entirety.",
        "Cards that were dealt are out of the shoe.",
        _HOUSE,
        ("take_back", "void"),
        "misdeal",
        alerts=True,
    ),
    Mishap(
        "wrong_seat",
        "Wrong seat dealt",
        (
            "Stop. Leave the card where it lies.",
            "Call the pit.",
            "If no further card was dealt, the key is taken back and the card moved under the pit boss's eyes; or the"
            " round is void.",
        ),
        "Wrong seat. The pit is called.",
        FLOOR,
        "All bets stand until the pit boss rules.",
        "No card goes back into the shoe.",
        _SD,
        ("take_back", "set_aside", "void"),
        "misdeal",
        alerts=True,
    ),
    Mishap(
        "burn_at_relief",
        "Burn at relief",
        ("Between two rounds, after the relief has signed in:", "burn one card, face down."),
        "Burning one card.",
        NOBODY,
        "No bet is touched.",
        "One more card is out, unseen. It counts as burned.",
        _LA,
        ("burn",),
    ),
    Mishap(
        "card_on_the_floor",
        "Card on the floor",
        (
            "Stop. Do not pick it up yourself.",
            "The pit boss takes it up, checks back and edges, and names it.",
            "A card of play goes back where it lay; a card of the shoe is set aside.",
        ),
        "Card on the floor. The pit is called.",
        FLOOR_AND_SURVEILLANCE,
        "All bets stand.",
        "The card is set aside; if it is damaged or cannot be named, the shoe goes after this round.",
        _HOUSE,
        ("set_aside", "void"),
        "misdeal",
        alerts=True,
    ),
    Mishap(
        "wrong_shoe",
        "Wrong shoe",
        ("Stop.", "Nobody touches the shoe.", "Call the pit: the round is void and the shoe goes with it."),
        "The shoe is checked. The pit is called.",
        FLOOR_AND_SURVEILLANCE,
        "If the round is void, every bet goes back in its entirety. Rounds before it stand until they are disputed.",
        "What the shoe holds is unknown: it is retired at once, and kept for its check.",
        _HOUSE,
        ("void", "retire"),
        "shoe_wrong",
        alerts=True,
    ),
    Mishap(
        "paid_wrongly",
        "Paid wrongly",
        (
            "Stop paying. Leave chips and cards.",
            "A wrong key is taken back; chips that went to the wrong place are put right in front of the player.",
            "If the player has left with them, open a dispute.",
        ),
        "One moment, please. I have to put a payment right.",
        FLOOR,
        "Each bet is paid or lost as its cards say.",
        "No card is touched.",
        _HOUSE,
        ("take_back", "correct"),
        alerts=True,
    ),
    Mishap(
        "over_limit",
        "Bet over the limit",
        (
            "Seen before the cards: push back what is over the limit, and tell the player why.",
            "Accepted, and seen only now: it stands. Call the pit boss, who signs for it.",
            "Enter the bet as it lies, then go on.",
        ),
        "This bet is over the limit. It was accepted, and it stands.",
        FLOOR,
        "An accepted bet is paid or lost in its entirety.",
        "No card is touched.",
        _HOUSE,
        ("accept_bet",),
    ),
    Mishap(
        PLAYER_LEFT,
        "Player left in mid-round",
        (
            "Deal on to the other seats. Leave the player's cards and chips where they lie.",
            "When the seat has to decide, call the pit boss. Do not decide for the player.",
            "The pit boss rules: the wager stands, or the hand is given up.",
        ),
        "The player has left. The pit boss rules on the hand.",
        FLOOR,
        "The wager stands, and no chips are added to it. Only a pit boss gives a hand up.",
        "A hand that may stand takes no more cards. One that has to fold or take a card, as in Rocket, takes the card.",
        _HOUSE,
        ("play_on", "give_up", "void"),
        "equipment",
        alerts=True,
    ),
    Mishap(
        "dead_hand",
        "Dead hand",
        ("Stop. The hand cannot be finished.", "Call the pit.", "Every bet goes back; the cards are discarded."),
        "Dead hand. All bets go back.",
        FLOOR,
        "Every bet goes back in its entirety; what was paid in this round is returned.",
        "Cards that were dealt are out of the shoe.",
        _SD,
        ("void",),
        "dead_hand",
        alerts=True,
    ),
    Mishap(
        "void",
        "The round is void",
        ("Hands off.", "The pit boss signs and says why.", "Push every bet back, take back what was paid."),
        "The round is void. All bets go back.",
        FLOOR,
        "Every bet goes back in its entirety; what was paid in this round is returned.",
        "Cards that were dealt are out of the shoe; or the shoe is retired.",
        _HOUSE,
        ("void",),
        "equipment",
        alerts=True,
    ),
    Mishap(
        "abandoned",
        "Evacuation, fire, power",
        (
            "People first: lock the rack if there is time, and leave.",
            "The pit boss abandons the table in one act, here or on the floor's page, now or afterwards.",
            "Later: unlock with two people, count, close; or sign in, load a new shoe and deal on.",
        ),
        "Please leave your bets and go to the exit.",
        FLOOR_AND_SURVEILLANCE,
        "The open round is void: every bet goes back to its player when the table is entered again.",
        "The shoe is retired. Chips stay where they are, and the rack is locked until two people unlock or count it.",
        _HOUSE,
        ("lock", "abandon"),
        "evacuation",
        alerts=True,
    ),
)
"""Every irregularity, in the order of the dealer's list."""
