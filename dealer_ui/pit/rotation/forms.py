"""Forms of the rotation: the set-up of a string, and its changes by touch."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any, Final

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from tables.form_fields import InputForm, WholeNumberField
from tables.log.rotation import TURNS
from tables.models import Table
from tables.refusals import Refused
from tables.reports import gaming_hours
from tables.rotation import line_ups
from tables.rotation.line_ups import LONGEST_NAME, LONGEST_REASON, Basis, LineUpChange, StringLineUp
from tables.setup import pits
from tables.setup.pits import NOWHERE

MOST_BREAKS: Final = 8


class BasisForm(InputForm):
    """The line-up that the screen showed."""

    code = "bad_line_up"

    string = forms.CharField(max_length=LONGEST_NAME)
    seq = WholeNumberField()
    push_at = forms.DateTimeField(required=False)

    @property
    def name(self) -> str:
        """The name of the string. Raises Refused."""
        return str(self.values()["string"])

    @property
    def basis(self) -> Basis:
        """The state that the change rests on. Raises Refused."""
        values = self.values()
        return Basis(values["seq"], values["push_at"])


class PushForm(BasisForm):
    """The push of a string, with the user names of the dealers who leave the line-up before it."""

    without = forms.Field(required=False, widget=forms.MultipleHiddenInput)


class MoveForm(BasisForm):
    """A dealer into a position: the dealer there comes to the other's position, or off the line-up."""

    position = WholeNumberField(max_value=1_000)
    dealer = forms.CharField(max_length=150, required=False)
    reason = forms.CharField(max_length=LONGEST_REASON, required=False)

    def dealers(self, current: StringLineUp) -> tuple[str, ...]:
        """The dealers by position after the move. An empty dealer leaves a gap. Raises Refused."""
        dealers = list(current.line_up.dealers)
        position, dealer = self.cleaned_data["position"], self.cleaned_data["dealer"]
        if position >= len(dealers):
            raise Refused(self.code, f"String {current.row.string} has no position {position}.", 422)
        if dealer in dealers and dealer:
            dealers[dealers.index(dealer)] = dealers[position]
        dealers[position] = dealer
        return tuple(dealers)


class StringForm(forms.Form):
    """The set-up of a string: its tables, breaks and turn. Its dealers are put into their positions by touch."""

    string = forms.CharField(label=_("Name of the string"), max_length=LONGEST_NAME)
    tables = forms.MultipleChoiceField(label=_("Tables"), widget=forms.CheckboxSelectMultiple)
    turn_minutes = forms.TypedChoiceField(
        label=_("Length of a turn"), coerce=int, choices=[(minutes, f"{minutes} minutes") for minutes in TURNS]
    )
    breaks = forms.IntegerField(label=_("Dealers on a break"), min_value=0, max_value=MOST_BREAKS)
    first_push = forms.TimeField(label=_("Next push"), widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"))
    reason = forms.CharField(label=_("Reason"), max_length=LONGEST_REASON, required=False)
    seq = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    push_at = forms.DateTimeField(widget=forms.HiddenInput, required=False)

    def __init__(self, current: StringLineUp | None, *args: Any, **kwargs: Any) -> None:
        kwargs["initial"] = _initial(current)
        super().__init__(*args, **kwargs)
        self.current = current
        self.fields["string"].disabled = current is not None
        self.others = [each for each in line_ups.in_force() if current is None or each.row.string != current.row.string]
        strings = {table: each.row.string for each in self.others for table in each.line_up.tables}
        places = pits.places()
        names = Table.objects.in_use().values_list("name", flat=True)
        order = sorted(names, key=lambda name: places.get(name, NOWHERE).order(name))
        tables = self.fields["tables"]
        assert isinstance(tables, forms.MultipleChoiceField)  # noqa: S101 -- declared above
        tables.choices = [(name, _choice(name, strings.get(name, ""))) for name in order]

    @property
    def basis(self) -> Basis:
        """The line-up that the form showed."""
        return Basis(self.cleaned_data["seq"], self.cleaned_data["push_at"])

    def change(self, dealing: dict[str, str]) -> LineUpChange:
        """The line-up of a valid form. ``dealing``: the user name of the dealer at each open table. Such a dealer keeps
        the table, and the other dealers of the string keep a break; one who may not deal here, or is in another string,
        gets no position."""
        values, moment = self.cleaned_data, timezone.now()
        order = list(self.current.line_up.tables) if self.current else []
        chosen = set(values["tables"])
        tables = [name for name in order if name in chosen] + [name for name in values["tables"] if name not in order]
        planned = self.current.line_up if self.current else None
        fit = {person.username for person in line_ups.dealers_for(tables)}
        fit -= {name for each in self.others for name in each.line_up.dealers}
        dealers = [(planned.dealer_of(name) if planned else "") or dealing.get(name, "") for name in tables]
        dealers = [name if name in fit - set(dealers[:place]) else "" for place, name in enumerate(dealers)]
        rest = [name for name in planned.dealers if name in fit - set(dealers)] if planned else []
        breaks = (rest + [""] * values["breaks"])[: values["breaks"]]
        return LineUpChange(
            string=values["string"].strip(),
            tables=tuple(tables),
            dealers=(*dealers, *breaks),
            turn_minutes=values["turn_minutes"],
            push_at=_next_at(values["first_push"], moment),
            ends=gaming_hours.shift_of(moment).end,
            reason=values["reason"],
        )


def _initial(current: StringLineUp | None) -> dict[str, Any]:
    if current is None:
        push = timezone.localtime(timezone.now() + timedelta(minutes=TURNS[0]))
        minute = push.minute - push.minute % 5
        return {"turn_minutes": TURNS[0], "breaks": 1, "first_push": push.replace(minute=minute).time(), "seq": 0}
    line_up = current.line_up
    return {
        "string": line_up.string,
        "tables": list(line_up.tables),
        "turn_minutes": current.row.turn_minutes,
        "breaks": len(line_up.dealers) - len(line_up.tables),
        "first_push": timezone.localtime(line_up.push_at).time(),
        "seq": current.row.seq,
        "push_at": current.push_at_spelled,
    }


def _next_at(clock: time, moment: datetime) -> datetime:
    """The next moment at which the site's clocks show a time; one of the last two hours, also before midnight, is a
    push that is late."""
    today = timezone.localtime(moment).replace(hour=clock.hour, minute=clock.minute, second=0, microsecond=0)
    days = (today - timedelta(days=1), today, today + timedelta(days=1))
    return next(day for day in days if day > moment - timedelta(hours=2))


def _choice(table: str, string: str) -> str:
    return _("%(table)s, in string %(string)s") % {"table": table, "string": string} if string else table
