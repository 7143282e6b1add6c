"""The content security policy, relaxed only under the admin's path."""

from functools import cache

from csp.constants import HEADER, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from csp.utils import build_policy
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse

# django-unfold ships Alpine.js, which evaluates expressions and writes style attributes.
ADMIN_NEEDS = {"script-src": [UNSAFE_EVAL], "style-src": [UNSAFE_INLINE]}


class ContentSecurityPolicy(CSPMiddleware):
    """The default policy is built once; only pages with other needs build their own."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_special = any(name.startswith("_csp") for name in (*vars(response), *vars(request)))
        if is_special or settings.DEBUG or _is_admins(request):
            return super().process_response(request, response)
        response.headers.setdefault(HEADER, _policy())
        return response

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if _is_admins(request):
            parts.update = {**ADMIN_NEEDS, **(parts.update or {})}
        return parts


def _is_admins(request: HttpRequest) -> bool:
    return request.path.startswith(_admin())


@cache
def _admin() -> str:
    return reverse("admin:index")


@cache
def _policy() -> str:
    return build_policy()
