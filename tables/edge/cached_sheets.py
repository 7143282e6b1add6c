"""The worth of a table's wagers and their covariances: computed at once if that is fast, otherwise read from the cache.

Some games take seconds to value, and half a minute on a machine's first use. No page waits for that: a scheduled check
values each set of options in use, once, and readers use its row. Modules that shuffle or deal must not import this one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar

import msgspec
from django.db import models

from ledger import runs
from ledger.models import AppendOnly
from tables.log.terms import rules_of
from tables.maths import covariances as together
from tables.maths import providers
from tables.maths.covariances import Covariances
from tables.maths.providers import KEPT, SLOW
from tables.models import Table


class KeptSheet(AppendOnly):
    """What a game is worth under some options, by a version of its method."""

    game = models.CharField(max_length=40)
    options_digest = models.CharField(max_length=64)
    """SHA-256 of the options that matter, as JSON with its keys in order."""
    method = models.IntegerField()
    options = models.JSONField()
    wagers = models.JSONField()
    """For each: what a sheet says of it."""
    covariances = models.JSONField()
    """For each two wagers, and each with itself: of one seat, of two, and the errors of both."""
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        app_label = "tables"
        verbose_name = "kept sheet"
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["game", "options_digest", "method"], name="tables_keptsheet_once")
        ]

    def __str__(self) -> str:
        return f"{self.game} {self.options_digest[:8]} by method {self.method}"


Key = tuple[str, str]
"""A game, and the digest of its options."""


@dataclass(frozen=True, slots=True)
class Worths:
    """What is known of a game's wagers under some options."""

    edges: Mapping[str, float] = field(default_factory=dict)
    """What the house wins of each wager on average, as a part of it."""
    deviations: Mapping[str, float] = field(default_factory=dict)
    covariances: Covariances | None = None
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By wager, the probabilities of results that whole chips may not pay: ``Worth.chances``."""
    pending: bool = False
    """Whether a worker is still to compute some of it."""

    def edge(self, wager: str | None = None) -> float | None:
        """Of a wager; of none that is named, that of the only one there is."""
        if wager is None:
            return next(iter(self.edges.values())) if len(self.edges) == 1 else None
        return self.edges.get(wager)


# --- Reading ---------------------------------------------------------------------------------------------------


def of_table(table: Table) -> Worths:
    """What is known of a table's wagers, under its present options."""
    return of_tables([table])[0]


def of_tables(tables: Sequence[Table]) -> list[Worths]:
    """Of several, in one statement at most."""
    return of([(table.game, rules_of(table)) for table in tables])


def of(games: Sequence[tuple[str, Any]]) -> list[Worths]:
    """Of games, each with its rules."""
    keys = [key_of(game, rules) if game in KEPT else None for game, rules in games]
    rows = _rows({key for key in keys if key})
    return [
        _worths(game, rules, rows.get(key) if key else None) for (game, rules), key in zip(games, keys, strict=True)
    ]


def key_of(game: str, rules: Any) -> Key:
    """The key of a set of options: all of them except the chip unit and the rounding."""
    return game, sha256(msgspec.json.encode(that_matter(rules), order="deterministic")).hexdigest()


def that_matter(rules: Any) -> Any:
    """The rules with the options left out on which no edge depends: odds are exact, whatever the chips are."""
    exact_odds = {"unit": 1, "rounding": "down"}
    return msgspec.structs.replace(
        rules, **{name: value for name, value in exact_odds.items() if name in rules.__struct_fields__}
    )


def _rows(keys: Iterable[Key]) -> dict[Key, KeptSheet]:
    """Those that are kept by today's methods."""
    pairs = list(keys)
    if not pairs:
        return {}
    rows = KeptSheet.objects.filter(
        game__in=[game for game, _ in pairs], options_digest__in=[digest for _, digest in pairs]
    )
    return {(row.game, row.options_digest): row for row in rows if row.method == KEPT.get(row.game)}


def _worths(game: str, rules: Any, row: KeptSheet | None) -> Worths:
    if row is not None:
        edges, deviations = (
            {wager: worth[name] for wager, worth in row.wagers.items()} for name in ("house_edge", "standard_deviation")
        )
        chances = {wager: worth.get("chances", {}) for wager, worth in row.wagers.items()}
        return Worths(edges, deviations, together.read(row.covariances), chances)
    sheet = None if game in SLOW else providers.full_shoe(game, rules)
    wagers = sheet.wagers if sheet else {}
    return Worths(
        {wager: worth.house_edge for wager, worth in wagers.items()},
        {wager: worth.standard_deviation for wager, worth in wagers.items()},
        None if game in KEPT else providers.covariances(game, rules),
        {wager: worth.chances for wager, worth in wagers.items()},
        pending=game in KEPT,
    )


# --- Keeping ---------------------------------------------------------------------------------------------------


def value_games() -> int:
    """Value each set of options in use that has no row yet. Returns 0: this check has no findings.

    Each row is committed as it is computed, so that work continues after a killed worker.
    """
    for game, rules in missing():
        _value(game, rules)
    return 0


def missing() -> list[tuple[str, Any]]:
    """Games with the rules that tables have, of which no row is kept."""
    games = {}
    for table in Table.objects.filter(game__in=list(KEPT)).order_by("pk"):
        rules = rules_of(table)
        games[key_of(table.game, rules)] = (table.game, that_matter(rules))
    rows = _rows(games)
    return [game_and_rules for key, game_and_rules in games.items() if key not in rows]


def _value(game: str, rules: Any) -> None:
    """Compute and keep one, unless another worker is at it. The database holds one row for each."""
    with runs.alone(f"value {game} {key_of(game, rules)[1]}") as is_alone:
        if not is_alone or key_of(game, rules) in _rows([key_of(game, rules)]):
            return
        if row := compute(game, rules):
            KeptSheet.objects.bulk_create([row], ignore_conflicts=True)


def compute(game: str, rules: Any) -> KeptSheet | None:
    """The unsaved row of a game under these rules, or None if the game has no exact values."""
    rules = that_matter(rules)
    sheet, covariances = providers.full_shoe(game, rules), providers.covariances(game, rules)
    if sheet is None or covariances is None:
        return None
    return KeptSheet(
        game=game,
        options_digest=key_of(game, rules)[1],
        method=KEPT[game],
        options=msgspec.to_builtins(rules),
        wagers={wager: worth.facts() for wager, worth in sheet.wagers.items()},
        covariances=together.rows(covariances),
    )
