"""Bets that follow the edge: who does not count is flagged one time in a hundred, who does is found."""

import random

import pytest
from django.core.management import CommandError, call_command

from tables.edge import bettors
from tables.edge.bettors import INNOCENT, Bettor
from tables.maths import baccarat
from tables.maths.advantage.bet_following import ShoeEdges, follow
from tables.maths.advantage.significance import together

pytestmark = pytest.mark.slow("values or simulates whole games")

FULL = 0.033


def course(chance: random.Random, rounds: int = 30) -> tuple[ShoeEdges, list[int]]:
    """A shoe as a walk in the running count, and results that hang together with what their cards did to it."""
    edges, unseen, results, count, unseen_count = [], [], [], 0.0, 330
    for _ in range(rounds):
        edges.append(FULL + count / unseen_count)
        unseen.append(unseen_count)
        moved, drawn = chance.gauss(0, 1.2), chance.randint(4, 13)
        results.append(1 if chance.gauss(0, 1) + 0.3 * moved > 0 else -1)
        count, unseen_count = count + moved, unseen_count - drawn
        unseen_count = max(unseen_count, 40)
    return ShoeEdges(tuple(edges), tuple(unseen)), results


def flags(bettor: Bettor, shoes: int, seed: int) -> int:
    """How often this player is flagged."""
    chance, flag_count = random.Random(seed), 0
    for _ in range(shoes):
        dealt, results = course(chance)
        bets = list(bettor(dealt.edges, results, FULL, chance))
        test = follow(dealt, bets, results, seed=chance.getrandbits(32), permutations=299)
        flag_count += test is not None and test.flagged
    return flag_count


@pytest.mark.parametrize("name", [name for name in INNOCENT if name != "by the size of the last result"])
def test_who_does_not_count_is_flagged_one_time_in_a_hundred(name: str) -> None:
    """Harm: players who raise after a win, or as the evening goes on, are taken for counters."""
    assert flags(INNOCENT[name], 300, seed=7) <= 9  # more in one of a thousand seeds, were it 1 in 100


def test_who_bets_by_the_edge_is_found() -> None:
    """Harm: a test that never flags anybody."""
    assert flags(bettors.leaning, 60, seed=8) >= 9  # of 60 shoes; chance alone flags one


@pytest.mark.trial(
    "simulates thousands of players",
    covered_by="tests/maths/advantage/test_bet_following.py::test_who_does_not_count_is_flagged_one_time_in_a_hundred",
)
def test_bets_on_single_wagers_are_told_apart_too() -> None:
    """Harm: who plays a pair for fun is flagged because the edge of a pair moves as no other does; or who counts for it
    is not. Of the innocent chance flags one test in a hundred."""
    rules = baccarat.Rules(commission="ez", spread=("dragon_7", "player_pair"))
    shoes = [bettors.deal_wagers("baccarat", rules, seed) for seed in range(16)]
    innocent = 0
    for wager in rules.spread:
        rates = bettors.check_wager(shoes, wager, permutations=199)
        assert rates[-1].bettor == "1:5 below the full edge"
        assert rates[-1].flagged >= 4
        innocent += sum(rate.flagged for rate in rates[:-2])
    assert innocent <= 8  # of 192 tests; chance flags about two, and more than eight in one of five thousand seeds


def test_a_game_with_decisions_is_not_studied_so() -> None:
    """Harm: rates of a game in which nobody played as anybody would."""
    with pytest.raises(CommandError, match="blackjack is not studied so"):
        call_command("shoe_audit", "--check", "--game", "blackjack", "--shoes", "1")


def test_there_is_nothing_to_test_in_a_bet_that_never_changes() -> None:
    """Harm: a flag, or a division by nothing, for whoever always bets the same, or sat down for a moment."""
    dealt, results = course(random.Random(1))
    assert follow(dealt, [5] * 30, results, seed=1) is None
    assert follow(dealt, [0] * 26 + [1, 2, 1, 2], results, seed=1) is None


def test_the_test_is_the_same_when_it_is_done_again() -> None:
    """Harm: a flag that comes and goes with each look."""
    dealt, results = course(random.Random(2))
    bets = [1 + turn % 3 for turn in range(30)]
    assert follow(dealt, bets, results, seed=3) == follow(dealt, bets, results, seed=3)


def test_shoes_add_up() -> None:
    """Harm: who is a little suspicious in each shoe never shows; who once was, always."""
    assert together([]) is None
    several, once = together([(60, 999)] * 10), together([(0, 999)] + [(500, 999)] * 9)
    assert several is not None
    assert once is not None
    assert several < 0.001
    assert once > 0.1


def test_a_shoe_is_dealt_to_its_cut_card_by_the_engine() -> None:
    """Harm: rates that were measured at another game than the one on the floor."""
    dealt = bettors.deal(1, 2, seed=3)
    edges, unseen = dealt.course.edges, dealt.course.unseen
    assert edges[0] == pytest.approx(0.020788201249)
    assert list(unseen) == sorted(unseen, reverse=True)
    assert unseen[0] == 55
    assert unseen[-1] - 5 > 11
    assert {len(seat) for seat in dealt.results} == {len(edges)}
    rates = bettors.check([dealt], 1, permutations=99)
    assert {rate.bettor for rate in rates} == INNOCENT.keys() | bettors.COUNTERS.keys()


def test_the_command_prints_a_row_for_each_kind_of_player(capsys: pytest.CaptureFixture[str]) -> None:
    """Harm: rates that nobody can measure again."""
    call_command("shoe_audit", "--check", "--decks", "1", "--seats", "1", "--shoes", "2")
    table_text = capsys.readouterr().out
    assert all(f"| {name} |" in table_text for name in (*INNOCENT, *bettors.COUNTERS))
    for wrong in ([], ["--check", "--decks", "9"], ["--check", "--shoes", "0"]):
        with pytest.raises(CommandError):
            call_command("shoe_audit", *wrong)
