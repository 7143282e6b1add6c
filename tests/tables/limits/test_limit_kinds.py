"""Each kind of limit is declared everywhere that sets, stores or shows limits."""

from dataclasses import fields

import pytest

from dealer_ui.operator.limits.plan_form import PlanForm
from tables.api.settings import Changes, SettingsForm
from tables.limits import cells
from tables.log.limit_plans import AMOUNTS, LIMIT_SETTINGS, MINIMA
from tables.log.terms import Settings
from tables.models import Table

NAMES_BY_PLACE = {
    "tables/models/tables.py": {field.name for field in Table._meta.get_fields()},
    "tables/log/terms.py": {field.name for field in fields(Settings)},
    "tables/limits/cells.py": set(cells.LIMITS),
    "tables/api/settings.py (SettingsForm)": set(SettingsForm.__struct_fields__),
    "tables/api/settings.py (Changes)": set(Changes.__struct_fields__),
}


@pytest.mark.parametrize("place", NAMES_BY_PLACE)
def test_a_place_has_every_limit(place: str) -> None:
    """Harm: a limit plan sets a limit that the table, its page or the API does not have."""
    missing = set(LIMIT_SETTINGS) - NAMES_BY_PLACE[place]
    assert missing == set(), f"add these to {place}, as docs/adding-a-limit.md shows"


@pytest.mark.django_db
def test_the_form_of_a_plan_has_every_amount() -> None:
    """Harm: an operator cannot set a limit that entries of plans may contain."""
    assert [field.name for field in PlanForm().amounts()] == list(AMOUNTS)


def test_the_optional_limits_of_a_table_may_be_empty_in_the_grid() -> None:
    """Harm: a limit can be set in the grid and never removed."""
    optional = {field.name for field in fields(Settings) if field.name in AMOUNTS and field.default is None}
    assert optional == cells.MAY_BE_EMPTY, "the column of a limit is null=True exactly if its setting may be None"


def test_each_minimum_is_a_limit() -> None:
    """Harm: a misspelled minimum counts as a maximum, and it is raised over seated players without notice."""
    assert set(AMOUNTS) >= MINIMA
