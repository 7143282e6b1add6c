"""The house-banked games on standard cards against the account by hand, on records that nobody chose.

`house_by_hand.py` judges the same records from the rules alone, and `house_records.py` deals, cuts and breaks them.
"""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables.games.catalog import GAMES
from tables.games.felt import Choose
from tables.games.record import judge, record_of
from tables.games.record_document import RecordError
from tests.games import house_by_hand
from tests.games.house_records import broken, legal, truncated
from tests.games.test_every_game import on_standard_cards, play_outs
from tests.pace import by_pace

pytestmark = pytest.mark.slow("plays many rounds by chance")

RECORDS = by_pace(60, 400, 4_000)
NO_CHIPS = {"fold", "surrender", "decline", "stand", "hit"}
"""Choices that put up nothing: whether their cost of 0 is listed is left open."""
OUTCOMES = {
    "baccarat": {"win", "lose", "push"},
    "dragon_tiger": {"win", "lose", "half"},
    "casino_war": {"win", "lose", "push", "surrender"},
    "three_card_poker": {"win", "lose", "push", "fold"},
    "blackjack": {"blackjack", "win", "push", "lose", "bust", "surrender"},
}

every_house = pytest.mark.parametrize("name", house_by_hand.HOUSES)


def by_engine(record: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return judge(json.dumps(record))
    except RecordError:
        return None


def by_hand(record: dict[str, Any]) -> dict[str, Any] | None:
    try:
        return house_by_hand.judge(json.loads(json.dumps(record)))
    except house_by_hand.Refused:
        return None


def comparable(answer: dict[str, Any] | None) -> dict[str, Any] | None:
    """An answer without what the rules leave open: the order of wagers and choices, and costs of nothing."""
    if answer is None:
        return None
    seats = [seat | {"wagers": sorted(seat["wagers"], key=repr)} for seat in plain(answer["results"])]
    return plain(answer) | {"results": seats, "next": [_due(ask) for ask in answer["next"]]}


def plain(value: Any) -> Any:
    """As it leaves the house: with sorted keys, so that equal things are written alike."""
    return json.loads(json.dumps(value, sort_keys=True))


def _due(ask: dict[str, Any]) -> dict[str, Any]:
    if ask["kind"] != "decision":
        return ask
    due = {
        "kind": "decision",
        "seat": ask["seat"],
        "choices": sorted(ask["choices"]),
        "cost": {choice: cents for choice, cents in ask["cost"].items() if choice not in NO_CHIPS},
    }
    return due | {"hand": ask["hand"]} if "stand" in ask["choices"] else due


def check(record: dict[str, Any]) -> str:
    """The two accounts of a record are the same; returns what becomes of it."""
    hand, engine = by_hand(record), by_engine(record)
    assert comparable(hand) == comparable(engine), json.dumps(record)
    return "refused" if hand is None else "complete" if hand["complete"] else f"open: {hand['next'][0]['kind']}"


# --- against the account by hand ---------------------------------------------------------------------------------


@every_house
def test_records_by_chance_are_judged_as_by_hand(name: str) -> None:
    """Harm: the engine pays otherwise than the rules say, or takes an impossible round for a possible one."""
    met: Counter[str] = Counter()
    decides = {"open: decision"} if name not in ("baccarat", "dragon_tiger") else set()
    peeks = {"open: peek"} if name == "blackjack" else set()
    due = {"complete", "refused", "open: card"} | decides | peeks
    for seed in range(10 * RECORDS):
        if seed >= RECORDS and set(met) == due:
            break
        chance = Random(f"{name} {seed}")
        record = legal(name, chance)
        cut = truncated(record, chance)
        assert check(record) == "complete"
        met.update([check(cut), check(broken(record, chance)), check(broken(cut, chance))])
    assert set(met) == due


@every_house
def test_records_by_chance_meet_every_outcome(name: str) -> None:
    """Harm: the two accounts agree because what they disagree about never comes."""
    outcomes = {
        wager["outcome"]
        for seed in range(RECORDS)
        for seat in judge(json.dumps(legal(name, Random(f"{name} {seed}"))))["results"]
        for wager in seat["wagers"]
    }
    assert outcomes == OUTCOMES[name]


@given(st.sampled_from(list(house_by_hand.HOUSES)), st.integers(0, 2**64))
def test_records_of_any_seed_are_judged_as_by_hand(name: str, seed: int) -> None:
    """Harm: the two accounts agree on the records of one seed, and on no others."""
    chance = Random(seed)
    record = legal(name, chance)
    cut = truncated(record, chance)
    for changed in (record, cut, broken(record, chance), broken(cut, chance)):
        check(changed)


# --- there and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, game in GAMES.items() if on_standard_cards(game)])
def test_a_rounds_own_record_is_judged_by_hand_as_the_table_paid_it(name: str) -> None:
    """Harm: a round that a table dealt is exported as another one, and a dispute is settled by that."""
    game, decided = GAMES[name], 0
    for round_ in play_outs(name, RECORDS // 4):
        if round_.opening.unseen:
            continue  # no record says what was burned: by it the shoe lasts longer
        record = record_of(game, round_.rules, round_.opening, round_.actions)
        answer = by_hand(record)
        assert answer is not None, record
        payouts = game.settle(round_.state)
        assert [(seat["seat"], seat["net"], seat["returned"]) for seat in answer["results"]] == [
            (payout.seat, payout.net_cents, payout.returned_cents) for payout in payouts
        ]
        assert comparable(answer) == comparable(by_engine(record))
        decided += sum(isinstance(action, Choose) for action in round_.actions)
    assert bool(decided) == bool(game.words)
