"""Ten failures shut one address out of one account; nobody can shut the floor out from elsewhere."""

import pytest
from django.conf import settings
from django.contrib.auth import authenticate, get_user_model
from django.test import RequestFactory

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse battery"


@pytest.fixture(autouse=True)
def dealer() -> None:
    get_user_model().objects.create_superuser("ann", password=PASSWORD)


def tries(password: str, address: str, name: str = "ann") -> bool:
    request = RequestFactory().post("/sign-in/", REMOTE_ADDR=address)
    return authenticate(request, username=name, password=password) is not None


def test_the_tenth_failure_locks_that_address_out_and_no_other() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT):
        assert not tries("wrong", "10.0.0.1")
    assert not tries(PASSWORD, "10.0.0.1")
    assert tries(PASSWORD, "10.0.0.2")


def test_nine_failures_do_not_and_a_success_starts_the_count_again() -> None:
    for _ in range(settings.AXES_FAILURE_LIMIT - 1):
        tries("wrong", "10.0.0.1")
    assert tries(PASSWORD, "10.0.0.1")


def test_one_that_moves_around_is_stopped_too() -> None:
    for number in range(settings.LOCKOUT_FAILURES_EVERYWHERE):
        assert not tries("wrong", f"10.0.1.{number % 25}")
    assert not tries(PASSWORD, "10.0.0.9")


def test_one_account_locked_leaves_the_others_at_that_address() -> None:
    get_user_model().objects.create_superuser("bob", password=PASSWORD)
    for _ in range(settings.AXES_FAILURE_LIMIT):
        tries("wrong", "10.0.0.1")
    assert tries(PASSWORD, "10.0.0.1", name="bob")
