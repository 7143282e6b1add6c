"""Staff in the admin, and the codes with which they make their own secrets."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from unfold.decorators import action

from tables.admin.forms import DomainForm, MultipleChoiceField
from tables.admin.pages import Fieldsets, SetUp, operator
from tables.log.entries.staff import CALLED
from tables.models import Staff
from tables.models.staff import PASSWORD, PIN
from tables.refusals import Faults, Refused
from tables.roles import Role
from tables.setup.dual_control import ProposalDraft
from tables.staff import codes, passkeys, secret_ages, staffing


class StaffForm(DomainForm):
    """A staff member. Passwords and PINs are made by the staff member with a code."""

    further = MultipleChoiceField(
        label="May also work as",
        choices=Role.choices,
        required=False,
        help_text="They choose as which when they come to work. What nobody is at once is refused.",
    )

    class Meta:
        model = Staff
        fields = ("username", "name", "role", "further", "badge", "is_active")
        help_texts = {
            "username": "For good: the log knows them by it.",
            "badge": "With a PIN of their own, it signs slips, and opens enrolled terminals for dealers.",
        }

    def changes(self) -> dict[str, Any]:
        """The changed values."""
        return {name: value for name, value in self.changed.items() if name not in ("username", "comment", "effective")}

    def faults(self) -> Faults:
        if self.instance.pk is None:
            new = Staff(username=self.cleaned_data["username"])
            return staffing.username_faults(new.username) | staffing.change_faults(new, self._all_values())
        return staffing.change_faults(self.instance, self.changes())

    def draft(self) -> ProposalDraft | None:
        new = self.instance.pk is None
        typed = self._all_values() if new else self.changes()
        return staffing.draft(self.cleaned_data["username"] if new else self.instance.username, typed)

    def write(self, by: Staff) -> Staff:
        if self.instance.pk is None:
            return staffing.add_staff(username=self.cleaned_data["username"], **self._all_values(), by=by)
        return staffing.change_staff(self.instance, self.changes(), by=by)

    def _all_values(self) -> dict[str, Any]:
        typed = {"role": Role.DEALER.value} | self.cleaned_data
        return {
            name: value
            for name, value in typed.items()
            if name not in ("username", "comment", "effective", "is_active")
        }


@admin.register(Staff)
class StaffAdmin(SetUp):
    """Staff. An operator requests the first half of a code for a password or PIN, and never sees the secret."""

    form = StaffForm
    takes_two = ("staff",)
    list_display = ("name", "role", "badge", "username", "is_active", "last_login", "code", "to_do")
    list_select_related = ("emergency_code",)
    list_filter = ("role", "is_active")
    search_fields = ("name", "username", "badge")
    fixed_fields = ("username",)
    actions_detail = ("pin_code", "password_code", "withdraw_passkeys", "lift_lock_out")

    @admin.display(description="still to do", empty_value="")
    def to_do(self, staff: Staff) -> str | None:
        """The steps that remain before the staff member can work."""
        return " ".join(codes.due(staff)) or None

    @action(description="Code for a PIN", url_path="pin-code", permissions=["change"])
    def pin_code(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Request a code for a PIN."""
        return self._code(request, object_id, PIN)

    @action(description="Code for a password", url_path="password-code", permissions=["change"])
    def password_code(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Request a code for a password."""
        return self._code(request, object_id, PASSWORD)

    @action(description="Withdraw passkeys", url_path="withdraw-passkeys", permissions=["change"])
    def withdraw_passkeys(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Withdraw all passkeys, for example of a lost device."""
        staff = self.row(request, object_id)
        rows = staff.passkeys.filter(is_active=True)
        if request.method != "POST":
            names = ", ".join(row.name for row in rows) or "none"
            text = f"Passkeys of {staff}: {names}. None of them opens anything afterwards."
            return self.ask(request, f"Withdraw the passkeys of {staff}", text=text, button="Withdraw all")
        for row in rows:
            passkeys.withdraw(row, by=operator(request))
        messages.success(request, f"{staff} has no passkeys now.", extra_tags="passkeys_withdrawn")
        return redirect("admin:tables_staff_change", staff.pk)

    def _code(self, request: HttpRequest, object_id: str, secret: str) -> HttpResponse:
        staff, called = self.row(request, object_id), CALLED[secret]
        title = f"A code for a {called} of {staff}"
        if request.method == "POST":
            try:
                halves = codes.ask(staff, secret, by=operator(request))
            except Refused as refused:
                messages.error(request, refused.sentence, extra_tags=refused.code)
                return redirect("admin:tables_staff_change", staff.pk)
            return self.ask(request, title, halves=halves, staff=staff, called=called)
        text = (
            f"You get the first half of a code and give it to {staff} alone; another operator or a pit boss confirms it"
            f" under “Codes”, and gives them the second half. With both, {staff} makes a {called} of their own."
        )
        if secret_ages.had_one(staff, secret):
            text += f" The {called} of now is void once the code is confirmed: an alert says who reset it."
        return self.ask(request, title, text=text, button="Ask for the code")

    @admin.display(description="emergency code", empty_value="")
    def code(self, staff: Staff) -> str | None:
        """The day on which an operator's emergency code was made. Two operators need theirs if no sign-in works."""
        if staff.role != Role.OPERATOR or not staff.is_active:
            return None
        issued = getattr(staff, "emergency_code", None)
        return f"{issued.made_at:%Y-%m-%d}" if issued else "none yet"

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Fieldsets:
        """The staff member, and of an existing one also the steps that remain."""
        person = {"fields": ("username", "name", "role", "further", "badge", *(("is_active", "to_do") if obj else ()))}
        return [(None, person), *self.for_the_second(request, obj)]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return (*super().get_readonly_fields(request, obj), "to_do")

    @action(description="Lift lock-out", url_path="lift-lock-out", permissions=["change"])
    def lift_lock_out(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Permit further attempts to sign in."""
        staff = self.row(request, object_id)
        if request.method != "POST":
            text = "Who failed to sign in too often is locked out for a while. Let them try again now?"
            return self.ask(request, f"Lift the lock-out of {staff}", text=text, button="Lift lock-out")
        staffing.lift_lock_out(staff, by=operator(request))
        messages.success(request, f"{staff} may try again.", extra_tags="unlocked")
        return redirect("admin:tables_staff_change", staff.pk)
