"""Moments and days that requests bring."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import msgspec
import pytest
from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command

from dealer_ui.operator.limits.plan_form import PlanForm
from tables.admin.forms import EffectiveField
from tables.admin.pages import SetUp
from tables.cage import slip_fields
from tables.form_fields import DayField, MomentField
from tables.log import moments
from tables.log.exception_categories import ORDINARY
from tables.log.limit_plans import Occasion
from tables.log.moments import Moment
from tables.log.slip_types import MOMENT, SlipField, Stage
from tables.refusals import Refused


class Sent(msgspec.Struct):
    """A form with moments at several depths."""

    at: Moment | None = None
    days: tuple[date, ...] = ()
    within: Sent | None = None


FITS = ("2000-01-01T00:00:00Z", "1999-12-31T23:00:00-01:00", "2999-12-31T23:59:59Z", "3000-01-01T01:00:00+02:00")
STRANGE = (
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "1999-12-31T23:59:59Z", "2000-01-01T00:00:00+00:01",
    "3000-01-01T00:00:00Z", "2999-12-31T23:59:59-00:01",
)  # fmt: skip


def test_moments_are_bounded_after_conversion_to_utc() -> None:
    """Harm: a moment whose year looks right is outside of what a time zone can show once its offset is applied, and
    each page that shows it is a server error."""
    for text in FITS:
        moments.refuse(msgspec.convert({"at": text}, Sent))
    for text in STRANGE:
        with pytest.raises(Refused, match=r"^At: expected a moment from 2000 to 2999\.$"):
            moments.refuse(msgspec.convert({"at": text}, Sent))
        assert (moments.within(datetime.fromisoformat(text)) - moments.FIRST) // timedelta(days=366_000) == 0


def test_the_place_of_a_strange_moment_is_named() -> None:
    """Harm: a moment inside of a list or another form is not checked, or its sender has to guess which one is wrong."""
    nested = Sent(within=Sent(days=(date(2026, 1, 1), date(1, 1, 1))))
    with pytest.raises(Refused, match=r"^Within\.days\[1\]: expected a day from 2000 to 2999\.$"):
        moments.refuse(nested)


def test_every_date_in_a_form_of_the_administration_is_bounded() -> None:
    """Harm: a new form reads dates with Django's own field, which accepts the year 1."""
    pages = [entry for entry in admin.site._registry.values() if isinstance(entry, SetUp)]
    fields = [field for page in pages for field in page.form.base_fields.values()] + list(PlanForm.base_fields.values())
    dated = [field for field in fields if isinstance(field, forms.DateField | forms.DateTimeField)]
    assert len(dated) >= 6
    assert [field.label for field in dated if not isinstance(field, DayField | MomentField)] == []
    for field in (DayField(), MomentField(), EffectiveField()):
        for text in ("0001-01-01", "9999-12-31"):
            with pytest.raises(ValidationError, match="from 2000 to 2999"):
                field.clean(text)


def test_a_stored_event_of_any_year_has_edges_that_every_zone_can_show() -> None:
    """Harm: a plan that an earlier release accepted from the year 1 on breaks the list of limit plans for all."""
    present = datetime(2026, 5, 2, tzinfo=UTC)
    event = Occasion(starts="0001-01-01T00:00:00+14:00", ends="9999-12-31T23:59:59-14:00")
    assert list(event.edges(present)) == [moments.FIRST, moments.LAST]
    assert event.holds(present)


def test_a_moment_on_a_slip_is_bounded() -> None:
    """Harm: a moment that is typed on a slip is a server error when it is converted to the house's clock."""
    with pytest.raises(Refused, match="“When”: expected a moment from 2000 to 2999"):
        slip_fields.read(
            Stage("found", frozenset(), "", ORDINARY, fields=(SlipField("moment", "When", MOMENT),)),
            {"moment": STRANGE[0]},
            lambda _: (),
        )


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "1999-12-30", "3000-01-02", "today"])
def test_dates_on_the_command_line_are_bounded(text: str) -> None:
    """Harm: a command ends in a traceback for a day of the year 1, or writes a moment that breaks the pages which show
    it."""
    for command, options in (
        ("audit", ["export", "--day", text]),
        ("audit", ["export", "--from", text, "--to", "2026-01-01"]),
        ("clock", ["mend", "house", "--by", "a", "--reason", "b", "--from", f"{text}T00:00:00+14:00"]),
        ("clock", ["mend", "house", "--by", "a", "--reason", "b", "--through", f"3={text}T23:59:59-14:00"]),
    ):
        with pytest.raises(CommandError, match=f"'{text}.*' is not a (day|moment) from 2000 to 2999"):
            call_command(command, *options)
