"""The choice of the role in which a user with several works now."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from tables.models import Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.staff import staffing


@login_required
@require_http_methods(["GET", "POST"])
def work_as(request: HttpRequest) -> HttpResponse:
    """Choose one of the roles that one was given; every other sign-in of theirs ends."""
    staff, refused = request.user, None
    assert isinstance(staff, Staff)  # noqa: S101 -- the view asks for a sign-in
    if request.method == "POST":
        try:
            staff = staffing.work_as(staff, request.POST.get("role", ""))
            update_session_auth_hash(request, staff)
            messages.success(request, f"You work as {Role(staff.role).label.lower()} now.", extra_tags="role_taken")
            return redirect("/")
        except Refused as refusal:
            refused = refusal
    context = {"roles": [Role(role) for role in staff.roles], "refused": refused}
    return render(request, "dealer_ui/accounts/work_as.html", context, status=refused.status if refused else 200)
