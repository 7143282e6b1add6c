"""Rows that can be added and never changed; triggers in the database enforce that."""

from typing import Any, ClassVar, NoReturn, TypeVar

from django.db import models


class Immutable(Exception):
    """A change or deletion of a row that may only be added."""


T = TypeVar("T", bound=models.Model)


class AppendOnlyRows(models.QuerySet[T]):
    """A queryset that can read and add rows. The database rejects updates and deletions too; this fails earlier, with a
    clear message."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise Immutable(f"{self.model.__name__} rows are never changed: add a correcting one")

    def delete(self) -> NoReturn:
        raise Immutable(f"{self.model.__name__} rows are never deleted")

    def bulk_update(self, *args: Any, **kwargs: Any) -> NoReturn:
        self.update()


class AppendOnly(models.Model):
    """A row that is written once.

    In the CHECKs of these tables, a comparison of a nullable column also requires it to be not NULL: a comparison with
    NULL is neither true nor false, and PostgreSQL lets such a row pass.
    """

    objects: ClassVar[models.Manager[Any]] = models.Manager.from_queryset(AppendOnlyRows)()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise Immutable(f"{type(self).__name__} rows are never changed: add a correcting one")
        super().save(*args, **kwargs | {"force_insert": True})

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise Immutable(f"{type(self).__name__} rows are never deleted")
