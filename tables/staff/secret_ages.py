"""Expiry of PINs and passwords, the warning before it, and the ban on using an earlier one again.

An expired secret signs nothing and gives access only to its own change. A dealer is never interrupted in the middle of
a round: the next sign-in requires the change.
"""

from __future__ import annotations

from datetime import timedelta

from django.contrib.auth.hashers import check_password
from django.utils import timezone

from tables import pepper
from tables.models import SecretVersion, Staff
from tables.refusals import Refused
from tables.setup import policies


def days_left(staff: Staff, secret: str) -> int | None:
    """Days until a secret expires; 0 if it has expired, None if it never expires."""
    made_at, life = getattr(staff, f"{secret}_made_at"), policies.number(f"{secret}_days")
    if not life or made_at is None or not staff.has(secret):
        return None
    left: timedelta = made_at + timedelta(days=life) - timezone.now()
    return left.days + 1 if left > timedelta(0) else 0


def is_expired(staff: Staff, secret: str) -> bool:
    """Whether a secret gives access only to its own change."""
    left = days_left(staff, secret)
    return left is not None and left <= 0


def refuse_expired(staff: Staff) -> None:
    """Raises Refused for a staff member whose PIN has expired.

    Checked before the PIN is, and answered for right and wrong PINs alike, so that it reveals nothing about the PIN.
    """
    if is_expired(staff, "pin"):
        most = policies.number("pin_days")
        says = (
            f"The PIN of badge {staff.badge} is older than {most} days, and signs nothing but its own change:"
            " change it first, under “Your PIN” on the sign-in page of any terminal."
        )
        raise Refused("pin_expired", says, 403)


def warning(staff: Staff, secret: str, called: str) -> str:
    """The warning shown at sign-in that a secret expires soon; "" if it does not."""
    left = days_left(staff, secret)
    if left is None or left > policies.number("secret_warn_days"):
        return ""
    when = "tomorrow" if left == 1 else f"in {left} days"
    return f"Your {called} runs out {when}: change it under Your account."


# --- Again -----------------------------------------------------------------------------------------------------


def refuse_used(staff: Staff, secret: str, new: str) -> None:
    """Raises Refused for one of the latest secrets, including the present one. Each comparison costs a hash."""
    most = policies.number("secrets_barred")
    kept = [getattr(staff, secret)] if staff.has(secret) else []
    versions = SecretVersion.objects.filter(staff=staff, secret=secret).exclude(kept="").exclude(kept__in=kept)
    for sealed in [*kept, *versions.values_list("kept", flat=True)][:most]:
        if check_password(new, pepper.unseal_if_possible(sealed, staff.owner_of(secret))):
            called = {"pin": "PIN", "password": "password"}[secret]  # pragma: allowlist secret
            says = f"You used this {called} before: choose one that is not among your last {most}."
            raise Refused("used_before", says, 422, fields={secret: says})


def keep_present(staff: Staff, secret: str) -> None:
    """Store the present secret, if it has no stored version yet, before another replaces it."""
    versions = SecretVersion.objects.filter(staff=staff, secret=secret)
    if staff.has(secret) and not versions.exclude(kept="").exists():
        made_at = getattr(staff, f"{secret}_made_at") or timezone.now()
        SecretVersion.objects.create(staff=staff, secret=secret, kept=getattr(staff, secret), at=made_at)


def had_one(staff: Staff, secret: str) -> bool:
    """Whether the staff member ever set this secret: a code for another one then resets it."""
    versions = SecretVersion.objects.filter(staff=staff, secret=secret)
    return staff.has(secret) or versions.exclude(kept="").exists()
