"""What a sealed day rests on, at tables where it is hard to tell, and what is not exported."""

import contextlib
import random
from datetime import date

import pytest

from tables.audit.export import NotYet
from tables.refusals import Refused
from tests.floor import Hand, Player, dealt, for_pot, player
from tests.tables.audit.sealed_days import SealedDays, verified
from tests.tables.bundles import ONE, TWO, exported, step
from tests.tables.chance import RARE_CUT, SHORT, by_seed, chance, in_this_order, run_out
from tests.tiers import sampled

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def holding(days: SealedDays, first: date, last: date) -> str:
    """What the verifier says of the bundle of these days."""
    return "\n".join(verified(days.bundle(first, last)))


def test_discards_that_were_shuffled_in_mid_round_are_proved_a_day_later(
    days: SealedDays, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Harm prevented: an order that was committed to in the middle of a round, and that nobody can prove the day
    after because what was in play then is forgotten."""
    in_this_order(monkeypatch, SHORT)
    dealer, _ = dealt(source="house", options=RARE_CUT)
    run_out(dealer)
    dealer("choose", seat=2, choice="hit")
    dealer("shuffle")
    days.end(ONE)
    while dealer.now.round_open:
        step(dealer, random.Random(1))
    dealer("retire_shoe")
    days.end(TWO)
    assert "openings of a house shoe's order" in holding(days, TWO, TWO)


def test_a_game_that_hides_cards_is_not_exported_before_it_is_over(days: SealedDays) -> None:
    """Harm prevented: players' facedown cards in a file, while they are still betting on them."""
    dealer, _ = for_pot("troll_guts", seats={1: 10_000, 2: 10_000, 3: 10_000}, source="house")
    dealer("start_game")
    assert dealer.now.round is not None
    assert dealer.now.round.secret
    assert dealer.now.round_open
    days.end(ONE)
    with pytest.raises(NotYet, match="A game that hides cards is going on at Troll Guts"):
        exported(ONE, ONE)


@pytest.mark.parametrize("source", sampled(["keyed", "house"], "seals, exports and verifies random days"))
def test_whatever_happens_on_an_honest_floor_holds(
    days: SealedDays, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """Harm prevented: a verifier that calls honest work a forgery: relief, take-backs, shuffles, closings, anything."""
    by_seed(monkeypatch, source)
    floor = chance(7, source=source)
    for day in (ONE, TWO):
        for _ in range(120):
            floor.step()
        days.end(day)
    for span in ((ONE, ONE), (TWO, TWO), (ONE, TWO)):
        assert "rounds replayed" in holding(days, *span)


@pytest.mark.parametrize(
    "game", sampled(["goblin_poker", "hawthorn", "regent"], "seals, exports and verifies random days")
)
def test_games_for_a_pot_from_an_electronic_shoe_are_verified(
    days: SealedDays, monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    """Harm: a verifier calls honest games a forgery where players choose on their own pages and cards are shuffled
    separately."""
    by_seed(monkeypatch, game)
    dealer, _ = for_pot(game, seats={1: 20_000, 2: 20_000, 3: 20_000}, source="house")
    players, draw = [player(dealer, seat) for seat in (1, 2, 3)], random.Random(game)
    for day in (ONE, TWO):
        for _ in range(30):
            enter(dealer, players, draw)
        while dealer.now.round_open:
            enter(dealer, players, draw)
        days.end(day)
        assert "openings of a house shoe's order" in holding(days, day, day)


def enter(dealer: Hand, players: list[Player], draw: random.Random) -> None:
    """A choice of somebody who is asked, or what the dealer is to do."""
    choosers = [player for player in players if player.choices]
    if not choosers:
        step(dealer, draw)
        return
    with contextlib.suppress(Refused):
        choosers[0].chooses(draw.choice(choosers[0].choices))
