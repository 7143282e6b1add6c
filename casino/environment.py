"""Environment variables, read by django-environ with casts that refuse what they cannot read.

django-environ's own casts guess: ``bool`` takes a misspelled ``yess`` for no, ``float`` drops letters. The casts here
raise ImproperlyConfigured with a sentence that names the variable and its permitted values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Final, TypeVar, cast
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import environ
from django.core.exceptions import ImproperlyConfigured

YES: Final = ("yes", "true", "on", "1")
NO: Final = ("no", "false", "off", "0")
_LONGEST: Final = 18
"""The maximum number of digits of a whole number."""

Value = TypeVar("Value")


class Environment(environ.Env):
    """django-environ's reader of the variables as they are when it is created. An empty variable counts as unset."""

    def __init__(self, variables: Mapping[str, str] = os.environ) -> None:
        super().__init__()
        self.escape_proxy = True
        # Escaped, because django-environ takes a value that begins with a dollar, as passwords may, for the name of
        # another variable.
        self.ENVIRON = {name: value.replace("$", r"\$") for name, value in variables.items() if value.strip()}

    def __call__(self, name: str, parse: Callable[[str], Value], default: Value) -> Value:
        try:
            return cast(Value, self.get_value(name, parse, default))
        except ValueError as expected:
            value = self.str(name).strip()
            raise ImproperlyConfigured(f"{name} is {value!r}: it may be {expected}") from None


def switch(value: str) -> bool:
    if value.strip().lower() not in YES + NO:
        raise ValueError(f"{', '.join(YES)}, or {', '.join(NO)}")
    return value.strip().lower() in YES


def choice(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in choices:
            raise ValueError(f"{', '.join(choices[:-1])} or {choices[-1]}")
        return value

    return parse


def whole(value: str, *, least: int = 1) -> int:
    digits = value.strip()
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= _LONGEST and int(digits) >= least):
        raise ValueError(f"a whole number, {least} or more")
    return int(digits)


def whole_or_zero(value: str) -> int:
    return whole(value, least=0)


def number(least: float = 0, most: float = 1_000_000) -> Callable[[str], float]:
    def parse(value: str) -> float:
        try:
            read = float(value)
        except ValueError:
            read = float("nan")
        if not (isfinite(read) and least <= read <= most):
            raise ValueError(f"a number from {least:g} to {most:g}")
        return read

    return parse


def time_zone(value: str) -> str:
    try:
        return ZoneInfo(value.strip()).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("the name of a time zone, such as UTC or Europe/Berlin") from None


def names(value: str) -> list[str]:
    """The parts of a comma-separated list."""
    return [part.strip() for part in value.split(",") if part.strip()]
