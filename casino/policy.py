"""The content security policy, loosened under the admin's path alone."""

from csp.constants import UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

# django-unfold ships Alpine.js, which evaluates expressions and writes style attributes.
ADMIN_NEEDS = {"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]}


class ContentSecurityPolicy(CSPMiddleware):
    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if request.path.startswith(reverse("admin:index")):
            parts.update = {**ADMIN_NEEDS, **(parts.update or {})}
        return parts
