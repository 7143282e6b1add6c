"""The developer's page "Adding a game", followed to the letter with a made-up game."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from tables.games.catalog import DEALT, GAMES
from tables.games.play import replay
from tables.games.protocol import Opening, Rake
from tables.games.record import judge, record_of
from tests.games.example_game import Ladder, Rules
from tests.games.example_house_game import LittleBrother
from tests.games.test_every_game import PlayOut, play_outs
from tests.games.test_secrets import leaks
from tests.tables.board.test_board_pot import boards, seated

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "adding-a-game.md"


@pytest.fixture(autouse=True)
def _in_the_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line in the catalog, for as long as a test runs."""
    for games in (DEALT, GAMES):
        monkeypatch.setitem(games, "ladder", Ladder())
        monkeypatch.setitem(games, "little_brother", LittleBrother())


@pytest.mark.parametrize(
    "name", ["example_game.py", "example_golden.json", "example_house_game.py", "example_house_golden.json"]
)
def test_the_page_shows_what_is_tested(name: str) -> None:
    """Harm: the page explains a kernel that is not there any more, and whoever follows it gets nowhere."""
    assert (HERE / name).read_text().rstrip() in PAGE.read_text(), f"the page shows an older {name}"


def test_it_plays() -> None:
    """Harm: a game written as the page describes never ends, loses coins, is replayed differently after a crash, or has
    to state its kind in several places."""
    assert (Ladder().kind, Ladder().hides, Ladder().coins) == ("pot", True, True)
    for seed in range(200):
        chance = random.Random(seed)
        opening = Opening((1, 3, 4), stacks=(0, 1, 9), rake=Rake(100) if seed % 2 else None, pot=seed % 5)
        round_ = Raked(Ladder(), Rules(double_ante=seed % 3 == 0), opening, chance, chance.random(), kind=False)
        round_.run()
        assert replay(round_.game, round_.rules, round_.opening, round_.actions) == round_.state
        assert not list(leaks(round_.game, round_))


def test_the_game_on_standard_cards_plays() -> None:
    """Harm: a house-banked game by the page pays what nobody staked, or comes back otherwise after a crash."""
    for round_ in play_outs("little_brother", 200):
        assert replay(round_.game, round_.rules, round_.opening, round_.actions) == round_.state
        for payout in round_.game.settle(round_.state):
            assert all(wager.outcome for wager in payout.wagers)
            assert payout.staked_cents == sum(wager.staked_cents for wager in payout.wagers)
        if not round_.opening.unseen:
            assert judge(json.dumps(record_of(round_.game, round_.rules, round_.opening, round_.actions)))["complete"]


class Raked(PlayOut):
    """A game of which the house may take its part."""

    def _conserved(self) -> None:
        raked = sum(payment.coins for payment in self.game.payments(self.state) if payment.kind == "rake")
        net = sum(player.payout.net_cents for player in self.state.players)
        assert net + self.game.pot(self.state) + raked == self.opening.pot


def test_its_records_are_judged() -> None:
    """Harm: a new game's disputes cannot be settled from an exported record."""
    for name in ("example_golden.json", "example_house_golden.json"):
        golden: dict[str, Any] = json.loads((HERE / name).read_text())
        assert judge(json.dumps(golden["record"])) == golden["answer"]


@pytest.mark.django_db
def test_its_board_is_drawn_and_dealt_to_the_end() -> None:
    """Harm: a game of one file needs a template, a view or a migration after all."""
    hand = seated("ladder")
    all_boards = list(boards(hand, random.Random(1)))
    assert not hand.now.round_open
    deciding = [board for board in all_boards if board.due == "choose"]
    assert deciding
    for board in deciding:
        assert "stop" in {button.input.get("choice") for button in board.buttons}
        assert board.card_keys, "to climb is to name the card that came"
    assert any(box.outcome for box in all_boards[-1].seats)
