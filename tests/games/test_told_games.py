"""What must hold in every game that is told as a script when coins are short, the house rakes, hands are secret, or the
cards are physical ones that nobody has named. A new game is covered as soon as it stands in the catalog."""

import json
import random
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
import pytest
from msgspec import structs

from tables.games.cards import DECK, DECK_SIZE, UNKNOWN
from tables.games.cards import count as cards_of
from tables.games.catalog import GAMES
from tables.games.game import Game
from tables.games.play import replay
from tables.games.protocol import Action, AskCard, AskChoice, Opening, Payment, Rake
from tables.games.record import judge, record_of
from tables.games.record_document import RecordError
from tests.games.test_every_game import PlayOut, _possible_start
from tests.pace import by_pace

pytestmark = pytest.mark.slow("plays many rounds by chance")

TOLD = {name: game for name, game in GAMES.items() if game.kind == "pot"}
told_game = pytest.mark.parametrize("game", TOLD.values(), ids=TOLD)
for_coins = pytest.mark.parametrize("game", [game for game in TOLD.values() if game.coins], ids=lambda game: game.name)

PLAY_OUTS = by_pace(30, 75, 150)
LOGGED = by_pace(10, 20, 40)
"""A told game is told again for each of its actions when it is read back."""


@dataclass
class Funded(PlayOut):
    """A game for what lies on the table, of which the house may rake its part."""

    def _conserved(self) -> None:
        opening, payments = self.opening, self.game.payments(self.state)
        net = {player.seat: player.payout.net_cents for player in self.state.players}
        raked = sum(payment.coins for payment in payments if payment.kind == "rake")
        assert sum(net.values()) + self.game.pot(self.state) + raked == opening.pot
        assert all(payment.coins > 0 for payment in payments)
        assert paid_out(payments) == {seat: coins for seat, coins in net.items() if coins}
        if opening.stacks:
            coins_left = {seat: coins + net[seat] for seat, coins in zip(opening.seats, opening.stacks, strict=True)}
            assert coins_left == {player.seat: player.coins for player in self.state.players}
            assert min(coins_left.values()) >= 0, "a player paid more than was there"


@dataclass
class Physical(PlayOut):
    """A game on real cards: those dealt facedown are known when they are turned, or never."""

    def _conserved(self) -> None:
        state = self.state
        faceup = [rank for player in state.players for rank in (*player.stack, *player.kept)]
        in_hand = sum(len(player.hand) for player in state.players)
        assert UNKNOWN not in [*faceup, *state.middle], "an unknown card lies faceup"
        assert all(lying <= whole for lying, whole in zip(cards_of([*faceup, *state.middle]), DECK, strict=True))
        assert len(faceup) + in_hand + len(state.middle) + state.facedown + state.left <= DECK_SIZE
        assert all(out <= whole for out, whole in zip(state.gone, DECK, strict=True))


def paid_out(payments: tuple[Payment, ...]) -> dict[int, int]:
    """What each seat won or lost by some payments; seats that came out even are left out."""
    net: dict[int, int] = {}
    for payment in payments:
        if payment.payer:
            net[payment.payer] = net.get(payment.payer, 0) - payment.coins
        if payment.payee:
            net[payment.payee] = net.get(payment.payee, 0) + payment.coins
    return {seat: coins for seat, coins in net.items() if coins}


def _boldness(chance: random.Random) -> float:
    return chance.choice([0.0, 0.4, 0.8])


@cache
def funded(name: str) -> list[Funded]:
    """Games with few coins on the table, with a rake, or both."""
    rounds = []
    for seed in range(PLAY_OUTS):
        chance = random.Random(f"{name} funded {seed}")
        rules, opening = _possible_start(TOLD[name], chance)
        stacks = tuple(chance.choice([1, 2, chance.randint(1, 12), 100]) for _ in opening.seats)
        rake = Rake(chance.choice([10, 50, 200]), chance.choice([None, 1, 3]))
        opening = structs.replace(
            opening,
            stacks=stacks if seed % 3 else (),
            rake=rake if seed % 2 else None,
        )
        play_out = Funded(TOLD[name], rules, opening, chance, _boldness(chance), kind=False)
        play_out.run()
        rounds.append(play_out)
    return rounds


@cache
def physical(name: str) -> list[Physical]:
    """Games on real cards."""
    rounds = []
    for seed in range(PLAY_OUTS):
        chance = random.Random(f"{name} physical {seed}")
        rules, opening = _possible_start(TOLD[name], chance)
        opening = structs.replace(opening, blind=True)
        play_out = Physical(TOLD[name], rules, opening, chance, _boldness(chance), kind=False)
        play_out.run()
        rounds.append(play_out)
    return rounds


# --- coins -----------------------------------------------------------------------------------------------------


@told_game
def test_nobody_pays_beyond_what_is_there_and_every_coin_is_accounted_for(game: Game[Any, Any]) -> None:
    """Harm: a debt that no chip stands for, or a rake that nobody paid. (Each play-out checks it at every step.)"""
    rounds = funded(game.name)
    for round_ in rounds:
        assert replay(game, round_.rules, round_.opening, round_.actions) == round_.state
        assert all(map(game.explain, game.settle(round_.state)))


@for_coins
def test_the_short_and_the_raked_really_come_up(game: Game[Any, Any]) -> None:
    """Harm: the test above holds because nobody was ever short, or no pot was large enough to rake."""
    rounds = funded(game.name)
    ends = [
        coins
        for round_ in rounds
        if round_.opening.stacks
        for coins in (player.coins for player in round_.state.players)
    ]
    assert 0 in ends, "nobody was ever all-in"
    kinds = {payment.kind for round_ in rounds for payment in game.payments(round_.state)}
    if "pot" in game.parts and game.name != "pairs":
        assert "rake" in kinds


@told_game
def test_payments_are_only_ever_added(game: Game[Any, Any]) -> None:
    """Harm: a payment that became a transfer is told otherwise by a later state."""
    for round_ in funded(game.name)[:100]:
        before: tuple[Payment, ...] = ()
        for state in [*round_.states, round_.state]:
            payments = game.payments(state)
            assert payments[: len(before)] == before
            before = payments


MOVES = {"pay_pot": 1, "pay_seat": 0, "win_pot": -1, "rake": -1}
"""What becomes of the pot by each kind of payment."""


@told_game
def test_payments_lead_to_the_pot_and_the_house_takes_no_more_than_its_rake(game: Game[Any, Any]) -> None:
    """Harm: the ledger, which moves the payments, comes to another pot than the game, or takes too much rake."""
    for round_ in funded(game.name):
        pot, rake = round_.opening.pot, round_.opening.rake
        for paid in game.payments(round_.state):
            named = {"pay_pot": (True, False), "pay_seat": (True, True), "win_pot": (False, True)}
            assert (paid.payer > 0, paid.payee > 0) == named.get(paid.kind, (False, False))
            assert paid.kind != "rake" or (rake and paid.coins == rake.of(pot))
            pot += paid.coins * MOVES[paid.kind]
            assert pot >= 0
        assert pot == game.pot(round_.state)


@told_game
def test_a_funded_game_comes_back_from_json(game: Game[Any, Any]) -> None:
    """Harm: after a crash, a table with a rake or with physical cards goes on with other coins or cards."""
    for round_ in [*funded(game.name)[:LOGGED], *physical(game.name)[:LOGGED]]:
        logged = msgspec.json.encode([round_.rules, round_.opening, round_.actions])
        read = msgspec.json.decode(logged, type=tuple[game.rules_type, Opening, list[Action]])  # type: ignore[name-defined]
        assert replay(game, *read) == round_.state


# --- physical cards --------------------------------------------------------------------------------------------


@told_game
def test_games_on_physical_cards_end_and_replay(game: Game[Any, Any]) -> None:
    """Harm: a table where the cards are real stands still, or comes back as another one after a crash."""
    for round_ in physical(game.name):
        assert replay(game, round_.rules, round_.opening, round_.actions) == round_.state
        payouts = game.settle(round_.state)
        assert {payout.seat for payout in payouts} == set(round_.opening.seats)
        assert all(payout.card != UNKNOWN for payout in payouts)


@told_game
def test_nobody_names_a_card_that_nobody_has_seen(game: Game[Any, Any]) -> None:
    """Harm: the dealer is asked for the rank of a card that lies facedown, or a choice names no card at all."""
    for round_ in physical(game.name)[:100]:
        for state in round_.states:
            for ask in game.prompts(state):
                if isinstance(ask, AskCard):
                    assert not ask.down, "a facedown card is dealt without a word"
                    assert ask.may_come
                elif isinstance(ask, AskChoice):
                    for choice in ask.choices:
                        assert UNKNOWN not in (choice.card, *(choice.cards or ()))


@told_game
def test_a_record_tells_of_coins_rake_and_unknown_cards_too(game: Game[Any, Any]) -> None:
    """Harm: a game as a table really dealt it, short stacks, rake and all, is judged as another one."""
    for round_ in [*(funded(game.name)[:60] if game.coins else []), *physical(game.name)[:60]]:
        answer = judge(json.dumps(record_of(game, round_.rules, round_.opening, round_.actions)))
        assert answer["complete"]
        assert answer["pot_left"] == game.pot(round_.state)
        assert answer["house_net"] == sum(paid.coins for paid in game.payments(round_.state) if paid.kind == "rake")
        assert [(result["seat"], result["net"]) for result in answer["results"]] == [
            (payout.seat, payout.net_cents) for payout in game.settle(round_.state)
        ]


@pytest.mark.parametrize(
    ("game", "changed", "line"),
    [
        ("rocket", {"seats": [{"seat": 1, "bet": 10, "coins": 5}]}, "seats[0].coins: there are no coins in this game"),
        ("port", {"seats": [{"seat": 1, "coins": 5}, {"seat": 2, "coins": 5}]}, "seats[0].coins: there are no coins"),
        ("hawthorn", {"seats": [{"seat": 1, "coins": 5}, {"seat": 2}]}, "seats[1].coins: either every seat says what"),
        ("hawthorn", {"seats": [{"seat": 1, "coins": -1}, {"seat": 2, "coins": 1}]}, "seats[0].coins: expected `int`"),
        ("rocket", {"seats": [{"seat": 1, "bet": 10}], "rake": {"permille": 10}}, "rake: rocket has no use for it"),
        ("port", {"rake": {"permille": 10}}, "rake: port has no use for it"),
        ("rocket", {"seats": [{"seat": 1, "bet": 10}], "blind": True}, "blind: rocket has no use for it"),
        ("hawthorn", {"rake": {"permille": 0}}, "rake.permille: expected `int` >= 1"),
        ("hawthorn", {"rake": {"percent": 5}}, "rake: object contains unknown field"),
    ],
)
def test_a_record_with_impossible_coins_or_rake_is_refused(game: str, changed: dict[str, Any], line: str) -> None:
    """Harm: a key is passed over, and the answer is to another game than was meant."""
    record = {"format": "round-record/1", "game": game, "seats": [{"seat": 1}, {"seat": 2}], "cards": [], "actions": []}
    with pytest.raises(RecordError) as refusal:
        judge(json.dumps(record | changed))
    assert str(refusal.value).startswith(line)
