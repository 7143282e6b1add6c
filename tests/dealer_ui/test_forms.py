"""Forms of the cage and the dealer: the paper of an input, and notes in question."""

from datetime import UTC, datetime

import pytest
from django.http import QueryDict
from django.utils import timezone

from dealer_ui.cage.paper_form import PaperForm
from dealer_ui.cage.slip_forms import questioned_note_forms, questioned_notes
from tables.refusals import Refused


def test_a_paper_of_the_hour_that_a_clock_change_repeats_is_entered() -> None:
    """Harm: on one night of the year no paper between 2 and 3 o'clock can be entered."""
    with timezone.override("Europe/Vienna"):
        paper = PaperForm({"paper": " 17 ", "happened": "2026-10-25T02:30"}).from_paper()
    assert paper is not None
    assert (paper.number, paper.happened) == ("17", datetime(2026, 10, 25, 0, 30, tzinfo=UTC))


@pytest.mark.parametrize("form", [{"paper": "17"}, {"happened": "2026-10-25T12:30"}, {"paper": "17", "happened": "x"}])
def test_half_a_paper_is_refused(form: dict[str, str]) -> None:
    """Harm: an input from paper is recorded as live, with the time of its entry."""
    with pytest.raises(Refused) as refused:
        PaperForm(form).from_paper()
    assert (refused.value.code, refused.value.status) == ("bad_paper", 422)
    assert PaperForm({}).from_paper() is None


@pytest.mark.parametrize("line", ["apart-2-kind=torn", "apart-2-kind=torn&apart-2-worth=x&apart-2-envelope=E1"])
def test_an_incomplete_note_in_question_is_refused(line: str) -> None:
    """Harm: a note without a worth or an envelope is in no register, and disappears."""
    complete = "apart-1-kind=torn&apart-1-worth=1,000&apart-1-envelope=E7"
    assert questioned_notes(questioned_note_forms(QueryDict(complete))) == (("torn", 100_000, "E7"),)
    with pytest.raises(Refused) as refused:
        questioned_notes(questioned_note_forms(QueryDict(f"{complete}&{line}")))
    assert (refused.value.code, refused.value.status) == ("bad_apart", 422)
