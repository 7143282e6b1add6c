"""House profiles: every term is in the catalogue and in its bounds, every test that a clause names exists."""

import ast

import pytest

from casino.embedded.servers import BASE_DIR
from tables.log import policies
from tables.log.house_profiles import OF_THE_HOUSE, PROFILES, Profile

NAMED = [
    (profile, clause, test) for profile in PROFILES.values() for clause in profile.clauses for test in clause.tests
]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_a_profile_sets_every_term_within_its_bounds(profile: Profile) -> None:
    """Harm: a house adopts a profile, and a term that nobody looked at stays as it was, or is what nobody can enter."""
    assert set(profile.terms) == set(policies.TERMS) - set(OF_THE_HOUSE)
    assert policies.faults(profile.terms) == {}
    assert profile.clauses


@pytest.mark.parametrize("profile", PROFILES.values(), ids=list(PROFILES))
def test_no_two_clauses_lay_the_same_term_down(profile: Profile) -> None:
    """Harm: the page shows a value for a clause, and another is adopted."""
    names = [name for clause in profile.clauses for name in clause.terms]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("profile", "clause", "test"), NAMED, ids=lambda part: getattr(part, "name", None))
def test_each_named_test_exists(profile: Profile, clause: object, test: str) -> None:
    """Harm: a clause is said to be run by a test that was renamed or never written."""
    file, _, name = test.partition("::")
    tree = ast.parse((BASE_DIR / "tests" / file).read_text())
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_clause_is_run_by_a_test() -> None:
    """Harm: a clause that nothing exercises stands on the page as if it held."""
    assert all(clause.tests for profile in PROFILES.values() for clause in profile.clauses)
