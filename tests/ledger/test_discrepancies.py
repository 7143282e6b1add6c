"""Discrepancies: opened once, graded by amount, closed in writing by somebody who had no part in them."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from ledger import discrepancies
from ledger.models import Discrepancy, Finding
from tests.ledger.conftest import Felt


def opened(felt: Felt, amount_cents: int = -5_000, key: str = "count:1:7") -> Discrepancy:
    message = "Table 1: the closer is short by 50"
    return discrepancies.open_(felt.book, "variance", amount_cents, message, key=key, involved=["dora", "bella"])


@pytest.mark.parametrize(
    ("amount", "level"),
    [(1, 0), (2_500, 0), (2_501, 1), (-2_501, 1), (9_999, 1), (10_000, 2), (-20_000, 3), (10**9, 3)],
)
def test_each_amount_goes_as_far_as_the_limits_say(amount: int, level: int) -> None:
    """Harm: what the regulator has to hear of stays in the pit; a chip more or less wakes everybody."""
    assert discrepancies.level_of(amount) == level


def test_the_house_lays_the_limits_down(terms: Callable[..., None]) -> None:
    """Harm: the house tightens its levels, and what is counted goes on by the old ones."""
    terms(discrepancy_levels_cents=(1, 2, 3))
    assert discrepancies.level_of(-3) == 3


def test_the_same_count_opens_one(felt: Felt) -> None:
    """Harm: two workers find the same, and one of the two stays open for ever."""
    assert opened(felt) == opened(felt)
    assert opened(felt, key="count:1:8").pk != opened(felt).pk
    assert Discrepancy.objects.count() == 2


def test_who_had_part_in_it_does_not_say_what_it_came_to(felt: Felt) -> None:
    """Harm: whoever took the chips writes that a player walked off with them."""
    discrepancy = opened(felt)
    for username in ("dora", "bella"):
        with pytest.raises(discrepancies.NotClosed, match="had part in it"):
            discrepancies.close(discrepancy, "miscounted", username=username, by=username.title())
    with pytest.raises(discrepancies.NotClosed, match="few words"):
        discrepancies.close(discrepancy, "  ", username="boris", by="202 Boris")
    discrepancies.close(discrepancy, "a chip lay under the tray", username="boris", by="202 Boris")
    assert not discrepancies.open_ones().exists()
    with pytest.raises(discrepancies.NotClosed, match="before"):
        discrepancies.close(discrepancy, "no, it did not", username="olga", by="olga Olga")
    assert Finding.objects.get().text == "a chip lay under the tray"


def test_every_owner_there_was_is_known(felt: Felt) -> None:
    discrepancy = opened(felt)
    assert discrepancies.owner_of(discrepancy) is None
    discrepancies.assign(discrepancy, "boris", "Boris", by="201 Bella")
    discrepancies.assign(discrepancy, "olga", "Olga", by="202 Boris")
    discrepancy = discrepancies.open_ones().get()
    owner = discrepancies.owner_of(discrepancy)
    assert owner is not None
    assert (owner.owner, len(discrepancy.assignments.all())) == ("olga", 2)


def test_the_gravest_come_first_in_a_fixed_number_of_questions(felt: Felt, django_assert_num_queries: Any) -> None:
    for number, amount in enumerate((100, -30_000, 12_000)):
        opened(felt, amount, f"count:1:{number}")
    with django_assert_num_queries(2):
        assert [discrepancy.level for discrepancy in discrepancies.open_ones()] == [3, 2, 0]


def test_a_discrepancy_of_nothing_is_none(felt: Felt) -> None:
    with pytest.raises(IntegrityError, match="of_something"), transaction.atomic():
        Discrepancy.objects.create(
            book=felt.book, at="2026-01-01T00:00:00Z", kind="variance", amount_cents=0, level=0, message="x", key="x"
        )
