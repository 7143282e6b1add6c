"""Logs, chips and alerts in the admin site, read-only except that users can acknowledge alerts."""

import json
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.views.main import ChangeList
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from unfold.forms import ActionForm
from unfold.paginator import InfinitePaginator

from ledger.admin_lists import ClosedList
from ledger.alerts import AlreadyAcknowledged, acknowledge
from ledger.models import (
    Account,
    Alert,
    Book,
    Discrepancy,
    Finding,
    LogEntry,
    Recount,
    Run,
    Slip,
    SlipSignature,
    Transfer,
)
from ledger.models.slips import SERIES
from ledger.proof.chips import money


class ReadOnly(ClosedList):
    """Rows that cannot be added, changed or deleted here. Its lists never count a table that may have millions of
    rows."""

    paginator = InfinitePaginator
    show_full_result_count = False
    list_per_page = 50
    ordering: tuple[str, ...] = ("-pk",)
    actions: Any = None

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def as_hex(digest: bytes | memoryview | None) -> str:
    return bytes(digest).hex() if digest else "-"


def code(text: str) -> SafeString:
    return format_html("<pre>{}</pre>", text)


@admin.register(Book)
class BookAdmin(ReadOnly):
    list_display = ("name", "head_seq")
    fields = ("name", "head_seq", "head")
    readonly_fields = ("head",)

    @admin.display(description="head hash")
    def head(self, book: Book) -> SafeString:
        return code(as_hex(book.head_hash))


def _spelled_out(entry: LogEntry) -> dict[str, Any]:
    """The body of an entry with all member names written out."""
    return {"format": entry.parts.format, "content": entry.content, "moves": entry.parts.moves}


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnly):
    list_display = ("book", "seq", "at", "subject", "what", "round", "by", "legs")
    list_display_links = ("seq",)
    list_filter = ("book",)
    lookups = ("seq", "seq__gte", "seq__lte")
    list_select_related = ("book",)
    fields = ("book", "seq", "at", "subject", "kind", "round", "by", "key", "legs", "document", "follows", "digest")
    readonly_fields = ("document", "follows", "digest")

    ordering = ("-book_id", "-seq")

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[ChangeList]:
        class Numbered(super().get_changelist(request, **kwargs)):  # type: ignore[misc]
            """A list that links to each entry by its log and number."""

            def url_for_result(self, result: LogEntry) -> str:
                return reverse("admin:ledger_logentry_change", args=[f"{result.book_id}-{result.seq}"])

        return Numbered

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> LogEntry | None:
        """An entry by "log id-number". The primary key, its hash, is not used in addresses."""
        book, _, seq = object_id.partition("-")
        if not (book.isdecimal() and seq.isdecimal() and max(len(book), len(seq)) < 19):
            return None
        return self.get_queryset(request).filter(book_id=int(book), seq=int(seq)).order_by("seq").first()

    def get_queryset(self, request: HttpRequest) -> QuerySet[LogEntry]:
        rows: QuerySet[LogEntry] = super().get_queryset(request)
        return rows if request.resolver_match and "object_id" in request.resolver_match.kwargs else rows.defer("body")

    @admin.display(description="kind", ordering="kind")
    def what(self, entry: LogEntry) -> str:
        """The kind in words. The entry's own page has the stored name."""
        return entry.kind.replace("_", " ")

    @admin.display(description="body")
    def document(self, entry: LogEntry) -> SafeString:
        return code(json.dumps(_spelled_out(entry), indent=2, ensure_ascii=False))

    @admin.display(description="hash of the entry before")
    def follows(self, entry: LogEntry) -> SafeString:
        rows = LogEntry.objects.filter(book_id=entry.book_id, seq=entry.seq - 1)
        return code(as_hex(rows.order_by("seq").values_list("hash", flat=True).first()))

    @admin.display(description="hash")
    def digest(self, entry: LogEntry) -> SafeString:
        return code(as_hex(entry.hash))


@admin.register(Transfer)
class TransferAdmin(ReadOnly):
    list_display = ("book", "seq", "leg", "kind", "source", "target", "amount", "reverses_id")
    list_display_links = ("seq",)
    list_filter = ("book",)
    list_select_related = ("book", "source", "target")
    fields = ("book", "seq", "leg", "legs", "kind", "source", "target", "amount", "reverses")
    readonly_fields = ("amount",)

    @admin.display(description="amount")
    def amount(self, transfer: Transfer) -> str:
        return money(transfer.amount_cents)


@admin.register(Account)
class AccountAdmin(ReadOnly):
    list_display = ("book", "place", "seat", "wager")
    list_filter = ("book",)
    list_select_related = ("book",)


@admin.register(Recount)
class RecountAdmin(ReadOnly):
    list_display = ("book", "account", "through_seq", "balance", "at", "by")
    list_filter = ("book",)
    list_select_related = ("book", "account")
    fields = ("book", "account", "through_seq", "balance", "at", "by", "anchor")
    readonly_fields = ("balance", "anchor")

    @admin.display(description="balance")
    def balance(self, recount: Recount) -> str:
        return money(recount.balance_cents)

    @admin.display(description="hash of the entry")
    def anchor(self, recount: Recount) -> SafeString:
        return code(as_hex(recount.head_hash))


class IsOpen(admin.SimpleListFilter):
    """Filters alerts by state: open or acknowledged."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "open"), ("acknowledged", "acknowledged")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(acknowledgement__isnull=self.value() == "open") if self.value() else queryset


class NoteForm(ActionForm):
    """The note that a user may add when acknowledging alerts."""

    note = forms.CharField(required=False, max_length=500, label="Note")


@admin.register(Alert)
class AlertAdmin(ReadOnly):
    list_display = ("at", "book", "kind", "message", "acknowledged")
    list_display_links = ("message",)
    list_filter = (IsOpen, "book")
    list_select_related = ("book", "acknowledgement")
    fields = ("at", "book", "kind", "message", "found", "acknowledged", "note")
    readonly_fields = ("found", "acknowledged", "note")
    actions: Any = ("acknowledge_alerts",)
    action_form = NoteForm

    def has_acknowledge_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("ledger.acknowledge_alert"))

    @admin.action(description="Acknowledge, in my name", permissions=["acknowledge"])
    def acknowledge_alerts(self, request: HttpRequest, alerts: QuerySet[Alert]) -> None:
        by = getattr(request.user, "signature", request.user.get_username())
        form = NoteForm(request.POST)
        form.full_clean()
        note = form.cleaned_data.get("note", "")
        count = 0
        for alert in alerts.filter(acknowledgement=None):
            try:
                acknowledge(alert, by, note)
            except AlreadyAcknowledged:
                continue  # another user acknowledged it a moment ago
            count += 1
        self.message_user(request, f"{count} acknowledged by {by}", messages.SUCCESS if count else messages.WARNING)

    @admin.display(description="evidence")
    def found(self, alert: Alert) -> SafeString:
        return code(json.dumps(alert.evidence, indent=2, ensure_ascii=False))

    @admin.display(description="acknowledged by")
    def acknowledged(self, alert: Alert) -> str:
        return str(getattr(alert, "acknowledgement", "")) or "nobody yet"

    @admin.display(description="note")
    def note(self, alert: Alert) -> str:
        return alert.acknowledgement.note if hasattr(alert, "acknowledgement") else ""


# --- Slips, what was found, and the watch ------------------------------------------------------------------------


class OfSeries(admin.SimpleListFilter):
    """Filters slips by series. The choices are the known series: no query over the whole table looks for them."""

    title = "series"
    parameter_name = "series"
    path = "series"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(series, series) for series in SERIES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{self.path: self.value()}) if self.value() else queryset


class OfSlipsSeries(OfSeries):
    """Filters slip signatures by the series of their slip."""

    path = "slip__series"


class IsExplained(admin.SimpleListFilter):
    """Filters discrepancies by state: open, or closed by a finding."""

    title = "state"
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("open", "open"), ("closed", "closed")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(finding__isnull=self.value() == "open") if self.value() else queryset


@admin.register(Slip)
class SlipAdmin(ReadOnly):
    """Numbers of slips. The content of a slip is in its log entry."""

    list_display = ("series", "year", "number", "book", "seq", "total")
    list_display_links = ("number",)
    list_filter = (OfSeries, "book")
    list_select_related = ("book",)
    fields = ("series", "year", "number", "book", "seq", "total")
    readonly_fields = ("total",)

    @admin.display(description="begun for")
    def total(self, slip: Slip) -> str:
        return money(slip.total_cents)


@admin.register(SlipSignature)
class SlipSignatureAdmin(ReadOnly):
    list_display = ("slip", "stage", "username", "role", "book", "seq")
    list_filter = (OfSlipsSeries, "book")
    list_select_related = ("slip", "book")


@admin.register(Discrepancy)
class DiscrepancyAdmin(ReadOnly):
    list_display = ("at", "book", "kind", "amount", "level", "message", "closed")
    list_display_links = ("message",)
    list_filter = (IsExplained, "book")
    list_select_related = ("book", "finding")
    date_hierarchy = "at"
    fields = ("at", "book", "kind", "amount", "level", "message", "found", "involved", "closed")
    readonly_fields = ("amount", "found", "closed")

    @admin.display(description="counted less expected")
    def amount(self, discrepancy: Discrepancy) -> str:
        return money(discrepancy.amount_cents)

    @admin.display(description="evidence")
    def found(self, discrepancy: Discrepancy) -> SafeString:
        return code(json.dumps(discrepancy.evidence, indent=2, ensure_ascii=False))

    @admin.display(description="closed by")
    def closed(self, discrepancy: Discrepancy) -> str:
        return discrepancy.finding.by if hasattr(discrepancy, "finding") else "nobody yet"


@admin.register(Finding)
class FindingAdmin(ReadOnly):
    list_display = ("at", "discrepancy", "by", "text")
    list_display_links = ("discrepancy",)
    list_filter = ("discrepancy__book",)
    list_select_related = ("discrepancy",)
    date_hierarchy = "at"


@admin.register(Run)
class RunAdmin(ReadOnly):
    list_display = ("slot", "task", "begun_at", "missed", "ended", "found")
    list_display_links = ("slot",)
    list_filter = ("task",)
    list_select_related = ("end",)
    date_hierarchy = "slot"
    fields = ("slot", "task", "begun_at", "missed", "ended", "found")
    readonly_fields = ("ended", "found")

    @admin.display(description="ended at")
    def ended(self, run: Run) -> Any:
        return run.end.at if hasattr(run, "end") else None

    @admin.display(description="found")
    def found(self, run: Run) -> int | None:
        return run.end.found if hasattr(run, "end") else None
