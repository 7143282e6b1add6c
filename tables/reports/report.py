"""Reports: a list with its columns and permission, declared once. Its page, its files and the API follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, TypeVar

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_noop

from tables.reports.spreadsheets import Row

Query = TypeVar("Query")
Item = TypeVar("Item")
Stored = TypeVar("Stored", bound=Model)

TEXT: Final = "text"
NUMBER: Final = "number"
MONEY: Final = "money"
DAY: Final = "day"
MOMENT: Final = "moment"


@dataclass(frozen=True)
class Column(Generic[Item]):
    """A column of a report."""

    name: str
    """Its heading in a file. Other programs read files by it, so it never changes."""
    value: str | Callable[[Item], Any] = ""
    """The path of an attribute of the item, such as ``dealer.name``, or a function of the item; else ``name``."""
    heading: str = ""
    """Its heading on the page."""
    kind: str = TEXT
    """How the page writes and aligns it."""
    page_value: str | Callable[[Item], Any] = ""
    """The value on the page, where the file has another one."""

    @property
    def is_number(self) -> bool:
        """Whether the page aligns it as a number."""
        return self.kind in (NUMBER, MONEY)


Cells = Sequence[tuple[Column[Any], Any]]


class ReportTable(NamedTuple):
    """A report as the page shows it."""

    title: str
    columns: Sequence[Column[Any]]
    rows: Sequence[tuple[str, Cells]]
    """Each row with its address; the first cell links there."""


@dataclass(frozen=True, kw_only=True)
class Report(Generic[Query, Item]):
    """A list that is read on a page, taken out as a file and, where the API offers it, read by API clients."""

    name: str | Callable[[Query], str]
    """The name of the file, without its ending."""
    columns: Sequence[Column[Item]]
    pages: Callable[[Query], Iterator[Iterable[Item]]]
    """The items of a query, a page at a time, so that a long list needs no more memory than one page."""
    permission: tuple[str, ...] = ("tables.watch_floor",)
    """Permissions that page and file require, all of them. An empty tuple admits all signed-in staff."""
    reads_replica: bool = True
    title: str = ""
    """The name of the table on the page, marked by ``gettext_noop``."""
    page_columns: Sequence[str] = ()
    """The columns of the page in their order, by name."""
    empty: str = gettext_noop("The list is empty.")
    """The sentence of a page without rows."""
    template: str = "dealer_ui/report.html"
    """The template of the page: this one, or one that extends it."""
    context: Callable[[], Mapping[str, Any]] = dict
    """Further context of that template."""
    link: Callable[[Item], str | None] = lambda item: None
    """The address of an item."""

    @property
    def header(self) -> Row:
        """The first row of a file."""
        return tuple(column.name for column in self.columns)

    def file(self, query: Query) -> tuple[str, Row, Iterator[Iterable[Row]]]:
        """The name, the header and the pages of rows of a file."""
        name = self.name if isinstance(self.name, str) else self.name(query)
        return name, self.header, map(self.rows, self.pages(query))

    def rows(self, items: Iterable[Item]) -> list[Row]:
        """Items as a file has them."""
        values = [_getter(column.value or column.name) for column in self.columns]
        return [[value(item) for value in values] for item in items]

    def table(self, items: Iterable[Item]) -> ReportTable:
        """Items as the page shows them."""
        by_name = {column.name: column for column in self.columns}
        columns = [by_name[name] for name in self.page_columns]
        values = [(column, _getter(column.page_value or column.value or column.name)) for column in columns]
        rows = [(self.link(item) or "", [(column, value(item)) for column, value in values]) for item in items]
        return ReportTable(self.title, columns, rows)


def _getter(value: str | Callable[[Item], Any]) -> Callable[[Item], Any]:
    return attrgetter(value) if isinstance(value, str) else value


def single_page(items: Iterable[Item]) -> Iterator[Iterable[Item]]:
    """A short list as its only page."""
    return iter([items])


def fields_of(row: type[NamedTuple]) -> list[Column[Any]]:
    """A column for each field of a row."""
    return [Column(name) for name in row._fields]


def newest_first(rows: QuerySet[Stored], at_once: int = 1_000) -> Iterator[list[Stored]]:
    """All rows of a query by their keys, the newest first, a page at a time."""
    before, rows = None, rows.order_by("-pk")
    while page := list((rows.filter(pk__lt=before) if before else rows)[:at_once]):
        yield page
        before = page[-1].pk
