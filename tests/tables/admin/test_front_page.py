"""The front page of the admin: its content, its links and its queries."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from ledger import alerts
from ledger.models import Book
from tables.admin import navigation
from tables.approvals import proposals
from tables.limits import plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.limit_plans import Always
from tables.models import Staff, Table
from tables.roles import Role
from tables.setup import pits, table_settings
from tables.setup.table_settings import settings_of
from tests import floor
from tests.tables.admin.test_admin import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


def page(somebody: Staff) -> str:
    answer = signed_in(somebody).get("/admin/")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def queries(browser: Client) -> int:
    """What the page takes once the tables' standings are kept, as they are in a house that works."""
    browser.get("/admin/")
    with CaptureQueriesContext(connection) as captured:
        assert browser.get("/admin/").status_code == 200
    return len(captured)


def test_it_costs_the_same_for_more_tables(operator: Staff) -> None:
    """Harm: the operator's first page takes a query for each table, and a house of forty waits for it."""
    table, browser = floor.table(), signed_in(operator)
    table_settings.create_table("Rocket 2", settings_of(table), by=operator)
    query_count = queries(browser)
    table_settings.create_table("Rocket 3", settings_of(table), by=operator)
    assert queries(browser) == query_count
    assert query_count < 60


def test_it_names_what_is_open_by_pit_and_what_looks_wrong(operator: Staff) -> None:
    """Harm: an operator has to read lists of models to learn that a table of Pit 2 stands closed with an alert."""
    dealer, _ = floor.dealt()
    second_table = table_settings.create_table("<b>Rocket 2", settings_of(dealer.table), by=operator)
    pits.set_section(PitSectionSet(pit="Pit 2", tables=(dealer.table.name, second_table.name)), by=operator)
    alerts.raise_alert(
        Book.objects.get(pk=second_table.book_id), "wrong_keys", "Somebody keys <wrong> cards.", {"roles": ["operator"]}
    )
    text = page(operator)
    assert "Open now: 1 of 2 tables" in text
    assert 'Pit 2 <span class="desk__quiet">1 of 2 open' in text
    assert "Somebody keys &lt;wrong&gt; cards." in text
    assert "&lt;b&gt;Rocket 2" in text
    assert "<b>Rocket 2" not in text
    assert reverse("pit:table", args=[second_table.pk]) in text


def test_what_waits_for_somebody_else_is_not_said_to_wait_for_them(operator: Staff, terms: Any) -> None:
    """Harm: who proposed a limit is told to approve it, and the second operator is not."""
    second = floor.staff(Role.OPERATOR, "olga")
    table = floor.table()
    terms(two_people=True)
    draft = table_settings.draft_for_later(table, {"max_cents": 20_000})
    proposals.propose(draft, "big game", by=operator)
    assert "Proposal 1" in page(second).partition("desk-wrong")[0]
    own = page(operator)
    assert "Nothing waits for you" in own
    assert "Proposal 1" in own.partition("Changes next")[2]


def test_what_plans_set_next_is_told_by_moment(operator: Staff) -> None:
    """Harm: forty lines for one evening; or an operator who learns of it from the dealers."""
    table = floor.table()
    for number in range(2, 6):
        table_settings.create_table(f"Rocket {number}", settings_of(table), by=operator)
    soon = timezone.now() + timedelta(hours=3)
    evening = LimitPlanSet(
        name="Evening", schedule=Always(), version=0, scope="house", values={"min_cents": 2_000},
        effective=soon.isoformat(),
    )  # fmt: skip
    plans.set_plan(evening, expected_version=0, by=operator)
    text = page(operator).partition("Changes next")[2]
    assert "Limits of Rocket 1, Rocket 2, Rocket 3 and 2 more" in text
    assert reverse("admin:tables_limitplan_changelist") in text


def test_records_are_behind_one_line_and_for_those_who_read_the_log(operator: Staff) -> None:
    """Harm: transfers and runs stand between the operator and their tables; or who may not read the log finds it."""
    assert "Transfers" not in page(operator)
    assert "Transfers" in signed_in(operator).get("/admin/records/").content.decode()
    assert signed_in(floor.staff(Role.PIT_BOSS, "paul")).get("/admin/records/").status_code in (302, 403)


def test_every_list_of_the_administration_is_in_its_navigation() -> None:
    """Harm: a list that no way leads to is never looked at."""
    links = {link.view for group in (*navigation.GROUPS, *navigation.RECORDS) for link in group.links}
    lists = {f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist" for model in admin.site._registry}
    assert lists - links == set()


def test_the_palette_finds_pages_tables_and_people(operator: Staff) -> None:
    """Harm: a search that only knows names of models."""
    floor.table()
    text = signed_in(operator).get("/admin/search/?extended=1&s=rocket").content.decode()
    assert reverse("admin:tables_table_change", args=[Table.objects.get().pk]) in text
    assert "Roles" in signed_in(operator).get("/admin/search/?extended=1&s=may do").content.decode()


def test_a_house_without_tables_says_how_to_begin(operator: Staff) -> None:
    """Harm: the first page of a new house is empty."""
    assert "No table yet" in page(operator)
