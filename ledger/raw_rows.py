"""Rows of SQL written by hand, and model instances built from them without Django's query compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model

M = TypeVar("M", bound=Model)


def fetch_rows(sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return list(cursor.fetchall())


def fetch_row(sql: str, parameters: Mapping[str, Any] | Sequence[Any] | None = None) -> Any:
    """The first row of a statement; None if there is none."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return cursor.fetchone()


class RawRows(Generic[M]):
    """All columns of a model, in the order of its fields. A column's name is its field's ``attname``."""

    def __init__(self, model: type[M]) -> None:
        fields = model._meta.concrete_fields
        self._model, self._names = model, [field.attname for field in fields]
        self._converted = [(place, field) for place, field in enumerate(fields) if hasattr(field, "from_db_value")]

    def __len__(self) -> int:
        return len(self._names)

    def columns(self, table: str) -> str:
        """The columns for a SELECT, qualified with the table's name or alias in that statement."""
        return ", ".join(f"{table}.{name}" for name in self._names)

    def row(self, values: Sequence[Any]) -> M:
        """The model instance with these column values, as Django would have loaded it."""
        values = list(values)
        for place, field in self._converted:
            values[place] = field.from_db_value(values[place], None, connection)
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, values)
