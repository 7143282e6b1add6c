"""The authentication backend that answers permission checks: by role, as changed by the site's choices about roles."""

from __future__ import annotations

from itertools import chain
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.core.exceptions import PermissionDenied

from tables.log import role_choices as choices
from tables.models import Staff
from tables.models.staff import LATE_BY
from tables.roles import PERMISSIONS, Role
from tables.setup import role_choices


class RoleBackend(ModelBackend):
    """Permissions of staff members, without a query. ``AUTHENTICATION_BACKENDS`` lists ModelBackend after this one:
    sessions name it, and another name would end the sessions of every earlier version during an upgrade."""

    def authenticate(self, *args: Any, **credentials: Any) -> None:
        """Nobody: ModelBackend checks the password, so that each sign-in computes one hash."""

    def has_perm(self, user_obj: Any, perm: str, obj: object = None) -> bool:
        """Whether a user has a permission. Raises PermissionDenied if not, so that ModelBackend is not asked, which
        would query the permissions of groups."""
        if isinstance(user_obj, Staff) and user_obj.is_active and _holds(user_obj, perm):
            return True
        raise PermissionDenied

    def get_all_permissions(self, user_obj: Any, obj: object = None) -> set[str]:
        """All permissions of a staff member."""
        if not (isinstance(user_obj, Staff) and user_obj.is_active):
            return set()
        return {perm for perm in chain.from_iterable(PERMISSIONS.values()) if _holds(user_obj, perm)}


def _holds(staff: Staff, perm: str) -> bool:
    choice, moment = choices.choice_of(staff.role, perm), staff.as_of
    if choice is None:
        return perm in PERMISSIONS[Role(staff.role)]
    # An entry just after a change may follow the choices before it, as processes cache them.
    moments = (None,) if moment is None else (moment, moment - LATE_BY)
    return any(choices.allows(choice, role_choices.otherwise(each)) for each in moments)
