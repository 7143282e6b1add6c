"""What a sealed day rests on, at tables where it is hard to tell, and what is not exported."""

import contextlib
import random
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger.proof import seals
from tables.audit import sealing
from tables.audit.export import NotYet
from tables.audit.outside import verifier
from tables.day import hours
from tables.refusals import Refused
from tests.clock import Clock
from tests.floor import Hand, Player, dealt, for_pot, player
from tests.tables.bundles import ONE, TWO, exported, step
from tests.tables.chance import RARE_CUT, SHORT, by_seed, chance, in_this_order, run_out
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def next_day(clock: Clock) -> None:
    """The first day is over and sealed."""
    clock.pass_until(hours.span(TWO)[0] + timedelta(hours=9))
    sealing.seal_finished()


def day_after(clock: Clock) -> None:
    """So is the second."""
    clock.pass_until(hours.span(TWO)[1] + timedelta(hours=1))
    sealing.seal_finished()


def checked(folder: Path, first_day: date, last_day: date) -> str:
    """What the verifier says of the bundle of these days."""
    (folder / "bundle.zip").write_bytes(exported(first_day, last_day))
    lines: list[str] = []
    verifier.verify(folder / "bundle.zip", say=lines.append)
    return "\n".join(lines)


@pytest.fixture
def key(tmp_path: Path, settings: Any) -> None:
    settings.AUDIT_KEY_FILE = str(tmp_path / "audit.pem")
    seals.make_key(tmp_path / "audit.pem")


def test_discards_that_were_shuffled_in_mid_round_are_proved_a_day_later(
    key: None, monkeypatch: pytest.MonkeyPatch, clock: Clock, tmp_path: Path
) -> None:
    """Harm prevented: an order that was committed to in the middle of a round, and that nobody can prove the day
    after because what was in play then is forgotten."""
    in_this_order(monkeypatch, SHORT)
    dealer, _ = dealt(source="house", options=RARE_CUT)
    run_out(dealer)
    dealer("choose", seat=2, choice="hit")
    dealer("shuffle")
    next_day(clock)
    while dealer.now.round_open:
        step(dealer, random.Random(1))
    dealer("retire_shoe")
    day_after(clock)
    assert "openings of a house shoe's order" in checked(tmp_path, TWO, TWO)


def test_a_game_that_hides_cards_is_not_exported_before_it_is_over(key: None, clock: Clock) -> None:
    """Harm prevented: players' facedown cards in a file, while they are still betting on them."""
    dealer, _ = for_pot("troll_guts", seats={1: 10_000, 2: 10_000, 3: 10_000}, source="house")
    dealer("start_game")
    assert dealer.now.round is not None
    assert dealer.now.round.secret
    assert dealer.now.round_open
    next_day(clock)
    with pytest.raises(NotYet, match="A game that hides cards is going on at Troll Guts"):
        exported(ONE, ONE)


@pytest.mark.parametrize("source", sampled(["keyed", "house"], "seals, exports and verifies random days"))
def test_whatever_happens_on_an_honest_floor_holds(
    key: None, monkeypatch: pytest.MonkeyPatch, clock: Clock, tmp_path: Path, source: str
) -> None:
    """Harm prevented: a verifier that calls honest work a forgery: relief, take-backs, shuffles, closings, anything."""
    by_seed(monkeypatch, source)
    floor = chance(7, source=source)
    for _ in range(120):
        floor.step()
    next_day(clock)
    for _ in range(120):
        floor.step()
    day_after(clock)
    for days in ((ONE, ONE), (TWO, TWO), (ONE, TWO)):
        assert "rounds replayed" in checked(tmp_path, *days)


@pytest.mark.parametrize(
    "game", sampled(["goblin_poker", "hawthorn", "regent"], "seals, exports and verifies random days")
)
def test_games_for_a_pot_from_a_house_shoe_hold(
    key: None, monkeypatch: pytest.MonkeyPatch, clock: Clock, tmp_path: Path, game: str
) -> None:
    """Harm prevented: the same, where players choose on pages of their own and cards are shuffled apart."""
    by_seed(monkeypatch, game)
    dealer, _ = for_pot(game, seats={1: 20_000, 2: 20_000, 3: 20_000}, source="house")
    players, draw = [player(dealer, seat) for seat in (1, 2, 3)], random.Random(game)
    for day in (next_day, day_after):
        for _ in range(30):
            enter(dealer, players, draw)
        while dealer.now.round_open:
            enter(dealer, players, draw)
        day(clock)
    for days in ((ONE, ONE), (TWO, TWO)):
        assert "openings of a house shoe's order" in checked(tmp_path, *days)


def enter(dealer: Hand, players: list[Player], draw: random.Random) -> None:
    """A choice of somebody who is asked, or what the dealer is to do."""
    choosers = [player for player in players if player.choices]
    if not choosers:
        step(dealer, draw)
        return
    with contextlib.suppress(Refused):
        choosers[0].chooses(draw.choice(choosers[0].choices))
