"""The catalogue of the house's terms: every value that may hold, and when it does."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tables.log import policies
from tables.log.policies import TERMS, PolicyChange

MONDAY = datetime(2026, 3, 2, 6, tzinfo=UTC)


@pytest.mark.parametrize("name", TERMS)
def test_each_default_is_in_its_bounds_and_survives_being_typed(name: str) -> None:
    """Harm: a house that changed nothing goes by a value that nobody could enter; or what the page shows is not what it
    reads back."""
    term = TERMS[name]
    assert policies.fault(term, term.default) == ""
    assert policies.read(term, policies.read(term, term.default)) == term.default
    assert policies.parsed(term, policies.typed(term, term.default)) == term.default
    assert policies.said(term, term.default)
    assert term.help.endswith(".")
    assert term.name == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("discrepancy_levels_cents", (1, 2)), ("discrepancy_levels_cents", (3, 2, 1)),
        ("discrepancy_levels_cents", (1, 1, 2)), ("discrepancy_levels_cents", (0, 1, 2)),
        ("discrepancy_levels_cents", 5), ("discrepancy_levels_cents", (1, True, 3)),
        ("dispute_reportable_cents", 0), ("dispute_reportable_cents", "500"), ("dispute_reportable_cents", True),
        ("dispute_reportable_cents", 1.5), ("certificate_games", ("rocket", "rocket")),
        ("certificate_games", ("poker",)), ("certificate_games", "rocket"), ("certificate_pass_percent", 101),
        ("pin_digits_min", 3), ("pin_digits_min", 9), ("pin_digits_min", None), ("weather", 1),
        ("house_name", "Grand\nCasino"), ("house_name", " Grand"), ("house_name", "Grand\u202e"),
        ("house_name", "G" * 61), ("house_name", 5),
        ("void_roles", ()), ("void_reasons", ()), ("abandon_roles", ()), ("abandon_reasons", ()),
    ],
)  # fmt: skip
def test_an_out_of_bounds_policy_is_named(name: str, value: Any) -> None:
    """Harm: a typing error makes every variance reportable to the regulator, or none; or no role or reason remains for
    ending a round that cannot be finished."""
    assert list(policies.faults({name: value})) == [name]


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("discrepancy_levels_cents", "25.01 100 1,000", (2_501, 10_000, 100_000)),
        ("dispute_reportable_cents", "1,000", 100_000),
        ("certificate_games", "rocket, three card poker", ("rocket", "three_card_poker")),
        ("certificate_games", "", ()),
        ("pin_digits_min", " 8 ", 8),
        ("house_name", " Grand_Casino & Söhne ", "Grand_Casino & Söhne"),
    ],
)
def test_values_are_typed_as_they_are_said(name: str, text: str, value: Any) -> None:
    """Harm: an amount that is read as a hundredth or a hundredfold of itself."""
    assert policies.parsed(TERMS[name], text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dispute_reportable_cents", "1.5"), ("dispute_reportable_cents", "-1"), ("dispute_reportable_cents", ""),
        ("pin_digits_min", "six"), ("pin_digits_min", "12"), ("certificate_games", "poker"),
        ("discrepancy_levels_cents", "1 2"), ("pin_digits_min", "٨"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_in_words(name: str, text: str) -> None:
    """Harm: a value that nobody meant."""
    with pytest.raises(ValueError, match=TERMS[name].title):
        policies.parsed(TERMS[name], text)


def test_a_change_holds_from_its_moment_until_the_next() -> None:
    """Harm: a change that was dated for Monday holds on Sunday, or a later entry for the same moment is lost."""
    day = timedelta(days=1)
    changes = [
        PolicyChange(MONDAY + day, 3, {"pin_digits_min": 8}),
        PolicyChange(MONDAY, 4, {"pin_digits_min": 7}),
        PolicyChange(MONDAY, 2, {"pin_digits_min": 5, "a term of another release": 1}),
    ]
    digits = [
        policies.in_force(changes, moment)["pin_digits_min"]
        for moment in (MONDAY - timedelta(microseconds=1), MONDAY, MONDAY + day)
    ]
    assert digits == [6, 7, 8]
    assert set(policies.in_force(changes, MONDAY)) == set(TERMS)
