"""The record of each kind of entry answers every question, and an unanswered one is named at import."""

from typing import ClassVar

import pytest

from tables.alerts import facts
from tables.alerts.alert_types import ALERT_TYPES
from tables.floor import handlers
from tables.log import writers
from tables.log.catalog import EVENTS, by_name, refuse_unanswered
from tables.log.entries.chips import ChipsSold
from tables.log.entries.journal import AlertRaised
from tables.log.event import Event
from tables.log.exception_categories import ORDINARY
from tables.log.kind_record import BY_STAGE, NO_ALERT, NOTHING, KindRecord
from tables.log.message import from_fields
from tables.log.published.form import SETUP
from tables.roles import PERMISSIONS
from tests.tables.log.kind_answers import entries

WHOLE = KindRecord(writer=writers.SITE, moves=NOTHING, exception=ORDINARY, feed=SETUP, alert=NO_ALERT)


class Noted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An entry whose kind has answered every question."""

    subject: ClassVar[str] = "test"
    kinds: ClassVar[tuple[str, ...]] = ("noted",)
    record = WHOLE

    description = from_fields("noted")


class Wordless(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An entry that no one can read."""

    subject: ClassVar[str] = "test"
    kinds: ClassVar[tuple[str, ...]] = ("wordless",)
    record = WHOLE


class Silent(Noted, frozen=True, kw_only=True, omit_defaults=True):
    """An entry whose kind has left its alerts open."""

    record = KindRecord(writer=writers.SITE, moves=NOTHING, exception=ORDINARY, feed=SETUP)


class Misspelled(Noted, frozen=True, kw_only=True, omit_defaults=True):
    """An entry whose description names a field that it does not have."""

    record = WHOLE
    description = from_fields("noted by {nane}")


class Inherited(Noted, frozen=True, kw_only=True, omit_defaults=True):
    """An entry of another kind, with the answers of the one that it extends."""

    kinds: ClassVar[tuple[str, ...]] = ("inherited",)


def test_a_kind_that_has_answered_every_question_is_taken() -> None:
    """Harm: the check refuses a right kind, and the site does not start."""
    refuse_unanswered(Noted)


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        (Silent, "Silent leaves questions unanswered. It needs alert: .* or NO_ALERT"),
        (Wordless, "Wordless leaves questions unanswered. It needs description: from_fields"),
        (Misspelled, "Misspelled leaves questions unanswered. It needs a field nane, which its description names"),
        (Inherited, "Inherited has no record of its own"),
    ],
)
def test_an_unanswered_question_is_named_with_its_struct(event: type[Event], sentence: str) -> None:
    """Harm: a new kind raises no alert or is in no report, because the question was forgotten or its answer copied from
    another kind; or the site does not start, and the error does not say which struct is wrong."""
    with pytest.raises(TypeError, match=sentence):
        refuse_unanswered(event)


def test_two_structs_of_one_kind_are_refused() -> None:
    """Harm: entries of a kind are read as those of another struct, by the order of files."""
    with pytest.raises(TypeError, match="Silent and Noted are both test noted"):
        by_name([Noted, Silent], house=False)


@pytest.mark.parametrize(
    ("answers", "question"),
    [
        ({"writer": "the dealer"}, "writer"),
        ({"moves": {"fill"}}, "moves"),
        ({"exception": "voids"}, "exception"),
        ({"feed": ()}, "feed"),
        ({"feed": (ChipsSold,)}, "feed"),
        ({"alert": "large_bet"}, "alert"),
    ],
)
def test_an_answer_of_another_kind_is_a_fault(answers: dict[str, object], question: str) -> None:
    """Harm: an answer that no report understands counts as one."""
    whole = {"writer": writers.SITE, "moves": NOTHING, "exception": ORDINARY, "feed": SETUP, "alert": NO_ALERT}
    wrong: dict[str, object] = whole | answers
    assert [fault.partition(":")[0] for fault in KindRecord(**wrong).faults()] == [question]  # type: ignore[arg-type]


def test_every_permission_that_a_record_names_is_one_of_the_site() -> None:
    """Harm: the page about the log says that a permission protects an entry, and no role can have it."""
    named = {permission for event in EVENTS for permission in event.record.writer.permissions}
    assert named - frozenset().union(*PERMISSIONS.values()) == set()


def test_a_writer_without_a_permit_is_refused_where_its_entry_is_reproduced() -> None:
    """Harm: a proof accepts an entry of any author, because no permit belongs to the writer of its record."""
    with pytest.raises(TypeError, match="Noted is reproduced, and is written by the site"):
        handlers.reproduces(Noted)(lambda: None)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("large_bat", "No alert type is called large_bat"),
        ("clock_drift", "No function of tables/alerts/facts.py @raises clock_drift"),
    ],
)
def test_an_alert_that_nothing_raises_is_refused(name: str, sentence: str) -> None:
    """Harm: the record of a kind promises an alert, and none is ever raised: its name is misspelled, or no function
    computes its facts."""
    with pytest.raises(TypeError, match=sentence):
        facts.refuse_mismatch(facts.PRODUCERS.keys() | {name})


def test_a_function_whose_alert_no_record_names_is_refused() -> None:
    """Harm: an alert was raised by a kind, its record no longer says so, and the rule silently never applies."""
    with pytest.raises(TypeError, match="No record of a kind of entry names large_win"):
        facts.refuse_mismatch(facts.PRODUCERS.keys() - {"large_win"})


def test_an_alert_that_an_entry_raises_at_once_is_named_by_its_record() -> None:
    """Harm: a kind raises an alert under its name, and its record says that it raises none: the page about the log
    misleads an auditor."""
    named = {name for event in EVENTS for name in event.record.alerts}
    kinds = {kind for event in EVENTS if event.record.alert is not BY_STAGE for kind in event.kinds}
    assert (ALERT_TYPES.keys() & kinds) - named == set()
    raised = {example.event.what for example in entries() if isinstance(example.event, AlertRaised)}
    assert len(raised & named) > 10
    assert (raised & kinds) - named == set()
