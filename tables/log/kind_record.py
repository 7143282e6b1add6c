"""The record of each kind of entry: its writer, its moves, and where it is reported, published and alerted.

Every question has an answer, and a negative answer has a name (NOTHING, ORDINARY, NotPublished, NO_ALERT). The catalog
cannot be imported if a kind leaves a question unanswered. The exceptions report, the feed, the facts of alerts and the
page about the log are derived from the records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tables.log.exception_categories import ExceptionCategory
from tables.log.published.form import FeedEvent, NotPublished
from tables.log.writers import Writer


@dataclass(frozen=True, slots=True)
class ByStage:
    """The answer of signatures on slips: each step of each slip type has its own (``slip_types.py``)."""


BY_STAGE: Final = ByStage()
NOTHING: Final[frozenset[str]] = frozenset()
"""The answer that entries of a kind move no chips."""
NO_ALERT: Final[tuple[str, ...]] = ()
"""The answer that entries of a kind raise no alert."""
UNANSWERED: Final[Any] = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRecord:
    """The answers of one kind of entry. All are required: the catalog names a missing one."""

    writer: Writer = UNANSWERED
    moves: frozenset[str] | ByStage = UNANSWERED
    """The kinds of transfer that its entries may make."""
    exception: ExceptionCategory | ByStage | None = UNANSWERED
    """The category of its entries in the exceptions report."""
    feed: tuple[type[FeedEvent], ...] | NotPublished = UNANSWERED
    """The event types that its entries may publish. The first type that yields an event is used."""
    alert: tuple[str, ...] | ByStage = UNANSWERED
    """The types of alert that its entries may raise, at once or by a rule, as ``tables/alerts`` names them."""

    @property
    def forms(self) -> tuple[type[FeedEvent], ...]:
        """The event types of the feed; none where nothing is published."""
        return () if isinstance(self.feed, NotPublished) else self.feed

    @property
    def alerts(self) -> tuple[str, ...]:
        """The types of alert; none for slips, whose steps differ."""
        return () if isinstance(self.alert, ByStage) else self.alert

    def faults(self) -> Iterator[str]:
        """Each missing or mistyped answer, with the correct type."""
        is_right = {
            "writer": isinstance(self.writer, Writer),
            "moves": isinstance(self.moves, frozenset | ByStage),
            "exception": self.exception is None or isinstance(self.exception, ExceptionCategory | ByStage),
            "feed": isinstance(self.feed, NotPublished) or (self.feed != () and _are(self.feed, _is_form)),
            "alert": isinstance(self.alert, ByStage) or _are(self.alert, lambda name: isinstance(name, str)),
        }
        yield from (f"{name}: {RIGHT[name]}" for name, right in is_right.items() if not right)


def _is_form(part: Any) -> bool:
    return isinstance(part, type) and issubclass(part, FeedEvent)


def _are(answer: Any, is_right: Any) -> bool:
    return isinstance(answer, tuple) and all(is_right(part) for part in answer)


RIGHT: Final = {
    "writer": "a Writer of tables/log/writers.py",
    "moves": "a frozenset with kinds of transfer, or NOTHING",
    "exception": "a category of tables/log/exception_categories.py, or ORDINARY",
    "feed": "a tuple with forms of tables/log/published, or NotPublished(reason)",
    "alert": "a tuple with names of tables/alerts/alert_types.py, or NO_ALERT",
}
"""The type of the answer to each question."""
