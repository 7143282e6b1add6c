"""What the rest of the system asks the mathematics, and what it pays for that."""

import subprocess
import sys

import pytest

from tables.games import baccarat
from tables.games.catalog import DEALT
from tables.games.rocket import Rules
from tables.maths import house_edge
from tables.maths.rocket_value import solve
from tables.maths.situation import fresh


def test_theoretical_win_uses_the_exact_edge_of_the_tables_shoe() -> None:
    """Harm: a hold report that compares a table with the edge of another shoe."""
    for decks in (1, 6):
        solution = solve(fresh(decks))
        assert house_edge(DEALT["rocket"], Rules(decks)) == (solution.house_edge, solution.standard_deviation)
    assert house_edge(DEALT["rocket"], Rules(6)) == pytest.approx((0.0332, 0.7058), abs=1e-4)


def test_a_game_without_an_exact_value_has_none() -> None:
    """Harm: a theoretical win for a game whose house takes nothing, or of a number that nobody proved."""
    unproved = [game for name, game in DEALT.items() if name != "rocket"]
    assert {house_edge(game, game.rules_type()) for game in unproved} == {None}


def test_the_edge_of_a_game_with_several_wagers_is_asked_for_one_of_them() -> None:
    """Harm: a theoretical win of all bets of a table by the edge of another bet."""
    game = DEALT["baccarat"]
    assert house_edge(game, baccarat.Rules()) is None
    assert house_edge(game, baccarat.Rules(), "dragon_7") is None
    assert house_edge(game, baccarat.Rules(), "tie") == pytest.approx((0.143596, 2.640872), abs=1e-6)
    assert house_edge(DEALT["rocket"], Rules(6), "bet") == house_edge(DEALT["rocket"], Rules(6))


def test_a_web_process_does_not_pay_for_mathematics_that_it_does_not_use() -> None:
    """Harm: every web process starts seconds later, for a number that few pages show."""
    program = "import sys, tables.maths; sys.exit('numpy' in sys.modules or 'numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
    from_rocket = "from tables.games.catalog import DEALT; from tables.games.rocket import Rules;"
    asks = f"import sys; from tables.maths import house_edge; {from_rocket} house_edge(DEALT['rocket'], Rules());"
    assert (
        subprocess.run([sys.executable, "-c", f"{asks} sys.exit('numba' in sys.modules)"], check=False).returncode == 0
    )
