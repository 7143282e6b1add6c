"""Names of rules and of a round's result: what a round pins, so that a change of rules cannot pass unseen."""

from __future__ import annotations

from hashlib import sha256
from operator import attrgetter
from typing import Any

import msgspec

from ledger.proof.spelling import canonical
from tables.games.catalog import versions_of
from tables.games.game import Game
from tables.games.stored_wording import stored_payouts, stored_view
from tables.log.game_kinds import kind_of


def rules_version(game: Game[Any, Any]) -> str:
    """Names a game's rules as this engine has them: its version, and the first 64 bits of a SHA-256 over it and the
    game's name, in hex."""
    return f"{game.version}-{_digest({'game': game.name, 'version': game.version})[:16]}"


def dealt_by(name: str, version: str | None) -> Game[Any, Any] | None:
    """The game under the rules that a round names; the first version where a round names none. None where this engine
    has no such version."""
    games = versions_of(name)
    if version is None:
        return min(games, key=attrgetter("version"))
    return next((game for game in games if rules_version(game) == version), None)


def result_of(game: Game[Any, Any], state: Any) -> str:
    """Names the result of a round: SHA-256, in hex, over its payouts and payments, what is gone from the shoe and left
    in it. Facts alone, no sentences."""
    return _digest({"payouts": game.settle(state), **_counts(game, state)})


def stored_end_of(game: Game[Any, Any], state: Any, seats: tuple[int, ...]) -> str:
    """Names the state that a round ended with as releases up to 0.9.0 did: over what the public and each of its seats
    saw too, with the sentences of that time."""
    views = [stored_view(game, game.view(state, viewer)) for viewer in (None, *seats)]
    return _digest({"payouts": stored_payouts(game, game.settle(state)), "views": views, **_counts(game, state)})


def _counts(game: Game[Any, Any], state: Any) -> dict[str, Any]:
    return {
        "payments": kind_of(game).payments(state),
        "gone": game.gone(state),
        "cards_left": game.cards_left(state),
    }


def _digest(document: dict[str, Any]) -> str:
    return sha256(canonical(msgspec.to_builtins(document))).hexdigest()
