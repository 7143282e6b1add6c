"""Pit assignments: who may run the floor at which table at any moment, from the entries of the site's log about pits
and posts. Pure; the floor and every verifier call the same functions.

A person without an assignment runs the whole floor, unless the policies require an assignment. A table outside all pits
is open to every floor supervisor, because it cannot be assigned.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from tables.log.duties import PIT_BOSS
from tables.log.entries.chips import ChipsIssued
from tables.log.entries.irregularities import RackUnlocked
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.posts import CoverSet, PostSet, Stand
from tables.log.entries.restored import BookBehind
from tables.log.entries.rounds import TakenBack, Voided
from tables.log.entries.staff import StaffChanged
from tables.log.entries.tables import DealerSignedIn, TableClosed, TableOpened
from tables.log.event import AuditFailure, Author, Event
from tables.log.signatory import Signatory
from tables.log.state import Dealer

LONGEST_COVER: Final = timedelta(hours=12)
LATE_BY: Final = timedelta(seconds=10)
"""An act may have been read, and written, around a change that was being entered in the same seconds."""


class Post(NamedTuple):
    """The pit assignment of a person from a moment on."""

    effective: datetime
    seq: int
    pits: frozenset[str]
    whole_floor: bool


class Cover(NamedTuple):
    """A temporary assignment to a pit. If it was given back, its end equals its beginning."""

    at: datetime
    seq: int
    pit: str
    until: datetime


@dataclass(frozen=True, slots=True)
class Duty:
    """The pits that a person runs at a moment."""

    whole_floor: bool
    pits: frozenset[str] = frozenset()
    covered: frozenset[str] = frozenset()
    """Those of the pits that they took over for a while."""

    def runs(self, pit: str) -> bool:
        """Whether they may run the floor at the tables of a pit; empty for a table in none."""
        return self.whole_floor or not pit or pit in self.pits


def duty(post: Post | None, covers: Iterable[Cover], moment: datetime, *, required: bool) -> Duty:
    """The pits that a person runs, from the assignment in force and the temporary assignments entered by a moment, in
    the order of entries. ``required``: whether the policies require an assignment."""
    newest = {cover.pit: cover for cover in covers}
    covered = frozenset(pit for pit, cover in newest.items() if moment < cover.until)
    if post is None or not (post.pits or post.whole_floor):
        return Duty(not required, covered, covered)
    return Duty(post.whole_floor, post.pits | covered, covered - post.pits)


# --- A fold of the log -----------------------------------------------------------------------------------------


class _Floor(NamedTuple):
    """Where tables stood from a moment on, and the entries that say so."""

    at: datetime
    seq: int
    sections: Mapping[tuple[str, str], tuple[str, ...]]
    seqs: tuple[int, ...]


@dataclass(slots=True)
class Posts:
    """Who ran what, and which table stood where, at every moment that the followed entries tell of."""

    floors: list[_Floor] = field(default_factory=list)
    posts: dict[str, list[Post]] = field(default_factory=dict)
    covers: dict[str, list[Cover]] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)
    """The user names of those who had a post, by each way in which the log named them."""
    people: dict[str, tuple[str | None, str, tuple[int, ...]]] = field(default_factory=dict)
    """Badge, name, and the entries that say so, by user name."""

    def follow(self, event: Event, seq: int, moment: datetime | None) -> None:
        """One more entry of the house's book."""
        if moment is None:
            return
        match event:
            case PostSet():
                self._place(event.floor, seq, moment)
                self._name(event.username, event.badge, event.name, (seq,))
                post = Post(datetime.fromisoformat(event.effective), seq, frozenset(event.pits), event.whole_floor)
                insort(self.posts.setdefault(event.username, []), post)
            case CoverSet():
                self._place(event.floor, seq, moment)
                self._name(event.username, event.badge, event.name, (seq,))
                cover = Cover(moment, seq, event.pit, datetime.fromisoformat(event.until))
                self.covers.setdefault(event.username, []).append(cover)
            case PitSectionSet() if self.floors:
                last = self.floors[-1]
                sections = {**last.sections, (event.pit, event.section): event.tables}
                self.floors.append(_Floor(moment, seq, sections, (*last.seqs, seq)))
            case StaffChanged() if event.username in self.people:
                badge, name, seqs = self.people[event.username]
                after = event.after or {}
                if after.keys() & {"badge", "name"}:
                    self._name(event.username, after.get("badge", badge), after.get("name", name), (*seqs, seq))

    def _place(self, stands: Iterable[Stand], seq: int, moment: datetime) -> None:
        sections = {(stand.pit, stand.section): stand.tables for stand in stands}
        self.floors.append(_Floor(moment, seq, sections, (seq,)))

    def _name(self, username: str, badge: str | None, name: str, seqs: tuple[int, ...]) -> None:
        self.people[username] = badge, name, seqs
        self.signatures[Signatory(username, name, badge, "").signature] = username

    # --- asked

    def pit_of(self, table: str, moment: datetime) -> str:
        """The pit in which a table stood; empty where it stood in none."""
        floor = self._floor(moment)
        sections = floor.sections if floor else {}
        return next((pit for (pit, _), tables in sections.items() if table in tables), "")

    def duty_of(self, username: str, moment: datetime, *, required: bool = False) -> Duty:
        """The pits that a person ran at a moment."""
        posts = self.posts.get(username, [])
        place = bisect_right(posts, moment, key=lambda post: post.effective)
        covers = self.covers.get(username, [])
        first = bisect_right(covers, moment - LONGEST_COVER, key=lambda cover: cover.at)
        last = bisect_right(covers, moment, key=lambda cover: cover.at)
        return duty(posts[place - 1] if place else None, covers[first:last], moment, required=required)

    def might_run(self, username: str, table: str, moment: datetime, *, required: bool = False) -> bool:
        """Whether a person might run the floor at a table at a moment, or just before it."""
        return any(
            self.duty_of(username, then, required=required).runs(self.pit_of(table, then))
            for then in self._near(username, moment)
        )

    def _near(self, username: str, moment: datetime) -> Iterator[datetime]:
        """The moment, and each just before it at which anything changed."""
        since = moment - LATE_BY
        yield from (moment, since)
        for line, key in (
            (self.floors, lambda floor: floor.at),
            (self.posts.get(username, []), lambda post: post.effective),
            (self.covers.get(username, []), lambda cover: cover.at),
        ):
            first, last = (bisect_right(line, edge, key=key) for edge in (since, moment))
            yield from (key(item) for item in line[first:last])

    def _floor(self, moment: datetime) -> _Floor | None:
        place = bisect_right(self.floors, moment, key=lambda floor: floor.at)
        return self.floors[place - 1] if place else None

    def rests_on(self, moment: datetime) -> set[int]:
        """The entries sufficient to determine all assignments from a moment on."""
        since = moment - LATE_BY
        seqs = {seq for _, _, several in self.people.values() for seq in several}
        seqs.update(*(floor.seqs for floor in self.floors if floor.at > since or floor is self._floor(since)))
        for posts in self.posts.values():
            place = bisect_right(posts, since, key=lambda post: post.effective)
            seqs.update(post.seq for post in posts[max(place - 1, 0) :])
        for covers in self.covers.values():
            seqs.update(cover.seq for cover in covers if cover.at > since - LONGEST_COVER)
        return seqs


# --- Who ran the floor in an entry -----------------------------------------------------------------------------

_AFTER_A_SLIP: Final = (TableOpened, TableClosed, ChipsIssued)
"""Entries that a slip causes. Their author signed the slip, and that signature is verified itself."""


_SIGNED_BY_TWO: Final = (Voided, RackUnlocked, TakenBack)
"""Entries that may name a second person, who may run the floor with them."""


def runners(event: Event, by: str, dealer: Dealer | None, posts: Posts) -> Iterator[str]:
    """The user names of those who ran the floor at a table by an entry of its book. ``dealer``: who stood there."""
    if isinstance(event, DealerSignedIn):
        if event.confirmed_by and event.confirmed_by != event.relieves:
            yield event.confirmed_by
        return
    if isinstance(event, BookBehind):
        return  # what a screen shows of itself is no act on the floor, whoever looked at it
    if isinstance(event, _SIGNED_BY_TWO) and event.second is not None and event.second.role == PIT_BOSS:
        yield event.second.username
    if isinstance(event, Author):
        if event.role == PIT_BOSS:
            yield event.username
    elif not isinstance(event, _AFTER_A_SLIP) and (dealer is None or by != dealer.signature):
        yield from filter(None, [posts.signatures.get(by)])


def may_run_the_floor(event: Event, by: str, dealer: Dealer | None) -> bool:
    """Whether an entry may be an act of a floor supervisor. Other entries need no check against assignments."""
    if isinstance(event, DealerSignedIn):
        return event.confirmed_by is not None
    if isinstance(event, BookBehind):
        return False
    return isinstance(event, (Author, *_SIGNED_BY_TWO)) or dealer is None or by != dealer.signature


def tables_of(event: Event) -> tuple[str, ...]:
    """The tables at which an entry of the site's log acts as a floor supervisor."""
    if not isinstance(event, LimitPlanSet) or event.scope != "table":
        return ()
    return event.tables or (event.of,)


def refuse(posts: Posts, usernames: Iterable[str], table: str, moment: datetime, *, required: bool = False) -> None:
    """Verify that each of these people might run the floor at a table. Raises AuditFailure."""
    for username in usernames:
        if not posts.might_run(username, table, moment, required=required):
            pit = posts.pit_of(table, moment)
            raise AuditFailure(f"{username} ran the floor at {table} in {pit}, which was no pit of theirs then")
