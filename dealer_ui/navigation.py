"""The screens of the house, as its menu groups them: who may open which, and which pages belong to each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tables.models import Staff


@dataclass(frozen=True, slots=True)
class Way:
    """A screen that the menu leads to."""

    title: str
    view: str
    permission: str = ""
    """Empty: for everybody who sees the menu."""
    pages: tuple[str, ...] = ()
    """Further pages that belong to it."""
    about: str = ""
    """What else somebody may type who looks for it."""

    def is_for(self, viewer: Staff) -> bool:
        if self.view == "work-as":
            return bool(viewer.further)
        return not self.permission or viewer.has_perm(self.permission)

    def has(self, page: str) -> bool:
        """Whether a page is this screen or belongs to it."""
        return page == self.view or page in self.pages


@dataclass(frozen=True, slots=True)
class Ways:
    """A part of the menu; without a title it is shown as it is."""

    title: str
    ways: tuple[Way, ...]

    def has(self, page: str) -> bool:
        return any(way.has(page) for way in self.ways)


FLOOR: Final = "tables.watch_floor"
MENU: Final = (
    Ways("", (
        Way("Floor", "pit:floor", FLOOR,
            ("pit:table", "pit:plan", "pit:posts", "pit:more", "pit:act", "pit:limits", "pit:log", "pit:round"),
            "tables pits plan posts cover"),
        Way("Alerts", "pit:alerts", FLOOR, ("pit:alert-rules", "pit:alert-rule", "pit:alert-channels")),
        Way("Cage", "cage", "tables.watch_cage", about="counter vault cash"),
        Way("Slips", "slips:book", "", ("slips:slip", "slips:begin", "slips:papers"), "fills credits papers"),
        Way("Figures", "pit:reports", FLOOR, ("pit:penetration",), "win drop hold day close report"),
    )),
    Ways("Chips and cash", (
        Way("Chips", "slips:chips", "tables.watch_chips", about="series counterfeit found"),
        Way("Pieces", "pit:inventory", FLOOR, ("pit:float",), "inventory liability denomination"),
        Way("Discrepancies", "pit:discrepancies", FLOOR, ("pit:runs", "pit:health"), "variance over short runs health"),
    )),
    Ways("Records", (
        Way("Audit", "pit:audit", "ledger.view_logentry", ("pit:audit-ask",), "seals proofs bundles keys"),
        Way("Disputes", "pit:disputes", FLOOR,
            ("pit:dispute", "pit:open-dispute", "pit:correct", "pit:correction", "pit:mispays"), "claims corrections"),
        Way("Rounds", "pit:round-search", FLOOR, about="find search complaint time seat dealer amount"),
        Way("Exceptions", "pit:exceptions", FLOOR, about="unusual dealers day"),
        Way("Log", "pit:search", FLOOR, about="search entries"),
        Way("After a restore", "pit:restored", FLOOR, about="backup put back confirm tables"),
        Way("Bookmarks", "pit:bookmarks", "tables.watch_bookmarks", about="cameras surveillance"),
        Way("Shoes", "pit:shoes", "tables.watch_shoes", ("pit:shoe",), "audit counting"),
    )),
    Ways("People", (
        Way("Certificates", "practice:certificates", FLOOR, about="dealers practice"),
        Way("Access", "pit:access", "tables.view_staff", about="review roles permissions"),
        Way("Codes", "codes", "tables.confirm_code", about="pin password"),
        Way("Work as", "work-as", about="role change"),
    )),
)  # fmt: skip


def menu_of(viewer: Staff) -> list[Ways]:
    """The menu as somebody sees it. A part of one screen needs no head of its own."""
    parts = [Ways(part.title, tuple(way for way in part.ways if way.is_for(viewer))) for part in MENU]
    plain = [way for part in parts if not part.title or len(part.ways) == 1 for way in part.ways]
    return [Ways("", tuple(plain)), *(part for part in parts if part.title and len(part.ways) > 1)]


def ways_of(viewer: Staff) -> Iterable[Way]:
    """Every screen that somebody may open."""
    return (way for part in menu_of(viewer) for way in part.ways)
