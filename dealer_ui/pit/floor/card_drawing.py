"""Draws the cards of the floor as small messages for the pit's screens. Run by painter_process.py."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from django.db import Error as DatabaseError
from django.template.loader import render_to_string
from django.utils import timezone

from dealer_ui.live.open_screens import event
from dealer_ui.live.painter import Drawing, Messages, Order, on_page
from dealer_ui.live.wall import ALERTS, STRIP
from dealer_ui.pit.alerts.inbox import ShownAlert, count_for, open_now, panel
from dealer_ui.pit.floor.cards import Seen, read, seen_by, strip_of
from tables.models import Staff, Table
from tables.reports import site_clock

log = logging.getLogger(__name__)


class Painter:
    """Draws, and remembers every table for the line that adds them up."""

    def __init__(self) -> None:
        self._day: date | None = None
        self._seen: dict[str, dict[int, Seen]] = {}

    def drawn(self, order: Order) -> Drawing | None:
        """The drawing that was ordered; None where it failed, with the reason in the server's log."""
        try:
            return self.draw(order)
        except DatabaseError as away:
            log.warning("the floor could not be drawn, and will be: %s", away)
        except Exception:
            # Whatever it is, the wall must not stand still: what the screens show would be taken for the floor.
            log.exception("the floor could not be drawn, and will be")
        return None

    def draw(self, order: Order) -> Drawing:
        """For each role the cards of its tables, the line above them, and the open alerts if they changed."""
        with timezone.override(ZoneInfo(site_clock.zone())):
            alerts = open_now()
            self._look(order, alerts)
            return {role: self._messages(role, order, alerts) for role in order.roles}

    def _look(self, order: Order, alerts: Sequence[ShownAlert]) -> None:
        """Read the tables that changed; all of them on a new day, as rounds are counted by day."""
        today = timezone.localdate()
        if order.anew or today != self._day:
            self._day, self._seen = today, {role: {} for role in order.roles}
            facts = read(Table.objects.in_use(), alerts)
        elif order.books:
            facts = read(Table.objects.filter(book__in=order.books), alerts)
        else:
            return
        for role in order.roles:
            self._seen[role] |= {seen.table.book_id: seen for seen in seen_by(_one_of(role), facts)}

    def _messages(self, role: str, order: Order, alerts: Sequence[ShownAlert]) -> Messages:
        tables = self._seen[role]
        messages: Messages = {book: card("_tile", tables[book]) for book in order.tiles if book in tables}
        messages |= {on_page(book): card("_card", tables[book]) for book in order.pages if book in tables}
        messages[STRIP] = part(
            STRIP, "_strip", {"strip": strip_of(list(tables.values()), count_for(_one_of(role), alerts))}
        )
        if order.alerts:
            messages[ALERTS] = part(ALERTS, "_alerts", panel(_one_of(role), alerts))
        return messages


def _one_of(role: str) -> Staff:
    """Anybody of a role: what they may see is all that counts."""
    return Staff(role=role)


def card(template: str, seen: Seen) -> bytes:
    """The drawing of a table: a tile for the floor, or the whole card for its own page."""
    html = render_to_string(f"dealer_ui/pit/{template}.html", {"seen": seen})
    return event("table", {"table": seen.table.pk, "seq": seen.board.seq, "card": html})


def part(name: str, template: str, context: Mapping[str, Any]) -> bytes:
    """A part of the floor's page that belongs to no table."""
    return event(name, {"html": render_to_string(f"dealer_ui/pit/{template}.html", dict(context))})
