"""The house-banked games on standard cards against the account by hand, on records that nobody chose.

`house_by_hand.py` judges the same records from the rules alone, and `house_records.py` deals, cuts and breaks them.
"""

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from tables.games.catalog import GAMES, versions_of
from tables.games.play import replay
from tables.games.protocol import AskChoice, Bet, Card, Choose, CloseBets, Limits, Opening
from tables.games.record import judge, record_of
from tables.games.record_document import RecordError
from tests.games import house_by_hand
from tests.games.goldens import goldens
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


def check(record: dict[str, Any]) -> dict[str, Any] | None:
    """Assert that both accounts of a record agree. Return the answer by hand, or None for a refusal."""
    hand, engine = by_hand(record), by_engine(record)
    assert comparable(hand) == comparable(engine), json.dumps(record)
    return hand


def fate(answer: dict[str, Any] | None) -> str:
    """Whether a record was refused, complete, or open for what is due."""
    if answer is None:
        return "refused"
    return "complete" if answer["complete"] else f"open: {answer['next'][0]['kind']}"


# --- against the account by hand ---------------------------------------------------------------------------------


@every_house
def test_golden_rounds_are_judged_by_hand_as_they_are_pinned(name: str) -> None:
    """Harm: the account by hand makes the engine's mistake, or a mistake where the engine is right."""
    for title, golden in goldens(name).items():
        assert comparable(by_hand(golden["record"])) == comparable(golden.get("answer")), title


@every_house
def test_records_by_chance_are_judged_as_by_hand(name: str) -> None:
    """Harm: the engine pays against the rules or accepts an impossible round as possible; or the two accounts agree
    because no record reaches their differences."""
    met: Counter[str] = Counter()
    outcomes: set[str] = set()
    decides = {"open: decision"} if name not in ("baccarat", "dragon_tiger") else set()
    peeks = {"open: peek"} if name == "blackjack" else set()
    due = {"complete", "refused", "open: card"} | decides | peeks
    for seed in range(10 * RECORDS):
        if seed >= RECORDS and set(met) == due:
            break
        chance = Random(f"{name} {seed}")
        record = legal(name, chance)
        cut = truncated(record, chance)
        answer = check(record)
        assert answer is not None
        assert answer["complete"]
        outcomes |= {wager["outcome"] for seat in answer["results"] for wager in seat["wagers"]}
        variants = (cut, broken(record, chance), broken(cut, chance))
        met.update([fate(answer), *(fate(check(variant)) for variant in variants)])
    assert set(met) == due
    assert outcomes == OUTCOMES[name]


# --- in which order ----------------------------------------------------------------------------------------------

ACE, NINE, TEN = 1, 9, 10


@pytest.mark.parametrize(
    ("hole", "upcard", "looks", "is_paid"),
    [("peek", NINE, False, True), ("peek", TEN, True, True), ("none", NINE, False, True), ("none", TEN, False, False)],
)
def test_a_blackjack_that_the_dealer_cannot_tie_is_paid_before_any_further_card(
    hole: str, upcard: int, looks: bool, is_paid: bool
) -> None:
    """Harm: a winner waits for the hands of all others, or is paid before the dealer's blackjack is excluded."""
    former = versions_of("blackjack")[-1]
    rules = former.rules_type(decks=2, hole=hole)
    opening = Opening((1, 2, 3), Limits(), former.pack(rules).nothing, blind=True)
    dealt = [(1, ACE), (2, 5), (3, ACE), (0, upcard), (1, 13), (2, 6), (3, TEN)]
    actions = [*(Bet(seat, 1_000) for seat in (1, 2, 3)), CloseBets(), *(Card(card, to) for to, card in dealt)]
    actions += [Choose(0, "no_blackjack")] if looks else []
    for game, decided in ((GAMES["blackjack"], is_paid), (former, False)):
        state = replay(game, rules, opening, actions)
        paid = {payout.seat: payout.returned_cents for payout in game.settle(state)}
        assert paid == ({1: 2_500, 3: 2_500} if decided else {}), game.version
        assert isinstance(state.prompts[0], AskChoice)
        assert state.prompts[0].seat == 2


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
