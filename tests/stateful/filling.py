"""How somebody fills in a form: mostly as it is meant, at times wrongly, at times with what nobody would type."""

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
    """What whoever fills in a form knows."""

    chance: Random
    badges: tuple[str, ...] = ()
    """Of those who are at hand to sign."""
    counted: dict[str, str] = field(default_factory=dict)
    """What lies there to be counted, by field."""
    is_careful: bool = True
    """Whether nothing is typed wrongly on purpose."""

    def of(self, form: Form) -> dict[str, list[str]]:
        """What is sent: the fields, and the button that was pressed."""
        sent: dict[str, list[str]] = {}
        for entry in form.fields:
            if entry.kind == "checkbox":
                if self.chance.random() < 0.6:
                    sent.setdefault(entry.name, []).append(entry.value or "on")
            elif entry.kind == "radio":
                if entry.name not in sent or self.chance.random() < 0.4:
                    sent[entry.name] = [entry.value]
            else:
                sent.setdefault(entry.name, []).append(self._typed(entry))
        if form.buttons:
            name, value = self.chance.choice(form.buttons)
            if name:
                sent[name] = [value]
        return sent

    def _typed(self, entry: Field) -> str:
        if entry.kind == "hidden":
            return entry.value
        if entry.kind == "select":
            return self.chance.choice(entry.options or [""])
        if entry.name in self.counted:
            return self.counted[entry.name]
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
    def _dated(entry: Field, typed: str) -> str:
        if typed == "now":
            typed = timezone.localtime().strftime("%Y-%m-%dT%H:%M")
        return typed[:10] if entry.kind == "date" else typed


def _wrong(entry: Field) -> tuple[str, ...]:
    """What is no good, or good only by chance."""
    if _is_moment(entry):
        return ("", "2026-02-30T25:61", "0001-01-01T00:00", "9999-12-31T23:59", "soon")
    if _COUNT.fullmatch(entry.name) or _AMOUNT.fullmatch(entry.name) or _is_number(entry):
        return ("", "0", "-10", "10.5", "1e3", "ten", "9" * 30, "\u0661", "1000")
    return ("", "  ", "=1+1", "<b>", "a\x00b", "\u202e", "\u00e9" * 600)


def _is_moment(entry: Field) -> bool:
    return entry.kind in ("date", "datetime-local", "time")


def _is_number(entry: Field) -> bool:
    return entry.kind == "number" or bool(_NUMBER.fullmatch(entry.name))
