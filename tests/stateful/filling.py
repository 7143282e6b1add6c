"""Fills in forms like people: mostly correctly, sometimes wrongly, sometimes with what nobody would type."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from random import Random
from typing import Final

from django.utils import timezone

from tests import floor
from tests.stateful.paper import Field, Form

_COUNT: Final = re.compile(r"n\d+")
_AMOUNT: Final = re.compile(r".*(cents|amount|paid|worth|least|most)")
_NUMBER: Final = re.compile(r".*(seat|number|round|count|minutes|spread|seconds|card|rank|through)")


@dataclass
class Filling:
    """What the person filling in a form knows."""

    chance: Random
    badges: tuple[str, ...] = ()
    """The badges of the people who are there to sign."""
    counts: dict[str, str] = field(default_factory=dict)
    """The correct counts, by field."""
    is_careful: bool = True
    """Whether to make no mistakes on purpose."""

    def of(self, form: Form) -> dict[str, list[str]]:
        """The values to send: those of the fields, and of the pressed button."""
        values: dict[str, list[str]] = {}
        for entry in form.fields:
            if entry.kind == "checkbox":
                if self.chance.random() < 0.6:
                    values.setdefault(entry.name, []).append(entry.value or "on")
            elif entry.kind == "radio":
                if entry.name not in values or self.chance.random() < 0.4:
                    values[entry.name] = [entry.value]
            else:
                values.setdefault(entry.name, []).append(self._text(entry))
        if form.buttons:
            name, value = self.chance.choice(form.buttons)
            if name:
                values[name] = [value]
        return values

    def _text(self, entry: Field) -> str:
        if entry.kind == "hidden":
            return entry.value
        if entry.kind == "select":
            return self.chance.choice(entry.options or [""])
        if entry.name in self.counts:
            return self.counts[entry.name]
        if entry.name in ("badge", "second_badge"):
            return self.chance.choice(self.badges or ("101",))
        errs = not self.is_careful and self.chance.random() < 0.15
        if entry.name in ("pin", "second_pin"):
            return "9999" if errs and self.chance.random() < 0.3 else floor.PIN
        if errs:
            return self._dated(entry, self.chance.choice(_wrong(entry)))
        if entry.value and self.chance.random() < 0.5:
            return entry.value
        return self._dated(entry, self._right(entry))

    def _right(self, entry: Field) -> str:
        if _is_moment(entry):
            return "now"
        if _COUNT.fullmatch(entry.name):
            return self.chance.choice(("", "10", "90"))
        if _AMOUNT.fullmatch(entry.name):
            return self.chance.choice(("10", "20", "20", "50", "100"))
        if _is_number(entry):
            return self.chance.choice(("1", "2", "3"))
        return "seen on the camera" if entry.is_required else ""

    @staticmethod
    def _dated(entry: Field, text: str) -> str:
        if text == "now":
            text = timezone.localtime().strftime("%Y-%m-%dT%H:%M")
        return text[:10] if entry.kind == "date" else text


def _wrong(entry: Field) -> tuple[str, ...]:
    """Values that are wrong, or right only by chance."""
    if _is_moment(entry):
        return ("", "2026-02-30T25:61", "0001-01-01T00:00", "9999-12-31T23:59", "soon")
    if _COUNT.fullmatch(entry.name) or _AMOUNT.fullmatch(entry.name) or _is_number(entry):
        return ("", "0", "-10", "10.5", "1e3", "ten", "9" * 30, "\u0661", "1000")
    return ("", "  ", "=1+1", "<b>", "a\x00b", "\u202e", "\u00e9" * 600)


def _is_moment(entry: Field) -> bool:
    return entry.kind in ("date", "datetime-local", "time")


def _is_number(entry: Field) -> bool:
    return entry.kind == "number" or bool(_NUMBER.fullmatch(entry.name))
