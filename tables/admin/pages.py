"""The admin of what the house sets up: tables, chips, staff, terminals. Nobody deletes; auditors look.

Nothing is saved past the floor's own functions, so whatever is changed here is judged there and stands in the log.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Final

import segno
from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from unfold.decorators import action

from ledger.admin import LogEntryAdmin
from ledger.admin_lists import ClosedList
from ledger.log import entries
from ledger.models import LogEntry
from ledger.proof.chips import money
from tables.admin import roles
from tables.admin.forms import (
    AlertChannelForm,
    ChipSeriesForm,
    DenominationForm,
    EnrolForm,
    HouseHoursForm,
    Judged,
    RetireForm,
    StaffForm,
    TableForm,
    TerminalForm,
    as_error,
    limit_fields,
    option_fields,
)
from tables.admin.house_profiles import ProfileForm, clauses_of, would_change
from tables.admin.pay_tables import PayTableForm, previews
from tables.admin.policies import FromThenOn, ReasonForm, TermsForm, changes, lines_by_group
from tables.admin.roles import RolesForm
from tables.alerts import channels
from tables.alerts.alert_types import KINDS, LEVELS
from tables.alerts.models import AlertChannel, ChannelContent
from tables.approvals import proposals
from tables.board import pays, secrecy
from tables.cage import chip_series, retirement
from tables.edge import limit_effect
from tables.floor import signature_checks
from tables.games.catalog import GAMES
from tables.games.protocol import Illegal
from tables.limits import placard_address
from tables.log import dual_control, duties
from tables.log.entries.settings import PAYS
from tables.log.entries.staff import CALLED
from tables.log.game_kinds import kind_of
from tables.log.house_profiles import PROFILES
from tables.log.state import TableState
from tables.log.terms import game_title
from tables.models import ChipSeries, Denomination, HouseHours, HouseTerms, PayTable, Proposal, Staff, Table, Terminal
from tables.models.staff import PASSWORD, PIN
from tables.refusals import Refused, sentence
from tables.reports import gaming_hours as shifts
from tables.reports.spreadsheets import csv_file
from tables.roles import Role
from tables.setup import pay_tables, policies, role_choices, site_identity, table_settings
from tables.setup.dual_control import ProposalDraft
from tables.staff import codes, passkeys, secret_ages, sign_in, staffing, terminal_keys, terminals
from tables.state import table_state


def number(text: str) -> int:
    """A number as an address or a form has it; 0, which no row has, for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def house_name(request: HttpRequest) -> str:
    """What stands above the side bar."""
    return site_identity.identity().house_name or "Casino tables"


Fieldsets = list[tuple[str | None, dict[str, Any]]]


def operator(request: HttpRequest) -> Staff:
    """Who asks. Raises PermissionDenied for anybody who is not staff."""
    if not isinstance(request.user, Staff):
        raise PermissionDenied
    return request.user


def waits(request: HttpRequest) -> list[Proposal]:
    """The proposals that this request made."""
    proposed: list[Proposal] = request.__dict__.setdefault("proposals", [])
    return proposed


class SetUp(ClosedList):
    """What an operator sets up: written by the form's own ``write``, never by saving a row."""

    actions: ClassVar[Any] = ()
    list_per_page = 50
    view_on_site = False
    fixed_fields: ClassVar[tuple[str, ...]] = ()
    """What is chosen once and for good."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes: the log speaks of it."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        """What stays as it was made."""
        return self.fixed_fields if obj else ()

    takes_two: ClassVar[tuple[str, ...]] = ()
    """The matters of its settings that may take two people."""

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Fieldsets:
        """With room for what the second person has to know, where there is one."""
        return [*super().get_fieldsets(request, obj), *self.for_the_second(request, obj)]

    def for_the_second(self, request: HttpRequest, obj: Any) -> Fieldsets:
        """The same, for lists that have fieldsets of their own."""
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        terms = policies.as_entered(timezone.now())
        if not may_write or not any(dual_control.needed(matter, terms) for matter in self.takes_two):
            return []
        description = "What moves money waits for a second operator: Save proposes it."
        return [("Two people", {"fields": ("effective", "comment"), "description": description})]

    def save_form(self, request: HttpRequest, form: Judged, change: bool) -> Any:
        """Write it, and note it in the log; or propose it, where it takes two people."""
        draft = form.draft()
        if draft is None:
            return form.write(operator(request))
        draft = replace(draft, effective=form.cleaned_data.get("effective"))
        proposal = proposals.arrange(draft, form.cleaned_data["comment"], by=operator(request))
        proposals.with_the_shoe(proposal.about)  # it may be over already
        waits(request).append(proposal)
        return form.instance

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        """To the proposal, where there is one."""
        return self._to_proposal(request) or super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """The same."""
        return self._to_proposal(request) or super().response_change(request, obj)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Our log is the house's; what is only proposed has no row of its own yet."""
        return None if waits(request) else super().log_addition(request, obj, message)

    def _to_proposal(self, request: HttpRequest) -> HttpResponse | None:
        for proposal in waits(request):
            messages.success(request, proposals.entered(proposal), extra_tags="proposed")
            return redirect("admin:tables_proposal_change", proposal.pk)
        return None

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: Any) -> None:
        """Nothing is left to do: ``save_form`` wrote it."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        """Nothing is left to do: ``save_form`` wrote it."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The form; when the floor moved on between its judgement and the write, the sentence and the form anew."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except Refused as refused:
            messages.error(request, refused.sentence, extra_tags=refused.code)
            return redirect(request.get_full_path())

    def row(self, request: HttpRequest, object_id: str) -> Any:
        """The row that an address names. Raises Http404 where there is none, and for an id that is not a number."""
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        return row

    def ask(self, request: HttpRequest, title: str, **context: Any) -> TemplateResponse:
        """A page with one question, and one button that answers it."""
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, "tables/admin/ask.html", shared | context)


Retire = Callable[..., Any]


class Retiring(SetUp):
    """What is retired and never deleted: with the reason, by its operator."""

    retire_by: ClassVar[Retire]
    says: ClassVar[str]

    @action(description="Retire", url_path="retire", permissions=["change"])
    def retire(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask why, and do it; or say in words what is in the way."""
        row = self.row(request, object_id)
        form = RetireForm(request.POST or None)
        if form.is_valid():
            try:
                type(self).retire_by(row, form.cleaned_data["why"], by=operator(request))
            except Refused as refused:
                form.add_error(None, as_error(refused))
            else:
                messages.success(request, f"{row} is retired.", extra_tags="retired")
                return redirect(f"admin:tables_{self.opts.model_name}_changelist")
        return self.ask(request, f"Retire {row}", form=form, says=self.says, button="Retire")

    @admin.display(description="retired since", empty_value="in use")
    def retired(self, row: Any) -> str | None:
        """Since when, by whom and why."""
        if row.retired_at is None:
            return None
        return f"{row.retired_at:%Y-%m-%d %H:%M}, {row.retired_by}: {row.retired_why}"


admin.site.index_title = "Desk"
admin.site.unregister(Group)  # what somebody may do follows from their role alone


admin.site.unregister(LogEntry)


@admin.register(LogEntry)
class OpenLogEntryAdmin(LogEntryAdmin):
    """The log, without what has to stay secret until a game is over."""

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> LogEntry | None:
        """The entry as it may be read now."""
        entry: LogEntry | None = super().get_object(request, object_id, from_field)
        if entry is not None:
            [veiled] = secrecy.veiled(entry.book_id, list(entries(entry.book_id, entry.seq - 1, entry.seq)))
            entry.body, entry.key = veiled.body, veiled.key
        return entry


_TAKES: Final = (
    "What the house takes",
    {
        "fields": ("rake", "most_rake", "time_charge", "marks_commission"),
        "description": "A rake or a time charge of games for a pot, from the next game on; and a commission on winnings"
        " against the house.",
    },
)


_WITH_THE_SHOE: Final = (
    "From which shoe",
    {
        "fields": ("takes",),
        "description": "A shoe that is dealt from ends by the options and the cut card that it began with.",
    },
)


@admin.register(Table)
class TableAdmin(Retiring):
    """Tables. The amounts are read here under the names of the form's fields, for those who may only look."""

    takes_two = ("limits", "take", "pays")
    list_display = ("name", "game_title", "seats", "source", "bets", "cap", "unit", "retired")
    list_filter = ("source",)
    actions_detail = ("retire",)
    change_form_outer_before_template = "tables/admin/on_the_floor.html"
    retire_by = staticmethod(retirement.retire_table)
    says = "The table has to be closed, and its rack and its box empty. It is on the floor no more; its log stays."
    fixed_fields = ("name",)

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> type[forms.ModelForm]:
        """With the options of the table's game."""
        kwargs["form"] = TableForm.for_game(self._game(request, obj))
        form: type[forms.ModelForm] = super().get_form(request, obj, change, **kwargs)
        return form

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Fieldsets:
        """Limits first: they change most."""
        game = self._game(request, obj)
        is_dealt = not kind_of(GAMES[game]).is_by_count
        editable = self.has_change_permission(request, obj) if obj else True
        options = tuple(option_fields(game)) if editable else ("chosen_options",)
        limits = tuple(limit_fields(game)) if editable else ()
        return [
            (None, {"fields": ("name", "game")}),
            (
                "Limits",
                {
                    "fields": ("minimum", "maximum", *(("bet_step", "cap") if is_dealt else ()), *limits),
                    "description": "They may change at any time; an open round keeps those that it was opened under.",
                },
            ),
            (
                "Felt",
                {
                    "fields": ("seats", *(("source",) if is_dealt else ()), "unit", "denominations", "cameras"),
                    "description": self._timing(obj),
                },
            ),
            *((_TAKES,) if is_dealt else ()),
            *((_WITH_THE_SHOE,) if is_dealt and editable and obj else ()),
            (f"Options of {GAMES[game].title}", {"fields": (*options, *self._pays(obj))}),
            *self.for_the_second(request, obj),
        ]

    def for_the_second(self, request: HttpRequest, obj: Any) -> Fieldsets:
        """From when a change holds, also where nobody else has to approve it."""
        fieldsets = super().for_the_second(request, obj)
        if fieldsets or obj is None or not self.has_change_permission(request, obj):
            return fieldsets
        return [("Holds from", {"fields": ("effective", "comment")})]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """With what the table pays by."""
        return (*super().get_readonly_fields(request, obj), *self._pays(obj))

    def _pays(self, table: Table | None) -> tuple[str, ...]:
        return ("pays_by",) if table and GAMES[table.game].pay_form.wagers else ()

    def render_change_form(self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """With the way to the sign at the table."""
        table = kwargs.get("obj")
        page: HttpResponse = super().render_change_form(
            request, context | {"placard": placard_address.of_table(table) if table else ""}, *args, **kwargs
        )
        return page

    @admin.display(description="pays now")
    def pays_by(self, table: Table) -> SafeString:
        """By which pay table, and its lines."""
        paid = pays.pays_at(table)
        lines = [(f"{wager}{'' if wager.is_own or not paid.name else ' (as shipped)'}",) for wager in paid.wagers]
        by = format_html("<p><strong>{}</strong></p>", paid.name) if paid.name else ""
        return format_html("{}{}", by, format_html_join("", "<p>{}</p>", lines))

    def _timing(self, table: Table | None) -> str:
        """When what a round rests on may change."""
        state = table_state.of(table) if table else TableState()
        if table and state.round_open:
            return table_settings.round_is_open(table, state, "this, and the options, can change")
        return "This, and the options, may change between rounds only."

    def _game(self, request: HttpRequest, table: Table | None) -> str:
        """The game whose options the form has: of a new table, the one that its address names."""
        name = request.GET.get("game", "")
        return table.game if table else name if name in GAMES else TableForm.GAME

    @admin.display(description="game")
    def game_title(self, table: Table) -> str:
        return game_title(table)

    @admin.display(description="bets", ordering="min_cents")
    def bets(self, table: Table) -> str:
        """The limits, as on the placard."""
        return f"{money(table.min_cents)} to {money(table.max_cents)}"

    @admin.display(description="minimum bet")
    def minimum(self, table: Table) -> str:
        return money(table.min_cents)

    @admin.display(description="maximum bet")
    def maximum(self, table: Table) -> str:
        return money(table.max_cents)

    @admin.display(description="rake")
    def rake(self, table: Table) -> str:
        """In per cent of a pot."""
        return f"{table.rake_permille / 10:g} %"

    @admin.display(description="most rake of one pot")
    def most_rake(self, table: Table) -> str:
        return "no cap" if table.rake_cap_cents is None else money(table.rake_cap_cents)

    @admin.display(description="time charge")
    def time_charge(self, table: Table) -> str:
        """For a seat and half hour."""
        return money(table.time_charge_cents)

    @admin.display(description="cap", ordering="cap_cents")
    def cap(self, table: Table) -> str:
        return "none" if table.cap_cents is None else money(table.cap_cents)

    @admin.display(description="bet step")
    def bet_step(self, table: Table) -> str:
        return "none" if table.bet_step_cents is None else money(table.bet_step_cents)

    @admin.display(description="smallest chip")
    def unit(self, table: Table) -> str:
        return money(table.unit_cents)

    @admin.display(description="options")
    def chosen_options(self, table: Table) -> str:
        options = table_settings.settings_of(table).options
        return ", ".join(f"{name}: {value}".replace("_", " ") for name, value in options.items() if name != PAYS)


@admin.register(Denomination)
class DenominationAdmin(Retiring):
    form = DenominationForm
    takes_two = ("chips",)
    list_display = ("worth", "colour", "swatch", "at", "retired")
    actions_detail = ("retire",)
    retire_by = staticmethod(retirement.retire_denomination)
    says = "Chips of this kind are not given out any more; those that are out are taken back as before."
    list_display_links = ("worth", "colour")
    fields = ("value", "colour", "face")
    fixed_fields = ("value",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Denomination]:
        """With the number of tables where each lies."""
        chips: QuerySet[Denomination] = super().get_queryset(request)
        return chips.annotate(table_count=Count("tables"))

    @admin.display(description="worth", ordering="value_cents")
    def worth(self, chip: Denomination) -> str:
        return money(chip.value_cents)

    @admin.display(description="worth")
    def value(self, chip: Denomination) -> str:
        """As money, on its own page."""
        return money(chip.value_cents)

    @admin.display(description="face")
    def swatch(self, chip: Denomination) -> SafeString:
        return format_html(
            '<svg width="22" height="22" role="img" aria-label="{}"><circle cx="11" cy="11" r="10" fill="{}"'
            ' stroke="#888"/><circle cx="11" cy="11" r="6" fill="none" stroke="#8888"/></svg>',
            chip.face,
            chip.face,
        )

    @admin.display(description="tables", ordering="table_count")
    def at(self, chip: Any) -> int:
        return int(chip.table_count)


@admin.register(ChipSeries)
class ChipSeriesAdmin(SetUp):
    """Series of chips: added once, retired by a slip of the cage, never changed."""

    form = ChipSeriesForm
    list_display = ("name", "manufacturer", "year", "worths", "by", "at", "redeemed_up_to")
    list_select_related = ("retirement",)
    fields = ("name", "manufacturer", "year", "kinds")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """With who added it, once it is."""
        added = ("name", "manufacturer", "year", "worths", "by", "at", "redeemed_up_to")
        return added if obj else self.fields

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Chips that were made are made."""
        return False

    @admin.display(description="kinds")
    def worths(self, series: ChipSeries) -> str:
        return ", ".join(money(value) for value in series.values)

    @admin.display(description="redeemed up to", empty_value="in use")
    def redeemed_up_to(self, series: ChipSeries) -> str | None:
        last_day = chip_series.last_day_of(series)
        return f"{last_day:%Y-%m-%d}" if last_day else None


@admin.register(HouseHours)
class HouseHoursAdmin(SetUp):
    """The gaming day and its shifts: set for days to come, never changed afterwards."""

    form = HouseHoursForm
    list_display = ("from_day", "day_starts", "time_zone", "in_words", "by", "at")
    fields = ("from_day", "time_zone", "day_starts", "shifts")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """With who set them, once they are set."""
        return ("from_day", "time_zone", "day_starts", "in_words", "by", "at") if obj else self.fields

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Hours stand: others are set from another day on."""
        return False

    @admin.display(description="shifts")
    def in_words(self, hours: HouseHours) -> str:
        return ", ".join(shifts.say_shifts(hours.shifts).splitlines())


@admin.register(AlertChannel)
class AlertChannelAdmin(SetUp):
    """How alerts leave the house. None is ever changed: the same name again is its next version."""

    form = AlertChannelForm
    list_display = ("name", "version", "tells", "means", "whither", "level", "is_on", "by", "at")
    list_filter = ("tells", "means", "is_on")
    fields = (
        "name", "tells", "means", "address", "signed_with", "both_hours", "is_on", "level", "kinds", "events",
        "at_tables",
    )  # fmt: skip

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """Once it is set, without the secret, and of an address on the web the host alone."""
        fields: tuple[str, ...] = (
            "name", "version", "means", "whither", "former_until", "is_on", "level", "only", "by", "at",
        )  # fmt: skip
        if obj is not None and obj.tells == ChannelContent.EVENTS:
            fields = (
                "name", "version", "tells", "means", "whither", "former_until", "is_on", "events", "about", "by", "at",
            )  # fmt: skip
        if obj is not None and obj.tells == ChannelContent.DAYS:
            fields = ("name", "version", "tells", "means", "whither", "former_until", "is_on", "by", "at")
        return fields if obj else self.fields

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Set otherwise, it is another version."""
        return False

    @admin.display(description="to")
    def whither(self, row: AlertChannel) -> str:
        return channels.destination(row)

    @admin.display(description="from the level on")
    def level(self, row: AlertChannel) -> str:
        return LEVELS[row.least_level]

    @admin.display(description="only alerts of")
    def only(self, row: AlertChannel) -> str:
        return ", ".join(KINDS[about].title for about in row.about if about in KINDS) or "all kinds"

    @admin.display(description="only events of these types")
    def events(self, row: AlertChannel) -> str:
        return ", ".join(row.types) or "all types"

    @admin.display(description="only events about these tables")
    def about(self, row: AlertChannel) -> str:
        return ", ".join(row.tables) or "all, and what is about no table"


@admin.register(HouseTerms)
class HouseTermsAdmin(SetUp):
    """The house's terms: what is in force, what comes next, who changed what; and the profiles that set all at once."""

    fields = ("effective", "in_words", "by", "at")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """What held, held: others are entered from a moment on."""
        return False

    def get_urls(self) -> list[Any]:
        """With the page of the profiles, and each of them."""
        profile = self.admin_site.admin_view(self.profile_view)
        own = [
            path("roles/", self.admin_site.admin_view(self.roles_view), name="house-roles"),
            path("profiles/", self.admin_site.admin_view(self.profiles_view), name="house-profiles"),
            path("profiles/<slug:name>/", profile, name="house-profile"),
        ]
        return own + super().get_urls()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """By groups; then the history."""
        self._permit(request)
        return self._page(
            request, "house_terms", "House terms",
            groups=lines_by_group(), history=[(row, changes(row)) for row in HouseTerms.objects.order_by("-seq")],
            in_vain=settings.SET_IN_VAIN, may_change=self.has_add_permission(request),
            change_url=reverse("admin:tables_houseterms_add"), profiles_url=reverse("admin:house-profiles"),
            roles_url=reverse("admin:house-roles"),
        )  # fmt: skip

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """All of them as fields."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        form = TermsForm(request.POST or None)
        if form.is_valid():
            try:
                return self._changed(request, form.draft(), form)
            except Refused as refused:
                form.add_error(None, as_error(refused))
        return self._page(request, "change_terms", "Change terms", form=form, button=self._button("terms"))

    def roles_view(self, request: HttpRequest) -> HttpResponse:
        """What each role may do and sign, and the house's choices as boxes."""
        self._permit(request)
        may_change = self.has_add_permission(request)
        if request.method == "POST" and not may_change:
            raise PermissionDenied
        form = RolesForm(request.POST if request.method == "POST" else None)
        if form.is_valid():
            try:
                return self._changed(request, form.draft(), form, back="admin:house-roles")
            except Refused as refused:
                form.add_error(None, as_error(refused))
        waiting = [row for row in proposals.waiting() if (row.matter, row.about) == ("terms", role_choices.ABOUT)]
        return self._page(
            request, "roles", "Roles: what each may do",
            form=form, labels=roles.LABELS, may_change=may_change, button=self._button("terms"),
            apart=roles.apart(), differ=duties.DIFFER, next=roles.next_choices(),
            waiting=[(row, proposals.title_of_proposal(row)) for row in waiting],
        )  # fmt: skip

    def profiles_view(self, request: HttpRequest) -> HttpResponse:
        """Which there are."""
        self._permit(request)
        return self._page(request, "profiles", "House profiles", profiles=PROFILES.values())

    def profile_view(self, request: HttpRequest, name: str) -> HttpResponse:
        """One of them, clause by clause; and what it would change."""
        self._permit(request)
        if name not in PROFILES:
            raise Http404
        profile = PROFILES[name]
        form = ProfileForm(profile, request.POST or None)
        if request.method == "POST" and not self.has_add_permission(request):
            raise PermissionDenied
        if form.is_valid():
            try:
                draft = policies.draft(form.values(), form.cleaned_data["effective"], profile=name)
                return self._changed(request, draft, form, profile=name)
            except Refused as refused:
                form.add_error(None, as_error(refused))
        return self._page(
            request, "profile", f"House profile: {profile.title}",
            profile=profile, form=form, button=self._button("profile"), clauses=clauses_of(profile),
            would_change=would_change(profile), may_change=self.has_add_permission(request),
        )  # fmt: skip

    def _changed(
        self,
        request: HttpRequest,
        draft: ProposalDraft | None,
        form: FromThenOn,
        *,
        profile: str | None = None,
        back: str = "admin:tables_houseterms_changelist",
    ) -> HttpResponse:
        """Entered, or proposed where it takes two people. Raises Refused."""
        by = operator(request)
        if draft:
            proposal = proposals.propose(draft, form.cleaned_data["comment"], by=by)
            messages.success(request, f"{proposal} waits for a second operator.", extra_tags="proposed")
            return redirect("admin:tables_proposal_change", proposal.pk)
        row = policies.change(form.values(), form.cleaned_data["effective"], by=by, profile=profile)
        messages.success(
            request,
            "The change is entered." if row else "Nothing was to be changed.",
            extra_tags="entered" if row else "unchanged",
        )
        return redirect(back)

    def _button(self, matter: str) -> str:
        needed = dual_control.needed(matter, policies.as_entered(timezone.now()))
        return "Propose the change" if needed else "Enter the change"

    def _permit(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied

    def _page(self, request: HttpRequest, template: str, title: str, **context: Any) -> TemplateResponse:
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, f"tables/admin/{template}.html", shared | context)

    @admin.display(description="change")
    def in_words(self, row: HouseTerms) -> SafeString:
        """Each term, before and after."""
        return format_html_join("", "<p>{}: {} → {}</p>", changes(row))


@admin.register(Proposal)
class ProposalAdmin(SetUp):
    """What waits for a second person, and what became of it."""

    list_display = ("number", "title", "by", "at", "status")
    list_select_related = ("end",)
    list_filter = ("matter",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Whatever is proposed is proposed where it is set."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """It stands as it was made."""
        return False

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """One of them; and the buttons of whoever may approve, decline or withdraw it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        proposal = self.row(request, object_id)
        form, by = ReasonForm(request.POST or None), operator(request)
        if form.is_valid():
            try:
                return self._ended(request, proposal, form.cleaned_data["reason"])
            except Refused as refused:
                form.add_error(None, as_error(refused))
        waiting = not hasattr(proposal, "end")
        if "effect" in request.GET:
            return _effect_file(request, proposal)
        context = {
            "proposal": proposal, "form": form, "changes": proposals.changes(proposal), "status": self.status(proposal),
            "may_approve": waiting and proposal in proposals.waiting_for(by),
            "may_withdraw": waiting and proposal.proposed_by == by.username,
            "may_call_off": proposal in proposals.to_come() and proposals.may_propose("call_off", by),
            "stale": proposals.stale(proposal) if waiting else "",
            "comments": proposals.comments(proposal), "may_comment": waiting,
            "effects": limit_effect.of_proposal(proposal) if waiting else [],
            "title": f"{proposal}: {self.title(proposal)}", "opts": self.opts,
        }  # fmt: skip
        shared = self.admin_site.each_context(request)
        return TemplateResponse(request, "tables/admin/proposal.html", shared | context)

    def _ended(self, request: HttpRequest, proposal: Proposal, reason: str) -> HttpResponse:
        """What its button says is done. Raises Refused."""
        by = operator(request)
        if "approve" in request.POST:
            end = proposals.approve(proposal, by=by)
            is_later = proposals.is_to_come(proposal, end.at)
            later = f"waits: it holds {proposals.holds_from(proposal)}" if is_later else "done"
            messages.success(request, f"{proposal} is approved, and {later}.", extra_tags="approved")
        elif "call_off" in request.POST and hasattr(proposal, "end") and proposal.end.outcome == "decided":
            proposals.call_off(proposal, reason, by=by)
            messages.success(request, f"{proposal} is called off.", extra_tags="called_off")
        elif "call_off" in request.POST:
            proposed = proposals.propose(proposals.draft_of_calling_off(proposal), reason, by=by)
            messages.success(
                request, f"{proposed} waits for a second operator: it calls off {proposal}.", extra_tags="proposed"
            )
        elif "comment" in request.POST:
            proposals.comment(proposal, reason, by=by)
            return redirect("admin:tables_proposal_change", proposal.pk)
        elif "decline" in request.POST:
            proposals.decline(proposal, reason, by=by)
            messages.success(request, f"{proposal} is declined.", extra_tags="declined")
        elif "withdraw" not in request.POST:
            raise Refused("no_button", "Say whether you approve, decline, withdraw or call it off.", 422)
        else:
            proposals.withdraw(proposal, reason, by=by)
            messages.success(request, f"{proposal} is withdrawn.", extra_tags="withdrawn")
        return redirect("admin:tables_proposal_changelist")

    @admin.display(description="what")
    def title(self, proposal: Proposal) -> str:
        return proposals.title_of_proposal(proposal)

    @admin.display(description="what became of it")
    def status(self, proposal: Proposal) -> str:
        return proposals.status(proposal)


def _effect_file(request: HttpRequest, proposal: Proposal) -> HttpResponse:
    """What a proposal would come to at each table, as CSV."""
    if not request.user.has_perm("tables.export_lists"):
        raise PermissionDenied
    header = (
        "table",
        "rounds",
        "rounds_an_hour",
        *(f"{name}_{side}" for side in ("before", "after") for name in _SIDE),
    )
    lines = (
        (effect.table, effect.rounds, effect.an_hour, *(getattr(side, name) for side in sides for name in _SIDE))
        for effect in limit_effect.of_proposal(proposal)
        for sides in [(effect.before, effect.after)]
    )
    answer = HttpResponse(csv_file(header, lines), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="proposal-{proposal.number}-effect.csv"'
    return answer


_SIDE: Final = ("handle_cents", "theoretical_cents", "exposure_cents", "edges")


admin.site.index_template = "tables/admin/index.html"


@admin.register(PayTable)
class PayTableAdmin(SetUp):
    """Pay tables: made in two steps, first their worth is shown, then they are saved. None is ever changed."""

    list_display = ("name", "version", "game_title", "by", "at")
    list_filter = ("game",)
    fields = ("name", "version", "game_title", "pays", "worth", "sha256", "by", "at")
    actions_detail = ("new_version",)

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Other lines are another version."""
        return False

    def has_version_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What ``permissions=["version"]`` asks."""
        return self.has_add_permission(request)

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: Any = None) -> HttpResponse:
        """The game first; then the lines, what they are worth, and the button that saves what was shown."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        game = request.GET.get("game", "")
        if game not in pay_tables.games():
            return self._page(request, games=[GAMES[name] for name in pay_tables.games()])
        row = PayTable.objects.filter(pk=number(request.GET.get("from", "")), game=game).first()
        initial = PayTableForm.initial_of(row) if row else {}
        form = PayTableForm.for_game(game)(request.POST or None, initial=initial)
        if not form.is_valid():
            return self._page(request, form=form)
        return self._trial_page(request, form)

    def _trial_page(self, request: HttpRequest, form: PayTableForm) -> HttpResponse:
        """What the lines are worth; or, where that was shown before and the button pressed, they are saved."""
        table = form.table()
        worths = previews(form.GAME, table)
        is_lost = any(preview.is_lost for preview in worths)
        row = None
        if "save" in request.POST and form.may_be_saved(table, is_lost=is_lost):
            try:
                if draft := form.draft():
                    proposal = proposals.propose(draft, form.cleaned_data["comment"], by=operator(request))
                    messages.success(request, f"{proposal} waits for a second operator.", extra_tags="proposed")
                    return redirect("admin:tables_proposal_change", proposal.pk)
                row = form.make(operator(request))
            except Refused as refused:
                form.add_error(None, as_error(refused))
        if row is None:
            return self._page(request, form=form, previews=worths, is_lost=is_lost, digest=table.sha256)
        messages.success(
            request,
            f"{row} of {GAMES[row.game].title} is made. Tables pay by it once they are set so.",
            extra_tags="pay_table_made",
        )
        return redirect("admin:tables_paytable_change", row.pk)

    def _page(self, request: HttpRequest, **context: Any) -> HttpResponse:
        title = f"A pay table of {GAMES[context['form'].GAME].title}" if "form" in context else "A pay table"
        takes_two = dual_control.needed("pay_table", policies.as_entered(timezone.now()))
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "title": title, "takes_two": takes_two}
        return TemplateResponse(request, "tables/admin/pay_table.html", shared | context)

    @action(description="New version", url_path="new-version", permissions=["version"])
    def new_version(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The form, with the lines of this one."""
        row = self.row(request, object_id)
        return redirect(f"{reverse('admin:tables_paytable_add')}?game={row.game}&from={row.pk}")

    @admin.display(description="game", ordering="game")
    def game_title(self, row: PayTable) -> str:
        return GAMES[row.game].title

    @admin.display(description="pays")
    def pays(self, row: PayTable) -> SafeString:
        """Wager by wager, its lines as they are kept."""
        lines = [
            f"{wager}: " + ", ".join(f"{line} {odds}" for line, odds in pays.items())
            for wager, pays in row.wagers.items()
        ]
        return format_html_join("", "<p>{}</p>", [(line.replace("_", " ").capitalize(),) for line in lines])

    @admin.display(description="worth")
    def worth(self, row: PayTable) -> SafeString:
        """What its wagers are worth, beside those that ship."""
        try:
            table = pay_tables.read(row)
        except Illegal as illegal:  # somebody changed the row: `verify` names how
            return format_html("<p>{}</p>", sentence(illegal.sentence))
        return render_to_string("tables/admin/_worth.html", {"previews": previews(row.game, table)})


@admin.register(Staff)
class StaffAdmin(SetUp):
    """Staff. Passwords and PINs are their owners' alone: here one asks for the first half of a code."""

    form = StaffForm
    takes_two = ("staff",)
    list_display = ("name", "role", "badge", "username", "is_active", "last_login", "code", "to_do")
    list_select_related = ("emergency_code",)
    list_filter = ("role", "is_active")
    search_fields = ("name", "username", "badge")
    fixed_fields = ("username",)
    actions_detail = ("pin_code", "password_code", "withdraw_passkeys", "lift_lock_out")

    @admin.display(description="still to do", empty_value="")
    def to_do(self, staff: Staff) -> str | None:
        """What this person, or who runs the house, has to do before they can work."""
        return " ".join(codes.due(staff)) or None

    @action(description="Code for a PIN", url_path="pin-code", permissions=["change"])
    def pin_code(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The first half of a code with which they make a PIN."""
        return self._code(request, object_id, PIN)

    @action(description="Code for a password", url_path="password-code", permissions=["change"])
    def password_code(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The first half of a code with which they make a password."""
        return self._code(request, object_id, PASSWORD)

    @action(description="Withdraw passkeys", url_path="withdraw-passkeys", permissions=["change"])
    def withdraw_passkeys(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """For somebody who lost the device."""
        staff = self.row(request, object_id)
        rows = staff.passkeys.filter(is_active=True)
        if request.method != "POST":
            names = ", ".join(row.name for row in rows) or "none"
            text = f"Passkeys of {staff}: {names}. None of them opens anything afterwards."
            return self.ask(request, f"Withdraw the passkeys of {staff}", says=text, button="Withdraw all")
        for row in rows:
            passkeys.withdraw(row, by=operator(request))
        messages.success(request, f"{staff} has no passkeys now.", extra_tags="passkeys_withdrawn")
        return redirect("admin:tables_staff_change", staff.pk)

    def _code(self, request: HttpRequest, object_id: str, secret: str) -> HttpResponse:
        staff, called = self.row(request, object_id), CALLED[secret]
        title = f"A code for a {called} of {staff}"
        if request.method == "POST":
            try:
                halves = codes.ask(staff, secret, by=operator(request))
            except Refused as refused:
                messages.error(request, refused.sentence, extra_tags=refused.code)
                return redirect("admin:tables_staff_change", staff.pk)
            return self.ask(request, title, halves=halves, staff=staff, called=called)
        text = (
            f"You get the first half of a code and give it to {staff} alone; another operator or a pit boss confirms it"
            f" under “Codes”, and gives them the second half. With both, {staff} makes a {called} of their own."
        )
        if secret_ages.had_one(staff, secret):
            text += f" The {called} of now is void once the code is confirmed: an alert says who reset it."
        return self.ask(request, title, says=text, button="Ask for the code")

    @admin.display(description="emergency code", empty_value="")
    def code(self, staff: Staff) -> str | None:
        """Since when an operator has one: two are needed to come in when nobody gets in."""
        if staff.role != Role.OPERATOR or not staff.is_active:
            return None
        issued = getattr(staff, "emergency_code", None)
        return f"{issued.made_at:%Y-%m-%d}" if issued else "none yet"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Fieldsets:
        """With what is still to do, once there is a row."""
        person = {"fields": ("username", "name", "role", "further", "badge", *(("is_active", "to_do") if obj else ()))}
        return [(None, person), *self.for_the_second(request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """What is still to do is told, not typed."""
        return (*super().get_readonly_fields(request, obj), "to_do")

    @action(description="Lift lock-out", url_path="lift-lock-out", permissions=["change"])
    def lift_lock_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let somebody try to sign in again."""
        staff = self.row(request, object_id)
        if request.method != "POST":
            text = "Who failed to sign in too often is locked out for a while. Let them try again now?"
            return self.ask(request, f"Lift the lock-out of {staff}", says=text, button="Lift lock-out")
        staffing.lift_lock_out(staff, by=operator(request))
        messages.success(request, f"{staff} may try again.", extra_tags="unlocked")
        return redirect("admin:tables_staff_change", staff.pk)


@admin.register(Terminal)
class TerminalAdmin(SetUp):
    """Terminals: enrolled from the device itself, or by a link that is opened there."""

    form = TerminalForm
    list_display = ("name", "for_table", "is_active", "key", "enrolled_by", "enrolled_at")
    list_select_related = ("table", "enrolled_by")
    list_filter = ("is_active",)
    fields = ("name", "table", "is_active", "key", "enrolled_by", "enrolled_at")
    fixed_fields = ("name", "is_active", "key", "enrolled_by", "enrolled_at")
    actions_list = ("enrol_here", "enrol_elsewhere", "keys")
    actions_detail = ("link", "lift_lock_out", "revoke")

    @admin.display(description="table", ordering="table", empty_value="any")
    def for_table(self, terminal: Terminal) -> Table | None:
        """The only table that may be dealt from it."""
        return terminal.table

    @admin.display(description="key")
    def key(self, terminal: Terminal) -> str:
        """What it signs with, as the house's log says."""
        return terminal_keys.state_of(signature_checks.trust().of(terminal.name))

    @action(description="This terminal and its key", url_path="keys", permissions=["enrol"])
    def keys(self, request: HttpRequest) -> HttpResponse:
        """Keys are made and vouched for on the terminals themselves: their browsers hold them."""
        return redirect("terminal")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A device is enrolled, not typed in."""
        return False

    def has_enrol_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What ``permissions=["enrol"]`` asks, at each action below."""
        return operator(request).has_perm("tables.enrol_terminal")

    @action(description="Enrol this device", url_path="enrol-here", permissions=["enrol"])
    def enrol_here(self, request: HttpRequest) -> HttpResponse:
        """Make the device that the operator holds a terminal; they are signed out there."""
        form, by = EnrolForm(request.POST or None), operator(request)
        if form.is_valid():
            try:
                terminal, token = terminals.enrol(**form.cleaned_data, by=by)
                sign_in.sign_out(request)
                messages.success(request, f"This device is {terminal.name} now.", extra_tags="terminal_enrolled")
                response = redirect("terminal")
                terminals.remember(response, token)
                return response
            except Refused as refused:
                form.add_error(None, as_error(refused))
        text = "Dealers will sign in on this device by badge and PIN. You are signed out here afterwards."
        return self.ask(request, "Enrol this device", form=form, says=text, button="Enrol this device")

    @action(description="Enrol another device", url_path="enrol-elsewhere", permissions=["enrol"])
    def enrol_elsewhere(self, request: HttpRequest) -> HttpResponse:
        """A new terminal, and the link that the device has to open."""
        form = EnrolForm(request.POST or None)
        if form.is_valid():
            try:
                return self._show_link(request, terminals.add(**form.cleaned_data, by=operator(request)))
            except Refused as refused:
                form.add_error(None, as_error(refused))
        text = "You get a link, and the same as a code to scan. The device on which it is opened first is the terminal."
        return self.ask(request, "Enrol another device", form=form, says=text, button="Make the link")

    @action(description="New link", url_path="link", permissions=["enrol"])
    def link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Move a terminal to another device."""
        terminal = self.row(request, object_id)
        if request.method == "POST":
            return self._show_link(request, terminal)
        text = "The device on which the link is opened takes this terminal's place; the old one is one no more."
        return self.ask(request, f"A new link for {terminal}", says=text, button="Make the link")

    @action(description="Lift lock-out", url_path="lift-lock-out", permissions=["enrol"])
    def lift_lock_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Let badges and PINs be tried there again."""
        terminal = self.row(request, object_id)
        if request.method != "POST":
            text = "After too many wrong PINs a terminal takes none for a while. Let it take them again now?"
            return self.ask(request, f"Lift the lock-out of {terminal}", says=text, button="Lift lock-out")
        terminals.lift_lock_out(terminal, by=operator(request))
        messages.success(request, f"{terminal} takes badges and PINs again.", extra_tags="unlocked")
        return redirect("admin:tables_terminal_change", terminal.pk)

    @action(description="Revoke", url_path="revoke", permissions=["enrol"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """The device is no terminal any more."""
        terminal = self.row(request, object_id)
        if request.method != "POST":
            text = "Nobody can sign in there by badge and PIN any more, and who did is signed out at once."
            return self.ask(request, f"Revoke {terminal}", says=text, button="Revoke")
        terminals.revoke(terminal, by=operator(request))
        messages.success(request, f"{terminal} is revoked.", extra_tags="revoked")
        return redirect("admin:tables_terminal_changelist")

    def _show_link(self, request: HttpRequest, terminal: Terminal) -> TemplateResponse:
        url = request.build_absolute_uri(terminals.link_for(terminal, by=operator(request)))
        code = mark_safe(segno.make(url, micro=False).svg_inline(scale=5))  # noqa: S308 -- drawn here, from our own link
        return self.ask(request, f"Open this on {terminal}", link=url, code=code)
