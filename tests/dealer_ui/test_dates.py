"""Days in addresses and forms."""

from datetime import date

import pytest

from dealer_ui import dates


@pytest.mark.parametrize(
    "text",
    ["", "x", "2026-02-30", "2026-13-45", "2026-99-99", "0000-00-00", "0001-01-01", "1999-12-31", "3000-01-01"],
)
def test_no_other_text_is_a_day(text: str) -> None:
    """Harm: a day that is in no calendar, or that no casino can have seen, causes a server error."""
    assert dates.day(text) is None
    with pytest.raises(ValueError, match="is no day"):
        dates.Day().to_python(text)


@pytest.mark.parametrize("day", [date(2000, 1, 1), date(2999, 12, 31)])
def test_the_first_and_the_last_day_are_read(day: date) -> None:
    """Harm: a bound that is off by one excludes the figures of a day."""
    assert dates.day(str(day)) == dates.Day().to_python(str(day)) == day
