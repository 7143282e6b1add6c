"""Plans for a set of tables, and plans that exclude the tables that they do not fit."""

from __future__ import annotations

import random
from typing import Any
from uuid import uuid4

import pytest
from django.db import transaction
from django.utils import timezone

from ledger import log
from ledger.models import HOUSE, Book, LogEntry
from tables.approvals import proposals
from tables.audit import proofs
from tables.limits import enforcement, plans, resolver
from tables.log.catalog import read_as
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.settings import ByPlans
from tables.models import LimitPlan, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pits, policies, table_settings
from tables.setup.dual_control import BY_THE_CLOCK
from tables.state import table_state
from tests import floor
from tests.ready import ready_made
from tests.tables.approvals.test_proposals import fault, rollback
from tests.tables.limits.test_plans import drafted
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

NAMES = ("Rocket 1", "Rocket 2", "Rocket 3")
MISFIT = {"min_cents": 1_000, "max_cents": 10_000, "seat_max_cents": 1_500}


@pytest.fixture
@ready_made
def olga() -> Staff:
    """An operator; the bets at Rocket 3 are multiples of 100, at the others of 10."""
    for name in NAMES[:2]:
        floor.table(name)
    floor.table(NAMES[2], unit_cents=1_000, min_cents=10_000, max_cents=100_000)
    floor.staff(Role.OPERATOR, "omar", "302")
    return floor.staff(Role.OPERATOR, "olga", "301")


def minima() -> dict[str, int]:
    limits = resolver.at_tables(Table.objects.order_by("name"), timezone.now())
    return {name: table.outcome.values["min_cents"] for name, table in limits.items()}  # type: ignore[misc]


def reasons(name: str) -> dict[str, resolver.LimitReason]:
    table, moment = Table.objects.get(name=name), timezone.now()
    limits = resolver.at_tables([table], moment)[name]
    return {limit.name: limit for limit in resolver.why(table, limits, table_state.of(table), moment)}


def set_plan(olga: Staff, version: int = 0, **facts: Any) -> LimitPlan:
    return plans.set_plan(drafted(**facts), expected_version=version, by=olga)


def refusal(olga: Staff, **facts: Any) -> Refused:
    with pytest.raises(Refused) as refused:
        set_plan(olga, **facts)
    assert not LimitPlan.objects.exists()
    return refused.value


def test_a_plan_for_a_set_of_tables_applies_at_these_and_is_verified(olga: Staff) -> None:
    """Harm: limits for two tables apply at one of them, or at a third; or the verification finds a fault in them."""
    set_plan(olga, scope="table", tables=NAMES[:2])
    assert minima() == {"Rocket 1": 2_000, "Rocket 2": 2_000, "Rocket 3": 10_000}
    assert enforcement.bring_into_force() == 2
    assert Table.objects.get(name="Rocket 2").min_cents == 2_000
    assert reasons("Rocket 1")["min_cents"].layers[0].layer.why == "plan Floor: tables Rocket 1, Rocket 2, always"
    set_plan(olga, 1, scope="table", of="Rocket 2")
    assert minima() == {"Rocket 1": 1_000, "Rocket 2": 2_000, "Rocket 3": 10_000}
    assert fault() == ""


def test_a_plan_for_tables_is_refused_by_its_list(olga: Staff) -> None:
    """Harm: a list that names a table twice, one that does not exist, or a pit too, is stored and applies elsewhere."""
    for facts, field in (
        ({"scope": "table", "tables": ("Rocket 1", "Rocket 1")}, "tables"),
        ({"scope": "table", "tables": ("Rocket 1", "Rocket 9")}, "tables"),
        ({"scope": "table", "of": "Rocket 2", "tables": ("Rocket 1",)}, "tables"),
        ({"scope": "house", "tables": ("Rocket 1",)}, "tables"),
        ({"scope": "table", "tables": ("Rocket 1", "Rocket 2"), "excluded": ("Rocket 2",)}, "excluded"),
        ({"scope": "house", "excluded": ("Rocket 9",)}, "excluded"),
        ({"scope": "house", "excluded": NAMES}, "excluded"),
    ):
        assert field in refusal(olga, **facts).facts["fields"], facts


def test_a_plan_that_does_not_fit_one_table_is_refused_with_its_name_until_confirmed(olga: Staff) -> None:
    """Harm: one table with larger chips keeps the minimum of the whole site from rising; or the plan leaves a table out
    without anyone having confirmed it."""
    refused = refusal(olga)
    assert refused.code == "misfits"
    assert [misfit["table"] for misfit in refused.facts["misfits"]] == ["Rocket 3"]
    assert "The minimum is a multiple of 100" in refused.facts["misfits"][0]["reason"]
    assert "does not fit 1 of 3 tables" in refused.sentence
    set_plan(olga, excluded=("Rocket 3",))
    assert minima() == {"Rocket 1": 2_000, "Rocket 2": 2_000, "Rocket 3": 10_000}
    enforcement.bring_into_force()
    entry = LogEntry.objects.get(book__name=HOUSE, subject="limit_plan")
    assert entry.content["excluded"] == ["Rocket 3"]
    assert fault() == ""
    layers = reasons("Rocket 3")["min_cents"].layers
    assert [(layer.layer.name, layer.state) for layer in layers] == [("", "applies"), ("Floor", "excluded")]


def test_a_confirmation_covers_the_named_tables_only(olga: Staff) -> None:
    """Harm: an operator confirms one table, and the plan silently leaves out another one too."""
    floor.table("Rocket 4", unit_cents=1_000, min_cents=10_000, max_cents=100_000)
    refused = refusal(olga, excluded=("Rocket 3",))
    assert [misfit["table"] for misfit in refused.facts["misfits"]] == ["Rocket 4"]


def test_a_plan_that_fits_no_table_is_not_offered_for_confirmation(olga: Staff) -> None:
    """Harm: a mistyped amount becomes a plan that applies nowhere, and its author believes that it is in force."""
    assert refusal(olga, values={"min_cents": 1_050}).code == "bad_plan"


def test_an_entry_that_applies_a_plan_where_it_is_excluded_is_found(olga: Staff) -> None:
    """Harm: a table is set by a plan that excludes it, and its log passes verification."""
    set_plan(olga, values={"min_cents": 20_000, "max_cents": 100_000}, excluded=NAMES[:2])
    enforcement.bring_into_force()
    assert fault() == ""
    with transaction.atomic():
        table = Table.objects.get(name="Rocket 1")
        head = log.lock(table.book_id)
        plans_named = ByPlans(
            moment=policies.spelled(head.moment),
            house_seq=LimitPlan.objects.get().seq,
            layers={"max_cents": "Floor, version 1"},
            notice_minutes=30,
        )
        limits = {"max_cents": 100_000, "own_limits": {"max_cents": 10_000}}
        table_settings.set_by_plans(table, head, limits, plans=plans_named, key=uuid4(), by=BY_THE_CLOCK)
    assert "no plan said so" in fault()


def test_more_tables_under_a_high_maximum_take_two(olga: Staff) -> None:
    """Harm: one operator gives a high maximum to further tables, by a list or by taking back an exclusion; or the
    second person approves it without seeing the tables."""
    omar = Staff.objects.get(username="omar")
    pits.set_section(PitSectionSet(pit="High", tables=NAMES), by=olga)
    high = {"max_cents": 90_000}
    of_two = {"scope": "table", "tables": NAMES[:2], "values": high}
    but_one = {"scope": "pit", "of": "High", "excluded": NAMES[:1], "values": high}
    set_plan(olga, name="Set", **of_two)
    set_plan(olga, name="Pit", **but_one)
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    read_again()
    for name, facts, shown in (
        ("Set", of_two | {"tables": NAMES}, ("Tables", "Rocket 1, Rocket 2", "Rocket 1, Rocket 2, Rocket 3")),
        ("Pit", but_one | {"excluded": ()}, ("Not at", "Rocket 1", "none")),
    ):
        event = drafted(name, **facts)
        with pytest.raises(Refused) as refused:
            plans.set_plan(event, expected_version=1, by=olga)
        assert refused.value.code == "second_person", name
        draft = plans.draft_of(event, expected_version=1)
        assert draft is not None
        with rollback():
            proposal = proposals.propose(draft, "", by=olga)
            assert shown in proposals.changes(proposal)
            proposals.approve(proposal, by=omar)
            assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_rows_and_entries_agree_on_the_tables_of_any_plan(olga: Staff) -> None:
    """Harm: live limits come from the row, verification from the entry, and they differ at a table."""
    chance = random.Random(40)
    every = list(Table.objects.order_by("name"))
    for number in range(30):
        chosen = tuple(chance.sample(NAMES[:2], chance.randint(1, 2)))
        facts: dict[str, Any] = chance.choice(
            [
                {"scope": "table", "tables": chosen},
                {"scope": "table", "of": chosen[0]},
                {"scope": "house", "excluded": ("Rocket 3", *chosen[:1])},
                {"scope": "game", "of": "rocket", "excluded": ("Rocket 3",)},
            ]
        )
        row = set_plan(olga, name=f"Plan {number}", **facts)
        of_row, of_entry = resolver.plan_of(row), stored(row).plan(row.seq)
        assert of_row == of_entry
        applies = {table.name for table in every if concerned(table, of_row.name)}
        expected = set(facts.get("tables") or ([facts["of"]] if facts["scope"] == "table" else NAMES))
        assert applies == expected - set(facts.get("excluded", ())), facts
        plans.set_plan(plans.retirement(row.name), expected_version=1, by=olga)
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def stored(row: LimitPlan) -> LimitPlanSet:
    """The version as its entry has it."""
    entry = LogEntry.objects.get(book__name=HOUSE, seq=row.seq)
    event = read_as(LimitPlanSet, entry.body)
    assert LIMIT_PLANS.columns(event) == LIMIT_PLANS.row_columns(row)
    return event


def concerned(table: Table, name: str) -> bool:
    stack = resolver.at_tables([table], timezone.now())[table.name].outcome.stack
    return any(layer.name == name for layer in stack["min_cents"])
