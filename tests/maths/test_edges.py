"""What wagers are worth before each round of a shoe: the quick ways that an audit goes, against the slow exact ones."""

import random
from typing import Any

import numpy as np
import pytest

from tables.games.baccarat import Rules as BaccaratRules
from tables.games.blackjack import Rules as BlackjackRules
from tables.games.cards import BY_RANK, Composition, Pack
from tables.games.casino_war import Rules as WarRules
from tables.games.catalog import GAMES
from tables.games.dragon_tiger import Rules as DragonTigerRules
from tables.maths import blackjack
from tables.maths.advantage import blackjack_before, providers
from tables.maths.advantage.linear_edge import yardsticks
from tables.maths.blackjack_chart import upcard_of, values_of
from tables.maths.blackjack_round import with_splits
from tables.maths.providers import rules_type
from tables.maths.situation import Unknowable
from tables.maths.standard import by_rank
from tests.tiers import sampled

PAIRS, BONUSES = ("player_pair", "banker_pair"), ("dragon_bonus_player", "dragon_bonus_banker")
EZ = BaccaratRules(commission="ez", spread=("tie", "dragon_7", "panda_8", *PAIRS, *BONUSES))
SUITED = DragonTigerRules(spread=("tie", "suited_tie"))
SIDES = BlackjackRules(decks=2, spread=("perfect_pairs", "twenty_one_plus_three"))


def unseen_of(pack: Pack, decks: int, part_dealt: float, chance: random.Random) -> Composition:
    """What is left of a shuffled shoe of which a part is gone."""
    cards = pack.cards(pack.shoes[decks])
    chance.shuffle(cards)
    return pack.count(cards[int(len(cards) * part_dealt) :])


@pytest.mark.parametrize("game", ["baccarat", "dragon_tiger", "casino_war"])
def test_every_wager_has_the_edge_and_the_variance_of_its_sheet(game: str) -> None:
    """Harm: the audit and the sheet tell two things of one shoe."""
    values, chance = providers.round_provider(game), random.Random(game)
    assert values is not None
    for rules in (EZ, BaccaratRules(), WarRules(second_tie="bonus"), SUITED):
        if rules.__class__ is not rules_type(game):
            continue
        for part_dealt in (0.0, 0.3, 0.9):
            unseen = unseen_of(GAMES[game].pack(rules), rules.decks, part_dealt, chance)
            sheet, edges = values.sheet(rules, unseen), values.edges(rules, unseen)
            assert set(edges) == {wager.name for wager in GAMES[game].wagers(rules)}
            for wager, edge in edges.items():
                assert edge.house == sheet.wagers[wager].house_edge
                assert edge.variance == pytest.approx(sheet.wagers[wager].standard_deviation ** 2)


def by_the_chart(rules: BlackjackRules, ranks: Composition) -> float:
    """The seat's win by the chart of a full shoe, exactly."""
    chart, terms = blackjack_before.full_shoe(rules).chart, blackjack.terms_of(rules)
    return sum(
        copies / sum(ranks) * with_splits(upcard_of(rules, ranks, upcard), chart.rows[upcard], terms)
        for upcard, copies in enumerate(values_of(ranks))
        if copies
    )


@pytest.mark.trial(
    "values blackjack exactly",
    covered_by="tests/maths/test_edges.py::test_a_full_shoe_of_blackjack_has_its_exact_edge",
)
@pytest.mark.parametrize(("part_dealt", "error"), [(0.4, 0.0008), (0.75, 0.002)])
def test_blackjack_by_effects_of_removal_is_near_the_exact_chart(part_dealt: float, error: float) -> None:
    """Harm: an edge that says that the seat had the better of it where the house had, as far as splits go."""
    rules, chance = BlackjackRules(), random.Random(f"{part_dealt}")
    ranks = unseen_of(BY_RANK, 6, part_dealt, chance)
    edge = blackjack_before.edge(rules, ranks)
    assert -edge.house == pytest.approx(by_the_chart(rules, ranks), abs=error)
    best = blackjack.solve(rules, ranks).mean
    assert -error < best + edge.house < 0.02, "best play from the composition gains on the chart"
    assert edge.variance == pytest.approx(1.331, abs=0.005)


@pytest.mark.slow("values blackjack exactly")
def test_a_full_shoe_of_blackjack_has_its_exact_edge() -> None:
    """Harm: the first round of every shoe is valued wrongly."""
    rules = BlackjackRules()
    exact = blackjack.solve(rules, BY_RANK.shoes[6]).mean
    assert blackjack_before.edge(rules, BY_RANK.shoes[6]).house == pytest.approx(-exact, abs=1e-12)
    with pytest.raises(Unknowable):
        blackjack_before.edge(rules, (1,) * 13)


@pytest.mark.trial(
    "values blackjack exactly",
    covered_by="tests/maths/test_blackjack_sheet.py::test_side_bets_are_worth_what_is_published",
)
def test_side_bets_of_blackjack_are_exact() -> None:
    """Harm: a bet on suits is valued without them."""
    unseen = unseen_of(GAMES["blackjack"].pack(SIDES), 2, 0.4, random.Random(4))
    edges, size, won = blackjack_before.edges(SIDES, unseen), sum(unseen), 0
    assert list(edges) == ["main", *SIDES.spread]
    for card, own_copies in enumerate(unseen):
        for second_card, copies in enumerate(unseen):
            alike = {card // 13 in (1, 2), second_card // 13 in (1, 2)}
            pays = 25 if card == second_card else 12 if len(alike) == 1 else 6
            won += own_copies * (copies - (card == second_card)) * (pays if card % 13 == second_card % 13 else -1)
    assert edges["perfect_pairs"].house == pytest.approx(-won / size / (size - 1), abs=1e-12)
    with pytest.raises(Unknowable, match="told by card"):
        blackjack_before.edges(SIDES, by_rank(unseen))


@pytest.mark.parametrize(
    ("game", "rules"),
    sampled(
        [("baccarat", EZ), ("dragon_tiger", SUITED), ("casino_war", WarRules())], "values many shoes exactly", test=1
    ),
)
def test_a_yardstick_follows_the_exact_edge(game: str, rules: Any) -> None:
    """Harm: a test of bets that looks at something else than the edge, and finds nobody."""
    values, pack, chance = providers.round_provider(game), GAMES[game].pack(rules), random.Random(9)
    assert values is not None
    sticks = yardsticks(game, rules, pack, rules.decks)
    shoes = [unseen_of(pack, rules.decks, chance.uniform(0.1, 0.9), chance) for _ in range(150)]
    for wager, stick in sticks.items():
        exact = [values.edges(rules, unseen)[wager].house for unseen in shoes]
        measured = stick.edges(np.array(shoes, np.float64))
        assert np.corrcoef(exact, measured)[0, 1] > 0.8, wager
