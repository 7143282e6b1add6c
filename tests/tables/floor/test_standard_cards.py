"""The banked games on standard cards at real tables: keyed and from house shoes, paid in transfers, and proved."""

import json
import random
from contextlib import suppress
from typing import Any

import pytest

from ledger.models import Account, Alert, LogEntry, Transfer
from tables.games.baccarat import Baccarat
from tables.games.cards import pack_of
from tables.games.catalog import GAMES
from tables.games.protocol import DEALER, AskBet, AskCard, AskChoice, AskShuffle
from tables.games.record import judge, record_of
from tables.log.terms import Settings
from tables.models import HouseShoe
from tables.refusals import Refused
from tables.reports import entry_list
from tables.roles import Role
from tables.setup import table_settings
from tests.floor import Hand, dealt, dealt_by, staff
from tests.tables.floor.acts import refusal, verify

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

GAMES_ON_STANDARD_CARDS = [name for name, game in GAMES.items() if game.spots]
OPTIONS: dict[str, dict[str, Any]] = {
    "baccarat": {},
    "blackjack": {"spread": ["perfect_pairs", "twenty_one_plus_three"], "surrender": "late", "decks": 2},
    "casino_war": {"decks": 1},
    "dragon_tiger": {"spread": ["tie", "suited_tie"]},
    "three_card_poker": {},
}


def at_table(game: str, source: str) -> Hand:
    dealer, _ = dealt(name="Table 1", game=game, source=source, options=OPTIONS[game], seats=3)
    return dealer


def place_bets(dealer: Hand, chance: random.Random) -> None:
    """Some wagers of each seat; at least one at the table."""
    while True:
        for ask in [ask for ask in dealer.board.prompts if isinstance(ask, AskBet)]:
            if chance.random() < 0.6:
                with suppress(Refused):  # the other side, or a side bet before the bet that it goes with
                    dealer("bet", seat=ask.seat, amount_cents=1_000 * chance.randint(1, 3), wager=ask.wager)
        if "Enter" in {button.hotkey for button in dealer.board.buttons}:
            dealer("close_bets")
            return


def play_round(dealer: Hand, chance: random.Random) -> None:
    """From the bets to the last payment, whatever is asked; real cards come by chance, as the shoe may hold them."""
    place_bets(dealer, chance)
    while not dealer.board.pay and dealer.now.round_open:
        ask, *further = dealer.board.prompts
        if dealer.board.due == "deal":
            dealer("deal")
        elif isinstance(ask, AskCard):
            key_card(dealer, ask, chance)
        elif isinstance(ask, AskShuffle):
            dealer("shuffle")
        elif isinstance(ask, AskChoice) and ask.seat == DEALER and chance.random() < 0.4:
            key_card(dealer, next(turn for turn in further if isinstance(turn, AskCard)), chance)
        else:
            assert isinstance(ask, AskChoice)
            dealer("choose", seat=ask.seat, choice=chance.choice(ask.choices).name)
    dealer.pay()


def key_card(dealer: Hand, ask: AskCard, chance: random.Random) -> None:
    name = pack_of(ask.gone).spell(chance.choice(ask.may_come))
    if isinstance(name, int):
        dealer("card", rank=name)
    else:
        dealer("standard_card", card=name)


def ready(dealer: Hand) -> None:
    if dealer.board.due != "bets":
        dealer.ready_shoe()


@pytest.mark.parametrize("source", ["keyed", "house"])
@pytest.mark.parametrize("game", GAMES_ON_STANDARD_CARDS)
def test_rounds_are_dealt_paid_and_proved(game: str, source: str) -> None:
    """Harm: a game is dealt whose chips no proof can follow; or a dispute about a side bet finds only one sum for all
    bets of a seat."""
    dealer, chance = at_table(game, source), random.Random(f"{game} {source}")
    for number in range(1, 5):
        ready(dealer)
        play_round(dealer, chance)
        current = dealer.now.round
        assert current is not None
        actions = [action for play in current.plays for action in play.actions]
        answer = judge(json.dumps(record_of(current.game, current.rules, current.opening, actions)))
        assert answer["complete"]
        assert answer["house_net"] == current.house_net_cents
        if number == 1:
            assert all(spots(dealer, payout.seat) == stakes(payout) for payout in current.house_payouts)
    if source == "house":
        dealer("retire_shoe")
    verify(dealer.table)


def spots(dealer: Hand, seat: int) -> list[tuple[str, int]]:
    """The wagers and cents of all stakes of a seat, by the ledger."""
    stakes = Transfer.objects.filter(book_id=dealer.table.book_id, target__seat=seat, kind="stake")
    return sorted(stakes.values_list("target__wager", "amount_cents"))


def stakes(payout: Any) -> list[tuple[str, int]]:
    """The wagers and cents that a seat put up, by its payout."""
    return sorted(part for wager in payout.wagers for part in wager.put_up)


def test_a_card_that_lies_facedown_is_nowhere_before_it_is_turned() -> None:
    """Harm: whoever can read a page, an answer or the log knows the hole card, and plays by it."""
    dealer = at_table("blackjack", "house")
    while True:
        place_bets(dealer, random.Random(1))
        dealer("deal")
        if dealer.board.due == "choose":
            break
        play_out(dealer)
    hole = bytes(HouseShoe.objects.latest("pk").order)[1 + 2 * len(dealer.now.round.dealt_in) + 1]
    bodies = LogEntry.objects.filter(book_id=dealer.table.book_id, round=dealer.now.round.number)
    shown = [card for entry in bodies for card in entry.content.get("actions", ()) if card["do"] == "card"]
    assert len(shown) == 2 * len(dealer.now.round.dealt_in) + 1
    assert dealer.board.hands[0].facedown == 1
    assert len(dealer.board.hands[0].cards) == 1
    assert hole  # it is there, in the one table that no screen reads


def test_a_house_shoe_says_itself_whether_the_dealer_has_a_blackjack() -> None:
    """Harm: a program denies the dealer's blackjack, the seats play on, and the hole card can never be turned."""
    dealer = at_table("blackjack", "house")
    while True:
        place_bets(dealer, random.Random(1))
        dealer("deal")
        if isinstance(ask := dealer.board.prompts[0], AskChoice) and ask.seat == DEALER:
            break
        play_out(dealer)
    assert refusal(dealer, "choose", seat=DEALER, choice="no_blackjack").code == "house_shoe"
    dealer("deal")


def play_out(dealer: Hand) -> None:
    while not dealer.board.pay and dealer.now.round_open:
        ask = dealer.board.prompts[0]
        if dealer.board.due == "deal":
            dealer("deal")
        else:
            assert isinstance(ask, AskChoice)
            names = {choice.name for choice in ask.choices}
            dealer("choose", seat=ask.seat, choice="decline" if "decline" in names else "stand")
    dealer.pay()
    ready(dealer)


BETS = {"tie": 2_000, "banker": 1_000}


@pytest.fixture
def baccarat() -> Hand:
    return at_table("baccarat", "keyed")


def test_several_bets_are_placed_at_once_or_not_at_all_and_can_be_repeated(baccarat: Hand) -> None:
    """Harm: half of "same bets" is on the layout while the dealer believes all of it is; or it offers a double or a
    split as if it had been placed before the cards."""
    bets = [{"do": "bet", "seat": 2, "amount_cents": cents, "wager": wager} for wager, cents in BETS.items()]
    opposite = {"do": "bet", "seat": 2, "amount_cents": 1_000, "wager": "player"}
    assert "opposite sides" in refusal(baccarat, "bets", bets=[*bets, opposite]).sentence
    assert not baccarat.now.round_open
    baccarat("bets", bets=bets)
    assert {spot.wager: spot.cents for spot in baccarat.board.seats[1].spots if spot.cents} == BETS
    baccarat("close_bets")
    baccarat.cards(*"2K78")
    baccarat.pay()
    assert {spot.wager: spot.last_cents for spot in baccarat.board.seats[1].spots if spot.last_cents} == BETS
    baccarat("bet", seat=1, amount_cents=1_000, wager="player")
    assert {spot.wager: spot.last_cents for spot in baccarat.board.seats[1].spots if spot.last_cents} == BETS


def test_the_first_card_of_a_shoe_says_how_many_are_burned(baccarat: Hand) -> None:
    """Harm: the screen counts another shoe than lies on the table."""
    shoe = baccarat.now.shoe
    assert shoe is not None
    assert (shoe.burn, shoe.turned) == (2, 1)
    current = baccarat.board.shoe
    assert current is not None
    assert current.cards_left == 8 * 52 - 2


BONUSES = ("dragon_bonus_player", "dragon_bonus_banker")


def test_a_table_of_an_earlier_release_gets_places_for_a_new_side_bet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: a table is set to spread a side bet of a later release, and its first bet on it is a server error."""
    with monkeypatch.context() as earlier:
        earlier.setattr(Baccarat, "spots", tuple(name for name in Baccarat.spots if name not in BONUSES))
        dealer = dealt_by(staff(Role.DEALER, "dora", "101"), game="baccarat", options={}, seats=3)
        play_round(dealer, random.Random(1))
    places = Account.objects.filter(book_id=dealer.table.book_id, wager__in=BONUSES)
    assert not places.exists()
    operator = staff(Role.OPERATOR, "olga")
    table_settings.change_table(dealer.table, {"options": {"spread": list(BONUSES)}}, by=operator)
    assert places.count() == 3 * len(BONUSES)
    for wager in BONUSES:
        dealer("bet", seat=2, amount_cents=1_000, wager=wager)
    dealer("close_bets")
    dealer.cards("7", "5", "T", "T", "5")
    dealer.pay()
    current = dealer.now.round
    assert current is not None
    (payout,) = current.house_payouts
    assert [current.game.explain(wager) for wager in payout.wagers] == [
        "player wins by 7 without a natural, pays 6 to 1",
        "player 7 to 0",
    ]
    assert payout.net_cents == 6_000 - 1_000
    verify(dealer.table)


def test_a_wager_may_have_limits_of_its_own() -> None:
    """Harm: the most on a side bet that pays 40 to 1 is the most on an even bet."""
    limits = {"tie": [500, 2_000]}
    dealer, _ = dealt(name="Table 1", game="baccarat", source="keyed", options={}, seats=3, wager_limits=limits)
    assert "over the maximum of 20" in refusal(dealer, "bet", seat=1, amount_cents=2_100, wager="tie").sentence
    dealer("bet", seat=1, amount_cents=500, wager="tie")
    assert "under the minimum of 10" in refusal(dealer, "bet", seat=1, amount_cents=500, wager="player").sentence
    dealer("close_bets")
    verify(dealer.table)


def settings_for(game: str, **changes: Any) -> Settings:
    """The settings of a table from 1 to 10."""
    money = {"unit_cents": 100, "min_cents": 100, "max_cents": 1_000, "denominations": (100,)}
    return Settings(game=game, options={}, **money | changes)


@pytest.mark.parametrize(
    ("limits", "sentence"),
    [
        ({"double": (100, 200)}, "has no wager double"),
        ({"perfect_pairs": (200, 100)}, "the lower one first"),
        ({"perfect_pairs": (150, 1_000)}, "multiples of"),
    ],
)
def test_limits_of_a_wager_that_cannot_be_are_refused(limits: dict[str, tuple[int, int]], sentence: str) -> None:
    """Harm: an operator believes that a limit holds which no prompt asks for."""
    assert sentence in table_settings.faults(settings_for("blackjack", wager_limits=limits))["wager_limits"]


# --- machines that shuffle -------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["baccarat", "rocket"])
def test_a_machine_that_shuffles_all_the_time_deals_each_round_from_whole_decks(game: str) -> None:
    """Harm: a card is called impossible that the machine has long taken back; or a cut card is waited for."""
    dealer, _ = dealt(name="Table 1", game=game, source="csm", options={"decks": 2}, seats=3)
    chance = random.Random(game)
    for _ in range(5):
        assert dealer.board.due == "bets"
        shoe = dealer.board.shoe
        assert shoe is not None
        assert (shoe.cards_left, shoe.cut_at) == (shoe.size, 0)
        play_round(dealer, chance)
    verify(dealer.table)


def test_a_batch_is_dealt_from_until_the_next_one_is_taken_and_each_is_in_the_log() -> None:
    """Harm: nobody can say which rounds came from the same cards."""
    dealer, _ = dealt(name="Table 1", game="baccarat", source="batch", options={"decks": 2}, seats=3)
    chance = random.Random(5)
    play_round(dealer, chance)
    assert sum(dealer.now.gone) == 104 - (dealer.board.shoe.cards_left if dealer.board.shoe else 0) > 0
    dealer("shuffle_shoe")
    assert sum(dealer.now.gone) == 0
    assert "ready" in refusal(dealer, "shuffle_shoe").sentence
    play_round(dealer, chance)
    batches = LogEntry.objects.filter(book_id=dealer.table.book_id, subject="shoe", kind="shuffled")
    assert batches.count() == 2
    verify(dealer.table)


def test_a_machine_shuffles_for_no_pot() -> None:
    """Harm: a game is set up whose cards the machine would take back in mid-game."""
    assert "source" in table_settings.faults(settings_for("starboard", source="csm"))


def test_the_log_names_cards_as_the_table_does(baccarat: Hand) -> None:
    """Harm: a pit boss reads in the log that the banker got a 13, and no such card is on the table."""
    baccarat("bet", seat=2, amount_cents=1_000, wager="banker")
    baccarat("close_bets")
    baccarat.cards("2", "K")
    baccarat("take_back")
    page = entry_list.entries(baccarat.table.book_id, subject="round", count=2)
    words = entry_list.in_words(baccarat.table.book_id, page)
    assert words == [f"Takes back entry {page[1].seq}: Banker: K", "Banker: K"]


WHOLE_DECK = [rank + suit for suit in "shdc" for rank in "A23456789TJQK"]


def at_the_check(game: str, **options: Any) -> Hand:
    dealer, _ = dealt(name="Table 1", game=game, options=options, seats=3)
    dealer("retire_shoe")
    dealer("load_shoe")
    return dealer


def test_a_readers_list_finds_faults_that_rank_counts_miss() -> None:
    """Harm: a deck has two aces of one suit, although four aces were counted; or a reader that stopped in the middle,
    or reads another pack, passes for a deck check."""
    dealer = at_the_check("casino_war", decks=1)
    assert "Card 2 of the list is '1h'" in refusal(dealer, "read_decks", cards=["Ah", "1h"]).sentence
    for cards in ([], ["A"] * 1_001):
        assert "1 to 1,000 cards" in refusal(dealer, "read_decks", cards=cards).sentence
    twice = ["As" if card == "Ah" else card for card in WHOLE_DECK]
    sentence = refusal(dealer, "read_decks", cards=twice).sentence
    assert "2 of suit and rank As, 1 belong in it; 0 of suit and rank Ah, 1 belong" in sentence
    assert dealer.board.due == "check"
    assert Alert.objects.filter(kind="deck_check_failed").exists()
    dealer("read_decks", cards=random.Random(1).sample(WHOLE_DECK, 52))
    assert dealer.board.due == "shuffle"
    verify(dealer.table)


def test_a_reader_may_see_ranks_alone() -> None:
    """Harm: a reader without suits cannot be used where nobody looks at them."""
    dealer = at_the_check("casino_war", decks=2)
    dealer("read_decks", cards=list("A23456789TJQK" * 8))
    assert dealer.board.due == "shuffle"
