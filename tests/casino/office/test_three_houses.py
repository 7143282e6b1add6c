"""Three houses and a head office, a database each, over HTTP; one is cut off for a while."""

from pathlib import Path

import pytest

from tests.houses import HOUSES, stage


@pytest.mark.usefixtures("own_processes")
@pytest.mark.timeout(900)
def test_a_property_that_was_cut_off_catches_up_in_order_and_its_staff_cannot_sign_in_elsewhere(
    tmp_path: Path,
) -> None:
    """Harm: a company trusts a figure that no property proved, or admits one property's staff to another; or a line
    that is down for a day leaves a gap, or delays every property."""
    staging = stage(tmp_path)
    assert sorted(staging.arrived_without_the_cut_off) == [["north", 1], ["north", 2], ["south", 1], ["south", 2]]
    assert "could not be reached" in staging.cut_off_said
    assert staging.arrived[4:] == [["west", 1], ["west", 2]]
    assert len(staging.arrived) == 6
    assert staging.figures > 0
    assert "is not among those that the house signed with" in staging.refused[0]
    assert "DOES NOT HOLD" in staging.refused[1]
    assert staging.signs_in == {"office": ["otto"]} | {name: [f"anna-{name}"] for name in HOUSES}
