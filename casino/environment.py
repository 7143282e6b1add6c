"""Environment variables, each parsed as its type.

Each function raises ImproperlyConfigured with a sentence that names the variable and its permitted values. An empty
variable counts as unset.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.exceptions import ImproperlyConfigured

YES: Final = ("yes", "true", "on", "1")
NO: Final = ("no", "false", "off", "0")
_LONGEST: Final = 18
"""The maximum number of digits of a whole number."""


def _wrong(name: str, value: str, expected: str) -> ImproperlyConfigured:
    return ImproperlyConfigured(f"{name} is {value!r}: it may be {expected}")


def switch(name: str, *, default: bool = False) -> bool:
    value = os.environ.get(name, "").strip()
    if not value:
        return default
    if value.lower() not in YES + NO:
        raise _wrong(name, value, f"{', '.join(YES)}, or {', '.join(NO)}")
    return value.lower() in YES


def choice(name: str, *choices: str, default: str) -> str:
    value = os.environ.get(name, "") or default
    if value not in choices:
        raise _wrong(name, value, f"{', '.join(choices[:-1])} or {choices[-1]}")
    return value


def whole(name: str, default: int, *, least: int = 1, environment: Mapping[str, str] = os.environ) -> int:
    value = environment.get(name, "").strip()
    if not value:
        return default
    if not (value.isascii() and value.isdecimal() and len(value) <= _LONGEST and int(value) >= least):
        raise _wrong(name, value, f"a whole number, {least} or more")
    return int(value)


def number(name: str, default: float, *, least: float = 0, most: float = 1_000_000) -> float:
    value = os.environ.get(name, "").strip()
    try:
        read = float(value) if value else default
    except ValueError:
        read = float("nan")
    if not (isfinite(read) and least <= read <= most):
        raise _wrong(name, value, f"a number from {least:g} to {most:g}")
    return read


def time_zone(name: str, default: str) -> str:
    value = os.environ.get(name, "").strip() or default
    try:
        return ZoneInfo(value).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise _wrong(name, value, "the name of a time zone, such as UTC or Europe/Berlin") from None


def names(name: str, default: str = "") -> list[str]:
    """The parts of a comma-separated list."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]
