"""Digests of a round's result, and of a round's end as releases up to 0.9.0 wrote it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tables.games.cards import BY_RANK
from tables.games.catalog import GAMES
from tables.games.play import replay
from tables.games.protocol import BANKER_HAND, PLAYER_HAND, Action, Bet, Card, CloseBets, Opening
from tables.games.stored_wording import stored_payouts
from tables.log.digest import dealt_by, result_of, stored_end_of

STORED = [json.loads(line) for line in Path(__file__).with_name("stored_rounds.jsonl").read_text().splitlines()]
"""Rounds as 0.9.0 wrote them: payouts, the digest of the end, and that of the state after two thirds of the inputs.
Together they have every sentence that a payout or a hand could have."""


def replayed(stored: dict[str, Any], count: int | None = None) -> tuple[Any, Any, Opening]:
    game = dealt_by(stored["game"], stored["version"])
    assert game is not None
    rules, opening = msgspec.convert(stored["rules"], game.rules_type), msgspec.convert(stored["opening"], Opening)
    actions = msgspec.convert(stored["actions"], tuple[Action, ...])
    return game, replay(game, rules, opening, actions[:count]), opening


@pytest.mark.parametrize("name", sorted({stored["game"] for stored in STORED}))
def test_a_stored_round_is_compared_in_the_words_of_its_release(name: str) -> None:
    """Harm: a sentence or a hand's name is corrected, and rounds that were paid rightly can no longer be proved."""
    for stored in STORED:
        if stored["game"] != name:
            continue
        game, state, opening = replayed(stored)
        assert json.loads(msgspec.json.encode(stored_payouts(game, game.settle(state)))) == stored["decided"]
        assert stored_end_of(game, state, opening.seats) == stored["end"]
        count, end = stored["lay"]
        assert stored_end_of(game, replayed(stored, count)[1], opening.seats) == end


def test_a_reason_of_a_later_release_is_compared_by_its_code() -> None:
    """Harm: a wrong payout of a side bet that earlier releases did not have is a KeyError in a proof, and not named."""
    game, names = GAMES["baccarat"], (PLAYER_HAND, BANKER_HAND, PLAYER_HAND, BANKER_HAND, BANKER_HAND)
    cards = [Card(BY_RANK.number(sign), to) for sign, to in zip("75TT5", names, strict=True)]
    actions = (Bet(1, 10, "dragon_bonus_player"), CloseBets(), *cards)
    state = replay(
        game, game.rules_type(spread=("dragon_bonus_player",)), Opening((1,), dealt=BY_RANK.nothing), actions
    )
    assert [payout.why for payout in stored_payouts(game, game.settle(state))] == [
        "dragon bonus player: margin, pays 6 to 1"
    ]


def test_a_result_is_over_facts_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Harm: no sentence can be corrected or translated without making new rounds unprovable; or a round with other
    payments has the same name."""
    results = {}
    for place, stored in enumerate(STORED):
        game, state, _ = replayed(stored)
        results[place] = result_of(game, state)
        assert game.settle(state) == () or all(map(game.explain, game.settle(state)))
    for game in GAMES.values():
        monkeypatch.setattr(type(game), "explain", None)
    assert results == {place: result_of(*replayed(stored)[:2]) for place, stored in enumerate(STORED)}
    assert len(set(results.values())) == len(STORED)
