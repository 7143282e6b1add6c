"""Access guards of views, and their refusal messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec

from django.conf import settings
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from tables.models import Staff
from tables.refusals import Refused

Rest = ParamSpec("Rest")
DealerView = Callable[Concatenate[HttpRequest, Staff, Rest], HttpResponse]
View = Callable[..., HttpResponseBase]

_NO_DEALER: Final = Refused("not_permitted", "Only a dealer deals. Your own screens are on the front page.", 403)
_SIGNED_OUT: Final = Refused("signed_out", "You are signed out. What was recorded stands.", 401)


def viewer_of(request: HttpRequest, **_: Any) -> Staff:
    """The signed-in user of a guarded view; also the query of a report without a filter."""
    assert isinstance(request.user, Staff)  # noqa: S101 -- the guard asked for a sign-in
    return request.user


def permitted(*permissions: str) -> Callable[[View], View]:
    """For users with all of these permissions; others are refused, and who is not signed in is asked to."""
    return lambda view: login_required(permission_required(permissions, raise_exception=True)(view))


watches: Final = permitted("tables.watch_floor")
reads_the_house: Final = permitted("tables.watch_floor", "ledger.view_logentry")
"""For those who watch the floor and may read the log of the site: operators and auditors."""
runs: Final = permitted("tables.run_floor")


def dealers(view: DealerView[Rest]) -> Callable[Concatenate[HttpRequest, Rest], HttpResponse]:
    """For dealers alone. Who is not signed in is asked to; a fragment says so in a sentence instead."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Rest.args, **kwargs: Rest.kwargs) -> HttpResponse:
        viewer = request.user
        if not isinstance(viewer, Staff) or not viewer.is_active:
            return _signed_out(request)
        if not viewer.has_perm("tables.deal"):
            return gone(request, _NO_DEALER)
        return view(request, viewer, *args, **kwargs)

    return guarded


def by_script(request: HttpRequest) -> bool:
    """Whether an open page asks for a part of it."""
    return request.headers.get("HX-Request") == "true"


def gone(request: HttpRequest, refused: Refused) -> HttpResponse:
    """What a dealer sees who may not have the board."""
    return _plain(request, refused, 403)


def _signed_out(request: HttpRequest) -> HttpResponse:
    if request.method == "GET" and not by_script(request):
        return redirect_to_login(request.get_full_path())
    return _plain(request, _SIGNED_OUT, 401)


def _plain(request: HttpRequest, refused: Refused, status: int) -> HttpResponse:
    """A board's place taken by one sentence and the way on; as a page of its own, or inside an open one."""
    label, address = ("Sign in", settings.LOGIN_URL) if status == 401 else ("Choose a table", reverse("home"))
    context = {"refused": refused, "label": label, "address": address}
    name = "dealer_ui/dealer/_gone.html" if by_script(request) else "dealer_ui/dealer/gone.html"
    return render(request, name, context, status=status)
