"""The list of who may do what, as an auditor reads it before signing."""

import pytest

from tables.models import Staff
from tables.roles import Role
from tables.setup import role_choices
from tables.staff import staffing
from tests import floor
from tests.terms import read_again

pytestmark = pytest.mark.django_db


def test_the_review_says_who_works_as_what_and_what_the_house_chose() -> None:
    """Harm: an auditor signs a list on which a second role, or a choice of the house, does not stand."""
    floor.table()
    olga, ada = floor.staff(Role.OPERATOR, "olga", "301"), floor.staff(Role.AUDITOR, "ada", "401")
    floor.staff(Role.DEALER, "nia", "601")
    staffing.change_staff(Staff.objects.get(username="nia"), {"further": ["pit_boss"]}, by=olga)
    role_choices.change({"role_permissions": ("pit_boss-confirm_code",)}, None, by=olga)
    read_again()
    page = floor.client(ada).get("/pit/access/").content.decode()
    row = page[page.index("Nia") :].partition("</tr>")[0]
    assert "dealer, pit boss" in row
    assert "pit boss: may not give the second half of codes" in page
    assert "Never given to one person together" in page
