"""Which entries are exceptions: each kind is declared one or the other."""

from tables.log.catalog import EVENTS
from tables.log.exception_categories import MATTERS, ORDINARY
from tables.log.exceptions import KINDS
from tables.log.kind_record import BY_STAGE
from tables.log.slip_types import SLIPS


def test_each_kind_of_entry_is_an_exception_or_declared_not_to_be() -> None:
    """Harm: a new kind of entry that nobody ever reads the morning after, because nobody thought of it."""
    answers = {event.__name__: event.record.exception for event in EVENTS}
    declared = {name for name, answer in answers.items() if answer is ORDINARY or answer in (*MATTERS, BY_STAGE)}
    assert answers.keys() - declared == set(), "say in their records whether these are exceptions"


def test_each_exception_stands_under_a_heading_of_the_report() -> None:
    """Harm: an entry that is an exception and is drawn nowhere."""
    of_stages = {stage.exception for series in SLIPS.values() for stage in series.steps} - {None}
    assert {*KINDS.values(), *of_stages} <= set(MATTERS)
    assert len({matter.name for matter in MATTERS}) == len(MATTERS)


def test_voids_are_looked_for_by_the_kind_of_every_series() -> None:
    """Harm: a void of one series of slips that the report does not know."""
    kinds = {kind for _, subject, kind in KINDS if subject == "slip"}
    assert {"fill_voided", "fill_void_asked", "credit_voided"} <= kinds
    assert "fill_carried" not in kinds
