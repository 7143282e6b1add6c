"""`python -m casino.demo.sheets`: computes the demo's slow games and writes sheets.json for the repository.

A new demo loads these rows: its worker would otherwise compute them in the first minutes, while proofs are requested.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import django

FILE: Final = Path(__file__).with_name("sheets.json")
COLUMNS: Final = ("game", "options_digest", "method", "options", "wagers", "covariances")


def games() -> list[tuple[str, Any]]:
    """The slow games of the demo's tables, each with its rules."""
    from tables.games.catalog import GAMES
    from tables.log.terms import made_rules
    from tables.management.commands.seed_demo import TABLES
    from tables.maths.providers import KEPT

    slow = [terms for terms in TABLES.values() if terms.game in KEPT]
    return [(terms.game, made_rules(GAMES[terms.game], terms.options, terms.unit_cents)) for terms in slow]


def load() -> None:
    """Write the rows that ship."""
    from tables.edge.cached_sheets import KeptSheet

    rows = [KeptSheet(**columns) for columns in json.loads(FILE.read_text())]
    KeptSheet.objects.bulk_create(rows, ignore_conflicts=True)


def compute() -> list[dict[str, Any]]:
    """Compute the columns of each row, which takes about a minute."""
    from tables.edge.cached_sheets import compute as compute_row

    rows = [row for game, rules in games() if (row := compute_row(game, rules))]
    return [{name: getattr(row, name) for name in COLUMNS} for row in rows]


def main() -> None:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "casino.settings", "CASINO_ENV": "demo"}
    django.setup()
    FILE.write_text(json.dumps(compute(), indent=1) + "\n")


if __name__ == "__main__":
    main()
