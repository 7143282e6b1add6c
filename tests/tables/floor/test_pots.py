"""Tables with a pot: chips at the seats, payments as transfers, all-in, rake and time charge, and what is refused."""

import json
import random
from collections.abc import Iterator, Mapping
from datetime import timedelta
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from django.utils import timezone

from ledger import cage
from ledger.models import Transfer
from ledger.proof.spelling import canonical
from tables.audit import commitments, round_steps
from tables.floor import rounds
from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.play import admitted
from tables.games.protocol import AskCard, AskChoice
from tables.games.record import judge, record_as_logged
from tables.games.record_document import RecordError
from tables.roles import Role
from tables.setup import table_settings
from tables.state import round_history, table_state
from tests import floor
from tests.clock import Clock
from tests.floor import Hand, Player, for_pot
from tests.intruder import at_work
from tests.tables.floor.acts import fault, refusal, verify
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

POT_GAMES = sorted((name for name, game in GAMES.items() if game.kind == "pot"), key=lambda name: name != "starboard")
"""Starboard, whose games are short, comes first."""


def lying(hand: Hand) -> dict[str, int]:
    """What the ledger says lies at each place of the table, in cents; empty places are left out."""
    return {str(account): cents for account, cents in cage.balances(hand.table.book_id).items() if cents}


def at_seats(hand: Hand) -> dict[int, int]:
    """What the ledger says lies at the seats."""
    places = lying(hand)
    return {int(place[5:]): cents for place, cents in places.items() if place.startswith("seat ")}


def transfers(hand: Hand) -> list[tuple[str, str, str, int]]:
    """The transfers of the latest entry: kind, from, to, cents."""
    rows = Transfer.objects.filter(book_id=hand.table.book_id, seq=hand.now.seq).order_by("leg")
    return [(row.kind, str(row.source), str(row.target), row.amount_cents) for row in rows]


def play_out(hand: Hand, chance: random.Random, players: Mapping[int, Player]) -> Iterator[None]:
    """Answer the game's prompts as chance will have it, an input at a time. Who has a page chooses there."""
    while not hand.now.round.over:
        prompts = hand.now.round.game.prompts(hand.now.round.state)
        ask = chance.choice(prompts)
        if isinstance(ask, AskCard) and hand.table.source == "house":
            hand("deal")
        elif isinstance(ask, AskCard):
            hand("card", rank=chance.choice(ask.may_come))
        elif isinstance(ask, AskChoice) and ask.seat in players:
            players[ask.seat].chooses(chance.choice(ask.choices))
        elif isinstance(ask, AskChoice):
            choice = msgspec.to_builtins(chance.choice(ask.choices))
            fields = {key: choice[key] for key in ("card", "cards", "target", "count") if key in choice}
            hand("choose", seat=ask.seat, choice=choice["name"], **fields)
        else:
            hand("shuffle")
        yield


def judged(hand: Hand) -> dict[int, int]:
    """What the latest game came to, in cents, by the record that anyone can replay without us."""
    story = round_steps.story(hand.table, hand.now.round.number)
    assert story is not None
    assert story.record is not None
    answer = judge(json.dumps(story.record))
    assert answer["complete"]
    return {result["seat"]: result["net"] * story.coin_cents for result in answer["results"]}


def acting_seat(hand: Hand) -> int:
    """The first seat that has a decision."""
    return int(hand.now.round.state.prompts[0].seat)


# --- whole games ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["keyed", "house"])
@pytest.mark.parametrize("name", sampled(POT_GAMES, "plays three whole games"))
def test_whole_games_move_chips_and_lose_none(name: str, source: str) -> None:
    """Harm: a coin that the game moved and the ledger did not, or the other way round; a log that cannot be proved."""
    game, chance = GAMES[name], random.Random(f"{name} {source}")
    rake = {"rake_permille": 100, "rake_cap_cents": 300} if game.coins else {}
    hand, boss = _with_players(game, chance, source=source, **rake)
    brought = sum(at_seats(hand).values())
    players = {seat: floor.player(hand, seat) for seat in _able(hand)} if source == "house" else {}
    for _ in range(3):
        playing = _able(hand)
        if len(playing) not in game.seat_counts:
            break
        hand("start_game", seats=playing)
        for _ in play_out(hand, chance, players):
            assert at_seats(hand) == hand.now.stacks
            assert lying(hand).get("pot", 0) == hand.now.pot_cents
        hand.ready_shoe()
        assert judged(hand) == {payout.seat: payout.net_cents for payout in hand.now.round.settled}
    raked = sum(Transfer.objects.filter(book=hand.table.book, kind="rake").values_list("amount_cents", flat=True))
    assert sum(at_seats(hand).values()) + hand.now.pot_cents + raked == brought
    for seat in list(hand.now.stacks):
        hand("cash_out", seat=seat)
    assert at_seats(hand) == {}
    verify(hand.table)
    if source == "house":
        assert list(commitments.prove(hand.table))
    known = hand.now
    table_state.cache.clear()
    assert hand.now == known
    boss("close_table")


def _with_players(game: Game[Any, Any], chance: random.Random, **chosen: Any) -> tuple[Hand, Hand]:
    most = game.seat_counts[-1]
    seats = {seat: chance.choice([300, 1_000, 5_000]) for seat in range(1, most + 1)} if game.coins else {}
    options = {"settlement": "cutchfeld", "five_card_catch": True} if game.name == "pairs" else {}
    return for_pot(game.name, seats=seats, options=options, **chosen)


def _able(hand: Hand) -> list[int]:
    game = GAMES[hand.table.game]
    return sorted(hand.now.stacks) if game.coins else list(range(1, game.seat_counts[-1] + 1))


def _seen(hand: Hand) -> dict[str, Any]:
    """Seat 1 of two sees the other one, and no seat is named; what the log says of it."""
    hand("start_game")
    for rank in (6, 7):
        hand("card", rank=rank)
    hand("choose", seat=1, choice="see")
    [action] = hand.now.round.plays[-1].actions
    for rank in (8, 8):
        hand("card", rank=rank)
    assert hand.now.round.over
    return {key: value for key, value in msgspec.to_builtins(action).items() if key != "do"}


def test_the_log_names_what_a_key_may_leave_out() -> None:
    """Harm: who reads the log years later has to work out whom the only possible choice meant."""
    hand, _ = for_pot("regent", seats={1: 5_000, 2: 5_000})
    assert _seen(hand) == {"seat": 1, "choice": "see", "target": 2}
    verify(hand.table)
    assert judged(hand) == {1: 800, 2: -800}


def test_a_log_that_leaves_it_out_is_still_proved_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: games that an older release wrote cannot be proved or judged, or have other hashes than a dispute says."""
    written = []

    def as_keyed(game: Game[Any, Any], state: Any, action: Any) -> Any:
        written.append(admitted(game, state, action))
        return action

    monkeypatch.setattr(rounds, "admitted", as_keyed)
    hand, _ = for_pot("regent", seats={1: 5_000, 2: 5_000})
    assert _seen(hand) == {"seat": 1, "choice": "see"}
    verify(hand.table)
    assert judged(hand) == {1: 800, 2: -800}
    table_state.cache.clear()
    current = hand.now.round
    assert current.state.actions == tuple(written)
    then = round_history.as_of(hand.table.book_id, current.number, hand.now.seq)
    assert then is not None
    actions = [action for play in current.plays for action in play.actions]
    record = record_as_logged(current.game, current.rules, current.opening, actions)
    assert then.record_hash == sha256(canonical(record)).hexdigest()
    with pytest.raises(RecordError, match="seat 1: 'see' leaves out 'target', which a record names"):
        judge(json.dumps(record))


def test_odd_coins_stay_in_the_pot_for_the_next_game() -> None:
    """Harm: coins without an owner vanish between two games; the ledger has the result of a game, but not the payments
    between seats; or a game whose cards all go to the middle needs an extra tap for each card."""
    dealer, _ = for_pot("starboard", seats={1: 1_000, 2: 1_000, 3: 1_000})
    dealer("start_game")
    assert transfers(dealer) == [("pay_pot", f"seat {seat}", "pot", 100) for seat in (1, 2, 3)]
    dealer.cards(4, 7)
    first = acting_seat(dealer)
    dealer.cards(9)  # the first one draws and pays a fourth coin, then all three lock
    for _ in range(2):
        dealer("choose", seat=acting_seat(dealer), choice="lock")
    assert dealer.now.round.over
    assert transfers(dealer) == [("win_pot", "pot", f"seat {seat}", 100) for seat in (1, 2, 3)]
    assert dealer.now.pot_cents == 100, "4 coins among 3 seats leave one"
    dealer("start_game")
    assert dealer.now.round.opening.pot == 1
    assert dealer.now.round.opening.button == first
    assert dealer.now.pot_cents == 400
    verify(dealer.table)


# --- all-in, rake, time -----------------------------------------------------------------------------------------


def test_a_player_who_cannot_cover_a_penalty_pays_the_rest_and_is_shown_as_all_in() -> None:
    """Harm: a debt is recorded that no chips cover, or a reason names a payment that was never made."""
    dealer, _ = for_pot("troll_guts", seats={1: 300, 2: 5_000, 3: 5_000})
    dealer("start_game")
    dealer.cards(3, 5, 9)
    assert acting_seat(dealer) == 1
    dealer.cards(3)
    payout = next(line for line in dealer.now.round.game.settle(dealer.now.round.state) if line.seat == 1)
    assert dealer.now.round.game.explain(payout) == "pair of 3s: pays 2 of 3, all that is there to the pot"
    assert at_seats(dealer) == dealer.now.stacks == {2: 4_900, 3: 4_900}
    assert dealer.now.pot_cents == 500


def test_the_rake_has_its_share_and_its_cap_and_goes_to_the_rack() -> None:
    """Harm: the house takes more of a pot than the players were told."""
    dealer, _ = for_pot("troll_guts", seats={1: 5_000, 2: 5_000, 3: 5_000}, rake_permille=200, rake_cap_cents=200)
    rack = lying(dealer)["rack"]
    dealer("start_game")
    dealer.cards(3, 5, 9)
    dealer.cards(3, 5)  # seats 1 and 2 draw and pair: 3 + 3 + 5 coins; a fifth of 11 is 2
    assert [move for move in transfers(dealer) if move[0] != "pay_pot"] == [
        ("rake", "pot", "rack", 200),
        ("win_pot", "pot", "seat 3", 900),
    ]
    assert lying(dealer)["rack"] == rack + 200
    assert dealer.now.pot_cents == 0
    verify(dealer.table)


def test_time_is_charged_once_for_each_half_hour_and_no_more_than_is_there(clock: Clock) -> None:
    """Harm: a seat pays twice for one half hour, or owes the house."""
    dealer, _ = for_pot("troll_guts", seats={1: 300, 2: 5_000}, time_charge_cents=200)
    assert refusal(dealer, "time_charge").code == "not_due"
    began = timezone.now()
    clock.stand(began + timedelta(minutes=65))
    dealer("time_charge")
    assert transfers(dealer) == [("time_charge", "seat 1", "rack", 300), ("time_charge", "seat 2", "rack", 400)]
    assert dealer.now.stacks == {2: 4_600}
    assert refusal(dealer, "time_charge").code == "not_due", "65 minutes are two half hours, which are paid"
    clock.stand(began + timedelta(minutes=95))
    dealer("time_charge")
    assert dealer.now.stacks == {2: 4_400}
    verify(dealer.table)


# --- buying in and leaving --------------------------------------------------------------------------------------


def test_chips_are_bought_from_the_rack_or_brought_along() -> None:
    """Harm: chips at a seat that came from nowhere."""
    dealer, _ = for_pot("starboard", seats={})
    rack = lying(dealer)["rack"]
    dealer("buy_in", seat=1, amount_cents=1_000)
    assert transfers(dealer) == [
        ("buy_in", "rack", "players", 1_000),
        ("drop", "cash", "drop_box", 1_000),
        ("sit_down", "players", "seat 1", 1_000),
    ]
    dealer("buy_in", seat=2, amount_cents=500, chips=True)
    assert transfers(dealer) == [("sit_down", "players", "seat 2", 500)]
    assert (lying(dealer)["rack"], lying(dealer)["players"], lying(dealer)["drop_box"]) == (rack - 1_000, -500, 1_000)
    dealer("cash_out", seat=1)
    assert transfers(dealer) == [("stand_up", "seat 1", "players", 1_000)]
    assert dealer.now.stacks == {2: 500}


def test_a_buy_in_that_is_none_is_refused() -> None:
    """Harm: half a coin, a debt, or more than the table's limit in play."""
    dealer, _ = for_pot("starboard", seats={2: 1_000}, min_cents=200, max_cents=5_000)
    sentences = {
        (9, 1_000): "There is no seat 9: Starboard has 8.",
        (0, 1_000): "There is no seat 0: Starboard has 8.",
        (1, 150): "A buy-in is a multiple of 1, the table's coin.",
        (1, -100): "A buy-in is a multiple of 1, the table's coin.",
        (1, 0): "A buy-in is a multiple of 1, the table's coin.",
        (1, 100): "Seat 1 would have 1 in play; it plays with 2 to 50.",
        (2, 4_100): "Seat 2 would have 51 in play; it plays with 2 to 50.",
    }
    assert sentences == {
        (seat, cents): refusal(dealer, "buy_in", seat=seat, amount_cents=cents).sentence for seat, cents in sentences
    }


def test_a_game_needs_players_with_chips_and_their_chips_stay_until_it_is_over() -> None:
    """Harm: a game cannot be settled; a player takes chips off the table that the game may still require; or players'
    chips remain on an unsupervised table."""
    dealer, boss = for_pot("starboard", seats={1: 1_000, 2: 1_000})
    sentences = {
        (1,): "Starboard is played by 2 to 7; 1 can be dealt in.",
        (1, 4): "Seat 4 has no chips in play: buy in first, or leave it out.",
        (1, 9): "There is no seat 9: Starboard has 8.",
    }
    assert {seats: refusal(dealer, "start_game", seats=seats).sentence for seats in sentences} == sentences
    assert refusal(dealer, "bet", seat=1, amount_cents=1_000).code == "no_game"
    dealer("start_game")
    assert refusal(dealer, "buy_in", seat=3, amount_cents=1_000).code == "round_open"
    assert refusal(dealer, "cash_out", seat=1).code == "round_open"
    assert refusal(dealer, "start_game").code == "out_of_turn"
    assert refusal(boss, "close_table").code == "round_open"
    dealer("take_back")
    dealer("cash_out", seat=1)
    assert refusal(boss, "close_table").sentence == "There are chips in play at seat 2: cash them out first."
    dealer("cash_out", seat=2)
    boss("close_table")


def test_a_table_against_the_casino_has_no_pot(dealer: Hand) -> None:
    """Harm: an input of a table with a pot moves chips at a table without a pot."""
    for do, facts in {
        "buy_in": {"seat": 1, "amount_cents": 1_000},
        "cash_out": {"seat": 1},
        "time_charge": {},
        "start_game": {},
    }.items():
        assert refusal(dealer, do, **facts).code in ("no_pot", "out_of_turn")


# --- taking back ------------------------------------------------------------------------------------------------


def test_taking_back_returns_chips_until_a_player_has_cashed_out() -> None:
    """Harm: a wrong key costs a player an ante or a pot; or a pot is returned that its winner has taken to the cage."""
    dealer, _ = for_pot("troll_guts", seats={1: 5_000, 2: 5_000, 3: 5_000})
    start = at_seats(dealer)
    dealer("start_game")
    dealer("take_back")
    assert (at_seats(dealer), dealer.now.pot_cents) == (start, 0)
    assert not dealer.now.round_open
    dealer("start_game")
    dealer.cards(3, 5, 9)
    dealer.cards(3, 5)
    assert dealer.now.round.over
    won = at_seats(dealer)
    dealer.reopens()
    assert dealer.now.round_open
    assert at_seats(dealer) == dealer.now.stacks != won
    dealer.cards(5)
    assert at_seats(dealer) == dealer.now.stacks == won
    dealer("cash_out", seat=3)
    assert refusal(dealer, "take_back").code == "card_stands"
    verify(dealer.table)


# --- settings ---------------------------------------------------------------------------------------------------


def test_what_the_chips_rest_on_waits_until_they_are_gone() -> None:
    """Harm: chips in play are worth something else after a change of settings."""
    dealer, _ = for_pot("starboard", seats={1: 1_000, 2: 1_000})
    olga = floor.staff(Role.OPERATOR, "olga")
    for change in ({"unit_cents": 200}, {"game": "troll_guts"}, {"seats": 5}):
        sentence = refusal(table_settings.change_table, dealer.table, change, by=olga).sentence
        assert "when all seats have cashed out" in sentence
    table_settings.change_table(dealer.table, {"rake_permille": 50}, by=olga)


# --- what an intruder writes ------------------------------------------------------------------------------------


def _change(name: str, value: Any) -> Any:
    def change(document: dict[str, Any]) -> None:
        document["content"][name] = value

    return change


def _pin(name: str, value: Any) -> Any:
    def change(document: dict[str, Any]) -> None:
        pinned = document["content"]["opening"]
        (pinned if name in pinned else pinned["opening"])[name] = value

    return change


FORGED = {
    "a buy-in that leaves more at the seat than was bought": (0, _change("stacks", [[1, 9_000], [2, 1_000]])),
    "time that is said to be paid": (0, _change("charged_at", "2030-01-01T00:00:00+00:00")),
    "a buy-in of another amount": (0, _change("amount_cents", 900)),
    "a game that starts with other chips": (1, _pin("stacks", [[1, 1_000], [2, 2_000]])),
    "a game that starts with a fuller pot": (1, _pin("pot_cents", 500)),
    "coins of another worth": (1, _pin("coin_cents", 200)),
    "a rake that the table does not take": (1, _pin("rake", {"permille": 200, "cap_coins": None})),
    "physical cards at a house shoe, or the other way round": (1, _pin("blind", False)),
    "a start that chance did not choose": (1, _pin("first", None)),
    "a button that never lay there": (1, _pin("button", 2)),
    "a player who has no chips": (1, _pin("seats", [1, 2, 3])),
}


@pytest.mark.django_db(transaction=True)
def test_entries_that_an_intruder_rewrites_are_found() -> None:
    """Harm: chips are recorded in places where they never were, or a table opens with fewer chips than were filled, and
    the proof of the log finds no fault."""
    dealer, boss = for_pot("starboard", seats={1: 1_000, 2: 1_000}, rake_permille=100)
    seq = dealer.now.seq
    dealer("start_game")
    dealer.cards(4, 7)
    dealer("choose", seat=acting_seat(dealer), choice="lock")
    for seat in (1, 2):
        dealer("cash_out", seat=seat)
    boss("close_table")
    verify(dealer.table)
    forgeries = {name: (seq + after, change) for name, (after, change) in FORGED.items()}
    forgeries["a rack that holds other chips"] = (dealer.now.opened_seq, _change("rack_cents", 5))
    for name, (entry_seq, change) in forgeries.items():
        with at_work() as intruder:
            intruder.rewrite(dealer.table.book_id, entry_seq, change)
            assert fault(dealer.table).seq == entry_seq, name
