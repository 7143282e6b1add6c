"""The base class of operators' pages that belong to no model admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.http import HttpResponse
from django.views.generic import TemplateView


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
