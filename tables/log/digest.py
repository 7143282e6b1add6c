"""Names of rules and of a round's end: what a round pins, so that no change of rules tells it otherwise unseen."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from ledger.proof.spelling import canonical
from tables.games.game import Game
from tables.log.kinds import kind_of


def rules_version(game: Game[Any, Any]) -> str:
    """Names a game's rules as this engine has them: its version, and the first 64 bits of a SHA-256 over it and the
    game's name, in hex."""
    return f"{game.version}-{_digest({'game': game.name, 'version': game.version})[:16]}"


def end_of(game: Game[Any, Any], state: Any, seats: tuple[int, ...]) -> str:
    """Names the state that a round ended with: SHA-256, in hex, over its payouts and payments, what is gone from the
    shoe and left in it, and what the public and each of its seats saw."""
    end = {
        "payouts": game.settle(state),
        "payments": kind_of(game).payments(state),
        "gone": game.gone(state),
        "cards_left": game.cards_left(state),
        "views": [game.view(state, viewer) for viewer in (None, *seats)],
    }
    return _digest(end)


def _digest(document: dict[str, Any]) -> str:
    return sha256(canonical(msgspec.to_builtins(document))).hexdigest()
