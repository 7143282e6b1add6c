"""Terminals in the admin: their enrolment, links and revocation."""

from __future__ import annotations

from typing import Any

import segno
from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils.safestring import mark_safe
from unfold import widgets
from unfold.decorators import action

from tables.admin.forms import DomainForm, ModelChoiceField, refusals_as_errors
from tables.admin.pages import SetUp, operator
from tables.floor import signature_checks
from tables.models import Staff, Table, Terminal
from tables.staff import sign_in, terminal_keys, terminals


class TerminalForm(DomainForm):
    """The table of a terminal."""

    class Meta:
        model = Terminal
        fields = ("table",)

    def write(self, by: Staff) -> Terminal:
        terminals.bind(self.instance, self.cleaned_data["table"], by=by)
        return self.instance


class EnrolForm(forms.Form):
    """A new terminal."""

    name = forms.RegexField(
        r"^[\w .#-]+\Z", max_length=40, label="Name", help_text="As the log calls it: Rocket 1 tablet.",
        widget=widgets.UnfoldAdminTextInputWidget,
    )  # fmt: skip
    table = ModelChoiceField(
        Table.objects.in_use(), required=False, empty_label="any table",
        help_text="The only table that may be dealt from it.",
    )  # fmt: skip


@admin.register(Terminal)
class TerminalAdmin(SetUp):
    """Terminals. A device is enrolled from itself, or by a link that is opened on it."""

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
        """The state of its signing key, by the log of the site."""
        return terminal_keys.state_of(signature_checks.trust().of(terminal.name))

    @action(description="This terminal and its key", url_path="keys", permissions=["enrol"])
    def keys(self, request: HttpRequest) -> HttpResponse:
        """Open the page of this terminal; its browser holds its key."""
        return redirect("terminal")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """False: a device is enrolled."""
        return False

    def has_enrol_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """The permission ``enrol`` of actions."""
        return operator(request).has_perm("tables.enrol_terminal")

    @action(description="Enrol this device", url_path="enrol-here", permissions=["enrol"])
    def enrol_here(self, request: HttpRequest) -> HttpResponse:
        """Make this device a terminal, and sign the operator out."""
        form, by = EnrolForm(request.POST or None), operator(request)
        if form.is_valid():
            with refusals_as_errors(form):
                terminal, token = terminals.enrol(**form.cleaned_data, by=by)
                sign_in.sign_out(request)
                messages.success(request, f"This device is {terminal.name} now.", extra_tags="terminal_enrolled")
                response = redirect("terminal")
                terminals.remember(response, token)
                return response
        text = "Dealers will sign in on this device by badge and PIN. You are signed out here afterwards."
        return self.ask(request, "Enrol this device", form=form, text=text, button="Enrol this device")

    @action(description="Enrol another device", url_path="enrol-elsewhere", permissions=["enrol"])
    def enrol_elsewhere(self, request: HttpRequest) -> HttpResponse:
        """Add a terminal, and show the link that enrols its device."""
        form = EnrolForm(request.POST or None)
        if form.is_valid():
            with refusals_as_errors(form):
                return self._show_link(request, terminals.add(**form.cleaned_data, by=operator(request)))
        text = "You get a link, and the same as a code to scan. The device on which it is opened first is the terminal."
        return self.ask(request, "Enrol another device", form=form, text=text, button="Make the link")

    @action(description="New link", url_path="link", permissions=["enrol"])
    def link(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Move a terminal to another device."""
        terminal = self.row(request, object_id)
        if request.method == "POST":
            return self._show_link(request, terminal)
        text = "The device on which the link is opened takes this terminal's place; the old one is one no more."
        return self.ask(request, f"A new link for {terminal}", text=text, button="Make the link")

    @action(description="Lift lock-out", url_path="lift-lock-out", permissions=["enrol"])
    def lift_lock_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Permit further attempts by badge and PIN."""
        terminal = self.row(request, object_id)
        if request.method != "POST":
            text = "After too many wrong PINs a terminal takes none for a while. Let it take them again now?"
            return self.ask(request, f"Lift the lock-out of {terminal}", text=text, button="Lift lock-out")
        terminals.lift_lock_out(terminal, by=operator(request))
        messages.success(request, f"{terminal} takes badges and PINs again.", extra_tags="unlocked")
        return redirect("admin:tables_terminal_change", terminal.pk)

    @action(description="Revoke", url_path="revoke", permissions=["enrol"])
    def revoke(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Revoke the terminal."""
        terminal = self.row(request, object_id)
        if request.method != "POST":
            text = "Nobody can sign in there by badge and PIN any more, and who did is signed out at once."
            return self.ask(request, f"Revoke {terminal}", text=text, button="Revoke")
        terminals.revoke(terminal, by=operator(request))
        messages.success(request, f"{terminal} is revoked.", extra_tags="revoked")
        return redirect("admin:tables_terminal_changelist")

    def _show_link(self, request: HttpRequest, terminal: Terminal) -> TemplateResponse:
        url = request.build_absolute_uri(terminals.link_for(terminal, by=operator(request)))
        code = mark_safe(segno.make(url, micro=False).svg_inline(scale=5))  # noqa: S308 -- drawn here, from our own link
        return self.ask(request, f"Open this on {terminal}", link=url, code=code)
