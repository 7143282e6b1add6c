"""Which tables stand in which pit and section."""

from __future__ import annotations

import pytest

from tables.log.entries.pits import PitSectionSet
from tables.models import PitSection, Staff
from tables.refusals import Refused
from tables.roles import Role
from tables.setup import pits
from tests import floor
from tests.ready import ready_made

pytestmark = [pytest.mark.django_db, pytest.mark.slow("sets up a house for each test")]


@pytest.fixture
@ready_made
def olga() -> Staff:
    for number in (1, 2, 3, 10):
        floor.table(f"Rocket {number}")
    return floor.staff(Role.OPERATOR, "olga", "301")


def section(name: str, *tables: str, **settings: object) -> PitSectionSet:
    return PitSectionSet(pit="Pit 1", section=name, tables=tables, **settings)  # type: ignore[arg-type]


def test_the_newest_setting_of_a_section_stands_and_tables_follow_as_people_count(olga: Staff) -> None:
    """Harm: Rocket 10 stands before Rocket 2, and a section that was set anew keeps its former tables."""
    pits.set_section(section("A", "Rocket 1"), by=olga)
    pits.set_section(section("A", "Rocket 10", "Rocket 2", "Rocket 3", first=("Rocket 3",)), by=olga)
    places = pits.places()
    assert "Rocket 1" not in places
    assert sorted(places, key=lambda name: places[name].order(name)) == ["Rocket 3", "Rocket 2", "Rocket 10"]
    pits.set_section(section("A"), by=olga)
    assert pits.places() == {}
    assert PitSection.objects.count() == 3


WRONG: list[tuple[PitSectionSet, str, str]] = [
    (section("B", "Rocket 1"), "tables", "stands in Pit 1, section A"),
    (section("B", "Rocket 4"), "tables", "There is no table Rocket 4."),
    (section("B", "Rocket 2", "Rocket 2"), "tables", "named twice"),
    (section("B"), "tables", "no such section"),
    (section("B", "Rocket 2", first=("Rocket 3",)), "first", "does not stand in this section"),
    (section("B ", "Rocket 2"), "section", "no space"),
    (PitSectionSet(pit="", tables=("Rocket 2",)), "pit", "1 to 40"),
]


def test_an_impossible_section_is_refused_with_a_sentence(olga: Staff) -> None:
    """Harm: a table is in two sections, and each supervisor relies on the other to watch it; or a pit boss moves a
    table out of its supervisor's sight."""
    pits.set_section(section("A", "Rocket 1"), by=olga)
    for event, field, sentence in WRONG:
        with pytest.raises(Refused) as refusal:
            pits.set_section(event, by=olga)
        assert sentence in refusal.value.facts["fields"][field]
    with pytest.raises(Refused, match="operator"):
        pits.set_section(section("A", "Rocket 2"), by=floor.staff(Role.PIT_BOSS, "bella", "201"))
    assert PitSection.objects.count() == 1
