"""The screens of the house, as its menu groups them: who may open which, and which pages belong to each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from django.conf import settings

from tables.models import Staff


@dataclass(frozen=True, slots=True)
class ScreenLink:
    """A screen that the menu leads to."""

    title: str
    view: str
    permission: str = ""
    """Empty: shown to all who see the menu."""
    pages: tuple[str, ...] = ()
    """Further pages that belong to it."""
    about: str = ""
    """Further search terms for the screen."""

    def is_for(self, viewer: Staff) -> bool:
        if self.view == "work-as":
            return bool(viewer.further)
        return not self.permission or viewer.has_perm(self.permission)

    def has(self, page: str) -> bool:
        """Whether a page is this screen or belongs to it."""
        return page == self.view or page in self.pages


@dataclass(frozen=True, slots=True)
class ScreenGroup:
    """A part of the menu; without a title it is shown as it is."""

    title: str
    links: tuple[ScreenLink, ...]

    def has(self, page: str) -> bool:
        return any(link.has(page) for link in self.links)


FLOOR: Final = "tables.watch_floor"
MENU: Final = (
    ScreenGroup("", (
        ScreenLink("Floor", "pit:floor", FLOOR,
            ("pit:table", "pit:plan", "pit:posts", "pit:more", "pit:act", "pit:limits", "pit:log", "pit:round"),
            "tables pits plan posts cover"),
        ScreenLink("Alerts", "pit:alerts", FLOOR, ("pit:alert-rules", "pit:alert-rule", "pit:alert-channels")),
        ScreenLink("Cage", "cage", "tables.watch_cage", about="counter vault cash"),
        ScreenLink("Slips", "slips:book", "", ("slips:slip", "slips:begin", "slips:papers"), "fills credits papers"),
        ScreenLink("Figures", "pit:reports", FLOOR, ("pit:penetration",), "win drop hold day close report"),
    )),
    ScreenGroup("Chips and cash", (
        ScreenLink("Chips", "slips:chips", "tables.watch_chips", about="series counterfeit found"),
        ScreenLink("Pieces", "pit:inventory", FLOOR, ("pit:float",), "inventory liability denomination"),
        ScreenLink(
            "Discrepancies", "pit:discrepancies", FLOOR, ("pit:runs", "pit:health"), "variance over short runs health"
        ),
    )),
    ScreenGroup("Records", (
        ScreenLink("Audit", "pit:audit", "ledger.view_logentry", ("pit:audit-ask",), "seals proofs bundles keys"),
        ScreenLink("Disputes", "pit:disputes", FLOOR,
            ("pit:dispute", "pit:open-dispute", "pit:correct", "pit:correction", "pit:mispays"), "claims corrections"),
        ScreenLink("Rounds", "pit:round-search", FLOOR, about="find search complaint time seat dealer amount"),
        ScreenLink("Exceptions", "pit:exceptions", FLOOR, about="unusual dealers day"),
        ScreenLink("Log", "pit:search", FLOOR, about="search entries"),
        ScreenLink("After a restore", "pit:restored", FLOOR, about="backup put back confirm tables"),
        ScreenLink("Bookmarks", "pit:bookmarks", "tables.watch_bookmarks", about="cameras surveillance"),
        *([ScreenLink("Shoes", "pit:shoes", "tables.watch_shoes", ("pit:shoe",), "audit counting")]
            if settings.ADVANTAGE_ANALYSIS else []),
    )),
    ScreenGroup("People", (
        ScreenLink("Rotation", "pit:rotation", FLOOR,
            ("pit:rotation-new", "pit:rotation-set", "pit:dealer-hours"), "dealers line-up push break relief hours"),
        ScreenLink("Certificates", "practice:certificates", FLOOR, about="dealers practice"),
        ScreenLink("Access", "pit:access", "tables.view_staff", about="review roles permissions"),
        ScreenLink("Codes", "codes", "tables.confirm_code", about="pin password"),
        ScreenLink("Work as", "work-as", about="role change"),
    )),
)  # fmt: skip


def menu_of(viewer: Staff) -> list[ScreenGroup]:
    """The menu of a viewer. A group with a single screen has no heading."""
    parts = [ScreenGroup(part.title, tuple(link for link in part.links if link.is_for(viewer))) for part in MENU]
    plain = [link for part in parts if not part.title or len(part.links) == 1 for link in part.links]
    return [ScreenGroup("", tuple(plain)), *(part for part in parts if part.title and len(part.links) > 1)]


def screens_of(viewer: Staff) -> Iterable[ScreenLink]:
    """All screens that a viewer may open."""
    return (link for part in menu_of(viewer) for link in part.links)
