"""Permission checks through Django's authentication backends."""

from unittest.mock import patch

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import AnonymousUser
from django.test import Client
from django.urls import reverse

from tables.roles import PERMISSIONS, Role
from tables.staff.backends import RoleBackend
from tests import floor
from tests.floor import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("role", Role)
def test_a_permission_check_needs_no_query(role: Role, django_assert_num_queries: object) -> None:
    """Harm: each permission check queries the database, and the floor's page with its many checks slows down."""
    member = floor.staff(role, "sam")
    member.has_perm("tables.deal")  # reads the policies once for the process
    with django_assert_num_queries(0):  # type: ignore[operator]
        held = {perm for perms in PERMISSIONS.values() for perm in perms if member.has_perm(perm)}
        assert RoleBackend().get_all_permissions(member) == held
        assert not member.has_perm("tables.delete_staff")
        assert not AnonymousUser().has_perm("tables.deal")


def test_an_inactive_user_has_no_permission() -> None:
    """Harm: a person who left keeps the permissions of their role."""
    member = floor.staff(Role.OPERATOR, "olga")
    member.is_active = False
    assert not member.has_perm("tables.close_day")
    assert RoleBackend().get_all_permissions(member) == set()


def test_a_sign_in_computes_one_hash_and_names_the_backend_of_earlier_versions() -> None:
    """Harm: a wrong password costs the memory of two hashes; or an upgrade signs out everyone, in mid-round too."""
    floor.staff(Role.OPERATOR, "olga")
    with patch("tables.models.staff.check_password", return_value=False) as checked:
        assert authenticate(None, username="olga", password="wrong") is None
    assert checked.call_count == 1
    browser = Client()
    assert browser.post(reverse("sign-in"), {"username": "olga", "password": PASSWORD}).status_code == 302
    assert browser.session["_auth_user_backend"] == "django.contrib.auth.backends.ModelBackend"
