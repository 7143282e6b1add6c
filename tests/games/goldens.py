"""Golden rounds: one JSON file a clause of the rules, in a folder named after the game.

A file holds the ``clause`` in words, a round ``record``, and either the whole ``answer`` or the line with which the
record is ``refused``. The numbers are worked out by hand from the rules, never copied from what the engine says.
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def goldens(game: str) -> dict[str, dict[str, Any]]:
    """The golden rounds of a game by the names of their files."""
    return {path.stem: json.loads(path.read_text()) for path in sorted((HERE / game).glob("*.json"))}
