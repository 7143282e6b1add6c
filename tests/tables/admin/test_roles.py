"""The page of the roles, as operators and auditors post it."""

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from tables.log import role_choices
from tables.models import HouseTerms, Proposal, Staff
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.tables.admin.test_admin import signed_in
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

PAGE = "house-roles"


@pytest.fixture
def olga(db: None) -> Staff:
    floor.staff(Role.OPERATOR, "omar", "302")
    return floor.staff(Role.OPERATOR, "olga", "301")


def ticked(**otherwise: list[str]) -> dict[str, list[str]]:
    """The page as it ships, with other boxes."""
    shipped = {
        "has": [choice.word for choice in role_choices.CHOICES if choice.given],
        "signs": [strike.word for strike in role_choices.STRIKES],
        "apart": [],
    }
    return shipped | otherwise


def without(name: str, *words: str) -> list[str]:
    return [word for word in ticked()[name] if word not in words]


def test_an_operator_chooses_and_it_holds(olga: Staff) -> None:
    """Harm: what the page says that a role may do is not what the floor goes by."""
    client, boss = signed_in(olga), floor.staff(Role.PIT_BOSS, "bella", "201")
    answer = client.get(reverse(PAGE))
    assert answer.status_code == 200
    assert boss.has_perm("tables.confirm_code")
    client.post(reverse(PAGE), ticked(has=without("has", "pit_boss-confirm_code"), apart=["dealer+pit_boss"]))
    read_again()
    assert HouseTerms.objects.get().values == {
        "role_permissions": ["pit_boss-confirm_code"],
        "roles_apart": ["dealer+pit_boss"],
    }
    assert not boss.has_perm("tables.confirm_code")
    assert (
        "pit boss: may not give the second half"
        in client.get(reverse("admin:tables_houseterms_changelist")).content.decode()
    )


def test_a_role_that_may_not_be_given_is_refused_when_posted(olga: Staff) -> None:
    """Harm: a hand-written request of the form gives an operator the cage."""
    client = signed_in(olga)
    for name, word in (
        ("has", "operator+run_cage"), ("has", "surveillance+carry"), ("has", "auditor+change_staff"),
        ("signs", "fill.issued-operator"), ("signs", "fill.requested-dealer"), ("apart", "operator+cashier"),
    ):  # fmt: skip
        answer = client.post(reverse(PAGE), ticked(**{name: [*ticked()[name], word]}))
        assert "fixed, never or always" in answer.content.decode(), word
    assert not HouseTerms.objects.exists()


def test_a_step_that_nobody_would_sign_is_refused(olga: Staff) -> None:
    """Harm: a house strikes its last signer, and no fill is ever given out again."""
    words = ("fill.issued-cashier", "fill.issued-cage_manager")
    answer = signed_in(olga).post(reverse(PAGE), ticked(signs=without("signs", *words)))
    assert "nobody would be left to sign it" in answer.content.decode()
    words = ("opener.counted-pit_boss", "opener.recounted-pit_boss")
    answer = signed_in(olga).post(reverse(PAGE), ticked(signs=without("signs", *words)))
    assert "A rack is counted by a dealer and by a pit boss." in answer.content.decode()
    assert not HouseTerms.objects.exists()


def test_somebody_who_has_both_roles_is_in_the_way(olga: Staff) -> None:
    """Harm: a house that keeps two roles apart, and has people with both."""
    Staff.objects.filter(username="omar").update(role="dealer", further=["pit_boss"])
    answer = signed_in(olga).post(reverse(PAGE), ticked(apart=["dealer+pit_boss"]))
    assert "Omar has both" in answer.content.decode()
    assert not HouseTerms.objects.exists()


def test_it_takes_two_and_may_hold_later(olga: Staff) -> None:
    """Harm: one operator loosens what a role may do."""
    policies.change({"two_people": True}, by=olga)
    read_again()
    client = signed_in(olga)
    later = timezone.localtime(timezone.now() + timedelta(days=1))
    typed = ticked(has=without("has", "pit_boss-propose_limits")) | {"effective": [f"{later:%Y-%m-%d %H:%M}"]}
    answer = client.post(reverse(PAGE), typed, follow=True)
    assert "waits for a second operator" in answer.content.decode()
    proposal = Proposal.objects.get()
    assert (proposal.matter, proposal.about) == ("terms", "roles")
    assert "waits for a second operator" in client.get(reverse(PAGE)).content.decode()
