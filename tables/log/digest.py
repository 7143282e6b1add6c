"""Digests of rules and of round results. Each round pins them, so that a change of rules cannot go undetected."""

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
    """The identifier of a game's rules in this engine: the version, and the first 64 bits of a SHA-256 over name and
    version, in hex."""
    return f"{game.version}-{_digest({'game': game.name, 'version': game.version})[:16]}"


def dealt_by(name: str, version: str | None) -> Game[Any, Any] | None:
    """The game under the rules version that a round names; the first version if it names none. None if this engine does
    not have the version."""
    games = versions_of(name)
    if version is None:
        return min(games, key=attrgetter("version"))
    return next((game for game in games if rules_version(game) == version), None)


def result_of(game: Game[Any, Any], state: Any) -> str:
    """The digest of a round's result: SHA-256, in hex, over payouts, payments, cards gone from the shoe and cards left
    in it. It covers no sentences."""
    return _digest({"payouts": game.settle(state), **_counts(game, state)})


def stored_end_of(game: Game[Any, Any], state: Any, seats: tuple[int, ...]) -> str:
    """The digest of a round's final state as releases up to 0.9.0 calculated it: also over the views of the public and
    of each seat, with the sentences of those releases."""
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
