"""The base classes of the admin's pages: rows that the domain's functions write.

A ``DomainForm`` validates its input by the functions that judge the write. ``SetUp`` then saves it through the
function that also appends the log entry, or proposes the change where it is under dual control. No row is saved
otherwise, and no row is deleted. Operators change, auditors read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from unfold.decorators import action

from ledger.admin_lists import ClosedList
from tables.admin.forms import DomainForm, RetireForm, refusals_as_errors
from tables.approvals import proposals
from tables.log import dual_control
from tables.models import Proposal, Staff
from tables.refusals import Refused
from tables.setup import policies

Fieldsets = list[tuple[str | None, dict[str, Any]]]

admin.site.index_title = "Desk"
admin.site.unregister(Group)  # permissions follow from the role alone


def number(text: str) -> int:
    """A number from an address or a form; 0, which no row has, for other text."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def operator(request: HttpRequest) -> Staff:
    """The signed-in user. Raises PermissionDenied for a user who is not staff."""
    if not isinstance(request.user, Staff):
        raise PermissionDenied
    return request.user


def to_proposal(request: HttpRequest, proposal: Proposal) -> HttpResponse:
    """The page of a new proposal, with a message."""
    messages.success(request, proposals.entered(proposal), extra_tags="proposed")
    return redirect("admin:tables_proposal_change", proposal.pk)


class SetUp(ClosedList):
    """Rows that operators set up. The form is a ``DomainForm``."""

    actions: ClassVar[Any] = ()
    list_per_page = 50
    view_on_site = False
    fixed_fields: ClassVar[tuple[str, ...]] = ()
    """The fields that never change once a row exists."""
    takes_two: ClassVar[tuple[str, ...]] = ()
    """The matters of dual control that its changes may belong to."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """False: log entries refer to the row."""
        return False

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> tuple[str, ...]:
        return self.fixed_fields if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Fieldsets:
        return [*super().get_fieldsets(request, obj), *self.for_the_second(request, obj)]

    def for_the_second(self, request: HttpRequest, obj: Any) -> Fieldsets:
        """The effective time and the reason, if a change may be under dual control."""
        may_write = self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        terms = policies.as_entered(timezone.now())
        if not may_write or not any(dual_control.needed(matter, terms) for matter in self.takes_two):
            return []
        description = "What moves money waits for a second operator: Save proposes it."
        return [("Two people", {"fields": ("effective", "comment"), "description": description})]

    def save_model(self, request: HttpRequest, obj: Any, form: DomainForm, change: bool) -> None:
        """Save through the domain's function, or propose the change. Raises Refused."""
        by, draft = operator(request), form.draft()
        if draft is None:
            obj.pk = form.write(by).pk
            obj.refresh_from_db()
            return
        draft = replace(draft, effective=form.cleaned_data.get("effective"))
        obj.proposed = proposals.arrange(draft, form.cleaned_data["comment"], by=by)
        proposals.with_the_shoe(obj.proposed.about)  # the shoe may be over already

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing: the domain's function wrote the related rows."""

    def response_add(self, request: HttpRequest, obj: Any, post_url_continue: Any = None) -> HttpResponse:
        if hasattr(obj, "proposed"):
            return to_proposal(request, obj.proposed)
        return super().response_add(request, obj, post_url_continue)

    def response_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        if hasattr(obj, "proposed"):
            return to_proposal(request, obj.proposed)
        return super().response_change(request, obj)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Django's own record of a new row. A proposal has no row yet."""
        return None if hasattr(obj, "proposed") else super().log_addition(request, obj, message)

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """The form. If the state changed between validation and write, the refusal and the form again."""
        try:
            return super().changeform_view(request, *args, **kwargs)
        except Refused as refused:
            messages.error(request, refused.sentence, extra_tags=refused.code)
            return redirect(request.get_full_path())

    def row(self, request: HttpRequest, object_id: str) -> Any:
        """The row that an address names. Raises Http404 for an unknown or invalid id."""
        row = self.get_object(request, object_id)
        if row is None:
            raise Http404
        return row

    def ask(self, request: HttpRequest, title: str, **context: Any) -> TemplateResponse:
        """A page with one question and one button that answers it, or with the secret that was the answer."""
        shared = {**self.admin_site.each_context(request), "opts": self.opts, "title": title}
        return TemplateResponse(request, "tables/admin/ask.html", shared | context)


class NeverChanged(SetUp):
    """Rows that are added and never changed: a newer row replaces an older one."""

    shown_fields: ClassVar[tuple[str, ...]] = ()
    """The fields of an existing row, if they differ from those of the form."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        """The fields, and of an existing row also its author and time."""
        own = tuple(self.fields or ())
        return (*(self.shown_fields or own), "by", "at") if obj else own


class NeverAdded(NeverChanged):
    """Rows that other pages write."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False


class Retiring(SetUp):
    """Rows that are retired with a reason, and never deleted."""

    retire_by: ClassVar[Callable[..., Any]]
    """The domain's function that retires a row. Raises Refused."""
    retire_help: ClassVar[str]

    @action(description="Retire", url_path="retire", permissions=["change"])
    def retire(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Ask for the reason, and retire the row."""
        row = self.row(request, object_id)
        form = RetireForm(request.POST or None)
        if form.is_valid():
            with refusals_as_errors(form):
                type(self).retire_by(row, form.cleaned_data["why"], by=operator(request))
                messages.success(request, f"{row} is retired.", extra_tags="retired")
                return redirect(f"admin:tables_{self.opts.model_name}_changelist")
        return self.ask(request, f"Retire {row}", form=form, text=self.retire_help, button="Retire")

    @admin.display(description="retired since", empty_value="in use")
    def retired(self, row: Any) -> str | None:
        """The time, author and reason of the retirement."""
        if row.retired_at is None:
            return None
        return f"{row.retired_at:%Y-%m-%d %H:%M}, {row.retired_by}: {row.retired_why}"
