"""What is out of the ordinary: seeded outliers are flagged, ordinary days one time in twenty."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from numpy.typing import NDArray

from tables.games import baccarat as baccarat_game
from tables.games import casino_war as war_game
from tables.games.blackjack import Rules
from tables.maths import baccarat, blackjack, blackjack_table, casino_war
from tables.maths.covariances import Covariances, Pair, Staked, Together, pairs_of, variance
from tables.reports import figures, gaming_hours, outliers
from tests.floor import Hand, dealt
from tests.tables.reports.test_figures import plays
from tests.tiers import sampled

pytestmark = pytest.mark.slow("sets up a house for each test")

Floats = NDArray[np.float64]

BETS = 300
EDGE, DEVIATION = 0.02, 0.9


SINGLE = {("bet", "bet"): Together(DEVIATION**2, 0.1)}


def of_chance(
    win_cents: int,
    stakes: Mapping[str, int],
    squares: Mapping[Pair, Staked],
    edges: Mapping[str, float],
    together: Covariances,
) -> outliers.Interval:
    """The win that chance makes of these bets. ``stakes``: what was put up on each wager; ``squares``: on each two,
    multiplied round by round."""
    expected = sum(edges[wager] * cents for wager, cents in stakes.items())
    return outliers.of_moments(win_cents, expected, variance(together, squares))


def play(chance: random.Random, edge: float = EDGE) -> outliers.Interval:
    """A day of single bets that win or lose so much, with this edge and deviation in truth."""
    win = handle = squares = 0
    for _ in range(BETS):
        bet = chance.choice([1_000, 2_000, 5_000])
        win += round(bet * (edge + DEVIATION * chance.choice([-1, 1])))
        handle, squares = handle + bet, squares + bet * bet
    return of_chance(win, {"bet": handle}, {("bet", "bet"): Staked(squares)}, {"bet": EDGE}, SINGLE)


def test_ordinary_days_are_flagged_one_time_in_twenty() -> None:
    """Harm: a flag that is always up is looked at by nobody; one that never is finds nothing."""
    chance = random.Random(4)
    flagged = sum(play(chance).flagged for _ in range(1_000))
    assert 35 <= flagged <= 65


def test_a_game_that_pays_what_it_should_not_is_flagged() -> None:
    """Harm: a dealer who pays a friend every hand looks like bad luck."""
    chance = random.Random(5)
    assert sum(play(chance, edge=-0.25).flagged for _ in range(100)) >= 95


# --- Several wagers and seats -------------------------------------------------------------------------------------

DAYS, ROUNDS = 1_000, 150
Bets = dict[str, Sequence[int]]
"""What lies on each wager, seat by seat."""


@dataclass(frozen=True)
class Game:
    """A game with its edges and covariances, and rounds of it that were dealt."""

    edges: Mapping[str, float]
    together: Covariances
    nets: Mapping[str, Floats]
    """By wager: a row for each round, a column for each seat."""


def all_on_one_layout(provider: Any, rules: Any, ends: Mapping[Any, int], nets_of: Any, seats: int = 4) -> Game:
    """A game in which every seat's bets look at the same cards."""
    keys, total = list(ends), sum(ends.values())
    dealt = np.random.default_rng(7).choice(len(keys), DAYS * ROUNDS, p=[ends[key] / total for key in keys])
    by_end = [nets_of(key) for key in keys]
    nets = {bet: np.array([float(end[bet]) for end in by_end])[dealt] for bet in by_end[0]}
    worths = provider.sheet(rules).wagers
    return Game(
        {bet: worth.house_edge for bet, worth in worths.items()},
        provider.covariances(rules),
        {bet: np.tile(won[:, None], seats) for bet, won in nets.items()},
    )


def of_baccarat() -> Game:
    rules = baccarat_game.Rules(spread=("tie", "player_pair", "banker_pair"))

    def nets(key: tuple[baccarat.End, bool, bool]) -> dict[str, float]:
        (end, margin), player, banker = key
        often = {
            "round": dict.fromkeys(baccarat.ENDS, 0) | {end: 1},
            "margin": dict.fromkeys(baccarat.MARGINS, 0) | {margin: 1},
            "player_pair": {"win": int(player), "lose": int(not player)},
            "banker_pair": {"win": int(banker), "lose": int(not banker)},
        }
        wagers = baccarat.wagers(rules, often)
        return {bet: float(sum(net * ways for net, ways in ends.items())) for bet, ends in wagers.items()}

    return all_on_one_layout(baccarat, rules, baccarat.joint((32,) * 13), nets)


def of_war() -> Game:
    """Cards of six decks, drawn as if each round came from a full shoe with cards put back: near enough for a day."""
    rules, chance = war_game.Rules(), np.random.default_rng(8)
    cards = chance.permuted(np.tile(np.repeat(np.arange(13), 24), (DAYS * ROUNDS // 10, 1)), axis=1)
    rounds = cards[:, :300].reshape(-1, 30)[: DAYS * ROUNDS]
    seats, dealer, again, dealers_war = rounds[:, :4], rounds[:, 4:5], rounds[:, 5:9], rounds[:, 9:10]
    war = np.where(again == dealers_war, 1, np.where(again > dealers_war, 1, -2))
    nets = {
        "main": np.where(seats == dealer, war, np.sign(seats - dealer)).astype(float),
        "tie": np.where(seats == dealer, 10.0, -1.0),
    }
    worths = casino_war.sheet(rules).wagers
    edges = {bet: worth.house_edge for bet, worth in worths.items()}
    return Game(edges, casino_war.covariances(rules), nets)


def of_blackjack() -> Game:
    rules = Rules()
    solution = blackjack.solve(rules, (24,) * 13)
    nets = blackjack_table.deal(rules, solution.chart, 4, DAYS * ROUNDS, seed=9)
    return Game({"main": -solution.mean}, blackjack.covariances(rules), {"main": nets})


def flagged(game: Game, bets: Bets, together: Covariances | None = None) -> int:
    """How many of the days are, on which each round had these bets."""
    won = sum(game.nets[bet].reshape(DAYS, ROUNDS, -1)[:, :, : len(cents)] @ cents for bet, cents in bets.items())
    stakes = {bet: ROUNDS * sum(cents) for bet, cents in bets.items()}
    squares = {}
    for bet, partner in pairs_of(bets):
        seat = sum(x * y for x, y in zip(bets[bet], bets[partner], strict=True))
        squares[bet, partner] = Staked(ROUNDS * seat, ROUNDS * (sum(bets[bet]) * sum(bets[partner]) - seat))
    days = (
        of_chance(round(-day.sum()), stakes, squares, game.edges, together or game.together) for day in np.asarray(won)
    )
    return sum(day.flagged for day in days)


def alone(together: Covariances) -> Covariances:
    """As if no two wagers and no two seats had anything in common."""
    return {
        (bet, partner): Together(shared.seat if bet == partner else 0.0, 0.0)
        for (bet, partner), shared in together.items()
    }


@pytest.mark.parametrize(
    ("of_game", "bets", "apart"),
    sampled(
        [
            (of_baccarat, {"player": [100, 100, 100, 100]}, (150, DAYS)),
            (of_baccarat, {"player": [100, 100, 0, 0], "banker": [0, 0, 100, 100]}, (0, 5)),
            (of_baccarat, {"banker": [500, 300, 0, 0], "tie": [0, 50, 100, 0], "player_pair": [0, 0, 50, 50]}, None),
            (of_war, {"main": [100, 100, 100, 100]}, (100, DAYS)),
            (of_war, {"main": [200, 100, 0, 0], "tie": [0, 100, 100, 0]}, None),
            (of_blackjack, {"main": [100, 100, 100, 100]}, (100, DAYS)),
            (of_blackjack, {"main": [500, 100, 0, 0]}, None),
        ],
        "deals thousands of days",
        test=3,
    ),
)
def test_days_of_several_wagers_and_seats_are_flagged_one_time_in_twenty(
    of_game: Callable[[], Game], bets: Bets, apart: tuple[int, int] | None
) -> None:
    """Harm: a crowd on one side is called theft for its luck, or a thief hides between both sides. ``apart``: how many
    days would be flagged if what wagers and seats have in common were left out."""
    game = dealt_once(of_game)
    assert 30 <= flagged(game, bets) <= 72
    if apart:
        assert apart[0] <= flagged(game, bets, alone(game.together)) <= apart[1]


@cache
def dealt_once(of_game: Callable[[], Game]) -> Game:
    return of_game()


# --- Habits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("days", [10, 30, 60])
def test_a_hold_like_every_other_is_flagged_one_time_in_twenty(days: int) -> None:
    """Harm: with few days behind it, a table is flagged every week."""
    chance = random.Random(days)
    flagged = 0
    for _ in range(1_000):
        hold_shares = [Fraction(round(chance.gauss(200, 60)), 1_000) for _ in range(days + 1)]
        outlier = outliers.of_habit(hold_shares[0], hold_shares[1:])
        flagged += outlier is not None and outlier.flagged
    assert 32 <= flagged <= 68


def test_a_hold_far_off_its_table_is_flagged_and_a_new_table_is_not() -> None:
    """Harm: a box that is robbed every night from one night on."""
    chance = random.Random(6)
    before = [Fraction(round(chance.gauss(200, 30)), 1_000) for _ in range(30)]
    outlier = outliers.of_habit(Fraction(50, 1_000), before)
    assert outlier is not None
    assert outlier.flagged
    assert outliers.of_habit(Fraction(50, 1_000), before[:9]) is None


@pytest.mark.parametrize(("freedom", "times"), [(9, 2.2622), (29, 2.0452), (59, 2.0010), (None, 1.9600)])
def test_the_number_of_deviations_is_the_tables_one(freedom: int | None, times: float) -> None:
    """Harm: an interval that is narrower than it says. Student's t as printed in tables of it."""
    assert abs(outliers._times(freedom) - times) < 0.001


@pytest.mark.django_db
def test_a_days_tables_are_looked_at() -> None:
    """Harm: a method that never meets the floor's own rounds."""
    dealer, _ = dealt(options={"decks": 6})
    plays(dealer)
    [outlier] = outliers.day(gaming_hours.day_of(timezone.now()))
    assert outlier.win is not None
    assert outlier.win.low < 0 < outlier.win.high
    assert outlier.hold is None
    assert not outlier.flagged


@pytest.mark.django_db
def test_wagers_and_seats_of_a_round_are_multiplied_and_others_are_not() -> None:
    """Harm: bets of different rounds, or a bet that was taken back, make an interval wider than chance is."""
    dealer, _ = dealt(name="Table 1", game="baccarat", options={}, seats=3)
    baccarat_round(dealer, {(1, "player"): 2_000, (1, "tie"): 1_000, (2, "player"): 3_000})
    baccarat_round(dealer, {(3, "banker"): 4_000})
    baccarat_round(dealer, {(3, "tie"): 5_000})
    dealer.reopens()
    today = gaming_hours.day_of(timezone.now())
    report = figures.day(today)
    [bets] = outliers._bets(report, {dealer.table.name: dealer.table}).values()
    assert bets == {
        ("player", "player"): Staked(2_000**2 + 3_000**2, 2 * 2_000 * 3_000),
        ("player", "tie"): Staked(2_000 * 1_000, 3_000 * 1_000),
        ("tie", "tie"): Staked(1_000**2, 0),
        ("banker", "banker"): Staked(4_000**2, 0),
    }
    [outlier] = outliers.day(today, report)
    assert outlier.win is not None
    variance = baccarat.covariances(baccarat_game.Rules())
    expected = sum(
        factor * variance[pair].seat * cents
        for pair, factor, cents in (
            (("player", "player"), 1, 5_000**2),
            (("player", "tie"), 2, 5_000 * 1_000),
            (("tie", "tie"), 1, 1_000**2),
            (("banker", "banker"), 1, 4_000**2),
        )
    )
    assert (outlier.win.high - outlier.win.low) / 2 == pytest.approx(1.959964 * expected**0.5, rel=1e-6)


def baccarat_round(dealer: Hand, bets: Mapping[tuple[int, str], int]) -> None:
    """A natural of the player's."""
    for (seat, wager), cents in bets.items():
        dealer("bet", seat=seat, amount_cents=cents, wager=wager)
    dealer("close_bets")
    dealer.cards("4", "T", "5", "T")
    dealer.pay()
