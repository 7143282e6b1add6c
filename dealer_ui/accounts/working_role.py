"""The choice of the role in which a user with several works now."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.mixins import LoginRequiredMixin
from django.http import HttpResponse

from dealer_ui.entry_forms import InputFormView
from dealer_ui.guards import viewer_of
from tables.form_fields import InputForm
from tables.roles import Role
from tables.staff import staffing


class WorkAsForm(InputForm):
    """The role to work in."""

    role = forms.CharField(required=False)


class WorkAsView(LoginRequiredMixin, InputFormView):
    """Choose one of the user's roles to work in; their other sessions end."""

    form_class = WorkAsForm
    template_name = "dealer_ui/accounts/work_as.html"
    success_url = "/"

    def form_valid(self, form: InputForm) -> HttpResponse:
        staff = staffing.work_as(viewer_of(self.request), form.cleaned_data["role"])
        update_session_auth_hash(self.request, staff)
        label = Role(staff.role).label.lower()
        messages.success(self.request, f"You work as {label} now.", extra_tags="role_taken")
        return super().form_valid(form)

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        return super().get_context_data(roles=[Role(role) for role in viewer_of(self.request).roles], **context)
