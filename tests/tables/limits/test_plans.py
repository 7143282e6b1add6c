"""Setting limit plans, and what they come to at tables."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from msgspec import structs
from pytest_django import DjangoAssertNumQueries

from ledger import log, site_log
from ledger.log import Draft
from ledger.models import HOUSE, Book
from tables.approvals import proposals
from tables.audit import proofs
from tables.limits import cell_texts, resolver
from tables.limits import plans as limit_plans
from tables.log.entries.limit_plans import LimitPlanSet
from tables.log.entries.pits import PitSectionSet
from tables.log.entries.settings import TableSet
from tables.log.limit_plans import Always, Hours, Occasion
from tables.models import LimitPlan, Staff, Table
from tables.projections.site_rows import LIMIT_PLANS
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pits, policies, table_settings
from tests import floor
from tests.ready import ready_made
from tests.tables import wheel
from tests.tables.approvals.test_proposals import rollback
from tests.terms import read_again

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]

NIGHTS = Hours(weekdays=(4, 5), starts="20:00", ends="04:00", zone="America/New_York")


@pytest.fixture
@ready_made
def olga() -> Staff:
    floor.table("Rocket 1")
    floor.table("Rocket 2")
    return floor.staff(Role.OPERATOR, "olga", "301")


def drafted(name: str = "Floor", **facts: Any) -> LimitPlanSet:
    plan = {"schedule": Always(), "version": 0, "scope": "house", "values": {"min_cents": 2_000}, "effective": ""}
    return LimitPlanSet(name=name, **plan | facts)


def outcome(name: str) -> resolver.TableLimits:
    tables = Table.objects.filter(name=name)
    return resolver.at_tables(tables, timezone.now())[name]


def test_a_plan_holds_where_it_is_for_and_the_book_says_so(olga: Staff) -> None:
    """Harm: a plan of a pit holds at tables elsewhere, or its row says something that the log does not."""
    pits.set_section(PitSectionSet(pit="Pit 1", tables=("Rocket 1",)), by=olga)
    limit_plans.set_plan(drafted(scope="pit", of="Pit 1", note="Main floor"), expected_version=0, by=olga)
    assert outcome("Rocket 1").outcome.layers["min_cents"].why == "plan Floor (Main floor): pit Pit 1, always"
    assert outcome("Rocket 1").differs == ("min_cents",)
    assert outcome("Rocket 2").differs == ()
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_whoever_did_not_see_the_newest_version_is_told_what_was_changed(olga: Staff) -> None:
    """Harm: of two operators who edit the same plan the second takes back what the first did, and neither hears of
    it."""
    limit_plans.set_plan(drafted(), expected_version=0, by=olga)
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    limit_plans.set_plan(drafted(values={"min_cents": 3_000}), expected_version=1, by=omar)
    with pytest.raises(Refused) as refused:
        limit_plans.set_plan(drafted(values={"min_cents": 4_000}), expected_version=1, by=olga)
    assert refused.value.code == "changed_meanwhile"
    assert refused.value.facts["version"] == 2
    assert "302 Omar set version 2 of Floor meanwhile: limits minimum 20 → minimum 30" in refused.value.sentence
    limit_plans.set_plan(drafted(values={"min_cents": 4_000}), expected_version=2, by=olga)
    assert [row.version for row in LimitPlan.objects.versions("Floor")] == [3, 2, 1]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"name": " Floor"}, "name", "without a space before"),
    ({"name": "F" * 41}, "name", "at most 40"),
    ({"scope": "pit"}, "of", "Name the game, pit or table"),
    ({"scope": "pit", "of": "Pit 9"}, "of", "There is no pit Pit 9"),
    ({"scope": "table", "of": "Rocket 9"}, "of", "There is no table Rocket 9"),
    ({"scope": "game", "of": "rokcet"}, "of", "There is no game"),
    ({"values": {}}, "values", "Set one limit at least"),
    ({"values": {"min_cents": 0}}, "min_cents", "more than 0"),
    ({"values": {"min_cents": 2_000, "max_cents": 1_000}}, "max_cents", "under the minimum of 20"),
    ({"values": {"wager tie": (500, 100)}}, "wager tie", "the lower one first"),
    ({"values": {"floor_cents": 100}}, "floor_cents", "There is no limit"),
    ({"values": {"min_cents": 1_050}}, "min_cents", "Rocket 1: The minimum is a multiple of 10"),
    ({"values": {"seat_max_cents": 500}}, "seat_max_cents", "no less than the minimum"),
    ({"schedule": Hours(weekdays=(), starts="20:00", ends="04:00", zone="UTC")}, "schedule", "one weekday"),
    ({"schedule": Hours(weekdays=(1,), starts="8pm", ends="04:00", zone="UTC")}, "schedule", "like 20:00"),
    ({"schedule": Hours(weekdays=(1,), starts="20:00", ends="04:00", zone="Mars")}, "schedule", "IANA"),
    ({"schedule": Occasion(starts="tomorrow", ends="later")}, "schedule", "starts before it ends"),
    ({"schedule": Occasion(starts="2020-01-01T00:00+00:00", ends="2020-01-02T00:00+00:00")}, "schedule", "is over"),
    ({"effective": "2020-01-01T00:00:00+00:00"}, "effective", "from now on"),
    ({"effective": "2099-01-01T00:00:00+00:00"}, "effective", "366 days"),
    ({"retired": True}, "values", "sets nothing"),
]


def test_an_impossible_plan_is_refused_by_its_field(olga: Staff) -> None:
    """Harm: a plan is accepted that applies nowhere, never, or to a table that cannot be set to it, without a message;
    or a pit boss raises a maximum alone."""
    for facts, field, sentence in WRONG:
        with pytest.raises(Refused) as refusal:
            limit_plans.set_plan(drafted(**facts), expected_version=0, by=olga)
        assert sentence in refusal.value.facts["fields"][field], facts
    with pytest.raises(Refused, match="Only an operator"):
        limit_plans.set_plan(drafted(), expected_version=0, by=floor.staff(Role.PIT_BOSS, "bella", "201"))
    assert not LimitPlan.objects.exists()


def test_all_tables_are_told_in_as_many_queries_as_one(
    olga: Staff, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    """Harm: the front page of a house of two hundred tables asks for each of them."""
    limit_plans.set_plan(drafted(schedule=NIGHTS), expected_version=0, by=olga)
    for number in range(3, 8):
        floor.table(f"Rocket {number}")
    tables = list(Table.objects.all())
    with django_assert_num_queries(2):
        outcomes = resolver.at_tables(tables, timezone.now())
    assert len(outcomes) == 7
    assert all(limits.outcome.next for limits in outcomes.values())


def test_versions_that_no_moment_to_come_goes_by_are_not_read(olga: Staff) -> None:
    """Harm: a plan that is changed each week makes every screen slower from year to year."""
    for version in range(4):
        limit_plans.set_plan(drafted(values={"min_cents": 1_000 * (version + 1)}), expected_version=version, by=olga)
    assert [plan.version for plan in resolver.plans(timezone.now())] == [4]
    rows = list(LimitPlan.objects.order_by("seq"))
    assert [row.version for row in rows] == [1, 2, 3, 4]
    assert resolver.plans(rows[1].at, rows[1].seq)[-1].version == 2


def test_leaving_a_maximum_to_what_lies_higher_takes_two(olga: Staff) -> None:
    """Harm: one operator lifts the maximum of a table by taking off the plan that holds it down."""
    omar = floor.staff(Role.OPERATOR, "omar", "302")
    table = Table.objects.get(name="Rocket 1")
    table_settings.change_table(table, {"max_cents": 50_000}, by=olga)
    limit_plans.set_plan(drafted(values={"max_cents": 5_000}), expected_version=0, by=olga)
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    read_again()
    for later in (
        {"values": {}, "retired": True},
        {"values": {"min_cents": 2_000}},
        {"schedule": Hours(weekdays=(1,), starts="20:00", ends="04:00", zone="UTC")},
        {"scope": "game", "of": "blackjack"},
    ):
        event = drafted(**{"values": {"max_cents": 5_000}, **later})
        with pytest.raises(Refused) as refusal:
            limit_plans.set_plan(event, expected_version=1, by=olga)
        assert refusal.value.code == "second_person", later
        draft = limit_plans.draft_of(event, expected_version=1)
        assert draft is not None
        with rollback():
            proposals.approve(proposals.propose(draft, "", by=olga), by=omar)
            assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None


def test_a_plan_over_low_tables_is_retired_by_one_and_over_high_ones_never_unseen(olga: Staff) -> None:
    """Harm: every plan that ends takes two; or whoever has the database ends one alone, and no proof finds it."""
    floor.staff(Role.OPERATOR, "omar", "302")
    for name in ("Floor", "Second"):
        limit_plans.set_plan(drafted(name, values={"max_cents": 5_000}), expected_version=0, by=olga)
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    read_again()
    limit_plans.set_plan(limit_plans.retirement("Floor"), expected_version=1, by=olga)
    assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
    read_again()
    table = Table.objects.get(name="Rocket 1")
    Table.objects.filter(pk=table.pk).update(max_cents=5_000)
    with transaction.atomic():
        head = log.lock(table.book_id)
        changed = TableSet(before={"max_cents": 10_000}, after={"max_cents": 50_000})
        log.append(head, Draft.of(changed, olga.signature))
    limit_plans.set_plan(limit_plans.retirement("Second"), expected_version=1, by=olga)
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert fault is not None
    assert "it took two people" in fault.what


def written(event: LimitPlanSet, version: int, by: Staff, *, effective_maxima: bool) -> None:
    """A version of a plan with its row, unjudged: by a release up to 0.9.0, or by a forger."""
    with transaction.atomic():
        head = site_log.lock()
        moment = policies.spelled(head.moment)
        event = structs.replace(event, version=version, effective=moment, effective_maxima=effective_maxima)
        LIMIT_PLANS.append(head, event, by.signature)


CAP = {"cap_cents": 10_000}
LOW_TIE = {"max_cents": 50_000, "wager tie": (500, 1_000)}


@pytest.mark.parametrize("effective_maxima", [True, False])
@pytest.mark.parametrize(
    ("values", "left"), [(CAP, {}), (LOW_TIE, {"max_cents": 50_000})], ids=["hours of another", "its own maximum"]
)
def test_what_a_plan_leaves_is_compared_as_it_takes_effect(
    olga: Staff, values: dict[str, Any], left: dict[str, Any], effective_maxima: bool
) -> None:
    """Harm: one operator retires the plan that bounds the exposure, because another does so on two nights a week, or
    gives a wager the maximum of its plan, and no proof finds it; or a site whose earlier release allowed that fails
    verification after an upgrade."""
    floor.staff(Role.OPERATOR, "omar", "302")
    floor.table("Baccarat 1", game="baccarat", options={})
    nights = drafted("Nights", values=CAP, schedule=NIGHTS)
    for event in (drafted(values=values), nights):
        written(event, 1, olga, effective_maxima=effective_maxima)
    policies.change({"two_people": True, "two_people_limit_cents": 20_000}, by=olga)
    read_again()
    later = drafted(values=left, retired=not left)
    with pytest.raises(Refused) as refusal:
        limit_plans.set_plan(later, expected_version=1, by=olga)
    assert refusal.value.code == "second_person"
    written(later, 2, olga, effective_maxima=effective_maxima)
    fault = proofs.verify(Book.objects.get(name=HOUSE)).fault
    assert ("it took two people" in fault.what if fault else False) is effective_maxima


def test_the_settings_of_tables_are_read_once_for_all_plans(olga: Staff) -> None:
    """Harm: a verification reads every change of every table again for each limit plan, and takes hours after years of
    plans."""
    floor.staff(Role.OPERATOR, "omar", "302")
    policies.change({"two_people": True}, by=olga)
    read_again()
    reads: dict[int, int] = {}
    for plans in (2, 6):
        for number in range(plans):
            event = drafted(f"Plan {plans} {number}", values={"max_cents": 5_000})
            limit_plans.set_plan(event, expected_version=0, by=olga)
            limit_plans.set_plan(limit_plans.retirement(event.name), expected_version=1, by=olga)
        with CaptureQueriesContext(connection) as queries:
            assert proofs.verify(Book.objects.get(name=HOUSE)).fault is None
        reads[plans] = sum("settings_changed" in query["sql"] for query in queries.captured_queries)
    assert reads == {2: 1, 6: 1}


def test_a_plan_for_tables_without_rounds_names_the_wagers_that_they_state(olga: Staff) -> None:
    """Harm: no roulette can be limited by its number, for the game itself knows no wagers."""
    wheel.wheel()
    number = {"wager Straight up": (100, 5_000)}
    limit_plans.set_plan(drafted(scope="game", of="counted", values=number), expected_version=0, by=olga)
    wrong = drafted("Other", scope="game", of="counted", values={"wager Corner": (100, 5_000)})
    with pytest.raises(Refused, match="has no wager Corner"):
        limit_plans.set_plan(wrong, expected_version=0, by=olga)
    assert cell_texts.parse_wagers("Straight up 1 to 50; tie 5-100") == {
        "Straight up": (100, 5_000),
        "tie": (500, 10_000),
    }
