"""The log in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from ledger.admin import LogEntryAdmin
from ledger.log import entries
from ledger.models import LogEntry
from tables.board import secrecy

admin.site.unregister(LogEntry)


@admin.register(LogEntry)
class OpenLogEntryAdmin(LogEntryAdmin):
    """The log, without values that are secret until a round is over."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> LogEntry | None:
        """The entry without values that are secret now."""
        entry: LogEntry | None = super().get_object(request, object_id, from_field)
        if entry is not None:
            [veiled] = secrecy.veiled(entry.book_id, list(entries(entry.book_id, entry.seq - 1, entry.seq)))
            entry.body, entry.key = veiled.body, veiled.key
        return entry
