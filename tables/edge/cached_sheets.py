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
    """The worth of a game's wagers under some options, by a version of its method."""

    game = models.CharField(max_length=40)
    options_digest = models.CharField(max_length=64)
    """SHA-256 of the options that matter, as JSON with sorted keys."""
    method = models.IntegerField()
    options = models.JSONField()
    wagers = models.JSONField()
    """For each wager, its sheet."""
    covariances = models.JSONField()
    """For each pair of wagers, including a wager with itself: covariance of one seat, of two seats, and both errors."""
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
    """Edges, deviations and covariances of a game's wagers under some options, as far as they are computed."""

    edges: Mapping[str, float] = field(default_factory=dict)
    """The house edge of each wager, as a fraction of it."""
    deviations: Mapping[str, float] = field(default_factory=dict)
    covariances: Covariances | None = None
    chances: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By wager, the probabilities of results that whole chips may not pay: `Worth.chances`."""
    pending: bool = False
    """Whether a worker has yet to compute some of it."""

    def edge(self, wager: str | None = None) -> float | None:
        """The house edge of a wager; without a name, that of the game's only wager."""
        if wager is None:
            return next(iter(self.edges.values())) if len(self.edges) == 1 else None
        return self.edges.get(wager)


# --- Reading ---------------------------------------------------------------------------------------------------


def of_table(table: Table) -> Worths:
    """The worth of a table's wagers under its present options."""
    return of_tables([table])[0]


def of_tables(tables: Sequence[Table]) -> list[Worths]:
    """The worth of several tables' wagers, with at most one query."""
    return of([(table.game, rules_of(table)) for table in tables])


def of(games: Sequence[tuple[str, Any]]) -> list[Worths]:
    """The worth of the wagers of games, each with its rules."""
    keys = [key_of(game, rules) if game in KEPT else None for game, rules in games]
    rows = _rows({key for key in keys if key})
    return [
        _worths(game, rules, rows.get(key) if key else None) for (game, rules), key in zip(games, keys, strict=True)
    ]


def key_of(game: str, rules: Any) -> Key:
    """The key of a set of options: all of them except the chip unit and the rounding."""
    return game, sha256(msgspec.json.encode(that_matter(rules), order="deterministic")).hexdigest()


def that_matter(rules: Any) -> Any:
    """The rules without options that no edge depends on: odds are exact, whatever the chips are."""
    exact_odds = {"unit": 1, "rounding": "down"}
    return msgspec.structs.replace(
        rules, **{name: value for name, value in exact_odds.items() if name in rules.__struct_fields__}
    )


def _rows(keys: Iterable[Key]) -> dict[Key, KeptSheet]:
    """The cached rows that the present methods computed."""
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
    """Games and rules in use that have no row."""
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
