"""The base classes of operators' pages that belong to no model admin, and the field of their buttons."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpResponse
from django.views.generic import FormView, TemplateView

from tables.admin.forms import refusals_as_errors


class OperatorPage(PermissionRequiredMixin, TemplateView):
    """A page in the frame of the admin site, with a title and the permissions that it requires."""

    raise_exception = True
    title = ""

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """The context with that of the frame."""
        frame = admin.site.each_context(self.request)
        return super().get_context_data(**{**frame, "title": self.title, **context})

    def page(self, *, status: int = 200, **context: Any) -> HttpResponse:
        """The page with further context."""
        return self.render_to_response(self.get_context_data(**context), status=status)


class OperatorFormPage(OperatorPage, FormView):
    """A page with one form. A refusal by the domain becomes an error of the form."""

    def form_valid(self, form: Any) -> HttpResponse:
        with refusals_as_errors(form):
            return self.save(form)
        return self.form_invalid(form)

    def save(self, form: Any) -> HttpResponse:
        """Write what was typed, and redirect. Raises Refused."""
        raise NotImplementedError


class _ButtonInput(forms.HiddenInput):
    def value_from_datadict(self, data: Any, files: Any, name: str) -> bool:
        return name in data


class ButtonField(forms.BooleanField):
    """True if the form was sent by the button of this name, which a browser sends with an empty value."""

    widget = _ButtonInput

    def __init__(self) -> None:
        super().__init__(required=False)
