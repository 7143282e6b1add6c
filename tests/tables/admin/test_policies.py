"""The pages of the house's terms, of profiles and of proposals, as two operators use them."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from ledger.models import HOUSE, Book
from tables.approvals import proposals
from tables.audit import proofs
from tables.log import policies as catalogue
from tables.log.house_profiles import OF_THE_HOUSE, PROFILES
from tables.log.policies import TERMS, typed
from tables.log.role_choices import TERM_NAMES
from tables.models import Denomination, HouseTerms, PayTable, Proposal, Staff
from tables.roles import Role
from tables.setup import policies
from tests import floor
from tests.tables.admin.test_admin import as_shown
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

TERMS_PAGE = "/admin/tables/houseterms/"


@pytest.fixture
def olga(db: None) -> Staff:
    return floor.staff(Role.OPERATOR, "olga", "301")


@pytest.fixture
def omar(db: None) -> Staff:
    return floor.staff(Role.OPERATOR, "omar", "302")


@pytest.fixture
def desk(olga: Staff) -> Client:
    return floor.client(olga)


@pytest.fixture
def second(omar: Staff) -> Client:
    return floor.client(omar)


@pytest.fixture
def opened(olga: Staff, omar: Staff) -> None:
    policies.change({"two_people": True}, by=olga)
    read_again()


def form(**values: Any) -> dict[str, Any]:
    """The form as it is shown, with these fields typed otherwise."""
    in_force = policies.as_entered(timezone.now())
    form_values: dict[str, Any] = {"effective": "", "comment": ""}
    for name, term in TERMS.items():
        if name in TERM_NAMES:
            continue  # chosen on a page of their own
        form_values[name] = list(in_force[name]) if term.kind == "choices" else typed(term, in_force[name])  # type: ignore[arg-type]
        if term.kind == "flag":
            form_values[name] = "on" if in_force[name] else ""
        elif term.kind == "choice":
            form_values[name] = in_force[name]
    return form_values | values


def test_one_page_shows_what_holds_what_comes_and_who_changed_it(desk: Client, olga: Staff) -> None:
    """Harm: nobody can say by which threshold the house goes, or since when."""
    policies.change({"dispute_reportable_cents": 70_000}, by=olga)
    policies.change({"pin_digits_min": 8}, timezone.now() + timedelta(days=3), by=olga)
    page = unescape(desk.get(TERMS_PAGE).content.decode())
    parts = ("700", "default: 500", "8 from", olga.signature, "500 → 700", "6 → 8")
    for part in (*parts, *(term.title for term in TERMS.values())):
        assert part in page, part


def test_terms_are_typed_and_entered_as_one_change(desk: Client) -> None:
    """Harm: a form of thirty fields enters thirty changes, or those that nobody touched."""
    answer = desk.post(f"{TERMS_PAGE}add/", form(pin_digits_min="7", discrepancy_levels_cents="20 100 300"))
    assert answer.status_code == 302
    assert HouseTerms.objects.get().values == {"pin_digits_min": 7, "discrepancy_levels_cents": [2_000, 10_000, 30_000]}
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_an_invalid_policy_is_refused_at_its_field(desk: Client) -> None:
    """Harm: a change is refused, and the page does not show which of thirty fields is wrong."""
    for typed_in, sentence in (
        ({"pin_digits_min": "3"}, "from 4 to 8"),
        ({"dispute_reportable_cents": "lots"}, "write an amount"),
        ({"pin_digits_min": "7", "effective": "2020-01-01 06:00"}, "from now on"),
        ({"two_people": "on"}, "take on another operator first"),
        ({}, "Change a term at least"),
    ):
        assert sentence in desk.post(f"{TERMS_PAGE}add/", form(**typed_in)).content.decode()
    assert not HouseTerms.objects.exists()


def test_the_forms_of_settings_propose(desk: Client, second: Client, olga: Staff, omar: Staff) -> None:
    """Harm: with a form of the admin, one operator changes what is under dual control, such as a threshold or a table's
    largest bet; or two operators cannot change it."""
    table = floor.table()
    policies.change({"two_people": True}, by=olga)
    read_again()
    address = f"/admin/tables/table/{table.pk}/change/"
    assert 'name="comment"' in desk.get("/admin/tables/denomination/add/").content.decode()
    chip = {"value": "2.50", "colour": "pink", "face": "#ff88aa", "comment": "For the new tables"}
    new = {"username": "dan", "name": "Dan", "role": "dealer", "badge": "102", "new_password": "", "new_pin": ""}
    forms = {
        "/admin/tables/denomination/add/": chip,
        "/admin/tables/staff/add/": new,
        f"{TERMS_PAGE}add/": form(pin_digits_min="8"),
        address: as_shown(desk, address) | {"maximum": "5000"},
    }
    for form_address, typed_in in forms.items():
        answer = desk.post(form_address, typed_in, follow=True)
        assert "waits for a second operator" in answer.content.decode(), form_address
    assert not Denomination.objects.filter(value_cents=250).exists()
    assert Proposal.objects.get(matter="chips").comment == "For the new tables"
    assert not Staff.objects.filter(username="dan").exists()
    table.refresh_from_db()
    assert table.max_cents == 10_000
    for proposal in proposals.waiting_for(omar):
        page = reverse("admin:tables_proposal_change", args=[proposal.pk])
        assert "is approved, and done" in second.post(page, {"approve": ""}, follow=True).content.decode()
    assert Denomination.objects.filter(value_cents=250).exists()
    assert Staff.objects.get(username="dan").role == Role.DEALER
    table.refresh_from_db()
    read_again()
    assert (table.max_cents, policies.number("pin_digits_min")) == (500_000, 8)
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_options_are_set_for_the_next_shoe(opened: None, desk: Client, second: Client) -> None:
    """Harm: the form has no way to leave a shoe its rules; or nobody is told that others wait."""
    table = floor.dealt(options={"decks": 6})[0].table
    address = f"/admin/tables/table/{table.pk}/change/"
    typed_in = as_shown(desk, address) | {"option_decks": "8", "takes": "shoe"}
    text = desk.post(address, typed_in | {"seats": "5"}).content.decode()
    assert "hold with the next shoe; change this by itself" in text
    answer = desk.post(address, typed_in, follow=True)
    assert "Proposal 1 waits for a second operator" in answer.content.decode()
    proposal = Proposal.objects.get()
    page = reverse("admin:tables_proposal_change", args=[proposal.pk])
    assert "Holds from the next shoe." in second.get(page).content.decode()
    answer = second.post(page, {"approve": ""}, follow=True).content.decode()
    assert "waits: it holds with the next shoe" in answer
    table.refresh_from_db()
    assert table.options["decks"] == 6
    assert "with the next shoe" in second.get("/admin/").content.decode().partition("Changes next")[2]
    boss = floor.client(Staff.objects.get(username="bella"))
    assert "Holds from the next shoe." in boss.get(f"/pit/tables/{table.pk}/").content.decode()


def test_a_pay_table_is_proposed(opened: None, desk: Client, omar: Staff) -> None:
    """Harm: one operator makes the tie pay what they like."""
    address = "/admin/tables/paytable/add/?game=baccarat"
    lines = {"name": "Nine to one", "tie.tie": "9:1"}
    digest = desk.post(address, lines | {"preview": ""}).context["digest"]
    answer = desk.post(address, lines | {"seen": digest, "save": "", "confirmed": "on"}, follow=True)
    assert "waits for a second operator" in answer.content.decode()
    assert not PayTable.objects.exists()
    proposals.approve(Proposal.objects.get(), by=omar)
    assert PayTable.objects.get().name == "Nine to one"


def test_each_profile_has_its_page(desk: Client) -> None:
    """Harm: the page shows a clause without its policy or its test."""
    profiles = desk.get(f"{TERMS_PAGE}profiles/").content.decode()
    for profile in PROFILES.values():
        assert profile.title in profiles
        page = desk.get(f"{TERMS_PAGE}profiles/{profile.name}/").content.decode()
        for clause in profile.clauses:
            for part in (clause.source, *(catalogue.title_of(name) for name in clause.terms), *clause.tests):
                assert part in page, part


def test_a_site_in_operation_adopts_a_profile_under_dual_control(opened: None, desk: Client, second: Client) -> None:
    """Harm: with a profile, one person loosens every policy at once; or adopting it has effects that its page does not
    show."""
    desk.post(f"{TERMS_PAGE}profiles/new_jersey/", {"effective": "", "comment": "", "adopt": ""})
    proposal = Proposal.objects.get()
    assert proposal.matter == "profile"
    address = reverse("admin:tables_proposal_change", args=[proposal.pk])
    page = desk.get(address).content.decode()
    assert 'name="approve"' not in page, "the proposer may approve"
    assert 'name="withdraw"' in page
    second.post(address, {"approve": ""})
    left_alone = {name: catalogue.TERMS[name].default for name in OF_THE_HOUSE} | {"two_people": True}
    assert policies.as_entered(timezone.now()) == PROFILES["new_jersey"].terms | left_alone
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
