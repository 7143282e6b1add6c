"""Events of card readers: stops of a table, and whether reader or dealer names the cards. They never contain a card."""

from __future__ import annotations

from typing import ClassVar

from tables.log.published.form import FeedEvent


class ReaderStopped(FeedEvent, frozen=True, kw_only=True):
    """Reader and dealer disagree, or a card was read that cannot be: nothing goes on until it is settled."""

    type: ClassVar[str] = "reader.stopped"


class ReaderTakenOver(FeedEvent, frozen=True, kw_only=True):
    """The dealer keys the cards from here on."""

    type: ClassVar[str] = "reader.taken_over"


class ReaderGivenBack(FeedEvent, frozen=True, kw_only=True):
    """The reader names the cards again."""

    type: ClassVar[str] = "reader.given_back"
