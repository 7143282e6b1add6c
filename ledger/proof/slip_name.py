"""What a slip is called for good: its series, its calendar year, and its number in both."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_SPELLED: Final = re.compile(r"([a-z]{1,16})/([1-9][0-9]{3})/([1-9][0-9]{0,8})")
"""One name has one spelling: no leading zeros and no digits of other scripts, which ``int`` would take for the same."""


class NotASlipName(ValueError):
    """A text that names no slip."""


@dataclass(frozen=True, slots=True, order=True)
class SlipName:
    """The name of a slip. The log, addresses and forms spell it ``fill/2026/3``."""

    series: str
    year: int
    number: int

    def __str__(self) -> str:
        return f"{self.series}/{self.year}/{self.number}"

    @classmethod
    def parse(cls, text: str) -> SlipName:
        """The name that a text spells. Raises NotASlipName."""
        spelled = _SPELLED.fullmatch(text)
        if spelled is None:
            raise NotASlipName(f"{text!r} names no slip: a name is its series, its year and its number, as fill/2026/3")
        return cls(spelled[1], int(spelled[2]), int(spelled[3]))

    @property
    def run(self) -> str:
        """The run of numbers that it belongs to, which has no gap: "fill/2026"."""
        return f"{self.series}/{self.year}"


def series_in(text: str) -> str:
    """The series of a slip by its name, or as it stands where the slip has no number yet."""
    try:
        return SlipName.parse(text).series
    except NotASlipName:
        return text
