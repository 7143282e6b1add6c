"""Start here: every role has first steps that it may take, until they are put away."""

import pytest
from django.urls import reverse

from dealer_ui.accounts.first_steps import STEPS
from tables.roles import Role
from tests import floor

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.mark.parametrize("role", Role)
def test_each_step_leads_where_this_role_may_go(role: Role) -> None:
    """Harm: a newcomer's first click says that they may not."""
    browser = floor.client(floor.staff(role, f"a.{role}", "901"))
    page = browser.get("/start/").content.decode()
    assert 3 <= len(STEPS[role]) <= 5
    for step in STEPS[role]:
        assert step.title in page
        assert browser.get(reverse(step.link)).status_code == 200, step.link


def test_it_is_offered_until_it_is_put_away_by_each_person_apart() -> None:
    """Harm: the page comes again for good, or nobody ever sees it on a terminal where somebody else put it away."""
    boss, second = floor.staff(Role.PIT_BOSS, "bella"), floor.staff(Role.PIT_BOSS, "boris")
    browser = floor.client(boss)
    assert 'href="/start/"' in browser.get("/pit/").content.decode()
    assert browser.post("/start/read").status_code == 302
    assert 'href="/start/"' not in browser.get("/pit/").content.decode()
    assert 'href="/start/"' in browser.get("/account/").content.decode()
    browser.force_login(second, backend="django.contrib.auth.backends.ModelBackend")
    assert 'href="/start/"' in browser.get("/pit/").content.decode()
