"""Rows of a model from a statement that was written by hand: no query is compiled for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model

M = TypeVar("M", bound=Model)


class RawRows(Generic[M]):
    """All columns of a model, in its order; as in the database: no column of ours has another name."""

    def __init__(self, model: type[M]) -> None:
        fields = model._meta.concrete_fields
        self._model, self._names = model, [field.attname for field in fields]
        self._converted = [(place, field) for place, field in enumerate(fields) if hasattr(field, "from_db_value")]

    def __len__(self) -> int:
        return len(self._names)

    def columns(self, table: str) -> str:
        """For a SELECT, of a table by the name that it has there."""
        return ", ".join(f"{table}.{name}" for name in self._names)

    def row(self, values: Sequence[Any]) -> M:
        """The row with these values, as Django would have read it."""
        values = list(values)
        for place, field in self._converted:
            values[place] = field.from_db_value(values[place], None, connection)
        return self._model.from_db(DEFAULT_DB_ALIAS, self._names, values)
