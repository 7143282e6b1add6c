"""The kinds of game: nothing asks which one it is but the few files that hold a pair of objects for them."""

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec import structs

from tables.games.catalog import DEALT
from tables.log import pins
from tables.log.event import AuditFailure
from tables.log.game_kinds import HouseRound, PotRound, kind_of
from tables.log.state import Shoe, TableState
from tables.log.terms import Settings

ROOT: Final = Path(__file__).parents[3]
PACKAGES: Final = ("ledger", "tables", "dealer_ui", "casino")
PICKED_IN: Final = {"tables/log/game_kinds.py", "tables/board/table_view.py", "dealer_ui/dealer/game_kinds.py"}
"""The log's pair; the field of a board that tells programs the kind; the screen's pair, which is picked by that."""
NARROWED_IN: Final = "tables/games/"
"""Games and records of them name a protocol where they need one of its members."""
KINDS: Final = {"BankedGame", "PotGame", "Counted", "HouseRound", "PotRound"}


def branches(tree: ast.AST) -> Iterator[int]:
    """The lines that ask which kind a game is of."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr="banked" | "is_banked"):
                yield node.lineno
            case ast.Compare(
                comparators=[ast.Constant(value="banked" | "pot" | "counted")], left=ast.Attribute(attr="kind")
            ):
                yield node.lineno
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                if KINDS & {name.id for name in ast.walk(kinds) if isinstance(name, ast.Name)}:
                    yield node.lineno


@pytest.mark.slow("parses every module")
def test_no_room_asks_whether_a_game_is_banked() -> None:
    """Harm: a rule of one kind is forgotten at the one branch that nobody looked at."""
    branches_on_kind = [
        f"{path}:{line}"
        for package in PACKAGES
        for path in (file.relative_to(ROOT).as_posix() for file in sorted((ROOT / package).rglob("*.py")))
        if path not in PICKED_IN and not path.startswith(NARROWED_IN)
        for line in branches(ast.parse((ROOT / path).read_text()))
    ]
    assert branches_on_kind == []


def test_what_asks_is_found() -> None:
    """Harm: the search for branches finds none because it looks for none."""
    assert list(branches(ast.parse("if game.banked: pass"))) == [1]
    assert list(branches(ast.parse('x = 1 if game.kind == "pot" else 2'))) == [1]
    assert list(branches(ast.parse("isinstance(game, BankedGame | int)"))) == [1]
    assert list(branches(ast.parse('if board.kind == "counted": pass'))) == [1]


@pytest.mark.parametrize("game", DEALT.values(), ids=DEALT)
def test_a_round_is_of_the_kind_of_its_game(game: Any) -> None:
    """Harm: a game for a pot is settled as if the house had taken its bets."""
    assert kind_of(game).round_type is {"banked": HouseRound, "pot": PotRound}[game.kind]


# --- what a round pins ------------------------------------------------------------------------------------------

STACKS: Final = tuple((seat, 10_000) for seat in range(1, 5))


def felt(game: str) -> Settings:
    return Settings(
        game=game, options={}, seats=6, unit_cents=100, min_cents=1_000, max_cents=50_000, denominations=(100,)
    )


def lying(game: str) -> TableState:
    """The table is open with chips at four seats, and its shoe is ready."""
    return TableState(is_open=True, shoe=Shoe(3, 1, "keyed", "ready"), seated=STACKS)


def first_of_four(seats: Any) -> int:
    return 4


@pytest.mark.parametrize("name", ["sweep", "starboard"])
def test_chance_chooses_who_starts_and_the_entry_alone_tells(name: str) -> None:
    """Harm: a proof calls whoever chance chose a forgery, or takes a seat that is not in the game."""
    table, standing = felt(name), lying(name)
    round_, pinned = pins.opened(table, standing, (1, 2, 3, 4), first_of_four)
    assert (pinned.opening.first, round_.opening, pinned.shoe) == (4, pinned.opening, 3)
    assert (pinned.stacks, pinned.coin_cents) == (STACKS, 100)
    assert pins.due(table, standing, pinned) == pinned
    elsewhere = structs.replace(pinned, opening=structs.replace(pinned.opening, first=6))
    with pytest.raises(AuditFailure, match="seat 6 starts, which is not in the game"):
        pins.due(table, standing, elsewhere)


def test_nobody_is_pinned_as_who_starts_where_chance_has_no_say() -> None:
    """Harm: somebody writes into the log who starts, and the proof for outsiders takes it for chance."""
    table, standing = felt("pairs"), lying("pairs")
    _, pinned = pins.opened(table, standing, (1, 2, 3, 4), first_of_four)
    assert pinned.opening.first is None
    forged = structs.replace(pinned, opening=structs.replace(pinned.opening, first=2))
    assert pins.due(table, standing, forged) == pinned != forged


def test_against_the_house_every_seat_may_bet_and_nothing_is_pinned_of_chips() -> None:
    """Harm: a seat that came late cannot bet; or a round against the house is told as if chips lay at its seats."""
    standing = replace(lying("rocket"), seated=())
    round_, pinned = pins.opened(felt("rocket"), standing, (), first_of_four)
    assert (round_.number, pinned.opening.seats) == (1, (1, 2, 3, 4, 5, 6))
    assert (pinned.stacks, pinned.pot_cents, pinned.coin_cents) == (None, None, None)
    assert round_.bet_limits == pinned.opening.limits
    assert not round_.has_moved_chips


def test_rules_that_were_pinned_once_stay_pinned() -> None:
    """Harm: whoever forges a round leaves out by which rules it was dealt, and no proof misses them."""
    table, before = felt("rocket"), replace(lying("rocket"), seated=())
    round_, pinned = pins.opened(table, before, (), first_of_four)
    unnamed = structs.replace(pinned, version=None)
    assert pins.due(table, before, unnamed).version is None
    assert pins.due(table, replace(before, round=round_), unnamed).version == pinned.version
