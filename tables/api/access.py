"""Callers of the API: staff by their session, API clients by their token and within its scopes."""

from __future__ import annotations

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from tables.api.versions import V1
from tables.log.scopes import SCOPES
from tables.models import ServiceAccount, Staff, Table
from tables.refusals import Refused
from tables.roles import WORDS, Role
from tables.staff import guess_counts, required_actions, service_tokens
from tables.staff.guess_counts import GuessLimit, Usage


class Bearer(BaseAuthentication):
    """Authenticates an API client by ``Authorization: Bearer casino_...``, without a session or a CSRF token."""

    def authenticate(self, request: Request) -> tuple[ServiceAccount, None] | None:
        """The account of a token; None without one, so that the session is tried. Raises Refused."""
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        return service_tokens.known(token.strip(), django_request(request)), None

    def authenticate_header(self, request: Request) -> str:
        """The value of ``WWW-Authenticate`` in a refusal."""
        return "Session, Bearer"


class SignedIn(SessionAuthentication):
    """Authenticates a person by the session of the screens and its CSRF token."""

    def enforce_csrf(self, request: Request) -> None:
        """Raises Refused with its own code, so that a client knows that it has to send the token."""
        try:
            # DRF's request would parse the body in search of the token; Django's parses only forms.
            super().enforce_csrf(django_request(request))  # type: ignore[arg-type]
        except PermissionDenied as denied:
            raise Refused("csrf_failed", f"{denied.detail}", 403) from None


class IsStaffOrApiClient(BasePermission):
    """Admits staff and API clients."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """False for an anonymous request."""
        return isinstance(request.user, Staff | ServiceAccount) and request.user.is_active


class WatchesFloor(BasePermission):
    """Admits callers who may see the whole floor."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """False for a dealer."""
        return bool(request.user.has_perm("tables.watch_floor"))


class NoActionRequired(BasePermission):
    """Refuses users who first have to set a password or a passkey."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """True, or raises Refused."""
        required_actions.refuse(django_request(request))
        return True


class OperationPermission(BasePermission):
    """Admits callers with what the operation declares: people with a permission, API clients with a scope."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """True, or raises Refused. A method that is not allowed has no operation: the view answers 405."""
        declared, caller = view.operation, request.user
        if declared is None:
            return True
        if isinstance(caller, ServiceAccount):
            refuse_program(caller, declared.scope, of_all_tables=declared.of_all_tables)
        elif not declared.for_people:
            raise Refused("not_permitted", "Only a card reader enters that: the dealer keys cards.", 403)
        elif declared.may and not any(map(caller.has_perm, declared.may)):
            words = ", or ".join(WORDS.get(permission, _plain(permission)) for permission in declared.may)
            raise Refused("not_permitted", f"That takes somebody who may {words}.", 403)
        return True


def _plain(permission: str) -> str:
    """A permission that no role review describes, in words: "view proposal"."""
    return permission.partition(".")[2].replace("_", " ")


def refuse_program(account: ServiceAccount, scope: str, *, of_all_tables: bool) -> None:
    """Raises Refused for an API client without the scope of an operation, or for one that is limited to some tables
    if the operation answers for all."""
    if not scope:
        raise Refused("not_for_programs", "That takes a person who is signed in.", 403)
    if scope not in account.scopes:
        sentence = f"{account} has not the scope {scope}: an operator gives it, in the administration under Programs."
        raise Refused("no_scope", sentence, 403, scope=scope)
    if of_all_tables and account.tables and SCOPES[scope].of_tables:
        sentence = f"{account} is for {', '.join(account.tables)}, and this is about all tables."
        raise Refused("not_your_table", sentence, 403)


def refuse_other_table(account: ServiceAccount, table: Table) -> None:
    """Raises Refused for a table that an API client may not reach."""
    if not account.reaches(table):
        raise Refused("not_your_table", f"{account} is for other tables.", 403)


MINUTE: Final = 60
"""Seconds."""


class RequestThrottle(BaseThrottle):
    """Limits how often a person or an API client may send requests.

    In v1 the headers of draft-ietf-httpapi-ratelimit-headers name the quota and what is left of it.
    """

    def allow_request(self, request: Request, view: Any) -> bool:
        """True, or raises Refused."""
        if not isinstance(request.user, Staff | ServiceAccount):
            return True
        limit = request_limit(request.user)
        if limit is None:
            return True
        usage, is_v1 = guess_counts.use(limit), request.version == V1
        if is_v1:
            view.headers["RateLimit-Policy"] = f'"requests";q={limit.most};w={limit.seconds}'
            view.headers["RateLimit"] = f'"requests";r={max(limit.most - usage.tries, 0)};t={usage.resets_in}'
        refuse_beyond(limit, usage, request.user, retry_after=usage.resets_in if is_v1 else MINUTE)
        return True


def request_limit(caller: Staff | ServiceAccount) -> GuessLimit | None:
    """The request limit of a caller, counted in the database for all processes; None for dealers, because a table must
    never wait."""
    if isinstance(caller, ServiceAccount):
        return service_tokens.request_limit(caller)
    if caller.role == Role.DEALER:
        return None
    return GuessLimit("api requests", f"person {caller.pk}", "", settings.API_REQUESTS_A_MINUTE, MINUTE)


def refuse_beyond(
    limit: GuessLimit, usage: Usage, caller: Staff | ServiceAccount, *, retry_after: int = MINUTE
) -> None:
    """Raises Refused once a limit is used up."""
    if usage.tries > limit.most:
        subject = str(caller) if isinstance(caller, ServiceAccount) else "You"
        sentence = f"{subject} may ask {limit.most} times a minute: wait, and ask again."
        raise Refused("throttled", sentence, 429, retry_after=retry_after)


def role_of(caller: Staff | ServiceAccount) -> str:
    """The role whose view a caller gets. An API client counts and signs nothing, so it reads what an auditor reads."""
    return Role.AUDITOR if isinstance(caller, ServiceAccount) else caller.role


def django_request(request: Request) -> HttpRequest:
    """Django's request, which DRF's wraps."""
    plain: HttpRequest = request._request
    return plain
