"""Lock-out after failed sign-ins: per account and address, and, further off, per account from anywhere.

A dealer at an enrolled terminal is counted there alone: whoever guesses from elsewhere must not close a table. What is
tried at a terminal over all badges is counted in tables/terminals.py.
"""

from typing import Any

from axes.attempts import get_cool_off_threshold
from axes.handlers.database import AxesDatabaseHandler
from axes.helpers import get_client_username
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Sum
from django.http import HttpRequest


class FloorHandler(AxesDatabaseHandler):
    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        return super().is_locked(request, credentials) or self.guessed_everywhere(request, credentials)

    def guessed_everywhere(self, request: HttpRequest, credentials: dict[str, Any] | None) -> bool:
        username = get_client_username(request, credentials)
        if not username or (credentials or {}).get("badge"):
            return False
        recent = AccessAttempt.objects.filter(username=username, attempt_time__gte=get_cool_off_threshold(request))
        total = recent.aggregate(total=Sum("failures_since_start"))["total"] or 0
        return total >= settings.LOCKOUT_FAILURES_EVERYWHERE
