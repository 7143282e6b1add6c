"""Service accounts of API clients in the admin, and their tokens. A token is shown once."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from unfold import widgets
from unfold.decorators import action

from tables.admin import forms as admin_forms
from tables.admin.forms import DomainForm, MomentField, RetireForm, refusals_as_errors, table_choices
from tables.admin.pages import SetUp, operator
from tables.log import scopes
from tables.log.message import text_of
from tables.models import ServiceAccount, ServiceToken, Staff
from tables.refusals import Faults, Refused
from tables.setup import policies, service_accounts
from tables.setup.dual_control import ProposalDraft
from tables.setup.service_accounts import Access
from tables.staff import service_tokens


class ServiceAccountForm(DomainForm):
    """The access of a service account."""

    FIELDS = {"expires": "expires_at"}

    scopes = admin_forms.MultipleChoiceField(
        label="May",
        choices=[(scope.name, f"{scope.title} ({scope.name})") for scope in scopes.SCOPES.values()],
        help_text="As little as it needs. No program signs a slip, approves, gives access or moves chips.",
    )
    tables = admin_forms.MultipleChoiceField(
        choices=table_choices,
        required=False,
        help_text="None stands for all tables. A card reader is at one.",
    )
    addresses = forms.CharField(
        label="May call from",
        required=False,
        widget=widgets.UnfoldAdminTextareaWidget({"rows": 3}),
        help_text="One address or network a line: 10.0.3.7 or 10.0.3.0/24. Empty: from anywhere.",
    )
    expires_at = MomentField(label="Good until")

    class Meta:
        model = ServiceAccount
        fields = ("name", "purpose", "scopes", "tables", "addresses", "expires_at")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        days = policies.number("service_days")
        if "expires_at" in self.fields:
            self.fields["expires_at"].help_text = f"By the house's clock; {days} days from now at the latest."
            if self.instance.pk is None:
                latest = timezone.localtime(timezone.now() + timedelta(days=days))
                self.initial.setdefault("expires_at", latest.strftime("%Y-%m-%d %H:%M"))
        tables = self.fields.get("tables")
        if isinstance(tables, forms.MultipleChoiceField):
            # Without the retired tables of the account none would be ticked, which stands for all tables.
            tables.choices = table_choices(self.instance.tables)
        if self.instance.pk:
            self.initial["addresses"] = "\n".join(self.instance.addresses)

    @property
    def name(self) -> str:
        """The name, which never changes."""
        return str(self.instance.name if self.instance.pk else self.cleaned_data["name"])

    def access(self) -> Access:
        """The access as typed."""
        typed = self.cleaned_data
        chosen = typed["scopes"]
        return Access(
            purpose=typed["purpose"],
            scopes=tuple(name for name in scopes.SCOPES if name in chosen),
            tables=tuple(typed["tables"]),
            addresses=tuple(line.strip() for line in typed["addresses"].splitlines() if line.strip()),
            expires=typed["expires_at"],
        )

    def faults(self) -> Faults:
        return service_accounts.faults(self.name, self.access(), timezone.now())

    def draft(self) -> ProposalDraft | None:
        return service_accounts.draft(self.name, self.access())

    def write(self, by: Staff) -> ServiceAccount:
        return service_accounts.set_account(self.name, self.access(), by=by)


@admin.register(ServiceAccount)
class ServiceAccountAdmin(SetUp):
    """Service accounts with their access, state and last use."""

    form = ServiceAccountForm
    takes_two = ("service_account",)
    list_display = ("name", "purpose", "may", "where", "state", "last_use", "expires_at")
    search_fields = ("name", "purpose")
    fields = ("name", "purpose", "scopes", "tables", "addresses", "expires_at")
    fixed_fields = ("name", "state", "tokens", "last_use")
    actions_detail = ("new_token", "revoke_token", "revoke")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ServiceAccount]:
        """The accounts, with one query for all tokens."""
        return super().get_queryset(request).prefetch_related("tokens")

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> list[tuple[str | None, dict[str, Any]]]:
        """The access, and of an existing account also its state and tokens."""
        facts = ("state", "tokens", "last_use") if obj else ()
        return [(None, {"fields": (*(self.fields or ()), *facts)}), *self.for_the_second(request, obj)]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """False for a revoked account."""
        is_open = not isinstance(obj, ServiceAccount) or not obj.ended_why
        return is_open and super().has_change_permission(request, obj)

    @admin.display(description="may")
    def may(self, account: ServiceAccount) -> str:
        return text_of(scopes.titles(account.scopes))

    @admin.display(description="tables")
    def where(self, account: ServiceAccount) -> str:
        return ", ".join(account.tables) or "all"

    @admin.display(description="state")
    def state(self, account: ServiceAccount) -> str:
        return service_accounts.state_of(account)

    @admin.display(description="last used", empty_value="never")
    def last_use(self, account: ServiceAccount) -> datetime | None:
        return service_accounts.last_use(account)

    @admin.display(description="tokens", empty_value="none")
    def tokens(self, account: ServiceAccount) -> str | None:
        """The valid tokens by their identifiers."""
        return "; ".join(map(_token_line, _live(account))) or None

    @action(description="New token", url_path="token", permissions=["change"])
    def new_token(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Make a token and show it once."""
        account = self.row(request, object_id)
        title = f"A token for {account}"
        if request.method == "POST":
            try:
                text = service_tokens.make(account, by=operator(request))
            except Refused as refused:
                messages.error(request, refused.sentence, extra_tags=refused.code)
                return redirect("admin:tables_serviceaccount_change", account.pk)
            return self.ask(request, title, token=text)
        hours = policies.number("token_overlap_hours")
        description = "You see it once: put it where the program reads it, and nowhere else."
        if _live(account):
            description += f" The token of now is good for {hours} hours more, so that the program goes on meanwhile."
        return self.ask(request, title, text=description, button="Make the token")

    @action(description="Revoke a token", url_path="revoke-token", permissions=["change"])
    def revoke_token(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke one token immediately."""
        account = self.row(request, object_id)
        live = _live(account)
        form = _token_form(live)(request.POST or None)
        if form.is_valid():
            try:
                service_tokens.end(account.tokens.get(ident=form.cleaned_data["token"]), by=operator(request))
            except Refused as refused:
                messages.error(request, refused.sentence, extra_tags=refused.code)
            else:
                messages.success(
                    request, f"The token {form.cleaned_data['token']} is good no more.", extra_tags="token_revoked"
                )
            return redirect("admin:tables_serviceaccount_change", account.pk)
        text = "It is good no more at once, and an alert says so if somebody tries it still."
        if not live:
            messages.error(request, f"{account} has no token that is good.", extra_tags="no_token")
            return redirect("admin:tables_serviceaccount_change", account.pk)
        return self.ask(request, f"Revoke a token of {account}", form=form, text=text, button="Revoke the token")

    @action(description="Revoke", url_path="revoke", permissions=["change"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke the account permanently."""
        account = self.row(request, object_id)
        form = RetireForm(request.POST or None)
        if form.is_valid():
            with refusals_as_errors(form):
                service_accounts.revoke(account, form.cleaned_data["why"], by=operator(request))
                messages.success(request, f"{account} may do nothing any more.", extra_tags="retired")
                return redirect("admin:tables_serviceaccount_changelist")
        text = "It may do nothing any more, at once and for good. At its table the dealer keys the cards."
        return self.ask(request, f"Revoke {account}", form=form, text=text, button="Revoke")


def _live(account: ServiceAccount) -> Sequence[ServiceToken]:
    moment = timezone.now()
    return [token for token in account.tokens.all() if token.until > moment]


def _token_line(token: ServiceToken) -> str:
    used = f"used {timezone.localtime(token.used_at):%Y-%m-%d %H:%M}" if token.used_at else "never used"
    return f"{token.ident}, good until {timezone.localtime(token.until):%Y-%m-%d %H:%M}, {used}"


def _token_form(live: Sequence[ServiceToken]) -> type[forms.Form]:
    field = admin_forms.ChoiceField(
        label="Which",
        choices=[(token.ident, _token_line(token)) for token in live],
    )
    return type("TokenForm", (forms.Form,), {"token": field})
